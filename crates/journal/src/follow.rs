//! New events as they come, for whoever watches a run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::JournalError;
use crate::file::{extent, open_to_read, settled};
use crate::position::Position;
use crate::record::Record;

/// Reads what was appended since it last looked. It has no thread: the caller says when to look.
#[derive(Clone, Debug)]
pub struct Follower {
    path: PathBuf,
    position: Position,
}

impl Follower {
    /// Follows the journal file `path` from `from` on. The file need not be there yet.
    pub fn new(path: impl Into<PathBuf>, from: Position) -> Self {
        Self {
            path: path.into(),
            position: from,
        }
    }

    /// The events of the units that were completed since the last call, in order; often none.
    ///
    /// A unit that is being written, or that is torn and will be cut off, is not seen.
    /// [`JournalError::PositionLost`] says that the journal was replaced, as a repair does.
    pub fn poll(&mut self) -> Result<Vec<Record>, JournalError> {
        self.poll_within(u64::MAX)
    }

    /// As [`Follower::poll`], but only those of the next `most` bytes, or of the next unit where that is longer. A long journal is
    /// read piece by piece so, and never held as a whole.
    pub fn poll_within(&mut self, most: u64) -> Result<Vec<Record>, JournalError> {
        match fs::metadata(&self.path) {
            // Cheap and frequent. A file of this very length that is another one shows as soon as it grows.
            Ok(found) if found.len() == self.position.offset => return Ok(Vec::new()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.position.is_start() => {
                return Ok(Vec::new());
            }
            Err(error) => return Err(JournalError::io("look at", &self.path)(error)),
        }
        let tail = settled(|| {
            let file = open_to_read(&self.path)?;
            let mut whole = extent(&file, &self.path)?;
            let mut most = most.max(1);
            loop {
                let end = self.position.offset.saturating_add(most).min(whole.len);
                let tail = whole.cut(end).read(&self.position)?;
                if end == whole.len || !tail.records.is_empty() {
                    return Ok(tail);
                }
                most = most.saturating_mul(2);
            }
        })?;
        self.position = tail.head.position();
        Ok(tail.records)
    }

    /// Where the next call goes on.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The journal file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
