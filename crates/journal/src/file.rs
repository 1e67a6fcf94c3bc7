//! The journal as a file: `activity.jsonl` in the folder of its run.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::contract::{Journal, Tail};
use crate::disk::Disk;
use crate::durable;
use crate::error::{Damage, DamageKind, JournalError};
use crate::lock::{self, LastEnd, RunLock, Wait};
use crate::position::{Head, Position};
use crate::record::{self, Depth, NewEvent};
use crate::scan::Extent;

/// The name of the journal in the folder of its run.
pub const FILE_NAME: &str = "activity.jsonl";

/// The journal of one run, open for reading or, under the run's lock, for appending.
#[derive(Debug)]
pub struct FileJournal {
    path: PathBuf,
    writer: Option<Writer>,
}

#[derive(Debug)]
struct Writer {
    file: File,
    disk: Box<dyn Disk>,
    /// Where the file was found to end, or left to end, under the lock.
    ends: RefCell<Option<Head>>,
    lock: RunLock,
}

impl FileJournal {
    /// Makes an empty journal in the folder `dir` and syncs its name.
    ///
    /// Fails when there is one already.
    pub fn create(dir: &Path) -> Result<(), JournalError> {
        let path = dir.join(FILE_NAME);
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .and_then(|file| file.sync_all())
            .and_then(|()| durable::sync_folder(dir))
            .map_err(JournalError::io("create", &path))
    }

    /// Opens the journal in the folder `dir` for reading. Takes no lock.
    pub fn open(dir: &Path) -> Result<Self, JournalError> {
        let path = dir.join(FILE_NAME);
        match path.try_exists() {
            Ok(true) => Ok(Self { path, writer: None }),
            Ok(false) => Err(JournalError::Missing { path }),
            Err(source) => Err(JournalError::Io {
                doing: "open",
                path,
                source,
            }),
        }
    }

    /// Opens the journal in the folder `dir` for appending, under the run's lock.
    ///
    /// Waits for the lock as `wait` says; `command` tells others who holds it.
    pub fn lock(dir: &Path, wait: impl Into<Wait>, command: &str) -> Result<Self, JournalError> {
        Self::under(RunLock::acquire(dir, wait, command)?, dir)
    }

    /// Opens the journal in the folder `dir` for appending, under a lock taken before.
    pub fn under(lock: RunLock, dir: &Path) -> Result<Self, JournalError> {
        Self::on_disk(lock, dir, |file| Box::new(file))
    }

    /// As [`FileJournal::under`], with appends going through what `wrap` makes of the file.
    pub fn on_disk(
        lock: RunLock,
        dir: &Path,
        wrap: impl FnOnce(File) -> Box<dyn Disk>,
    ) -> Result<Self, JournalError> {
        let path = dir.join(FILE_NAME);
        let file = open_to_append(&path)?;
        let disk = file
            .try_clone()
            .map(wrap)
            .map_err(JournalError::io("open", &path))?;
        let writer = Writer {
            file,
            disk,
            ends: RefCell::new(None),
            lock,
        };
        Ok(Self {
            path,
            writer: Some(writer),
        })
    }

    /// The format that the journal is in, a newer one than this program knows too; none where its beginning says nothing.
    pub fn format(&self) -> Result<Option<u64>, JournalError> {
        self.look(|extent| {
            let path = extent.path;
            extent.version().map_err(JournalError::io("read", path))
        })
    }

    /// The journal's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of the run.
    pub fn dir(&self) -> &Path {
        durable::folder_of(&self.path)
    }

    /// Gives the lock back and goes on for reading.
    pub fn unlock(&mut self) {
        self.writer = None;
    }

    /// Whether the journal is open for appending.
    pub fn is_locked(&self) -> bool {
        self.writer.is_some()
    }

    /// The lock, when the journal is open for appending.
    pub fn held_lock(&self) -> Option<&RunLock> {
        self.writer.as_ref().map(|writer| &writer.lock)
    }

    /// Runs `look` over the file. Without the lock, damage counts only when it is found twice in
    /// the same place: a torn unit may be cut off and written over while it is being read.
    fn look<T>(
        &self,
        look: impl Fn(&mut Extent<'_, &File>) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        if let Some(writer) = &self.writer {
            return look(&mut extent(&writer.file, &self.path)?);
        }
        settled(|| {
            let file = open_to_read(&self.path)?;
            look(&mut extent(&file, &self.path)?)
        })
    }

    /// Puts the writer onto the file that now has the journal's name.
    pub(crate) fn reopen(&mut self) -> Result<(), JournalError> {
        if let Some(writer) = &mut self.writer {
            let file = open_to_append(&self.path)?;
            let disk = file
                .try_clone()
                .map_err(JournalError::io("open", &self.path))?;
            writer.file = file;
            writer.disk = Box::new(disk);
            writer.ends = RefCell::new(None);
        }
        Ok(())
    }
}

