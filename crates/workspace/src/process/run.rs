//! Running a program to its end, or to the end of its time.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::head_and_tail::Tail;
use super::supervise::{Environment, Supervised, locked, supervise};

/// A program that is to be run.
#[derive(Debug, Clone)]
pub struct Program {
    /// The program and its arguments. A program without `/` is looked for in `PATH`; a relative path is one below `cwd`.
    pub argv: Vec<OsString>,
    /// The folder it works in.
    pub cwd: PathBuf,
    /// Variables on top of those that are handed on from this process' environment.
    pub env: Vec<(OsString, OsString)>,
    /// Whether all of that is handed on, and not only a few: for programs of the user's that find their credentials there.
    pub whole_environment: bool,
    /// What it reads on its standard input.
    pub stdin: Vec<u8>,
    /// How long it may take.
    pub timeout: Duration,
    /// More output than this ends it, in bytes.
    pub max_stdout: usize,
    /// This much is kept of the end of what it complains of, in bytes.
    pub max_stderr: usize,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// By itself, with this status.
    Exited(i32),
    /// By a signal that was not ours.
    Signalled(i32),
    /// It took too long, and was ended.
    TimedOut,
    /// It printed too much, and was ended.
    Flooded,
    /// Whoever wanted it gave it up, and it was ended.
    Cancelled,
}

/// Whether somebody still wants what is under way: it is set when they do not any more.
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Option<Arc<AtomicBool>>);

impl Cancellation {
    /// It is told by this flag.
    pub fn by(flag: Arc<AtomicBool>) -> Self {
        Self(Some(flag))
    }

    /// Whether it was given up.
    pub fn is_requested(&self) -> bool {
        let flag = self.0.as_ref();
        flag.is_some_and(|flag| flag.load(Ordering::Acquire))
    }
}

/// What a program left behind.
#[derive(Debug, Clone)]
pub struct Ended {
    /// How it ended.
    pub how: How,
    /// What it printed, up to the limit.
    pub stdout: Vec<u8>,
    /// The end of what it complained of.
    pub stderr: Vec<u8>,
    /// How many bytes before that were not kept.
    pub stderr_left_out: u64,
}

impl Ended {
    /// Whether it ended by itself and says that all is well.
    pub fn success(&self) -> bool {
        self.how == How::Exited(0)
    }
}

/// Why a program could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// There is no such program.
    #[error("the program `{program}` was not found")]
    Missing {
        /// As it was named.
        program: String,
    },
    /// There is one, but it cannot be executed.
    #[error("the program `{program}` cannot be executed")]
    NotExecutable {
        /// As it was named.
        program: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The folder it was to work in is not there.
    #[error("the folder {} is not there", folder.display())]
    NoFolder {
        /// The folder.
        folder: PathBuf,
    },
    /// The system refused something else.
    #[error("cannot run `{program}`")]
    Io {
        /// As it was named.
        program: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

/// Runs a program: its input is written while its output is read, so that neither waits for the other, and nothing
/// of its group is left when this returns.
///
/// What leaves the group (`setsid`) is not followed. The time limit is kept by this process: where it is killed, the
/// program finds its input ended and its output closed, which ends most; one that looks at neither goes on.
pub fn run(program: &Program) -> Result<Ended, ProgramError> {
    let stdout = Arc::new(Mutex::new(Vec::new()));
    let stderr = Arc::new(Mutex::new(Tail::new(program.max_stderr)));
    let (to_stdout, to_stderr) = (Arc::clone(&stdout), Arc::clone(&stderr));
    let most = program.max_stdout;
    let how = supervise(
        Supervised {
            argv: &program.argv,
            cwd: &program.cwd,
            environment: if program.whole_environment {
                Environment::Whole(&[], &program.env)
            } else {
                Environment::Few(&program.env)
            },
            stdin: Some(program.stdin.clone()),
            timeout: program.timeout,
            cancelled: Cancellation::default(),
            ends_with_us: false,
        },
        Box::new(move |piece| keep(&mut locked(&to_stdout), piece, most)),
        Box::new(move |piece| {
            locked(&to_stderr).push(piece);
            true
        }),
    )?;
    let stdout = std::mem::take(&mut *locked(&stdout));
    let (stderr, stderr_left_out) = locked(&stderr).take();
    Ok(Ended {
        how,
        stdout,
        stderr,
        stderr_left_out,
    })
}

/// Keeps the piece, as far as there is room; whether there was.
fn keep(kept: &mut Vec<u8>, piece: &[u8], most: usize) -> bool {
    let room = most.saturating_sub(kept.len());
    kept.extend_from_slice(&piece[..piece.len().min(room)]);
    piece.len() <= room
}
