//! Gates: where a state waits until somebody has looked at what stands before it.

use super::advance::place;
use super::command::cannot;
use super::edge::Way;
use super::{Need, Planner, Stop};
use crate::command::{Choice, Ruling};
use crate::definition::{GATE_MODES, Literal};
use crate::event::Event;
use crate::refusal::Refusal;
use crate::state::{Approval, ROOT, RunState, RunStatus};

impl Planner<'_> {
    /// Whether a closed gate keeps the token from doing anything in `state`.
    pub(super) fn is_barred(&self, token: u32, state: &str) -> Result<bool, Stop> {
        let Some(gate) = self.gate_of(state) else {
            return Ok(false);
        };
        if !self.is_human(gate)? {
            return Ok(false);
        }
        let hash = self.subject(gate, token)?;
        Ok(!self.run.approvals.contains(&self.approval(gate, hash)))
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
    pub(super) fn rule(&mut self, ruling: &Ruling) -> Result<(), Stop> {
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
                Refusal::new("gate_moved")
                    .message(format!(
                        "the run does not stand before the gate `{gate}` that was looked at"
                    ))
                    .suggestion("look where it stands now, and decide on that")
                    .detail("gate", gate),
            ));
        };
        if !self.is_human(gate)? {
            return Err(Stop::refused(
                Refusal::new("gate_open")
                    .message(format!("the gate `{gate}` is open: nobody is asked here"))
                    .detail("gate", gate),
            ));
        }
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
        let approved = self.run.approvals.contains(&self.approval(gate, &hash));
        if approved {
            return match ruling.choice {
                // The same thing said twice is said once.
                Choice::Approve => Ok(()),
                Choice::Reject => Err(Stop::refused(
                    Refusal::new("already_approved")
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
            actor: ruling.actor.clone(),
            how: ruling.how.clone(),
        };
        if ruling.choice == Choice::Approve {
            self.push(made);
            return self.advance(&Way::default(), false);
        }
        if ruling.feedback.trim().is_empty() {
            return Err(Stop::refused(
                Refusal::new("no_feedback")
                    .message(
                        "a rejection says what is to be done otherwise, and this one says nothing",
                    )
                    .suggestion("say it in a sentence or two: it goes into the next prompt")
                    .detail("gate", gate),
            ));
        }
        self.push(made);
        let way = Way {
            reason: Some(ruling.feedback.clone()),
            decision: Some(Choice::Reject),
            ..Way::default()
        };
        let edges = self.definition.edges(&state, "reject");
        let Some(chosen) = self.walk(edges, token, None, &[], &way)? else {
            return Err(cannot("reject", &state));
        };
        let after = way.after();
        self.take(token, &place(&state, "reject", chosen.index), way)?;
        self.advance(&after, false)
    }

    fn gate_of(&self, state: &str) -> Option<&str> {
        let gate = self.definition.state(state)?.gate.as_ref()?;
        Some(&gate.value)
    }

    /// Whether somebody has to decide at that gate.
    fn is_human(&self, gate: &str) -> Result<bool, Stop> {
        let mode = match self.definition.gates.get(gate) {
            None => return Ok(false),
            Some(Literal::Value(mode)) => mode.clone(),
            Some(Literal::Expression(expression)) => {
                expression.evaluate(&self.scope(ROOT, None, &Way::default()))?
            }
        };
        let [auto, human] = GATE_MODES;
        match mode.as_str() {
            Some(mode) if mode == human => Ok(true),
            Some(mode) if mode == auto => Ok(false),
            _ => Err(Stop::refused(Refusal::new("definition_fault").message(
                format!("the mode of the gate `{gate}` is {mode}, but must be `human` or `auto`"),
            ))),
        }
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

    fn approval(&self, gate: &str, hash: &str) -> Approval {
        Approval {
            gate: gate.to_owned(),
            iteration: self.definition.round(&self.run.vars),
            hash: hash.to_owned(),
        }
    }
}
