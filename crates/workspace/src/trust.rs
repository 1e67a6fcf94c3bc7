//! What of a repository a person trusted, as it was then: the commands of its profiles, its workflows, its test command.
//!
//! The list lies beside the user's own config, never in a project: what comes with a repository cannot trust itself.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use journal::durable;
use serde::{Deserialize, Serialize};

use crate::person;

const FILE_NAME: &str = "trusted.json";
/// Stays where it is for ever: removing it would let two processes each hold a lock on a file of that name.
const LOCK_NAME: &str = "trusted.lock";
const VERSION: u32 = 1;
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// How long another process that changes the list is waited for.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The list of what was trusted.
#[derive(Debug, Clone)]
pub struct TrustStore {
    folder: PathBuf,
}

/// What can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Subject {
    /// The commands of a profile.
    Profile,
    /// A workflow: what it asks for, and who decides at its gates.
    Workflow,
    /// The commands that test a project, to be run without being asked for.
    Tests,
    /// Its linters, formatters and type checkers, which are run whenever work is reported.
    Checks,
}

/// That a person trusted something as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trusted {
    /// What it is.
    pub subject: Subject,
    /// The profile's folder, the workflow's file, or the project's root, with symbolic links resolved.
    pub path: PathBuf,
    /// What it is called.
    pub name: String,
    /// The SHA-256 of its bytes.
    pub hash: String,
    /// When, in UTC.
    pub at: String,
    /// The SHA-256 of each thing that it does, by which one that was changed is told from the others.
    #[serde(default)]
    pub parts: Vec<String>,
}

impl Trusted {
    fn is(&self, subject: Subject, path: &Path) -> bool {
        self.subject == subject && self.path == path
    }
}

#[derive(Serialize, Deserialize)]
struct Listed {
    version: u32,
    trusted: Vec<Trusted>,
}

/// Why the list of what is trusted cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the list of what is trusted, {}, {problem}", path.display())]
pub struct TrustError {
    path: PathBuf,
    problem: String,
    source: Option<io::Error>,
}

impl TrustError {
    /// A short, stable name of what went wrong.
    pub fn code(&self) -> &'static str {
        "io_failed"
    }

    /// What can be done about it.
    pub fn suggestion(&self) -> String {
        format!(
            "see to {}; if it is taken away, what was trusted must be trusted anew",
            self.path.display()
        )
    }
}

impl TrustStore {
    /// The list in a folder of the user's own, such as `~/.taskmaster`. Neither has to be there yet.
    pub fn in_folder(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// Whether a person trusted what lies at `path` with this hash.
    pub fn is_trusted(
        &self,
        subject: Subject,
        path: &Path,
        hash: &str,
    ) -> Result<bool, TrustError> {
        let listed = self.read()?;
        Ok(listed
            .iter()
            .any(|one| one.is(subject, path) && one.hash == hash))
    }

    /// What a person trusted it as last, whatever it is now.
    pub fn last(&self, subject: Subject, path: &Path) -> Result<Option<Trusted>, TrustError> {
        let mut listed = self.read()?.into_iter();
        Ok(listed.rfind(|one| one.is(subject, path)))
    }

    /// All that was trusted, the oldest first.
    pub fn all(&self) -> Result<Vec<Trusted>, TrustError> {
        self.read()
    }

    /// Notes that a person trusts something as it is, beside what was trusted before.
    pub fn trust(
        &self,
        subject: Subject,
        path: &Path,
        name: &str,
        hash: &str,
        parts: &[String],
    ) -> Result<(), TrustError> {
        self.change(|listed| {
            let known = listed
                .iter()
                .any(|one| one.is(subject, path) && one.hash == hash);
            if !known {
                listed.push(Trusted {
                    subject,
                    path: path.to_owned(),
                    name: name.to_owned(),
                    hash: hash.to_owned(),
                    at: Timestamp::now().to_string(),
                    parts: parts.to_vec(),
                });
            }
            !known
        })
        .map(drop)
    }

    /// Takes back all trust in it; whether there was any.
    pub fn revoke(&self, subject: Subject, path: &Path) -> Result<bool, TrustError> {
        self.change(|listed| {
            let before = listed.len();
            listed.retain(|one| !one.is(subject, path));
            listed.len() < before
        })
    }

    fn path(&self) -> PathBuf {
        self.folder.join(FILE_NAME)
    }

    fn fault(&self, problem: &str, source: Option<io::Error>) -> TrustError {
        TrustError {
            path: self.path(),
            problem: problem.to_owned(),
            source,
        }
    }

    fn failed(&self, problem: &'static str) -> impl FnOnce(io::Error) -> TrustError {
        let store = self.clone();
        move |error| store.fault(problem, Some(error))
    }

    fn read(&self) -> Result<Vec<Trusted>, TrustError> {
        let mut file = match File::open(self.path()) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.fault("cannot be read", Some(error))),
        };
        let metadata = file.metadata().map_err(self.failed("cannot be read"))?;
        if metadata.permissions().mode() & 0o022 != 0 {
            return Err(self.fault("can be written by others: take that permission away", None));
        }
        if !person::is_own(&metadata) {
            return Err(self.fault("belongs to another user: it has to be yours", None));
        }
        let real = fs::canonicalize(self.path()).map_err(self.failed("cannot be read"))?;
        let mut folders = [Some(self.folder.as_path()), real.parent()].into_iter();
        if !folders.all(|folder| folder.is_some_and(person::keeps_names)) {
            let problem = "lies in a folder that others can write to: take that permission away";
            return Err(self.fault(problem, None));
        }
        let mut text = Vec::new();
        (&mut file)
            .take(MOST_BYTES + 1)
            .read_to_end(&mut text)
            .map_err(self.failed("cannot be read"))?;
        if text.len() as u64 > MOST_BYTES {
            return Err(self.fault("is too long", None));
        }
        let listed: Listed = serde_json::from_slice(&text)
            .map_err(|error| self.fault(&format!("is damaged: {error}"), None))?;
        if listed.version != VERSION {
            return Err(self.fault("was written by another version of tm", None));
        }
        Ok(listed.trusted)
    }

    /// Changes the list, one process at a time; whether there was something to change.
    fn change(&self, change: impl FnOnce(&mut Vec<Trusted>) -> bool) -> Result<bool, TrustError> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)
            .map_err(self.failed("has no folder, and none can be made"))?;
        let _turn = self.turn()?;
        let mut trusted = self.read()?;
        if !change(&mut trusted) {
            return Ok(false);
        }
        let listed = Listed {
            version: VERSION,
            trusted,
        };
        let mut text = serde_json::to_vec_pretty(&listed)
            .map_err(|error| self.fault(&format!("cannot hold this: {error}"), None))?;
        text.push(b'\n');
        durable::replace_durably(&self.path(), &text).map_err(self.failed("cannot be written"))?;
        Ok(true)
    }

    /// Takes the lock. It is given back when the file is closed.
    fn turn(&self) -> Result<File, TrustError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(self.folder.join(LOCK_NAME))
            .map_err(self.failed("cannot be locked"))?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => {
                    return Err(self.fault("cannot be locked", Some(error)));
                }
                Err(TryLockError::WouldBlock) if begun.elapsed() < LONGEST_WAIT => {
                    thread::sleep(Duration::from_millis(5));
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(self.fault("is being changed by another process", None));
                }
            }
        }
    }
}
