//! The commit: exactly the paths it names, with the user's hooks, once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Bound;
use std::path::PathBuf;
use std::time::Duration;

use super::bounded::Ended;
use super::command::nul_terminated;
use super::error::{GitError, GitErrorKind};
use super::history::{CommitInfo, CommittedFile};
use super::index_copy::IndexCopy;
use super::index_file::entry;
use super::oid::Oid;
use super::path::RepoPath;
use super::recovery::{CommitFate, CommitIntentRef, same_date};
use super::repository::Repository;
use super::scratch::Scratch;
use super::status::{Change, Renames, TreeStatus};
use crate::process::ProcessGroup;

/// How long processes that were killed may take to be gone.
pub(super) const KILL_GRACE: Duration = Duration::from_secs(2);

/// What is to be committed, and how.
pub struct CommitRequest<'a> {
    /// The commit that HEAD must be.
    pub expected_parent: &'a Oid,
    /// The branch that HEAD must be on.
    pub branch: &'a str,
    /// The message. Lines that begin with `#` stay; space at the ends of lines and of the whole does not.
    pub message: &'a str,
    /// Whether git adds the committer's `Signed-off-by`, where the message does not end with it.
    pub signoff: bool,
    /// The files, deleted ones and both names of renamed ones included. Nothing else goes in.
    pub paths: &'a [RepoPath],
    /// The working tree, as [`Repository::status`] gave it just now. Files that git knows may have changed since.
    pub status: &'a TreeStatus,
    /// The author date, `<seconds since 1970> <offset>` as in `1760000000 +0000`.
    pub author_date: &'a str,
    /// What the line in the reflog begins with.
    pub reflog_action: &'a str,
    /// How long git and the hooks may take.
    pub timeout: Duration,
    /// Told the process group of each git before it begins: of the one that adds the names of new files, if there are
    /// any, and of the one that commits.
    pub on_spawn: &'a dyn Fn(&ProcessGroup),
}

/// A commit that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitMade {
    /// Its id.
    pub oid: Oid,
    /// The commit as it came out: hooks may have changed message and tree.
    pub commit: CommitInfo,
    /// The files that differ from its parent.
    pub paths: Vec<RepoPath>,
    /// What git and the hooks printed, with the middle left out if it was long.
    pub output: String,
    /// Git was ended for taking too long, after the commit (a hook that runs last).
    pub timed_out: bool,
}

/// Why no commit was made. Index and files are then as before, unless a variant says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// HEAD is not on the branch.
    #[error("HEAD is on {}, not on the branch `{expected}`", .actual.as_deref().map_or("no branch".to_owned(), |name| format!("`{name}`")))]
    WrongBranch {
        /// Where it should be.
        expected: String,
        /// Where it is; `None` if it is detached.
        actual: Option<String>,
    },
    /// HEAD is another commit than the one to build on.
    #[error("HEAD is {}, not {expected}", .actual.as_ref().map_or("no commit", Oid::as_str))]
    HeadMoved {
        /// What it should be.
        expected: Oid,
        /// What it is.
        actual: Option<Oid>,
    },
    /// None of the files differs from the last commit.
    #[error("nothing to commit: none of the files is changed")]
    NothingToCommit,
    /// Somebody else's git holds the lock on the index.
    #[error("another git is at work here: {} is there", .lock.display())]
    Busy {
        /// The lock file.
        lock: PathBuf,
    },
    /// Git or a hook refused.
    #[error("git refused the commit{}", git_output(.output))]
    Refused {
        /// Git's exit status; `None` if a signal ended it.
        exit: Option<i32>,
        /// What git and the hooks printed, with the middle left out if it was long.
        output: String,
        /// Files that stayed in the index by name only, since taking them back failed too.
        left_in_index: Vec<RepoPath>,
    },
    /// Git and the hooks took too long and were ended.
    #[error("the commit took longer than {} s and was ended{}", .limit.as_secs_f32(), git_output(.output))]
    TimedOut {
        /// The limit.
        limit: Duration,
        /// What git and the hooks printed until then.
        output: String,
        /// Files that stayed in the index by name only, since taking them back failed too.
        left_in_index: Vec<RepoPath>,
    },
    /// A commit was made, but not on the one it was to be made on: HEAD was moved meanwhile, or a hook rewrote it.
    #[error("git reports a commit, but HEAD is {}, which is not the one that was asked for", .head.as_ref().map_or("nothing", Oid::as_str))]
    NotRecognised {
        /// Where HEAD is now.
        head: Option<Oid>,
    },
    /// The request makes no sense.
    #[error("this cannot be committed: {0}")]
    InvalidRequest(String),
    /// Asking git failed, before or after.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl CommitError {
    /// A stable name for the kind of trouble.
    pub fn code(&self) -> &'static str {
        match self {
            Self::WrongBranch { .. } => "wrong_branch",
            Self::Busy { .. } => "lock_timeout",
            Self::Refused { .. } => "commit_refused",
            Self::HeadMoved { .. }
            | Self::NothingToCommit
            | Self::TimedOut { .. }
            | Self::NotRecognised { .. }
            | Self::InvalidRequest(_) => "interrupted",
            Self::Git(error) => error.code(),
        }
    }

    /// What the user can do about it, where something can be done.
    pub fn suggestion(&self) -> Option<String> {
        match self {
            Self::WrongBranch { expected, .. } => Some(format!("run `git switch {expected}`")),
            Self::Busy { lock } => Some(format!(
                "wait for the other git to end; if none is running, remove {}",
                lock.display()
            )),
            Self::Refused { .. } => {
                Some("mend what git or the hook names, then commit again".to_owned())
            }
            Self::TimedOut { .. } => {
                Some("see what the hook waits for, or allow it more time".to_owned())
            }
            Self::Git(error) => error.suggestion(),
            _ => None,
        }
    }
}

