//! How often a run came to each of its states.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use journal::{Follower, JournalError, Position};
use serde_json::Value;

use crate::fault::Fault;

/// How many runs are remembered.
const MOST_RUNS: usize = 64;

/// Counted up to some place in the journal: a long one is read once, and then only what is new of it.
static COUNTED: Mutex<Option<HashMap<PathBuf, Counted>>> = Mutex::new(None);

#[derive(Debug)]
struct Counted {
    follower: Follower,
    visits: BTreeMap<String, u32>,
}

/// How often the run with this journal came to each state.
pub(crate) fn visits(journal: &Path) -> Result<BTreeMap<String, u32>, Fault> {
    let mut counted = COUNTED.lock().unwrap_or_else(PoisonError::into_inner);
    let all = counted.get_or_insert_default();
    let mut known = all
        .remove(journal)
        .unwrap_or_else(|| Counted::from_start(journal));
    match known.count() {
        Err(JournalError::PositionLost { .. }) => {
            known = Counted::from_start(journal);
            known.count()?;
        }
        counted => counted?,
    }
    let visits = known.visits.clone();
    if all.len() >= MOST_RUNS {
        all.clear();
    }
    all.insert(journal.to_owned(), known);
    Ok(visits)
}

impl Counted {
    fn from_start(journal: &Path) -> Self {
        Self {
            follower: Follower::new(journal, Position::start()),
            visits: BTreeMap::new(),
        }
    }

    fn count(&mut self) -> Result<(), JournalError> {
        for record in self.follower.poll()? {
            if record.event == "state:entered"
                && let Some(state) = record.fields.get("to").and_then(Value::as_str)
            {
                *self.visits.entry(state.to_owned()).or_default() += 1;
            }
        }
        Ok(())
    }
}
