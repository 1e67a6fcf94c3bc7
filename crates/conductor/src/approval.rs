//! A person's word: by which way it came, what stands behind it, and what it is about.

use std::path::{Path, PathBuf};

use journal::Record;
use project::person::{self, SignatureError};
use rails::command::Choice;
use rails::{Approval, Event, Refusal, RunState, Signature, Strength};
use serde::Serialize;
use serde_json::Value;

use crate::conductor::{Conductor, is_over_a_task};
use crate::engine::{self, Loaded, OpenRun};
use crate::fault::{Fault, Kind, chain};
use crate::generic::readers::Given;
use crate::review::answer::ClosedGate;
use crate::tdd::Raw;
use crate::tdd::autopilot::Reach;

/// By which way a person was asked. Who asks vouches for it: nothing in here can tell a person from a program that plays
/// one, but for a signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// A client of the Model Context Protocol says that it asked; how, and which one.
    Client(String),
    /// At a terminal, where something was typed back.
    Terminal,
    /// By a signature of the [`Statement`], in its armour.
    Signed(String),
}

/// What a person decides on: the text that is signed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statement {
    /// The run.
    pub run: String,
    /// `gate`, `allow`, `resume`, `reopen` or `abort`.
    pub what: String,
    /// The gate, the code of the refusal, or why the run stopped.
    pub subject: String,
    /// The iteration that was looked at, where there is one.
    pub iteration: Option<i64>,
    /// SHA-256 of what was looked at: of what stands before the gate, else of the run's last event.
    pub hash: String,
    /// `approve` or `reject`, at a gate.
    pub choice: String,
    /// Feedback or reason.
    pub text: String,
}

impl Statement {
    /// A decision at a gate.
    pub fn at_gate(gate: &ClosedGate, choice: Choice, feedback: &str) -> Self {
        Self {
            run: gate.session_id.clone(),
            what: "gate".to_owned(),
            subject: gate.gate.clone(),
            iteration: gate.round,
            hash: gate.hash.clone(),
            choice: match choice {
                Choice::Approve => "approve",
                Choice::Reject => "reject",
            }
            .to_owned(),
            text: feedback.to_owned(),
        }
    }

    /// Letting the refusal `code` pass. `last` is the hash of the run's last event.
    pub fn on_refusal(run: &RunState, last: &str, code: &str, reason: &str) -> Self {
        Self {
            run: run.run.clone(),
            what: "allow".to_owned(),
            subject: code.to_owned(),
            hash: last.to_owned(),
            text: reason.to_owned(),
            ..Self::default()
        }
    }

    /// `resume`, `reopen` or `abort` of a run as it stands. `last` is the hash of its last event.
    pub fn on_turn(run: &RunState, last: &str, turn: &str, reason: &str) -> Self {
        Self {
            run: run.run.clone(),
            what: turn.to_owned(),
            subject: run.stopped().to_owned(),
            hash: last.to_owned(),
            text: reason.to_owned(),
            ..Self::default()
        }
    }

