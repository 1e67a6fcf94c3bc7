//! A person's word: by which way it came, what stands behind it, and what it is about.

use std::path::PathBuf;

use journal::layout::short_name;
use machine::command::Choice;
use machine::{Approval, Refusal, RunState, Signature, Strength};
use serde_json::{Map, Value, json};
use workspace::passkey;
use workspace::person;
use workspace::person::SignatureError;

use crate::call::Input;
use crate::engine::Engine;
use crate::fault;
use crate::fault::{Fault, Kind, chain};
use crate::gate::ClosedGate;
use crate::next_step::{NextStep, Verb};
use crate::open_run::{self, Loaded, OpenRun};

/// The code of the refusal of what a person has to be asked about.
pub const NEEDS_CONFIRMATION: &str = "needs_confirmation";

/// By which way a person was asked. Who asks vouches for it: nothing in here can tell a person from a program that plays
/// one, but for a signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Channel {
    /// The person accepted a question that a server of the Model Context Protocol sent to its client in this session: the
    /// client's name and version.
    Elicitation(String),
    /// At a terminal, where something was typed back.
    Terminal,
    /// On a page in a browser that was opened from a terminal. No more stands behind it than behind that.
    Browser,
    /// By a signature of the [`Statement`], in its armour.
    Signed(String),
}

/// What a person decides on: the text that is signed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statement {
    /// The run.
    pub run: String,
    /// `gate`, `allow`, `resume`, `reopen`, `rewind` or `abort`.
    pub what: String,
    /// The gate, the code of the refusal, or why the run stopped.
    pub subject: String,
    /// The work unit, where it is about one.
    pub unit: String,
    /// The iteration that was looked at, where there is one.
    pub iteration: Option<i64>,
    /// SHA-256 of what stands before the gate.
    pub hash: String,
    /// `approve` or `reject`, at a gate.
    pub choice: String,
    /// What else is decided, such as `maxIterations`.
    pub flags: Map<String, Value>,
    /// Feedback or reason.
    pub text: String,
    /// The hash of the run's last event before it: of everything that happened in it until then.
    pub after: String,
}

impl Statement {
    /// A decision on a run, after its last event, whose hash is `last`.
    pub(crate) fn on(run: &str, what: &str, subject: &str, text: &str, last: &str) -> Self {
        Self {
            run: run.to_owned(),
            what: what.to_owned(),
            subject: subject.to_owned(),
            text: text.to_owned(),
            after: last.to_owned(),
            ..Self::default()
        }
    }

    /// A decision at a gate.
    pub fn at_gate(gate: &ClosedGate, choice: Choice, feedback: &str, last: &str) -> Self {
        Self {
            iteration: gate.round,
            hash: gate.hash.clone(),
            choice: choice.name().to_owned(),
            ..Self::on(&gate.run_id, "gate", &gate.gate, feedback, last)
        }
    }

    /// Letting the refusal `code` pass for a work unit.
    pub fn on_refusal(run: &str, unit: &str, code: &str, reason: &str, last: &str) -> Self {
        Self {
            unit: unit.to_owned(),
            ..Self::on(run, "allow", code, reason, last)
        }
    }

    /// A turn of a run: letting a refusal pass for its present unit, or what a run that stopped is taken up with.
    pub fn on_turn(run: &RunState, turn: &Turn<'_>, last: &str) -> Self {
        let (id, reason) = (&run.run, turn.reason);
        if turn.verb == Verb::Allow {
            let code = turn.text("code").unwrap_or_default();
            return Self::on_refusal(id, present_unit(run), code, reason, last);
        }
        Self {
            flags: turn.flags.clone(),
            ..Self::on(id, turn.verb.name(), run.stopped(), reason, last)
        }
    }

    /// The text, a line for each part. Each value is JSON, so that none can be taken for another, or run over its line.
    pub fn text(&self) -> String {
        let sorted: std::collections::BTreeMap<_, _> = self.flags.iter().collect();
        let text = match self.text.as_str() {
            "" => String::new(),
            text => journal::sha256_hex(text.as_bytes()),
        };
        let lines = [
            ("tramline-decision", json!(1)),
            ("run", json!(self.run)),
            ("what", json!(self.what)),
            ("subject", json!(self.subject)),
            ("unit", json!(self.unit)),
            ("iteration", json!(self.iteration)),
            ("hash", json!(self.hash)),
            ("choice", json!(self.choice)),
            ("flags", json!(sorted)),
            ("text-sha256", json!(text)),
            ("after", json!(self.after)),
        ];
        lines
            .map(|(name, value)| format!("{name}: {value}\n"))
            .concat()
    }
}

