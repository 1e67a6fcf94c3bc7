//! What people are told of the codes that a definition names.

use serde::Deserialize;

use super::Definition;

/// What a code means, and what to do about it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a map with `message` and `fix`")]
pub struct Message {
    /// What is wrong, or is to be minded.
    pub message: String,
    /// What to do about it.
    #[serde(default)]
    pub fix: Option<String>,
}

impl Definition {
    /// What the definition says of a code.
    pub fn message(&self, code: &str) -> Option<&Message> {
        self.messages.get(code)
    }
}
