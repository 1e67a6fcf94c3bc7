//! What a journal has of a person's decisions, and what it lacks of them.

use std::path::Path;

use journal::Record;
use project::person::{self, SignatureError};
use rails::decide::gate_strength;
use rails::{Approval, Definition, Event, RunState, Strength};
use serde::Serialize;

use crate::approval::{Statement, Turn};
use crate::fault::chain;
use crate::review::answer::ClosedGate;

/// What a person decided, as the journal of its run has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The number of its event.
    pub seq: u64,
    /// When it was made, UTC.
    pub ts: String,
    /// What it was about.
    pub statement: Statement,
    /// Whose word it is.
    pub approval: Approval,
}

/// What can be said now of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SignatureState {
    /// It has no signature.
    Unsigned,
    /// Its signature is of a key that was allowed then, over this very decision.
    Good,
    /// Its signature is of no such key, or over something else.
    Bad,
    /// There is no list of keys here to hold it against, or no `ssh-keygen`.
    Unchecked,
}

impl Decision {
    /// What the event of `record` tells of a decision in `run`.
    pub(crate) fn of(run: &str, record: &Record, event: &Event) -> Option<Self> {
        let (statement, approval) = match event {
            Event::DecisionMade {
                gate,
                iteration,
                hash,
                choice,
                feedback,
                approval,
                ..
            } => {
                let gate = ClosedGate {
                    session_id: run.to_owned(),
                    gate: gate.clone(),
                    round: *iteration,
                    hash: hash.clone(),
                    ..ClosedGate::default()
                };
                (
                    Statement::at_gate(&gate, *choice, feedback, &record.prev),
                    approval,
                )
            }
            Event::RefusalAllowed {
                unit,
                code,
                reason,
                approval,
            } => (
                Statement::on_refusal(run, unit, code, reason, &record.prev),
                approval,
            ),
            Event::ApprovalGiven {
                what,
                stopped,
                reason,
                flags,
                approval,
                ..
            } => {
                let turn = Turn {
                    name: what,
                    reason,
                    flags: flags.clone(),
                };
                (
                    Statement::on_turn(run, stopped, &turn, &record.prev),
                    approval,
                )
            }
            _ => return None,
        };
        Some(Self {
            seq: record.seq,
            ts: record.ts.clone(),
            statement,
            approval: approval.clone(),
        })
    }

    /// What was decided, in a few words.
    pub fn what(&self) -> String {
        let Statement {
            what,
            subject,
            choice,
            ..
        } = &self.statement;
        match what.as_str() {
            "gate" => format!("{choice} at the gate {subject}"),
            "allow" => format!("allow {subject}"),
            turn => format!("{turn} after {subject}"),
        }
    }

    /// Holds its signature against the keys that are allowed; with what is wrong, where it does not hold.
    pub fn signature(&self, signers: &Path) -> (SignatureState, Option<String>) {
        let Some(signature) = &self.approval.signature else {
            return match self.approval.strength {
                Strength::Signed => (SignatureState::Bad, Some("it has none".to_owned())),
                Strength::Client | Strength::Terminal => (SignatureState::Unsigned, None),
            };
        };
        let at = self.ts.parse().ok();
        match person::verify(&self.statement.text(), &signature.armored, signers, at) {
            Ok(signer) if signer.name == self.approval.actor && signer.key == signature.key => {
                (SignatureState::Good, None)
            }
            Ok(signer) => (
                SignatureState::Bad,
                Some(format!("it is of {} ({})", signer.name, signer.key)),
            ),
            Err(error @ SignatureError::Invalid { .. }) => {
                (SignatureState::Bad, Some(chain(&error)))
            }
            Err(error) => (SignatureState::Unchecked, Some(chain(&error))),
        }
    }
}

/// Something that only a person decides, and that the journal does not have as it has to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// The number of the event that rests on it.
    pub seq: u64,
    /// What it is.
    pub message: String,
}

/// The decisions of a journal, read event by event.
#[derive(Debug, Default)]
pub struct Audit {
    /// The decisions.
    pub decisions: Vec<Decision>,
    /// What is not there, or has less behind it than the run asks for.
    pub missing: Vec<Missing>,
    definition: Option<Definition>,
    /// Whether the unit at hand began with somebody's word.
    given: bool,
}

impl Audit {
    /// Takes in the next event. `run` is as it was before it.
    pub fn note(&mut self, run: &RunState, record: &Record, event: &Event) {
        self.given &= record.k > 1;
        if let Event::RunCreated { definition, .. } = event {
            self.definition = Definition::parse(definition).ok();
        }
        let mut lacks = |message: String| {
            self.missing.push(Missing {
                seq: record.seq,
                message,
            });
        };
        if let Some(decision) = Decision::of(&run.run, record, event) {
            let gate = match event {
                Event::DecisionMade { gate, .. } => self
                    .definition
                    .as_ref()
                    .and_then(|definition| gate_strength(definition, run, gate)),
                _ => None,
            };
            let least = gate.unwrap_or_default().max(run.least_approval);
            if decision.approval.strength < least {
                lacks(format!(
                    "{} is {}, and the run asks for {}",
                    decision.what(),
                    decision.approval.strength.name(),
                    least.name()
                ));
            }
            self.given = true;
            self.decisions.push(decision);
            return;
        }
        match event {
            Event::RunResumed { .. } if !self.given => {
                if let Some(pause) = run.pause.as_ref().filter(|pause| pause.person) {
                    lacks(format!(
                        "the run went on after {}, and nobody decided it",
                        pause.reason
                    ));
                }
            }
            Event::StateEntered { from, cause, .. } => {
                let Some(definition) = &self.definition else {
                    return;
                };
                let gate = definition.state(from).and_then(|state| state.gate.as_ref());
                let Some(gate) = gate.filter(|_| !ELSEWHERE.contains(&cause.as_str())) else {
                    return;
                };
                let Some(least) = gate_strength(definition, run, &gate.value) else {
                    return;
                };
                let round = definition.round(&run.vars);
                let opened = run.approvals.iter().any(|opened| {
                    opened.gate == gate.value
                        && opened.iteration == round
                        && opened.strength >= least
                });
                if !opened {
                    lacks(format!(
                        "the gate {} was passed, and nobody opened it",
                        gate.value
                    ));
                }
            }
            _ => {}
        }
    }
}

/// Ways out of a state that no gate keeps anybody from.
const ELSEWHERE: [&str; 4] = ["reject", "reopen", "skip", "abort"];
