//! A git that runs the user's hooks: with a time limit, and with output that is kept but not without bound.

use std::io::{Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::command::{Git, spawn_error};
use super::error::{GitError, GitErrorKind};
use crate::process::ProcessGroup;
use crate::process::head_and_tail::HeadAndTail;
use crate::process::supervise::locked;

/// How much of the output is kept: this much of its beginning and as much of its end.
const KEPT_EACH: usize = 32 * 1024;
/// How long a git that was asked to end has for putting its lock files away.
const GRACE: Duration = Duration::from_secs(2);
/// How long the output may stay open after git has ended: a hook may have left something running that holds it.
const OUTPUT_GRACE: Duration = Duration::from_millis(250);

/// How a git with a time limit ended.
pub(super) struct Ended {
    /// Its status; `None` if it was ended for taking too long.
    status: Option<ExitStatus>,
    /// What it and the hooks printed, in the order it came.
    pub(super) output: String,
}

impl Ended {
    pub(super) fn success(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    pub(super) fn timed_out(&self) -> bool {
        self.status.is_none()
    }

    pub(super) fn exit_code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    pub(super) fn into_error(self, command: &str, limit: Duration) -> GitError {
        if self.timed_out() {
            let message = format!(
                "`{command}` took longer than {} s and was ended",
                limit.as_secs_f32()
            );
            GitError::new(GitErrorKind::TimedOut, message)
        } else {
            GitError::from_failure(command, self.exit_code(), self.output.as_bytes())
        }
    }
}

/// Runs git in a process group of its own, with `input` on its standard input. `on_spawn` is told the group before the
/// input is given: a git that cannot do anything without it does nothing if this process ends before `on_spawn` has
/// returned, so that no git is ever at work of which nobody knows.
pub(super) fn run(
    git: &Git,
    input: &[u8],
    limit: Duration,
    on_spawn: &dyn Fn(&ProcessGroup),
) -> Result<Ended, GitError> {
    let name = git.name();
    let mut child = git
        .process()
        .stdin(if input.is_empty() {
            Stdio::null()
        } else {
            Stdio::piped()
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|error| spawn_error(&name, error))?;
    let id = i32::try_from(child.id())
        .map_err(|_| GitError::unexpected(&name, "a process id out of range"))?;
    let group = ProcessGroup::of_leader(id);
    on_spawn(&group);
    let stdin = child.stdin.take();
    let written = stdin.map_or(Ok(()), |mut stdin| stdin.write_all(input));

    let kept = Arc::new(Mutex::new(HeadAndTail::new(KEPT_EACH)));
    let (read_to_the_end, all_read) = mpsc::channel();
    let streams: [Option<Box<dyn Read + Send>>; 2] = [
        child
            .stdout
            .take()
            .map(|stream| Box::new(stream) as Box<dyn Read + Send>),
        child
            .stderr
            .take()
            .map(|stream| Box::new(stream) as Box<dyn Read + Send>),
    ];
    for stream in streams.into_iter().flatten() {
        let kept = Arc::clone(&kept);
        let read_to_the_end = read_to_the_end.clone();
        thread::spawn(move || {
            keep_output(stream, &kept);
            // Dropped, it tells that this stream is read to its end.
            drop(read_to_the_end);
        });
    }
    drop(read_to_the_end);

    let (ended, end) = mpsc::channel();
    thread::spawn(move || drop(ended.send(child.wait())));
    let status = if let Ok(status) = end.recv_timeout(limit) {
        Some(status.map_err(|error| GitError::io(format!("cannot wait for `{name}`"), error))?)
    } else {
        group.terminate();
        let in_time = end.recv_timeout(GRACE).is_ok();
        // What git started may still be there, and deaf.
        group.kill();
        if !in_time {
            drop(end.recv_timeout(GRACE));
        }
        None
    };
    // Nothing is ever sent: this waits for the readers to end, and for no longer than it must.
    let _: Result<(), RecvTimeoutError> = all_read.recv_timeout(OUTPUT_GRACE);
    let (kept, _) = locked(&kept).take();
    let output = String::from_utf8_lossy(&kept).trim_end().to_owned();
    // A git that fails may end before it has read everything, and says why by itself.
    if status.is_some_and(|status| status.success()) {
        written.map_err(|error| GitError::io(format!("cannot write to `{name}`"), error))?;
    }
    Ok(Ended { status, output })
}

fn keep_output(mut stream: impl Read, kept: &Mutex<HeadAndTail>) {
    let mut buffer = [0; 8 * 1024];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        locked(kept).push(&buffer[..count]);
    }
}
