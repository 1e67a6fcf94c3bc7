//! Asking the person, by a form that the client shows. An accepted form is the only approval that comes over the protocol.

use engine::fault;
use engine::{Channel, Fault, Kind, NEEDS_CONFIRMATION, Strength};
use mcp::{Ask, Client, Input, Stop};
use serde_json::{Value, json};
use text::plain::one_line;

/// The name of the question.
const QUESTION: &str = "confirm";
/// How many characters of a client's name, and of its version, are recorded.
const LONGEST_NAME: usize = 60;

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

/// Asks the person `question`, and returns their approval. `about` is what the yes is for, such as a run's id: a yes for
/// something else does not count.
///
/// A tool call is no approval, whoever calls: a client's name proves nothing. It takes a form that this server sent and whose
/// answer came back, from a client that says which program and version it is.
pub fn confirm(
    client: &Client,
    question: &str,
    about: &str,
    by_hand: &str,
) -> Result<Channel, Interruption> {
    let named = name_and_version(client);
    let (true, Some(named)) = (client.can().forms, &named) else {
        let why = match named {
            None => "the client does not give its name and version",
            Some(_) => "the client cannot show a question",
        };
        return Err(Fault::new(
            Kind::Refused,
            NEEDS_CONFIRMATION,
            format!("this needs a person's yes, and {why}: {question}"),
        )
        .suggest(format!(
            "ask the person to run `{by_hand}` in a terminal, or to use a client that can show a question"
        ))
        .recover(by_hand)
        .into());
    };
    // The answer is of the client that was shown the form.
    let about = format!("{about}\n{named}");
    let answer = client
        .answer(QUESTION)
        .filter(|_| client.kept().and_then(Value::as_str) == Some(&about));
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
        return Ok(Channel::Elicitation(named.clone()));
    }
    Err(fault!("declined.confirm", question, by_hand).into())
}

/// The client's name and version, on one line; none unless it gives both.
fn name_and_version(client: &Client) -> Option<String> {
    let [name, version] = [client.name(), client.version()].map(|given| {
        let plain = one_line(given);
        plain.trim().chars().take(LONGEST_NAME).collect::<String>()
    });
    (!name.is_empty() && !version.is_empty()).then(|| format!("{name} {version}"))
}

/// Refuses where an answered question is not enough.
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
            "this needs an approval of the strength `{}`, and none comes through a client",
            least.name()
        ),
    )
    .suggest(format!("ask the person to run `{by_hand}` in a terminal"))
    .detail("required", least.name())
    .recover(by_hand)
    .into())
}
