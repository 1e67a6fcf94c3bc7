use std::io;

/// The longest message, in bytes.
const LONGEST_TOLD: usize = 1000;

/// Why a report was not taken in.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.prefix())]
pub struct Unreadable {
    /// What is the matter.
    pub kind: Kind,
    /// The format that the report was read as, where it is known, by its name.
    pub format: Option<&'static str>,
    /// The line in which it was found, from 1.
    pub line: Option<u64>,
    /// What was found, for people.
    pub message: String,
    /// The error of the file itself, where that is the cause.
    #[source]
    pub source: Option<io::Error>,
}

/// The kinds of [`Unreadable`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// There is nothing in it.
    Empty,
    /// It is of no known format.
    Unknown,
    /// It ends before it is complete.
    Truncated,
    /// It breaks the rules of its format.
    Malformed,
    /// It is more than one report, or a report and something else.
    Mixed,
    /// What it declares of itself is not what is in it.
    Contradiction,
    /// It is complete, and says that no test was run, or that no line was measured.
    Nothing,
    /// It is over one of the [limits](crate::limits).
    TooLarge,
    /// The file could not be read.
    Io,
}

impl Kind {
    /// A stable name: `truncated`, `contradiction`…
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Unknown => "unknown",
            Self::Truncated => "truncated",
            Self::Malformed => "malformed",
            Self::Mixed => "mixed",
            Self::Contradiction => "contradiction",
            Self::Nothing => "nothing",
            Self::TooLarge => "too_large",
            Self::Io => "io",
        }
    }
}

impl Unreadable {
    /// A fault without a place. What of the report is in the message is shown to people: it is cut, and characters that would
    /// steer their terminal are left out.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        let mut message: String = message.into();
        if message.len() > LONGEST_TOLD {
            message.truncate(message.floor_char_boundary(LONGEST_TOLD));
            message.push('…');
        }
        if message.contains(char::is_control) {
            message = message.replace(char::is_control, " ");
        }
        Self {
            kind,
            format: None,
            line: None,
            message,
            source: None,
        }
    }

    /// No format is called so. `what` they are formats of, and the names of those that there are, are told.
    pub(crate) fn no_format(
        what: &str,
        name: &str,
        known: impl Iterator<Item = &'static str>,
    ) -> Self {
        let known: Vec<&str> = known.collect();
        let message = format!(
            "no {what} format is called {name:?}; there are {}",
            known.join(", ")
        );
        Self::new(Kind::Unknown, message)
    }

    /// The same, found in this line, from 1.
    #[must_use]
    pub fn at_line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// The same, of a report that was read as this format.
    #[must_use]
    pub fn in_format(mut self, format: &'static str) -> Self {
        self.format.get_or_insert(format);
        self
    }

    fn prefix(&self) -> String {
        let mut told = String::new();
        if let Some(format) = self.format {
            told.push_str(format);
            told.push_str(": ");
        }
        if let Some(line) = self.line {
            told.push_str("line ");
            told.push_str(&line.to_string());
            told.push_str(": ");
        }
        told.push_str(&self.message);
        told
    }
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Self {
        Self {
            source: Some(error),
            ..Self::new(Kind::Io, "the file could not be read")
        }
    }
}