    /// The text, a line for each part. Whatever a part holds, it stays on its line.
    pub fn text(&self) -> String {
        let line = |value: &str| -> String {
            let plain = |c: char| if c.is_control() { ' ' } else { c };
            let value: String = value.chars().map(plain).collect();
            if value.is_empty() {
                "-".to_owned()
            } else {
                value
            }
        };
        let iteration = self
            .iteration
            .map_or_else(String::new, |number| number.to_string());
        let text = if self.text.is_empty() {
            String::new()
        } else {
            journal::sha256_hex(self.text.as_bytes())
        };
        let lines = [
            ("tramline decision", "1".to_owned()),
            ("run:", line(&self.run)),
            ("what:", line(&self.what)),
            ("subject:", line(&self.subject)),
            ("iteration:", line(&iteration)),
            ("hash:", line(&self.hash)),
            ("choice:", line(&self.choice)),
            ("text-sha256:", line(&text)),
        ];
        let lines = lines.map(|(name, value)| format!("{name} {value}"));
        lines.join("\n") + "\n"
    }
}

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
        let run = || RunState {
            run: run.to_owned(),
            ..RunState::default()
        };
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
                    session_id: run().run,
                    gate: gate.clone(),
                    round: *iteration,
                    hash: hash.clone(),
                    ..ClosedGate::default()
                };
                (Statement::at_gate(&gate, *choice, feedback), approval)
            }
            Event::RefusalAllowed {
                code,
                reason,
                approval,
                ..
            } => (
                Statement::on_refusal(&run(), &record.prev, code, reason),
                approval,
            ),
            Event::ApprovalGiven {
                what,
                stopped,
                reason,
                approval,
                ..
            } => {
                let statement = Statement {
                    subject: stopped.clone(),
                    ..Statement::on_turn(&run(), &record.prev, what, reason)
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

impl Conductor {
    /// The same project for somebody who was asked: what only a person decides is theirs.
    #[must_use]
    pub fn asked(&self, asked: Asked) -> Self {
        let mut conductor = self.clone();
        conductor.asked = Some(asked);
        conductor
    }

    /// The file with the keys that may sign.
    pub fn signers(&self) -> PathBuf {
        person::signers(&self.settings.store)
    }

    /// What is decided by letting the refusal `code` pass in the run of that id, as it is now, and the least that the run
    /// asks for.
    pub fn allow_statement(
        &self,
        run: &str,
        code: &str,
        reason: &str,
    ) -> Result<(Statement, Strength), Fault> {
        let loaded = self.of_that_id(run)?;
        let statement = Statement::on_refusal(&loaded.run, &loaded.head.hash, code, reason);
        Ok((statement, loaded.run.least_approval))
    }

    /// What is decided by a turn of the run of that id, as it is now, and the least that has to stand behind it.
    pub fn turn_statement(
        &self,
        run: &str,
        turn: &str,
        reason: &str,
    ) -> Result<(Statement, Strength), Fault> {
        let loaded = self.of_that_id(run)?;
        let statement = Statement::on_turn(&loaded.run, &loaded.head.hash, turn, reason);
        Ok((statement, loaded.run.least_approval))
    }

    /// The run of that id, once what another process began is finished.
    fn of_that_id(&self, run: &str) -> Result<Loaded, Fault> {
        let project = self.stored_or_missing()?;
        let dir = project.run(run)?;
        let loaded = engine::load(dir.path())?;
        if loaded.run.pending.is_none() {
            return Ok(loaded);
        }
        if is_over_a_task(&loaded.run) {
            drop(self.hand(&project, &dir, Raw::None, Reach::Project)?);
        } else {
            drop(self.plain_hand(&dir, Given::default(), None)?);
        }
        engine::load(dir.path())
    }

    /// The word of whoever was asked, on this; none where nobody was.
    pub(crate) fn approval(&self, on: &Statement) -> Result<Option<Box<Approval>>, Fault> {
        let by = |strength, how: &str| Approval {
            strength,
            actor: person::user_name(),
            how: how.to_owned(),
            signature: None,
        };
        let approval = match &self.asked {
            None => return Ok(None),
            Some(Asked::Client(how)) => by(Strength::Client, how),
            Some(Asked::Terminal) => by(Strength::Terminal, "terminal"),
            Some(Asked::Signed(armored)) => {
                let signer = person::verify(&on.text(), armored, &self.signers(), None)?;
                Approval {
                    strength: Strength::Signed,
                    actor: signer.name,
                    how: "ssh".to_owned(),
                    signature: Some(Signature {
                        key: signer.key,
                        armored: armored.clone(),
                    }),
                }
            }
        };
        Ok(Some(Box::new(approval)))
    }

    /// The same for a turn of a run that is open.
    pub(crate) fn approval_of_turn(
        &self,
        open: &OpenRun<'_>,
        turn: &str,
        reason: &str,
    ) -> Result<Option<Box<Approval>>, Fault> {
        self.approval(&Statement::on_turn(&open.run, open.last(), turn, reason))
    }

    /// The least that stands behind a decision of a person, as the settings have it now.
    pub(crate) fn least_approval(&self) -> Strength {
        use project::config::ApprovalStrength as Setting;
        match self.settings.config.approvals.require {
            Setting::Client => Strength::Client,
            Setting::Terminal => Strength::Terminal,
            Setting::Signed => Strength::Signed,
        }
    }
}

/// The turn that was refused, as a person takes it.
pub(crate) fn again(group: &str, run: Option<&RunState>, refusal: &Refusal) -> String {
    let turn = refusal.details.get("turn").and_then(Value::as_str);
    match (turn, run) {
        (Some(turn @ "reopen"), Some(run)) => {
            format!("tm {group} {turn} --reason TEXT --run-id {}", run.run)
        }
        (Some(turn), Some(run)) => format!("tm {group} {turn} --run-id {}", run.run),
        _ => String::new(),
    }
}

impl From<SignatureError> for Fault {
    fn from(error: SignatureError) -> Self {
        let kind = match error {
            SignatureError::Invalid { .. } => Kind::Refused,
            _ => Kind::Environment,
        };
        let suggestion = error.suggestion();
        Self::new(kind, error.code(), chain(&error)).suggest(suggestion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_statement_can_be_taken_for_another() {
        let statement = Statement {
            run: "r".to_owned(),
            what: "gate".to_owned(),
            subject: "plan\nchoice: approve".to_owned(),
            iteration: Some(2),
            hash: "00".to_owned(),
            choice: "reject".to_owned(),
            text: "why".to_owned(),
        };
        assert_eq!(
            statement.text(),
            format!(
                "tramline decision 1\nrun: r\nwhat: gate\nsubject: plan choice: approve\niteration: 2\nhash: 00\nchoice: reject\ntext-sha256: {}\n",
                journal::sha256_hex(b"why")
            )
        );
    }
}
