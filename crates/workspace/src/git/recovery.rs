//! After a crash: was our commit made, is our git still running, has it left a lock?
//!
//! A commit of ours is known by its parent and its author date, which no hook changes; message and tree may have come
//! out otherwise than was asked. The reflog, where there is one, says that it was ours: it begins with the action
//! that our git was given.

use std::cell::RefCell;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::bounded::{self, Ended};
use super::command::{Git, nul_terminated};
use super::commit::{KILL_GRACE, LITERAL};
use super::error::GitError;
use super::history::CommitInfo;
use super::oid::Oid;
use super::path::RepoPath;
use super::repository::{Repository, parse_oid};
use super::scratch::Scratch;
use super::status::Renames;
use crate::process::{ProcessGroup, process_runs_in};

/// How far back from the branch's tip, and in its reflog, our commit is looked for.
const SEARCHED: usize = 256;
/// The folders of references that gits of ours write beside the run's branch: our own, what remotes have, notes.
const WRITTEN_REFERENCES: [&str; 3] = ["refs/tramline", "refs/remotes", "refs/notes"];
/// The locks in the folder that all working trees share.
const SHARED_LOCKS: [&str; 3] = ["packed-refs.lock", "config.lock", "shallow.lock"];
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
pub enum CommitFate {
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
    pub fn find_our_commit(&self, intent: &CommitIntentRef<'_>) -> Result<CommitFate, GitError> {
        if intent.process_group.is_some_and(ProcessGroup::is_alive) {
            return Ok(CommitFate::Running);
        }
        if !self.branch_exists(intent.branch)? {
            return Ok(CommitFate::NotMade);
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
                .filter(|entry| entry.oid == commit.oid)
                .peekable();
            if entries.peek().is_none() || entries.any(|entry| confirms(&entry.message)) {
                return Ok(CommitFate::Made(commit));
            }
        }
        // Not there, or there with the date of ours but made by another command, as an amend does. The reflog is written
        // before the branch moves: that it was there is shown only by the next line, which left from it.
        for entry in reflog.iter().filter(|entry| confirms(&entry.message)) {
            if entry.left.as_ref() != Some(&entry.oid)
                || self.resolve(entry.oid.as_str())?.is_none()
            {
                continue;
            }
            let commit = self.commit_info(&entry.oid)?;
            if is_ours(&commit) {
                return Ok(CommitFate::Rewritten(commit));
            }
        }
        Ok(CommitFate::NotMade)
    }

