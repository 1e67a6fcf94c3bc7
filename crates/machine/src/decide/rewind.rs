//! The way back to where the run stood before.

use serde_json::{Map, Value};

use super::edge::Transition;
use super::{Need, Planner, Stop};
use crate::apply::merge;
use crate::command::EVENT;
use crate::definition::Edge;
use crate::event::Event;
use crate::refusal::Refusal;
use crate::state::{EffectAt, ROOT, RunState};
use crate::trigger::Trigger;

impl Planner<'_> {
    /// Begins it: what the workflow does on the way is done before the run is as it was.
    pub(super) fn rewind(
        &mut self,
        to: u64,
        reason: &str,
        flags: &Map<String, Value>,
    ) -> Result<(), Stop> {
        let state = self.state_of(ROOT);
        self.takes_nothing_away(ROOT, &state)?;
        if !self.past(to)?.is_a_step() {
            return Err(Stop::refused(
                Refusal::new("not_possible")
                    .message(format!(
                        "nobody was asked for anything behind event {to}: the run cannot stand there"
                    ))
                    .detail("event", to),
            ));
        }
        let mut flags = flags.clone();
        flags.insert(EVENT.to_owned(), to.into());
        let way = Transition {
            flags,
            reason: Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty()),
            ..Transition::default()
        };
        self.take_from_root(Trigger::Rewind, way)
    }

    /// The far end of it: the run is as it was, and whoever was asked for something then is asked anew.
    pub(super) fn come_back(
        &mut self,
        edge: &Edge,
        at: &EffectAt,
        way: Transition,
    ) -> Result<(), Stop> {
        let to = way
            .flags
            .get(EVENT)
            .and_then(Value::as_u64)
            .unwrap_or_default();
        let mut state = self.past(to)?.as_past(way.reason.as_deref());
        merge(&mut state.kept, &way.keep);
        let grants = self.grants();
        self.push(Event::RunRewound {
            to,
            state: Box::new(state),
            reason: way.reason,
            grants,
        });
        self.emit(edge, at, None);
        Ok(())
    }

    fn past(&self, seq: u64) -> Result<&RunState, Stop> {
        let past = self.facts.past.as_deref();
        past.ok_or_else(|| Stop::Need(Box::new(Need::Past { seq })))
    }
}
