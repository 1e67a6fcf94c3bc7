//! From a run to answers. A view picks names and shapes; it decides nothing.

use std::path::Path;

use journal::EvidenceStore;
use machine::definition::{Actor, Advance, Kind, StateDef};
use machine::state::{ItemStatus, Next, RunStatus, Token, Unit};
use machine::{Definition, RunState};
use serde_json::{Map, Value, json};

use crate::call::Form;
use crate::clock::{millis_of, spoken};
use crate::fault::Fault;
use crate::generic::answer::{CurrentState, OpenUnit, RunAction, RunStatusAnswer};
use crate::generic::{context, messages};
use crate::view::autopilot::instructions::UnitContext;
use crate::view::collab::frame::Frame;

/// How many units are told of at length.
const MOST_UNITS: usize = 20;

/// What comes next, without instructions.
pub(crate) fn next_action(run: &RunState, definition: &Definition) -> RunAction {
    let mut then = whole(run);
    action(run, definition).clone_into(&mut then.action);
    if run.status == RunStatus::Running {
        let open: Vec<OpenUnit> = run
            .waiting()
            .take(MOST_UNITS)
            .map(|(token, unit)| open_unit(run, definition, token, unit))
            .collect();
        listed(&mut then, open, run.waiting().count());
    }
    then
}

/// What is to be done next, in a word.
pub(crate) fn action(run: &RunState, definition: &Definition) -> &'static str {
    let running = run.status == RunStatus::Running;
    let by_steps = definition.advances(run.state()) == Advance::Manual;
    if running && by_steps && run.waiting().next().is_none() {
        return "step";
    }
    in_a_word(run.status)
}

fn in_a_word(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Running => "work",
        RunStatus::Paused => "paused",
        _ => "complete",
    }
}

/// What comes next, with all that is needed to do it.
pub(crate) fn full(
    run: &RunState,
    definition: &Definition,
    dir: &Path,
) -> Result<RunAction, Fault> {
    let mut action = whole(run);
    if run.status == RunStatus::Running {
        let mut open = Vec::new();
        for (at, (token, unit)) in run.waiting().enumerate() {
            let mut one = open_unit(run, definition, token, unit);
            for file in [&mut one.prompt, &mut one.response].into_iter().flatten() {
                *file = dir.join(&*file).display().to_string();
            }
            if at < MOST_UNITS {
                one.instructions = Some(instructions(definition, token, unit, dir)?);
            }
            open.push(one);
        }
        let total = open.len();
        listed(&mut action, open, total);
    }
    Ok(action)
}

/// What came next when a report was answered, as it was recorded.
pub(crate) fn recorded(run: &RunState, definition: &Definition, next: &Next) -> RunAction {
    let mut then = whole(run);
    in_a_word(next.status).clone_into(&mut then.action);
    if next.status.is_over() {
        then.status = Some(next.status.name().to_owned());
    }
    if next.status == RunStatus::Running {
        then.status = None;
        then.paused_reason = None;
        then.paused_message = None;
        if next.unit.is_none() {
            action(run, definition).clone_into(&mut then.action);
        }
        if let (Some(unit), Some(state)) = (&next.unit, &next.state) {
            let item = next.item.as_ref().and_then(|key| {
                let set = definition
                    .parent(state)
                    .and_then(|parent| definition.state(parent)?.each.as_ref())?;
                let item = run.sets.get(&set.items.value)?.get(key)?;
                Some(Map::clone(&item.fields))
            });
            then.unit = Some(OpenUnit {
                unit_id: unit.clone(),
                attempt: next.attempt.unwrap_or(1),
                max_attempts: next.max_attempts,
                item,
                ..asked(definition, state)
            });
        }
    }
    then
}

