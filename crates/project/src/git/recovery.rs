//! After a crash: was our commit made, is our git still running, has it left a lock?
//!
//! A commit of ours is known by its parent and its author date, which no hook changes; message and tree may have come
//! out otherwise than was asked. The reflog, where there is one, says that it was ours: it begins with the action
//! that our git was given.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::command::nul_terminated;
use super::commit::LITERAL;
use super::error::GitError;
use super::history::CommitInfo;
use super::oid::Oid;
use super::path::RepoPath;
use super::repository::{Repository, parse_oid};
use super::status::Renames;
use crate::process::ProcessGroup;

/// How far back from the branch's tip, and in its reflog, our commit is looked for.
const SEARCHED: usize = 256;
/// The clock of a file system may be a little behind the system's.
const CLOCK_SLACK: Duration = Duration::from_millis(50);

/// What was journalled before a commit, by which it is known again.
#[derive(Debug, Clone, Copy)]
pub struct CommitIntentRef<'a> {
    /// The commit it was to be made on.
    pub parent: &'a Oid,
    /// The author date it was to have, as in `1760000000 +0000`.
    pub author_date: &'a str,
    /// What its line in the reflog was to begin with.
    pub reflog_action: &'a str,
    /// The branch.
    pub branch: &'a str,
    /// The group that git ran in, if it was kept.
    pub process_group: Option<&'a ProcessGroup>,
}

/// What became of a commit that was intended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// It is on the branch.
    Made(CommitInfo),
    /// It was made, and then taken off the branch by somebody (an amend, a reset, a rebase).
    Rewritten(CommitInfo),
    /// It was not made.
    NotMade,
    /// The git that was to make it still runs. [`ProcessGroup::wait`] for it, then ask again.
    Running,
}

