//! Finds what comes next in a run. A view picks names and fields; it decides nothing.

use std::path::Path;

use journal::EvidenceStore;
use journal::layout::short_name;
use machine::definition::{Actor, Advance, StateDef};
use machine::state::{Item, ItemStatus, Next, RunStatus, Token, Unit};
use machine::trigger::Trigger;
use machine::{Definition, Role, RunState, Strength};
use serde_json::{Map, Value};
use workspace::config::Level;

use crate::action::{Action, ActionKind, AwaitedReport, OpenUnit, Precondition};
use crate::call::{Call, Form};
use crate::capability::documents::skills::skill;
use crate::capability::files::subject::TAMPERED;
use crate::capability::memory::{self, BASELINE, Memory, PULL_REQUEST, PUSHED};
use crate::capability::tests::read::few;
use crate::fault::{Fault, Kind};
use crate::find::is_over_a_task;
use crate::gate::gate_of;
use crate::generic::{context, messages};
use crate::next_step::{NextStep, Verb};
use crate::open_run::{self, Forecast};
use crate::report::{is_read_on_branch, report_of};
use crate::view::autopilot::instructions::{self, UnitContext};
use crate::view::collab::frame::Frame;
use crate::view::session::about::{put_back_first, tampered};
use crate::view::session::turn::{MOST_ITERATIONS, is_at_cap};
use crate::view::{GENERIC, View};

/// Why a run waits in which a process ended between two units. To resume it finishes what was begun.
pub(crate) const INTERRUPTED: &str = "interrupted";
/// How many units are described.
const MOST_UNITS: usize = 20;
/// How many more iterations are proposed where those that a run may have are used up.
const MORE_ITERATIONS: i64 = 5;

/// How much an answer has of what comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Where it is.
    Brief,
    /// What to do, for the caller that brought the run there: of a run over a task without what it was given before.
    Given,
    /// All that is needed to do it.
    Whole,
}

/// What comes next in a run, with what only its folder shows.
pub(crate) fn next_action(
    view: &'static View,
    call: &Call<'_>,
    run: &RunState,
    detail: Detail,
) -> Result<Action, Fault> {
    if view.is_of_tasks || is_of_task(run) {
        let action = of_task(view, run, &call.dir, detail)?;
        return Ok(defined(action, run, &call.definition));
    }
    let mut action = of_any(view, run, &call.definition, &call.dir, detail)?;
    // What there is to do in a session of skills may be another than when it was asked for.
    if call.skills.is_some()
        && let Some(told) = action
            .unit
            .as_mut()
            .and_then(|unit| unit.instructions.as_mut())
        && let Some(now) = Frame::present(call, run)
    {
        *told = now.instructions;
    }
    let action = look_further(call, run, action)?;
    if call.session.is_none() || run.pending.is_some() {
        return Ok(action);
    }
    let changed = tampered(call, run, &action);
    Ok(put_back_first(call, run, &changed, action))
}

/// Whether the unit that is open is a phase of a task: tests are reported, or a commit. Where none is open the run is paused,
/// over, or in the middle of an effect, which is the same for every run over a task.
pub(crate) fn is_of_task(run: &RunState) -> bool {
    let mut open = run.waiting();
    is_over_a_task(run)
        && open.next().map_or_else(
            || run.state().is_empty() || run.status != RunStatus::Running || run.pending.is_some(),
            |(token, _)| is_read_on_branch(&token.role),
        )
}

/// Whether a state is a phase of a task: its workflow says so, or it is reported as one.
pub(crate) fn is_phase(role: &Role) -> bool {
    role.phase.is_some() || is_read_on_branch(role)
}

