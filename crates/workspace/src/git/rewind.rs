//! A branch and the working tree taken back to what they were. What they are now is kept before, so that nothing is lost.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use crate::process::ProcessGroup;

use super::command::{nul_separated, nul_terminated, one_line};
use super::commit::LITERAL;
use super::error::{GitError, GitErrorKind};
use super::files::{has_link, lstat, remove, remove_empty, sync};
use super::fingerprint::{FingerprintRequest, PrivateIndex};
use super::history::TreeEntry;
use super::oid::Oid;
use super::path::RepoPath;
use super::repository::{Repository, parse_oid};
use super::status::{Renames, TreeStatus};

/// The mode under which a tree has a submodule.
const SUBMODULE: u32 = 0o160_000;
/// How long git may take to write the index.
const RESET_LIMIT: Duration = Duration::from_mins(10);

/// Where a branch that is checked out is taken back to, and the working tree with it.
#[derive(Debug, Clone, Copy)]
pub struct WayBack<'a> {
    /// The branch.
    pub branch: &'a str,
    /// The commit that it points to now.
    pub from: &'a Oid,
    /// The commit that it is to point to.
    pub to: &'a Oid,
    /// What the working tree is to hold: the tree of that commit, or what was changed upon it and not committed.
    pub tree: &'a Oid,
    /// Files that stay in the working tree as they are, and of which nothing is kept.
    pub untouched: &'a [RepoPath],
    /// The reference (a full name) under which is kept what is there now.
    pub kept_as: &'a str,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenBack {
    /// The commit under which all is kept that was there: what was not committed, upon the branch as it was; the branch itself where
    /// everything was.
    pub kept: Oid,
    /// The files of the working tree that are not as they were before.
    pub files: Vec<RepoPath>,
    /// The submodules that are not as they were before.
    pub submodules: Vec<RepoPath>,
}

impl Repository {
    /// Takes the branch that is checked out back to a commit, the index and the working tree with it. What git does not know
    /// and does not ignore is kept with the rest, and what it ignores stays where it is. It can be done again after a kill:
    /// what somebody has changed since then is kept beside what was kept first.
    ///
    /// # Errors
    /// Where HEAD is somewhere else, or git refuses.
    pub fn take_back(
        &self,
        way: &WayBack<'_>,
        on_spawn: &dyn Fn(&ProcessGroup),
    ) -> Result<TakenBack, GitError> {
        let head = self.head()?;
        let is_there = head.branch.as_deref() == Some(way.branch)
            && [Some(way.from), Some(way.to)].contains(&head.oid.as_ref());
        if !is_there {
            return Err(GitError::new(
                GitErrorKind::Refused,
                format!(
                    "HEAD is no longer on `{}` at {}",
                    way.branch,
                    way.from.short()
                ),
            ));
        }
        let tree = way.tree;
        let status = self.status_everywhere(Renames::Ignore)?;
        let kept = self.keep_present(way, tree, &status)?;
        self.git_write()
            .args(["update-ref", "-m", "tm: rewind", "HEAD"])
            .args([
                way.to.as_str(),
                head.oid.as_ref().unwrap_or(way.from).as_str(),
            ])
            .run()?;
        self.sync_branch(way.branch);
        self.bring_index_back(way, &status, on_spawn)?;
        let files = self.put_back(&kept, tree, way)?;
        let mut submodules = Vec::new();
        for (path, commit) in self.submodules_at(tree)? {
            let stays = way.untouched.iter().any(|own| path.is_under(own));
            if !stays && !self.move_submodule(&path, &commit, way.kept_as)? {
                submodules.push(path);
            }
        }
        Ok(TakenBack {
            kept,
            files,
            submodules,
        })
    }

    /// The tree of a commit with what a working tree of this status holds and no commit has, but for some files, and with what `work`
    /// has, a tree on that commit that was kept. What was amended into the commit counts as not committed. Where these conflict, or
    /// git cannot tell, the working tree goes before what was kept, and before what others have committed.
    ///
    /// # Errors
    /// Where git fails to write what there is.
    pub fn uncommitted_upon(
        &self,
        status: &TreeStatus,
        exclude: &[RepoPath],
        (commit, work): (&Oid, Option<&Oid>),
    ) -> Result<Oid, GitError> {
        let request = FingerprintRequest {
            exclude,
            ..FingerprintRequest::default()
        };
        let present = self.lasting_tree(status, &request)?;
        let Some(head) = &status.head else {
            return Ok(present);
        };
        let on = |tree: &Oid, parent: &Oid| {
            let message = "What no commit has\n".to_owned();
            self.commit_of(tree, std::slice::from_ref(parent), message)
        };
        let beside = self.commit_info(commit)?.parents;
        let is_amended = head != commit && self.commit_info(head)?.parents == beside;
        let base = if is_amended {
            beside.first()
        } else {
            Some(head)
        };
        let tip = on(&present, head)?;
        let picked = base.map(|base| self.picked_tree((base, &tip), commit));
        let tree = picked
            .and_then(|tree| tree.ok().flatten())
            .unwrap_or(present);
        let Some(work) = work else {
            return Ok(tree);
        };
        let both = self.joined_tree(&on(work, commit)?, &on(&tree, commit)?);
        Ok(both.ok().flatten().unwrap_or(tree))
    }

