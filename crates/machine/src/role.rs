//! The role of a report: what it is for, and what it is held against.
//!
//! A workflow says it, with labels of its own choice; readers go by nothing else. `as` labels what a report is, and
//! `freezes` what it puts beyond change; `against`, `of` and `frozen` name such labels.

use serde::{Deserialize, Serialize};

/// What a report has to show, beside that it can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shows {
    /// A test fails that did not fail before, against the last commit.
    NewFailure,
}

/// How much of a suite a report is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Suite {
    /// All of it, with everything committed.
    Full,
}

/// What linters, formatters and type checkers of a project are run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Checked {
    /// What was changed since the last commit.
    Changed,
    /// Everything.
    All,
}

/// What a file of a project is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileClass {
    /// To be read by people.
    Docs,
    /// Building, checking and configuring the rest.
    Build,
    /// The product.
    Source,
    /// Tests, and what belongs to them.
    Tests,
}

impl FileClass {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Docs, Self::Build, Self::Source, Self::Tests];

    /// Its name in definitions and journals.
    pub fn name(self) -> &'static str {
        match self {
            Self::Docs => "docs",
            Self::Build => "build",
            Self::Source => "source",
            Self::Tests => "tests",
        }
    }

    /// The one of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }

    /// What files of it are called.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Docs => "documents",
            Self::Build => "files that build or configure",
            Self::Source => "files of the product",
            Self::Tests => "tests",
        }
    }
}

/// What may be edited while a state waits for its report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edits {
    /// Tests, and what belongs to them.
    Tests,
    /// All but what a report froze.
    Unfrozen,
    /// Everything.
    All,
    /// Nothing.
    None,
}

/// What a state is for, as the journal keeps it with the units that are issued there and the reports that are accepted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Role {
    /// The phase that a view shows the state as, where one is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The reader of its reports, whose name the facts have; empty where there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reader: String,
    /// The label of the report.
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What it has to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shows: Option<Shows>,
    /// The label under which it freezes what it shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freezes: Option<String>,
    /// The label of the report that it is held against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// The label of what must not have changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen: Option<String>,
    /// The label of the report that it rests on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// How much of the suite it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<Suite>,
    /// What files alone may be changed since the last commit; any where none is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<FileClass>,
    /// What the project's checks are run on for it; none are where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checks: Option<Checked>,
    /// The command that is run for it, by its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// What may be edited meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edits: Option<Edits>,
}

impl Role {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The keys of a definition that are said of the report: what a reader has to know.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> {
        [
            ("as", self.label.is_some()),
            ("shows", self.shows.is_some()),
            ("freezes", self.freezes.is_some()),
            ("against", self.against.is_some()),
            ("frozen", self.frozen.is_some()),
            ("of", self.of.is_some()),
            ("suite", self.suite.is_some()),
            ("only", !self.only.is_empty()),
            ("checks", self.checks.is_some()),
            ("run", self.run.is_some()),
        ]
        .into_iter()
        .filter_map(|(key, is_said)| is_said.then_some(key))
    }
}
