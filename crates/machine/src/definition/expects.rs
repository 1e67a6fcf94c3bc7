//! What a state expects, as a definition says it.

use serde::Deserialize;
use serde::de::{self, Deserializer};

use super::ordered::{LongForm, NameOr, Ordered};
use crate::diagnostic::Located;
use crate::role::{Checked, FileClass, Shows, Suite};

/// What a state expects: `tests`, which is a reader alone, or `{ tests: { as: red, shows: new_failure } }`, with the role of
/// what it reads.
#[derive(Debug, Clone)]
pub struct Expects {
    /// The evidence reader.
    pub reader: Located<String>,
    /// The role of what is reported.
    pub role: RoleDef,
}

/// The role of a report; see [`crate::role::Role`], which holds the same for a journal.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(
    deny_unknown_fields,
    rename_all = "camelCase",
    expecting = "a role, such as `{ as: green, against: red }`"
)]
pub struct RoleDef {
    /// The label of the report.
    #[serde(default, rename = "as")]
    pub label: Option<Located<String>>,
    /// What it has to show.
    #[serde(default)]
    pub shows: Option<Located<Shows>>,
    /// The label under which it freezes what it shows.
    #[serde(default)]
    pub freezes: Option<Located<String>>,
    /// The label of the report that it is held against.
    #[serde(default)]
    pub against: Option<Located<String>>,
    /// The label of what must not have changed.
    #[serde(default)]
    pub frozen: Option<Located<String>>,
    /// The label of the report that it rests on.
    #[serde(default)]
    pub of: Option<Located<String>>,
    /// How much of the suite it is about.
    #[serde(default)]
    pub suite: Option<Located<Suite>>,
    /// What files alone may be changed since the last commit.
    #[serde(default)]
    pub only: Vec<Located<FileClass>>,
    /// What the project's linters, formatters and type checkers are run on for it.
    #[serde(default)]
    pub checks: Option<Located<Checked>>,
    /// The command that is run for it.
    #[serde(default)]
    pub run: Option<Located<String>>,
}

impl RoleDef {
    /// The entry of a resource that a key names.
    pub fn names(&self, key: &str) -> Option<&Located<String>> {
        match key {
            "run" => self.run.as_ref(),
            _ => None,
        }
    }
}

impl LongForm<'_> for Ordered<RoleDef> {
    const EXPECTING: &'static str =
        "a reader, or one with its role, such as `{ tests: { as: red } }`";
}

impl<'de> Deserialize<'de> for Expects {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let readers = match NameOr::<Ordered<RoleDef>>::deserialize(deserializer)? {
            NameOr::Name(reader) => {
                return Ok(Self {
                    reader,
                    role: RoleDef::default(),
                });
            }
            NameOr::Map(readers) => readers,
        };
        let mut all = readers.iter();
        match (all.next(), all.next()) {
            (Some((reader, role)), None) => Ok(Self {
                reader: reader.clone(),
                role: role.clone(),
            }),
            (None, _) => Err(de::Error::custom("`expects` names no reader")),
            (Some(_), Some((second, _))) => Err(de::Error::custom(format!(
                "`{}` is a second reader: a state has one that takes its report",
                second.value
            ))),
        }
    }
}
