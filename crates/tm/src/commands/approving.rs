//! What only a person decides: shown in full, and carried out when the code that is shown with it was typed back, or a key
//! signed it.

use std::path::Path;

use engine::board::code_to_type_back;
use engine::view::GENERIC;
use engine::{Channel, Engine, Fault, Kind, NextStep, Statement, Strength, Turn, Verb};
use journal::layout::short_name;
use serde_json::Value;

use super::declined;
use crate::askpass;
use crate::output::Output;
use crate::{person, render};

/// What a person is asked.
pub struct Question<'a> {
    /// What there is to decide on, in full.
    pub text: &'a str,
    /// What the code is typed for: `approve`.
    pub to: &'a str,
    /// What was not done where it was not typed: `the approval of the plan`.
    pub what: &'a str,
    /// What a person does at a terminal: `a gate is opened`.
    pub deed: &'a str,
    /// The least that has to stand behind the answer.
    pub least: Strength,
}

/// Has a person decide: by a signature where a key is named, else by the code that is typed back. The project as it is
/// theirs to go on with.
pub fn agreed(
    engine: &Engine,
    sign: Option<&Path>,
    statement: &Statement,
    question: &Question<'_>,
    output: &mut Output,
    again: NextStep,
) -> Result<Engine, Fault> {
    let Some(key) = sign else {
        if question.least == Strength::Signed {
            return Err(Fault::new(
                Kind::Refused,
                "approval_too_weak",
                format!("{} here by a signature", question.deed),
            )
            .suggest("only the person whose key it is decides this: they name it with `--sign KEY`")
            .detail("required", question.least.name())
            .recover(again.with("sign", "KEY")));
        }
        needs_terminal(output, question.deed, ", or with `--sign KEY`", again)?;
        typed_back(output, question.text, question.to, question.what)?;
        return Ok(engine.asked(Channel::Terminal));
    };
    if output.has_person() {
        output.text(question.text)?;
        output.text("\n")?;
    }
    let askpass = askpass::program();
    let armored = workspace::person::sign(&statement.text(), key, askpass.as_deref())?;
    Ok(engine.asked(Channel::Signed(armored)))
}

/// Takes a turn of a run; where only a person may take it, asks one, and takes it with their word, of the run that they were asked
/// about. Nobody is asked for what would be refused.
pub fn turn<T>(
    engine: &Engine,
    turn: &Turn<'_>,
    sign: Option<&Path>,
    output: &mut Output,
    take: impl Fn(&Engine, Option<&str>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let fault = match take(engine, None) {
        Err(fault) if fault.code == "needs_person" => fault,
        done => return done,
    };
    let can_ask = sign.is_some() || output.has_person();
    let is_grave = matches!(turn.verb, Verb::Allow | Verb::Abort);
    let run = fault.details.get("runId").and_then(Value::as_str);
    let Some(run) = run.filter(|_| can_ask || is_grave) else {
        return Err(fault);
    };
    let (statement, least) = engine.turn_statement(run, turn)?;
    let (code, name) = (&statement.subject, short_name(run));
    let (text, to, what, deed) = match turn.verb {
        Verb::Allow => (
            render::plain(&format!(
                "For the work unit {} of the run {name},\nthe refusal {code} will pass: {}\nThis is journalled, and stands in the report.\n",
                statement.unit, turn.reason
            )),
            "let it pass",
            format!("letting `{code}` pass"),
            format!("letting `{code}` pass is decided"),
        ),
        Verb::Abort => (
            render::plain(&format!(
                "The run {name} ends.\nIts branch {} and its folder are deleted, with its journal and its evidence.\n",
                branch_of(engine, run)?
            )),
            "delete them",
            "the clean-up".to_owned(),
            "a run's branch and folder are deleted".to_owned(),
        ),
        verb => (
            render::decision(&statement, &output.look()),
            "have it go on",
            verb.name().to_owned(),
            format!("a run that stopped goes on ({})", verb.name()),
        ),
    };
    let question = Question {
        text: &text,
        to,
        what: &what,
        deed: &deed,
        least,
    };
    let again = turn.step().of(run);
    let asked = agreed(engine, sign, &statement, &question, output, again)?;
    take(&asked, Some(run))
}

/// The branch of a run; empty where it works on none.
fn branch_of(engine: &Engine, run: &str) -> Result<String, Fault> {
    let task = engine.status(&GENERIC, Some(run))?.task;
    Ok(task.map(|task| task.branch).unwrap_or_default())
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
