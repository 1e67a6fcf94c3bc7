//! A change of a few bytes of a file that belongs to the user, as a value: recorded first, then carried out, taken back,
//! or recognised as done, whatever happened in between.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use journal::durable;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{StatusChange, TaskError};

/// Files of more bytes than this are not read.
pub(super) const MAX_FILE: u64 = 64 * 1024 * 1024;

/// Some bytes of a text, and what takes their place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Splice {
    /// Where in the old file, in bytes.
    pub offset: usize,
    /// What stands there; empty where something is put in.
    pub old: String,
    /// What shall stand there.
    pub new: String,
}

/// A change of one file, from one exact content to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rewrite {
    /// The file itself, symbolic links followed.
    pub path: PathBuf,
    /// SHA-256 of the content that it starts from, in hexadecimal.
    pub old_sha256: String,
    /// SHA-256 of the content that it leads to.
    pub new_sha256: String,
    /// What changes, by rising offset.
    pub splices: Vec<Splice>,
    /// What it is for; empty where it is not about a status.
    pub changes: Vec<StatusChange>,
}

/// What [`Rewrite::apply`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    /// The file has the new content now.
    Done,
    /// It had it before.
    AlreadyDone,
}

/// What [`Rewrite::revert`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RevertOutcome {
    /// The file has the old content again.
    Done,
    /// It had the old content still.
    NotNeeded,
    /// It has some other content, which is somebody else's, and stays.
    LeftAlone,
}

/// Which content a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState {
    /// The one that the rewrite starts from.
    Old,
    /// The one that it leads to.
    New,
    /// Neither; or there is no file.
    Other,
}

impl Rewrite {
    /// A rewrite of a file that was just read; `None` where no byte would change.
    pub(super) fn new(
        path: PathBuf,
        text: &str,
        mut splices: Vec<Splice>,
        changes: &[StatusChange],
    ) -> Result<Option<Self>, TaskError> {
        splices.retain(|splice| splice.old != splice.new);
        if splices.is_empty() {
            return Ok(None);
        }
        splices.sort_by_key(|splice| splice.offset);
        let mut rewrite = Self {
            path,
            old_sha256: sha256(text.as_bytes()),
            new_sha256: String::new(),
            splices,
            changes: changes.to_vec(),
        };
        rewrite.new_sha256 = sha256(&rewrite.forward(text.as_bytes())?);
        Ok(Some(rewrite))
    }

    /// Writes the new content, where the file has the old one.
    ///
    /// The replacement is atomic, synced, and keeps the file's mode.
    pub fn apply(&self) -> Result<Applied, TaskError> {
        let (bytes, state) = self.read()?;
        match state {
            FileState::New => {
                // Whoever did it may have been killed before it was durable.
                self.sync_folder()?;
                Ok(Applied::AlreadyDone)
            }
            FileState::Other => Err(TaskError::Changed {
                path: self.path.clone(),
            }),
            FileState::Old => {
                let new = self.forward(&bytes)?;
                if sha256(&new) != self.new_sha256 {
                    return Err(self.unfit("its new content has another hash"));
                }
                self.replace(&bytes, &new)?;
                Ok(Applied::Done)
            }
        }
    }

    /// Puts the old content back, where the file has the new one.
    pub fn revert(&self) -> Result<RevertOutcome, TaskError> {
        let (bytes, state) = match self.read() {
            Ok(read) => read,
            Err(TaskError::NoFile { .. }) => return Ok(RevertOutcome::LeftAlone),
            Err(error) => return Err(error),
        };
        match state {
            FileState::Old => Ok(RevertOutcome::NotNeeded),
            FileState::Other => Ok(RevertOutcome::LeftAlone),
            FileState::New => {
                let old = self.backward(&bytes)?;
                if sha256(&old) != self.old_sha256 {
                    return Err(self.unfit("its old content has another hash"));
                }
                match self.replace(&bytes, &old) {
                    Ok(()) => Ok(RevertOutcome::Done),
                    Err(TaskError::Changed { .. }) => Ok(RevertOutcome::LeftAlone),
                    Err(error) => Err(error),
                }
            }
        }
    }

    /// Which content the file has now.
    pub fn state(&self) -> Result<FileState, TaskError> {
        match self.read() {
            Ok((_, state)) => Ok(state),
            Err(TaskError::NoFile { .. }) => Ok(FileState::Other),
            Err(error) => Err(error),
        }
    }

    fn read(&self) -> Result<(Vec<u8>, FileState), TaskError> {
        let bytes = read_bounded(&self.path)?;
        let hash = sha256(&bytes);
        let state = if hash == self.new_sha256 {
            FileState::New
        } else if hash == self.old_sha256 {
            FileState::Old
        } else {
            FileState::Other
        };
        Ok((bytes, state))
    }

