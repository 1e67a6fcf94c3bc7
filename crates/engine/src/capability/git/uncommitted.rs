//! What an item has changed and no commit has yet, as its last accepted report had it: a way back brings that back, too.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use journal::EvidenceStore;
use serde::{Deserialize, Serialize};
use workspace::git::{FormerFile, RepoPath, Repository};

use crate::capability::git::changes::Changes;

/// So many bytes are copied for a report.
const MOST_COPIED: usize = 4 * 1024 * 1024;
/// So many files are.
const MOST_FILES: usize = 500;

/// What was changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Uncommitted {
    /// What each file held; none where it was gone.
    files: BTreeMap<RepoPath, Option<FileCopy>>,
    /// Files of which there is no copy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<RepoPath>,
}

/// A file in the run's evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FileCopy {
    sha256: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_executable: bool,
}

impl Uncommitted {
    /// What the working tree has of these changes.
    pub(crate) fn of(repository: &Repository, changes: &Changes) -> Self {
        let mut all = Self::default();
        let mut room = MOST_COPIED;
        for path in changes.paths() {
            let own = repository.absolute(&path);
            let Ok(about) = std::fs::symlink_metadata(&own) else {
                all.files.insert(path, None);
                continue;
            };
            let copy = (about.is_file() && all.files.len() < MOST_FILES)
                .then(|| std::fs::read(&own).ok())
                .flatten()
                .filter(|bytes| bytes.len() <= room);
            let Some(bytes) = copy else {
                all.left_out.push(path);
                continue;
            };
            room -= bytes.len();
            let copy = FileCopy {
                sha256: journal::sha256_hex(&bytes),
                is_executable: about.permissions().mode() & 0o100 != 0,
            };
            all.files.insert(path, Some(copy));
        }
        all.left_out.truncate(MOST_FILES);
        all
    }

    /// The files that are to be copied, each with the SHA-256 of what it held.
    pub(crate) fn copies(&self) -> impl Iterator<Item = (&RepoPath, &String)> {
        let files = self.files.iter();
        files.filter_map(|(path, copy)| Some((path, &copy.as_ref()?.sha256)))
    }

    /// What the files held, and those of which nobody knows it any more.
    pub(crate) fn read(
        &self,
        dir: &Path,
    ) -> (BTreeMap<RepoPath, Option<FormerFile>>, Vec<RepoPath>) {
        let store = EvidenceStore::new(dir);
        let (mut files, mut lost) = (BTreeMap::new(), self.left_out.clone());
        for (path, copy) in &self.files {
            let Some(copy) = copy else {
                files.insert(path.clone(), None);
                continue;
            };
            if let Ok(bytes) = store.get(&copy.sha256) {
                let file = FormerFile {
                    bytes,
                    is_executable: copy.is_executable,
                };
                files.insert(path.clone(), Some(file));
            } else {
                lost.push(path.clone());
            }
        }
        (files, lost)
    }
}
