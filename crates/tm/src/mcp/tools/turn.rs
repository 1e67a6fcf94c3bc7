//! Turns that a person may have to take: a run that stopped by a rule goes on by their word alone.

use engine::{Engine, Fault, NEEDS_CONFIRMATION, NextStep, Statement, Turn};
use serde::Serialize;
use serde_json::Value;
use text::plain::{many_lines, one_line};
use workspace::config::{Environment, find_root};

use super::super::confirm::{confirm, strong_enough};
use super::super::place::RunSelector;
use super::decision::shortened;
use super::{Answer, Call, answer};
use crate::steps::{Caller, Form, StepSpelling as _};

impl Call<'_> {
    /// Takes a turn, by a family of tools; where it needs a person, asks them, and takes it with their word.
    pub(super) fn turned<T: Serialize>(
        self,
        meant: &RunSelector,
        form: Form,
        turn: &Turn<'_>,
        take: impl Fn(&Engine) -> Result<T, Fault>,
    ) -> Answer {
        let engine = self.open(meant)?;
        self.with_word(&engine, meant, form, turn, take, |statement| {
            let question = match turn.name {
                "reopen" => "Have the run go on, one step back?",
                "rewind" => "Take the run back, and have it go on from there?",
                _ => "Have the run go on?",
            };
            let (run, rule) = (&statement.run, &statement.subject);
            let why = format!("{run} stopped by a rule: {rule}");
            let mut lines = vec![question.to_owned(), why];
            lines.extend(turn.flags.iter().map(|(name, value)| {
                let value = value.as_str().map_or_else(|| value.to_string(), one_line);
                format!("{name}: {value}")
            }));
            lines.join("\n")
        })
    }

    /// Gives up a run or a part of it. The person is asked first where the client can show a question; where it cannot, the
    /// client's own permission for this tool decides, unless something is deleted.
    pub(super) fn given_up<T: Serialize>(
        self,
        engine: &Engine,
        meant: &RunSelector,
        given_up: &GivenUp<'_>,
        take: impl Fn(&Engine) -> Result<T, Fault>,
    ) -> Answer {
        let asking = self.client.can().forms.then(|| engine.asking());
        let engine = asking.as_ref().unwrap_or(engine);
        let question = |_: &Statement| one_line(&given_up.question);
        self.with_word(engine, meant, given_up.form, given_up.turn, take, question)
    }

    /// Nobody is asked for what would be refused: it is tried first, and refused for want of a person where nothing else stands
    /// against it.
    fn with_word<T: Serialize>(
        self,
        engine: &Engine,
        meant: &RunSelector,
        form: Form,
        turn: &Turn<'_>,
        take: impl Fn(&Engine) -> Result<T, Fault>,
        question: impl Fn(&Statement) -> String,
    ) -> Answer {
        let fault = match take(engine) {
            Err(fault) if ["needs_person", NEEDS_CONFIRMATION].contains(&fault.code.as_str()) => {
                fault
            }
            done => return answer(&done?),
        };
        // A session is for a person to take up again, who is not asked here.
        let Some(run) = fault.details.get("runId").and_then(Value::as_str) else {
            return Err(fault.into());
        };
        let (statement, least) = engine.turn_statement(run, turn)?;
        let by_hand = by_hand(form, turn.step().of(run), meant, engine);
        if fault.code == "needs_person" {
            strong_enough(least, &by_hand)?;
        }
        let mut question = question(&statement);
        if !turn.reason.trim().is_empty() {
            question.push_str("\nReason: ");
            question.push_str(&shortened(turn.reason.trim()));
        }
        let asked = confirm(
            self.client,
            many_lines(&question).trim_end(),
            // The yes is for this turn, with its item and its reason, of the run as it stands.
            &statement.text(),
            &by_hand,
        )?;
        answer(&take(&engine.asked(asked))?)
    }
}

/// A run or a part of it that is given up for good.
pub(super) struct GivenUp<'a> {
    /// The family of tools.
    pub form: Form,
    /// The turn that the person approves.
    pub turn: &'a Turn<'a>,
    /// What the person is asked.
    pub question: String,
}

/// The command by which a person takes a step in the project that a call is about, which may be another than that of the
/// folder the server was started in.
pub(super) fn by_hand(
    form: Form,
    mut step: NextStep,
    meant: &RunSelector,
    engine: &Engine,
) -> String {
    let environment = Environment::of_this_process();
    let here = std::env::current_dir().map(|here| find_root(&here, &environment).path);
    if let Some(root) = &meant.project_root {
        step = step.with("projectRoot", root);
    } else if here.is_ok_and(|here| here != engine.root()) {
        step = step.with("projectRoot", engine.root().display().to_string());
    }
    if let Some(tag) = &meant.tag {
        step = step.with("tag", tag);
    }
    Caller::at_a_shell(form, None).alone(&step)
}
