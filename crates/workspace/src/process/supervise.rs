//! Starting a program and attending to it until it has ended, or was made to.

use std::ffi::OsString;
use std::io::{self, Read, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::group::ProcessGroup;
use super::guard::{Guard, group_of};
use super::inherited;
use super::run::{Cancellation, How, ProgramError};
use text::plain::one_line;

/// How often it is looked whether somebody still wants a program.
const LOOK: Duration = Duration::from_millis(200);
/// How long a program that was asked to end has for clearing up.
const GRACE: Duration = Duration::from_secs(1);
/// How long output may stay open after the program has ended: something that it left running may hold it.
const OUTPUT_GRACE: Duration = Duration::from_millis(250);
/// How long what is still in the pipes may take to be read when nothing of the group runs any more. On a busy machine that
/// is not at once; something that left the group may also hold them open.
const DRAIN_GRACE: Duration = Duration::from_secs(2);
/// How long a program that was killed may take to be gone, before it is no longer waited for.
const KILL_GRACE: Duration = Duration::from_secs(2);
/// How long a file that is to be run, and still open for writing somewhere, is waited for.
const BUSY_GRACE: Duration = Duration::from_secs(1);

/// A program, and the terms on which it runs.
pub(crate) struct Supervised<'a> {
    /// The program and its arguments. A program without `/` is looked for in `PATH`; a relative path is one below `cwd`.
    pub(crate) argv: &'a [OsString],
    pub(crate) cwd: &'a Path,
    pub(crate) environment: Environment<'a>,
    /// What it reads on its standard input; without it, that has ended before it began.
    pub(crate) stdin: Option<Vec<u8>>,
    pub(crate) timeout: Duration,
    /// When it is ended because nobody wants it any more.
    pub(crate) cancelled: Cancellation,
    /// Whether it is ended, too, when this process is killed.
    pub(crate) ends_with_us: bool,
}

/// What environment a program is given.
pub(crate) enum Environment<'a> {
    /// The few variables that are handed on to everybody, and these.
    Few(&'a [(OsString, OsString)]),
    /// These, and no other.
    Only(&'a [(OsString, OsString)]),
    /// All that this process has, without those named first, and with those given last.
    Whole(&'a [&'a str], &'a [(OsString, OsString)]),
}

/// Takes what a program prints, piece by piece; says whether more may come. If not, the program is ended.
pub(crate) type Take = Box<dyn FnMut(&[u8]) -> bool + Send>;

/// Runs a program: its input is written while its output is read, so that neither waits for the other, and nothing of
/// its group is left when this returns.
///
/// What leaves the group (`setsid`) is not followed.
pub(crate) fn supervise(
    program: Supervised<'_>,
    stdout: Take,
    stderr: Take,
) -> Result<How, ProgramError> {
    let guard = program.ends_with_us.then(Guard::post).flatten();
    let out_of_range = |error| failed(program.argv, error);
    let joined = guard.as_ref().map(Guard::group).transpose();
    let joined = joined.map_err(out_of_range)?;
    let mut child = spawn(&program, joined.unwrap_or(0))?;
    let id = group_of(&child).map_err(out_of_range)?;
    let group = ProcessGroup::of_leader(joined.unwrap_or(id));
    let mut watch = watch(program.stdin, &mut child, id, stdout, stderr);

    let cancelled = &program.cancelled;
    let begun = Instant::now();
    let in_time = loop {
        let left = program.timeout.saturating_sub(begun.elapsed());
        if watch.wait(left.min(LOOK), |seen| seen.leader_ended || seen.flooded) {
            break true;
        }
        if cancelled.is_requested() || begun.elapsed() >= program.timeout {
            break false;
        }
    };
    let mut forced = match (watch.flooded, in_time) {
        (true, _) => Some(How::Flooded),
        (false, false) if cancelled.is_requested() => Some(How::Cancelled),
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
    // Until its leader is collected, the number of the group is nobody else's.
    group.kill();
    let status = if watch.wait(KILL_GRACE, |seen| seen.leader_ended) {
        Some(child.wait().map_err(|error| failed(program.argv, error))?)
    } else {
        // The system holds it; it is collected whenever that ends.
        thread::spawn(move || drop(child.wait()));
        None
    };
    watch.wait(DRAIN_GRACE, |seen| seen.open_streams == 0);
    Ok(forced.unwrap_or_else(|| status.map_or(How::TimedOut, how_of)))
}

/// Starts it in a process group: that of this number, or with 0 one of its own.
fn spawn(program: &Supervised<'_>, group: i32) -> Result<Child, ProgramError> {
    let Some((name, arguments)) = program.argv.split_first() else {
        return Err(ProgramError::Missing {
            program: String::new(),
        });
    };
    if !program.cwd.is_dir() {
        return Err(ProgramError::NoFolder {
            folder: program.cwd.to_owned(),
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
    let set = match program.environment {
        Environment::Few(set) => {
            command.env_clear().envs(inherited::variables());
            set
        }
        Environment::Only(set) => {
            command.env_clear();
            set
        }
        Environment::Whole(removed, set) => {
            for name in removed {
                command.env_remove(name);
            }
            set
        }
    };
    command
        .args(arguments)
        .current_dir(program.cwd)
        .envs(set.iter().map(|(name, value)| (name, value)))
        .stdin(if program.stdin.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(group);
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
                    program: name_of(program.argv),
                });
            }
            // One that is there and not found names an interpreter that is not.
            io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => {
                return Err(ProgramError::NotExecutable {
                    program: name_of(program.argv),
                    source: error,
                });
            }
            _ => return Err(failed(program.argv, error)),
        }
    }
}

fn failed(argv: &[OsString], source: io::Error) -> ProgramError {
    ProgramError::Io {
        program: name_of(argv),
        source,
    }
}

fn name_of(argv: &[OsString]) -> String {
    argv.first()
        .map(|name| one_line(&name.to_string_lossy()))
        .unwrap_or_default()
}

/// Starts what feeds the program and looks at it.
fn watch(input: Option<Vec<u8>>, child: &mut Child, id: i32, stdout: Take, stderr: Take) -> Watch {
    let (sender, events) = mpsc::channel();
    if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
        // One that ends before it has read everything may have good reason to.
        thread::spawn(move || drop(stdin.write_all(&input)));
    }
    let streams: [(Option<Box<dyn Read + Send>>, Take); 2] = [
        (
            child.stdout.take().map(|stream| Box::new(stream) as _),
            stdout,
        ),
        (
            child.stderr.take().map(|stream| Box::new(stream) as _),
            stderr,
        ),
    ];
    let mut open_streams = 0;
    for (stream, take) in streams {
        if let Some(stream) = stream {
            open_streams += 1;
            let told = sender.clone();
            thread::spawn(move || {
                let event = if read_pieces(stream, take) {
                    Event::StreamEnded
                } else {
                    Event::Flooded
                };
                drop(told.send(event));
            });
        }
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

/// Gives what is read, piece by piece; whether the end was reached before `take` wanted no more.
fn read_pieces(mut stream: impl Read, mut take: Take) -> bool {
    let mut buffer = [0; 16 * 1024];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return true,
            Ok(count) => {
                if !take(&buffer[..count]) {
                    return false;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return true,
        }
    }
}

/// A thread that panicked while it held this left bytes that are as good as any.
pub(crate) fn locked<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}
