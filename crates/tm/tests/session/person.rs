//! A person at a terminal, who reads the code that is shown and types it back.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::environment::{Env, Session};

impl Env {
    /// Runs `tm session` at a terminal where somebody agrees: exit status, and all that the terminal showed.
    pub fn at_terminal(&self, arguments: &[&str]) -> (i32, String) {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let open = || {
            OpenOptions::new()
                .read(true)
                .write(true)
                .open(&name)
                .unwrap()
        };
        let mut all = vec!["session"];
        all.extend(arguments);
        let mut command = self.program(&all);
        command
            .env("TERM", "xterm")
            .stdin(open())
            .stdout(open())
            .stderr(open());
        let mut child = command.spawn().unwrap();
        // The command holds the other end, whose closing is what ends the reading.
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut terminal = File::from(master);
        let mut shown = String::new();
        let mut asked = false;
        let mut buffer = [0; 4096];
        // The end is an error on Linux, and nothing to read elsewhere.
        while let Ok(read @ 1..) = terminal.read(&mut buffer) {
            shown.push_str(&String::from_utf8_lossy(&buffer[..read]).replace('\r', ""));
            if let Some(code) = code(&shown)
                && !asked
            {
                asked = true;
                terminal.write_all(format!("{code}\n").as_bytes()).unwrap();
            }
        }
        (child.wait().unwrap().code().unwrap(), shown)
    }

    /// Has a person trust a profile.
    pub fn trust(&self, profile: &str) {
        let (status, shown) = self.at_terminal(&["trust", profile]);
        assert_eq!(status, 0, "{shown}");
    }
}

impl Session<'_> {
    /// Runs a command at a terminal where somebody agrees.
    pub fn person(&self, arguments: &[&str]) -> (i32, String) {
        let mut all = arguments.to_vec();
        all.extend(["--session", &self.id]);
        self.env.at_terminal(&all)
    }

    /// The same, which must succeed.
    pub fn agreed(&self, arguments: &[&str]) {
        let (status, shown) = self.person(arguments);
        assert_eq!(status, 0, "{arguments:?}: {shown}");
    }

    /// A person opens the gate.
    pub fn approve(&self) {
        self.agreed(&["approve"]);
    }

    /// A person sends back what stands before the gate.
    pub fn reject(&self, feedback: &str) {
        self.agreed(&["reject", "--feedback", feedback]);
    }

    /// A person takes the session up again.
    pub fn reopen(&self) {
        self.agreed(&["reopen"]);
    }
}

/// The code that is asked for.
fn code(shown: &str) -> Option<&str> {
    let (_, rest) = shown.rsplit_once("\nType ")?;
    let (code, _) = rest.split_once(" to ")?;
    rest.ends_with(": ").then_some(code)
}