fn git_output(output: &str) -> String {
    if output.is_empty() {
        ", without a word".to_owned()
    } else {
        format!(": {output}")
    }
}

impl Repository {
    /// Whether a commit could be begun: HEAD is where it must be, and nobody holds the index.
    pub fn commit_preflight(&self, expected_parent: &Oid, branch: &str) -> Result<(), CommitError> {
        if let Some(lock) = self.index_lock()? {
            return Err(CommitError::Busy { lock });
        }
        let head = self.head()?;
        if head.branch.as_deref() != Some(branch) {
            return Err(CommitError::WrongBranch {
                expected: branch.to_owned(),
                actual: head.branch,
            });
        }
        if head.oid.as_ref() != Some(expected_parent) {
            return Err(CommitError::HeadMoved {
                expected: expected_parent.clone(),
                actual: head.oid,
            });
        }
        Ok(())
    }

    /// Makes a commit of exactly the files named. What else the user has staged stays staged; the user's hooks,
    /// signing and settings apply.
    pub fn commit(&self, request: &CommitRequest<'_>) -> Result<CommitMade, CommitError> {
        check(request)?;
        self.commit_preflight(request.expected_parent, request.branch)?;
        let plan = Self::plan(request)?;
        let files = RequestFiles::new(self, request, &plan)?;
        let index_copy = self.add_by_name(request, &files, &plan.unknown_to_git)?;
        let (git, input) = self.commit_command(request, &files);
        let ended = match self.run_known(&git, request, &files, input) {
            Ok(ended) => ended,
            Err(error) => {
                // Git did not start. What was added is taken back; if that fails too, the first error matters more.
                self.put_index_back(index_copy.as_ref(), &plan.unknown_to_git);
                return Err(error.into());
            }
        };
        match self.recognise(request)? {
            Some(recognised) => Ok(self.made(request, recognised, ended)),
            None if ended.success() => Err(CommitError::NotRecognised {
                head: self.head()?.oid,
            }),
            None => {
                let left_in_index = self.put_index_back(index_copy.as_ref(), &plan.unknown_to_git);
                Err(self.not_made(request, ended, left_in_index))
            }
        }
    }

    /// Runs a git of this commit, whose process group is told.
    fn run_known(
        &self,
        git: &super::command::Git,
        request: &CommitRequest<'_>,
        files: &RequestFiles,
        input: &[u8],
    ) -> Result<Ended, GitError> {
        let on_spawn = |spawned: &ProcessGroup| {
            files.folder.used_by(spawned);
            (request.on_spawn)(spawned);
        };
        self.run_watched(git, input, request.timeout, request.branch, &on_spawn)
    }

