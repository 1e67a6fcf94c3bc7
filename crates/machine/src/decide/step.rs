//! One step of a run that goes on only when it is asked to: one transition, or nothing.

use super::advance::place;
use super::edge::Transition;
use super::{Need, Planner, Stop};
use crate::command::{Present, Report};
use crate::definition::Kind;
use crate::refusal::Refusal;
use crate::state::{ROOT, RunState, RunStatus};
use crate::trigger::Trigger;

/// The code of a step that cannot be taken now.
pub const BLOCKED: &str = "blocked";

impl Planner<'_> {
    pub(super) fn step_once(&mut self) -> Result<(), Stop> {
        match self.run.status {
            RunStatus::Running => {}
            RunStatus::Paused => {
                let reason = self.run.pause.as_ref().map(|pause| pause.reason.clone());
                return Err(blocked().detail("paused", reason).into());
            }
            over => return Err(blocked().detail("over", over.name()).into()),
        }
        let state = self.state_of(ROOT);
        let definition = self.definition;
        let Some(def) = definition.state(&state) else {
            return Err(Stop::refused(
                Refusal::new("definition_fault").message(format!("there is no state `{state}`")),
            ));
        };
        if self.is_blocked(ROOT, &state)? {
            let gate = def.gate.as_ref().map(|gate| gate.value.clone());
            let hash = gate.as_ref().and_then(|gate| self.facts.subjects.get(gate));
            return Err(blocked()
                .detail("hash", hash.cloned())
                .detail("gate", gate)
                .into());
        }
        let way = Transition::default();
        match def.kind() {
            Kind::Work => self.step_at_work(&state),
            Kind::Route => {
                self.route(ROOT, &state, &way)?;
                self.advance(&way, false)
            }
            Kind::Do => {
                let at = self.not_done_yet(ROOT, &place(&state, Trigger::Do, 0));
                if self.effect_on(&at).is_some() {
                    return self.intend(ROOT, at, way);
                }
                self.leave_do(ROOT)?;
                self.advance(&way, false)
            }
            // The items move it, by their reports.
            Kind::Each => Err(blocked().into()),
            Kind::Final => self.advance(&way, false),
        }
    }

    fn step_at_work(&mut self, state: &str) -> Result<(), Stop> {
        let response = self.definition.response(state, &self.run.vars);
        let prompt = self.definition.prompt(state, &self.run.vars);
        let there = match (&prompt, &response) {
            (None, None) => Present::default(),
            _ => self.present()?,
        };
        let unit = self
            .run
            .token(ROOT)
            .and_then(|token| token.unit.as_ref())
            .map(|unit| unit.id.clone());
        let prompt_missing = prompt.is_some() && !there.prompt && !there.response;
        match unit {
            None if !there.response => {
                // A prompt that stands there already asks for it, as after a step back.
                return self.issue_with(ROOT, state, response.is_none() || !there.prompt);
            }
            Some(unit) if prompt_missing => {
                self.issue_again(&unit);
                return Ok(());
            }
            _ => {}
        }
        let Some(response) = response.filter(|_| there.response) else {
            let path = self.definition.response(state, &self.run.vars);
            return Err(blocked().detail("path", path).detail("unit", unit).into());
        };
        let unit = if let Some(unit) = unit {
            unit
        } else {
            // It was written before it was asked for, so there is nothing left to ask.
            self.issue_with(ROOT, state, false)?;
            let issued = self.run.token(ROOT).and_then(|token| token.unit.as_ref());
            issued.map(|unit| unit.id.clone()).unwrap_or_default()
        };
        let report = Report {
            unit: Some(unit.clone()),
            digest: response,
            ..Report::default()
        };
        self.answer(ROOT, unit, state, &report)
    }

    /// Writes the prompt of a unit anew, which is gone: the unit stays as it is, and what was recorded of it too, unless it
    /// comes out otherwise.
    fn issue_again(&mut self, unit: &str) {
        let present = self.run.token(ROOT).and_then(|token| token.unit.as_ref());
        let attempt = present.map_or(1, |unit| unit.attempt);
        let max_attempts = present.and_then(|unit| unit.max_attempts);
        self.request_prompt((unit, ROOT), attempt, max_attempts, true);
    }

    fn present(&self) -> Result<Present, Stop> {
        self.facts.present.ok_or_else(|| {
            Stop::Need(Box::new(Need::Present {
                token: ROOT,
                run: RunState::default(),
            }))
        })
    }
}

fn blocked() -> Refusal {
    Refusal::new(BLOCKED).message("no step can be taken now")
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::refused(refusal)
    }
}
