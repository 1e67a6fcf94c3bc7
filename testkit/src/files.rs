//! Every file below some folders, to be compared with what it is later.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

/// Every file and folder, with its bytes, mode, identity and the time of its last change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Everything(BTreeMap<PathBuf, File>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct File {
    is_folder: bool,
    bytes: Vec<u8>,
    mode: u32,
    inode: u64,
    /// When it was written, and when anything about it was changed.
    changed: [(i64, i64); 2],
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

    /// Whenever the files were written for whose paths this says so.
    #[must_use]
    pub fn without_times(mut self, of: impl Fn(&Path) -> bool) -> Self {
        for (_, file) in self.0.iter_mut().filter(|(path, _)| of(path)) {
            file.changed = Default::default();
        }
        self
    }

    /// Only what is in the files: one that was written anew with the same content is the same.
    #[must_use]
    pub fn by_content(mut self) -> Self {
        for file in self.0.values_mut() {
            (file.inode, file.changed) = Default::default();
        }
        self
    }

    /// Of folders only that they are there: what happens in one is seen in what is in it.
    #[must_use]
    pub fn by_files(mut self) -> Self {
        for folder in self.0.values_mut().filter(|file| file.is_folder) {
            (folder.inode, folder.changed) = Default::default();
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

    /// Fails where the two differ, and names the paths. Git's objects are none of it: what nothing refers to is nobody's, and git
    /// clears it away.
    pub fn assert_same(&self, after: &Self, what: &str) {
        let mut differing = self.differences(after);
        differing.retain(|path| !path.to_string_lossy().contains("/.git/objects/"));
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
        let file = File {
            is_folder: about.is_dir(),
            bytes,
            mode: about.mode(),
            inode: about.ino(),
            changed: [
                (about.mtime(), about.mtime_nsec()),
                (about.ctime(), about.ctime_nsec()),
            ],
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

/// What is in each file below a folder, by its path in there. Folders have `/` behind their names, and nothing in them.
pub fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    collect(folder, &mut all);
    all.into_iter()
        .map(|(path, file)| {
            let within = path.strip_prefix(folder).unwrap().to_string_lossy();
            let end = if file.is_folder { "/" } else { "" };
            (format!("{within}{end}"), file.bytes)
        })
        .collect()
}

/// Writes a file, with the folders above it.
pub fn write(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Writes a file that can be run.
pub fn write_program(path: &Path, text: impl AsRef<[u8]>) {
    write(path, text);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Copies a folder with all in it but pipes and sockets, and with the times at which it was changed.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for path in list(from) {
        let about = fs::symlink_metadata(&path).unwrap();
        let to = to.join(path.file_name().unwrap());
        if about.is_dir() {
            copy(&path, &to);
        } else if about.is_symlink() {
            symlink(fs::read_link(&path).unwrap(), &to).unwrap();
        } else if about.is_file() {
            fs::copy(&path, &to).unwrap();
            let copied = fs::File::open(&to).unwrap();
            copied.set_modified(about.modified().unwrap()).unwrap();
        }
    }
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
}