/// The run as a whole, without a unit.
fn whole(run: &RunState) -> RunAction {
    let mut action = RunAction {
        run_id: run.run.clone(),
        workflow: run.workflow.clone(),
        ..RunAction::default()
    };
    in_a_word(run.status).clone_into(&mut action.action);
    match run.status {
        RunStatus::Running => {}
        RunStatus::Paused => {
            action.paused_reason = run.pause.as_ref().map(|pause| pause.reason.clone());
            action.paused_message = run.pause.as_ref().and_then(|pause| pause.message.clone());
            action.needs_person = run.pause.as_ref().is_some_and(|pause| pause.person);
        }
        over => action.status = Some(over.name().to_owned()),
    }
    action
}

fn listed(action: &mut RunAction, open: Vec<OpenUnit>, total: usize) {
    action.unit = open.first().cloned();
    if total > 1 {
        action.units = open;
        action.units_total = Some(total);
    }
}

fn open_unit(run: &RunState, definition: &Definition, token: &Token, unit: &Unit) -> OpenUnit {
    OpenUnit {
        unit_id: unit.id.clone(),
        attempt: unit.attempt,
        max_attempts: unit.max_attempts,
        item: run.item(token).map(|item| Map::clone(&item.fields)),
        prompt: definition.prompt(&token.state, &run.vars),
        response: definition.response(&token.state, &run.vars),
        ..asked(definition, &token.state)
    }
}

/// What the definition says of a state that waits.
pub(super) fn asked(definition: &Definition, state: &str) -> OpenUnit {
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
fn instructions(
    definition: &Definition,
    token: &Token,
    unit: &Unit,
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
    let role = definition.role(&token.state);
    Ok(context::without_template(definition, &role, token))
}

/// Where the run is, at the time `now` in milliseconds.
pub(crate) fn status(run: &RunState, definition: &Definition, now: i64) -> RunStatusAnswer {
    let began = millis_of(&run.started_at).unwrap_or(now);
    let until = run.ended_at.as_deref().and_then(millis_of).unwrap_or(now);
    let millis = u64::try_from(until - began).unwrap_or(0);
    RunStatusAnswer {
        run_id: run.run.clone(),
        workflow: run.workflow.clone(),
        title: definition.title.clone(),
        status: run.status.name().to_owned(),
        states: standing(run, definition),
        items: items(run, definition),
        inputs: run.inputs.clone(),
        vars: run.vars.clone(),
        start_time: run.started_at.clone(),
        end_time: run.ended_at.clone(),
        duration: spoken(millis),
        duration_ms: millis,
        last_updated: run.updated_at.clone(),
        can_resume: !run.status.is_over(),
        paused_reason: run.pause.as_ref().map(|pause| pause.reason.clone()),
        end_reason: run.end_reason.clone(),
        context: None,
        next_action: next_action(run, definition),
    }
}

/// The states that the run stands at. One whose items are in flight is left out: those say more.
fn standing(run: &RunState, definition: &Definition) -> Vec<CurrentState> {
    let in_flight = run.tokens.len() > 1;
    run.tokens
        .iter()
        .filter(|token| {
            let each = definition
                .state(&token.state)
                .is_some_and(|state| state.kind() == Kind::Each);
            !(each && in_flight)
        })
        .map(|token| {
            let state = definition.state(&token.state);
            CurrentState {
                state: token.state.clone(),
                label: state.and_then(|state| state.label.clone()),
                phase: state.and_then(|state| state.phase.clone()),
                item: token.key().map(str::to_owned),
                unit_id: token.unit.as_ref().map(|unit| unit.id.clone()),
                since: token.entered_at.clone(),
            }
        })
        .collect()
}

/// How far each item set is.
pub(crate) fn items(run: &RunState, definition: &Definition) -> Map<String, Value> {
    definition
        .items
        .iter()
        .filter_map(|(name, _)| {
            let set = run.sets.get(&name.value)?;
            let blocked = run.blocked(definition, name);
            let blocked = blocked.into_iter().filter(|is| *is).count();
            let open = set.count(ItemStatus::Open);
            let far = json!({
                "total": set.len(),
                "done": set.count(ItemStatus::Done),
                "failed": set.count(ItemStatus::Failed),
                "active": set.count(ItemStatus::Active),
                "open": open - blocked.min(open),
                "blocked": blocked,
            });
            Some((name.value.clone(), far))
        })
        .collect()
}
