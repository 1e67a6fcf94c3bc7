//! Bytes that were taken in or given out, kept by their hash in the `evidence` folder of a run.
//!
//! They cannot be rebuilt from the journal, so they are on the disk before an event names them.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::digest::{is_sha256_hex, sha256_hex};
use crate::error::advice;
use crate::{derived, durable};

/// The name of the folder in the folder of its run.
pub const FOLDER_NAME: &str = "evidence";

/// The evidence of one run.
#[derive(Clone, Debug)]
pub struct EvidenceStore {
    folder: PathBuf,
}

/// Why a piece of evidence could not be kept or given back.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EvidenceError {
    /// There is no evidence with this hash.
    #[error("the evidence {sha256} is missing; it was looked for at {}", path.display())]
    Missing {
        /// The hash.
        sha256: String,
        /// Where its file belongs.
        path: PathBuf,
    },
    /// The file of this hash has other content.
    #[error("the evidence {} was changed: its content now has the hash {found}", path.display())]
    Changed {
        /// The hash.
        sha256: String,
        /// The hash of what is there.
        found: String,
        /// The file.
        path: PathBuf,
    },
    /// What was asked for is not a hash.
    #[error("{0:?} is not a SHA-256 in lower-case hex")]
    NotAHash(String),
    /// The file or its folder could not be used.
    #[error("could not {doing} the evidence {}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

impl EvidenceError {
    /// What a user can do about it, where there is something to be done.
    pub fn suggestion(&self) -> Option<String> {
        match self {
            Self::Missing { .. } | Self::Changed { .. } => Some(
                "bring the file back from a copy; without one, step back to where it was reported and report that again, or end the run and begin another: what was committed stays".to_owned(),
            ),
            Self::Io { source, .. } => Some(advice(source).to_owned()),
            Self::NotAHash(_) => None,
        }
    }
}

impl EvidenceStore {
    /// The evidence of the run in the folder `run`.
    pub fn new(run: &Path) -> Self {
        Self {
            folder: run.join(FOLDER_NAME),
        }
    }

    /// The folder that the evidence lies in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the bytes with this SHA-256 lie.
    pub fn path(&self, sha256: &str) -> PathBuf {
        self.folder.join(sha256)
    }

    /// Keeps `bytes` and returns their SHA-256. When this returns, they are on the disk.
    ///
    /// What is there already is not written again, unless its content was spoilt.
    pub fn put(&self, bytes: &[u8]) -> Result<String, EvidenceError> {
        let sha256 = sha256_hex(bytes);
        let path = self.folder.join(&sha256);
        match self.keep(&path, bytes) {
            Ok(()) => Ok(sha256),
            Err(source) => Err(EvidenceError::Io {
                doing: "keep",
                path,
                source,
            }),
        }
    }

    fn keep(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if durable::read_if_there(path)?.is_some_and(|content| content == bytes) {
            // Whoever wrote it may have been killed before its name was on the disk.
            return durable::sync_folder(&self.folder);
        }
        durable::ensure_folder(&self.folder)?;
        durable::replace_durably(path, bytes)
    }

    /// Keeps bytes that stand in the journal too, without a sync: what a crash leaves of them is not used.
    pub fn cache(&self, bytes: &[u8]) -> io::Result<()> {
        let path = self.folder.join(sha256_hex(bytes));
        let make = || {
            let mut options = File::options();
            options.write(true).create_new(true).mode(0o600);
            options.open(&path)
        };
        let made = match make() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                durable::ensure_folder(&self.folder)?;
                make()
            }
            made => made,
        };
        match made {
            Ok(mut file) => file.write_all(bytes),
            // It may be torn.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                derived::replace_if_changed(&path, bytes).map(|_| ())
            }
            Err(error) => Err(error),
        }
    }

    /// Whether something lies where the bytes with this SHA-256 belong, whatever it holds.
    pub fn has(&self, sha256: &str) -> bool {
        is_sha256_hex(sha256) && self.folder.join(sha256).exists()
    }

    /// The bytes with this SHA-256, checked against it.
    pub fn get(&self, sha256: &str) -> Result<Vec<u8>, EvidenceError> {
        if !is_sha256_hex(sha256) {
            return Err(EvidenceError::NotAHash(sha256.to_owned()));
        }
        let path = self.folder.join(sha256);
        match durable::read_if_there(&path) {
            Err(source) => Err(EvidenceError::Io {
                doing: "read",
                path,
                source,
            }),
            Ok(None) => Err(EvidenceError::Missing {
                sha256: sha256.to_owned(),
                path,
            }),
            Ok(Some(bytes)) => {
                let found = sha256_hex(&bytes);
                if found == sha256 {
                    Ok(bytes)
                } else {
                    Err(EvidenceError::Changed {
                        sha256: sha256.to_owned(),
                        found,
                        path,
                    })
                }
            }
        }
    }
}
