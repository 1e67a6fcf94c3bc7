//! A person at the terminal, who decides by a code that they type back, or by a key that signs.

use std::path::PathBuf;

use engine::board::code_to_type_back;
use engine::view::GENERIC;
use engine::{Channel, Choice, Engine, Fault, Kind, Started, Strength, Turn, Verb};
use serde_json::json;

use super::autopilot::begin_at_terminal;
use super::call::Driver;
use super::{declined, open};
use crate::calls::FamilyCall;
use crate::decision::{Asking, Matter, Question};
use crate::output::Output;
use crate::{askpass, person, render};

/// Somebody at a terminal, or a program in their place; a person there can be asked.
pub struct AtTerminal<'a> {
    /// The project's folder, where they named one.
    pub project_root: Option<PathBuf>,
    /// The tag, where they named one.
    pub tag: Option<String>,
    /// The key by which they sign, where they named one.
    pub sign: Option<PathBuf>,
    /// The command, as they typed it.
    pub command: &'a str,
    /// What they see.
    pub output: &'a mut Output,
}

impl Driver for AtTerminal<'_> {
    fn output(&mut self) -> &mut Output {
        self.output
    }

    fn open(&mut self, _: bool) -> Result<Engine, Fault> {
        open(self.project_root.clone(), self.tag.clone(), self.command)
    }

    fn file(&self, _: &Engine, named: &str) -> Result<PathBuf, Fault> {
        Ok(named.into())
    }

    fn begin(&mut self, engine: &Engine, asked: &FamilyCall) -> Result<Started, Fault> {
        begin_at_terminal(engine, &asked.arguments, self.output)
    }
}

impl Asking for AtTerminal<'_> {
    type Refusal = Fault;

    fn asks_for(&self, _: &Turn<'_>) -> bool {
        false
    }

    fn can_ask_for(&self, turn: &Turn<'_>) -> bool {
        // What is grave is refused with all that it takes.
        let is_grave = matches!(turn.verb, Verb::Allow | Verb::Abort);
        is_grave || self.sign.is_some() || self.output.has_person()
    }

    fn ask(&mut self, engine: &Engine, question: &Question<'_>) -> Result<Engine, Fault> {
        let words = words(engine, question, self.output)?;
        let mut again = question.step();
        if let Matter::Gate(decide) = question.matter
            && decide.choice == Choice::Reject
        {
            again = again.with("feedback", &decide.feedback);
        }
        let Some(key) = &self.sign else {
            if question.least == Strength::Signed {
                return Err(Fault::new(
                    Kind::Refused,
                    "approval_too_weak",
                    format!("{} here by a signature", words.deed),
                )
                .suggest(
                    "only the person whose key it is decides this: they name it with `--sign KEY`",
                )
                .detail("required", question.least.name())
                .recover(again.with("sign", "KEY")));
            }
            needs_terminal(self.output, &words.deed, ", or with `--sign KEY`", again)?;
            typed_back(self.output, &words.text, words.to, &words.what)?;
            return Ok(engine.asked(Channel::Terminal));
        };
        if self.output.has_person() {
            self.output.text(&words.text)?;
            self.output.text("\n")?;
        }
        let askpass = askpass::program();
        let armored = workspace::person::sign(&question.statement.text(), key, askpass.as_deref())?;
        Ok(engine.asked(Channel::Signed(armored)))
    }
}

/// A question in words.
struct Words {
    /// What there is to decide on, in full.
    text: String,
    /// What the code is typed for: `approve`.
    to: &'static str,
    /// What was not done where it was not typed: `the approval of the plan`.
    what: String,
    /// What a person does at a terminal: `a gate is opened`.
    deed: String,
}

fn words(engine: &Engine, question: &Question<'_>, output: &Output) -> Result<Words, Fault> {
    let (statement, look) = (&question.statement, output.look());
    let turn = match question.matter {
        Matter::Turn(turn) => turn.verb.name(),
        Matter::Gate(decide) => {
            let (to, deed) = match decide.choice {
                Choice::Approve => ("approve", "a gate is opened"),
                Choice::Reject => ("send it back", "work is sent back"),
            };
            return Ok(Words {
                text: render::gate("gate", decide, &decide.feedback, &look),
                to,
                what: format!("the decision at the gate {}", decide.gate.gate),
                deed: deed.to_owned(),
            });
        }
    };
    let branch = match turn {
        "abort" => engine.status(&GENERIC, Some(&statement.run))?.task,
        _ => None,
    };
    let shown = json!({
        "turn": turn,
        "run": statement.run,
        "unit": statement.unit,
        "stopped": statement.subject,
        "branch": branch.map(|task| task.branch),
        "flags": statement.flags,
        "reason": statement.text,
    });
    let (to, what, deed) = match turn {
        "allow" => {
            let letting = format!("letting `{}` pass", statement.subject);
            (
                "let it pass",
                letting.clone(),
                format!("{letting} is decided"),
            )
        }
        "abort" => (
            "delete them",
            "the clean-up".to_owned(),
            "a run's branch and folder are deleted".to_owned(),
        ),
        turn => (
            "have it go on",
            turn.to_owned(),
            format!("a run that stopped goes on ({turn})"),
        ),
    };
    Ok(Words {
        text: render::page("turn_to_decide", &shown, &look),
        to,
        what,
        deed,
    })
}

/// Refuses where nobody sits who sees what is shown and can answer.
/// `or` is what else the command takes instead.
pub fn needs_terminal(
    output: &Output,
    what: &str,
    or: &str,
    again: impl Into<String>,
) -> Result<(), Fault> {
    if output.has_person() {
        return Ok(());
    }
    Err(Fault::new(
        Kind::Refused,
        "needs_person",
        format!("{what} by a person, at a terminal, and this is none"),
    )
    .suggest(format!("an agent cannot decide this: ask the person to run the command, without --json and without a pipe{or}"))
    .recover(again))
}

/// Shows what is decided, and a code that is new each time; goes on only if that is typed.
pub fn typed_back(output: &mut Output, text: &str, to: &str, what: &str) -> Result<(), Fault> {
    output.text(text)?;
    let code = code_to_type_back();
    let answer = person::ask(output, &format!("\nType {code} to {to}: "))?;
    if answer.is_some_and(|answer| answer.eq_ignore_ascii_case(&code)) {
        output.text("\n")?;
        return Ok(());
    }
    Err(declined(what))
}
