//! What can be done about damage, when it is asked for: keep the whole units before it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::durable;
use crate::error::{DamageKind, EventFlaw, JournalError};
use crate::file::{FileJournal, open_to_read};
use crate::position::Head;
use crate::scan::newlines;
use crate::snapshot;
use crate::timestamp;
use crate::verify::verify;

/// What a repair kept and what it lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// The damaged file, under its new name.
    pub kept: PathBuf,
    /// The end of the journal as it is now.
    pub head: Head,
    /// Lines that are no longer in the journal, readable or not.
    pub lost_events: u64,
    /// Bytes that are no longer in the journal.
    pub lost_bytes: u64,
}

impl FileJournal {
    /// Makes a damaged journal loadable: the whole units before the damage become the journal, and the file as it was stays
    /// beside it as `activity.jsonl.damaged-<ts>`.
    ///
    /// `None` when there is no damage; a torn last unit is none. Needs the lock.
    /// `ts` is UTC in RFC 3339 with milliseconds.
    pub fn repair(&mut self, ts: &str) -> Result<Option<Repaired>, JournalError> {
        let path = self.path().to_owned();
        if !self.is_locked() {
            return Err(JournalError::NotLocked { path });
        }
        let Some(stamp) = timestamp::for_id(ts) else {
            return Err(JournalError::InvalidEvent {
                event: String::new(),
                flaw: EventFlaw::Time(ts.to_owned()),
            });
        };
        let report = verify(&path)?;
        let Some(damage) = report.damage else {
            return Ok(None);
        };
        let mut old = open_to_read(&path)?;
        let (lost_events, lost_bytes) =
            count_after(&mut old, report.head.len).map_err(JournalError::io("read", &path))?;
        let lost_events = match damage.kind {
            DamageKind::Cut { known, .. } => known.saturating_sub(report.head.seq),
            _ => lost_events,
        };
        let kept =
            keep(&path, &stamp).map_err(JournalError::io("keep the damaged file beside", &path))?;
        // What was known of the end holds no longer, and a snapshot from behind it is of no run any more.
        if let Some(lock) = self.held_lock() {
            lock.note(None);
        }
        set_aside(&self.dir().join(snapshot::FILE_NAME), &stamp)
            .map_err(JournalError::io("set the snapshot aside beside", &path))?;
        replace_by_prefix(&mut old, report.head.len, &path)
            .map_err(JournalError::io("write the repaired journal", &path))?;
        self.reopen()?;
        Ok(Some(Repaired {
            kept,
            head: report.head,
            lost_events,
            lost_bytes,
        }))
    }
}

/// Lines and bytes of `file` from `offset` on; a last line without a newline is one too.
fn count_after(file: &mut File, offset: u64) -> io::Result<(u64, u64)> {
    file.seek(SeekFrom::Start(offset))?;
    let mut input = BufReader::with_capacity(128 * 1024, file);
    let (mut lines, mut bytes, mut open_line) = (0, 0, false);
    loop {
        let chunk = input.fill_buf()?;
        let Some(last) = chunk.last() else {
            return Ok((lines + u64::from(open_line), bytes));
        };
        open_line = *last != b'\n';
        lines += newlines(chunk);
        let used = chunk.len();
        bytes += used as u64;
        input.consume(used);
    }
}

/// Gives the file `path` another name, if there is one.
fn set_aside(path: &Path, stamp: &str) -> io::Result<()> {
    match fs::rename(path, path.with_extension(format!("json.damaged-{stamp}"))) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Gives the file `path` a second name, and returns it.
fn keep(path: &Path, stamp: &str) -> io::Result<PathBuf> {
    let name = path
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    for count in 1u32.. {
        let suffix = if count == 1 {
            String::new()
        } else {
            format!("-{count}")
        };
        let kept = path.with_file_name(format!("{name}.damaged-{stamp}{suffix}"));
        match fs::hard_link(path, &kept) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            // Some file systems know no second names.
            Err(_) => match copy_new(path, &kept) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                copied => copied?,
            },
        }
        durable::sync_folder(durable::folder_of(path))?;
        return Ok(kept);
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn copy_new(from: &Path, to: &Path) -> io::Result<()> {
    let mut copy = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(to)?;
    io::copy(&mut File::open(from)?, &mut copy)?;
    copy.sync_all()
}

/// Puts the first `len` bytes of `old` in the place of `path`.
fn replace_by_prefix(old: &mut File, len: u64, path: &Path) -> io::Result<()> {
    old.seek(SeekFrom::Start(0))?;
    let mut new = durable::empty_aside(path)?;
    io::copy(&mut old.take(len), new.as_file_mut())?;
    new.as_file().sync_all()?;
    new.persist(path).map_err(|error| error.error)?;
    durable::sync_folder(durable::folder_of(path))
}
