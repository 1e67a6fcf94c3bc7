//! What is wrong with a YAML file, in words that mean something to whoever wrote it.

use serde_saphyr::{Error, Options};

use crate::nearest;

/// What is read of a file: one from a cloned repository is hostile input.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// What the file is, as in "write one workflow in a file".
    pub what: &'static str,
    /// How deep values may stand in one another.
    pub levels: usize,
    /// How many values it may hold.
    pub values: usize,
    /// How often it may refer back to an anchor.
    pub aliases: usize,
}

impl Limits {
    /// The options of the reader. Words such as `no` and `on` are text, as YAML 1.2 says.
    pub fn options(self) -> Options {
        serde_saphyr::options! {
            budget: serde_saphyr::budget! {
                max_depth: self.levels,
                max_nodes: self.values,
                max_aliases: self.aliases,
            },
            strict_booleans: true,
            with_snippet: false,
        }
    }

    /// What the reader found, and what can be done about it where that is known.
    pub fn explain(self, error: &Error) -> (String, Option<String>) {
        let Self { what, .. } = self;
        match error {
            Error::SerdeUnknownField {
                field, expected, ..
            } => unknown("key", field, expected),
            Error::SerdeUnknownVariant {
                variant, expected, ..
            } => unknown("value", variant, expected),
            Error::SerdeMissingField { field, .. } => (
                format!("`{field}` is missing"),
                Some(format!("add `{field}: …`")),
            ),
            Error::DuplicateMappingKey { key, .. } => {
                let key = key
                    .as_ref()
                    .map_or_else(|| "a key".to_owned(), |key| format!("`{key}`"));
                (
                    format!("{key} is there twice"),
                    Some("keep one of the two".to_owned()),
                )
            }
            Error::MultipleDocuments { .. } => (
                "a second document begins here".to_owned(),
                Some(format!("write one {what} in a file")),
            ),
            Error::AliasError { error, .. } => self.explain(error),
            Error::Eof { .. } => (format!("the {what} ends too early"), None),
            Error::Budget { .. }
            | Error::AliasReplayLimitExceeded { .. }
            | Error::AliasExpansionLimitExceeded { .. }
            | Error::AliasReplayStackDepthExceeded { .. } => (
                format!("the {what} is too deep, too long, or repeats itself too often"),
                Some(format!(
                    "at most {} values, {} levels and {} aliases are read",
                    self.values, self.levels, self.aliases
                )),
            ),
            other => {
                let whole = other.to_string();
                let line = whole.lines().next().unwrap_or_default();
                let line = line.strip_prefix("error: ").unwrap_or(line);
                let said = line.rfind(" at line ").map_or(line, |end| &line[..end]);
                (said.to_owned(), None)
            }
        }
    }
}

fn unknown(what: &str, name: &str, known: &[&'static str]) -> (String, Option<String>) {
    let help = nearest(name, known.iter().copied()).map_or_else(
        || format!("known are: {}", known.join(", ")),
        |near| format!("did you mean `{near}`?"),
    );
    (format!("there is no {what} `{name}` here"), Some(help))
}
