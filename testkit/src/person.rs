//! A person at a terminal, who reads before they type, and one who signs.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::outcome::Outcome;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// How long somebody waits for more to be shown.
const PATIENCE: Timespec = Timespec {
    tv_sec: 120,
    tv_nsec: 0,
};

/// The binary at a terminal of its own.
pub struct Person {
    child: Child,
    terminal: File,
    unread: String,
    /// What the screen shows, where it is one.
    screen: Option<vt100::Parser>,
}

fn size_of(number: u16) -> NonZero<u16> {
    NonZero::new(number).expect("a size")
}

/// One end of a new terminal. No program that is started holds it, also none that another thread starts right now: the
/// terminal would not be gone when a person takes it away.
fn terminal() -> OwnedFd {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    #[cfg(target_os = "linux")]
    let master = openpt(flags | OpenptFlags::CLOEXEC).unwrap();
    #[cfg(not(target_os = "linux"))]
    let master = openpt(flags).unwrap();
    #[cfg(not(target_os = "linux"))]
    rustix::io::fcntl_setfd(&master, rustix::io::FdFlags::CLOEXEC).unwrap();
    master
}

impl Person {
    /// Runs a command of the binary.
    pub fn at(command: Command) -> Self {
        Self::at_terminal(command, terminal())
    }

    fn at_terminal(mut command: Command, master: OwnedFd) -> Self {
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let slave = OpenOptions::new()
            .read(true)
            .write(true)
            .open(name)
            .unwrap();
        command
            .env("TERM", "xterm")
            .stdin(slave.try_clone().unwrap())
            .stdout(slave.try_clone().unwrap())
            .stderr(slave);
        let child = command.spawn().unwrap();
        // The command holds the other end of the terminal, whose closing is what ends the reading.
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Self {
            child,
            terminal: File::from(master),
            unread: String::new(),
            screen: None,
        }
    }

    /// Runs a command at a terminal of this size, that of screens.
    pub fn at_screen(command: Command, columns: u16, rows: u16) -> Self {
        let master = terminal();
        let size = Winsize {
            ws_col: columns,
            ws_row: rows,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&master, size).unwrap();
        let mut person = Self::at_terminal(command, master);
        person.screen = Some(vt100::Parser::new(size_of(rows), size_of(columns), 0));
        person
    }

    /// Waits until the screen shows a text; all that it shows then.
    pub fn sees(&mut self, text: &str) -> String {
        loop {
            let screen = self.screen.as_ref().expect("a screen").screen();
            let shown = screen.contents();
            if shown.contains(text) {
                return shown;
            }
            assert!(self.read(), "{text:?} does not come: {shown}");
        }
    }

    /// Presses keys, as they come over the line.
    pub fn press(&mut self, keys: &str) {
        self.terminal.write_all(keys.as_bytes()).unwrap();
    }

    /// Asks the command to end, as the system does, and waits for that. What was not read yet.
    pub fn terminate(self) -> (i32, String) {
        let id = i32::try_from(self.child.id()).unwrap();
        let process = rustix::process::Pid::from_raw(id).unwrap();
        rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
        self.end()
    }

    /// Takes the terminal away, and sends no signal; the exit status that follows.
    #[cfg(target_os = "linux")]
    pub fn hang_up(self) -> Option<i32> {
        self.hang_up_with(0)
    }

