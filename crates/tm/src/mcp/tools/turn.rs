//! Turns that a person may have to take: a run that stopped by a rule goes on by their word alone.

use conductor::{Asked, Conductor, Fault, NextStep, Verb};
use mcp::Client;
use serde_json::Value;

use super::super::confirm::{No, confirm, strong_enough};
use super::super::place::Meant;
use crate::steps::{Caller, Form, Spelling as _};

/// A turn that only a person takes where the run stopped by a rule.
pub(super) struct Turn<'a> {
    /// What is done.
    pub(super) verb: Verb,
    /// The family of tools.
    pub(super) form: Form,
    /// Who calls.
    pub(super) client: &'a Client,
    /// What the call is about.
    pub(super) meant: &'a Meant,
}

impl Turn<'_> {
    /// Takes it; where it needs a person, asks them, and takes it with their word.
    pub(super) fn taken<T>(
        &self,
        conductor: &Conductor,
        take: impl Fn(&Conductor) -> Result<T, Fault>,
    ) -> Result<T, No> {
        let fault = match take(conductor) {
            Err(fault) if fault.code == "needs_person" => fault,
            done => return Ok(done?),
        };
        let name = self.verb.name();
        // A session is for a person to take up again, who is not asked here.
        let Some(run) = fault.details.get("runId").and_then(Value::as_str) else {
            return Err(fault.into());
        };
        let (statement, least) = conductor.turn_statement(run, &conductor::Turn::new(name, ""))?;
        let by_hand = by_hand(self.form, self.verb.step().of(run), self.meant);
        strong_enough(least, &by_hand)?;
        let question = match self.verb {
            Verb::Reopen => "Have the run go on, one step back?",
            _ => "Have the run go on?",
        };
        confirm(
            self.client,
            &format!("{question} {run} stopped by a rule: {}", statement.subject),
            // The yes is for the run as it stands.
            &format!("{name} {run} {}", statement.hash),
            &by_hand,
        )?;
        let asked = conductor.asked(Asked::Client("elicitation".to_owned()));
        Ok(take(&asked)?)
    }
}

/// The command by which a person takes a step where a call is about.
pub(super) fn by_hand(form: Form, mut step: NextStep, meant: &Meant) -> String {
    if let Some(root) = &meant.project_root {
        step = step.with("projectRoot", root);
    }
    if let Some(tag) = &meant.tag {
        step = step.with("tag", tag);
    }
    Caller::at_a_shell(form, None).alone(&step)
}
