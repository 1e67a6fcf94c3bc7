//! What a journal has of a person's decisions, and whether their signatures hold.

use std::path::Path;

use journal::Record;
use machine::{Approval, Event, Strength};
use serde::Serialize;
use workspace::person;
use workspace::person::SignatureError;

use crate::approval::Statement;
use crate::fault::chain;
use crate::gate::ClosedGate;

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
                    run_id: run.to_owned(),
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
                let statement = Statement {
                    flags: flags.clone(),
                    ..Statement::on(run, what, stopped, reason, &record.prev)
                };
                (statement, approval)
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
            turn if self.is_of_anybody() => turn.to_owned(),
            turn => format!("{turn} after {subject}"),
        }
    }

    /// Whether anybody may do that, so that it only says who did.
    pub(crate) fn is_of_anybody(&self) -> bool {
        Approval::OF_ANYBODY.contains(&self.statement.what.as_str())
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