    /// What has to be told to git.
    fn plan(request: &CommitRequest<'_>) -> Result<Plan, CommitError> {
        let TreeStatus {
            changes, unmerged, ..
        } = request.status;
        if let Some(path) = unmerged.first() {
            let message = format!("a conflict in {path} is not resolved, so no commit can be made");
            return Err(GitError::new(GitErrorKind::Refused, message).into());
        }
        let asked: BTreeSet<&RepoPath> = request.paths.iter().collect();
        let is_asked = |path: &&RepoPath| asked.contains(path);
        let there: BTreeMap<&[u8], &Change> = changes
            .iter()
            .filter(|change| !change.deleted && asked.contains(&change.path))
            .map(|change| (change.path.as_bytes(), change))
            .collect();
        // The old name of a file that was renamed is gone, unless another file has it now.
        let gone: BTreeSet<&[u8]> = changes
            .iter()
            .flat_map(|change| {
                let old = change.paths().skip(1);
                old.chain(change.deleted.then_some(&change.path))
            })
            .filter(is_asked)
            .map(RepoPath::as_bytes)
            .filter(|path| !there.contains_key(path))
            .collect();
        Ok(Plan {
            pathspecs: pathspecs(&asked, &gone, &there.keys().copied().collect()),
            unknown_to_git: there
                .values()
                .filter(|change| change.untracked)
                .map(|change| change.path.clone())
                .collect(),
        })
    }

    /// Tells git the names of new files: only what it knows can be named in a commit. Gives the index as it was.
    fn add_by_name(
        &self,
        request: &CommitRequest<'_>,
        files: &RequestFiles,
        unknown_to_git: &[RepoPath],
    ) -> Result<Option<IndexCopy>, CommitError> {
        if unknown_to_git.is_empty() {
            return Ok(None);
        }
        let mut index_copy = IndexCopy::take(self)?;
        let git = self
            .git_write()
            .args(["add", "--intent-to-add", "--pathspec-file-nul"]);
        let (git, input) = if files.new.len() <= WHOLE {
            (git.arg("--pathspec-from-file=-"), files.new.as_slice())
        } else {
            // Without anybody who knows of it this does no harm: names alone are taken back.
            (
                git.arg(files.option("--pathspec-from-file=", "new")),
                &[][..],
            )
        };
        let name = git.name();
        let add = self.run_known(&git, request, files, input);
        index_copy.changed();
        let error = match add {
            Ok(ended) if ended.success() => return Ok(Some(index_copy)),
            Ok(ended) => ended.into_error(&name, request.timeout),
            Err(error) => error,
        };
        let left_in_index = self.put_index_back(Some(&index_copy), unknown_to_git);
        Err(match error.kind() {
            GitErrorKind::Busy { lock } => {
                let lock = lock
                    .clone()
                    .unwrap_or_else(|| self.git_dir().join("index.lock"));
                CommitError::Busy { lock }
            }
            GitErrorKind::Refused | GitErrorKind::Killed => CommitError::Refused {
                exit: None,
                output: error.stderr().to_owned(),
                left_in_index,
            },
            _ => error.into(),
        })
    }

