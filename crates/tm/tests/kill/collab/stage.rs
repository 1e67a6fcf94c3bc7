//! A home, a project, and one session of skills in it, moved by the real binary.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Once;

use conductor::collab::answer::SessionState;
use conductor::{Conductor, OpenOptions};
use project::config::Environment;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::Value;
use tempfile::TempDir;

/// What the session is called.
pub const SESSION: &str = "story";

/// What a command came to.
#[derive(Debug)]
pub struct Ran {
    /// Its exit status; `None` if a signal ended it.
    pub status: Option<i32>,
    /// What it printed, and said beside it.
    pub out: String,
}

impl Ran {
    fn of(output: &Output) -> Self {
        Self {
            status: output.status.code(),
            out: [&output.stdout, &output.stderr]
                .map(|bytes| String::from_utf8_lossy(bytes))
                .concat(),
        }
    }

    /// Waits for a process.
    pub fn waited(child: Child) -> Self {
        Self::of(&child.wait_with_output().unwrap())
    }

    /// Whether a signal ended it.
    pub fn died(&self) -> bool {
        self.status.is_none()
    }

    /// The JSON value that it answered.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The same, of a command that came to this exit status.
    pub fn json_with(&self, status: i32) -> Value {
        assert_eq!(self.status, Some(status), "{self:?}");
        self.json()
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
        for folder in ["now/home", "now/project/.taskmaster"] {
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

    /// Writes a file of the session's documents, as somebody does by hand.
    pub fn document(&self, name: &str, text: &str) {
        fs::write(self.session().join("documents").join(name), text).unwrap();
    }

    /// How many events of a type are in the session's journal.
    pub fn events(&self, kind: &str) -> usize {
        let journal = fs::read_to_string(self.session().join("activity.jsonl")).unwrap();
        journal.matches(&format!("\"event\":\"{kind}\"")).count()
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

    /// `tm collab` on the session, asking for JSON; not yet started.
    pub fn collab(&self, words: &[&str]) -> Command {
        let mut all = vec!["collab"];
        all.extend(words);
        all.extend(["--session", SESSION, "--json"]);
        self.program(&all)
    }

    /// Begins it so many times at once.
    pub fn crowd(&self, count: usize, words: &[&str]) -> Vec<Child> {
        (0..count).map(|_| self.begun(words, "")).collect()
    }

    /// Begins it, with a text on its standard input.
    pub fn begun(&self, words: &[&str], input: &str) -> Child {
        begun(&mut self.collab(words), input)
    }

    /// Runs it to its end.
    pub fn ran(&self, words: &[&str], input: &str) -> Ran {
        Ran::waited(self.begun(words, input))
    }

    /// Runs it; it must come to this exit status.
    pub fn tm(&self, status: i32, words: &[&str]) -> Value {
        self.ran(words, "").json_with(status)
    }

    /// Completes skills, one after the other.
    pub fn skills(&self, skills: &[&str]) {
        for skill in skills {
            // The first one begins the session.
            let brief = self.conductor().collab_brief(Some(SESSION)).ok();
            match brief.and_then(|brief| brief.unit_id) {
                Some(unit) => self.tm(0, &["complete-skill", skill, "--unit-id", &unit]),
                None => self.tm(0, &["complete-skill", skill]),
            };
        }
    }

    /// The session with every field.
    pub fn state(&self) -> SessionState {
        self.conductor().collab_state(Some(SESSION)).unwrap()
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
}

/// Begins a command with a text on its standard input.
pub fn begun(command: &mut Command, input: &str) -> Child {
    if input.is_empty() {
        return command.spawn().unwrap();
    }
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    // A process that dies does not read everything.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child
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

/// A task graph of tasks that may all be done at once, named `t1` and so on.
pub fn wide(tasks: usize) -> String {
    let all = (1..=tasks).map(|task| format!("  - id: t{task}\n"));
    ["tasks:\n".to_owned()].into_iter().chain(all).collect()
}

/// A session with so many bugs, at the skill that says that all is planned.
pub fn planned(bugs: usize) -> Stage {
    let stage = Stage::new();
    let items: Vec<Value> = (1..=bugs)
        .map(|number| serde_json::json!({ "number": number, "title": "Mend", "type": "bugfix" }))
        .collect();
    let items = Value::from(items).to_string();
    stage.tm(0, &["update", "--work-items", &items]);
    stage.skills(&["collab-start", "gather-session-goals"]);
    for _ in 0..bugs {
        stage.skills(&["collab-clear", "systematic-debugging"]);
    }
    stage.skills(&["collab-clear"]);
    stage
}

/// A session whose only batch, of so many tasks, is in hand.
pub fn executing(tasks: usize) -> Stage {
    let stage = planned(1);
    stage.ran(&["sync", "-"], &wide(tasks)).json_with(0);
    stage.skills(&["ready-to-implement", "collab-clear"]);
    stage
}
