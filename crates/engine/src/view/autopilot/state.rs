//! From a run to answers. A view picks names and shapes; it decides nothing.

use std::collections::HashSet;
use std::path::Path;

use journal::EvidenceStore;
use machine::event::AcceptedReport;
use machine::state::{Item, ItemStatus, Next, ROOT, RunStatus, Token};
use machine::trigger::Trigger;
use machine::{Role, RunState};
use workspace::config::Level;

use crate::capability::memory::{self, BASELINE, Memory, PULL_REQUEST, PUSHED};
use crate::capability::messages;
use crate::capability::tests::evidence::{OUTPUT, baseline, level_named};
use crate::capability::tests::read::few;
use crate::clock::{millis_of, spoken};
use crate::fault::Fault;
use crate::next_step::{NextStep, Verb};
use crate::open_run;
use crate::report::{is_read_on_branch, present_report};
use crate::view::GENERIC;
use crate::view::autopilot::answer::{
    AwaitedReport, NextAction, Precondition, Progress, Status, Verdict,
};
use crate::view::autopilot::instructions::{self, UnitContext};

/// Why a run waits in which a process ended on the way between two units. To resume it goes on with that.
const INTERRUPTED: &str = "interrupted";

/// What comes next, without context and instructions.
pub fn next_action(run: &RunState) -> NextAction {
    let next = run.next();
    let mut action = dressed(run, &next);
    if next.status != RunStatus::Running || next.unit.is_some() {
        return action;
    }
    if run.pending.is_some() {
        // Between two states, where only an effect that was interrupted is still to be settled.
        "paused".clone_into(&mut action.action);
        action.paused_reason = Some(INTERRUPTED.to_owned());
        action.next_steps = vec![Verb::Resume.into()];
    } else if !run.state().is_empty() {
        // At a closed gate.
        run.state().clone_into(&mut action.action);
        action.next_steps = vec![next_of_any(run).into()];
    }
    action
}

/// That is asked what a run wants now that is no phase of a task.
fn next_of_any(run: &RunState) -> NextStep {
    Verb::Next.step().in_view(GENERIC.name).of(&run.run)
}

/// A recorded `next`, with what the run knows of its subtask.
pub fn dressed(run: &RunState, next: &Next) -> NextAction {
    let mut action = NextAction {
        run_id: run.run.clone(),
        ..NextAction::default()
    };
    match next.status {
        RunStatus::Running => {
            action.action = next
                .phase
                .clone()
                .or_else(|| next.state.clone())
                .unwrap_or_else(|| "commit".to_owned());
            action.unit_id.clone_from(&next.unit);
            action.attempt = next.attempt;
            action.max_attempts = next.max_attempts;
            let waits = run.waiting().next().map(|(_, unit)| &unit.id);
            let token = run.waiting().next().map(|(token, _)| token);
            action.report = token.and_then(|token| AwaitedReport::of(&token.role));
            if waits == next.unit.as_ref() {
                let is_phase = token.is_some_and(|token| is_phase(&token.role));
                let report = present_report(run).filter(|_| is_phase);
                action.next_steps = vec![report.unwrap_or_else(|| next_of_any(run)).into()];
            }
            action.subtask = next
                .item
                .as_ref()
                .and_then(|key| memory::subtask(run, key))
                .map(instructions::named);
        }
        RunStatus::Paused => {
            "paused".clone_into(&mut action.action);
            action.next_steps = vec![Verb::Resume.into()];
            action.paused_reason = run.pause.as_ref().map(|pause| pause.reason.clone());
            action.paused_message = run.pause.as_ref().and_then(|pause| pause.message.clone());
            action.needs_person = run.pause.as_ref().is_some_and(|pause| pause.person);
        }
        over => {
            "complete".clone_into(&mut action.action);
            action.next_steps = vec![Verb::Summary.step().of(&run.run).into()];
            action.status = Some(over.name().to_owned());
        }
    }
    action
}

/// Whether a state is a phase of a task: its workflow says so, or it is reported as one.
pub fn is_phase(role: &Role) -> bool {
    role.phase.is_some() || is_read_on_branch(role)
}

/// What comes next, with everything that is needed to do it.
pub fn full(run: &RunState, dir: &Path) -> Result<NextAction, Fault> {
    let mut action = next_action(run);
    if let Some((token, kept)) = kept(run, dir)? {
        action.preconditions = instructions::shown(&kept);
        if token.role.reader == "tests" {
            action.preconditions.extend(known_failing(run)?);
        }
        action.context = Some(kept.context);
        action.instructions = Some(kept.instructions);
        let item = token.key().and_then(|key| memory::subtask(run, key));
        action.subtask = item.map(instructions::view);
    }
    Ok(action)
}

