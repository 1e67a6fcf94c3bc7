//! What can go wrong with tasks.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::Status;
use super::json;

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl Place {
    pub(super) fn of(path: &std::path::Path, text: &str, offset: usize) -> Self {
        let (line, column) = json::line_and_column(text, offset);
        Self {
            path: path.to_owned(),
            line,
            column,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path.display(), self.line, self.column)
    }
}

/// Why tasks could not be read, planned or written. The file was not touched, whatever it says.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// There is no such file.
    #[error("there is no {}", path.display())]
    NoFile {
        /// The file looked for.
        path: PathBuf,
    },
    /// The system refused an operation on a file.
    #[error("could not {operation} {}", path.display())]
    Io {
        /// `read`, `write`, …
        operation: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The file is too big to be a list of tasks.
    #[error("{} has {size} bytes; at most {limit} are read", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
        /// The bound in bytes.
        limit: u64,
    },
    /// The file is not what it should be as a text: not UTF-8, not JSON, not a checklist.
    #[error("{place}: {message}")]
    Malformed {
        /// Where reading stopped.
        place: Place,
        /// What is wrong there.
        message: String,
    },
    /// The text is well formed, but a value in it is not what belongs there.
    #[error("{place}: {of}: {problem}")]
    BadField {
        /// Where the value stands.
        place: Place,
        /// Whose value it is, such as ``subtask 1.2, `status` ``.
        of: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The tag is not in the file.
    #[error("{} has no tag `{tag}`", path.display())]
    UnknownTag {
        /// The file.
        path: PathBuf,
        /// The tag looked for.
        tag: String,
        /// The tags that it has.
        tags: Vec<String>,
    },
    /// A tag or an id cannot be used in names of files and branches.
    #[error("the {kind} {name:?} cannot be used: {problem}")]
    BadName {
        /// `tag`, `task id` or `subtask id`.
        kind: &'static str,
        /// The name.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The source has no task of this id.
    #[error("there is no task `{id}` in {source_name}")]
    UnknownTask {
        /// The id looked for.
        id: String,
        /// Where it was looked for.
        source_name: String,
        /// Ids that the source has, at most twenty.
        known: Vec<String>,
    },
    /// The id is that of a subtask, where a task is wanted.
    #[error("`{id}` is a subtask; only a whole task can be started")]
    IsSubtask {
        /// The id given.
        id: String,
        /// The task that it belongs to.
        task: String,
    },
    /// Two tasks or subtasks have the same id.
    #[error("the id `{id}` is used twice in {of}")]
    DuplicateId {
        /// The id.
        id: String,
        /// The source, or the task for a subtask.
        of: String,
    },
    /// A subtask depends on one that does not exist.
    #[error("subtask {subtask} depends on `{dependency}`, which does not exist")]
    UnknownDependency {
        /// The subtask.
        subtask: String,
        /// What it names.
        dependency: String,
    },
    /// A subtask depends on itself.
    #[error("subtask {subtask} depends on itself")]
    SelfDependency {
        /// The subtask.
        subtask: String,
    },
    /// Subtasks depend on each other in a circle.
    #[error("the subtasks depend on each other in a circle: {}", path.join(" -> "))]
    Cycle {
        /// The circle: each one depends on the next, and the first is also the last.
        path: Vec<String>,
    },
    /// Nothing is left to do.
    #[error("every subtask of task {task} is done already")]
    AllDone {
        /// The task.
        task: String,
    },
    /// Something is left to do, but none of it may be run now.
    #[error("no subtask of task {task} can be run: {}", reasons.join("; "))]
    NothingRunnable {
        /// The task.
        task: String,
        /// One sentence for each that was left out.
        reasons: Vec<String>,
    },
    /// The file is neither as it was read nor as it should become.
    #[error("{} was changed by something else since it was read", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A rewrite does not lead from its old content to its new one.
    #[error("the recorded change of {} does not fit: {problem}", path.display())]
    BadRewrite {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        problem: &'static str,
    },
    /// A status that cannot be written.
    #[error("the status {status:?} for `{id}` cannot be written: {problem}")]
    BadStatus {
        /// Whose status.
        id: String,
        /// The status.
        status: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A title given on the command line, or standing in a plan, is empty.
    #[error("{of} has no title")]
    NoTitle {
        /// What has none.
        of: String,
    },
}

impl TaskError {
    /// A short, stable name of what went wrong.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoFile { .. } => "tasks_missing",
            Self::Io { .. } | Self::TooLarge { .. } => "io_failed",
            Self::Malformed { .. }
            | Self::BadField { .. }
            | Self::DuplicateId { .. }
            | Self::BadRewrite { .. }
            | Self::BadStatus { .. } => "tasks_invalid",
            Self::UnknownTag { .. } | Self::UnknownTask { .. } | Self::IsSubtask { .. } => {
                "not_found"
            }
            Self::BadName { .. } => "bad_name",
            Self::UnknownDependency { .. } | Self::SelfDependency { .. } | Self::Cycle { .. } => {
                "bad_dependencies"
            }
            Self::AllDone { .. } => "all_done",
            Self::NothingRunnable { .. } => "needs_unmet",
            Self::Changed { .. } => "changed_since",
            Self::NoTitle { .. } => "usage",
        }
    }

    /// What can be done about it, where somebody can do something.
    pub fn suggestion(&self) -> Option<String> {
        match self {
            Self::NoFile { .. } => Some(
                "name the work yourself, by a title and its subtasks, or give a Markdown checklist as a plan"
                    .to_owned(),
            ),
            Self::Malformed { .. } | Self::BadField { .. } => {
                Some("mend the file there; it was not changed".to_owned())
            }
            Self::UnknownTag { tags, tag, .. } if tags.is_empty() => {
                Some(format!("the file has no tags at all; add tasks under `{tag}` first"))
            }
            Self::UnknownTag { tags, .. } => Some(format!("name one of these tags: {}", first(tags))),
            Self::UnknownTask { known, .. } if known.is_empty() => {
                Some("the source has no tasks".to_owned())
            }
            Self::UnknownTask { id, known, .. } => Some(match nearest(id, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("use one of: {}", known.join(", ")),
            }),
            Self::IsSubtask { task, .. } => Some(format!("start task `{task}`")),
            Self::DuplicateId { .. } => Some("give one of the two another id".to_owned()),
            Self::UnknownDependency { subtask, .. }
            | Self::SelfDependency { subtask }
            => Some(format!("correct the dependencies of subtask {subtask}")),
            Self::Cycle { .. } => Some("take one of these dependencies away".to_owned()),
            Self::AllDone { .. } => {
                Some("set a subtask back to `pending` to have it run again".to_owned())
            }
            Self::NothingRunnable { .. } => {
                Some("do first what it waits for (`tm tasks list` shows circles), or set what is deferred or blocked back to `pending`".to_owned())
            }
            Self::Changed { .. } => Some("try again".to_owned()),
            Self::NoTitle { .. } => Some("say in a few words what it is about".to_owned()),
            Self::Io { operation, path, .. } => Some(format!(
                "see to it that one can {operation} {}, then try again",
                path.display()
            )),
            Self::TooLarge { .. } => Some("move tasks that are done to another file".to_owned()),
            Self::BadName { kind, .. } => Some(format!(
                "give the {kind} another name, of letters, digits, `-` and `_`"
            )),
            Self::BadRewrite { path, .. } => Some(format!(
                "look at {}: something else writes it too",
                path.display()
            )),
            Self::BadStatus { .. } => {
                Some("use another status, such as `review` or `done`".to_owned())
            }
        }
    }

    pub(super) fn io(operation: &'static str, path: &std::path::Path, source: io::Error) -> Self {
        if operation == "read" && source.kind() == io::ErrorKind::NotFound {
            return Self::NoFile {
                path: path.to_owned(),
            };
        }
        Self::Io {
            operation,
            path: path.to_owned(),
            source,
        }
    }
}

/// The known id that was probably meant.
fn nearest<'a>(id: &str, known: &'a [String]) -> Option<&'a str> {
    // Ids are mostly short numbers, and every number is close to every other: only longer ids are compared.
    if id.chars().count() < 4 {
        return None;
    }
    text::nearest(id, known.iter().map(String::as_str))
}

/// The names, where they are few; the first ones otherwise.
fn first(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let more = if names.len() > SHOWN { ", …" } else { "" };
    names[..names.len().min(SHOWN)].join(", ") + more
}

/// A sentence about a status that keeps something from being run.
pub(super) fn why_left_out(id: &str, status: &Status) -> String {
    format!("subtask {id} is {status}")
}
