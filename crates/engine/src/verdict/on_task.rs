//! Reports of tests and of commits in a run over a task: which unit one means, and the words of its verdict.

use machine::event::AcceptedReport;
use machine::state::Next;
use machine::{Definition, Role, RunState, RunStatus};
use serde_json::{Map, Value};
use workspace::config::Level;

use crate::capability::memory;
use crate::capability::messages;
use crate::capability::tests::evidence::{OUTPUT, level_named};
use crate::capability::tests::read::few;
use crate::fault;
use crate::fault::Fault;
use crate::find::is_over_a_task;
use crate::generic::messages::after_retry;
use crate::next_step::{Argument, NextStep, Verb};
use crate::report::{Meaning, Report, ends_run, joined, with_way_on};
use crate::verdict::VerdictText;

/// The report with the state that its verb is for, and the whole id of its subtask.
pub(super) fn meant(run: &RunState, report: &Report, meaning: Meaning) -> Result<Report, Fault> {
    if !is_over_a_task(run) {
        return Ok(report.clone());
    }
    let mut report = on_subtask(run, report)?;
    match meaning {
        Meaning::Anything => {}
        Meaning::Tests => {
            report.state = report.state.map(|phase| phase.to_lowercase());
            if let Some(fault) = wrong_phase(run, &report) {
                return Err(with_way_on(run, &report.evidence, fault));
            }
        }
        Meaning::Suite => {
            report.state = Some(state_of(run, "finalize", |role| role.suite.is_some()));
        }
        Meaning::Commit => {
            report.state = Some(state_of(run, "commit", |role| role.reader == "commit"));
        }
    }
    Ok(report)
}

/// The fault of a report of tests that names a phase which is none, or is not that of its unit.
fn wrong_phase(run: &RunState, report: &Report) -> Option<Fault> {
    let phase = report.state.as_deref()?;
    let present = run.waiting().next();
    let is_present = present.is_some_and(|(token, _)| {
        token.role.reader == "tests" && token.phase().eq_ignore_ascii_case(phase)
    });
    // It may be the last one, whose answer was lost.
    let last = run.last.as_ref().map(|last| &last.role);
    let is_last = last.is_some_and(|role| {
        let last = role.phase.as_deref();
        role.reader == "tests" && last.is_some_and(|last| last.eq_ignore_ascii_case(phase))
    });
    if !matches!(phase, "red" | "green" | "finalize") && !is_present && !is_last {
        let is_commit = present.is_some_and(|(token, _)| token.role.reader == "commit");
        return Some(match phase {
            "commit" if is_commit => fault!("usage.commit_is_no_phase", phase),
            _ => fault!("usage.no_phase", phase),
        });
    }
    let (token, unit) = present?;
    let own = token.phase();
    let is_other = report.unit.as_deref() == Some(&unit.id) && !own.eq_ignore_ascii_case(phase);
    is_other.then(|| fault!("usage.unit_of_phase", unit = unit.id, own, phase))
}

/// The report with the whole id of its subtask, which may be given by what tells it from the others of its task.
fn on_subtask(run: &RunState, report: &Report) -> Result<Report, Fault> {
    let mut report = report.clone();
    let Some(named) = &report.item else {
        return Ok(report);
    };
    let known = || {
        let added = memory::subtasks(run).map(|(key, _)| key);
        added.chain(memory::done_before(run))
    };
    if known().any(|key| key == named) {
        return Ok(report);
    }
    let ending = format!(".{named}");
    let mut meant = known().filter(|key| key.ends_with(&ending));
    if let (Some(key), None) = (meant.next(), meant.next()) {
        report.item = Some(key.to_owned());
        return Ok(report);
    }
    let all: Vec<String> = known().map(str::to_owned).collect();
    let all = few(&all);
    Err(fault!("unknown_item.on_subtask", run = run.run, named, all).recover(Verb::Next))
}

/// The state whose reports have such a role: the one that waits, or the one that was reported last. Where neither has it, its
/// name for people, so that the report is answered as one for another state.
fn state_of(run: &RunState, called: &str, is_meant: impl Fn(&Role) -> bool) -> String {
    let waiting = run.waiting().map(|(token, _)| (&token.role, &token.state));
    let last = run.last.iter().map(|last| (&last.role, &last.state));
    waiting
        .chain(last)
        .find(|(role, _)| is_meant(role))
        .map_or_else(|| called.to_owned(), |(_, state)| state.clone())
}

/// What came next after a report, as far as that was known then.
pub(super) fn recorded_next(run: &RunState, report: &AcceptedReport) -> Next {
    let next = report.answer.next.clone();
    // Between two states nothing was known of what comes next: an effect was still to come.
    let next = next.filter(|next| next.status != RunStatus::Running || next.unit.is_some());
    next.unwrap_or_else(|| run.next())
}

/// The words that were recorded for a report.
pub(super) fn recorded(
    run: &RunState,
    definition: &Definition,
    report: &AcceptedReport,
    next: &Next,
) -> VerdictText {
    let code = report.code.as_deref();
    let said = |code: &String| messages::message_of(report, code);
    let mut message = match &report.code {
        Some(code) => said(code),
        None => messages::accepted(report),
    };
    let paused = next.status == RunStatus::Paused;
    let is_counted = code == Some("green_tests_still_failing");
    if let (true, Some(attempt), Some(most)) = (is_counted, next.attempt, next.max_attempts) {
        let used = attempt.saturating_sub(1);
        message = format!("{message}; attempt {used} of {most} used");
    }
    if paused && is_counted {
        message += "; the attempts are used up, so the run is paused";
    } else if paused && code.is_some() {
        message += "; so the run is paused";
    }
    let printed = report.facts.get_key_value(OUTPUT);
    let printed = printed.map(|(name, printed)| (name.clone(), printed.clone()));
    VerdictText {
        message,
        warning: joined(None, report.warnings.iter().map(said)),
        suggestion: code.map(|_| after_retry(run, definition, report, paused)),
        details: printed.into_iter().collect(),
    }
}

/// The advice on a refusal with the other ways on that there are.
pub(crate) fn with_ways_on(
    run: &RunState,
    code: &str,
    facts: &Map<String, Value>,
    mut advice: String,
) -> String {
    let level = facts.get("level").and_then(Value::as_str);
    if code == "red_requires_failing_tests"
        && let Some((token, _)) = run.waiting().next()
        && level.and_then(level_named) < Some(Level::Ran)
    {
        let verify = NextStep::report(&token.role, token.key(), Level::Verified);
        advice = format!(
            "where the code is written already, have them run without it: {verify}. Else {advice}"
        );
    }
    if code == "coverage_below_threshold" && ends_run(run) {
        advice = format!(
            "{advice}; {reopen} takes them in, and {skip_coverage_option} lets it pass",
            reopen = Verb::Reopen.step().and("reason"),
            skip_coverage_option = Argument("skipCoverage")
        );
    }
    if run.policies.contains_key(code) && !advice.is_empty() {
        let allow = Verb::Allow.step().with("code", code).and("reason");
        advice = format!("{advice}; a person can let it pass with {allow}");
    }
    advice
}
