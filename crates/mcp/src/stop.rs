//! Why a call gives no answer yet.

use std::collections::BTreeMap;

use serde_json::Value;

/// What ends a call instead of an answer.
#[derive(Debug, Clone)]
pub enum Stop {
    /// It cannot be answered.
    Problem(Problem),
    /// It can be answered once the client has answered this.
    Ask(Ask),
}

/// A request that cannot be answered, as the protocol tells it: the call itself is wrong, or the server is.
///
/// A tool that ran and failed is no problem but an answer (`ToolAnswer::error`): only then the model reads it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Problem {
    /// The parameters make no sense: an unknown tool or prompt, a missing argument.
    #[error("{0}")]
    Invalid(String),
    /// There is no such resource.
    #[error("there is no resource {0}")]
    NoResource(String),
    /// The call takes long, and is only for clients that know of tasks (`ClientAbilities::tasks`).
    #[error("the client does not know of tasks")]
    NeedsTasks,
    /// A fault of the server.
    #[error("{0}")]
    Internal(String),
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

/// Questions to the client. When they are answered the same call is made again, with the answers
/// ([`Client::answer`](crate::Client::answer)) and with what was kept ([`Client::kept`](crate::Client::kept)).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ask {
    /// The questions by name.
    pub inputs: BTreeMap<String, Input>,
    /// What to remember until then. It travels through the client, sealed: it can read it and not change it.
    pub keep: Option<Value>,
}

impl Ask {
    /// One question.
    pub fn one(name: &str, input: Input) -> Self {
        Self {
            inputs: BTreeMap::from([(name.to_owned(), input)]),
            keep: None,
        }
    }
}

/// A question to the client.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A form that the person fills in: elicitation.
    Form {
        /// What it is about.
        message: String,
        /// JSON Schema of the form: an object whose properties are plain values.
        schema: Value,
    },
    /// Something that the client's model is to write: sampling, `sampling/createMessage` parameters.
    Sample(Value),
    /// The folders that the client works on.
    Roots,
}
