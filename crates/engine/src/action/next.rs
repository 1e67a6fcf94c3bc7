//! Finds what comes next in a run. A view picks names and fields; it decides nothing.

use std::path::Path;

use journal::EvidenceStore;
use journal::layout::short_name;
use machine::definition::{Actor, Advance, StateDef};
use machine::state::{Item, ItemStatus, RunStatus, Token, Unit};
use machine::trigger::Trigger;
use machine::{Definition, Role, RunState, Strength};
use serde_json::{Map, Value};
use workspace::config::Level;

use crate::action::{Action, ActionKind, OpenUnit, Precondition};
use crate::call::{Call, Form};
use crate::capability::documents::skills::skill;
use crate::capability::files::subject::TAMPERED;
use crate::capability::memory::{self, BASELINE, Memory, PULL_REQUEST, PUSHED};
use crate::capability::tests::read::few;
use crate::fault;
use crate::fault::Fault;
use crate::find::is_over_a_task;
use crate::gate::gate_of;
use crate::generic::{context, messages};
use crate::next_step::{NextStep, Verb};
use crate::open_run::{self, Forecast};
use crate::report::{Meaning, is_read_on_branch, report_of};
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
    with_changes(view, call, run, detail).map(|(action, _)| action)
}

/// The same, and the files of a session that somebody changed.
pub(crate) fn with_changes(
    view: &'static View,
    call: &Call<'_>,
    run: &RunState,
    detail: Detail,
) -> Result<(Action, Vec<String>), Fault> {
    let mut action = of_run(view, run, Some(&call.definition), &call.dir, detail)?;
    if is_on_task(view, run) {
        return Ok((action, Vec::new()));
    }
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
    look_further(call, run, action).map(|action| changes_first(call, run, action))
}

/// What comes next where somebody changed files of a session; and which.
fn changes_first(call: &Call<'_>, run: &RunState, action: Action) -> (Action, Vec<String>) {
    // While an effect is unfinished, files may be as it left them; that is nobody's doing.
    if call.session.is_none() || run.pending.is_some() {
        return (action, Vec::new());
    }
    let changed = tampered(call, run, &action);
    (put_back_first(call, run, &changed, action), changed)
}

/// Whether a run is shown phase by phase: in the view of tasks, or where its open unit is a phase of a task.
fn is_on_task(view: &View, run: &RunState) -> bool {
    view.is_of_tasks || is_of_task(run)
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
    let open = run.waiting().next().map(|(token, _)| token);
    // The definition is not read for every answer.
    if open.is_some_and(|token| is_read_on_branch(&token.role)) {
        return Ok(None);
    }
    let definition = open_run::pinned(dir, run)?;
    let state = open.map_or(run.state(), |token| &token.state);
    let gate = definition
        .state(state)
        .and_then(|state| state.gate.as_ref());
    let waits = open.is_some() || gate.is_some();
    let place = messages::place(&definition, state, None);
    Ok(waits.then(|| fault!("other_workflow.other_step", place, run = run.run)))
}

