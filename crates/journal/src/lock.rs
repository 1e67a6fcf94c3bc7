//! Taking turns: an advisory lock on a file, with a bounded wait that can name the holder.

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use crate::digest::checksum;
use crate::durable;
use crate::error::JournalError;
use crate::position::Head;

/// The name of the lock file in the folder that it guards.
pub const FILE_NAME: &str = "lock";

/// What is written about a holder always takes this many bytes. The file is written over in place
/// and never shortened, since some file systems flush a file that was emptied and refilled.
const HOLDER_BYTES: usize = 512;

/// Behind it stands where the journal of the run ended when it was appended to last, in as many bytes. It is written over
/// in place, too, after the journal was flushed, and is not flushed itself: it can be older than the journal, and never newer.
const HEAD_BYTES: usize = 512;

/// Where a journal ended once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LastEnd {
    /// Where its last unit began.
    pub(crate) from: u64,
    /// Its end.
    pub(crate) head: Head,
}

impl LastEnd {
    /// What the lock file in the folder `dir` has on record.
    pub(crate) fn of(dir: &Path) -> Option<Self> {
        Self::in_file(&durable::open_file(&dir.join(FILE_NAME)).ok()?)
    }

    fn in_file(file: &File) -> Option<Self> {
        let mut bytes = [0; HEAD_BYTES];
        let read = file.read_at(&mut bytes, HOLDER_BYTES as u64).ok()?;
        let (sum, text) = bytes.get(..read)?.trim_ascii().split_at_checked(16)?;
        // Half of it was written while it was read, or before a cut of the power.
        (sum == format!("{:016x}", checksum(text)).as_bytes())
            .then(|| serde_json::from_slice(text).ok())?
    }
}

/// Who holds a lock, by its own account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its process id.
    pub pid: u32,
    /// What it was asked to do.
    pub command: String,
    /// When it took the lock, in UTC.
    pub since: String,
}

impl fmt::Display for Holder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            pid,
            command,
            since,
        } = self;
        write!(formatter, "process {pid} (`{command}`, since {since})")
    }
}

/// How long to wait for a turn, and what ends the wait before that.
#[derive(Clone, Debug, Default)]
pub struct Wait {
    at_most: Duration,
    cancelled: Option<Arc<AtomicBool>>,
    no_longer: Option<Arc<AtomicBool>>,
}

impl Wait {
    /// A wait of at most so long. It is tried at least once, also with zero.
    pub fn at_most(at_most: Duration) -> Self {
        Self {
            at_most,
            cancelled: None,
            no_longer: None,
        }
    }

    /// The same, ended at once when `flag` is set: for a caller who went away in the meantime.
    #[must_use]
    pub fn unless(mut self, flag: Arc<AtomicBool>) -> Self {
        self.cancelled = Some(flag);
        self
    }

    /// The same, ended when `flag` is set, where somebody else has the turn: what is free is still taken.
    #[must_use]
    pub fn no_longer(mut self, flag: Arc<AtomicBool>) -> Self {
        self.no_longer = Some(flag);
        self
    }

    /// Whether the caller went away.
    pub fn is_cancelled(&self) -> bool {
        is_set(self.cancelled.as_ref())
    }
}

fn is_set(flag: Option<&Arc<AtomicBool>>) -> bool {
    flag.is_some_and(|flag| flag.load(Ordering::Acquire))
}

impl From<Duration> for Wait {
    fn from(at_most: Duration) -> Self {
        Self::at_most(at_most)
    }
}

/// The right to write in a folder, given back when it is dropped or its process ends.
///
/// The same kind of lock guards a run and a project. The kernel frees the lock of a dead process.
/// The lock file stays where it is for ever: removing it would let two processes each hold a lock
/// on a file of that name.
#[derive(Debug)]
pub struct RunLock {
    file: File,
    path: PathBuf,
    /// Whether the holder before died with it.
    died: bool,
}

impl RunLock {
    /// Takes the lock of the folder `dir`, waiting as `wait` says.
    ///
    /// `command` is what the error of another process that waits in vain will show.
    pub fn acquire(dir: &Path, wait: impl Into<Wait>, command: &str) -> Result<Self, JournalError> {
        Self::acquire_named(dir, FILE_NAME, wait, command)
    }

