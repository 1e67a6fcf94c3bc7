//! What files of tests held before, and what of a change of them changes no test: another form, another place, and snapshots that were empty.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use journal::EvidenceStore;
use syntax::Comparison as Sameness;
use workspace::git::{Change, Oid, RepoPath, Repository};

use crate::capability::tests::evidence::frozen::Look;
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
        let Some(hash) = self.copy(path) else {
            return Ok(self.repository.file_at(self.last, path)?);
        };
        let bytes = EvidenceStore::new(self.dir).get(hash)?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
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
        (look, changes): (&Look<'_>, &[Change]),
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
                || !look.is_tests_alone(path)
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
        among: (&Look<'_>, &[Change]),
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
        Ok(moved)
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
