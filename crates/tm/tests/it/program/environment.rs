//! The repository that most tests begin with, and what an executor does in it.

use std::fmt::Display;
use std::io::{Read as _, Write as _};
use std::ops::Deref;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::Value;
use testkit::{Outcome, Sandbox};

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

    /// A repository with one commit, of these files.
    pub fn of(files: &[(&str, &str)]) -> Self {
        Self {
            sandbox: Sandbox::repository(files),
        }
    }

    /// A repository with one commit, of tasks and settings.
    pub fn new() -> Self {
        let config = r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"]}}"#;
        Self::of(&[
            (".taskmaster/tasks/tasks.json", TASKS),
            (".taskmaster/config.json", config),
            ("README.md", "words\n"),
        ])
    }

    /// A repository in which a run of task 1 has begun.
    pub fn started() -> Self {
        Self::at("program: started", || {
            let environment = Self::new();
            environment.does("autopilot start 1");
            environment
        })
    }

    /// A repository at this point, which is come to once.
    pub fn at(point: &str, come: impl FnOnce() -> Self) -> Self {
        let sandbox = Sandbox::at(point, || come().sandbox);
        Self { sandbox }
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

    /// Runs a command that stands in one line, for JSON.
    pub fn line(&self, line: &str) -> Outcome {
        self.json(&words(line))
    }

    /// Runs one that must succeed.
    #[track_caller]
    pub fn does(&self, line: &str) -> Value {
        self.line(line).ok()
    }

    /// Runs one that fails or is refused with this code.
    #[track_caller]
    pub fn refused(&self, line: &str, status: i32, code: &str) -> Outcome {
        let refused = self.line(line);
        refused.fault(status, code);
        refused
    }

    /// Runs a command, and kills it at that point.
    pub fn killed_at(&self, point: &str, line: &str) {
        let mut program = self.program(&words(line));
        let output = program.env("TRAMLINE_FAIL_POINT", point).output().unwrap();
        assert_eq!(output.status.code(), None, "{point}: {line}: {output:?}");
    }

    /// Runs a command at a terminal, where a person agrees to it. What is told then.
    pub fn agrees(&self, line: &str) -> String {
        let (_, status, told) = self.person(&words(line)).agrees();
        assert_eq!(status, 0, "{line}: {told}");
        told
    }

    /// Gives the project a workflow of its own, which a person has looked at where that is needed.
    pub fn own_workflow(&self, id: &str, text: &str) {
        self.write(&format!(".taskmaster/workflows/{id}.yaml"), text);
        self.commit_all("A workflow of our own");
        let trust = ["workflow", "trust", id];
        if self.json(&[&trust[..], &["--hash", "00"]].concat()).code() != "usage" {
            self.trust(&trust);
        }
    }

    /// Writes a failing test of a subtask, and reports RED.
    pub fn red(&self, id: &str) {
        self.write(&format!("tests/{id}_test.sh"), "false\n");
        self.does("autopilot complete red --results failed:1,passed:1");
    }

    /// Writes the code of a subtask, and reports GREEN.
    pub fn green(&self, id: &str) {
        self.write(&format!("src/{id}.sh"), "true\n");
        self.does("autopilot complete green --results failed:0,passed:2");
    }

    /// Goes from the beginning of a subtask to its commit, as an executor would.
    pub fn do_subtask(&self, id: &str) {
        self.red(id);
        self.green(id);
        self.does("autopilot commit");
    }
}

/// Shows that something holds a text.
#[track_caller]
pub fn has(text: &dyn Display, part: &str) {
    let text = text.to_string();
    assert!(text.contains(part), "{part:?} is not there: {text}");
}

/// The words of a command as it is typed: what stands in '…' is one.
pub fn words(line: &str) -> Vec<&str> {
    let parts = line.split('\'').enumerate();
    let words = parts.flat_map(|(at, part)| match at % 2 {
        0 => part.split_whitespace().collect(),
        _ => vec![part],
    });
    words.collect()
}

/// A text in which each of these, which must be there, is put in the place of another.
pub fn changed(text: &str, changes: &[(&str, &str)]) -> String {
    changes.iter().fold(text.to_owned(), |text, (old, new)| {
        assert!(text.contains(old), "{old}");
        text.replacen(old, new, 1)
    })
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

/// Shows that an answer has these fields.
#[track_caller]
pub fn holds(answer: &Value, fields: &Value) {
    for (name, value) in fields.as_object().unwrap() {
        assert_eq!(&answer[name], value, "{name}: {answer:#}");
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