impl Journal for FileJournal {
    fn read(&self, after: &Position) -> Result<Tail, JournalError> {
        let read = |extent: &mut Extent<'_, &File>, known: Option<LastEnd>| {
            let tail = extent.read(after)?;
            holds_against(known.as_ref(), &tail.head, tail.torn_bytes, &self.path)?;
            Ok(tail)
        };
        let tail = match &self.writer {
            Some(writer) => read(&mut extent(&writer.file, &self.path)?, writer.lock.known())?,
            None => settled(|| {
                // First, since the journal only grows.
                let known = LastEnd::of(self.dir());
                let file = open_to_read(&self.path)?;
                read(&mut extent(&file, &self.path)?, known)
            })?,
        };
        if let Some(writer) = &self.writer {
            writer.ends.replace(Some(tail.head.clone()));
        }
        Ok(tail)
    }

    fn append(
        &mut self,
        expected: &Head,
        ts: &str,
        events: &[NewEvent],
    ) -> Result<Head, JournalError> {
        let (unit, head) = record::encode_unit(expected, ts, events)?;
        let Some(writer) = &mut self.writer else {
            return Err(JournalError::NotLocked {
                path: self.path.clone(),
            });
        };
        writer.settle(expected, &self.path)?;
        writer.ends.take();
        writer.append(&unit, expected.len, &self.path)?;
        writer.ends.replace(Some(head.clone()));
        writer.lock.note(Some(&LastEnd {
            from: expected.len,
            head: head.clone(),
        }));
        Ok(head)
    }

    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the bare method is not general enough in its lifetimes"
    )]
    fn head(&self) -> Result<Head, JournalError> {
        self.look(|extent| extent.head())
    }
}

impl Writer {
    /// Makes sure that the file ends at `expected`, cutting off a torn unit after it.
    fn settle(&mut self, expected: &Head, path: &Path) -> Result<(), JournalError> {
        let mut extent = extent(&self.file, path)?;
        // What was read under this lock is not read again.
        let known = self.ends.borrow().as_ref() == Some(expected);
        if known && extent.len == expected.len {
            return Ok(());
        }
        extent.refuse_newer()?;
        let position = expected.position();
        if !extent.holds(&position)? {
            return Err(conflict(expected, extent.head()?));
        }
        if extent.len == expected.len {
            return Ok(());
        }
        let after = extent.scan(&position, Depth::Chain, |_, _, _| {})?;
        if after.events > 0 {
            return Err(conflict(expected, after.head));
        }
        self.disk
            .truncate(expected.len)
            .and_then(|()| self.disk.sync_all())
            .map_err(JournalError::io("cut a torn unit off", path))?;
        Ok(())
    }

    /// Writes and flushes `unit` at `len`, or leaves the file as it was.
    fn append(&mut self, unit: &[u8], len: u64, path: &Path) -> Result<(), JournalError> {
        let failed = match write_whole(self.disk.as_mut(), unit) {
            Err(error) => Some(("the write", error)),
            Ok(()) => self
                .disk
                .sync_data()
                .err()
                .map(|error| ("the flush", error)),
        };
        let Some((step, source)) = failed else {
            return Ok(());
        };
        let undo = self
            .disk
            .truncate(len)
            .and_then(|()| self.disk.sync_all())
            .err();
        Err(JournalError::AppendFailed {
            path: path.to_owned(),
            step,
            bytes: unit.len(),
            undo,
            source,
        })
    }
}

/// Hands all of `bytes` over in one write; goes on after a short one, whose cause the next tells.
fn write_whole(disk: &mut dyn Disk, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match disk.append(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(taken) => bytes = bytes.get(taken..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Finds out whether a journal that ends at `head` is what it was once. A torn last unit is left to whoever reads: a disk
/// that says too early that it is done may leave one that was acknowledged.
pub(crate) fn holds_against(
    known: Option<&LastEnd>,
    head: &Head,
    torn_bytes: u64,
    path: &Path,
) -> Result<(), JournalError> {
    let Some(LastEnd { from, head: once }) = known else {
        return Ok(());
    };
    let torn = torn_bytes > 0 && head.len == *from && head.len + torn_bytes < once.len;
    let kind = if head.len < once.len && !torn {
        DamageKind::Cut {
            known: once.seq,
            by: lock::FILE_NAME,
        }
    } else if head.len == once.len && head.hash != once.hash {
        DamageKind::Seal
    } else {
        return Ok(());
    };
    Err(JournalError::Damaged(Damage {
        path: path.to_owned(),
        // Each event has a line.
        line: head.seq + u64::from(head.len < once.len),
        kind,
    }))
}

fn conflict(expected: &Head, found: Head) -> JournalError {
    JournalError::Conflict {
        expected: Box::new(expected.clone()),
        found: Box::new(found),
    }
}

/// Repeats `attempt` while each time another damage is found, as a writer at work may cause.
pub(crate) fn settled<T>(attempt: impl Fn() -> Result<T, JournalError>) -> Result<T, JournalError> {
    const ATTEMPTS: usize = 4;
    let mut last: Option<Damage> = None;
    let mut left = ATTEMPTS;
    loop {
        left -= 1;
        match attempt() {
            Err(JournalError::Damaged(damage)) if left > 0 && last.as_ref() != Some(&damage) => {
                last = Some(damage);
            }
            outcome => return outcome,
        }
    }
}

/// The file `path` as long as it is now.
pub(crate) fn extent<'a>(
    file: &'a File,
    path: &'a Path,
) -> Result<Extent<'a, &'a File>, JournalError> {
    let len = file
        .metadata()
        .map_err(JournalError::io("look at", path))?
        .len();
    Ok(Extent {
        source: file,
        len,
        path,
    })
}

pub(crate) fn open_to_read(path: &Path) -> Result<File, JournalError> {
    named_missing(durable::open_file(path), path)
}

fn open_to_append(path: &Path) -> Result<File, JournalError> {
    let opened = OpenOptions::new()
        .read(true)
        .append(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path)
        .and_then(durable::must_be_file);
    named_missing(opened, path)
}

fn named_missing(opened: io::Result<File>, path: &Path) -> Result<File, JournalError> {
    opened.map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => JournalError::Missing {
            path: path.to_owned(),
        },
        _ => JournalError::io("open", path)(source),
    })
}
