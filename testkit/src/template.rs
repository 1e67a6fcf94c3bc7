//! Repositories with one commit. Each is made once in a process, and written down for each test that begins with it: git is
//! not asked again.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::sandbox::Sandbox;

/// Paths and texts of the files that are committed.
type Files = Vec<(String, String)>;

/// Everything in a repository, folders before what is in them.
#[derive(Default)]
pub(crate) struct Template(Vec<Entry>);

struct Entry {
    path: PathBuf,
    mode: u32,
    /// None where it is a folder.
    bytes: Option<Vec<u8>>,
}

impl Template {
    /// The repository with one commit on `main`, of these files.
    pub(crate) fn of(files: &[(&str, &str)]) -> Arc<Self> {
        static MADE: Mutex<BTreeMap<Files, Arc<Template>>> = Mutex::new(BTreeMap::new());
        let key: Files = files
            .iter()
            .map(|&(path, text)| (path.to_owned(), text.to_owned()))
            .collect();
        // A test that failed meanwhile left a whole map behind.
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        made.entry(key)
            .or_insert_with(|| Arc::new(Self::made(files)))
            .clone()
    }

    fn made(files: &[(&str, &str)]) -> Self {
        let sandbox = Sandbox::new();
        for (path, text) in files {
            sandbox.write(path, text);
        }
        sandbox.init();
        sandbox.commit_all("Begin");
        let mut template = Self::default();
        template.read(&sandbox.project(), Path::new(""));
        template
    }

    fn read(&mut self, folder: &Path, within: &Path) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let about = entry.metadata().unwrap();
            let path = within.join(entry.file_name());
            let bytes = about.is_file().then(|| fs::read(entry.path()).unwrap());
            self.0.push(Entry {
                path: path.clone(),
                mode: about.permissions().mode(),
                bytes,
            });
            if about.is_dir() {
                self.read(&entry.path(), &path);
            }
        }
    }

    /// Writes it down in a folder that is empty.
    pub(crate) fn write_to(&self, folder: &Path) {
        for Entry { path, mode, bytes } in &self.0 {
            let path = folder.join(path);
            match bytes {
                None => DirBuilder::new().mode(*mode).create(&path).unwrap(),
                Some(bytes) => {
                    let mut new = OpenOptions::new();
                    new.write(true).create_new(true).mode(*mode);
                    new.open(&path).unwrap().write_all(bytes).unwrap();
                }
            }
        }
    }
}
