//! What is going to be written, as a difference that people and programs can read.

use std::path::PathBuf;

use serde::Serialize;

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It is made.
    Create,
    /// It is there, and changes.
    Change,
    /// It goes.
    Remove,
}

/// A file that is going to be written.
#[derive(Debug, Clone, Serialize)]
pub struct Change {
    /// The file, from the project's root.
    pub file: String,
    /// What happens to it.
    pub kind: ChangeKind,
    /// The difference, in the unified form.
    pub diff: String,
    /// Where the file really lies.
    #[serde(skip)]
    pub real: PathBuf,
    /// What it holds now.
    #[serde(skip)]
    pub before: Option<String>,
    /// What it is to hold.
    #[serde(skip)]
    pub after: Option<String>,
}

impl Change {
    /// The change from one content to another; `None` if there is none.
    pub fn between(
        file: &str,
        real: PathBuf,
        before: Option<String>,
        after: Option<String>,
    ) -> Option<Self> {
        let kind = match (&before, &after) {
            (before, after) if before == after => return None,
            (None, _) => ChangeKind::Create,
            (_, None) => ChangeKind::Remove,
            _ => ChangeKind::Change,
        };
        let diff = text::diff::unified(file, before.as_deref(), after.as_deref());
        Some(Self {
            file: file.to_owned(),
            kind,
            diff,
            real,
            before,
            after,
        })
    }
}
