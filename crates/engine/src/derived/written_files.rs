//! How this process left the files that are made from the journal, so that it need not read them again at its next call.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use machine::RunState;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat};

use crate::derived::REPORTS;
use crate::run_cache;

/// At most so many runs are remembered.
const MOST_RUNS: usize = 8;
/// The files that every run has.
const FILES: [&str; 4] = [
    "state.json",
    "manifest.json",
    "workflow.yaml",
    "work-units.json",
];

static LEFT: Mutex<Vec<(PathBuf, WrittenFiles)>> = Mutex::new(Vec::new());

/// The files of one run.
#[derive(Debug, PartialEq)]
struct WrittenFiles {
    /// Time of the run's last event.
    updated_at: String,
    transitions: u64,
    files: Vec<Option<Stamp>>,
}

/// What a file is told by, short of reading it: device, inode, length, and time of the last change in seconds and
/// nanoseconds.
type Stamp = [i128; 5];

/// The files as they are. `None` where one is missing that every run has.
fn look(dir: &Path, run: &RunState) -> Option<WrittenFiles> {
    // A path is long, and each of the files lies at the end of it.
    let folder = openat(CWD, dir, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let stamp = |name: &&str| {
        let found = statat(&folder, *name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
        // Systems have them as numbers of different kinds.
        is_file.then(|| {
            [
                found.st_dev.into(),
                found.st_ino.into(),
                found.st_size.into(),
                found.st_ctime.into(),
                found.st_ctime_nsec.into(),
            ]
        })
    };
    let mut files: Vec<Option<Stamp>> = FILES.iter().map(stamp).collect();
    if files.contains(&None) {
        return None;
    }
    files.extend(REPORTS.iter().map(stamp));
    Some(WrittenFiles {
        updated_at: run.updated_at.clone(),
        transitions: run.transitions,
        files,
    })
}

/// Notes how the files of the run in the folder `dir` were left: they were written, or found to be right.
pub(super) fn note(dir: &Path, run: &RunState) {
    if !run_cache::is_on() {
        return;
    }
    let found = look(dir, run);
    let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
    left.retain(|(of, _)| of != dir);
    if left.len() >= MOST_RUNS {
        left.remove(0);
    }
    left.extend(found.map(|found| (dir.to_owned(), found)));
}

/// Whether the run and its files are as this process left them.
pub(super) fn is_unchanged(dir: &Path, run: &RunState) -> bool {
    if !run_cache::is_on() {
        return false;
    }
    let left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
    left.iter()
        .find(|(of, _)| of == dir)
        .is_some_and(|(_, left)| look(dir, run).as_ref() == Some(left))
}
