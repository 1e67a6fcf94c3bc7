//! What files of tests held before, and what of a change of them changes no test: another form, another place, and snapshots that were empty.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use journal::EvidenceStore;
use syntax::Comparison as Sameness;
use workspace::convention::inline_tests::is_snapshot;
use workspace::git::{Change, Oid, RepoPath, Repository};

use crate::capability::tests::evidence::frozen::TestReader;
use crate::capability::tests::snapshots::entries;
use crate::fault::Fault;

/// The hash of what each frozen test held, where it is kept in the run's evidence.
pub(crate) type Copies = BTreeMap<RepoPath, String>;

/// The files of tests as they were before: as they were kept, or as the run's last commit has them.
pub(crate) struct FormerTests<'a> {
    pub(crate) repository: &'a Repository,
    pub(crate) last: &'a Oid,
    /// The run's folder.
    pub(crate) dir: &'a Path,
    pub(crate) kept: Copies,
}

/// A test file that came instead of one that is gone.
pub(crate) struct NewName {
    pub(crate) path: RepoPath,
    /// What it holds.
    pub(crate) is: Likeness,
}

/// How much of a file another one holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Likeness {
    /// Each byte.
    Bytes,
    /// The same tests.
    Tests,
    /// Most of it.
    Most,
}

impl FormerTests<'_> {
    /// Where a copy of a file is kept.
    pub(crate) fn copy(&self, path: &RepoPath) -> Option<&String> {
        let store = EvidenceStore::new(self.dir);
        self.kept.get(path).filter(|hash| store.get(hash).is_ok())
    }

    /// What a file held; none where it was not there, or is no text.
    pub(crate) fn text(&self, path: &RepoPath) -> Result<Option<String>, Fault> {
        let store = EvidenceStore::new(self.dir);
        match self.kept.get(path).and_then(|hash| store.get(hash).ok()) {
            Some(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            None => Ok(self.repository.file_at(self.last, path)?),
        }
    }

    /// What a file is now to what it held; none where that cannot be told.
    pub(crate) fn compared(&self, path: &RepoPath) -> Result<Option<Sameness>, Fault> {
        let (Some(was), Some(now)) = (self.text(path)?, self.text_now(path)) else {
            return Ok(None);
        };
        let path = path.to_string();
        Ok(syntax::compare((&path, &was), (&path, &now)))
    }

    /// What a file holds now, where it is one and no link to another.
    fn text_now(&self, path: &RepoPath) -> Option<String> {
        let own = self.repository.absolute(path);
        let is_file = std::fs::symlink_metadata(&own).is_ok_and(|meta| meta.is_file());
        is_file.then(|| std::fs::read_to_string(own).ok())?
    }

    /// The new file of tests, among these changes and not among those that were `taken`, that holds what one held that is gone.
    pub(crate) fn new_name(
        &self,
        gone: &RepoPath,
        (reader, changes): (&TestReader<'_>, &[Change]),
        taken: &BTreeSet<RepoPath>,
    ) -> Result<Option<NewName>, Fault> {
        let Some(was) = self.text(gone)? else {
            return Ok(None);
        };
        let mut found: Option<NewName> = None;
        for change in changes {
            let path = &change.path;
            if change.deleted
                || path == gone
                || taken.contains(path)
                || !reader.is_tests_alone(path)
                || self.repository.file_at(self.last, path)?.is_some()
            {
                continue;
            }
            let Some(now) = self.text_now(path) else {
                continue;
            };
            let (from, to) = (gone.to_string(), path.to_string());
            let is = if now == was {
                Likeness::Bytes
            } else if syntax::compare((&from, &was), (&to, &now)) == Some(Sameness::Same) {
                Likeness::Tests
            } else if are_alike(&was, &now) {
                Likeness::Most
            } else {
                continue;
            };
            if found.as_ref().is_none_or(|found| is < found.is) {
                let path = path.clone();
                found = Some(NewName { path, is });
            }
        }
        Ok(found)
    }

    /// Where the tests of files have gone that are not there any more, as far as all of them lie in a new file.
    pub(crate) fn moved<'p>(
        &self,
        gone: impl IntoIterator<Item = &'p RepoPath>,
        among: (&TestReader<'_>, &[Change]),
    ) -> Result<BTreeMap<RepoPath, RepoPath>, Fault> {
        let mut taken = BTreeSet::new();
        let mut moved = BTreeMap::new();
        for path in gone {
            let new = self.new_name(path, among, &taken)?;
            // What has another ending is run by nobody, or by another runner.
            let is_test =
                |new: &NewName| new.is != Likeness::Most && ending(&new.path) == ending(path);
            if let Some(new) = new.filter(is_test) {
                taken.insert(new.path.clone());
                moved.insert(path.clone(), new.path);
            }
        }
        let all: BTreeSet<PathBuf> = moved.values().map(RepoPath::to_path_buf).collect();
        let mut kept = BTreeMap::new();
        for (from, to) in moved {
            if self.means_the_same(&from, &to, &all) && self.has_its_snapshots(&from, &to)? {
                kept.insert(from, to);
            }
        }
        Ok(kept)
    }

    /// Whether a file finds at its new place what it found at the old one: it lies in the same folder, or in one that is new there and
    /// has nothing but what was moved. Helpers, data and settings beside it would else be others.
    fn means_the_same(&self, from: &RepoPath, to: &RepoPath, moved: &BTreeSet<PathBuf>) -> bool {
        let (from, to) = (from.to_path_buf(), to.to_path_buf());
        let folders = |path: &Path| -> Vec<OsString> {
            let folder = path.parent().unwrap_or(Path::new(""));
            folder.iter().map(ToOwned::to_owned).collect()
        };
        let (before, now) = (folders(&from), folders(&to));
        if before == now {
            return true;
        }
        let shared = before.iter().zip(&now).take_while(|(a, b)| a == b).count();
        let Some(new) = now.get(shared) else {
            return false;
        };
        let top: PathBuf = now[..shared].iter().chain([new]).collect();
        self.holds_only(&top, moved)
    }

    /// Whether a folder has no files but these, snapshots, which are held by themselves, and such as make it a package and are empty.
    fn holds_only(&self, folder: &Path, files: &BTreeSet<PathBuf>) -> bool {
        let root = self.repository.top_level();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = std::fs::read_dir(root.join(&folder)) else {
                return false;
            };
            for entry in entries {
                let Ok(entry) = entry else { return false };
                let path = folder.join(entry.file_name());
                let Ok(about) = std::fs::symlink_metadata(root.join(&path)) else {
                    return false;
                };
                // What was compiled of these files is found only beside them.
                if about.is_dir() && entry.file_name() != "__pycache__" {
                    folders.push(path);
                    continue;
                }
                let is_empty_package =
                    about.is_file() && about.len() == 0 && entry.file_name() == "__init__.py";
                if !about.is_dir()
                    && !files.contains(&path)
                    && !is_snapshot(&path.to_string_lossy())
                    && !is_empty_package
                {
                    return false;
                }
            }
        }
        true
    }

    /// Whether the snapshots that Jest and Vitest keep for a file lie beside its new place, as they were.
    fn has_its_snapshots(&self, from: &RepoPath, to: &RepoPath) -> Result<bool, Fault> {
        let of = |path: &RepoPath| {
            let path = path.to_path_buf();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let folder = path.parent().unwrap_or(Path::new(""));
            folder.join("__snapshots__").join(format!("{name}.snap"))
        };
        let root = self.repository.top_level();
        let Some(kept) = self.repository.relative(&root.join(of(from))) else {
            return Ok(true);
        };
        let Some(before) = self.text(&kept)? else {
            return Ok(true);
        };
        let now = std::fs::read_to_string(root.join(of(to))).unwrap_or_default();
        Ok(entries(&now) == entries(&before))
    }
}

fn ending(path: &RepoPath) -> Option<String> {
    let name = path.to_string();
    name.rsplit_once('.').map(|(_, ending)| ending.to_owned())
}

/// Whether a file is most of what another was.
fn are_alike(was: &str, now: &str) -> bool {
    let lines = |text: &str| -> Vec<String> {
        let lines = text.lines().map(str::trim);
        lines
            .filter(|line| line.len() > 1)
            .map(str::to_owned)
            .collect()
    };
    let was = lines(was);
    let now: BTreeSet<String> = lines(now).into_iter().collect();
    let same = was.iter().filter(|line| now.contains(*line)).count();
    same > 0 && same * 2 >= was.len()
}
