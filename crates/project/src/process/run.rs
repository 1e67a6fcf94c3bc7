//! Running a program to its end, or to the end of its time.

use std::ffi::OsString;
use std::io::{self, Read, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::group::ProcessGroup;
use super::inherited;
use crate::convention::plain::one_line;

/// How long a program that was asked to end has for clearing up.
const GRACE: Duration = Duration::from_secs(1);
/// How long output may stay open after the program has ended: something that it left running may hold it.
const OUTPUT_GRACE: Duration = Duration::from_millis(250);
/// How long a program that was killed may take to be gone, before it is no longer waited for.
const KILL_GRACE: Duration = Duration::from_secs(2);
/// How long a file that is to be run, and still open for writing somewhere, is waited for.
const BUSY_GRACE: Duration = Duration::from_secs(1);

/// A program that is to be run.
#[derive(Debug, Clone)]
pub struct Program {
    /// The program and its arguments. A program without `/` is looked for in `PATH`; a relative path is one below `cwd`.
    pub argv: Vec<OsString>,
    /// The folder it works in.
    pub cwd: PathBuf,
    /// Variables on top of the few that are handed on from this process' environment.
    pub env: Vec<(OsString, OsString)>,
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
    let mut child = spawn(program)?;
    let id = i32::try_from(child.id())
        .map_err(|_| failed(program, io::Error::other("a process id out of range")))?;
    let group = ProcessGroup::of_leader(id);
    let stdout = Arc::new(Mutex::new(Vec::new()));
    let stderr = Arc::new(Mutex::new(Tail::new(program.max_stderr)));
    let mut watch = watch(program, &mut child, id, &stdout, &stderr);

    let in_time = watch.wait(program.timeout, |seen| seen.leader_ended || seen.flooded);
    let mut forced = match (watch.flooded, in_time) {
        (true, _) => Some(How::Flooded),
        (false, false) => Some(How::TimedOut),
        (false, true) => None,
    };
    if forced.is_some() {
        group.terminate();
        watch.wait(GRACE, |seen| seen.leader_ended);
    } else {
        watch.wait(OUTPUT_GRACE, |seen| seen.flooded || seen.open_streams == 0);
        if watch.flooded {
            forced = Some(How::Flooded);
        }
    }
    // Until the leader is collected below, the number of its group is nobody else's.
    group.kill();
    let status = if watch.wait(KILL_GRACE, |seen| seen.leader_ended) {
        Some(child.wait().map_err(|error| failed(program, error))?)
    } else {
        // The system holds it; it is collected whenever that ends.
        thread::spawn(move || drop(child.wait()));
        None
    };
    watch.wait(OUTPUT_GRACE, |seen| seen.open_streams == 0);

    let how = forced.unwrap_or_else(|| status.map_or(How::TimedOut, how_of));
    let stdout = std::mem::take(&mut *locked(&stdout));
    let (stderr, stderr_left_out) = locked(&stderr).take();
    Ok(Ended {
        how,
        stdout,
        stderr,
        stderr_left_out,
    })
}

fn spawn(program: &Program) -> Result<Child, ProgramError> {
    let Some((name, arguments)) = program.argv.split_first() else {
        return Err(ProgramError::Missing {
            program: String::new(),
        });
    };
    if !program.cwd.is_dir() {
        return Err(ProgramError::NoFolder {
            folder: program.cwd.clone(),
        });
    }
    let is_path = name.as_encoded_bytes().contains(&b'/');
    // An absolute path stays what it is.
    let path = program.cwd.join(name);
    let mut command = if is_path {
        Command::new(&path)
    } else {
        Command::new(name)
    };
    command
        .args(arguments)
        .current_dir(&program.cwd)
        .env_clear()
        .envs(inherited::variables())
        .envs(program.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let begun = Instant::now();
    loop {
        let error = match command.spawn() {
            Ok(child) => return Ok(child),
            Err(error) => error,
        };
        match error.kind() {
            // Another thread that starts a program at this very moment holds a copy of every open file for an instant.
            io::ErrorKind::ExecutableFileBusy if begun.elapsed() < BUSY_GRACE => {
                thread::sleep(Duration::from_millis(5));
            }
            io::ErrorKind::NotFound if !(is_path && path.exists()) => {
                return Err(ProgramError::Missing {
                    program: name_of(program),
                });
            }
            // One that is there and not found names an interpreter that is not.
            io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => {
                return Err(ProgramError::NotExecutable {
                    program: name_of(program),
                    source: error,
                });
            }
            _ => return Err(failed(program, error)),
        }
    }
}

fn failed(program: &Program, source: io::Error) -> ProgramError {
    ProgramError::Io {
        program: name_of(program),
        source,
    }
}

fn name_of(program: &Program) -> String {
    program
        .argv
        .first()
        .map(|name| one_line(&name.to_string_lossy()))
        .unwrap_or_default()
}

/// Starts what feeds the program and looks at it.
fn watch(
    program: &Program,
    child: &mut Child,
    id: i32,
    stdout: &Arc<Mutex<Vec<u8>>>,
    stderr: &Arc<Mutex<Tail>>,
) -> Watch {
    let (sender, events) = mpsc::channel();
    let mut open_streams = 0;
    if let Some(mut stdin) = child.stdin.take() {
        let input = program.stdin.clone();
        // One that ends before it has read everything may have good reason to.
        thread::spawn(move || drop(stdin.write_all(&input)));
    }
    if let Some(stream) = child.stdout.take() {
        open_streams += 1;
        let (kept, most, told) = (Arc::clone(stdout), program.max_stdout, sender.clone());
        thread::spawn(move || {
            let event = if keep_all(stream, &kept, most) {
                Event::StreamEnded
            } else {
                Event::Flooded
            };
            drop(told.send(event));
        });
    }
    if let Some(mut stream) = child.stderr.take() {
        open_streams += 1;
        let (kept, told) = (Arc::clone(stderr), sender.clone());
        thread::spawn(move || {
            read_pieces(&mut stream, |piece| {
                locked(&kept).push(piece);
                true
            });
            drop(told.send(Event::StreamEnded));
        });
    }
    thread::spawn(move || {
        wait_without_collecting(id);
        drop(sender.send(Event::LeaderEnded));
    });
    Watch {
        events,
        leader_ended: false,
        flooded: false,
        open_streams,
    }
}

/// What is seen of a running program.
enum Event {
    LeaderEnded,
    StreamEnded,
    Flooded,
}

/// All that was seen of it so far.
struct Watch {
    events: Receiver<Event>,
    leader_ended: bool,
    flooded: bool,
    open_streams: u8,
}

impl Watch {
    /// Waits until `enough` was seen, for as long as `limit` at most; whether it was.
    fn wait(&mut self, limit: Duration, enough: impl Fn(&Self) -> bool) -> bool {
        let begun = Instant::now();
        while !enough(self) {
            let left = limit.saturating_sub(begun.elapsed());
            match self.events.recv_timeout(left) {
                Ok(Event::LeaderEnded) => self.leader_ended = true,
                Ok(Event::StreamEnded) => self.open_streams = self.open_streams.saturating_sub(1),
                Ok(Event::Flooded) => {
                    self.flooded = true;
                    self.open_streams = self.open_streams.saturating_sub(1);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return false,
            }
        }
        true
    }
}

/// Waits until a child has ended, and leaves its status, and with it its number, where they are.
fn wait_without_collecting(id: i32) {
    let Some(pid) = Pid::from_raw(id) else {
        return;
    };
    while let Err(Errno::INTR) = waitid(
        WaitId::Pid(pid),
        WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
    ) {}
}

fn how_of(status: ExitStatus) -> How {
    match (status.code(), status.signal()) {
        (Some(code), _) => How::Exited(code),
        (None, signal) => How::Signalled(signal.unwrap_or_default()),
    }
}

/// Reads to the end; whether it was reached before there was more than `most`.
fn keep_all(mut stream: impl Read, kept: &Mutex<Vec<u8>>, most: usize) -> bool {
    let mut fits = true;
    read_pieces(&mut stream, |piece| {
        let mut kept = locked(kept);
        let room = most - kept.len();
        kept.extend_from_slice(&piece[..piece.len().min(room)]);
        fits = piece.len() <= room;
        fits
    });
    fits
}

/// Gives what is read, piece by piece, until there is no more or `take` wants no more.
fn read_pieces(stream: &mut impl Read, mut take: impl FnMut(&[u8]) -> bool) {
    let mut buffer = [0; 16 * 1024];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                if !take(&buffer[..count]) {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// The end of what was printed.
struct Tail {
    bytes: Vec<u8>,
    most: usize,
    left_out: u64,
}

impl Tail {
    fn new(most: usize) -> Self {
        Self {
            bytes: Vec::new(),
            most,
            left_out: 0,
        }
    }

    fn push(&mut self, piece: &[u8]) {
        self.bytes.extend_from_slice(piece);
        // Cut only when twice the size is reached, so that each byte is moved a bounded number of times.
        if self.bytes.len() > self.most.saturating_mul(2) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let surplus = self.bytes.len().saturating_sub(self.most);
        self.bytes.drain(..surplus);
        self.left_out += surplus as u64;
    }

    fn take(&mut self) -> (Vec<u8>, u64) {
        self.cut();
        (std::mem::take(&mut self.bytes), self.left_out)
    }
}

/// A thread that panicked while it held this left bytes that are as good as any.
fn locked<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}
