//! What can go wrong with a journal, and what a user can do about it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use crate::lock::Holder;
use crate::position::Head;
use crate::record::{FORMAT_VERSION, MAX_DEPTH, MAX_LINE_BYTES};

/// A place in a journal that cannot be what was written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}, line {line}: {kind}", path.display())]
pub struct Damage {
    /// The journal's file; `(memory)` for a journal in memory.
    pub path: PathBuf,
    /// The line, counted from 1 at the start of the file.
    pub line: u64,
    /// What is wrong with it.
    pub kind: DamageKind,
}

/// What is wrong with a line of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DamageKind {
    /// The line does not have the form of an event.
    #[error("this is not an event: {0}")]
    NotAnEvent(String),
    /// The event's number is not the one that comes next.
    #[error("event {found} stands where event {expected} belongs")]
    Sequence {
        /// The number that comes next.
        expected: u64,
        /// The number found.
        found: u64,
    },
    /// The hash that this line gives for the line before it is another.
    #[error(
        "the line before it does not have the hash recorded here, so one of the two was changed"
    )]
    Chain,
    /// The line's place in its unit does not follow from the line before.
    #[error("place {k} of {n} in its unit stands where {expected} belongs")]
    Unit {
        /// The place found.
        k: u32,
        /// The size of the unit found.
        n: u32,
        /// What should stand here.
        expected: String,
    },
    /// The format version is missing from the first line, is zero, or stands on a later one.
    #[error("the format version belongs on the first line, and only there")]
    Version,
    /// The unit that ends here was changed, or lost the seal that it was written with.
    #[error("the unit that ends here is not as it was written: its seal is missing or another")]
    Seal,
    /// A whole unit is followed by something else than the end of its line.
    #[error("the line is whole, and does not end as lines do")]
    Ending,
    /// The journal is shorter than it was once.
    #[error("the journal ends before it, and had {known} events once, as `{by}` beside it says")]
    Cut {
        /// Events that there were.
        known: u64,
        /// The file that knows.
        by: &'static str,
    },
    /// The line is longer than any that is written.
    #[error("the line is longer than {MAX_LINE_BYTES} bytes")]
    TooLong,
}

/// Why a journal could not be read or appended to.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JournalError {
    /// There is no journal at this path.
    #[error("there is no journal at {}", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The journal is damaged elsewhere than in a torn last unit.
    #[error("the journal is damaged: {0}")]
    Damaged(Damage),
    /// The journal was written in a newer format than this program knows.
    #[error(
        "the journal {} has format version {found}; this program knows versions up to {FORMAT_VERSION}",
        path.display()
    )]
    NewerFormat {
        /// The journal's file; `(memory)` for a journal in memory.
        path: PathBuf,
        /// The version found on its first line.
        found: u64,
    },
    /// The journal does not end where the writer believed.
    #[error(
        "the journal moved on: the append was to follow event {}, but the last event is {}",
        expected.seq,
        found.seq
    )]
    Conflict {
        /// The head that the writer named.
        expected: Box<Head>,
        /// The head that is there.
        found: Box<Head>,
    },
    /// No line with the hash of the position ends where the position says.
    #[error("the journal {} has no event {seq} that ends at byte {offset}", path.display())]
    PositionLost {
        /// The journal's file; `(memory)` for a journal in memory.
        path: PathBuf,
        /// Sequence number of the position.
        seq: u64,
        /// Byte offset of the position.
        offset: u64,
    },
    /// The journal was opened for reading.
    #[error("the journal {} was opened without its lock and cannot be appended to", path.display())]
    NotLocked {
        /// The journal's file.
        path: PathBuf,
    },
    /// The caller handed in something that cannot be an event or a unit.
    #[error("event {event:?} cannot be appended: {flaw}")]
    InvalidEvent {
        /// The event's name; empty when the fault is not that of one event.
        event: String,
        /// What is wrong with it.
        flaw: EventFlaw,
    },
    /// A unit could not be written or flushed. Nothing of it counts, unless `undo` says otherwise.
    #[error(
        "{step} of {bytes} bytes to the journal {} failed; {}",
        path.display(),
        undo_text(undo.as_ref())
    )]
    AppendFailed {
        /// The journal's file.
        path: PathBuf,
        /// What failed: `the write` or `the flush`.
        step: &'static str,
        /// The size of the unit.
        bytes: usize,
        /// Why cutting the file back failed too; `None` when the file is as it was.
        undo: Option<io::Error>,
        /// Why the step failed.
        source: io::Error,
    },
    /// Another process kept the lock for longer than the wait allowed.
    #[error(
        "gave up on the lock {} after {} ms; {}",
        path.display(),
        waited.as_millis(),
        holder_text(holder.as_ref())
    )]
    LockTimeout {
        /// The lock file.
        path: PathBuf,
        /// Who holds it, as far as the file tells. A hint: the holder may have changed since.
        holder: Option<Holder>,
        /// How long was waited.
        waited: Duration,
    },
    /// The caller went away while it waited for its turn. Nothing was done.
    #[error("the wait for the lock {} was cancelled", path.display())]
    Cancelled {
        /// The lock file.
        path: PathBuf,
    },
    /// A file or folder could not be used.
    #[error("could not {doing} {}", path.display())]
    Io {
        /// What was tried, as a verb: `open`, `read`, `cut back`.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

/// Why an event cannot be appended.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EventFlaw {
    /// A unit has at least one event.
    #[error("a unit needs at least one event")]
    EmptyUnit,
    /// A unit has more events than its lines can number.
    #[error("the unit has too many events")]
    UnitTooLarge,
    /// An event has a name.
    #[error("it has no name")]
    NoName,
    /// A field has a name that the line itself uses.
    #[error("the field name {0:?} is reserved")]
    ReservedField(String),
    /// The fields are nested too deeply to be read back.
    #[error("its fields are nested more than {MAX_DEPTH} deep")]
    TooDeep,
    /// The line would be too long to be read back.
    #[error("its line would be longer than {MAX_LINE_BYTES} bytes")]
    TooLong,
    /// The time is not in the one form that is written.
    #[error("{0:?} is not a UTC time such as 2025-10-07T14:30:00.123Z")]
    Time(String),
    /// The fields have no JSON form.
    #[error("its fields cannot be written as JSON: {0}")]
    Json(String),
}