    /// Checks a commit out in a submodule, and keeps there what it was at; whether that went well. Git refuses where changes in it
    /// would be lost, or it does not have that commit.
    fn move_submodule(&self, path: &RepoPath, to: &Oid, kept_as: &str) -> Result<bool, GitError> {
        match self.submodule_head(path)? {
            // To git an empty folder is a submodule that was never checked out, and no folder one that was removed.
            None => Ok(self.absolute(path).is_dir()),
            Some(head) if head == *to => Ok(true),
            Some(head) => {
                let inner = self.repository_at(path)?;
                inner.refer(kept_as, &head)?;
                let checkout = ["checkout", "--quiet", "--detach", to.as_str()];
                Ok(inner.git_write().args(checkout).output()?.status.success())
            }
        }
    }

    /// Keeps branch and working tree under a reference, as one commit. What it has is kept already; where that is something
    /// else than what is there now, this comes beside it.
    fn keep_present(
        &self,
        way: &WayBack<'_>,
        goal: &Oid,
        status: &TreeStatus,
    ) -> Result<Oid, GitError> {
        let first = self.resolve(way.kept_as)?;
        if status.changes.is_empty() && status.head.as_ref() == Some(way.from) {
            if first.is_none() {
                self.refer(way.kept_as, way.from)?;
            }
            return Ok(first.unwrap_or_else(|| way.from.clone()));
        }
        let request = FingerprintRequest {
            exclude: way.untouched,
            ..FingerprintRequest::default()
        };
        let present = self.lasting_tree(status, &request)?;
        let Some(kept) = first else {
            return self.keep(way, way.kept_as, &present);
        };
        let known = self.resolve_tree(kept.as_str())?;
        if known.as_ref() != Some(&present) && *goal != present {
            let names = (2..).map(|number: u32| format!("{}.{number}", way.kept_as));
            for name in names {
                if self.resolve(&name)?.is_none() {
                    self.keep(way, &name, &present)?;
                    break;
                }
            }
        }
        Ok(kept)
    }

    fn keep(&self, way: &WayBack<'_>, reference: &str, tree: &Oid) -> Result<Oid, GitError> {
        let branch = way.branch;
        let index = self.lasting_index()?;
        let mut parents = vec![way.from.clone()];
        let is_told = |known: &Option<Oid>| known.as_ref() == Some(&index);
        if index != *tree && !is_told(&self.resolve_tree(way.from.as_str())?) {
            // As a stash has it: what was staged is the second parent.
            let message = format!("What was staged on {branch}\n");
            parents.push(self.commit_of(&index, &parents, message)?);
        }
        let message = format!("What was in the working tree on {branch}\n");
        let commit = self.commit_of(tree, &parents, message)?;
        self.refer(reference, &commit)?;
        Ok(commit)
    }

    fn commit_of(&self, tree: &Oid, parents: &[Oid], message: String) -> Result<Oid, GitError> {
        let parents = parents.iter().flat_map(|parent| ["-p", parent.as_str()]);
        let made = self
            .git_write()
            // Whoever has told git no name can go back, too.
            .config("user.name=tm")
            .config("user.email=tm@localhost")
            .args(["commit-tree", tree.as_str()])
            .args(parents)
            .stdin(message.into_bytes())
            .run()?;
        parse_oid("git commit-tree", &one_line(made))
    }

    /// Makes the index what the commit has, but for what somebody has staged of the files that stay.
    fn bring_index_back(
        &self,
        way: &WayBack<'_>,
        status: &TreeStatus,
        on_spawn: &dyn Fn(&ProcessGroup),
    ) -> Result<(), GitError> {
        let staged = self.staged_against(way.from)?;
        let is_own = |path: &RepoPath| way.untouched.iter().any(|own| path.is_under(own));
        let by_name = status.changes.iter().filter(|change| change.intent_to_add);
        let mut paths = self.staged_against(way.to)?;
        paths.retain(|path| !(is_own(path) && staged.contains(path)));
        let by_name = by_name.map(|change| change.path.clone());
        paths.extend(by_name.filter(|path| !is_own(path)));
        if paths.is_empty() {
            return Ok(());
        }
        let git = self
            .git_write()
            .args(["reset", "--quiet", "--no-recurse-submodules"])
            .args(["--pathspec-from-file=-", "--pathspec-file-nul"])
            .arg(way.to.as_str());
        let paths = paths.iter().map(|path| [LITERAL, path.as_bytes()].concat());
        let command = git.name();
        let input = nul_terminated(paths);
        let ended = self.run_watched(&git, &input, RESET_LIMIT, way.branch, on_spawn)?;
        if !ended.success() {
            return Err(ended.into_error(&command, RESET_LIMIT));
        }
        Ok(())
    }

