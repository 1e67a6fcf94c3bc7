//! What can be wrong with a profile, and with what is asked of it.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::trust::TrustError;

/// Where in a profile's files something stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file; of a built-in profile, its name.
    pub file: PathBuf,
    /// Line, from 1; 0 where it is about the file as a whole.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(f, "{}", self.file.display())
        } else {
            write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
        }
    }
}

/// One input that cannot be taken as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFault {
    /// The input.
    pub name: String,
    /// What is wrong with it.
    pub problem: InputProblem,
    /// What to do about it.
    pub suggestion: String,
}

/// What is wrong with an input.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputProblem {
    /// The profile has none of that name.
    Unknown,
    /// It must be given, and was not.
    Missing,
    /// It must hold something, and does not.
    Blank,
    /// It is of another type.
    WrongType {
        /// What was given, shortened.
        given: String,
        /// What is taken.
        expected: &'static str,
    },
    /// It is none of those that are possible.
    NotAChoice {
        /// What was given, shortened.
        given: String,
        /// Those that are possible.
        choices: Vec<String>,
    },
    /// All inputs together are too long.
    TooLong {
        /// How many bytes they take.
        bytes: usize,
        /// How many they may take.
        most: usize,
    },
}

impl fmt::Display for InputFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match &self.problem {
            InputProblem::Unknown => write!(f, "there is no input `{name}`"),
            InputProblem::Missing => write!(f, "the input `{name}` is missing"),
            InputProblem::Blank => write!(f, "the input `{name}` is blank"),
            InputProblem::WrongType { given, expected } => {
                write!(f, "the input `{name}` takes {expected}, not {given}")
            }
            InputProblem::NotAChoice { given, choices } => write!(
                f,
                "the input `{name}` cannot be {given}: it is one of {}",
                choices.join(", ")
            ),
            InputProblem::TooLong { bytes, most } => write!(
                f,
                "the inputs take {bytes} bytes, and {most} are the most; the longest is `{name}`"
            ),
        }
    }
}

/// Why a profile cannot be used as it was asked to be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// What cannot be the name of a profile.
    #[error("{name:?} cannot be the name of a profile: {flaw}")]
    BadName {
        /// The name.
        name: String,
        /// What is wrong with it.
        flaw: &'static str,
    },
    /// There is no such profile.
    #[error("there is no profile `{name}`")]
    Unknown {
        /// The name.
        name: String,
        /// The name that was probably meant.
        nearest: Option<String>,
        /// All that there are.
        known: Vec<String>,
        /// Where those for all projects of the user lie.
        user: PathBuf,
    },
    /// A folder has the name of a built-in profile.
    #[error("{} defines the profile `{name}`, which is built in", file.display())]
    Shadows {
        /// The name.
        name: String,
        /// The file that would have to say that it means to.
        file: PathBuf,
    },
    /// The system refused to read something.
    #[error("could not read {}", path.display())]
    Io {
        /// What.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The folder holds what a profile may not hold.
    #[error("{}: {flaw}", path.display())]
    Unsafe {
        /// What is refused.
        path: PathBuf,
        /// Why.
        flaw: String,
        /// What to do about it.
        help: String,
    },
    /// A file does not say what it must, or says what it may not.
    #[error("{place}: {message}")]
    Invalid {
        /// Where.
        place: Box<Place>,
        /// What is wrong there.
        message: String,
        /// What to do about it.
        help: String,
    },
    /// Inputs that cannot be taken, all of them.
    #[error("{}", joined(faults))]
    Inputs {
        /// The profile.
        profile: String,
        /// At least one.
        faults: Vec<InputFault>,
    },
    /// A prompt could not be made of a template.
    #[error("{place}: {message}")]
    Template {
        /// Where it stopped.
        place: Box<Place>,
        /// Why.
        message: String,
        /// What to do about it.
        help: String,
    },
    /// What a session kept of its profile cannot be read back.
    #[error("the profile that was kept cannot be read: {message}")]
    Pin {
        /// What is wrong.
        message: String,
    },
    /// The list of what is trusted cannot be read or written.
    #[error(transparent)]
    Trust(#[from] TrustError),
}

fn joined(faults: &[InputFault]) -> String {
    let all: Vec<String> = faults.iter().map(ToString::to_string).collect();
    all.join("; ")
}

impl ProfileError {
    /// A short, stable name of what went wrong.
    pub fn code(&self) -> &'static str {
        match self {
            Self::BadName { .. } => "bad_name",
            Self::Unknown { .. } => "not_found",
            Self::Io { .. } => "io_failed",
            Self::Unsafe { .. } => "unsafe_path",
            Self::Shadows { .. } | Self::Invalid { .. } => "profile_invalid",
            Self::Inputs { .. } => "usage",
            Self::Template { .. } => "bad_template",
            Self::Pin { .. } => "journal_damaged",
            Self::Trust(error) => error.code(),
        }
    }

    /// What can be done about it.
    pub fn suggestion(&self) -> String {
        match self {
            Self::BadName { .. } => "use letters, digits, `-`, `_` and `.`, at most 64 of them, with a letter or digit first".to_owned(),
            Self::Unknown { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::Unknown { known, user, .. } => format!(
                "there are {}; others would lie in .taskmaster/profiles of the project, or in {}",
                known.join(", "),
                user.display()
            ),
            Self::Shadows { .. } => "rename its folder, or say `shadows: true` in it if it is meant to take the place of the built-in one".to_owned(),
            Self::Io { path, .. } => format!("make {} readable", path.display()),
            Self::Unsafe { help, .. } | Self::Invalid { help, .. } | Self::Template { help, .. } => help.clone(),
            Self::Inputs { faults, .. } => {
                let mut all: Vec<&str> = Vec::new();
                for fault in faults {
                    if !all.contains(&fault.suggestion.as_str()) {
                        all.push(&fault.suggestion);
                    }
                }
                all.join("; ")
            }
            Self::Pin { .. } => "use the tm that began the session, or begin another one".to_owned(),
            Self::Trust(error) => error.suggestion(),
        }
    }
}