    /// The same for something else in that folder, on a lock file of that `name`.
    pub fn acquire_named(
        dir: &Path,
        name: &str,
        wait: impl Into<Wait>,
        command: &str,
    ) -> Result<Self, JournalError> {
        const FIRST_PAUSE: Duration = Duration::from_millis(1);
        const LONGEST_PAUSE: Duration = Duration::from_millis(20);

        let wait = wait.into();
        let path = dir.join(name);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            // A link would have its target written over, and a pipe would hold us up for ever.
            .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
            .open(&path)
            .map_err(JournalError::io("open the lock", &path))?;
        let about = file
            .metadata()
            .map_err(JournalError::io("open the lock", &path))?;
        if !about.is_file() {
            let source = io::Error::other("it is no ordinary file; take it away");
            return Err(JournalError::io("open the lock", &path)(source));
        }
        let start = Instant::now();
        let mut pause = FIRST_PAUSE;
        loop {
            if wait.is_cancelled() {
                return Err(JournalError::Cancelled { path });
            }
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(source)) => {
                    return Err(JournalError::io("lock", &path)(source));
                }
                Err(TryLockError::WouldBlock) if is_set(wait.no_longer.as_ref()) => {
                    return Err(JournalError::Cancelled { path });
                }
                Err(TryLockError::WouldBlock) => {}
            }
            let waited = start.elapsed();
            let Some(left) = wait
                .at_most
                .checked_sub(waited)
                .filter(|left| !left.is_zero())
            else {
                return Err(JournalError::LockTimeout {
                    holder: holder_in(&path),
                    path,
                    waited,
                });
            };
            thread::sleep(pause.min(left));
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        // Whoever gives the lock back takes the signature away with it.
        let died = holder_of(&file).is_some();
        let lock = Self { file, path, died };
        lock.sign(command);
        Ok(lock)
    }

    /// The lock file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the holder before was killed while it held the lock, and so may have left files unfinished.
    pub fn is_after_a_death(&self) -> bool {
        self.died
    }

    /// Who holds the lock of the folder `dir`, as far as its file tells. A hint: the file is read
    /// without the lock.
    pub fn holder(dir: &Path) -> Option<Holder> {
        Self::holder_named(dir, FILE_NAME)
    }

    /// The same of the lock file of that `name`.
    pub fn holder_named(dir: &Path, name: &str) -> Option<Holder> {
        holder_in(&dir.join(name))
    }

    /// Notes where the journal of the run ends. What cannot be written is left out: less is noticed then.
    pub(crate) fn note(&self, known: Option<&LastEnd>) {
        let text = known
            .and_then(|known| serde_json::to_vec(known).ok())
            .unwrap_or_default();
        let mut bytes = [b' '; HEAD_BYTES];
        let mut line = format!("{:016x}", checksum(&text)).into_bytes();
        line.extend_from_slice(&text);
        if let (Some(room), false) = (bytes.get_mut(..line.len()), text.is_empty()) {
            room.copy_from_slice(&line);
        }
        let _ = self.file.write_all_at(&bytes, HOLDER_BYTES as u64);
    }

    /// What it has on record of the journal's end.
    pub(crate) fn known(&self) -> Option<LastEnd> {
        LastEnd::in_file(&self.file)
    }

    /// Says in the file who holds it. What cannot be written is left out: it is only a hint.
    fn sign(&self, command: &str) {
        let since = Timestamp::from_millisecond(Timestamp::now().as_millisecond())
            .map_or_else(|_| String::new(), |now| format!("{now:.3}"));
        let mut holder = Holder {
            pid: std::process::id(),
            command: command.chars().take(200).collect(),
            since,
        };
        let mut text = serde_json::to_vec(&holder).unwrap_or_default();
        if text.len() >= HOLDER_BYTES {
            holder.command = holder.command.chars().take(40).collect();
            text = serde_json::to_vec(&holder).unwrap_or_default();
        }
        self.write(&text);
    }

    fn write(&self, text: &[u8]) {
        let mut bytes = [b' '; HOLDER_BYTES];
        if let Some((last, room)) = bytes.split_last_mut()
            && let Some(place) = room.get_mut(..text.len())
        {
            place.copy_from_slice(text);
            *last = b'\n';
        }
        // Whether this works changes nothing: the lock is held either way.
        let _ = self.file.write_all_at(&bytes, 0);
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        self.write(&[]);
        // Closing the file frees the lock too, unless a child that is being started still has it open.
        let _ = self.file.unlock();
    }
}

fn holder_in(path: &Path) -> Option<Holder> {
    holder_of(&File::open(path).ok()?)
}

fn holder_of(file: &File) -> Option<Holder> {
    let mut bytes = [0; HOLDER_BYTES];
    let read = file.read_at(&mut bytes, 0).ok()?;
    let text = bytes.get(..read)?.trim_ascii();
    // Nobody is, most of the time.
    (!text.is_empty()).then(|| serde_json::from_slice(text).ok())?
}