/// The fault that a run asks for no phase of a task now; none where it does.
pub(crate) fn other_step(dir: &Path, run: &RunState) -> Result<Option<Fault>, Fault> {
    if run.status != RunStatus::Running || run.pending.is_some() {
        return Ok(None);
    }
    let open = run.waiting().next();
    // The definition is not read for every answer.
    if open.is_some_and(|(token, _)| is_read_on_branch(&token.role)) {
        return Ok(None);
    }
    let definition = open_run::pinned(dir, run)?;
    let has_gate = |state| {
        let state: Option<&StateDef> = definition.state(state);
        state.is_some_and(|state| state.gate.is_some())
    };
    let state = match open {
        Some((token, _)) => token.state.as_str(),
        None if has_gate(run.state()) => run.state(),
        None => return Ok(None),
    };
    let place = messages::place(&definition, state, None);
    let message = format!("the run stands at `{place}`, which is no step of `tm autopilot`");
    let next = Verb::Next.step().in_view(GENERIC.name);
    Ok(Some(
        Fault::new(Kind::Refused, "other_workflow", message)
            .suggest(format!("see what is asked for with {next}"))
            .recover(next.of(&run.run)),
    ))
}

/// What comes next in a run over a task. Its definition is not needed for that.
pub(crate) fn of_task(
    view: &'static View,
    run: &RunState,
    dir: &Path,
    detail: Detail,
) -> Result<Action, Fault> {
    let next = run.next();
    let mut action = unit_on_task(view, run, &next);
    if next.status == RunStatus::Running && next.unit.is_none() {
        if run.pending.is_some() {
            // Between two states, where only an effect that was interrupted is still to be settled.
            action.action = ActionKind::Paused;
            action.phase = None;
            action.paused_reason = Some(INTERRUPTED.to_owned());
            action.next_steps = vec![Verb::Resume.into()];
        } else if !run.state().is_empty() {
            // At a closed gate.
            action.phase = Some(run.state().to_owned());
            action.next_steps = vec![next_of_any(run).into()];
        }
    }
    match detail {
        Detail::Brief => {}
        Detail::Given => give_instructions(&mut action, run, dir),
        Detail::Whole => give_context(&mut action, run, dir)?,
    }
    Ok(action)
}

/// A unit of a task that comes next, as far as the run tells without its folder.
fn unit_on_task(view: &'static View, run: &RunState, next: &Next) -> Action {
    let mut action = as_a_whole(view, run, next.status);
    if next.status != RunStatus::Running {
        return action;
    }
    action.phase = next.phase.clone().or_else(|| next.state.clone());
    // Nothing else comes between two units of a task.
    action.phase = action.phase.or_else(|| Some("commit".to_owned()));
    let token = run.waiting().next();
    let is_open = token.is_some_and(|(_, unit)| Some(&unit.id) == next.unit.as_ref());
    let token = token.map(|(token, _)| token);
    action.report = token.and_then(|token| AwaitedReport::of(&token.role));
    let report = match token {
        Some(token) if is_open && is_phase(&token.role) => {
            let report = report_of(run, token, &token.role, Level::Claimed);
            Some(report.with("unit", next.unit.clone().unwrap_or_default()))
        }
        Some(_) if is_open => Some(next_of_any(run)),
        _ => None,
    };
    action.next_steps = report.iter().map(ToString::to_string).collect();
    if let Some(unit) = &next.unit {
        let item = next.item.as_ref();
        action.unit = Some(OpenUnit {
            unit_id: unit.clone(),
            state: next.state.clone().unwrap_or_default(),
            attempt: next.attempt.unwrap_or(1),
            max_attempts: next.max_attempts,
            item: item
                .and_then(|key| memory::subtask(run, key))
                .map(instructions::named),
            report: report.map(String::from).unwrap_or_default(),
            ..OpenUnit::default()
        });
    }
    action
}

/// The step that asks what a run wants that is no phase of a task.
fn next_of_any(run: &RunState) -> NextStep {
    Verb::Next.step().in_view(GENERIC.name).of(&run.run)
}

/// Gives the instructions of the unit, without those that were given before. Best effort: the answer that they stand in tells
/// of something that has come about.
fn give_instructions(action: &mut Action, run: &RunState, dir: &Path) {
    if let Some(step) = after_the_end(run, dir) {
        action.next_steps.insert(0, step.of(&run.run).into());
    }
    if let Ok(Some((token, kept))) = kept(run, dir) {
        let same = |key: &str| token.key() == Some(key);
        let over = |item: &Item| matches!(item.status, ItemStatus::Done | ItemStatus::Failed);
        let before = memory::subtasks(run).any(|(key, item)| !same(key) && over(item));
        let brief = kept.brief.filter(|_| before);
        if let Some(unit) = &mut action.unit {
            unit.instructions = Some(brief.unwrap_or(kept.instructions));
        }
    }
}

