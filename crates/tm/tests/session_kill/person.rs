//! A person at a terminal, who types back the code that is shown to them.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::stage::Ran;

/// Runs `command` at a terminal of its own, and agrees to what it asks.
pub fn agree(command: &mut Command) -> Ran {
    agree_when(command, || ())
}

/// The same, but what is asked is answered only when `ready` returns. It is called once, also if nothing is asked.
pub fn agree_when(command: &mut Command, ready: impl FnOnce()) -> Ran {
    let mut ready = Some(ready);
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let slave = OpenOptions::new()
        .read(true)
        .write(true)
        .open(name)
        .unwrap();
    command
        .env("TERM", "dumb")
        .stdin(slave.try_clone().unwrap())
        .stdout(slave.try_clone().unwrap())
        .stderr(slave);
    let mut child = command.spawn().unwrap();
    // The command holds the other end of the terminal, whose closing is what ends the reading.
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut terminal = File::from(master);
    let mut shown = String::new();
    let mut buffer = [0; 4096];
    // The end is an error on Linux, and nothing to read elsewhere.
    while let Ok(read @ 1..) = terminal.read(&mut buffer) {
        shown.push_str(&String::from_utf8_lossy(&buffer[..read]).replace('\r', ""));
        if ready.is_some()
            && let Some(code) = code(&shown)
        {
            if let Some(ready) = ready.take() {
                ready();
            }
            terminal.write_all(format!("{code}\n").as_bytes()).unwrap();
        }
    }
    if let Some(ready) = ready {
        ready();
    }
    Ran {
        status: child.wait().unwrap().code(),
        out: shown,
    }
}

/// The code that is to be typed back, if it is asked for.
fn code(shown: &str) -> Option<String> {
    let (_, rest) = shown.rsplit_once("\nType ")?;
    let (code, _) = rest.split_once(" to ")?;
    rest.ends_with(": ").then(|| code.to_owned())
}
