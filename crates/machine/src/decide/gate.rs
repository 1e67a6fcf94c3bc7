//! Gates: where a state waits until somebody has looked at what stands before it.

use super::advance::place;
use super::command::cannot;
use super::edge::Transition;
use super::{Need, Planner, Stop};
use crate::approval::{GateMode, Strength};
use crate::command::{Choice, Facts, GateDecision};
use crate::definition::{Definition, Gate};
use crate::event::Event;
use crate::refusal::Refusal;
use crate::state::{ROOT, RunState, RunStatus};
use crate::trigger::Trigger;

impl Planner<'_> {
    /// Whether a closed gate keeps the token from doing anything in `state`.
    pub(super) fn is_blocked(&self, token: u32, state: &str) -> Result<bool, Stop> {
        let Some(gate) = self.gate_of(state) else {
            return Ok(false);
        };
        let Some(least) = self.gate_mode(gate)?.strength() else {
            return Ok(false);
        };
        let hash = self.subject(gate, token)?;
        Ok(!self.is_approved(gate, hash, least))
    }

    /// The refusal of what a closed gate does not let happen.
    pub(super) fn gate_is_closed(&self, state: &str) -> Stop {
        let gate = self.gate_of(state).unwrap_or_default();
        Stop::refused(
            Refusal::new("gate_closed")
                .message(format!(
                    "the gate `{gate}` is closed: somebody has to look first"
                ))
                .detail("gate", gate)
                .detail("state", state),
        )
    }

    /// Takes in what somebody decided.
    pub(super) fn rule(&mut self, ruling: &GateDecision) -> Result<(), Stop> {
        match self.run.status {
            RunStatus::Running => {}
            RunStatus::Paused => return Err(self.paused()),
            _ => return Err(self.over()),
        }
        let gate = ruling.gate.as_str();
        let at = self
            .run
            .tokens
            .iter()
            .find(|token| self.gate_of(&token.state) == Some(gate))
            .map(|token| (token.id, token.state.clone()));
        let round = self.definition.round(&self.run.vars);
        let Some((token, state)) =
            at.filter(|(_, state)| *state == ruling.state && round == ruling.round)
        else {
            return Err(Stop::refused(
                Refusal::new("changed_since")
                    .message(format!(
                        "the run does not stand before the gate `{gate}` that was looked at"
                    ))
                    .suggestion("look where it stands now, and decide on that")
                    .detail("gate", gate),
            ));
        };
        let Some(least) = self.gate_mode(gate)?.strength() else {
            return Err(Stop::refused(
                Refusal::new("not_possible")
                    .message(format!("the gate `{gate}` is open: nobody is asked here"))
                    .detail("gate", gate),
            ));
        };
        let hash = self.subject(gate, token)?.to_owned();
        if hash != ruling.hash {
            return Err(Stop::refused(
                Refusal::new("changed_since")
                    .message(format!(
                        "what stands before the gate `{gate}` is not what was looked at"
                    ))
                    .suggestion("look at it again, and decide on what is there now")
                    .detail("gate", gate)
                    .detail("lookedAt", ruling.hash.clone())
                    .detail("found", hash),
            ));
        }
        let approval = self.strong_enough(ruling.approval.as_deref(), least, gate)?;
        if self.is_approved(gate, &hash, least) {
            return match ruling.choice {
                // The same thing said twice is said once.
                Choice::Approve => Ok(()),
                Choice::Reject => Err(Stop::refused(
                    Refusal::new("not_possible")
                        .message(format!(
                            "the gate `{gate}` was opened before for this very thing"
                        ))
                        .detail("gate", gate),
                )),
            };
        }
        let made = Event::DecisionMade {
            gate: gate.to_owned(),
            state: state.clone(),
            iteration: round,
            hash,
            choice: ruling.choice,
            feedback: ruling.feedback.clone(),
            approval: approval.clone(),
            keep: ruling.keep.clone(),
        };
        if ruling.choice == Choice::Approve {
            self.push(made);
            for artifact in &ruling.changed {
                self.push(Event::ArtifactRecorded(artifact.clone()));
            }
            return self.advance(&Transition::default(), false);
        }
        if ruling.feedback.trim().is_empty() {
            return Err(Stop::refused(
                Refusal::new("usage")
                    .message(
                        "a rejection says what is to be done otherwise, and this one says nothing",
                    )
                    .suggestion("say it in a sentence or two: it goes into the next prompt")
                    .detail("gate", gate),
            ));
        }
        self.push(made);
        let way = Transition {
            reason: Some(ruling.feedback.clone()),
            decision: Some(Choice::Reject),
            ..Transition::default()
        };
        let edges = self.definition.edges(&state, Trigger::Reject);
        let Some(chosen) = self.walk(edges, token, None, &[], &way)? else {
            return Err(cannot(Trigger::Reject, &state, None));
        };
        let after = way.after();
        self.take(token, &place(&state, Trigger::Reject, chosen.index), way)?;
        self.advance(&after, false)
    }

    pub(super) fn gate_of(&self, state: &str) -> Option<&str> {
        let gate = self.definition.state(state)?.gate.as_ref()?;
        Some(&gate.value)
    }

    /// Who decides at that gate.
    fn gate_mode(&self, gate: &str) -> Result<GateMode, Stop> {
        let mode = match self.definition.gates.get(gate) {
            None => return Ok(GateMode::Auto),
            Some(Gate::Mode(mode)) => return Ok(*mode),
            Some(Gate::Expression(expression)) => {
                expression.evaluate(&self.scope(ROOT, None, &Transition::default()))?
            }
        };
        mode.as_str().and_then(GateMode::named).ok_or_else(|| {
            Stop::refused(Refusal::new("definition_fault").message(format!(
                "the mode of the gate `{gate}` is {mode}, but must be {}",
                GateMode::words().join(" or ")
            )))
        })
    }

    /// Whether a person opened the gate for this, with enough behind it.
    fn is_approved(&self, gate: &str, hash: &str, least: Strength) -> bool {
        let least = least.max(self.run.least_approval);
        let round = self.definition.round(&self.run.vars);
        self.run.approvals.iter().any(|opened| {
            opened.gate == gate
                && opened.iteration == round
                && opened.hash == hash
                && opened.strength >= least
        })
    }

    /// The hash of what stands before a gate now.
    fn subject(&self, gate: &str, token: u32) -> Result<&str, Stop> {
        let known = self.facts.subjects.get(gate).map(String::as_str);
        known.ok_or_else(|| {
            Stop::Need(Box::new(Need::Subject {
                gate: gate.to_owned(),
                token,
                run: RunState::default(),
            }))
        })
    }
}

/// The least that a decision at a gate needs; none where nobody is asked.
pub fn gate_strength(definition: &Definition, run: &RunState, gate: &str) -> Option<Strength> {
    let least = gate_mode(definition, run, gate)?.strength()?;
    Some(least.max(run.least_approval))
}

/// Who decides at a gate of a run; none where that cannot be told.
pub fn gate_mode(definition: &Definition, run: &RunState, gate: &str) -> Option<GateMode> {
    let facts = Facts::default();
    Planner::new(definition, run, &facts).gate_mode(gate).ok()
}
