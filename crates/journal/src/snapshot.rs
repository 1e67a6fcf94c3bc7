//! The state folded from a journal up to some event: a cache, so that loading does not grow with
//! the length of the run.
//!
//! What is large in it and changes seldom may lie beside it, in parts: a part is written once, and the
//! snapshot tells it by a name that says what is in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::contract::Journal;
use crate::derived;
use crate::digest::{checksum, is_sha256_hex, sha256_hex};
use crate::durable;
use crate::error::{Damage, DamageKind, JournalError};
use crate::file::FileJournal;
use crate::position::{Head, Position};
use crate::record::Record;

/// The name of the snapshot in the folder of its run.
pub const FILE_NAME: &str = "snapshot.json";

/// The name of the folder with its parts, in the folder of the run.
pub const PARTS_NAME: &str = "snapshot-parts";

/// The format of the file. To be raised with every change of the journal's own format too: a load
/// by snapshot does not read the journal's first line, where its version stands.
const VERSION: u32 = 3;

/// Below this many bytes of tail a new snapshot is not worth its write.
const SMALLEST_TAIL: u64 = 16 * 1024;

/// The state up to a position in the journal.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The end of the last unit that is folded in.
    pub position: Position,
    /// The state, as the caller wrote it.
    pub state: Box<RawValue>,
    /// Bytes of the snapshot's file.
    pub file_len: u64,
}

/// The snapshot's file in the folder of a run.
#[derive(Clone, Debug)]
pub struct SnapshotFile {
    path: PathBuf,
    parts: PathBuf,
}

#[derive(Serialize)]
struct Written<'a> {
    v: u32,
    seq: u64,
    hash: &'a str,
    offset: u64,
    line_len: u64,
    state_sha256: String,
    state: &'a RawValue,
}

#[derive(Deserialize)]
struct Stored<'a> {
    v: u32,
    seq: u64,
    hash: String,
    offset: u64,
    line_len: u64,
    state_sha256: String,
    #[serde(borrow)]
    state: &'a RawValue,
}

impl SnapshotFile {
    /// The snapshot in the folder `dir`.
    pub fn new(dir: &Path) -> Self {
        Self {
            path: dir.join(FILE_NAME),
            parts: dir.join(PARTS_NAME),
        }
    }

    /// The snapshot's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces the snapshot atomically, without a sync: what a crash leaves of it is not used.
    ///
    /// Returns the length of the file, for [`should_snapshot`].
    pub fn write(&self, position: &Position, state: &RawValue) -> io::Result<u64> {
        let bytes = serde_json::to_vec(&Written {
            v: VERSION,
            seq: position.seq,
            hash: &position.hash,
            offset: position.offset,
            line_len: position.line_len,
            state_sha256: sha256_hex(state.get().as_bytes()),
            state,
        })?;
        derived::replace_if_changed(&self.path, &bytes)?;
        Ok(bytes.len() as u64)
    }

    /// Keeps `bytes` as a part, without a sync, and returns the name to ask for it by.
    ///
    /// `known` is the name of a part that was read or kept before, with the same bytes: it is only looked whether
    /// its file is still there.
    pub fn keep_part(&self, bytes: &[u8], known: Option<&str>) -> io::Result<String> {
        if let Some(name) = known.filter(|name| is_part(name)) {
            let found = fs::symlink_metadata(self.parts.join(name));
            if found.is_ok_and(|found| found.is_file() && found.len() == bytes.len() as u64) {
                return Ok(name.to_owned());
            }
        }
        let name = format!("{}-{:016x}", sha256_hex(bytes), checksum(bytes));
        match durable::make_folder(&self.parts) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        derived::replace_if_changed(&self.parts.join(&name), bytes)?;
        Ok(name)
    }

    /// The part of that name, unless it is missing, torn or changed.
    pub fn part(&self, name: &str) -> Option<Vec<u8>> {
        if !is_part(name) {
            return None;
        }
        let bytes = durable::read_if_there(&self.parts.join(name)).ok()??;
        let (_, sum) = name.rsplit_once('-')?;
        (sum == format!("{:016x}", checksum(&bytes))).then_some(bytes)
    }

