//! The benches that lie in a folder: what they are of, how large they are, and none any more.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::bench::OF;
use super::files::lstat;
use super::scratch::{is_file_at, remove_whole};

/// A bench that nobody took for so long is removed with the next that is taken.
const UNUSED: Duration = Duration::from_hours(30 * 24);

/// A bench, as it lies in its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredBench {
    /// Its folder.
    pub folder: PathBuf,
    /// The working tree that it is of.
    pub of: PathBuf,
    /// When it was taken last.
    pub taken: SystemTime,
}

/// All benches in a folder, in the order of their names.
pub fn stored_benches(benches: &Path) -> Vec<StoredBench> {
    let entries = benches.read_dir().into_iter().flatten().flatten();
    let mut all: Vec<StoredBench> = entries
        .filter_map(|entry| {
            let folder = entry.path();
            let note = folder.join(OF);
            // Without its note it is of nothing any more.
            let of = fs::read(&note).unwrap_or_default();
            let taken = fs::metadata(if of.is_empty() { &folder } else { &note });
            Some(StoredBench {
                taken: taken.and_then(|about| about.modified()).ok()?,
                of: OsStr::from_bytes(&of).into(),
                folder,
            })
        })
        .collect();
    all.sort_by(|a, b| a.folder.cmp(&b.folder));
    all
}

impl StoredBench {
    /// How much room it takes on the disk, in bytes, as far as it can be read.
    pub fn size(&self) -> u64 {
        let mut folders = vec![self.folder.clone()];
        let mut blocks = 0;
        while let Some(folder) = folders.pop() {
            for entry in folder.read_dir().into_iter().flatten().flatten() {
                if let Ok(Some(about)) = lstat(&entry.path()) {
                    blocks += about.blocks();
                    if about.is_dir() {
                        folders.push(entry.path());
                    }
                }
            }
        }
        // Of that size whatever the file system's own are.
        blocks * 512
    }

    /// Whether a suite runs on it. To find out it is taken for a moment.
    pub fn is_in_use(&self) -> bool {
        locked(&self.folder).is_none()
    }

    /// Whether its working tree is gone, or it was not taken for a long time.
    pub fn is_unused(&self) -> bool {
        let age = self.taken.elapsed().unwrap_or_default();
        !self.of.exists() || age > UNUSED
    }

    /// Removes it, unless a suite runs on it. Says whether it is gone.
    ///
    /// # Errors
    /// Where something in it cannot be removed.
    pub fn remove(&self) -> io::Result<bool> {
        // Held until the folder is gone.
        let Some(_lock) = locked(&self.folder) else {
            return Ok(false);
        };
        remove_whole(&self.folder)?;
        Ok(true)
    }
}

/// Removes the benches that nobody uses any more. What cannot be removed stays for the next time.
pub(super) fn remove_unused_benches(benches: &Path) {
    for bench in stored_benches(benches) {
        if bench.is_unused() {
            drop(bench.remove());
        }
    }
}

/// The folder of a bench that nobody has, taken.
fn locked(folder: &Path) -> Option<File> {
    let lock = File::open(folder).ok()?;
    (lock.try_lock().is_ok() && is_file_at(&lock, folder)).then_some(lock)
}
