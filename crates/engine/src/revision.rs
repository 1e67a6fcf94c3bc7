//! Whether something changed since it was last looked at, without reading it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

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