/// A turn of a run: what is done to it without a report. Some a person decides.
#[derive(Debug, Clone)]
pub struct Turn<'a> {
    /// What is done.
    pub verb: Verb,
    /// Why, where that is said.
    pub reason: &'a str,
    /// What else is decided with it.
    pub flags: Map<String, Value>,
}

impl<'a> Turn<'a> {
    /// One with nothing else to it.
    pub fn new(verb: Verb, reason: &'a str) -> Self {
        Self {
            verb,
            reason,
            flags: Map::new(),
        }
    }

    /// The same, with this decided too where it is said.
    fn with<V: Into<Value>>(mut self, flag: &str, value: Option<V>) -> Self {
        let value = value.map(|value| (flag.to_owned(), value.into()));
        self.flags.extend(value);
        self
    }

    /// That the run, or this item of it, goes one step back; to where work of another kind begins, if one is said.
    pub fn reopen(item: Option<&str>, kind: Option<&str>, reason: &'a str) -> Self {
        let turn = Self::new(Verb::Reopen, reason);
        turn.with("item", item).with("kind", kind)
    }

    /// That an item, the present one if none is named, is given up for good.
    pub fn skip(item: Option<&str>, reason: &'a str) -> Self {
        Self::new(Verb::Skip, reason).with("item", item)
    }

    /// The same turn of these tasks.
    #[must_use]
    pub fn of_tasks(self, tasks: &[String]) -> Self {
        self.with("task", Some(tasks).filter(|tasks| !tasks.is_empty()))
    }

    /// That a rule is let pass for the present work unit.
    pub fn allow(code: &str, reason: &'a str) -> Self {
        Self::new(Verb::Allow, reason).with("code", Some(code))
    }

    /// That a run is ended, and what it had deleted: also work that is nowhere else, where that is forced.
    pub fn abort(cleanup: bool, force: bool) -> Self {
        let turn = Self::new(Verb::Abort, "").with("cleanup", Some(cleanup));
        turn.with("force", Some(force))
    }

    /// Whether something is decided with it.
    pub(crate) fn is_set(&self, flag: &str) -> bool {
        self.flags.get(flag).and_then(Value::as_bool) == Some(true)
    }

    /// A text that is decided with it.
    pub(crate) fn text(&self, flag: &str) -> Option<&str> {
        self.flags.get(flag)?.as_str()
    }

    /// The item that it is about; the present one if none is named.
    pub fn item(&self) -> Option<&str> {
        self.text("item")
    }

    /// The tasks of a session of skills that it is about.
    pub(crate) fn tasks(&self) -> Vec<&str> {
        let all = self.flags.get("task").and_then(Value::as_array);
        all.into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    /// The item that it is about, or the first of the tasks, where any is named.
    pub(crate) fn target(&self) -> Option<&str> {
        self.item().or(self.tasks().first().copied())
    }

    /// Of what kind the work is from then on, where that changes.
    pub fn kind(&self) -> Option<&str> {
        self.text("kind")
    }

    /// It as a step, to be taken with all of its arguments.
    pub fn step(&self) -> NextStep {
        let mut step = self.verb.step();
        for (name, flag) in &self.flags {
            let values = match flag {
                Value::Array(values) => values.as_slice(),
                value => std::slice::from_ref(value),
            };
            for value in values {
                let value = match value {
                    Value::Bool(false) => continue,
                    Value::Bool(true) => None,
                    Value::String(text) => Some(text.clone()),
                    other => Some(other.to_string()),
                };
                step.with.push((name.clone().into(), value));
            }
        }
        if !self.reason.is_empty() {
            step = step.with("reason", self.reason);
        }
        step
    }
}

impl Engine {
    /// The same project for somebody who was asked: what only a person decides is theirs.
    #[must_use]
    pub fn asked(&self, asked: Channel) -> Self {
        let mut engine = self.clone();
        (engine.asked, engine.asks) = (Some(asked), false);
        engine
    }

    /// The same project for somebody who asks a person first: a turn that would change a run is refused with
    /// [`NEEDS_CONFIRMATION`] instead, once nothing else stands against it.
    #[must_use]
    pub fn asking(&self) -> Self {
        let mut engine = self.clone();
        engine.asks = true;
        engine
    }

    /// The file with the keys that may sign.
    pub fn signers(&self) -> PathBuf {
        person::signers(&self.settings.store)
    }

    /// What is decided at the gate that was looked at, as its run is now.
    pub fn gate_statement(
        &self,
        gate: &ClosedGate,
        choice: Choice,
        feedback: &str,
    ) -> Result<Statement, Fault> {
        gate.takes(choice)?;
        let last = self.of_that_id(&gate.run_id)?.head.hash;
        Ok(Statement::at_gate(gate, choice, feedback, &last))
    }