    /// The command, and what it waits for on its standard input: without it, it commits nothing.
    fn commit_command<'a>(
        &self,
        request: &CommitRequest<'a>,
        files: &'a RequestFiles,
    ) -> (super::command::Git, &'a [u8]) {
        let git = self
            .git_for_user()
            .config("i18n.commitEncoding=UTF-8")
            .config("commit.verbose=false")
            .env("GIT_AUTHOR_DATE", format!("@{}", request.author_date))
            .env("GIT_REFLOG_ACTION", request.reflog_action)
            .args([
                "commit",
                "--quiet",
                "--only",
                "--cleanup=whitespace",
                "--no-edit",
                "--pathspec-file-nul",
            ])
            .args(request.signoff.then_some("--signoff"));
        if files.paths.len() <= WHOLE {
            let git = git
                .arg("--pathspec-from-file=-")
                .arg(files.option("--file=", "message"));
            (git, &files.paths)
        } else {
            // A long list could come through in part; a message that is missing ends the commit.
            let git = git
                .arg(files.option("--pathspec-from-file=", "paths"))
                .arg("--file=-");
            (git, request.message.as_bytes())
        }
    }

    /// Our commit, if it is there, with what it changes.
    fn recognise(&self, request: &CommitRequest<'_>) -> Result<Option<OurCommit>, GitError> {
        let Some(head) = self
            .head()?
            .oid
            .filter(|head| head != request.expected_parent)
        else {
            return Ok(None);
        };
        let (commit, files) = self.commit_with_files(&head)?;
        if commit.parents == [request.expected_parent.clone()]
            && same_date(&commit.author_date, request.author_date)
        {
            return Ok(Some(OurCommit {
                is_settled: self.index_agrees(&files),
                paths: files.into_iter().map(|file| file.path).collect(),
                commit,
            }));
        }
        // A hook that runs after the commit may have made another one on top.
        let intent = CommitIntentRef {
            parent: request.expected_parent,
            author_date: request.author_date,
            reflog_action: request.reflog_action,
            branch: request.branch,
            process_group: None,
        };
        Ok(match self.find_our_commit(&intent)? {
            CommitFate::Made(commit) => {
                let paths = self.changed_paths(request.expected_parent, &commit.oid)?;
                Some(OurCommit {
                    is_settled: false,
                    paths,
                    commit,
                })
            }
            _ => None,
        })
    }

    fn made(&self, request: &CommitRequest<'_>, recognised: OurCommit, ended: Ended) -> CommitMade {
        let OurCommit {
            commit,
            paths,
            is_settled,
        } = recognised;
        self.sync_branch(request.branch);
        if !is_settled {
            // The commit counts whether or not the index could be settled: at worst, files show as changed.
            drop(self.settle_index(&commit, request.paths));
        }
        let timed_out = ended.timed_out();
        CommitMade {
            oid: commit.oid.clone(),
            commit,
            paths,
            output: ended.output,
            timed_out,
        }
    }

    fn not_made(
        &self,
        request: &CommitRequest<'_>,
        ended: Ended,
        left_in_index: Vec<RepoPath>,
    ) -> CommitError {
        if ended.timed_out() {
            return CommitError::TimedOut {
                limit: request.timeout,
                output: ended.output,
                left_in_index,
            };
        }
        // Git names the path of the lock in every language.
        let lock = self.git_dir().join("index.lock");
        // A disk that is full makes it name the lock, too, but takes it away.
        if left_in_index.is_empty()
            && ended.output.contains(&*lock.to_string_lossy())
            && matches!(self.index_lock(), Ok(Some(_)))
        {
            return CommitError::Busy { lock };
        }
        // What git said is not to be lost where it cannot be asked again.
        if left_in_index.is_empty() && matches!(self.has_nothing_to_commit(request.paths), Ok(true))
        {
            return CommitError::NothingToCommit;
        }
        CommitError::Refused {
            exit: ended.exit_code(),
            output: ended.output,
            left_in_index,
        }
    }

    /// Whether all of the files are there, and none is changed, or ignored: git has the better words for those.
    fn has_nothing_to_commit(&self, paths: &[RepoPath]) -> Result<bool, GitError> {
        let status = self.status_everywhere(Renames::Ignore)?;
        let is_changed = |path: &RepoPath| status.changes.iter().any(|change| change.path == *path);
        for path in paths {
            let is_gone = self.absolute(path).symlink_metadata().is_err();
            if is_gone || is_changed(path) || self.is_ignored(path)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the index has what a commit has in each of these files.
    fn index_agrees(&self, files: &[CommittedFile]) -> bool {
        let Some(entries) = self.index_entries() else {
            return false;
        };
        files.iter().all(|file| {
            let there = entry(&entries, file.path.as_bytes());
            match (&file.content, there) {
                (None, None) => true,
                (Some(content), Some(there)) => {
                    !(there.in_conflict || there.by_name_only)
                        && there.mode == content.mode
                        && there.oid == content.oid
                }
                _ => false,
            }
        })
    }

    /// Makes the index what it was before the names were added; which of them stayed in it.
    fn put_index_back(
        &self,
        index_copy: Option<&IndexCopy>,
        unknown_to_git: &[RepoPath],
    ) -> Vec<RepoPath> {
        let Some(index_copy) = index_copy else {
            return Vec::new();
        };
        match index_copy.restore() {
            Ok(true) => Vec::new(),
            // Somebody has changed it, or it could not be written at once: one entry at a time then.
            Ok(false) | Err(_) => match self.take_back_intent_to_add(unknown_to_git) {
                Ok(_) => Vec::new(),
                Err(_) => unknown_to_git.to_vec(),
            },
        }
    }
}

fn check(request: &CommitRequest<'_>) -> Result<(), CommitError> {
    let invalid = |what: &str| Err(CommitError::InvalidRequest(what.to_owned()));
    if request.paths.is_empty() {
        // Without a path git would take all that is staged.
        return invalid("no file is named");
    }
    let date: Vec<&str> = request.author_date.split(' ').collect();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match date[..] {
        [seconds, offset]
            if is_number(seconds)
                && offset.len() == 5
                && offset.starts_with(['+', '-'])
                && is_number(&offset[1..]) => {}
        _ => return invalid("the author date is not `<seconds> <offset>`"),
    }
    if request.reflog_action.trim().is_empty()
        || request.reflog_action.chars().any(char::is_control)
    {
        return invalid("the reflog action is empty or more than a line");
    }
    Ok(())
}

/// Our commit, as it came out.
struct OurCommit {
    commit: CommitInfo,
    /// The files that differ from its parent.
    paths: Vec<RepoPath>,
    /// Whether the index is known to have the same in them.
    is_settled: bool,
}

/// What git is told of a commit.
struct Plan {
    /// The files, so that git takes exactly these.
    pathspecs: Vec<Vec<u8>>,
    /// Those of them that it has never heard of.
    unknown_to_git: Vec<RepoPath>,
}

/// The files as git is to be told of them.
///
/// Git looks whether a named file is there, and takes a folder that now has its name, or what lies behind a link that
/// now has its folder's name, for it. Such a file goes out by itself when the other comes in: in the first case it is
/// not named, in the second it must be kept from being found through the name of the folder.
fn pathspecs(
    asked: &BTreeSet<&RepoPath>,
    gone: &BTreeSet<&[u8]>,
    there: &BTreeSet<&[u8]>,
) -> Vec<Vec<u8>> {
    let becomes_folder = |path: &RepoPath| {
        let inside = [path.as_bytes(), b"/"].concat();
        let next = there
            .range::<[u8], _>((Bound::Included(inside.as_slice()), Bound::Unbounded))
            .next();
        next.is_some_and(|next| next.starts_with(&inside))
    };
    let lies_below_one_that_is_there = |path: &RepoPath| {
        let bytes = path.as_bytes();
        let slashes = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        slashes
            .map(|(at, _)| &bytes[..at])
            .any(|folder| there.contains(folder))
    };
    asked
        .iter()
        .filter_map(|path| {
            let magic: &[u8] = match gone.contains(path.as_bytes()) {
                true if becomes_folder(path) => return None,
                true if lies_below_one_that_is_there(path) => b":(top,exclude,literal)",
                _ => LITERAL,
            };
            Some([magic, path.as_bytes()].concat())
        })
        .collect()
}

/// What makes git take a path for itself and not for a pattern, from the top level on.
pub(super) const LITERAL: &[u8] = b":(top,literal)";

/// What git reads from files, in a folder outside the tree that goes away by itself.
struct RequestFiles {
    folder: Scratch,
    /// What is committed, as git reads it.
    paths: Vec<u8>,
    /// What git has to be told of before.
    new: Vec<u8>,
}

/// What an empty pipe takes at once on every system, in bytes: it arrives whole or not at all.
const WHOLE: usize = 16 * 1024;

impl RequestFiles {
    fn new(
        repository: &Repository,
        request: &CommitRequest<'_>,
        plan: &Plan,
    ) -> Result<Self, GitError> {
        let cannot = |error| {
            GitError::io(
                "cannot write the commit's message and paths to a temporary folder",
                error,
            )
        };
        let folder = Scratch::new(repository.git_dir()).map_err(cannot)?;
        let write =
            |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).map_err(cannot);
        let paths = nul_terminated(&plan.pathspecs);
        let new = nul_terminated(
            plan.unknown_to_git
                .iter()
                .map(|path| [LITERAL, path.as_bytes()].concat()),
        );
        write("message", request.message.as_bytes())?;
        write("paths", &paths)?;
        write("new", &new)?;
        Ok(Self { folder, paths, new })
    }

    /// `--option=<file>`, for a file of these.
    fn option(&self, option: &str, name: &str) -> std::ffi::OsString {
        let mut argument = std::ffi::OsString::from(option);
        argument.push(self.folder.path().join(name));
        argument
    }
}
