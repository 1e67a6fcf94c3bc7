//! A merge, rebase or the like that somebody has begun and not ended.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use super::error::GitError;
use super::repository::Repository;

/// Something that git does in several steps, with the user in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// `git merge`
    Merge,
    /// `git rebase`
    Rebase,
    /// `git cherry-pick`
    CherryPick,
    /// `git revert`
    Revert,
    /// `git bisect`
    Bisect,
    /// `git am`
    ApplyMailbox,
}

impl Operation {
    /// What git is told to bring it to its end; behind that, to take it back.
    pub fn ends(self) -> &'static [[&'static str; 2]] {
        match self {
            Self::Merge => &[["merge", "--continue"], ["merge", "--abort"]],
            Self::Rebase => &[["rebase", "--continue"], ["rebase", "--abort"]],
            Self::CherryPick => &[["cherry-pick", "--continue"], ["cherry-pick", "--abort"]],
            Self::Revert => &[["revert", "--continue"], ["revert", "--abort"]],
            Self::Bisect => &[["bisect", "reset"]],
            Self::ApplyMailbox => &[["am", "--continue"], ["am", "--abort"]],
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Merge => "merge",
            Self::Rebase => "rebase",
            Self::CherryPick => "cherry-pick",
            Self::Revert => "revert",
            Self::Bisect => "bisect",
            Self::ApplyMailbox => "am",
        })
    }
}

impl Repository {
    /// The operation that is under way in this working tree, seen by the files git keeps of it; no process is started.
    /// Where several are (a merge in a rebase), the outer one is told.
    pub fn operation_under_way(&self) -> Result<Option<Operation>, GitError> {
        let git_dir = self.git_dir();
        let is_there = |name: &str| exists(&git_dir.join(name));
        if is_there("rebase-merge")? {
            return Ok(Some(Operation::Rebase));
        }
        if is_there("rebase-apply")? {
            return Ok(Some(if is_there("rebase-apply/applying")? {
                Operation::ApplyMailbox
            } else {
                Operation::Rebase
            }));
        }
        for (name, operation) in [
            ("MERGE_HEAD", Operation::Merge),
            ("CHERRY_PICK_HEAD", Operation::CherryPick),
            ("REVERT_HEAD", Operation::Revert),
        ] {
            if is_there(name)? {
                return Ok(Some(operation));
            }
        }
        // Between two commits of a series there is only the list of what is still to be done.
        match fs::read(git_dir.join("sequencer/todo")) {
            Ok(todo) => {
                let revert = todo.starts_with(b"revert");
                return Ok(Some(if revert {
                    Operation::Revert
                } else {
                    Operation::CherryPick
                }));
            }
            Err(error) if is_absence(&error) => {}
            Err(error) => {
                return Err(GitError::io(
                    "cannot read git's list of commits to pick",
                    error,
                ));
            }
        }
        Ok(is_there("BISECT_LOG")?.then_some(Operation::Bisect))
    }
}

fn exists(path: &Path) -> Result<bool, GitError> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if is_absence(&error) => Ok(false),
        Err(error) => Err(GitError::io(
            format!("cannot look at {}", path.display()),
            error,
        )),
    }
}

fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