/// Has an action say which phase of a task comes next, and what is kept of its unit.
fn give_phase(
    action: &mut Action,
    run: &RunState,
    dir: &Path,
    detail: Detail,
) -> Result<(), Fault> {
    let Some((token, waiting)) = run.waiting().next() else {
        if run.pending.is_some() {
            // Between two states, where only an effect that was interrupted is still to be settled.
            action.action = ActionKind::Paused;
            action.paused_reason = Some(INTERRUPTED.to_owned());
            action.next_steps = vec![Verb::Resume.into()];
        } else {
            // At a closed gate.
            action.action = ActionKind::Work;
            action.phase = Some(run.state().to_owned());
            action.next_steps = vec![next_of_any(run).into()];
        }
        return Ok(());
    };
    action.phase = Some(token.phase().to_owned());
    action.report = Meaning::of(&token.role);
    let report = if is_phase(&token.role) {
        report_of(run, token, &token.role, Level::Claimed).with("unit", &waiting.id)
    } else {
        next_of_any(run)
    };
    action.next_steps = vec![report.into()];
    let Some(unit) = &mut action.unit else {
        return Ok(());
    };
    let item = token.key().and_then(|key| memory::subtask(run, key));
    unit.report.clone_from(&action.next_steps[0]);
    unit.item = item.map(instructions::named);
    let Some(hash) = waiting.context.as_ref().filter(|_| detail != Detail::Brief) else {
        return Ok(());
    };
    let kept = match EvidenceStore::new(dir).get(hash) {
        Ok(bytes) => UnitContext::read(&bytes),
        // The answer tells of something that has come about.
        Err(_) if detail == Detail::Given => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    if detail == Detail::Given {
        // Who had instructions for a subtask before gets those without what is the same each time.
        let same = |key: &str| token.key() == Some(key);
        let over = |item: &Item| matches!(item.status, ItemStatus::Done | ItemStatus::Failed);
        let before = memory::subtasks(run).any(|(key, item)| !same(key) && over(item));
        let brief = kept.brief.filter(|_| before);
        unit.instructions = Some(brief.unwrap_or(kept.instructions));
        return Ok(());
    }
    unit.instructions = Some(kept.instructions);
    unit.item = item.map(instructions::described);
    action.context = Some(kept.context);
    action.preconditions = kept.preconditions;
    if token.role.reader == "tests" {
        action.preconditions.extend(known_failing(run)?);
    }
    Ok(())
}

/// The step that asks what a run wants that is no phase of a task.
fn next_of_any(run: &RunState) -> NextStep {
    Verb::Next.step().in_view(GENERIC.name).of(&run.run)
}

/// The step that goes on from what a run made that is over, where its workflow has one and there is a remote: to submit it, or
/// to import feedback on it.
fn after_the_end(run: &RunState, definition: &Definition) -> Option<NextStep> {
    if !run.status.is_over() {
        return None;
    }
    let memory = Memory::of(run).ok()?;
    let pushed = PUSHED.read(&run.kept).ok()?;
    let (trigger, verb) = match pushed {
        Some(pushed) if pushed.sha.as_str() == memory.last_commit => {
            PULL_REQUEST.read(&run.kept).ok()??;
            (Trigger::Feedback, Verb::Feedback)
        }
        _ => (Trigger::Submit, Verb::Submit),
    };
    let says_how = !definition.edges(run.state(), trigger).is_empty();
    (says_how && memory.repository().has_remotes()).then(|| verb.step().of(&run.run))
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

/// What comes next in a run, as far as it tells by itself; its folder has what the executor of a unit is told. Phases of a task can be
/// told without the definition, which takes longer to read than all else.
pub(crate) fn of_run(
    view: &'static View,
    run: &RunState,
    definition: Option<&Definition>,
    dir: &Path,
    detail: Detail,
) -> Result<Action, Fault> {
    let on_task = is_on_task(view, run);
    let mut action = as_a_whole(view, run, definition);
    if run.status != RunStatus::Running {
        if on_task {
            let definition = definition.filter(|_| detail == Detail::Given);
            let step = definition.and_then(|definition| after_the_end(run, definition));
            action.next_steps.splice(0..0, step.map(String::from));
        } else if let Some(step) = definition.and_then(|definition| after_a_stop(run, definition)) {
            action.needs_person |= run.status == RunStatus::Paused;
            action.next_steps = vec![step.into()];
        }
        return Ok(action);
    }
    let total = run.waiting().count();
    // Of a task one unit is in hand, and the others are named beside it.
    let (most, instructed) = match detail {
        _ if on_task => (MOST_UNITS, 0),
        Detail::Whole => (total, MOST_UNITS),
        Detail::Given => (MOST_UNITS, MOST_UNITS),
        Detail::Brief => (MOST_UNITS, 0),
    };
    let mut units = Vec::new();
    for (at, (token, unit)) in run.waiting().take(most).enumerate() {
        let mut open = open_unit(run, definition, token, unit);
        if instructed > 0 {
            for file in [&mut open.prompt, &mut open.response].into_iter().flatten() {
                *file = dir.join(&*file).display().to_string();
            }
        }
        if at < instructed
            && let Some(definition) = definition
        {
            let of_unit = (token, unit, open.prompt.as_deref());
            open.instructions = Some(instructions_of(definition, of_unit, dir)?);
        }
        units.push(open);
    }
    action.unit = units.first().cloned();
    if on_task {
        give_phase(&mut action, run, dir, detail)?;
    }
    if total > 1 {
        if let (Some(first), Some(unit)) = (units.first_mut(), &action.unit) {
            first.clone_from(unit);
        }
        action.units = units;
        action.units_total = Some(total);
    }
    Ok(if on_task { action } else { with_steps(action) })
}

/// What comes next in a run whose folder cannot be looked into: the next step says more.
pub(crate) fn next_or_step(
    view: &'static View,
    call: &Call<'_>,
    run: &RunState,
) -> (Action, Vec<String>) {
    with_changes(view, call, run, Detail::Brief).unwrap_or_else(|fault| {
        let known = of_run(view, run, Some(&call.definition), &call.dir, Detail::Brief);
        let action = Action {
            action: ActionKind::Step,
            blocked_by: Some(fault.code),
            ..known.unwrap_or_else(|_| Action::new(view, &run.run, &run.workflow))
        };
        changes_first(call, run, action)
    })
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
pub(crate) fn kind(run: &RunState, definition: Option<&Definition>) -> ActionKind {
    let by_steps =
        || definition.is_some_and(|definition| definition.advances(run.state()) == Advance::Manual);
    match run.status {
        RunStatus::Running if run.waiting().next().is_none() && by_steps() => ActionKind::Step,
        RunStatus::Running => ActionKind::Work,
        RunStatus::Paused => ActionKind::Paused,
        _ => ActionKind::Complete,
    }
}

/// The run as a whole, without a unit.
fn as_a_whole(view: &'static View, run: &RunState, definition: Option<&Definition>) -> Action {
    let mut action = Action::new(view, &run.run, &run.workflow);
    action.action = kind(run, definition);
    match action.action {
        ActionKind::Paused => {
            let pause = run.pause.as_ref();
            action.paused_reason = pause.map(|pause| pause.reason.clone());
            action.paused_message = pause.and_then(|pause| pause.message.clone());
            action.needs_person = pause.is_some_and(|pause| pause.person);
            action.next_steps = vec![Verb::Resume.into()];
        }
        ActionKind::Complete => {
            action.status = Some(run.status.name().to_owned());
            action.next_steps = vec![Verb::Summary.step().of(&run.run).into()];
        }
        _ => {}
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

fn open_unit(
    run: &RunState,
    definition: Option<&Definition>,
    token: &Token,
    unit: &Unit,
) -> OpenUnit {
    let mut open = match definition {
        Some(definition) => {
            let asked = asked(definition, &token.state);
            let response = definition.response(&token.state, &run.vars);
            let report = report_step((run, definition), &unit.id, &asked, response.as_deref());
            OpenUnit {
                prompt: definition.prompt(&token.state, &run.vars),
                report: report.into(),
                response,
                ..asked
            }
        }
        None => OpenUnit {
            state: token.state.clone(),
            ..OpenUnit::default()
        },
    };
    open.unit_id.clone_from(&unit.id);
    open.attempt = unit.attempt;
    open.max_attempts = unit.max_attempts;
    open.item = run.item(token).map(|item| Map::clone(&item.fields));
    open
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
        (Some(_), Some(verb)) => return of_run(verb).and("response").with("unit", unit),
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
