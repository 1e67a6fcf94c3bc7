//! Whether something changed since it was last looked at, without reading it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use journal::layout::RunDir;

use crate::engine::Engine;
use crate::fault::Fault;

/// Runs that may still move are among the newest.
const NEWEST: usize = 64;

impl Engine {
    /// A number that changes whenever the run does, by whichever process: its journal grows. `None` where there is no
    /// such run.
    pub fn run_revision(&self, run: &str) -> Option<u64> {
        let (_, dir) = self.looked_at(Some(run)).ok()?;
        Some(of_journal(&dir.journal_path()))
    }

    /// A number that changes whenever a run is begun here, or one of the newest moves.
    pub fn runs_revision(&self) -> Result<u64, Fault> {
        let mut hash = DefaultHasher::new();
        if let Some(project) = self.stored()? {
            let mut dirs: Vec<RunDir> = Vec::new();
            for id in project.runs()? {
                id.hash(&mut hash);
                if dirs.len() < NEWEST {
                    dirs.push(project.run(&id)?);
                }
            }
            for dir in dirs {
                stamp(&dir.journal_path(), &mut hash);
            }
        }
        Ok(hash.finish())
    }
}

/// A number that changes whenever the journal at this path does.
pub(crate) fn of_journal(path: &Path) -> u64 {
    of_files([path])
}

/// A number that changes whenever one of these files does.
pub(crate) fn of_files<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> u64 {
    let mut hash = DefaultHasher::new();
    for path in paths {
        stamp(path.as_ref(), &mut hash);
    }
    hash.finish()
}

fn stamp(path: &Path, hash: &mut DefaultHasher) {
    use std::os::unix::fs::MetadataExt as _;
    if let Ok(metadata) = std::fs::metadata(path) {
        (
            metadata.ino(),
            metadata.len(),
            metadata.mtime(),
            metadata.mtime_nsec(),
        )
            .hash(hash);
    }
}