    fn unfit(&self, problem: &'static str) -> TaskError {
        TaskError::BadRewrite {
            path: self.path.clone(),
            problem,
        }
    }

    fn forward(&self, old: &[u8]) -> Result<Vec<u8>, TaskError> {
        let pairs = self
            .splices
            .iter()
            .map(|s| (Some(s.offset), s.old.as_str(), s.new.as_str()));
        self.spliced(old, pairs)
    }

    fn backward(&self, new: &[u8]) -> Result<Vec<u8>, TaskError> {
        // Every splice before it has moved what follows by the difference of the two lengths.
        let mut removed = 0_usize;
        let mut added = 0_usize;
        let pairs = self.splices.iter().map(|splice| {
            let offset = splice
                .offset
                .checked_add(added)
                .and_then(|at| at.checked_sub(removed));
            removed = removed.saturating_add(splice.old.len());
            added = added.saturating_add(splice.new.len());
            (offset, splice.new.as_str(), splice.old.as_str())
        });
        self.spliced(new, pairs)
    }

    fn spliced<'a>(
        &self,
        from: &[u8],
        pairs: impl Iterator<Item = (Option<usize>, &'a str, &'a str)>,
    ) -> Result<Vec<u8>, TaskError> {
        let mut result = Vec::with_capacity(from.len() + 64);
        let mut at = 0;
        for (offset, found, put) in pairs {
            let offset = offset.ok_or_else(|| self.unfit("an offset lies outside the file"))?;
            let kept = from
                .get(at..offset)
                .ok_or_else(|| self.unfit("its places overlap"))?;
            let end = offset
                .checked_add(found.len())
                .filter(|end| from.get(offset..*end) == Some(found.as_bytes()))
                .ok_or_else(|| self.unfit("something else stands at a recorded place"))?;
            result.extend_from_slice(kept);
            result.extend_from_slice(put.as_bytes());
            at = end;
        }
        result.extend_from_slice(&from[at..]);
        Ok(result)
    }

    /// A new name is durable only when the folder that holds it is.
    fn sync_folder(&self) -> Result<(), TaskError> {
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        durable::sync_folder(folder).map_err(|source| TaskError::io("sync", folder, source))
    }

    fn replace(&self, expected: &[u8], content: &[u8]) -> Result<(), TaskError> {
        let write_error = |source| TaskError::io("write", &self.path, source);
        let metadata = fs::metadata(&self.path).map_err(write_error)?;
        let mut temporary = durable::aside_of(&self.path, 0o600).map_err(write_error)?;
        temporary.write_all(content).map_err(write_error)?;
        let file = temporary.as_file();
        if metadata.uid() != file.metadata().map_err(write_error)?.uid() {
            // Only root may do this, and only root needs it: a file edited with `sudo` stays its owner's.
            let _ = std::os::unix::fs::fchown(file, Some(metadata.uid()), Some(metadata.gid()));
        }
        file.set_permissions(metadata.permissions())
            .map_err(write_error)?;
        file.sync_all().map_err(write_error)?;
        // Somebody may have saved the file while this was written. Looking once more, right before the replacement,
        // leaves only an instant in which an edit could be lost.
        if read_bounded(&self.path)? != expected {
            return Err(TaskError::Changed {
                path: self.path.clone(),
            });
        }
        durable::put_in_place(temporary, &self.path, true).map_err(write_error)
    }
}

/// Reads a regular file, up to the bound.
pub(super) fn read_bounded(path: &Path) -> Result<Vec<u8>, TaskError> {
    let read_error = |source| TaskError::io("read", path, source);
    // Opening a named pipe would wait for a writer that may never come.
    let metadata = fs::metadata(path).map_err(read_error)?;
    if !metadata.is_file() {
        return Err(read_error(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        )));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes))
        .map_err(read_error)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(TaskError::TooLarge {
            path: path.to_owned(),
            size: metadata.len().max(bytes.len() as u64),
            limit: MAX_FILE,
        });
    }
    Ok(bytes)
}

/// Reads a text file, and says where it is not UTF-8.
pub(super) fn read_text(path: &Path) -> Result<String, TaskError> {
    String::from_utf8(read_bounded(path)?).map_err(|error| {
        let upto = error.utf8_error().valid_up_to();
        let valid = String::from_utf8_lossy(&error.as_bytes()[..upto]).into_owned();
        TaskError::Malformed {
            place: super::Place::of(path, &valid, upto),
            message: "not UTF-8 text".to_owned(),
        }
    })
}

/// The real path of a file that exists.
pub(super) fn real_path(path: &Path) -> Result<PathBuf, TaskError> {
    fs::canonicalize(path).map_err(|source| TaskError::io("read", path, source))
}

fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes)
        .iter()
        .fold(String::with_capacity(64), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}
