//! The binary at a terminal, where a person sits.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::environment::TestEnvironment;

/// Runs the binary at a terminal of its own, at which somebody types `lines` and then Ctrl-D. Exit status, and all
/// that the terminal showed.
pub fn at_terminal(env: &TestEnvironment, arguments: &[&str], lines: &str) -> (i32, String) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let slave = OpenOptions::new()
        .read(true)
        .write(true)
        .open(name)
        .unwrap();
    let mut command = env.process(env!("CARGO_BIN_EXE_tm"));
    command
        .args(arguments)
        .env("TERM", "xterm")
        .stdin(slave.try_clone().unwrap())
        .stdout(slave.try_clone().unwrap())
        .stderr(slave);
    let mut child = command.spawn().unwrap();
    // The command holds the other end, whose closing is what ends the reading.
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut terminal = File::from(master);
    terminal
        .write_all(format!("{lines}\u{4}").as_bytes())
        .unwrap();
    let mut shown = Vec::new();
    let mut buffer = [0; 4096];
    // The end is an error on Linux, and nothing to read elsewhere.
    while let Ok(read @ 1..) = terminal.read(&mut buffer) {
        shown.extend_from_slice(&buffer[..read]);
    }
    let status = child.wait().unwrap().code().unwrap();
    (status, String::from_utf8_lossy(&shown).replace('\r', ""))
}
