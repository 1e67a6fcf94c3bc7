//! A process that outlives this one if need be, and ends what this one can no longer end.
//!
//! Whoever is killed (`SIGKILL`, or Ctrl-C in a terminal) cannot end the programs it started: they are in process groups
//! of their own. So a shell waits at the other end of a pipe, to which nothing is ever written. Where the pipe ends, this
//! process is gone, and the shell ends its own group. The program is started within that group: there is no moment at
//! which it runs and nobody would end it.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};

const SCRIPT: &str = "trap '' HUP INT QUIT TERM
read -r nothing
kill -s TERM 0
sleep 1
kill -s KILL 0
";

/// The shell that waits, and leads a process group. Dropped, it is gone.
pub(super) struct Guard {
    shell: Child,
    _pipe: ChildStdin,
}

impl Guard {
    /// Starts it; `None` where there is no shell, as nothing else depends on it.
    pub(super) fn post() -> Option<Self> {
        let mut shell = Command::new("/bin/sh")
            .args(["-c", SCRIPT])
            .current_dir("/")
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .ok()?;
        let pipe = shell.stdin.take()?;
        Some(Self { shell, _pipe: pipe })
    }

    /// The group that ends when this process does.
    pub(super) fn group(&self) -> io::Result<i32> {
        group_of(&self.shell)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // It may have been ended with its group.
        drop(self.shell.kill());
        drop(self.shell.wait());
    }
}

/// The number of a process, as groups are numbered.
pub(super) fn group_of(leader: &Child) -> io::Result<i32> {
    i32::try_from(leader.id()).map_err(|_| io::Error::other("a process id out of range"))
}
