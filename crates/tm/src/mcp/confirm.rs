//! Asking the person before something that cannot be undone.

use engine::{Fault, Kind, Strength};
use mcp::{Ask, Client, Input, Stop};
use serde_json::{Value, json};

/// The name of the question.
const QUESTION: &str = "confirm";

/// What keeps a tool from answering: a fault, which the model reads, or a question to the person.
#[derive(Debug)]
pub enum Interruption {
    /// It cannot be done.
    Fault(Box<Fault>),
    /// Somebody else has to say something first.
    Stop(Stop),
}

impl From<Fault> for Interruption {
    fn from(fault: Fault) -> Self {
        Self::Fault(Box::new(fault))
    }
}

/// Goes on only if the person said yes to `question`. `about` is what the yes is for, such as a run's id: a yes for
/// something else does not count.
pub fn confirm(
    client: &Client,
    question: &str,
    about: &str,
    by_hand: &str,
) -> Result<(), Interruption> {
    if !client.can().forms {
        return Err(Fault::new(
            Kind::Refused,
            "needs_confirmation",
            format!("this needs a person's yes, and the client cannot ask for one: {question}"),
        )
        .suggest(format!(
            "ask the person to run `{by_hand}` in a terminal, or to use a client that can show a question"
        ))
        .recover(by_hand)
        .into());
    }
    let answer = client
        .answer(QUESTION)
        .filter(|_| client.kept().and_then(Value::as_str) == Some(about));
    let Some(answer) = answer else {
        let schema = json!({
            "type": "object",
            "properties": {
                "confirm": {
                    "type": "boolean",
                    "title": "Do it",
                    "description": "Only a person says this",
                    "default": false,
                },
            },
            "required": ["confirm"],
        });
        let mut ask = Ask::one(
            QUESTION,
            Input::Form {
                message: question.to_owned(),
                schema,
            },
        );
        ask.keep = Some(about.into());
        return Err(Interruption::Stop(Stop::Ask(ask)));
    };
    let accepted = answer.get("action").and_then(Value::as_str) == Some("accept")
        && answer.pointer("/content/confirm").and_then(Value::as_bool) == Some(true);
    if accepted {
        return Ok(());
    }
    Err(Fault::new(
        Kind::Refused,
        "declined",
        format!("nobody said yes, and nothing was changed: {question}"),
    )
    .suggest(format!(
        "do not ask again: tell the person what waits for them; in a terminal they can run `{by_hand}`"
    ))
    .into())
}

/// Refuses where the word of a client is not enough.
pub fn strong_enough(least: Strength, by_hand: &str) -> Result<(), Interruption> {
    if least <= Strength::Client {
        return Ok(());
    }
    let by_hand = match least {
        Strength::Signed => format!("{by_hand} --sign KEY"),
        Strength::Client | Strength::Terminal => by_hand.to_owned(),
    };
    Err(Fault::new(
        Kind::Refused,
        "approval_too_weak",
        format!(
            "this asks for an approval of the strength `{}`, and a client can give none",
            least.name()
        ),
    )
    .suggest(format!("ask the person to run `{by_hand}` in a terminal"))
    .detail("required", least.name())
    .recover(by_hand)
    .into())
}
