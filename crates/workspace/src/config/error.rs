//! What can be wrong with settings.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// So many valid keys are listed.
const MOST_LISTED: usize = 40;

/// Where a value was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValuePlace {
    /// In a file.
    File {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
    },
    /// In an environment variable of this name.
    Environment(String),
    /// With a flag that sets this key.
    Flag(String),
}

impl fmt::Display for ValuePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line, column } => write!(f, "{}:{line}:{column}", path.display()),
            Self::Environment(name) => write!(f, "environment variable {name}"),
            Self::Flag(_) => f.write_str("on the command line"),
        }
    }
}

/// Why the settings could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The system refused to read a file.
    #[error("could not read {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A file, or a value that must be JSON, is not.
    #[error("{place}: {message}")]
    Malformed {
        /// Where reading stopped.
        place: Box<ValuePlace>,
        /// What is wrong there.
        message: String,
    },
    /// A key that means nothing, inside a section that is ours.
    #[error("{place}: unknown key `{key}`")]
    UnknownKey {
        /// Where it stands.
        place: Box<ValuePlace>,
        /// The dotted name of the key.
        key: String,
        /// The dotted name that was probably meant.
        nearest: Option<String>,
        /// All dotted names that are valid there.
        valid: Vec<String>,
    },
    /// A value of the wrong type.
    #[error("{place}: `{key}` takes {expected}, not {found}")]
    WrongType {
        /// Where it stands.
        place: Box<ValuePlace>,
        /// The dotted name of the key.
        key: String,
        /// What the key takes.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// A value of the right type that still cannot be.
    #[error("{place}: `{key}` cannot be {found}: {problem}")]
    BadValue {
        /// Where it stands.
        place: Box<ValuePlace>,
        /// The dotted name of the key.
        key: String,
        /// The value, as JSON.
        found: String,
        /// What is wrong with it.
        problem: String,
        /// The valid value that was probably meant.
        nearest: Option<String>,
    },
    /// A project's file sets what only the person may decide.
    #[error("{place}: `{key}` cannot be set by a project")]
    NotForProjects {
        /// Where it stands.
        place: Box<ValuePlace>,
        /// The dotted name of the key.
        key: String,
        /// The user's own config, if there can be one.
        own: Option<PathBuf>,
    },
    /// Nothing says where runs are kept.
    #[error("there is no place for runs: neither HOME nor TRAMLINE_HOME names a folder")]
    NoStore,
    /// The folder for runs is not named from the root of the file system, so that each project would have another.
    #[error("the folder for runs, {}, is not an absolute path ({origin})", path.display())]
    RelativeStore {
        /// The folder as it was given.
        path: PathBuf,
        /// What named it.
        origin: String,
    },
    /// The checked values do not make up a config. This is a fault of ours.
    #[error("the settings could not be put together")]
    Inconsistent {
        /// What did not fit.
        #[source]
        source: serde_json::Error,
    },
}

impl ConfigError {
    /// A short, stable name of what went wrong.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } => "io_failed",
            Self::Inconsistent { .. } => "internal",
            _ => "config_invalid",
        }
    }

    /// Whether it is about what was typed just now, and not about what stands somewhere.
    pub fn is_typed(&self) -> bool {
        let (Self::Malformed { place, .. }
        | Self::UnknownKey { place, .. }
        | Self::WrongType { place, .. }
        | Self::BadValue { place, .. }
        | Self::NotForProjects { place, .. }) = self
        else {
            return false;
        };
        matches!(**place, ValuePlace::Flag(_))
    }

    /// What can be done about it, where somebody can do something.
    pub fn suggestion(&self) -> Option<String> {
        match self {
            Self::UnknownKey {
                nearest: Some(nearest),
                ..
            } => Some(format!("did you mean `{nearest}`?")),
            Self::UnknownKey { valid, .. } if valid.len() > MOST_LISTED => {
                Some("see all keys with `tm config show`".to_owned())
            }
            Self::UnknownKey { valid, .. } => Some(format!("valid here: {}", valid.join(", "))),
            Self::BadValue {
                nearest: Some(nearest),
                ..
            } => Some(format!("did you mean {nearest:?}?")),
            Self::WrongType { key, expected, .. } => Some(format!("give `{key}` {expected}")),
            Self::Malformed { .. } if self.is_typed() => {
                Some("give it as JSON, a list such as '[\"package-lock.json\"]'".to_owned())
            }
            Self::Malformed { place, .. } => Some(format!("mend the JSON at {place}")),
            Self::BadValue { place, key, .. } if matches!(**place, ValuePlace::Flag(_)) => {
                Some(format!("`tm config show` has what `{key}` is now"))
            }
            Self::BadValue { place, key, .. } => Some(format!("correct `{key}`: {place}")),
            Self::NotForProjects { key, own, .. } => Some(match own {
                Some(own) => format!(
                    "take `{key}` out: where your runs lie is not the repository's to say; your own settings are in {}",
                    own.display()
                ),
                None => {
                    format!("take `{key}` out: where your runs lie is not the repository's to say")
                }
            }),
            Self::NoStore => Some("set HOME, or TRAMLINE_HOME to an absolute path".to_owned()),
            Self::RelativeStore { .. } => {
                Some("give an absolute path, or one that begins with `~/`".to_owned())
            }
            Self::Io { path, .. } => Some(format!("make {} readable", path.display())),
            Self::Inconsistent { .. } => None,
        }
    }
}