    /// What is decided by a turn of the run of that id, as it is now, and the least that has to stand behind it.
    pub fn turn_statement(
        &self,
        run: &str,
        turn: &Turn<'_>,
    ) -> Result<(Statement, Strength), Fault> {
        let Loaded { run, head, .. } = self.of_that_id(run)?;
        let statement = Statement::on_turn(&run, turn, &head.hash);
        Ok((statement, run.least_approval))
    }

    /// The run of that id, once what another process began is finished.
    fn of_that_id(&self, run: &str) -> Result<Loaded, Fault> {
        let project = self.stored_or_missing()?;
        let dir = project.run(run)?;
        let loaded = open_run::load(dir.path())?;
        if loaded.run.pending.is_none() {
            return Ok(loaded);
        }
        // What cannot be finished is what a person may end the run for.
        let _ = self.writer_alone(&project, &dir, Input::None);
        open_run::load(dir.path())
    }

    /// The word of whoever was asked, on this; none where nobody was.
    pub(crate) fn approval(&self, on: &Statement) -> Result<Option<Box<Approval>>, Fault> {
        let Some(asked) = &self.asked else {
            return Ok(None);
        };
        let by = |strength, how: &str| Approval {
            strength,
            actor: person::user_name(),
            how: how.to_owned(),
            signature: None,
        };
        let approval = match asked {
            Channel::Elicitation(client) => {
                by(Strength::Client, &format!("elicitation by {client}"))
            }
            Channel::Terminal => by(Strength::Terminal, "terminal"),
            Channel::Browser => by(Strength::Terminal, "browser"),
            Channel::Signed(armored) => {
                let signer = person::verify(&on.text(), armored, &self.signers(), None)?;
                Approval {
                    strength: Strength::Signed,
                    actor: signer.name,
                    how: signed_how(armored).to_owned(),
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
        turn: &Turn<'_>,
    ) -> Result<Option<Box<Approval>>, Fault> {
        self.approval(&Statement::on_turn(&open.run, turn, open.last()))
    }

    /// The least that stands behind a decision of a person, as the settings have it now.
    pub(crate) fn least_approval(&self) -> Strength {
        use workspace::config::ApprovalStrength as Setting;
        match self.settings.config.approvals.require {
            Setting::Client => Strength::Client,
            Setting::Terminal => Strength::Terminal,
            Setting::Signed => Strength::Signed,
        }
    }
}

/// The refusal of a turn that a person is asked about before.
pub(crate) fn to_be_asked(run: &RunState) -> Fault {
    let fault = fault!("needs_confirmation.turn", run = run.run);
    fault.detail("runId", run.run.as_str())
}

/// By which way a signature came.
fn signed_how(armored: &str) -> &'static str {
    if passkey::is_of_passkey(armored) {
        "passkey"
    } else {
        "ssh"
    }
}

/// The work unit that a refusal is let pass for.
pub(crate) fn present_unit(run: &RunState) -> &str {
    run.waiting()
        .next()
        .map_or("", |(_, unit)| unit.id.as_str())
}

/// The turn that was refused, as a person takes it.
pub(crate) fn again(group: &str, run: &RunState, refusal: &Refusal) -> String {
    let Some(turn) = refusal.details.get("turn").and_then(Value::as_str) else {
        return String::new();
    };
    let said = match turn {
        "reopen" => " --reason TEXT",
        "rewind" => " TO",
        _ => "",
    };
    let signed = refusal.details.get("required") == Some(&Value::from(Strength::Signed.name()));
    let sign = if signed { " --sign KEY" } else { "" };
    format!(
        "tm {group} {turn}{said} --run-id {}{sign}",
        short_name(&run.run)
    )
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
            after: "11".to_owned(),
            ..Statement::default()
        };
        assert_eq!(
            statement.text(),
            format!(
                "tramline-decision: 1\nrun: \"r\"\nwhat: \"gate\"\nsubject: \"plan\\nchoice: approve\"\nunit: \"\"\niteration: 2\nhash: \"00\"\nchoice: \"reject\"\nflags: {{}}\ntext-sha256: \"{}\"\nafter: \"11\"\n",
                journal::sha256_hex(b"why")
            )
        );
        let mut two = statement;
        two.flags.insert("b".to_owned(), 1.into());
        two.flags.insert("a".to_owned(), 2.into());
        assert!(two.text().contains(r#"flags: {"a":2,"b":1}"#));
    }
}
