//! Starting git, always in the same careful way.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use super::error::{GitError, GitErrorKind};

/// What a caller's environment must not decide for us: it would send git to another repository, another index, or
/// give paths another meaning. Hooks and aliases run their children with some of these set.
const REMOVED: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ATTR_SOURCE",
    "GIT_AUTHOR_DATE",
    "GIT_COMMON_DIR",
    "GIT_DIFF_OPTS",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_GLOB_PATHSPECS",
    "GIT_GRAFT_FILE",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REFLOG_ACTION",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Variables on top of (or, without a value, taken out of) the environment this process was started with.
pub(super) type ExtraEnvironment = Vec<(OsString, Option<OsString>)>;

/// One git command, being put together.
pub(super) struct Git {
    globals: Vec<OsString>,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    extra: ExtraEnvironment,
    stdin: Vec<u8>,
}

/// What a git process left behind.
pub(super) struct Output {
    pub(super) status: ExitStatus,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

impl Git {
    /// A command that reads: in English, without locks, and with every path taken literally.
    pub(super) fn read(folder: &Path, extra: &ExtraEnvironment) -> Self {
        Self::write(folder, extra)
            .global("--no-optional-locks")
            .config("core.fsmonitor=false")
            // `git diff` would take the lock of the index and write it anew, whatever is said of optional locks.
            .config("diff.autoRefreshIndex=false")
            .config("diff.orderFile=/dev/null")
            // What an object is, is said by its id, whatever else somebody has put in its place for git.
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_GRAFT_FILE", "/dev/null")
            .env("GIT_LITERAL_PATHSPECS", "1")
    }

    /// A command that changes something of the user's, in English so that its answer can be understood. Paths are
    /// to be given with the `:(top,literal)` magic: a variable that changes their meaning would reach the hooks.
    pub(super) fn write(folder: &Path, extra: &ExtraEnvironment) -> Self {
        Self::in_users_locale(folder, extra).env("LC_ALL", "C")
    }

    /// Has objects, references and the index synced before they get their names. Git's own default leaves out the last two.
    pub(super) fn synced(self) -> Self {
        self.config("core.fsync=objects,reference,index")
            .config("core.fsyncMethod=fsync")
    }

    /// A command whose words are for the user.
    pub(super) fn in_users_locale(folder: &Path, extra: &ExtraEnvironment) -> Self {
        let command = Self {
            globals: Vec::new(),
            arguments: Vec::new(),
            environment: Vec::new(),
            extra: extra.clone(),
            stdin: Vec::new(),
        };
        command
            .global("-C")
            .global(folder)
            .global("--no-pager")
            // A clone may have a folder that is a repository of its own, hooks and filters included.
            .config("safe.bareRepository=explicit")
            // What tidies up goes on behind the command's back, and leaves its lock for good where it is killed. The
            // user's own commands do it.
            .config("maintenance.auto=false")
            .config("gc.auto=0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_PAGER", "cat")
            .env("GIT_EDITOR", ":")
            .env("GIT_SEQUENCE_EDITOR", ":")
    }

    fn global(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.globals.push(argument.as_ref().to_owned());
        self
    }

    /// Sets `name=value` for this command, above the user's settings.
    pub(super) fn config(self, setting: &str) -> Self {
        self.global("-c").global(setting)
    }

    pub(super) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment
            .push((name.into(), value.as_ref().to_owned()));
        self
    }

