//! The work items of a design document: headings such as `### Item 2a: Title`, and what stands below them.

mod dependencies;
mod heading;
mod hidden;
mod items;
mod mention;
mod open;
mod status;
mod words;

use crate::documents::quoting::quoted;

/// The longest document that is read, in bytes.
pub const MAX_BYTES: usize = 8 * 1024 * 1024;
/// How many items of a document are read.
pub const MAX_ITEMS: usize = 1000;
/// How many others an item may depend on.
pub const MAX_DEPENDENCIES: usize = 1000;
/// The longest number of an item, in bytes.
pub const MAX_NUMBER_BYTES: usize = 40;
/// The longest title of an item, in bytes; what is longer is cut.
pub const MAX_TITLE_BYTES: usize = 500;

/// What an item asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// New or changed code: it is brainstormed, then drafted.
    Code,
    /// Something else than code: it is brainstormed, then planned.
    Task,
    /// Something is broken: it is debugged.
    Bugfix,
}

impl Kind {
    /// The name that reports and definitions use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Task => "task",
            Self::Bugfix => "bugfix",
        }
    }
}

/// How far an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Status {
    /// Nothing says that it is any further.
    #[default]
    Pending,
    /// It is worked out, and not yet executed.
    Documented,
    /// All of it is done.
    Complete,
}

impl Status {
    /// The name that reports and definitions use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Documented => "documented",
            Self::Complete => "complete",
        }
    }
}

/// A work item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its number as others refer to it: `2a`, `3.1`. It has small ASCII letters, digits, `.`, `-` and `_` in it and nothing
    /// else, begins with a letter or digit, and is no longer than [`MAX_NUMBER_BYTES`]: it may be part of a file's name.
    pub number: String,
    /// What its heading says behind the number, without decoration and control characters.
    pub title: String,
    /// What it asks for; nothing where that could not be read, and then there is a problem that says so.
    pub kind: Option<Kind>,
    /// How far it is.
    pub status: Status,
    /// The numbers of the items that come first, each once.
    pub depends_on: Vec<String>,
    /// The line of its heading, from 1.
    pub line: u32,
}

/// What could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Stable name of what is wrong: `items_unreadable`; `too_large`; and `more_problems` for the last one, which says how many
    /// there are besides those that are told.
    pub code: &'static str,
    /// Where, from 1.
    pub line: u32,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub suggestion: String,
}

/// What was read with some freedom, or not taken into account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Where, from 1.
    pub line: u32,
    /// What was made of it.
    pub message: String,
}

/// What a document says of its items.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Design {
    /// The items, in the order of their headings.
    pub items: Vec<Item>,
    /// What could not be read, in the order of lines: at most 100 problems, and one more for the rest.
    pub problems: Vec<Problem>,
    /// What was read with some freedom, in the order of lines: at most 100 notes, and one more for the rest.
    pub notes: Vec<Note>,
}

/// Reads the items of a design document.
pub fn read(text: &str) -> Design {
    items::read(text)
}

/// The kind that a type's name means; decoration and what stands behind it do not count.
pub fn kind(text: &str) -> Option<Kind> {
    words::kind(text)
}

/// The status that a free text means; nothing where it says nothing of that.
pub fn status(text: &str) -> Option<Status> {
    status::read(text).map(|meant| meant.status)
}

fn problem(line: u32, message: String, suggestion: &str) -> Problem {
    Problem {
        code: "items_unreadable",
        line,
        message,
        suggestion: suggestion.to_owned(),
    }
}

/// A field is there once more, and says something else.
fn passed_over(number: &str, name: &str, first: u32, line: u32, text: &str) -> Note {
    Note {
        line,
        message: format!(
            "item {number} names its {name} in line {first} already: {} is passed over",
            quoted(text)
        ),
    }
}
