//! The suite that is run for a run just now, for everybody to see: a file in the run's folder, locked as long as the suite runs. One
//! that is not locked is what a kill left, and says nothing.

use std::fs::{File, TryLockError};
use std::io::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::clock::{millis_of, spoken, stamp};

/// The file.
pub(crate) const FILE_NAME: &str = "suite.json";

/// A suite that is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunningSuite {
    /// What it is run on, for people.
    pub on: String,
    /// When it began, UTC.
    pub began: String,
}

/// Holds the note of a suite; with it the note is gone.
pub(crate) struct SuiteNote(File);

impl SuiteNote {
    /// Notes that a suite is run on something from now on. Where it cannot be noted, nobody sees it.
    pub(crate) fn write(run_dir: &Path, on: &str) -> Option<Self> {
        let mut open = File::options();
        let open = open.create(true).write(true).truncate(false);
        let mut file = open.open(run_dir.join(FILE_NAME)).ok()?;
        // Who has it noted already goes on being seen.
        file.try_lock().ok()?;
        file.set_len(0).ok()?;
        let suite = RunningSuite {
            on: on.to_owned(),
            began: stamp(jiff::Timestamp::now().as_millisecond()),
        };
        let text = serde_json::to_vec(&suite).ok()?;
        file.write_all(&text).ok()?;
        Some(Self(file))
    }
}

impl Drop for SuiteNote {
    fn drop(&mut self) {
        // Emptied, not removed: another may have opened it already.
        drop(self.0.set_len(0));
    }
}

impl RunningSuite {
    /// The one that is run for the run in a folder.
    pub fn of(run_dir: &Path) -> Option<Self> {
        let file = File::open(run_dir.join(FILE_NAME)).ok()?;
        let Err(TryLockError::WouldBlock) = file.try_lock_shared() else {
            return None;
        };
        serde_json::from_reader(&file).ok()
    }

    /// What is run, and how long it has been, in milliseconds since 1970.
    pub fn told(&self, now: i64) -> String {
        let began = millis_of(&self.began).unwrap_or(now);
        let since = u64::try_from(now - began).unwrap_or_default();
        format!("tests run on {} since {}", self.on, spoken(since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_is_seen_while_it_runs_and_not_when_a_kill_left_its_note() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        assert_eq!(RunningSuite::of(dir), None);
        let note = SuiteNote::write(dir, "the work").unwrap();
        let seen = RunningSuite::of(dir).unwrap();
        assert!(SuiteNote::write(dir, "another").is_none());
        assert_eq!(RunningSuite::of(dir).as_ref(), Some(&seen));
        let now = millis_of(&seen.began).unwrap() + 90_000;
        assert_eq!(seen.told(now), "tests run on the work since 1m 30s");
        drop(note);
        assert_eq!(RunningSuite::of(dir), None);
        std::fs::write(dir.join(FILE_NAME), serde_json::to_vec(&seen).unwrap()).unwrap();
        assert_eq!(RunningSuite::of(dir), None);
    }
}
