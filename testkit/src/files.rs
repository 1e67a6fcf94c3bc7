//! Every file below some folders, to be compared with what it is later.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Every file and folder, with its bytes, mode, identity and the time of its last change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Everything(BTreeMap<PathBuf, File>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct File {
    bytes: Vec<u8>,
    mode: u32,
    inode: u64,
    changed: (i64, i64),
}

impl Everything {
    /// Reads all that is in these folders.
    pub fn below<'a>(folders: impl IntoIterator<Item = &'a Path>) -> Self {
        let mut all = BTreeMap::new();
        for folder in folders {
            collect(folder, &mut all);
        }
        Self(all)
    }

    /// Without the paths for which this says so.
    #[must_use]
    pub fn without(mut self, left_out: impl Fn(&Path) -> bool) -> Self {
        self.0.retain(|path, _| !left_out(path));
        self
    }

    /// Only what is in the files: one that was written anew with the same content is the same.
    #[must_use]
    pub fn by_content(mut self) -> Self {
        for file in self.0.values_mut() {
            (file.inode, file.changed) = (0, (0, 0));
        }
        self
    }

    /// The paths at which the two differ.
    pub fn differences<'a>(&'a self, other: &'a Self) -> BTreeSet<&'a Path> {
        let paths = self.0.keys().chain(other.0.keys());
        paths
            .filter(|path| self.0.get(*path) != other.0.get(*path))
            .map(PathBuf::as_path)
            .collect()
    }

    /// Fails where the two differ, and names the paths.
    pub fn assert_same(&self, after: &Self, what: &str) {
        let differing = self.differences(after);
        assert!(differing.is_empty(), "{what} changed {differing:?}");
    }
}

fn collect(folder: &Path, all: &mut BTreeMap<PathBuf, File>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let about = fs::symlink_metadata(&path).unwrap();
        let bytes = if about.is_dir() {
            collect(&path, all);
            Vec::new()
        } else if about.is_symlink() {
            fs::read_link(&path).unwrap().into_os_string().into_vec()
        } else if about.is_file() {
            fs::read(&path).unwrap_or_default()
        } else {
            Vec::new()
        };
        // What happens in a folder is seen in what is in it.
        let is_file = !about.is_dir();
        let file = File {
            bytes,
            mode: about.mode(),
            inode: if is_file { about.ino() } else { 0 },
            changed: if is_file {
                (about.mtime(), about.mtime_nsec())
            } else {
                (0, 0)
            },
        };
        all.insert(path, file);
    }
}

/// The entries of a folder that may be missing, in order.
pub fn list(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .collect();
    all.sort();
    all
}
