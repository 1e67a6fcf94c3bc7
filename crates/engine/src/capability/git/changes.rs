//! What the run changed in the working tree, apart from what was there before.

use workspace::git::{Change, RepoPath, Repository, TreeStatus};

use crate::capability::memory::Memory;
use crate::capability::tests::read::few;
use crate::fault::Fault;
use crate::next_step::{NextStep, typed};
use crate::refusal;
use crate::support::HandlerError;

/// The working tree as the run sees it.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// Files that the run changed, made or deleted.
    pub files: Vec<Change>,
    /// Of these, files that were dirty before the run and are different now.
    pub was_dirty: Vec<RepoPath>,
    /// Files that are as dirty as they were before.
    pub untouched: Vec<RepoPath>,
    /// Reports that were handed in.
    pub reports: Vec<RepoPath>,
}

impl Changes {
    /// Sorts what git says by what the run knows.
    pub fn of(
        status: &TreeStatus,
        memory: &Memory,
        repository: &Repository,
        named: &[RepoPath],
    ) -> Result<Self, Fault> {
        let exempt = memory.exempt(repository);
        let reports = &memory.reports;
        let known: Vec<RepoPath> = memory.dirty.keys().cloned().collect();
        let now = if known.is_empty() {
            Vec::new()
        } else {
            repository.hash_files(&known)?
        };
        let mut changes = Self::default();
        for change in &status.changes {
            if exempt.contains(&change.path) {
                continue;
            }
            let is_named = change.paths().any(|path| named.contains(path));
            // A report that was handed in is no work of the run, unless git knows it or somebody names it.
            if reports.contains(&change.path) && change.untracked && !is_named {
                changes.reports.push(change.path.clone());
                continue;
            }
            if change.nested && !is_named {
                continue;
            }
            let moved = change
                .original
                .as_ref()
                .and_then(|original| memory.dirty.get(original))
                .is_some_and(|before| !before.left);
            if moved {
                changes.was_dirty.push(change.path.clone());
            } else if let Some(before) = memory.dirty.get(&change.path) {
                let content = now
                    .iter()
                    .find(|(path, _)| *path == change.path)
                    .and_then(|(_, content)| content.as_ref().map(|id| id.as_str().to_owned()));
                if content == before.content && !is_named {
                    changes.untouched.push(change.path.clone());
                    continue;
                }
                if content != before.content && !before.left {
                    changes.was_dirty.push(change.path.clone());
                }
            }
            changes.files.push(change.clone());
        }
        Ok(changes)
    }

    /// Refuses submodules with changes that are in no commit of theirs: a commit of the run cannot hold them.
    pub fn no_dirty_submodules(&self, repository: &Repository) -> Result<(), HandlerError> {
        let dirty = self.files.iter().filter(|change| change.dirty_inside);
        let paths: Vec<&RepoPath> = dirty.map(|change| &change.path).collect();
        let Some(first) = paths.first() else {
            return Ok(());
        };
        let folder = repository.absolute(first);
        let folder = folder.to_string_lossy();
        let dirty: Vec<String> = paths.iter().map(ToString::to_string).collect();
        Err(refusal!(
            "unfit_files.dirty_submodule",
            dirty = few(&dirty),
            folder = NextStep::git(["-C", &folder, "add", "--all"]),
            commit = NextStep::git(["-C", &folder, "commit", "--message", "…"]),
            typed_folder = typed(&folder)
        )
        .detail("files", dirty)
        .into())
    }

    /// Files that a skipped subtask left, and nobody has taken on.
    pub fn left(&self, memory: &Memory) -> Vec<String> {
        let is_left = |path: &&RepoPath| memory.dirty.get(path).is_some_and(|file| file.left);
        let left = self.untouched.iter().filter(is_left);
        left.map(ToString::to_string).collect()
    }

    /// Every path that a commit of these changes names.
    pub fn paths(&self) -> Vec<RepoPath> {
        let mut paths: Vec<RepoPath> = self
            .files
            .iter()
            .flat_map(|change| change.paths().cloned())
            .collect();
        paths.sort();
        paths.dedup();
        paths
    }

    /// The files, for people and programs.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .files
            .iter()
            .map(|change| change.path.to_string())
            .collect();
        names.sort();
        names
    }

    /// What a fingerprint leaves out.
    pub fn exclude(&self, memory: &Memory, repository: &Repository) -> Vec<RepoPath> {
        let mut exclude = memory.exempt(repository);
        exclude.extend(self.untouched.iter().chain(&self.reports).cloned());
        exclude
    }
}
