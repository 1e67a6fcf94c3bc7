//! What a person does with a run whom a page or a terminal showed it: done only if the run, and what stands before its gate, are
//! still what was shown.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use machine::command::Choice;
use workspace::passkey::{self, Assertion};

use crate::approval::{Channel, Statement, Turn};
use crate::engine::Engine;
use crate::fault;
use crate::fault::{Fault, Kind};
use crate::gate::{ClosedGate, Decide};
use crate::next_step::Verb;
use crate::report::{Meaning, Report};
use crate::turn::answer::TurnAnswer;
use crate::view::GENERIC;

/// What codes are made of: nothing in it looks like something else.
const LETTERS: &[u8] = b"abcdefghjkmnpqrstuvwxyz23456789";
/// How many of them a code has.
const CODE: usize = 4;

/// What a person does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// Opens a gate.
    Approve,
    /// Sends back what stands before it.
    Reject,
    /// Puts the run aside.
    Pause,
    /// Has it continue.
    Resume,
    /// Has something done again.
    Reopen,
    /// Gives up what is in hand.
    Skip,
    /// Lets a rule pass.
    Allow,
    /// Reports the work that is a person's.
    Answer,
}

/// What a person decided on what was shown.
#[derive(Debug, Clone, Default)]
pub struct SeenDecision {
    /// The hash of the run's last event when it was shown ([`Engine::last_event`]).
    pub seen: String,
    /// The hash of what stood before the gate, at one.
    pub gate: String,
    /// Why, or what is to be done otherwise.
    pub reason: String,
    /// The item that is taken up again; the present one if none.
    pub item: Option<String>,
    /// The kind of work that it is from then on, where that changes.
    pub kind: Option<String>,
    /// The rule that is let pass.
    pub code: String,
    /// The work unit that is reported.
    pub unit: String,
    /// How it came out, where an outcome is asked for.
    pub outcome: String,
}

impl SeenDecision {
    fn reopening(&self) -> Turn<'_> {
        let (item, kind) = (self.item.as_deref(), self.kind.as_deref());
        Turn::reopen(item, kind, &self.reason)
    }
}

impl Engine {
    /// The hash of the last event of the run of that id: of everything that happened in it.
    pub fn last_event(&self, run: &str) -> Result<String, Fault> {
        let (statement, _) = self.turn_statement(run, &Turn::new(Verb::Resume, ""))?;
        Ok(statement.after)
    }

    /// Does what a person decided, by this channel.
    ///
    /// # Errors
    /// `moved_since` where the run or what stands before its gate is no longer what was shown; `usage` where a rejection says
    /// nothing; `too_large` where a reason is too long; else what the turn itself is refused with.
    pub fn decide_as_seen(
        &self,
        run: &str,
        deed: Deed,
        decision: &SeenDecision,
        by: Channel,
    ) -> Result<TurnAnswer, Fault> {
        // A report names its unit, whatever else has happened in the run.
        if deed != Deed::Answer {
            self.is_as_seen(run, decision)?;
        }
        let person = self.asked(by);
        let reason = decision.reason.as_str();
        let take = |turn: &Turn<'_>| person.turn(&GENERIC, Some(run), turn);
        match deed {
            Deed::Pause if reason.is_empty() => take(&Turn::new(Verb::Pause, "paused by a person")),
            Deed::Pause => take(&Turn::new(Verb::Pause, reason)),
            Deed::Resume => take(&Turn::new(Verb::Resume, "")),
            Deed::Reopen => take(&decision.reopening()),
            Deed::Skip => take(&Turn::skip(decision.item.as_deref(), reason)),
            Deed::Allow => take(&Turn::allow(&decision.code, reason)),
            Deed::Approve => person.decide(
                &GENERIC,
                &self.gate_as_seen(run, Choice::Approve, decision)?,
            ),
            Deed::Reject => {
                person.decide(&GENERIC, &self.gate_as_seen(run, Choice::Reject, decision)?)
            }
            Deed::Answer => person.report_as_seen(run, decision),
        }
    }

    /// Reports a work unit, which stands for what was shown.
    fn report_as_seen(&self, run: &str, decision: &SeenDecision) -> Result<TurnAnswer, Fault> {
        let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let report = Report {
            unit: given(&decision.unit),
            outcome: given(&decision.outcome),
            note: given(&decision.reason),
            ..Report::default()
        };
        let verdict = self.record_report(&GENERIC, Some(run), &report, Meaning::Anything)?;
        if !verdict.validated {
            let code = verdict.code.unwrap_or_default();
            return Err(Fault::new(Kind::Refused, code, verdict.message)
                .suggest(verdict.suggestion.unwrap_or_default()));
        }
        Ok(TurnAnswer {
            report: verdict.report,
            ..TurnAnswer::of(run, verdict.message, verdict.next_action)
        })
    }

