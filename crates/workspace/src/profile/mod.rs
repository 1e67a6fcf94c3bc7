//! Profiles: what the prompts of a session are, and how its responses are read. A profile decides nothing else.
//!
//! One is a folder, `.taskmaster/profiles/NAME/` of the project or of the user's home, or comes with the program. It holds `profile.yaml` and
//! the templates of four prompts, and where reading a response takes code, that code. What comes with a project is read
//! as what it is, text of others: within bounds, with templates that can do little ([`crate::template`]), and code runs
//! only after a person trusted it ([`crate::trust`]).

mod definition;
mod error;
mod folder;
mod format;
mod inputs;
mod library;
mod name;
mod phase;
mod pin;
pub mod processing;
mod reading;
mod view;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indexmap::IndexMap;
use minijinja::value::{Serde, Value as TemplateValue};
use serde::Serialize;
use serde_json::{Map, Value};

pub use definition::{FORMAT, Kind};
pub use error::{InputFault, InputProblem, Place, ProfileError};
pub use folder::Builtin;
pub use inputs::Input;
pub use library::{Library, Summary};
pub use phase::{PerPhase, Phase};
pub use view::{CodeFile, FileChange, Rejected, Review, View, shown_files, shown_text};

use folder::Files;

use crate::trust::{Subject, TrustStore};

/// A profile that was read and proved.
#[derive(Debug, Clone)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// What a session is given at its start, in order.
    pub inputs: IndexMap<String, Input>,
    /// The files of the templates.
    pub prompts: PerPhase<String>,
    /// How responses are read.
    pub responses: PerPhase<Reader>,
    /// Where it comes from.
    pub source: Source,
    /// SHA-256 of all that lies in its folder.
    pub hash: String,
    /// Whether it means to take the place of a built-in one.
    pub shadows: bool,
    /// `profile.yaml`, and every template by its path.
    texts: BTreeMap<String, String>,
}

/// Where a profile comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// It comes with the program.
    Builtin,
    /// It lies in the project.
    Project {
        /// Its folder, with symbolic links resolved.
        folder: PathBuf,
    },
    /// It lies in the user's own folder, for all projects.
    User {
        /// Its folder, with symbolic links resolved.
        folder: PathBuf,
    },
}

/// How a response is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reader {
    /// As a plan.
    Plan {
        /// Headings that it must have.
        headings: Vec<String>,
    },
    /// As files.
    Bundle {
        /// Patterns of the names that they may have; none where any will do.
        allow: Vec<String>,
    },
    /// As a verdict.
    Verdict,
    /// By a command of the profile's own: see [`processing`].
    Command {
        /// The program and its arguments.
        argv: Vec<String>,
        /// How long it may take.
        timeout: Duration,
    },
}

impl Source {
    /// The folder that it lies in; none where it comes with the program.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Builtin => None,
            Self::Project { folder } | Self::User { folder } => Some(folder),
        }
    }
}

/// The JSON Schema of `profile.yaml`.
pub fn json_schema() -> Value {
    schemars::schema_for!(definition::Definition).to_value()
}

impl Profile {
    /// What was given for its inputs, as values of their types, with a value for each that is declared. What is given
    /// as text is read as on a command line: `true`, `3`, `a,b`. All faults are told at once.
    pub fn check_inputs(
        &self,
        given: &Map<String, Value>,
    ) -> Result<Map<String, Value>, ProfileError> {
        inputs::check(&self.inputs, given).map_err(|faults| ProfileError::Inputs {
            profile: self.name.clone(),
            faults,
        })
    }

    /// Makes the prompt of a phase. `view` is a [`View`], or anything with the same names; `phase`, `format` and
    /// `session.profile` are the profile's own business and added here.
    pub fn render(&self, phase: Phase, view: &impl Serialize) -> Result<String, ProfileError> {
        let file = self.prompts.get(phase);
        let fault = |file: &str, line: u32, message: String, help: String| ProfileError::Template {
            place: Box::new(self.place(file, line, u32::from(line > 0))),
            message,
            help,
        };
        let mut view = serde_json::to_value(view)
            .ok()
            .and_then(|view| match view {
                Value::Object(view) => Some(view),
                _ => None,
            })
            .ok_or_else(|| {
                fault(
                    file,
                    0,
                    "what the prompt is to show is no object".to_owned(),
                    "this is a fault of tm".to_owned(),
                )
            })?;
        view.insert("phase".to_owned(), phase.as_str().into());
        view.insert("format".to_owned(), format::texts(self, phase));
        if let Some(Value::Object(session)) = view.get_mut("session") {
            session.insert("profile".to_owned(), self.name.clone().into());
        }
        crate::template::render(file, &self.texts, TemplateValue::from(Serde(&view)))
            .map_err(|found| fault(&found.file, found.line, found.message, found.help))
    }

    /// Whether any of its responses is read by a command.
    pub fn has_commands(&self) -> bool {
        self.responses
            .iter()
            .any(|(_, reader)| matches!(reader, Reader::Command { .. }))
    }

    /// Whether its commands may run: because it comes with the program, or because a person trusted its folder as it
    /// was when this was read.
    pub fn is_trusted(&self, trust: &TrustStore) -> Result<bool, ProfileError> {
        match self.source.folder() {
            None => Ok(true),
            Some(folder) => Ok(trust.is_trusted(Subject::Profile, folder, &self.hash)?),
        }
    }

    /// All files of its folder, as they are now; none of one that comes with the program.
    pub fn files(&self) -> Result<Vec<String>, ProfileError> {
        match self.source.folder() {
            None => Ok(Vec::new()),
            Some(folder) => Ok(Files::read(folder)?.all.into_keys().collect()),
        }
    }

    /// A place in one of its files.
    fn place(&self, file: &str, line: u32, column: u32) -> Place {
        reading::place(&self.source, &self.name, file, line, column)
    }
}
