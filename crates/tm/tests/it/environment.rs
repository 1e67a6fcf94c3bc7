//! A home, a repository, and the binary run in it with nothing else in its environment.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A folder of its own for each test: `home`, where runs and settings lie, and `project`, a repository.
pub struct TestEnvironment {
    folder: TempDir,
}

/// What a command came to.
#[derive(Debug)]
pub struct Ran {
    /// Its exit status.
    pub status: i32,
    /// What it printed.
    pub out: String,
    /// What it said beside it.
    pub err: String,
}

impl Ran {
    /// From what a process left behind.
    pub fn of(output: &Output) -> Self {
        Self {
            status: output.status.code().expect("ended by itself"),
            out: String::from_utf8(output.stdout.clone()).expect("standard output is UTF-8"),
            err: String::from_utf8(output.stderr.clone()).expect("standard error is UTF-8"),
        }
    }

    /// The one JSON value on standard output.
    pub fn json(&self) -> Value {
        assert_eq!(self.out.matches('\n').count(), 1, "one line: {self:?}");
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The same, of a command that must come to this exit status.
    pub fn json_with(&self, status: i32) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        self.json()
    }

    /// Standard output of a command that must succeed.
    pub fn text(&self) -> &str {
        assert_eq!(self.status, 0, "{self:?}");
        &self.out
    }
}

const TASKS: &str = r#"{
  "master": {
    "tasks": [
      {
        "id": 1,
        "title": "Count the words",
        "description": "Words of a text, counted.",
        "status": "pending",
        "subtasks": [
          { "id": 1, "title": "Count by spaces", "description": "One space apart.", "status": "pending" },
          { "id": 2, "title": "Count by any white space", "description": "Tabs too.", "status": "pending", "dependencies": [1] }
        ]
      },
      { "id": 2, "title": "Nothing to do", "status": "done", "subtasks": [ { "id": 1, "title": "Done", "status": "done" } ] }
    ],
    "metadata": {}
  }
}
"#;

impl TestEnvironment {
    /// Only a home; `project` is an empty folder.
    pub fn bare() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("home")).unwrap();
        fs::create_dir_all(folder.path().join("project")).unwrap();
        Self { folder }
    }

    /// A repository with two tasks and one commit.
    pub fn new() -> Self {
        let environment = Self::bare();
        environment.write(".taskmaster/tasks/tasks.json", TASKS);
        environment.write(
            ".taskmaster/config.json",
            r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"]}}"#,
        );
        environment.write("README.md", "words\n");
        environment.git(&["init", "--quiet", "--template="]);
        environment.git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
        environment.git(&["config", "user.name", "Somebody"]);
        environment.git(&["config", "user.email", "somebody@localhost"]);
        environment.git(&["add", "--all"]);
        environment.git(&["commit", "--quiet", "--message", "Begin"]);
        environment
    }

    /// A repository in which a run of task 1 has begun.
    pub fn started() -> Self {
        let environment = Self::new();
        environment
            .tm(&["autopilot", "start", "1", "--json"])
            .json_with(0);
        environment
    }

    /// The repository.
    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// The home.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The journal of the only run.
    pub fn journal(&self) -> PathBuf {
        let only = |folder: PathBuf| {
            let mut entries = fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().path());
            let first = entries.find(|path| path.is_dir()).unwrap();
            assert!(!entries.any(|path| path.is_dir()), "there are several");
            first
        };
        let project = only(self.home().join("store/projects"));
        only(project.join("runs")).join("activity.jsonl")
    }

    /// Writes a file of the repository.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A process with nothing but what is needed in its environment.
    pub fn process(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .current_dir(self.project())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home())
            .env("TRAMLINE_HOME", self.home().join("store"))
            .env("GIT_CONFIG_GLOBAL", self.home().join("gitconfig"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("NO_COLOR", "1")
            .env("USER", "tester")
            .stdin(Stdio::null());
        command
    }

    /// Runs git, which must succeed, and gives what it printed.
    pub fn git(&self, arguments: &[&str]) -> String {
        let output = self.process("git").args(arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout)
            .unwrap()
            .trim_end()
            .to_owned()
    }

    /// The binary, not yet started.
    pub fn program(&self, arguments: &[&str]) -> Command {
        let mut command = self.process(env!("CARGO_BIN_EXE_tm"));
        command.args(arguments);
        command
    }

    /// Runs the binary.
    pub fn tm(&self, arguments: &[&str]) -> Ran {
        Ran::of(&self.program(arguments).output().unwrap())
    }

    /// Trusts something of the repository as it is: `["config", "trust"]`, or another command that does.
    pub fn trust(&self, command: &[&str]) {
        let hash = |hash: &str| self.tm(&[command, &["--hash", hash, "--json"]].concat());
        let asked = hash("00").json_with(3);
        assert_eq!(asked["error"]["code"], "other_hash", "{asked}");
        hash(asked["error"]["details"]["hash"].as_str().unwrap()).json_with(0);
    }

    /// Runs the binary with lines on its standard input.
    pub fn tm_with_input(&self, arguments: &[&str], input: &str) -> Ran {
        let mut child = self
            .program(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // A program that does not read everything closes the pipe: that is its right.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        Ran::of(&child.wait_with_output().unwrap())
    }

    /// Begins a dialogue with the binary.
    pub fn dialogue(&self, arguments: &[&str]) -> Dialogue {
        let mut child = self
            .program(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Dialogue {
            child,
            input,
            output,
            unread: String::new(),
        }
    }

    /// Goes from the beginning of a subtask to its commit, as an executor would.
    pub fn do_subtask(&self, id: &str) {
        self.write(&format!("tests/{id}_test.sh"), "false\n");
        self.tm(&[
            "autopilot",
            "complete",
            "red",
            id,
            "--results",
            "failed:1,passed:0",
            "--json",
        ])
        .json_with(0);
        self.write(&format!("src/{id}.sh"), "true\n");
        self.tm(&[
            "autopilot",
            "complete",
            "green",
            id,
            "--results",
            "failed:0,passed:1",
            "--json",
        ])
        .json_with(0);
        self.tm(&["autopilot", "commit", id, "--json"]).json_with(0);
    }
}

/// The binary and a person who answers its questions.
pub struct Dialogue {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    unread: String,
}

impl Dialogue {
    /// Waits for a text, and gives everything up to its end.
    pub fn until(&mut self, text: &str) -> String {
        let mut buffer = [0; 4096];
        loop {
            if let Some(at) = self.unread.find(text) {
                let rest = self.unread.split_off(at + text.len());
                return std::mem::replace(&mut self.unread, rest);
            }
            let read = self.output.read(&mut buffer).unwrap();
            assert!(read > 0, "{text:?} does not come: {}", self.unread);
            self.unread
                .push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
    }

    /// Types a line.
    pub fn say(&mut self, line: &str) {
        self.input
            .write_all(format!("{line}\n").as_bytes())
            .unwrap();
    }

    /// Waits for the end, which must be a good one, and gives the rest.
    pub fn end(mut self) -> String {
        drop(self.input);
        let mut rest = self.unread;
        self.output.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success(), "{rest}");
        rest
    }
}

/// The keys of an object, in order.
pub fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap_or_else(|| panic!("not an object: {value}"))
        .keys()
        .map(String::as_str)
        .collect()
}
