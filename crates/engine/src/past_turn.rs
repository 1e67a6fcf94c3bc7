//! Turns that an earlier call has taken: one that died or failed behind it, or whose answer was lost.

use journal::{FileJournal, Journal as _, Position};
use machine::trigger::Trigger;
use machine::{Definition, Event, RunState};
use serde_json::Value;

use crate::approval::present_unit;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::generic::messages::place;
use crate::open_run::event_of;
use crate::rewind::{PastSteps, told};
use crate::turn::stale;
use crate::writer::RunWriter;

impl Engine {
    /// The same project for turns that were decided on while `unit` was the present work unit. They are refused where it is not.
    #[must_use]
    pub fn at_unit(&self, unit: Option<&str>) -> Self {
        let mut engine = self.clone();
        engine.unit = unit.map(str::to_owned);
        engine
    }

    /// Refuses a turn that was decided on at a work unit that is no longer present.
    pub(crate) fn unit_is_present(
        &self,
        run: &RunState,
        definition: &Definition,
    ) -> Result<(), Fault> {
        match &self.unit {
            Some(unit) if !waits(run, unit) => {
                let why = format!("`{unit}` is not the present work unit; the run is at ");
                Err(stale(run, definition, &why).detail("unit", present_unit(run)))
            }
            _ => Ok(()),
        }
    }

    /// What the turn came to, if an earlier call has taken it: the call that this one found unfinished, or the one that
    /// ended the unit that the caller names. Refuses where that unit was ended by something else. `target` is the item that is
    /// named, or where to a run is taken back.
    pub(crate) fn taken_before(
        &self,
        writer: &RunWriter<'_>,
        trigger: Trigger,
        target: Option<&str>,
    ) -> Result<Option<String>, Fault> {
        let (now, definition) = (&writer.open.run, &writer.call.definition);
        let ended = self.unit.as_deref().filter(|unit| !waits(now, unit));
        let since = writer.unfinished.as_deref().filter(|_| self.unit.is_none());
        if ended.is_none() && since.is_none() {
            return Ok(None);
        }
        let tail = FileJournal::open(&writer.open.dir)?.read(&Position::start())?;
        let (mut run, mut waited) = (RunState::default(), false);
        let (mut events, mut to, mut found) = (Vec::new(), None, None);
        for record in &tail.records {
            let event = event_of(record)?;
            if events.is_empty() {
                waited = ended.is_some_and(|unit| waits(&run, unit));
            }
            run.apply(&record.ts, &event);
            if let Event::EffectIntended { flags, .. } = &event {
                to = flags.get("to").and_then(Value::as_str).map(str::to_owned);
            }
            events.push(event);
            if record.k < record.n {
                continue;
            }
            let ended_now = waited && ended.is_some_and(|unit| !waits(&run, unit));
            if ended_now || since.is_some_and(|since| record.ts.as_str() >= since) {
                let is_meant = |event: &&Event| is_turn(event, trigger, target, to.as_deref());
                if let Some(event) = events.iter().find(is_meant) {
                    found = Some(outcome(writer, event, &events)?);
                }
            }
            events.clear();
        }
        if found.is_none() {
            self.unit_is_present(now, definition)?;
        }
        Ok(found.map(|done| format!("{done}. An earlier call did this; it was not done again")))
    }
}

fn waits(run: &RunState, unit: &str) -> bool {
    run.waiting().any(|(_, open)| open.id == unit)
}

/// Whether the event is the turn that is meant; `to` is where to the run was to be taken back.
fn is_turn(event: &Event, trigger: Trigger, target: Option<&str>, to: Option<&str>) -> bool {
    match event {
        Event::RunRewound { .. } => trigger == Trigger::Rewind && (to.is_none() || to == target),
        Event::StateEntered { cause, item, .. } => {
            *cause == trigger && (target.is_none() || target == item.as_deref())
        }
        _ => false,
    }
}

/// What the turn came to that is one of these events, for people.
fn outcome(writer: &RunWriter<'_>, turn: &Event, events: &[Event]) -> Result<String, Fault> {
    let place = |state: &str, item| place(&writer.call.definition, state, item);
    Ok(match turn {
        Event::RunRewound { to, .. } => {
            let steps = PastSteps::of(&writer.open.dir)?.steps;
            let step = steps.iter().find(|step| step.event == *to);
            step.map_or_else(String::new, |step| told(step, events))
        }
        Event::StateEntered {
            from,
            to,
            item,
            cause,
            ..
        } => match (cause, item.as_deref()) {
            (Trigger::Skip, item) => format!("Skipped: {}", item.unwrap_or(from)),
            (_, item) => format!(
                "Reopened: from {} back to {}",
                place(from, item),
                place(to, item)
            ),
        },
        _ => String::new(),
    })
}