    /// Removes the parts that are not in `names`. A reader that has seen an older snapshot misses them, and reads the
    /// journal instead.
    pub fn keep_only(&self, names: &[String]) -> io::Result<()> {
        let entries = match fs::read_dir(&self.parts) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            if !names.iter().any(|kept| name == kept.as_str()) && entry.file_type()?.is_file() {
                fs::remove_file(entry.path())?;
            }
        }
        if names.is_empty() {
            fs::remove_dir(&self.parts)?;
        }
        Ok(())
    }

    /// The snapshot, unless it is missing, torn, changed or of another version.
    ///
    /// Whether it belongs to the journal beside it is for [`load_with_snapshot`] to say.
    pub fn read(&self) -> Option<Snapshot> {
        let bytes = durable::read_if_there(&self.path).ok().flatten()?;
        let stored: Stored<'_> = serde_json::from_slice(&bytes).ok()?;
        let intact =
            stored.v == VERSION && stored.state_sha256 == sha256_hex(stored.state.get().as_bytes());
        intact.then(|| Snapshot {
            position: Position {
                seq: stored.seq,
                hash: stored.hash,
                offset: stored.offset,
                line_len: stored.line_len,
            },
            state: stored.state.to_owned(),
            file_len: bytes.len() as u64,
        })
    }
}

/// Whether `name` is one that a part can have, and no way to anywhere else.
fn is_part(name: &str) -> bool {
    name.split_once('-').is_some_and(|(hash, sum)| {
        let hex = |digit: u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit);
        is_sha256_hex(hash) && sum.len() == 16 && sum.bytes().all(hex)
    })
}

/// A run as loaded: a snapshot that holds, and the events after it.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The state to start from; `None` when the tail begins with the first event.
    pub snapshot: Option<Snapshot>,
    /// The events after the snapshot.
    pub tail: Vec<Record>,
    /// Where the journal ends.
    pub head: Head,
    /// Bytes of a torn unit after that; 0 when there is none.
    pub torn_bytes: u64,
}

impl Loaded {
    /// Bytes of the journal after the snapshot.
    pub fn tail_bytes(&self) -> u64 {
        let from = self
            .snapshot
            .as_ref()
            .map_or(0, |snapshot| snapshot.position.offset);
        self.head.len.saturating_sub(from)
    }
}

/// Loads the run in the folder `dir`, taking no lock.
pub fn load_with_snapshot(dir: &Path) -> Result<Loaded, JournalError> {
    FileJournal::open(dir)?.load()
}

impl FileJournal {
    /// Loads the run: its snapshot, if that belongs to this journal, and the events after it.
    ///
    /// Of the journal before the snapshot only the one line is read that the snapshot ends with.
    pub fn load(&self) -> Result<Loaded, JournalError> {
        let mut beyond = None;
        if let Some(snapshot) = SnapshotFile::new(self.dir()).read() {
            match self.read(&snapshot.position) {
                Err(JournalError::PositionLost { .. }) => beyond = Some(snapshot.position),
                read => {
                    let tail = read?;
                    return Ok(Loaded {
                        snapshot: Some(snapshot),
                        tail: tail.records,
                        head: tail.head,
                        torn_bytes: tail.torn_bytes,
                    });
                }
            }
        }
        let tail = self.read(&Position::start())?;
        // The journal was flushed before the snapshot was written, so this never comes from a crash.
        if let Some(known) = beyond.filter(|at| at.offset > tail.head.len + tail.torn_bytes)
            && tail.torn_bytes == 0
        {
            return Err(JournalError::Damaged(Damage {
                path: self.path().to_owned(),
                line: tail.head.seq + 1,
                kind: DamageKind::Cut {
                    known: known.seq,
                    by: FILE_NAME,
                },
            }));
        }
        Ok(Loaded {
            snapshot: None,
            tail: tail.records,
            head: tail.head,
            torn_bytes: tail.torn_bytes,
        })
    }
}

/// Whether the snapshot is to be rewritten: when the tail has outgrown it, and 16 KiB.
///
/// So the bytes written for snapshots stay in proportion to those of the journal, and a load reads
/// at most about twice the snapshot, or 16 KiB more than it.
pub fn should_snapshot(tail_bytes: u64, snapshot_bytes: u64) -> bool {
    tail_bytes > snapshot_bytes.max(SMALLEST_TAIL)
}
