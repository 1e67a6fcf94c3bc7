//! What an item has changed and no commit has yet, as its last accepted report had it: a way back brings that back, too.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use journal::EvidenceStore;
use serde::{Deserialize, Serialize};
use workspace::git::{FormerFile, Oid, RepoPath, Repository};

use crate::capability::git::changes::Changes;
use crate::fault::Fault;

/// So many bytes are copied for a report.
const MOST_COPIED: u64 = 4 * 1024 * 1024;
/// What is larger is not read.
const MOST_READ: u64 = 64 * 1024 * 1024;
/// So many files are noted.
const MOST_FILES: usize = 500;

/// What was changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Uncommitted {
    /// What each file held; none where it was gone.
    files: BTreeMap<RepoPath, Option<FileContent>>,
    /// The commit that each submodule was at.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) submodules: Submodules,
    /// What is no file, such as a link, and what was too much to read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<RepoPath>,
}

/// What a file held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FileContent {
    sha256: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_executable: bool,
    /// It is too large for a copy.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_large: bool,
}

/// Files as they were; none where one was not there.
pub(crate) type FormerFiles = BTreeMap<RepoPath, Option<FormerFile>>;
/// Submodules, each with the commit that it was at.
pub(crate) type Submodules = BTreeMap<RepoPath, Oid>;

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
            if let Ok(Some(commit)) = repository.submodule_head(&path) {
                all.submodules.insert(path, commit);
                continue;
            }
            let is_noted =
                about.is_file() && about.len() <= MOST_READ && all.files.len() < MOST_FILES;
            let Some(bytes) = is_noted.then(|| std::fs::read(&own).ok()).flatten() else {
                all.left_out.push(path);
                continue;
            };
            let length = bytes.len() as u64;
            let is_large = length > room;
            if !is_large {
                room -= length;
            }
            let content = FileContent {
                sha256: journal::sha256_hex(&bytes),
                is_executable: about.permissions().mode() & 0o100 != 0,
                is_large,
            };
            all.files.insert(path, Some(content));
        }
        all.left_out.truncate(MOST_FILES);
        all
    }

    /// The files that are to be copied, each with the SHA-256 of what it held.
    pub(crate) fn copies(&self) -> impl Iterator<Item = (&RepoPath, &String)> {
        let contents = self
            .files
            .iter()
            .filter_map(|(path, content)| Some((path, content.as_ref()?)));
        contents
            .filter(|(_, content)| !content.is_large)
            .map(|(path, content)| (path, &content.sha256))
    }

    /// What the files held, and those of which nobody knows it any more. What there is no copy of is looked for in the working tree,
    /// and in `commits`.
    pub(crate) fn read(
        &self,
        dir: &Path,
        repository: &Repository,
        commits: &[Oid],
    ) -> Result<(FormerFiles, Vec<RepoPath>), Fault> {
        let store = EvidenceStore::new(dir);
        let (mut files, mut lost) = (FormerFiles::new(), self.left_out.clone());
        for (path, content) in &self.files {
            let Some(content) = content else {
                files.insert(path.clone(), None);
                continue;
            };
            let is_it = |bytes: &Vec<u8>| journal::sha256_hex(bytes) == content.sha256;
            let here = || std::fs::read(repository.absolute(path)).ok();
            let mut found = store.get(&content.sha256).ok().or_else(here).filter(is_it);
            for commit in commits {
                if found.is_none() {
                    found = repository.bytes_at(commit, path)?.filter(is_it);
                }
            }
            if let Some(bytes) = found {
                let file = FormerFile {
                    bytes,
                    is_executable: content.is_executable,
                };
                files.insert(path.clone(), Some(file));
            } else {
                lost.push(path.clone());
            }
        }
        Ok((files, lost))
    }
}
