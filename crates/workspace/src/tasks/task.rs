//! A task, its subtasks, and what a status means.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A piece of work, as its source describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Its id in the source; numbers are given as text.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// What it is about; empty where the source says nothing.
    pub description: String,
    /// How it is to be done; may be empty.
    pub details: String,
    /// How it is to be tested; may be empty.
    pub test_strategy: String,
    /// What kind of work it is, where it has no subtasks; empty where the source says nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Whether it is refactored once it passes, where it has no subtasks and its source says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refactor: Option<bool>,
    /// How far it is.
    pub status: Status,
    /// Ids of the tasks that must be done before.
    pub dependencies: Vec<String>,
    /// Its parts in the source's order; never empty: see [`Subtask::implicit`].
    pub subtasks: Vec<Subtask>,
    /// Status of subtasks of other tasks that subtasks of this one depend on, by dotted id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub elsewhere: BTreeMap<String, Status>,
}

/// A part of a task: one round of RED, GREEN and COMMIT, or what the workflow has for its kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subtask {
    /// Dotted id, such as `1.2`.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// What it is about; may be empty.
    pub description: String,
    /// How it is to be done; may be empty.
    pub details: String,
    /// How it is to be tested; may be empty.
    pub test_strategy: String,
    /// What kind of work it is, in the words of the workflow; empty where the source says nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Whether it is refactored once it passes, where its source says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refactor: Option<bool>,
    /// Dotted ids of the subtasks that must be done before.
    pub dependencies: Vec<String>,
    /// How far it is.
    pub status: Status,
    /// What must hold for it to count as done, one sentence each; may be empty.
    pub acceptance_criteria: Vec<String>,
    /// True for the one subtask that stands for a task without subtasks. Its status is the task's own, and is written
    /// when the whole run is over.
    #[serde(default)]
    pub implicit: bool,
}

impl Task {
    /// Gives a task without subtasks the one that stands for the whole of it.
    pub(super) fn with_implicit_subtask(mut self) -> Self {
        if self.subtasks.is_empty() {
            self.subtasks.push(Subtask {
                id: format!("{}.1", self.id),
                title: self.title.clone(),
                description: self.description.clone(),
                details: self.details.clone(),
                test_strategy: self.test_strategy.clone(),
                kind: self.kind.clone(),
                refactor: self.refactor,
                dependencies: Vec::new(),
                status: self.status.clone(),
                acceptance_criteria: Vec::new(),
                implicit: true,
            });
        }
        self
    }
}

/// How far a task or subtask is. As text it is what stands in the file: `pending`, `in-progress`, …
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Status {
    /// Not begun.
    #[default]
    Pending,
    /// Begun.
    InProgress,
    /// Done, and waiting to be looked at.
    Review,
    /// Done.
    Done,
    /// Done, in the words of some tools.
    Completed,
    /// Will never be done, and nothing waits for it.
    Cancelled,
    /// Put off.
    Deferred,
    /// Held up by something else.
    Blocked,
    /// A word that is none of these, as it was written.
    Other(String),
}

impl Status {
    /// Reads a status; upper and lower case, spaces, hyphens and underscores make no difference.
    pub fn from_text(text: &str) -> Self {
        let plain = text.trim().to_lowercase().replace([' ', '_'], "-");
        match plain.as_str() {
            "pending" => Self::Pending,
            "in-progress" => Self::InProgress,
            "review" => Self::Review,
            "done" => Self::Done,
            "completed" => Self::Completed,
            "cancelled" | "canceled" => Self::Cancelled,
            "deferred" => Self::Deferred,
            "blocked" => Self::Blocked,
            _ => Self::Other(text.trim().to_owned()),
        }
    }

    /// The status as text.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in-progress",
            Self::Review => "review",
            Self::Done => "done",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
            Self::Deferred => "deferred",
            Self::Blocked => "blocked",
            Self::Other(text) => text,
        }
    }

    /// Nothing is left to do: `done`, `completed` or `cancelled`.
    pub fn is_finished(&self) -> bool {
        matches!(self, Self::Done | Self::Completed | Self::Cancelled)
    }

    /// What depends on it may be run: finished, or in review.
    pub fn satisfies(&self) -> bool {
        self.is_finished() || *self == Self::Review
    }

    /// Somebody decided that it is not to be run now: `deferred` or `blocked`.
    pub fn is_left_out(&self) -> bool {
        matches!(self, Self::Deferred | Self::Blocked)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Status {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::from_text(&text))
    }
}