    /// What a person signs who decides this.
    ///
    /// # Errors
    /// As [`Engine::decide_as_seen`]; `usage` for what anybody may do.
    pub fn statement_as_seen(
        &self,
        run: &str,
        deed: Deed,
        decision: &SeenDecision,
    ) -> Result<Statement, Fault> {
        self.is_as_seen(run, decision)?;
        let at_gate = |choice| {
            let Decide { gate, feedback, .. } = self.gate_as_seen(run, choice, decision)?;
            self.gate_statement(&gate, choice, &feedback)
        };
        let (statement, _) = match deed {
            Deed::Approve => return at_gate(Choice::Approve),
            Deed::Reject => return at_gate(Choice::Reject),
            Deed::Resume => self.turn_statement(run, &Turn::new(Verb::Resume, ""))?,
            Deed::Reopen => self.turn_statement(run, &decision.reopening())?,
            Deed::Allow => {
                self.turn_statement(run, &Turn::allow(&decision.code, &decision.reason))?
            }
            Deed::Pause | Deed::Skip | Deed::Answer => {
                return Err(fault!("usage.statement_as_seen"));
            }
        };
        Ok(statement)
    }

    /// The signature of a decision that a browser had a passkey make, on a page of `origin`.
    ///
    /// # Errors
    /// `signature_invalid` where it is not of this decision, of this page, or of a key that may decide; `no_signers` without a
    /// list of keys.
    pub fn signed_by_passkey(
        &self,
        statement: &Statement,
        assertion: &Assertion,
        origin: &str,
    ) -> Result<Channel, Fault> {
        let signature = passkey::signature(&statement.text(), assertion, origin, &self.signers())?;
        Ok(Channel::Signed(signature))
    }

    fn is_as_seen(&self, run: &str, decision: &SeenDecision) -> Result<(), Fault> {
        if self.last_event(run)? == decision.seen {
            return Ok(());
        }
        Err(moved_since("the run has moved since it was shown"))
    }

    /// A decision at the gate of a run, where that is still what was shown.
    fn gate_as_seen(
        &self,
        run: &str,
        choice: Choice,
        decision: &SeenDecision,
    ) -> Result<Decide, Fault> {
        let gate = self.gate(&GENERIC, Some(run))?;
        if gate.hash != decision.gate {
            return Err(moved_since(
                "what stands before the gate is no longer what was shown",
            ));
        }
        gate.takes(choice)?;
        if choice == Choice::Reject && decision.reason.is_empty() {
            return Err(fault!("usage.no_feedback"));
        }
        Ok(Decide {
            gate,
            choice,
            feedback: decision.reason.clone(),
        })
    }

    /// What is to be looked at before a gate, as far as it lies in the folder of its run: files, by their places there.
    pub fn gate_files(&self, gate: &ClosedGate) -> Result<Vec<String>, Fault> {
        let run = gate.run_id.as_str();
        let mut files = Vec::new();
        for place in &gate.look_at {
            let place = place.display().to_string();
            if let Some((_, inside)) = place.split_once(&format!("/{run}/")) {
                files.extend(self.run_files_at(Some(run), inside)?);
            }
        }
        Ok(files)
    }
}

fn moved_since(what: &str) -> Fault {
    fault!("changed_since.moved_since", what)
}

/// A few letters that nobody knows who has not read them, to be typed back. They prove no more than that: no secret hangs on them.
pub fn code_to_type_back() -> String {
    let mut number = RandomState::new().build_hasher().finish();
    let letters = LETTERS.len() as u64;
    (0..CODE)
        .map(|_| {
            let at = usize::try_from(number % letters).unwrap_or_default();
            number /= letters;
            char::from(LETTERS[at])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_another_one_each_time() {
        let codes: std::collections::BTreeSet<String> =
            (0..20).map(|_| code_to_type_back()).collect();
        assert!(codes.len() > 10, "{codes:?}");
        for code in &codes {
            assert_eq!(code.len(), CODE);
            assert!(code.bytes().all(|letter| LETTERS.contains(&letter)));
        }
    }
}
