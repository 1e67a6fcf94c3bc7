//! What can go wrong between us and git.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// What kind of trouble a [`GitError`] is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum GitErrorKind {
    /// There is no `git` program on the path.
    ProgramMissing,
    /// The folder is in no repository, or in the inside of one (`.git`).
    NotARepository,
    /// The repository has no working tree.
    Bare,
    /// The named settings (`user.name`, `user.email`) are needed and not set.
    NoIdentity {
        /// The settings that are missing.
        missing: Vec<&'static str>,
    },
    /// Another git process holds the lock file.
    Busy {
        /// The lock file, when git named it or we looked.
        lock: Option<PathBuf>,
    },
    /// The text cannot be the name of a branch.
    InvalidName,
    /// Git said no, for a reason of its own, or of the user's settings or hooks.
    Refused,
    /// Git was ended by a signal before it had answered.
    Killed,
    /// The branch that HEAD points to holds no commit id.
    BrokenBranch,
    /// Git took longer than it may and was ended.
    TimedOut,
    /// Git answered something that is not in the format it documents.
    UnexpectedOutput,
    /// A file could not be read or written, or a process not started.
    Io,
}

/// An operation on the repository failed.
#[derive(Debug)]
pub struct GitError {
    kind: GitErrorKind,
    message: String,
    command: String,
    stderr: String,
    source: Option<io::Error>,
}

impl GitError {
    pub(super) fn new(kind: GitErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            command: String::new(),
            stderr: String::new(),
            source: None,
        }
    }

    pub(super) fn io(message: impl Into<String>, source: io::Error) -> Self {
        Self {
            source: Some(source),
            ..Self::new(GitErrorKind::Io, message)
        }
    }

    pub(super) fn unexpected(command: &str, what: impl fmt::Display) -> Self {
        Self {
            command: command.to_owned(),
            ..Self::new(
                GitErrorKind::UnexpectedOutput,
                format!("`{command}` answered in an unknown form: {what}"),
            )
        }
    }

    /// The error of a git that ended with a failure, classed by what it said in the C locale.
    pub(super) fn from_failure(command: &str, exit: Option<i32>, stderr: &[u8]) -> Self {
        let stderr = String::from_utf8_lossy(stderr).trim().to_owned();
        let kind = if exit.is_none() {
            // What it was asked is not answered, neither by yes nor by no.
            GitErrorKind::Killed
        } else if stderr.contains("not a git repository") {
            GitErrorKind::NotARepository
        } else if stderr.contains("safe.bareRepository") {
            GitErrorKind::Bare
        } else if stderr.contains(".lock': File exists") {
            GitErrorKind::Busy {
                lock: quoted_lock(&stderr),
            }
        } else {
            GitErrorKind::Refused
        };
        let said = if stderr.is_empty() {
            exit.map_or_else(
                || "it was killed".to_owned(),
                |code| format!("exit status {code}, without a word"),
            )
        } else {
            stderr.clone()
        };
        Self {
            kind,
            message: format!("`{command}` failed: {said}"),
            command: command.to_owned(),
            stderr,
            source: None,
        }
    }

    /// What kind of trouble this is.
    pub fn kind(&self) -> &GitErrorKind {
        &self.kind
    }

    /// The git command that failed, without its paths; empty when no command was involved.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// What git said, trimmed; empty when no command was involved.
    pub fn stderr(&self) -> &str {
        &self.stderr
    }

    /// A stable name for the kind of trouble.
    pub fn code(&self) -> &'static str {
        match self.kind {
            GitErrorKind::NotARepository | GitErrorKind::Bare => "not_a_repository",
            GitErrorKind::NoIdentity { .. } => "no_identity",
            GitErrorKind::Busy { .. } => "lock_timeout",
            GitErrorKind::InvalidName => "bad_name",
            GitErrorKind::Io | GitErrorKind::Killed => "io_failed",
            GitErrorKind::ProgramMissing
            | GitErrorKind::Refused
            | GitErrorKind::TimedOut
            | GitErrorKind::UnexpectedOutput
            | GitErrorKind::BrokenBranch => "command_failed",
        }
    }

    /// What the user can do about it, where something can be done.
    pub fn suggestion(&self) -> Option<String> {
        match &self.kind {
            GitErrorKind::ProgramMissing => {
                Some("install git and make sure it is on the PATH".to_owned())
            }
            GitErrorKind::Bare => {
                Some("work in a clone or a worktree of it (`git worktree add`)".to_owned())
            }
            GitErrorKind::NoIdentity { missing } => {
                let commands: Vec<String> = missing
                    .iter()
                    .map(|name| format!("`git config --global {name} …`"))
                    .collect();
                Some(format!("run {}", commands.join(" and ")))
            }
            GitErrorKind::Busy { lock } => Some(match lock {
                Some(lock) => format!(
                    "wait for the other git to end; if none is running, remove {}",
                    lock.display()
                ),
                None => "wait for the other git to end, and try again".to_owned(),
            }),
            GitErrorKind::Killed => Some("try again; see what ended it, if it happens again".to_owned()),
            GitErrorKind::BrokenBranch => Some(
                "find its last commit with `git reflog`, take the broken file away, and set it again with `git update-ref`"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

/// The lock file that git's text puts between quotes.
fn quoted_lock(stderr: &str) -> Option<PathBuf> {
    let end = stderr.find(".lock'")? + ".lock".len();
    let start = stderr[..end].rfind('\'')? + 1;
    Some(PathBuf::from(&stderr[start..end]))
}

impl fmt::Display for GitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for GitError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source
            .as_ref()
            .map(|source| source as &(dyn std::error::Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_classed() {
        let class = |text: &str| GitError::from_failure("git x", Some(128), text.as_bytes());
        let none = "fatal: not a git repository (or any parent): .git";
        let bare = "fatal: cannot use bare repository '/a/b' (safe.bareRepository is 'explicit')";
        for (text, code) in [
            (none, "not_a_repository"),
            (bare, "not_a_repository"),
            ("error: something else", "command_failed"),
        ] {
            assert_eq!(class(text).code(), code);
        }
        let busy =
            "fatal: Unable to create '/a/.git/index.lock': File exists.\n\nAnother git process…";
        let lock = Some(PathBuf::from("/a/.git/index.lock"));
        assert_eq!(class(busy).kind(), &GitErrorKind::Busy { lock });
        let killed = GitError::from_failure("git x", None, b"").to_string();
        assert!(killed.contains("killed"), "{killed}");
    }
}
