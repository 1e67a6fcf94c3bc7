//! Loading a run: from where this process saw it last, else from its snapshot, else from its first event; and the definition
//! that it is pinned to.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use journal::{FileJournal, Head, Journal as _};
use machine::{Definition, Event, RunState, Shared};

use crate::fault;
use crate::fault::Fault;
use crate::run_cache::CachedRun;
use crate::{integrity, run_cache, snapshots};

/// A run as it was loaded, without the right to write.
#[derive(Debug)]
pub struct Loaded {
    /// The run.
    pub run: Shared<RunState>,
    /// Where its journal ends.
    pub head: Head,
    /// Bytes of a unit that a crash left unfinished.
    pub torn_bytes: u64,
    pub(super) snapshot_bytes: u64,
    pub(super) tail_bytes: u64,
}

/// A run with so many bytes of events behind its snapshot, or with none of this version, is remembered also by those who only look.
const LONG_TAIL: u64 = 1024 * 1024;

/// Loads the run in `dir`, without a lock.
pub fn load(dir: &Path) -> Result<Loaded, Fault> {
    load_from(&FileJournal::open(dir)?, dir)
}

/// The run of a journal: from where this process saw it last, else from its snapshot, else from its first event.
pub(super) fn load_from(journal: &FileJournal, dir: &Path) -> Result<Loaded, Fault> {
    if let Some(seen) = run_cache::recall(dir)
        // A journal that does not hold what was seen is read as by anybody else.
        && let Ok(tail) = journal.read(&seen.head.position())
    {
        let mut run = seen.run.clone();
        // What nothing is folded into stays shared.
        if !tail.records.is_empty() {
            fold(&mut run, &tail.records)?;
        }
        return Ok(Loaded {
            run,
            torn_bytes: tail.torn_bytes,
            snapshot_bytes: seen.snapshot_bytes,
            tail_bytes: seen
                .tail_bytes
                .saturating_add(tail.head.len - seen.head.len),
            head: tail.head,
        });
    }
    let loaded = from_journal(journal.load()?, dir)?;
    if loaded.head.seq == 0 && integrity::has_begun(dir) {
        return Err(integrity::emptied(dir));
    }
    integrity::in_its_own_folder(dir, &loaded.run)?;
    if run_cache::is_on() && loaded.tail_bytes > LONG_TAIL {
        run_cache::remember(dir, loaded.seen());
    }
    Ok(loaded)
}

impl Loaded {
    fn seen(&self) -> CachedRun {
        CachedRun {
            run: self.run.clone(),
            head: self.head.clone(),
            snapshot_bytes: self.snapshot_bytes,
            tail_bytes: self.tail_bytes,
        }
    }
}

fn from_journal(loaded: journal::Loaded, dir: &Path) -> Result<Loaded, Fault> {
    let tail_bytes = loaded.tail_bytes();
    let snapshot_bytes = loaded
        .snapshot
        .as_ref()
        .map_or(0, |snapshot| snapshot.file_len);
    let parsed = loaded
        .snapshot
        .as_ref()
        .and_then(|snapshot| snapshots::thaw(dir, snapshot.state.get()));
    let mut run = match (parsed, &loaded.snapshot) {
        (Some(run), _) => run,
        (None, None) => RunState::default(),
        // A snapshot of another version of this program, or one that misses a part: the journal is the truth.
        (None, Some(_)) => {
            let all = FileJournal::open(dir)?.read(&journal::Position::start())?;
            let mut run = RunState::default();
            fold(&mut run, &all.records)?;
            return Ok(Loaded {
                run: run.into(),
                head: all.head,
                torn_bytes: all.torn_bytes,
                snapshot_bytes: 0,
                tail_bytes: u64::MAX,
            });
        }
    };
    fold(&mut run, &loaded.tail)?;
    Ok(Loaded {
        run: run.into(),
        head: loaded.head,
        torn_bytes: loaded.torn_bytes,
        snapshot_bytes,
        tail_bytes,
    })
}

/// The event of a journal line.
pub fn event_of(record: &journal::Record) -> Result<Event, Fault> {
    Event::from_fields(&record.event, &record.fields).map_err(|error| {
        let (seq, event) = (record.seq, &record.event);
        fault!("journal_damaged.event", seq, event, error)
    })
}

/// Folds journal lines into a run.
pub fn fold(run: &mut RunState, records: &[journal::Record]) -> Result<(), Fault> {
    for record in records {
        let event = event_of(record)?;
        run.apply(&record.ts, &event);
    }
    Ok(())
}

/// The run in `dir` as it was behind the event with this number; as it is now where there is none behind that.
pub fn run_at(dir: &Path, seq: u64) -> Result<RunState, Fault> {
    let tail = FileJournal::open(dir)?.read(&journal::Position::start())?;
    let behind = tail.records.partition_point(|record| record.seq <= seq);
    let mut run = RunState::default();
    fold(&mut run, &tail.records[..behind])?;
    Ok(run)
}

/// The definition that a run is pinned to: `workflow.yaml` beside the journal if it has the right
/// hash, else the text in the first event.
pub fn pinned(dir: &Path, run: &RunState) -> Result<Arc<Definition>, Fault> {
    static PARSED: OnceLock<Mutex<HashMap<String, Arc<Definition>>>> = OnceLock::new();
    const MOST_KEPT: usize = 16;
    let parsed = PARSED.get_or_init(Mutex::default);
    let hash = &run.definition_hash;
    if let Ok(known) = parsed.lock()
        && let Some(definition) = known.get(hash)
    {
        return Ok(Arc::clone(definition));
    }
    let beside = journal::durable::read_text(&dir.join("workflow.yaml"))
        .ok()
        .filter(|text| journal::sha256_hex(text.as_bytes()) == *hash);
    let text = match beside {
        Some(text) => text,
        None => from_first_event(dir, hash)?,
    };
    let definition = Arc::new(Definition::parse(&text).map_err(|fault| {
        fault!(
            "journal_damaged.definition_damaged",
            message = fault.message
        )
    })?);
    if let Ok(mut known) = parsed.lock() {
        if known.len() >= MOST_KEPT {
            known.clear();
        }
        known.insert(hash.clone(), Arc::clone(&definition));
    }
    Ok(definition)
}

/// The text in the first event of a journal, which has to have this hash.
fn from_first_event(dir: &Path, hash: &str) -> Result<String, Fault> {
    let tail = FileJournal::open(dir)?.read(&journal::Position::start())?;
    let text = tail
        .records
        .first()
        .and_then(|record| record.fields.get("definition"))
        .and_then(serde_json::Value::as_str)
        .ok_or_else(|| fault!("journal_damaged.from_first_event", dir = dir.display()))?;
    if journal::sha256_hex(text.as_bytes()) == hash {
        return Ok(text.to_owned());
    }
    Err(fault!("journal_damaged.definition", dir = dir.display()))
}
