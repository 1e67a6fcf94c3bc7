//! The index as it was, to be put back when a commit does not come about.
//!
//! Telling git the name of a new file changes the index: an entry comes in, and where the file lies in what was a file
//! itself, another goes out. Taking out what came in does not bring back what went. So the bytes are kept, and put
//! back if nobody has changed the index in between.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::path::PathBuf;

use super::error::{GitError, GitErrorKind};
use super::repository::Repository;

/// The bytes of the index before a change of ours and, once known, after it.
pub(super) struct IndexCopy {
    index: PathBuf,
    before: Option<(Vec<u8>, Permissions)>,
    after: Option<Vec<u8>>,
}

impl IndexCopy {
    /// Keeps the index as it is now.
    pub(super) fn take(repository: &Repository) -> Result<Self, GitError> {
        let index = repository.git_dir().join("index");
        let cannot = |error| GitError::io(format!("cannot read {}", index.display()), error);
        let before = match fs::read(&index) {
            Ok(bytes) => Some((bytes, fs::metadata(&index).map_err(cannot)?.permissions())),
            // There is none before the first file is added.
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(cannot(error)),
        };
        Ok(Self {
            index,
            before,
            after: None,
        })
    }

    /// Tells that the change was made: from here on, another index is somebody else's work.
    pub(super) fn changed(&mut self) {
        self.after = fs::read(&self.index).ok();
    }

    /// Puts the index back; whether that was done. It is not if somebody changed it since.
    pub(super) fn restore(&self) -> Result<bool, GitError> {
        let Some((before, permissions)) = &self.before else {
            return Ok(false);
        };
        // The lock that every git takes before it writes the index.
        let path = self.index.with_extension("lock");
        let mut lock = match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(lock) => lock,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let message = format!("another git is at work here: {} is there", path.display());
                return Err(GitError::new(
                    GitErrorKind::Busy { lock: Some(path) },
                    message,
                ));
            }
            Err(error) => {
                return Err(GitError::io(
                    format!("cannot make {}", path.display()),
                    error,
                ));
            }
        };
        let mut put_back = || -> io::Result<bool> {
            let now = fs::read(&self.index)?;
            if now == *before {
                fs::remove_file(&path)?;
                return Ok(true);
            }
            if Some(&now) != self.after.as_ref() {
                fs::remove_file(&path)?;
                return Ok(false);
            }
            lock.write_all(before)?;
            lock.set_permissions(permissions.clone())?;
            lock.sync_all()?;
            fs::rename(&path, &self.index)?;
            Ok(true)
        };
        put_back().map_err(|error| {
            // The first error is the one to tell.
            drop(fs::remove_file(&path));
            GitError::io(format!("cannot put {} back", self.index.display()), error)
        })
    }
}
