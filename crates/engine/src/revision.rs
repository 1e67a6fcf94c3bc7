//! Whether something changed since it was last looked at, without reading it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use crate::{refusals, running_suite};

/// A number that changes whenever an event came of the run in this folder.
pub(crate) fn of_journal(dir: &Path) -> u64 {
    let mut hash = DefaultHasher::new();
    stamp(&dir.join(journal::file::FILE_NAME), &mut hash);
    hash.finish()
}

/// A number that changes whenever something came of the run in this folder: an event, or a refusal.
pub(crate) fn of_run(dir: &Path) -> u64 {
    let mut hash = DefaultHasher::new();
    for file in [
        journal::file::FILE_NAME,
        refusals::FILE_NAME,
        running_suite::FILE_NAME,
    ] {
        stamp(&dir.join(file), &mut hash);
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
