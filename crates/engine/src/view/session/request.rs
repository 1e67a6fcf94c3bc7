//! What the calls on sessions ask for.

use machine::command::Choice;
use serde_json::{Map, Value};

use crate::approval::{Statement, Turn};

/// A session to begin.
#[derive(Debug, Clone, Default)]
pub struct Init {
    /// The workflow; `review` if absent.
    pub workflow: Option<String>,
    /// The profile; `generic` if absent.
    pub profile: Option<String>,
    /// The profile's inputs; texts are read by the input's type.
    pub inputs: Map<String, Value>,
    /// Modes of gates, by name: `auto`, `human`, `terminal` or `signed`. The others are as the settings say.
    pub gates: Vec<(String, String)>,
    /// After how many iterations it pauses; as the settings say if absent.
    pub max_iterations: Option<u32>,
    /// A name for its id; the profile's if absent.
    pub name: Option<String>,
}

/// A response to what a session asks for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Response<'a> {
    /// The response as it was written.
    pub bytes: &'a [u8],
    /// Whether another one may be there that was not taken in yet: it is kept beside.
    pub replace: bool,
    /// The phase that the session has to stand in: a response that comes late must not answer another prompt.
    pub phase: Option<&'a str>,
    /// The work unit that it answers, which has to be the present one.
    pub unit: Option<&'a str>,
}

/// A decision at a gate, on exactly what was looked at.
#[derive(Debug, Clone, Default)]
pub struct Decide {
    /// The gate, phase, iteration and hash that were looked at.
    pub gate: crate::view::session::answer::ClosedGate,
    /// What was decided.
    pub choice: Choice,
    /// What is to be done otherwise.
    pub feedback: String,
}

impl Decide {
    /// What is decided: the text that is signed. `last` is the hash of the run's last event.
    pub(crate) fn statement(&self, last: &str) -> Statement {
        Statement::at_gate(&self.gate, self.choice, &self.feedback, last)
    }
}

/// A session to take up again.
#[derive(Debug, Clone, Default)]
pub struct Reopen {
    /// Why.
    pub reason: String,
    /// A higher cap on the iterations; then nothing else changes.
    pub max_iterations: Option<u32>,
}

impl Reopen {
    /// It as a turn.
    pub fn turn(&self) -> Turn<'_> {
        let most = self
            .max_iterations
            .map(|most| ("maxIterations".to_owned(), most.into()));
        Turn {
            name: "reopen",
            reason: &self.reason,
            flags: most.into_iter().collect(),
        }
    }
}