/// What comes next for whoever has brought the run there: with what to do, and without what was told before. Best effort: the
/// answer that it stands in tells of something that has come about.
pub fn told(run: &RunState, dir: &Path) -> NextAction {
    let mut action = next_action(run);
    if let Some(step) = behind_the_end(run, dir) {
        action.next_steps.insert(0, step.of(&run.run).into());
    }
    if let Ok(Some((token, kept))) = kept(run, dir) {
        let same = |key: &str| token.key() == Some(key);
        let over = |item: &Item| matches!(item.status, ItemStatus::Done | ItemStatus::Failed);
        let before = memory::subtasks(run).any(|(key, item)| !same(key) && over(item));
        let brief = kept.brief.filter(|_| before);
        action.instructions = Some(brief.unwrap_or(kept.instructions));
    }
    action
}

/// What can be done with what a run made that is over, where its workflow says how and there is a remote: it is handed over, and
/// what others say of it taken in.
fn behind_the_end(run: &RunState, dir: &Path) -> Option<NextStep> {
    if !run.status.is_over() {
        return None;
    }
    let memory = Memory::of(run).ok()?;
    let definition = open_run::pinned(dir, run).ok()?;
    let pushed = PUSHED.read(&run.kept).ok()?;
    let (trigger, verb) = match pushed {
        Some(pushed) if pushed.sha.as_str() == memory.last_commit => {
            PULL_REQUEST.read(&run.kept).ok()??;
            (Trigger::Feedback, Verb::Feedback)
        }
        _ => (Trigger::Submit, Verb::Submit),
    };
    let says_how = !definition.edges(run.state(), trigger).is_empty();
    (says_how && memory.repository().has_remotes()).then(|| verb.step())
}

/// What failed before the run, and may go on to. It may have been made known after the unit was issued.
fn known_failing(run: &RunState) -> Result<Option<Precondition>, Fault> {
    let told = BASELINE.read(&run.kept)?;
    let failing: Vec<String> = told
        .and_then(|told| serde_json::from_value(told.get("failingTests")?.clone()).ok())
        .unwrap_or_default();
    Ok((!failing.is_empty()).then(|| Precondition {
        id: "known_failing".to_owned(),
        holds: Some(true),
        detail: format!(
            "these failed before the run, and may go on to, where tests are reported by name: {}",
            few(&failing)
        ),
    }))
}

/// The unit that waits, and what was kept of it.
fn kept<'a>(run: &'a RunState, dir: &Path) -> Result<Option<(&'a Token, UnitContext)>, Fault> {
    let next = run.next();
    let mut waiting = run.waiting();
    let Some((token, unit)) = waiting.find(|(_, unit)| Some(&unit.id) == next.unit.as_ref()) else {
        return Ok(None);
    };
    let Some(hash) = &unit.context else {
        return Ok(None);
    };
    let bytes = EvidenceStore::new(dir).get(hash)?;
    Ok(Some((token, UnitContext::read(&bytes))))
}

/// The verdict that was recorded for a report.
pub fn recorded(run: &RunState, report: &AcceptedReport) -> Verdict {
    let code = report.code.as_deref();
    let said = |code: &String| messages::message_of(report, code);
    let message = match &report.code {
        Some(code) => said(code),
        None => messages::accepted(report),
    };
    let warnings: Vec<String> = report.warnings.iter().map(said).collect();
    let next = report
        .answer
        .next
        .clone()
        // Between two states nothing was known of what comes next: an effect was still to come.
        .filter(|next| next.status != RunStatus::Running || next.unit.is_some())
        .unwrap_or_else(|| run.next());
    let paused = next.status == RunStatus::Paused;
    let used_up = paused && code == Some("green_tests_still_failing");
    let message = match (code, next.attempt, next.max_attempts) {
        (Some("green_tests_still_failing"), Some(attempt), Some(most)) => {
            format!(
                "{message}; attempt {} of {most} used",
                attempt.saturating_sub(1)
            )
        }
        _ => message,
    };
    Verdict {
        validated: report.answer.validated,
        message: if used_up {
            format!("{message}; the attempts are used up, so the run is paused")
        } else if paused && code.is_some() {
            format!("{message}; so the run is paused")
        } else {
            message
        },
        warning: (!warnings.is_empty()).then(|| warnings.join("; ")),
        suggestion: match code {
            Some(_) if paused && !used_up => Some(format!(
                "tell the person, who looks at it and goes on with {resume}",
                resume = Verb::Resume
            )),
            Some(_) if used_up && is_repair(run, report) => Some(format!(
                "tell the person, who decides how it goes on: {resume} for a fresh set of attempts",
                resume = Verb::Resume
            )),
            Some(_) if used_up => Some(format!(
                "tell the person, who decides how it goes on: {resume} for a fresh set of attempts, or {reopen} where the test is wrong",
                resume = Verb::Resume,
                reopen = Verb::Reopen
            )),
            // A repair has no RED to go back to.
            Some("green_tests_still_failing") if is_repair(run, report) => Some(format!(
                "go on mending, then report again: {}",
                Verb::Report
            )),
            Some("green_tests_still_failing")
                if baseline::is_unknown(run) && level_named(&report.level) < Some(Level::Ran) =>
            {
                Some(format!(
                    "if they failed before this subtask, too, have that found out: {verify}. Else go on implementing, then report again: {again}; if a test is wrong, go back with {reopen}",
                    verify =
                        NextStep::report(&report.role, report_key(run, report), Level::Verified),
                    again = Verb::Report,
                    reopen = Verb::Reopen.step().and("reason")
                ))
            }
            Some(code) => {
                let own = report.suggestion(code).map(str::to_owned);
                Some(own.unwrap_or_else(|| messages::suggestion(code)))
                    .filter(|text| !text.is_empty())
            }
            None => None,
        },
        code: code.map(str::to_owned),
        details: report
            .facts
            .get_key_value(OUTPUT)
            .map(|(name, printed)| (name.clone(), printed.clone()))
            .into_iter()
            .collect(),
        next_action: dressed(run, &next),
    }
}

