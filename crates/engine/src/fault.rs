//! Why a call did not do what it was asked: a stable code, a message, what to do next.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::codes::{self, Args};
use crate::integrity::{emptied, has_begun};
use crate::next_step::Verb;

/// What sort of trouble it is. It decides the exit status of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A fault of ours.
    Bug,
    /// The call itself makes no sense.
    Usage,
    /// A rule forbids it.
    Refused,
    /// What it is about is not there.
    Missing,
    /// Somebody else was faster, or is at work.
    Conflict,
    /// The machine, the repository, or a file of the user's.
    Environment,
    /// Nothing can be done now.
    Blocked,
}

impl Kind {
    /// The exit status of a process that ends so.
    pub fn exit_status(self) -> u8 {
        match self {
            Self::Bug => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::Missing => 4,
            Self::Conflict => 5,
            Self::Environment => 6,
            Self::Blocked => 7,
        }
    }
}

/// A call that failed.
#[derive(Debug, Clone, Serialize)]
pub struct Fault {
    /// What sort of trouble.
    #[serde(skip)]
    pub kind: Kind,
    /// Stable code.
    pub code: String,
    /// What happened, and to what.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub suggestion: String,
    /// What it was about.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
    /// What was expected instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Value>,
    /// The command to run.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub recovery: String,
}

impl Fault {
    /// A fault with code and message.
    pub fn new(kind: Kind, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            kind,
            code: code.into(),
            message: message.into(),
            suggestion: String::new(),
            details: Map::new(),
            expected: None,
            recovery: String::new(),
        }
    }

    /// A fault with the texts of a key; `fault!` writes it.
    pub fn of(key: &str, args: &Args<'_>) -> Self {
        let Some((kind, text)) = codes::find(key) else {
            return Self::bug(format!("nothing is said of `{key}`"));
        };
        let (kind, spell) = (kind.unwrap_or(Kind::Bug), |text: &str| {
            codes::spell(text, args)
        });
        let fault = Self::new(kind, codes::code_of(key), spell(&text.message));
        fault.suggest(spell(&text.help)).recover(spell(&text.run))
    }

    /// A fault of the machine or of a file, with its cause.
    pub fn environment(
        code: impl Into<String>,
        what: impl fmt::Display,
        cause: &dyn std::error::Error,
    ) -> Self {
        Self::new(Kind::Environment, code, format!("{what}: {}", chain(cause)))
    }

    /// A state of things that no input should bring about.
    pub fn bug(message: impl Into<String>) -> Self {
        Self::new(Kind::Bug, "internal", message)
            .suggest("this is a fault of tm; please report it with the output of `tm doctor`")
    }

    /// Says what to do.
    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = suggestion.into();
        self
    }

    /// Names the command to run.
    #[must_use]
    pub fn recover(mut self, command: impl Into<String>) -> Self {
        self.recovery = command.into();
        self
    }

    /// Says what was expected.
    #[must_use]
    pub fn expected(mut self, expected: impl Into<Value>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    /// Adds a detail.
    #[must_use]
    pub fn detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

/// An error with its causes, in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

impl From<journal::JournalError> for Fault {
    fn from(error: journal::JournalError) -> Self {
        use journal::JournalError as E;
        if let E::Missing { path } = &error
            && let Some(dir) = path.parent()
            && has_begun(dir)
        {
            return emptied(dir);
        }
        let (kind, code) = match &error {
            E::Cancelled { .. } => (Kind::Conflict, "cancelled"),
            E::LockTimeout { .. } | E::Conflict { .. } => (Kind::Conflict, "lock_timeout"),
            E::Damaged { .. } => (Kind::Environment, "journal_damaged"),
            E::Missing { .. } => (Kind::Missing, "no_run"),
            E::NewerFormat { .. } => (Kind::Environment, "journal_newer"),
            _ => (Kind::Environment, "io_failed"),
        };
        let suggestion = match &error {
            E::Missing { .. } => see_the_runs(),
            _ => error.suggestion().unwrap_or_default(),
        };
        Self::new(kind, code, chain(&error)).suggest(suggestion)
    }
}

fn see_the_runs() -> String {
    format!("see the runs with {}", Verb::List)
}

impl From<journal::layout::LayoutError> for Fault {
    fn from(error: journal::layout::LayoutError) -> Self {
        use journal::layout::LayoutError as E;
        let suggestion = match &error {
            E::NoRun(_) => see_the_runs(),
            _ => error.suggestion().unwrap_or_default(),
        };
        let (kind, code) = match error {
            E::Journal(inner) => return Self::from(inner),
            E::Name(_) => (Kind::Usage, "bad_name"),
            E::NoRun(_) => (Kind::Missing, "no_run"),
            E::AmbiguousRun { .. } => (Kind::Usage, "several_runs"),
            _ => (Kind::Environment, "io_failed"),
        };
        Self::new(kind, code, chain(&error)).suggest(suggestion)
    }
}

impl From<journal::layout::NameError> for Fault {
    fn from(error: journal::layout::NameError) -> Self {
        Self::new(Kind::Usage, "bad_name", chain(&error)).suggest(error.suggestion())
    }
}

impl From<journal::EvidenceError> for Fault {
    fn from(error: journal::EvidenceError) -> Self {
        use journal::EvidenceError as E;
        let suggestion = error.suggestion().unwrap_or_default();
        let fault =
            |code: &str| Self::new(Kind::Environment, code, chain(&error)).suggest(suggestion);
        match error {
            E::Missing { .. } | E::Changed { .. } => {
                fault("evidence_missing").recover(Verb::Reopen)
            }
            _ => fault("io_failed"),
        }
    }
}

impl From<workspace::git::GitError> for Fault {
    fn from(error: workspace::git::GitError) -> Self {
        let code = error.code();
        let kind = match code {
            "not_a_repository" | "no_identity" | "bad_name" => Kind::Refused,
            "lock_timeout" => Kind::Conflict,
            _ => Kind::Environment,
        };
        let suggestion = error.suggestion().unwrap_or_else(|| codes::help(code));
        Self::new(kind, code, chain(&error)).suggest(suggestion)
    }
}

impl From<workspace::config::ConfigError> for Fault {
    fn from(error: workspace::config::ConfigError) -> Self {
        let suggestion = error.suggestion().unwrap_or_default();
        let kind = if error.is_typed() {
            Kind::Usage
        } else {
            Kind::Environment
        };
        Self::new(kind, error.code(), chain(&error)).suggest(suggestion)
    }
}

impl From<workspace::trust::TrustError> for Fault {
    fn from(error: workspace::trust::TrustError) -> Self {
        let suggestion = error.suggestion();
        Self::new(Kind::Environment, error.code(), chain(&error)).suggest(suggestion)
    }
}

impl From<workspace::tasks::TaskError> for Fault {
    fn from(error: workspace::tasks::TaskError) -> Self {
        let kind = match error.code() {
            "not_found" | "tasks_missing" => Kind::Missing,
            "bad_name" | "usage" => Kind::Usage,
            "changed_since" => Kind::Conflict,
            "io_failed" | "tasks_invalid" => Kind::Environment,
            _ => Kind::Refused,
        };
        let suggestion = match error.code() {
            "tasks_missing" => codes::help("tasks_missing"),
            _ => error.suggestion().unwrap_or_default(),
        };
        Self::new(kind, error.code(), chain(&error)).suggest(suggestion)
    }
}
