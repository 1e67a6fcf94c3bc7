//! Turns that an earlier call took: it was killed, or failed afterwards, or its answer was lost.

use journal::{FileJournal, Journal as _, Position, Record};
use machine::state::Token;
use machine::trigger::Trigger;
use machine::{Definition, Event, RunState, RunStatus};
use serde_json::Value;

use crate::approval::present_unit;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::generic::messages::place;
use crate::next_step::Verb;
use crate::open_run::event_of;
use crate::turn::rewind::{PastSteps, told};
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

    /// What the turn came to, if an earlier call took it: the call that ended the unit that the caller names; where none is named,
    /// the last call that moved the run, if it was this very turn for this very reason. Refuses where the named unit was ended by
    /// something else. `target` is the item that is named, or where to a run is taken back; `reason` is none for a turn that says
    /// more than the journal has of it.
    pub(crate) fn taken_before(
        &self,
        writer: &RunWriter<'_>,
        trigger: Trigger,
        target: Option<&str>,
        reason: Option<&str>,
    ) -> Result<Option<String>, Fault> {
        let (now, definition) = (&writer.open.run, &writer.call.definition);
        let ended = self.unit.as_deref().filter(|unit| !waits(now, unit));
        // Where it stopped since, the same again is meant to get it going.
        let has_stopped = matches!(now.status, RunStatus::Paused | RunStatus::Error);
        if ended.is_none() && (self.unit.is_some() || has_stopped || reason.is_none()) {
            return Ok(None);
        }
        let records = FileJournal::open(&writer.open.dir)?
            .read(&Position::start())?
            .records;
        let units: Vec<&[Record]> = records.chunk_by(|before, _| before.k < before.n).collect();
        let last_call = units.iter().rposition(|unit| !settles(unit));
        let first = last_call.filter(|_| ended.is_none()).unwrap_or(0);
        let (mut run, mut to, mut found) = (RunState::default(), None, None);
        for unit in &units[first..] {
            let waited = ended.is_some_and(|unit| waits(&run, unit));
            let mut events = Vec::with_capacity(unit.len());
            for record in *unit {
                let event = event_of(record)?;
                if ended.is_some() {
                    run.apply(&record.ts, &event);
                }
                if let Event::EffectIntended { flags, .. } = &event {
                    to = flags.get("to").and_then(Value::as_str).map(str::to_owned);
                }
                events.push(event);
            }
            let is_meant = |event: &&Event| {
                is_turn(event, trigger, target, to.as_deref())
                    && (ended.is_some() || reason.map(str::trim) == Some(reason_of(event)))
            };
            if ended.is_none_or(|unit| waited && !waits(&run, unit))
                && let Some(event) = events.iter().find(is_meant)
            {
                found = Some(outcome(writer, event, &events, &records)?);
            }
        }
        let Some(done) = found else {
            self.unit_is_present(now, definition)?;
            return Ok(None);
        };
        let done = format!("{done}. An earlier call did this; it was not done again");
        let (verb, named) = match trigger {
            Trigger::Skip => (Verb::Skip, "item"),
            Trigger::Rewind => (Verb::Rewind, "to"),
            _ => (Verb::Reopen, "item"),
        };
        let unit = present_unit(now);
        // Where no item is in progress, a skip ends the run.
        let leads_on = |(token, _): (&Token, _)| match verb {
            Verb::Skip => target.is_none() && token.key().is_some(),
            _ => !definition.edges(&token.state, trigger).is_empty(),
        };
        let is_once_more = now.waiting().next().is_some_and(leads_on);
        if ended.is_some() || unit.is_empty() || !is_once_more {
            return Ok(Some(done));
        }
        let once_more = verb.step().with("unit", unit).and("reason");
        let once_more = match target {
            Some(target) => once_more.with(named, target),
            None => once_more,
        };
        Ok(Some(format!("{done}. To do it once more: {once_more}")))
    }
}

/// Whether a unit of the journal says what came of an effect, and so belongs to the call that the unit before it is of.
fn settles(unit: &[Record]) -> bool {
    let settled = ["effect:done", "effect:failed"];
    unit.iter()
        .any(|record| settled.contains(&record.event.as_str()))
}

fn reason_of(turn: &Event) -> &str {
    match turn {
        Event::StateEntered { reason, .. } | Event::RunRewound { reason, .. } => {
            reason.as_deref().unwrap_or_default().trim()
        }
        _ => "",
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
fn outcome(
    writer: &RunWriter<'_>,
    turn: &Event,
    events: &[Event],
    journal: &[Record],
) -> Result<String, Fault> {
    let place = |state: &str, item| place(&writer.call.definition, state, item);
    Ok(match turn {
        Event::RunRewound { to, .. } => {
            let steps = PastSteps::of(journal)?.steps;
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