    fn refer(&self, reference: &str, commit: &Oid) -> Result<(), GitError> {
        self.git_write()
            .args(["update-ref", "-m", "tm: kept on the way back"])
            .args([reference, commit.as_str()])
            .run()
            .map(drop)
    }

    /// Brings the working tree from what was kept to another tree.
    fn put_back(
        &self,
        kept: &Oid,
        tree: &Oid,
        way: &WayBack<'_>,
    ) -> Result<Vec<RepoPath>, GitError> {
        let mut changes = self.raw_changes(kept, tree)?;
        changes.retain(|(path, change)| {
            let is_submodule = [&change.before, &change.now]
                .into_iter()
                .flatten()
                .any(|entry| entry.mode == SUBMODULE);
            !is_submodule && !way.untouched.iter().any(|own| path.is_under(own))
        });
        let root = self.top_level();
        for (path, _) in changes.iter().filter(|(_, change)| change.now.is_none()) {
            let relative = path.to_path_buf();
            let above = relative.parent().unwrap_or(Path::new(""));
            let own = root.join(&relative);
            let is_folder = || lstat(&own).is_ok_and(|found| found.is_some_and(|at| at.is_dir()));
            // What lies behind a link, or is a folder by now, is not what was kept.
            if !has_link(root, above) && !is_folder() {
                remove(&own)
                    .map_err(|error| GitError::io(format!("cannot take {path} away"), error))?;
                remove_empty(root, above);
            }
        }
        let there: Vec<(&RepoPath, &TreeEntry)> = changes
            .iter()
            .filter_map(|(path, change)| Some((path, change.now.as_ref()?)))
            .collect();
        for (path, _) in &there {
            let own = root.join(path.to_path_buf());
            if lstat(&own).is_ok_and(|found| found.is_some_and(|at| at.is_dir())) {
                return Err(GitError::new(
                    GitErrorKind::Refused,
                    format!("{path} is a folder with files that git ignores: it is in the way"),
                ));
            }
        }
        if !there.is_empty() {
            self.write_files(&there)?;
        }
        let files: Vec<RepoPath> = changes.into_iter().map(|(path, _)| path).collect();
        self.sync_files(&files);
        Ok(files)
    }

    /// Writes files into the working tree, and looks whether they are there: git tells of not all that it cannot write.
    fn write_files(&self, files: &[(&RepoPath, &TreeEntry)]) -> Result<(), GitError> {
        let index = PrivateIndex::lasting(self)?;
        // None but these are in it, so that only these are looked at.
        let lines = files.iter().map(|(path, TreeEntry { mode, oid })| {
            [format!("{mode:o} {oid}\t").as_bytes(), path.as_bytes()].concat()
        });
        let git = || index.git(self).config("core.sparseCheckout=false");
        git()
            .args(["update-index", "-z", "--index-info"])
            .stdin(nul_terminated(lines))
            .run()?;
        git()
            .args(["checkout-index", "--all", "--force", "--index", "--quiet"])
            .run()?;
        let differing = git()
            .args(["diff-files", "--name-only", "-z"])
            .args(["--ignore-submodules", "--no-ext-diff"])
            .run()?;
        for path in nul_separated(&differing) {
            let path = RepoPath::trusted(path);
            let held = fs::read(self.top_level().join(path.to_path_buf()));
            let name = [b":", path.as_bytes()].concat();
            let due = git()
                .args(["cat-file", "--filters"])
                .arg(OsStr::from_bytes(&name))
                .run()?;
            // What a filter makes of a file may look changed and be as it is to be.
            if held.ok().as_ref() != Some(&due) {
                return Err(GitError::new(
                    GitErrorKind::Io,
                    format!("{path} was not written: it is not what it was"),
                ));
            }
        }
        Ok(())
    }

    /// Syncs files of the working tree and the folders that they are in, or were: git syncs none of them.
    fn sync_files(&self, files: &[RepoPath]) {
        if !self.syncs() {
            return;
        }
        let mut folders = BTreeSet::new();
        for path in files {
            let own = self.top_level().join(path.to_path_buf());
            sync(&own);
            let above = own.ancestors().skip(1);
            let within = above.take_while(|folder| folder.starts_with(self.top_level()));
            folders.extend(within.map(Path::to_owned));
        }
        for folder in &folders {
            sync(folder);
        }
    }
}