impl JournalError {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
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
            Self::Damaged(Damage { path, .. }) => {
                let run = path.parent().and_then(Path::file_name).unwrap_or_default();
                Some(format!(
                    "bring the journal back from a copy, or keep the whole units before the damage: `tm log repair {}`; where there is none, the run is given up and its folder kept aside",
                    run.to_string_lossy()
                ))
            }
            Self::NewerFormat { .. } => {
                Some("use the version of tm that started this run, or a newer one".to_owned())
            }
            Self::Conflict { .. } | Self::PositionLost { .. } => {
                Some("load the run again and decide anew".to_owned())
            }
            Self::LockTimeout { holder, .. } => Some(match holder {
                Some(holder) => format!(
                    "wait for process {} to end, or look what it is doing",
                    holder.pid
                ),
                None => "try again".to_owned(),
            }),
            Self::AppendFailed { source, .. } | Self::Io { source, .. } => {
                Some(advice(source).to_owned())
            }
            Self::Missing { .. }
            | Self::NotLocked { .. }
            | Self::InvalidEvent { .. }
            | Self::Cancelled { .. } => None,
        }
    }
}

/// What helps against an I/O error. Nothing is half-written, so the same command can always be given again.
pub(crate) fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space on that disk, then repeat the command"
        }
        io::ErrorKind::FileTooLarge => {
            "lift the limit on the size of files, then repeat the command"
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            "make the file system writable, then repeat the command; in the sandbox of an agent's client only the tools of the MCP server get there"
        }
        io::ErrorKind::PermissionDenied => "give your user access to it, then repeat the command",
        io::ErrorKind::NotADirectory => {
            "a file stands where a folder belongs: move it away, or name another folder for the runs with TRAMLINE_HOME"
        }
        _ => "see to the cause, then repeat the command",
    }
}

fn undo_text(undo: Option<&io::Error>) -> String {
    match undo {
        None => "nothing was recorded".to_owned(),
        Some(error) => format!(
            "cutting the file back failed too ({error}), so the next load decides by what is complete"
        ),
    }
}

fn holder_text(holder: Option<&Holder>) -> String {
    match holder {
        Some(holder) => format!("it seems to be held by {holder}"),
        None => "its holder is not known".to_owned(),
    }
}
