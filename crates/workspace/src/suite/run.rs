//! The run itself.

use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::command_line::{CommandError, CommandLine};
use super::output::{Output, Stream};
use crate::process::supervise::{Environment, Supervised, Take, locked, supervise};
use crate::process::{Cancellation, How, ProgramError};

/// What a caller's git (a hook of it, an alias) sets for its children, and would send the git of the tests to the wrong
/// repository.
const REMOVED: &[&str] = &[
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_WORK_TREE",
];

/// A test command that is to be run.
#[derive(Debug, Clone)]
pub struct SuiteRun<'a> {
    /// The command as it stands in the settings. No shell reads it, unless it says `sh -c '…'`; words of the form
    /// `NAME=value` before the program are its environment.
    pub command: &'a str,
    /// The same in words, where something was added to it.
    pub line: Option<CommandLine>,
    /// The folder it works in. A program without `/` is looked for in `PATH`; another relative one is below this folder.
    pub cwd: &'a Path,
    /// How long it may take.
    pub timeout: Duration,
    /// When it is ended because nobody wants it any more.
    pub cancelled: Cancellation,
    /// Its variables: all of them, or those on top of this process' environment, which is handed on as it is but for those that would
    /// send a git to another repository.
    pub env: Vec<(OsString, OsString)>,
    /// Whether these are all.
    pub is_whole: bool,
}

/// What a test command left behind.
#[derive(Debug, Clone)]
pub struct SuiteRan {
    /// How it ended: by itself, by a signal, or at the time limit. Never because of how much it printed.
    pub how: How,
    /// What it printed on its standard output.
    pub stdout: Vec<u8>,
    /// How many bytes of that, from its middle, were not kept; where they were, a line says so.
    pub stdout_left_out: u64,
    /// What it printed on its standard error.
    pub stderr: Vec<u8>,
    /// How many bytes of that, from its middle, were not kept.
    pub stderr_left_out: u64,
    /// Both, as they came, in whole lines.
    pub both: Vec<u8>,
    /// How many bytes of both, from the middle, were not kept. Up to 64 MiB are.
    pub left_out: u64,
    /// The SHA-256 of both as they came, in hexadecimal digits: also over what was not kept.
    pub sha256: String,
    /// How long it took.
    pub duration: Duration,
}

impl SuiteRan {
    /// Whether it ended by itself and says that all is well.
    pub fn success(&self) -> bool {
        self.how == How::Exited(0)
    }
}

/// Why a test command could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// It is not written so that it could be.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// Its program cannot be started.
    #[error("the command `{command}` cannot be run: {reason}")]
    Program {
        /// The command.
        command: String,
        /// Why not.
        reason: ProgramError,
    },
}

impl SuiteError {
    /// What the user can do about it.
    pub fn suggestion(&self) -> String {
        match self {
            Self::Command(error) => error.suggestion(),
            Self::Program { reason, .. } => match reason {
                ProgramError::Missing { program } if program.contains('/') => {
                    format!(
                        "put it there: `{program}` is looked for below the folder the command runs in"
                    )
                }
                ProgramError::Missing { program } => {
                    format!("install `{program}` or make sure that it is on the PATH")
                }
                ProgramError::NotExecutable { program, .. } => {
                    format!(
                        "make `{program}` executable (`chmod +x`) and see that the interpreter in its first line is there"
                    )
                }
                ProgramError::NoFolder { folder } => {
                    format!(
                        "make the folder {} again, or run from the project",
                        folder.display()
                    )
                }
                ProgramError::Io { .. } => "try again".to_owned(),
            },
        }
    }
}

/// Runs a test command to its end, or to the end of its time, in a process group of its own of which nothing is left when
/// this returns.
///
/// However much it prints, that neither ends it nor takes memory without bound. If this process is killed, the group is
/// ended all the same. What leaves the group (`setsid`) is not followed.
pub fn run_suite(run: &SuiteRun<'_>) -> Result<SuiteRan, SuiteError> {
    let line = match &run.line {
        Some(line) => line.clone(),
        None => CommandLine::parse(run.command)?,
    };
    let argv: Vec<OsString> = line.argv.into_iter().map(Into::into).collect();
    let mut set = run.env.clone();
    set.extend(
        line.env
            .into_iter()
            .map(|(name, value)| (name.into(), value.into())),
    );
    let output = Arc::new(Mutex::new(Output::new()));
    let into = |stream| -> Take {
        let output = Arc::clone(&output);
        Box::new(move |piece| {
            locked(&output).push(stream, piece);
            true
        })
    };
    let begun = Instant::now();
    let how = supervise(
        Supervised {
            argv: &argv,
            cwd: run.cwd,
            environment: if run.is_whole {
                Environment::Only(&set)
            } else {
                Environment::Whole(REMOVED, &set)
            },
            stdin: None,
            timeout: run.timeout,
            cancelled: run.cancelled.clone(),
            ends_with_us: true,
        },
        into(Stream::Stdout),
        into(Stream::Stderr),
    )
    .map_err(|reason| SuiteError::Program {
        command: run.command.trim().to_owned(),
        reason,
    })?;
    let duration = begun.elapsed();
    let printed = locked(&output).finish();
    let (stdout, stdout_left_out) = printed.stdout;
    let (stderr, stderr_left_out) = printed.stderr;
    let (both, left_out) = printed.both;
    Ok(SuiteRan {
        how,
        stdout,
        stdout_left_out,
        stderr,
        stderr_left_out,
        both,
        left_out,
        sha256: printed.sha256,
        duration,
    })
}
