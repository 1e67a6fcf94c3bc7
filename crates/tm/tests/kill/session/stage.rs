//! A home, a project, and one session in it, moved by the real binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Once;

use conductor::review::answer::SessionState;
use conductor::{Conductor, OpenOptions};
use project::config::Environment;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::Value;
use tempfile::TempDir;

use testkit::Person;

/// What a command came to.
#[derive(Debug)]
pub struct Ran {
    /// Its exit status; `None` if a signal ended it.
    pub status: Option<i32>,
    /// What it printed, and said beside it.
    pub out: String,
}

impl Ran {
    /// From what a process left behind.
    pub fn of(output: &Output) -> Self {
        Self {
            status: output.status.code(),
            out: [&output.stdout, &output.stderr]
                .map(|bytes| String::from_utf8_lossy(bytes))
                .concat(),
        }
    }

    /// Whether a signal ended it.
    pub fn died(&self) -> bool {
        self.status.is_none()
    }

    /// The JSON value that it answered; null if there is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_default()
    }
}

/// A folder of its own for each session.
pub struct Stage {
    folder: TempDir,
}

impl Stage {
    /// A project without a session.
    pub fn new() -> Self {
        no_core_files();
        let stage = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for folder in ["now/home", "now/project/.taskmaster", "now/out"] {
            fs::create_dir_all(stage.folder.path().join(folder)).unwrap();
        }
        stage
    }

    /// Everything that a call may change.
    pub fn all(&self) -> PathBuf {
        self.folder.path().join("now")
    }

    /// The project.
    pub fn project(&self) -> PathBuf {
        self.all().join("project")
    }

    /// Where sessions are kept.
    pub fn store(&self) -> PathBuf {
        self.all().join("home/store")
    }

    /// A folder outside of the session, for its code.
    pub fn out(&self) -> PathBuf {
        self.all().join("out")
    }

    /// The folders of all sessions, the oldest first; also of those that never began.
    pub fn sessions(&self) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = folders(&self.store().join("projects"))
            .iter()
            .flat_map(|project| folders(&project.join("runs")))
            .collect();
        all.sort();
        all
    }

    /// The session's folder.
    pub fn session(&self) -> PathBuf {
        self.sessions().pop().expect("there is a session")
    }

    /// Writes a file of the session, as somebody does who answers by hand. At once or not at all.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.session().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Keeps everything as it is now under a number.
    pub fn save(&self, number: usize) {
        self.copy("now", &format!("saved-{number}"));
    }

    /// Makes everything as it was when it was kept.
    pub fn restore(&self, number: usize) {
        fs::remove_dir_all(self.all()).unwrap();
        self.copy(&format!("saved-{number}"), "now");
    }

    fn copy(&self, from: &str, to: &str) {
        copy(&self.folder.path().join(from), &self.folder.path().join(to));
    }

    /// The binary, not yet started, with nothing but what is needed in its environment.
    pub fn program(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tm"));
        command
            .args(arguments)
            .current_dir(self.project())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.all().join("home"))
            .env("TRAMLINE_HOME", self.store())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs `tm session`, asking for JSON.
    pub fn tm(&self, arguments: &[&str]) -> Ran {
        let mut all = vec!["session"];
        all.extend(arguments);
        all.push("--json");
        Ran::of(&self.program(&all).output().unwrap())
    }

    /// Runs it; it must come to this exit status.
    pub fn tm_with(&self, arguments: &[&str], status: i32) -> Value {
        let ran = self.tm(arguments);
        assert_eq!(ran.status, Some(status), "{arguments:?}: {ran:?}");
        ran.json()
    }

    /// The conductor of the project, in this process.
    pub fn conductor(&self) -> Conductor {
        let environment: Environment = [
            ("HOME", self.all().join("home")),
            ("TRAMLINE_HOME", self.store()),
        ]
        .into_iter()
        .map(|(name, path)| (name.to_owned(), path.display().to_string()))
        .collect();
        Conductor::open(OpenOptions {
            cwd: self.project(),
            project_root: None,
            tag: None,
            environment,
            command: "test".to_owned(),
            actor: "test".to_owned(),
            given_up: None,
        })
        .unwrap()
    }

    /// The session as it is.
    pub fn state(&self) -> SessionState {
        self.conductor().session_status(None).unwrap()
    }
}

/// The folders in a folder.
fn folders(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else {
        return Vec::new();
    };
    entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect()
}

/// Copies a folder with all in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).unwrap();
        }
    }
}

/// A process that aborts would leave its memory behind.
fn no_core_files() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let maximum = getrlimit(Resource::Core).maximum;
        setrlimit(
            Resource::Core,
            Rlimit {
                current: Some(0),
                maximum,
            },
        )
        .unwrap();
    });
}

/// Runs `command` at a terminal of its own, where a person agrees to what it asks as soon as `ready` returns. That is
/// called once, also if nothing is asked.
pub fn agree_when(command: Command, ready: impl FnOnce()) -> Ran {
    let mut person = Person::at(command);
    let asked = person.asked();
    ready();
    let mut out = String::new();
    if let Some((shown, code)) = asked {
        person.say(&code);
        out = shown;
    }
    let (status, rest) = person.end_or_death();
    Ran {
        status,
        out: out + &rest,
    }
}