    /// Takes the terminal away, and sends so many hangups, as shell and system do; the exit status that follows.
    #[cfg(target_os = "linux")]
    pub fn hang_up_with(mut self, signals: usize) -> Option<i32> {
        use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
        let process = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty()).unwrap();
        self.terminal = File::open("/dev/null").unwrap();
        for _ in 0..signals {
            kill_process(Pid::from_child(&self.child), Signal::HUP).unwrap();
        }
        let mut ends = [PollFd::new(&process, PollFlags::IN)];
        let came = poll(&mut ends, Some(&PATIENCE)).unwrap();
        assert_eq!(came, 1, "it outlives its terminal");
        self.child.wait().unwrap().code()
    }

    /// Reads on; false at the end, which is an error on Linux and nothing to read elsewhere, and where nothing comes for so long
    /// that nothing will.
    fn read(&mut self) -> bool {
        let mut comes = [PollFd::new(&self.terminal, PollFlags::IN)];
        if poll(&mut comes, Some(&PATIENCE)) == Ok(0) {
            return false;
        }
        let mut buffer = [0; 4096];
        let read = self.terminal.read(&mut buffer).unwrap_or(0);
        if let Some(screen) = &mut self.screen {
            screen.process(&buffer[..read]);
        }
        let text = String::from_utf8_lossy(&buffer[..read]).replace('\r', "");
        self.unread.push_str(&text);
        read > 0
    }

    /// Waits for the code that is to be typed back. Everything up to it, and the code; nothing where none is asked for.
    pub fn asked(&mut self) -> Option<(String, String)> {
        loop {
            if let Some((shown, rest)) = self.unread.split_once("\nType ")
                && let Some((code, _)) = rest.split_once(" to ")
                && rest.ends_with(": ")
            {
                let told = (shown.to_owned(), code.to_owned());
                self.unread.clear();
                return Some(told);
            }
            if !self.read() {
                return None;
            }
        }
    }

    /// The same where one has to be asked for.
    pub fn code(&mut self) -> (String, String) {
        let asked = self.asked();
        asked.unwrap_or_else(|| panic!("no code is asked for: {}", self.unread))
    }

    /// Waits for a text, and gives everything up to its end.
    pub fn until(&mut self, text: &str) -> String {
        loop {
            if let Some(at) = self.unread.find(text) {
                let rest = self.unread.split_off(at + text.len());
                return std::mem::replace(&mut self.unread, rest);
            }
            assert!(self.read(), "{text:?} does not come: {}", self.unread);
        }
    }

    /// Types a line.
    pub fn say(&mut self, line: &str) {
        self.terminal
            .write_all(format!("{line}\n").as_bytes())
            .unwrap();
    }

    /// Waits for the end: the exit status, and what was not read yet.
    pub fn end(self) -> (i32, String) {
        let ended = self.end_or_death();
        assert!(!ended.died(), "{ended:?}");
        (ended.status, ended.out)
    }

    /// The same of a command that may be killed.
    pub fn end_or_death(mut self) -> Outcome {
        while self.read() {}
        let shown = std::mem::take(&mut self.unread);
        Outcome::shown(self.child.wait().unwrap(), shown)
    }

    /// Types the code that is shown, and waits for the end. What was shown before it, the exit status, and the rest.
    pub fn agrees(mut self) -> (String, i32, String) {
        let (shown, code) = self.code();
        self.say(&code);
        let (status, rest) = self.end();
        (shown, status, rest)
    }
}

/// Nothing that goes on by itself outlives the person who started it.
impl Drop for Person {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a command at a terminal of its own, at which somebody types `lines` and then Ctrl-D. Exit status, and all that the
/// terminal showed (what was typed included).
pub fn at_terminal(command: Command, lines: &str) -> (i32, String) {
    let mut person = Person::at(command);
    person
        .terminal
        .write_all(format!("{lines}\u{4}").as_bytes())
        .unwrap();
    person.end()
}

/// The path of a key that may sign decisions; it is made where there is none.
pub fn key(store: &Path) -> String {
    let key = store.join("key");
    if key.exists() {
        return key.display().to_string();
    }
    std::fs::create_dir_all(store).unwrap();
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"])
        .arg(&key)
        .status()
        .unwrap();
    assert!(made.success());
    let public = std::fs::read_to_string(key.with_extension("pub")).unwrap();
    std::fs::write(
        store.join("allowed_signers"),
        format!("ann namespaces=\"tramline.decision\" {public}"),
    )
    .unwrap();
    key.display().to_string()
}