    pub(super) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    pub(super) fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(
            arguments
                .into_iter()
                .map(|argument| argument.as_ref().to_owned()),
        );
        self
    }

    /// Bytes that git reads from its standard input.
    pub(super) fn stdin(mut self, bytes: Vec<u8>) -> Self {
        self.stdin = bytes;
        self
    }

    /// The command as it is named in messages: its options, but not the paths after `--`.
    pub(super) fn name(&self) -> String {
        let mut name = "git".to_owned();
        for argument in self
            .arguments
            .iter()
            .take_while(|argument| *argument != "--")
        {
            name.push(' ');
            name.extend(
                argument
                    .to_string_lossy()
                    .chars()
                    .take(60)
                    .filter(|character| !character.is_control()),
            );
        }
        name
    }

    /// The process to start, with nothing on its standard streams yet.
    pub(super) fn process(&self) -> Command {
        let mut command = Command::new("git");
        for (name, value) in &self.extra {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        for name in REMOVED {
            command.env_remove(name);
        }
        for (name, value) in &self.environment {
            command.env(name, value);
        }
        command.args(&self.globals).args(&self.arguments);
        command
    }

    /// Runs the command; any exit status is an answer, being ended by a signal is none.
    pub(super) fn output(self) -> Result<Output, GitError> {
        let name = self.name();
        let mut command = self.process();
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.stdin(if self.stdin.is_empty() {
            Stdio::null()
        } else {
            Stdio::piped()
        });
        let mut child = command.spawn().map_err(|error| spawn_error(&name, error))?;
        let stdin = child.stdin.take();
        let input = self.stdin;
        let output = std::thread::scope(|scope| {
            let written = stdin.map(|mut stdin| scope.spawn(move || stdin.write_all(&input)));
            let output = child.wait_with_output()?;
            let written = written.and_then(|written| written.join().ok());
            Ok((output, written.unwrap_or(Ok(()))))
        });
        let (output, written) = output
            .map_err(|error| GitError::io(format!("cannot read the answer of `{name}`"), error))?;
        // A git that fails may end before it has read everything, and says why by itself.
        if output.status.success() {
            written.map_err(|error| GitError::io(format!("cannot write to `{name}`"), error))?;
        }
        if output.status.code().is_none() {
            return Err(GitError::from_failure(&name, None, &output.stderr));
        }
        Ok(Output {
            status: output.status,
            stdout: output.stdout,
            stderr: output.stderr,
        })
    }

    /// Runs the command and gives its output; a failure is an error.
    pub(super) fn run(self) -> Result<Vec<u8>, GitError> {
        let name = self.name();
        let output = self.output()?;
        if output.status.success() {
            Ok(output.stdout)
        } else {
            Err(GitError::from_failure(
                &name,
                output.status.code(),
                &output.stderr,
            ))
        }
    }

    /// Runs a command that says no with exit status 1: then there is no output.
    pub(super) fn run_if(self) -> Result<Option<Vec<u8>>, GitError> {
        let name = self.name();
        let output = self.output()?;
        match output.status.code() {
            Some(0) => Ok(Some(output.stdout)),
            Some(1) => Ok(None),
            code => Err(GitError::from_failure(&name, code, &output.stderr)),
        }
    }
}

/// The error of a process that could not be started.
pub(super) fn spawn_error(name: &str, error: io::Error) -> GitError {
    if error.kind() == io::ErrorKind::NotFound {
        GitError::new(
            GitErrorKind::ProgramMissing,
            "the `git` program was not found",
        )
    } else {
        GitError::io(format!("cannot start `{name}`"), error)
    }
}

/// Output that is one line, without its line break and nothing else taken away.
pub(super) fn one_line(mut output: Vec<u8>) -> Vec<u8> {
    if output.last() == Some(&b'\n') {
        output.pop();
    }
    output
}

/// The pieces of a NUL-separated list.
pub(super) fn nul_separated(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output
        .split(|byte| *byte == 0)
        .filter(|piece| !piece.is_empty())
}

/// A NUL-terminated list, as git reads them.
pub(super) fn nul_terminated<P: AsRef<[u8]>>(pieces: impl IntoIterator<Item = P>) -> Vec<u8> {
    let mut list = Vec::new();
    for piece in pieces {
        list.extend_from_slice(piece.as_ref());
        list.push(0);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_git_that_was_not_told_everything_has_not_done_it() {
        let folder = tempfile::tempdir().unwrap();
        let git = || Git::read(folder.path(), &ExtraEnvironment::new()).arg("version");
        assert!(git().run().is_ok());
        // More than a pipe holds, and it reads none of it.
        let told = git().stdin(vec![b'x'; 1 << 20]).run();
        assert_eq!(*told.unwrap_err().kind(), GitErrorKind::Io);
    }
}
