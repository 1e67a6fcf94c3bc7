//! Runs as this process saw them last, for a process that answers many calls.
//!
//! What is remembered is a place to go on from, as a snapshot is: the journal has to hold the last line that was seen, and
//! what others appended behind it is folded on top.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use journal::Head;
use machine::{RunState, Shared};

/// At most so many runs are remembered.
const MOST_RUNS: usize = 8;

static ON: AtomicBool = AtomicBool::new(false);
static KNOWN: Mutex<Vec<(PathBuf, Arc<CachedRun>)>> = Mutex::new(Vec::new());

/// A run at the end of its journal.
#[derive(Debug)]
pub(crate) struct CachedRun {
    pub(crate) run: Shared<RunState>,
    pub(crate) head: Head,
    pub(crate) snapshot_bytes: u64,
    pub(crate) tail_bytes: u64,
}

/// Lets this process remember runs from one call to the next.
pub fn remember_runs() {
    ON.store(true, Ordering::Relaxed);
}

/// Whether this process remembers runs.
pub(crate) fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// The run in the folder `dir`, as it was seen last.
pub(crate) fn recall(dir: &Path) -> Option<Arc<CachedRun>> {
    if !is_on() {
        return None;
    }
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let at = known.iter().position(|(of, _)| of == dir)?;
    let found = known.remove(at);
    let run = Arc::clone(&found.1);
    known.push(found);
    Some(run)
}

/// Remembers the run in the folder `dir`; the one that was not asked for the longest time is forgotten.
pub(crate) fn remember(dir: &Path, run: CachedRun) {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.retain(|(of, _)| of != dir);
    if known.len() >= MOST_RUNS {
        known.remove(0);
    }
    known.push((dir.to_owned(), Arc::new(run)));
}