    /// The newest entries of a branch's reflog, newest first; none where none is kept.
    fn reflog(&self, full_name: &str) -> Result<Vec<ReflogEntry>, GitError> {
        let path = self.common_dir().join("logs").join(full_name);
        match fs::read(&path) {
            Ok(bytes) => Ok(parse_reflog(&bytes)),
            // Other ways of keeping references have their reflogs elsewhere, and write both at once.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                self.reflog_by_git(full_name)
            }
            Err(error) => Err(GitError::io(
                format!("cannot read {}", path.display()),
                error,
            )),
        }
    }

    fn reflog_by_git(&self, full_name: &str) -> Result<Vec<ReflogEntry>, GitError> {
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
                let oid = parse_oid("git log --walk-reflogs", pair[0])?;
                Ok(ReflogEntry {
                    left: Some(oid.clone()),
                    oid,
                    message: String::from_utf8_lossy(pair[1]).into_owned(),
                })
            })
            .collect()
    }

    /// Runs a git that takes locks, whose process group is told, and puts its locks away if it was ended and had no
    /// time to.
    pub(super) fn run_watched(
        &self,
        git: &Git,
        input: &[u8],
        limit: Duration,
        branch: &str,
        on_spawn: &dyn Fn(&ProcessGroup),
    ) -> Result<Ended, GitError> {
        let begun = SystemTime::now();
        let group = RefCell::new(None);
        let told = |spawned: &ProcessGroup| {
            *group.borrow_mut() = Some(spawned.clone());
            on_spawn(spawned);
        };
        let ended = bounded::run(git, input, limit, &told)?;
        if let (None, Some(group)) = (ended.exit_code(), group.borrow().as_ref()) {
            group.kill();
            group.wait(KILL_GRACE);
            self.remove_stale_locks(Some(group), begun, branch)?;
        }
        Ok(ended)
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

    /// All lock files of git that are there: whoever asks why git is busy wants to know of each.
    pub fn lock_files(&self) -> Vec<PathBuf> {
        let mut locks: Vec<PathBuf> = ["index.lock", "HEAD.lock", "AUTO_MERGE.lock"]
            .map(|name| self.git_dir().join(name))
            .into_iter()
            .chain(SHARED_LOCKS.map(|name| self.common_dir().join(name)))
            .filter(|lock| lock.symlink_metadata().is_ok())
            .collect();
        for folder in ["refs/heads"].into_iter().chain(WRITTEN_REFERENCES) {
            locks.extend(self.reference_locks(folder));
        }
        locks.sort();
        locks
    }

    /// The locks on references below a folder of them.
    fn reference_locks(&self, folder: &str) -> Vec<PathBuf> {
        let mut locks = Vec::new();
        let mut folders = vec![self.common_dir().join(folder)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "lock") {
                    locks.push(path);
                }
            }
        }
        locks
    }

    /// Removes the lock files that a dead git of ours has left: on the index, on HEAD, on the branch, on other references that gits of
    /// ours write, on what all working trees share; and its scratch folders. Gives the locks that were removed.
    ///
    /// A lock is ours if it was made after `since`, the time of the intent, and whoever made it is gone: where the system
    /// tells, no git works in this repository; the process group that was kept, if it was, runs no more.
    pub fn remove_stale_locks(
        &self,
        group: Option<&ProcessGroup>,
        since: SystemTime,
        branch: &str,
    ) -> Result<Vec<PathBuf>, GitError> {
        // A name with two dots is no branch's, and would lead elsewhere.
        if group.is_some_and(ProcessGroup::is_alive) || branch.contains("..") {
            return Ok(Vec::new());
        }
        Scratch::clear(self.git_dir());
        let mut ours = Vec::new();
        for lock in self.locks_for(branch) {
            match fs::symlink_metadata(&lock).and_then(|metadata| metadata.modified()) {
                Ok(made) if made + CLOCK_SLACK < since => {}
                Ok(_) => ours.push(lock),
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                    ) => {}
                Err(error) => {
                    return Err(GitError::io(
                        format!("cannot look at {}", lock.display()),
                        error,
                    ));
                }
            }
        }
        if ours.is_empty() {
            return Ok(ours);
        }
        let at_work = process_runs_in("git", &[self.top_level(), self.common_dir()]);
        // Of a group that is known to be dead less has to be known of others.
        if !(at_work == Some(false) || at_work.is_none() && group.is_some()) {
            return Ok(Vec::new());
        }
        let mut removed = Vec::new();
        for lock in ours {
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

    /// The locks that a commit on a branch, changing to it, deleting it, or pushing it takes.
    fn locks_for(&self, branch: &str) -> Vec<PathBuf> {
        let (git_dir, common_dir) = (self.git_dir(), self.common_dir());
        let mut locks = vec![
            git_dir.join("index.lock"),
            git_dir.join("HEAD.lock"),
            git_dir.join("AUTO_MERGE.lock"),
            common_dir.join(format!("refs/heads/{branch}.lock")),
        ];
        locks.extend(SHARED_LOCKS.map(|name| common_dir.join(name)));
        for folder in WRITTEN_REFERENCES {
            locks.extend(self.reference_locks(folder));
        }
        // The second index of a commit of some files, with the number of its process.
        let next_index = fs::read_dir(git_dir).into_iter().flatten().flatten();
        locks.extend(next_index.map(|entry| entry.path()).filter(|path| {
            path.file_name().is_some_and(|name| {
                let name = name.to_string_lossy();
                name.starts_with("next-index-") && name.ends_with(".lock")
            })
        }));
        locks
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

    /// Takes back a commit of ours: the branch is on its parent again, unless it was moved since, the index has of these files what
    /// the parent has, and the working tree stays as it is.
    pub fn take_back_commit(
        &self,
        commit: &CommitInfo,
        branch: &str,
        asked: &[RepoPath],
    ) -> Result<(), GitError> {
        let Some(parent) = commit.parents.first() else {
            return Ok(());
        };
        self.git_write()
            .args(["update-ref", "-m", "tm: a commit taken back"])
            .arg(format!("refs/heads/{branch}"))
            .args([parent.as_str(), commit.oid.as_str()])
            .run()?;
        let paths = asked.iter().map(|path| [LITERAL, path.as_bytes()].concat());
        self.git_write()
            .args([
                "reset",
                "--quiet",
                "--pathspec-from-file=-",
                "--pathspec-file-nul",
            ])
            .arg(parent.as_str())
            .stdin(nul_terminated(paths))
            .run()?;
        Ok(())
    }

    /// The paths in which the index differs from a commit.
    pub(super) fn staged_against(&self, commit: &Oid) -> Result<Vec<RepoPath>, GitError> {
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

/// A line of a reflog.
#[derive(Debug, PartialEq, Eq)]
struct ReflogEntry {
    /// What the next newer line found the branch at; none behind the newest.
    left: Option<Oid>,
    /// What the branch was to be set to.
    oid: Oid,
    message: String,
}

/// Reads a reflog, of which each line is `<old> <new> <who> <when> <zone>`, a tab and a message. A line that is torn, as
/// the last one may be after a power cut, is left out: git syncs no reflog.
fn parse_reflog(bytes: &[u8]) -> Vec<ReflogEntry> {
    let mut left = None;
    let mut entries = Vec::new();
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
    for line in bytes[..whole].split(|byte| *byte == b'\n').rev() {
        let mut words = line.splitn(3, |byte| *byte == b' ');
        let id = |word: Option<&[u8]>| parse_oid("the reflog", word?).ok();
        let (Some(old), Some(oid)) = (id(words.next()), id(words.next())) else {
            continue;
        };
        let message = words
            .next()
            .and_then(|rest| Some(&rest[rest.iter().position(|byte| *byte == b'\t')? + 1..]))
            .unwrap_or_default();
        entries.push(ReflogEntry {
            left: left.replace(old),
            oid,
            message: String::from_utf8_lossy(message).into_owned(),
        });
        if entries.len() == SEARCHED {
            break;
        }
    }
    entries
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
