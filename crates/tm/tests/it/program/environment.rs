//! The repository that most tests begin with, and what an executor does in it.

use std::io::{Read as _, Write as _};
use std::ops::Deref;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::Value;
use testkit::Sandbox;

/// A sandbox whose project has tasks.
pub struct TestEnvironment {
    sandbox: Sandbox,
}

impl Deref for TestEnvironment {
    type Target = Sandbox;

    fn deref(&self) -> &Sandbox {
        &self.sandbox
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
        Self {
            sandbox: Sandbox::new(),
        }
    }

    /// A repository with one commit, of tasks and settings.
    pub fn new() -> Self {
        let config = r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"]}}"#;
        Self {
            sandbox: Sandbox::repository(&[
                (".taskmaster/tasks/tasks.json", TASKS),
                (".taskmaster/config.json", config),
                ("README.md", "words\n"),
            ]),
        }
    }

    /// A repository in which a run of task 1 has begun.
    pub fn started() -> Self {
        let environment = Self::new();
        environment.json(&["autopilot", "start", "1"]).ok();
        environment
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
            "failed:1,passed:1",
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
            "failed:0,passed:2",
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