fn give_context(action: &mut Action, run: &RunState, dir: &Path) -> Result<(), Fault> {
    let Some((token, kept)) = kept(run, dir)? else {
        return Ok(());
    };
    action.preconditions = instructions::shown(&kept);
    if token.role.reader == "tests" {
        action.preconditions.extend(known_failing(run)?);
    }
    action.context = Some(kept.context);
    if let Some(unit) = &mut action.unit {
        unit.instructions = Some(kept.instructions);
        let item = token.key().and_then(|key| memory::subtask(run, key));
        unit.item = item.map(instructions::described);
    }
    Ok(())
}

/// The step that goes on from what a run made that is over, where its workflow has one and there is a remote: to submit it, or
/// to import feedback on it.
fn after_the_end(run: &RunState, dir: &Path) -> Option<NextStep> {
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

/// The tests that failed before the run, and may go on failing. They may have been recorded after the unit was issued.
fn known_failing(run: &RunState) -> Result<Option<Precondition>, Fault> {
    let baseline = BASELINE.read(&run.kept)?;
    let failing: Vec<String> = baseline
        .and_then(|baseline| serde_json::from_value(baseline.get("failingTests")?.clone()).ok())
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

/// An action of a run over a task with what its definition says of the unit, and with the other units that are open.
fn defined(mut action: Action, run: &RunState, definition: &Definition) -> Action {
    let Some(unit) = &mut action.unit else {
        return action;
    };
    let state = std::mem::take(&mut unit.state);
    let known = asked(definition, &state);
    unit.state = known.state;
    unit.label = known.label;
    unit.by = known.by;
    unit.expects = known.expects;
    unit.outcomes = known.outcomes;
    let total = run.waiting().count();
    if total > 1 {
        let open = run.waiting().take(MOST_UNITS);
        let open = open.map(|(token, one)| {
            if one.id == unit.unit_id {
                unit.clone()
            } else {
                open_unit(run, definition, token, one)
            }
        });
        action.units = open.collect();
        action.units_total = Some(total);
    }
    action
}

/// What comes next in any run, by its definition.
pub(crate) fn of_any(
    view: &'static View,
    run: &RunState,
    definition: &Definition,
    dir: &Path,
    detail: Detail,
) -> Result<Action, Fault> {
    let mut action = as_a_whole(view, run, run.status);
    action.action = kind(run, definition);
    if run.status != RunStatus::Running {
        if let Some(step) = after_a_stop(run, definition) {
            action.needs_person |= run.status == RunStatus::Paused;
            action.next_steps = vec![step.into()];
        }
        return Ok(action);
    }
    let total = run.waiting().count();
    let most = match detail {
        Detail::Whole => total,
        Detail::Brief | Detail::Given => MOST_UNITS,
    };
    let mut units = Vec::new();
    for (at, (token, unit)) in run.waiting().take(most).enumerate() {
        let mut open = open_unit(run, definition, token, unit);
        if detail != Detail::Brief {
            for file in [&mut open.prompt, &mut open.response].into_iter().flatten() {
                *file = dir.join(&*file).display().to_string();
            }
            if at < MOST_UNITS {
                let of_unit = (token, unit, open.prompt.as_deref());
                open.instructions = Some(instructions_of(definition, of_unit, dir)?);
            }
        }
        units.push(open);
    }
    action.unit = units.first().cloned();
    if total > 1 {
        action.units = units;
        action.units_total = Some(total);
    }
    Ok(with_steps(action))
}

/// The step that leads on from a run that stopped, where it is more than to resume it or to see what it did: it hands out what a
/// session made; by it a person takes up what broke down, or what a resume alone would pause again at once.
fn after_a_stop(run: &RunState, definition: &Definition) -> Option<NextStep> {
    let reopen = Verb::Reopen.step().of(&run.run);
    match run.status {
        RunStatus::Completed => {
            let (name, words) = (short_name(&run.run), View::of(run).hands_out?);
            Some(NextStep::shell(words.iter().copied().chain([&*name])))
        }
        RunStatus::Paused if is_at_cap(definition, run) => {
            let most = definition.value_for(MOST_ITERATIONS, &run.vars);
            Some(match most.and_then(Value::as_i64) {
                Some(most) => {
                    let more = most.saturating_add(MORE_ITERATIONS);
                    reopen.with(MOST_ITERATIONS, more.to_string())
                }
                None => reopen,
            })
        }
        RunStatus::Error => {
            let left = run.tokens.first()?.came_from.as_deref()?;
            let leads_back = !definition.edges(left, Trigger::Reopen).is_empty();
            leads_back.then_some(reopen)
        }
        _ => None,
    }
}

/// What sort of thing comes next in a run, as far as its folder need not be looked at.
pub(crate) fn kind(run: &RunState, definition: &Definition) -> ActionKind {
    let by_steps = || definition.advances(run.state()) == Advance::Manual;
    match run.status {
        RunStatus::Running if run.waiting().next().is_none() && by_steps() => ActionKind::Step,
        RunStatus::Running => ActionKind::Work,
        RunStatus::Paused => ActionKind::Paused,
        _ => ActionKind::Complete,
    }
}

/// The run as a whole with that status, without a unit.
fn as_a_whole(view: &'static View, run: &RunState, status: RunStatus) -> Action {
    let mut action = Action::new(view, &run.run, &run.workflow);
    match status {
        RunStatus::Running => {}
        RunStatus::Paused => {
            action.action = ActionKind::Paused;
            action.paused_reason = run.pause.as_ref().map(|pause| pause.reason.clone());
            action.paused_message = run.pause.as_ref().and_then(|pause| pause.message.clone());
            action.needs_person = run.pause.as_ref().is_some_and(|pause| pause.person);
            action.next_steps = vec![Verb::Resume.into()];
        }
        over => {
            action.action = ActionKind::Complete;
            action.status = Some(over.name().to_owned());
            action.next_steps = vec![Verb::Summary.step().of(&run.run).into()];
        }
    }
    action
}

/// The action with the steps that lead on from it, where it is none of a task.
fn with_steps(mut action: Action) -> Action {
    let run = action.run_id.as_str();
    let of_run = |verb: Verb| verb.step().of(run);
    let gate = action.gate.as_ref();
    let decided = |word: &str, step: NextStep| {
        let Some(gate) = gate else {
            return step;
        };
        // Said of exactly what stands there.
        let step = step.with("decision", word).with("gate", &gate.gate);
        let step = step.with("shown", &gate.hash);
        match gate.strength {
            Strength::Signed => step.and("sign"),
            _ => step,
        }
    };
    let steps: Vec<NextStep> = match action.action {
        ActionKind::Work => match &action.unit {
            Some(unit) => {
                action.next_steps = vec![unit.report.clone()];
                return action;
            }
            None => vec![of_run(Verb::Next)],
        },
        ActionKind::Step => vec![of_run(Verb::Step)],
        ActionKind::Restore => vec![of_run(Verb::Restore)],
        ActionKind::Decide => {
            let reject = decided("reject", of_run(Verb::Reject).and("feedback"));
            let reject = Some(reject).filter(|_| gate.is_some_and(|gate| gate.can_reject));
            [Some(decided("approve", of_run(Verb::Approve))), reject]
                .into_iter()
                .flatten()
                .collect()
        }
        // They have theirs from the start.
        ActionKind::Paused | ActionKind::Complete => return action,
    };
    action.next_steps = steps.into_iter().map(String::from).collect();
    action
}

fn open_unit(run: &RunState, definition: &Definition, token: &Token, unit: &Unit) -> OpenUnit {
    let asked = asked(definition, &token.state);
    let response = definition.response(&token.state, &run.vars);
    OpenUnit {
        unit_id: unit.id.clone(),
        attempt: unit.attempt,
        max_attempts: unit.max_attempts,
        item: run.item(token).map(|item| Map::clone(&item.fields)),
        prompt: definition.prompt(&token.state, &run.vars),
        report: report_step((run, definition), &unit.id, &asked, response.as_deref()).into(),
        response,
        ..asked
    }
}

/// The step that reports a unit. One whose answer is waited for in a file is reported by a step of the run, once it is there.
fn report_step(
    (run, definition): (&RunState, &Definition),
    unit: &str,
    asked: &OpenUnit,
    response: Option<&str>,
) -> NextStep {
    let of_run = |verb: Verb| verb.step().of(&run.run);
    match (response, View::of(run).hands_in) {
        (Some(_), Some(verb)) => return of_run(verb).and("file").with("unit", unit),
        (Some(_), None) => return of_run(Verb::Step),
        (None, _) => {}
    }
    let report = of_run(Verb::Report).with("unit", unit);
    let report = match skill(definition, &asked.state) {
        Some(skill) => report.with("skill", skill),
        None => report,
    };
    match (asked.expects.as_deref(), asked.outcomes.first()) {
        (Some("outcome"), Some(outcome)) => report.with("outcome", outcome),
        (Some("outcome"), None) => report.and("outcome"),
        (Some("tests"), _) => report.and("results"),
        _ => report,
    }
}

/// What the definition says of a state that waits.
fn asked(definition: &Definition, state: &str) -> OpenUnit {
    let defined = definition.state(state);
    let by = defined
        .and_then(|state| state.work.as_ref())
        .map_or(Actor::Anyone, |work| work.by);
    OpenUnit {
        state: state.to_owned(),
        label: defined.and_then(|state| state.label.clone()),
        by: match by {
            Actor::Agent => "agent",
            Actor::Person => "person",
            Actor::Anyone => "anyone",
        }
        .to_owned(),
        expects: defined
            .and_then(StateDef::reader)
            .map(|reader| reader.value.clone()),
        outcomes: messages::outcomes(definition, state),
        ..OpenUnit::default()
    }
}

/// The kept instructions of a unit, or those without a template.
fn instructions_of(
    definition: &Definition,
    (token, unit, prompt): (&Token, &Unit, Option<&str>),
    dir: &Path,
) -> Result<String, Fault> {
    if let Some(hash) = &unit.context {
        let bytes = || EvidenceStore::new(dir).get(hash);
        return Ok(match Form::of(definition, &token.state) {
            Form::Frame => Frame::read(dir, hash)?.instructions,
            Form::Context => UnitContext::read(&bytes()?).instructions,
            Form::Text => String::from_utf8_lossy(&bytes()?).into_owned(),
        });
    }
    // One that a prompt asks for which was there before.
    if let Some(prompt) = prompt.and_then(|path| std::fs::read_to_string(path).ok()) {
        return Ok(prompt);
    }
    let role = definition.role(&token.state);
    Ok(context::without_template(definition, &role, token))
}

/// The action with what only a look at the run's folder shows: a gate that is closed, a step that can be taken.
pub(crate) fn look_further(
    call: &Call<'_>,
    run: &RunState,
    mut action: Action,
) -> Result<Action, Fault> {
    if run.status != RunStatus::Running {
        return Ok(action);
    }
    match open_run::foresee(&call.definition, run, call)? {
        Forecast::Blocked(refusal) => {
            let Some(gate) = gate_of(call, run, &refusal) else {
                return Ok(action);
            };
            action.action = ActionKind::Decide;
            action.gate = Some(gate);
        }
        // A file that was changed behind the run's back keeps it from any step until it is put back.
        Forecast::Refused(refusal) if refusal.code == TAMPERED => {
            action.action = ActionKind::Restore;
            let path = refusal.details.get("path").and_then(Value::as_str);
            action.changed = path.map(|path| call.dir.join(path));
        }
        Forecast::Refused(refusal) => {
            action.action = ActionKind::Step;
            action.blocked_by = Some(refusal.code);
        }
        Forecast::Goes | Forecast::Reading { .. } => action.action = ActionKind::Step,
    }
    Ok(with_steps(action))
}