fn report_key<'r>(run: &'r RunState, report: &AcceptedReport) -> Option<&'r str> {
    run.token(report.token).and_then(Token::key)
}

fn is_repair(run: &RunState, report: &AcceptedReport) -> bool {
    run.token(report.token)
        .is_some_and(|token| memory::is_repair(run, token))
}

/// The token whose item is in hand, or the run's own.
pub fn present(run: &RunState) -> Option<&Token> {
    run.tokens
        .iter()
        .rfind(|token| token.id != ROOT)
        .or_else(|| run.token(ROOT))
}

/// The phase in lower case, while there is one.
pub fn phase(run: &RunState) -> Option<&str> {
    if run.status.is_over() {
        return None;
    }
    present(run).map(Token::phase)
}

/// How far the run is.
pub fn progress(run: &RunState) -> Progress {
    // Repairs are no subtasks of the task: they are in hand, but count for nothing.
    let own: HashSet<&str> = memory::planned(run).collect();
    let planned = |key: &str| own.contains(key) || memory::is_feedback(run, key);
    let of = |status: ItemStatus| -> Vec<String> {
        memory::subtasks(run)
            .filter(|(key, item)| item.status == status && planned(key))
            .map(|(key, _)| key.to_owned())
            .collect()
    };
    let before: Vec<String> = memory::done_before(run).map(str::to_owned).collect();
    let to_do = memory::subtasks(run).filter(|(key, _)| planned(key));
    let total = before.len() + to_do.count();
    let completed = [before, of(ItemStatus::Done)].concat();
    let percentage = (completed.len() * 100).checked_div(total).unwrap_or(0);
    Progress {
        percentage: u32::try_from(percentage).unwrap_or(100),
        failed: of(ItemStatus::Failed),
        current: memory::subtasks(run)
            .find(|(_, item)| item.status == ItemStatus::Active)
            .map(|(key, _)| key.to_owned()),
        remaining: of(ItemStatus::Open),
        completed,
        total,
    }
}

/// Attempts that a subtask has.
pub fn max_attempts(run: &RunState) -> u32 {
    memory::START
        .value(&run.kept)
        .and_then(|start| start.get("maxAttempts")?.as_u64())
        .and_then(|attempts| u32::try_from(attempts).ok())
        .unwrap_or(0)
}

/// Where the run is, at the time `now` in milliseconds.
pub fn status(run: &RunState, now: i64) -> Result<Status, Fault> {
    let memory = Memory::of(run)?;
    let began = millis_of(&run.started_at).unwrap_or(now);
    let until = run.ended_at.as_deref().and_then(millis_of).unwrap_or(now);
    let millis = u64::try_from(until - began).unwrap_or(0);
    let progress = progress(run);
    let waiting = run.waiting().next();
    let next_action = next_action(run);
    let interrupted = next_action.paused_reason.as_deref() == Some(INTERRUPTED);
    Ok(Status {
        suite: None,
        run_id: run.run.clone(),
        task_id: memory.start.task_id,
        tag: memory.start.tag,
        branch: memory.start.branch,
        status: if interrupted {
            RunStatus::Paused.name().to_owned()
        } else {
            run.status.name().to_owned()
        },
        current_subtask: progress.current.clone(),
        current_phase: phase(run).map(str::to_owned),
        attempt_number: waiting.map(|(_, unit)| unit.attempt).or_else(|| {
            let token = present(run)?;
            token.attempts.get(&token.state).copied()
        }),
        max_attempts: max_attempts(run),
        progress,
        commits: memory::commits(run),
        start_time: run.started_at.clone(),
        duration: spoken(millis),
        duration_ms: millis,
        last_updated: run.updated_at.clone(),
        can_resume: !run.status.is_over(),
        paused_reason: run.pause.as_ref().map(|pause| pause.reason.clone()),
        next_action,
    })
}