impl Repository {
    /// Whether the intended commit was made.
    pub fn find_our_commit(&self, intent: &CommitIntentRef<'_>) -> Result<Found, GitError> {
        if intent.process_group.is_some_and(ProcessGroup::is_alive) {
            return Ok(Found::Running);
        }
        if !self.branch_exists(intent.branch)? {
            return Ok(Found::NotMade);
        }
        let branch = format!("refs/heads/{}", intent.branch);
        let is_ours = |commit: &CommitInfo| {
            commit.parents == [intent.parent.clone()]
                && same_date(&commit.author_date, intent.author_date)
        };
        let limit = format!("--max-count={SEARCHED}");
        let since_parent = format!("^{}", intent.parent);
        let on_branch = self
            .log(&[&limit, "--first-parent", &since_parent, &branch])?
            .into_iter()
            .find(is_ours);
        let reflog = self.reflog(&branch)?;
        let confirms = |message: &str| {
            message
                .strip_prefix(intent.reflog_action)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with([':', ' ']))
        };
        if let Some(commit) = on_branch {
            let mut entries = reflog
                .iter()
                .filter(|(oid, _)| *oid == commit.oid)
                .peekable();
            if entries.peek().is_none() || entries.any(|(_, message)| confirms(message)) {
                return Ok(Found::Made(commit));
            }
        }
        // Not there, or there with the date of ours but made by another command, as an amend does.
        for (oid, _) in reflog.iter().filter(|(_, message)| confirms(message)) {
            let commit = self.commit_info(oid)?;
            if is_ours(&commit) {
                return Ok(Found::Rewritten(commit));
            }
        }
        Ok(Found::NotMade)
    }

    /// The newest entries of a reflog, newest first; none where none is kept.
    fn reflog(&self, full_name: &str) -> Result<Vec<(Oid, String)>, GitError> {
        let output = self
            .git()
            .args([
                "log",
                "-z",
                "--walk-reflogs",
                "--no-show-signature",
                "--no-patch",
                "--format=%H%x00%gs",
            ])
            .args([&format!("--max-count={SEARCHED}"), full_name, "--"])
            .run()?;
        let mut pieces: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
        pieces.pop();
        pieces
            .chunks_exact(2)
            .map(|pair| {
                Ok((
                    parse_oid("git log --walk-reflogs", pair[0])?,
                    String::from_utf8_lossy(pair[1]).into_owned(),
                ))
            })
            .collect()
    }

    /// The lock on the index of this working tree, if somebody holds it.
    pub fn index_lock(&self) -> Result<Option<PathBuf>, GitError> {
        let lock = self.git_dir().join("index.lock");
        match fs::symlink_metadata(&lock) {
            Ok(_) => Ok(Some(lock)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(GitError::io(
                format!("cannot look at {}", lock.display()),
                error,
            )),
        }
    }

    /// Removes the lock files that a dead git of ours has left: on the index, on HEAD, on the branch. A lock is ours if
    /// the group is dead and the lock was made after `since`, the time of the intent. Gives the files that were removed.
    pub fn remove_stale_index_lock(
        &self,
        group: &ProcessGroup,
        since: SystemTime,
        branch: &str,
    ) -> Result<Vec<PathBuf>, GitError> {
        // A name with two dots is no branch's, and would lead elsewhere.
        if group.is_alive() || branch.contains("..") {
            return Ok(Vec::new());
        }
        let git_dir = self.git_dir();
        let locks = [
            git_dir.join("index.lock"),
            git_dir.join(format!("next-index-{}.lock", group.id)),
            git_dir.join("HEAD.lock"),
            self.common_dir().join(format!("refs/heads/{branch}.lock")),
        ];
        let mut removed = Vec::new();
        for lock in locks {
            let made = match fs::symlink_metadata(&lock).and_then(|metadata| metadata.modified()) {
                Ok(made) => made,
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                    ) =>
                {
                    continue;
                }
                Err(error) => {
                    return Err(GitError::io(
                        format!("cannot look at {}", lock.display()),
                        error,
                    ));
                }
            };
            if made + CLOCK_SLACK < since {
                continue;
            }
            match fs::remove_file(&lock) {
                Ok(()) => removed.push(lock),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    return Err(GitError::io(
                        format!("cannot remove {}", lock.display()),
                        error,
                    ));
                }
            }
        }
        Ok(removed)
    }

    /// Takes those of the files out of the index that are there by name only, and gives them. Meant for files that were
    /// unknown to git when a commit of them was begun and did not come about.
    pub fn take_back_intent_to_add(&self, paths: &[RepoPath]) -> Result<Vec<RepoPath>, GitError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let status = self.status_everywhere(Renames::Ignore)?;
        let by_name_only: Vec<RepoPath> = status
            .changes
            .into_iter()
            .filter(|change| change.intent_to_add && paths.contains(&change.path))
            .map(|change| change.path)
            .collect();
        if !by_name_only.is_empty() {
            let list = nul_terminated(by_name_only.iter().map(RepoPath::as_bytes));
            self.git_write()
                .args(["update-index", "-z", "--force-remove", "--stdin"])
                .stdin(list)
                .run()?;
        }
        Ok(by_name_only)
    }

    /// After a commit of ours: makes the index agree with it where hooks changed what went in.
    ///
    /// A hook that formats files and adds them again does so in the index of the commit, not in the user's, which
    /// would then show the files as changed back. Only files of the commit are set, and of those that were not asked for
    /// only the ones that the user had not staged otherwise. Doing it again changes nothing.
    pub fn settle_index(&self, commit: &CommitInfo, asked: &[RepoPath]) -> Result<(), GitError> {
        let Some(parent) = commit.parents.first() else {
            return Ok(());
        };
        let staged = self.staged_against(&commit.oid)?;
        if staged.is_empty() {
            return Ok(());
        }
        let committed = self.changed_paths(parent, &commit.oid)?;
        let staged_before = self.staged_against(parent)?;
        let unsettled: Vec<Vec<u8>> = staged
            .into_iter()
            .filter(|path| committed.contains(path))
            .filter(|path| asked.contains(path) || !staged_before.contains(path))
            .map(|path| [LITERAL, path.as_bytes()].concat())
            .collect();
        if unsettled.is_empty() {
            return Ok(());
        }
        self.git_write()
            .args([
                "reset",
                "--quiet",
                "--pathspec-from-file=-",
                "--pathspec-file-nul",
                commit.oid.as_str(),
            ])
            .stdin(nul_terminated(unsettled))
            .run()?;
        Ok(())
    }

    /// The paths in which the index differs from a commit.
    fn staged_against(&self, commit: &Oid) -> Result<Vec<RepoPath>, GitError> {
        let output = self
            .git()
            .args([
                "diff-index",
                "--cached",
                "-z",
                "--name-only",
                "--no-renames",
                "--no-ext-diff",
            ])
            .args(["--ignore-submodules=dirty", commit.as_str(), "--"])
            .run()?;
        Ok(super::command::nul_separated(&output)
            .map(RepoPath::trusted)
            .collect())
    }
}

/// Dates are compared by the second they name; how git writes the offset is its own affair.
pub(super) fn same_date(one: &str, other: &str) -> bool {
    let seconds = |date: &str| {
        date.split_ascii_whitespace()
            .next()
            .and_then(|seconds| seconds.parse::<i64>().ok())
    };
    seconds(one).is_some() && seconds(one) == seconds(other)
}
