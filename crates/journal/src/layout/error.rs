//! Why a place under the home folder could not be found or made.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::name::NameError;
use crate::error::{JournalError, advice};

/// Why a project, run or tag could not be found or made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// A name cannot stand in a path.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The path of a project is not one that can be recorded.
    #[error("the project path {} cannot be used: {flaw}", path.display())]
    ProjectPath {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        flaw: &'static str,
    },
    /// A file that names what its folder belongs to is not readable as such.
    #[error("{} does not say what its folder belongs to: {flaw}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        flaw: String,
    },
    /// Every name that a folder could have is taken by others.
    #[error("every name for the folder {} is taken", path.display())]
    NoFreeName {
        /// The first name tried.
        path: PathBuf,
    },
    /// The time of a new run is not in the form that is written.
    #[error("{0:?} is not a UTC time such as 2025-10-07T14:30:00.123Z")]
    Time(String),
    /// No run has this id, and none begins so.
    #[error("no run of this project has an id that begins with {0:?}")]
    NoRun(String),
    /// Several runs begin so.
    #[error("{} runs begin with {prefix:?}: {}", candidates.len(), some_of(candidates))]
    AmbiguousRun {
        /// What was asked for.
        prefix: String,
        /// The ids that begin so, newest first.
        candidates: Vec<String>,
    },
    /// The folder of a project cannot be adopted, since a run of it is in the other folder too.
    #[error("the run {run} is both in {} and in {}; nothing was moved", from.display(), to.display())]
    RunInBoth {
        /// The id of the run.
        run: String,
        /// The folder to be adopted.
        from: PathBuf,
        /// The folder of the project as it is now.
        to: PathBuf,
    },
    /// The lock or the journal could not be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A file or folder could not be used.
    #[error("could not {doing} {}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

impl LayoutError {
    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            doing,
            path,
            source,
        }
    }

    /// What a user can do about it, where there is something to be done.
    pub fn suggestion(&self) -> Option<String> {
        match self {
            Self::Name(error) => Some(error.suggestion()),
            Self::ProjectPath { .. } => {
                Some("rename the folder, or work from another one".to_owned())
            }
            Self::Unreadable { path, .. } => Some(format!(
                "look at {}; once it is removed, the next command that writes makes it anew",
                path.display()
            )),
            Self::AmbiguousRun { .. } => Some("give more of the id".to_owned()),
            Self::Journal(error) => error.suggestion(),
            Self::Io { source, .. } => Some(advice(source).to_owned()),
            _ => None,
        }
    }
}

fn some_of(candidates: &[String]) -> String {
    const SHOWN: usize = 5;
    let mut text = candidates
        .iter()
        .take(SHOWN)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    if candidates.len() > SHOWN {
        text.push_str(", …");
    }
    text
}
