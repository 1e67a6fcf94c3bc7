//! The hook called in a repository with a run in it as a client does.

use std::path::Path;

use serde_json::{Value, json};
use testkit::Outcome;
use testkit::sandbox::with_input;

pub use crate::program::environment::TestEnvironment;

const TASKS: &str = r#"{ "master": { "tasks": [ { "id": 1, "title": "Count the words", "description": "x", "status": "pending",
  "subtasks": [ { "id": 1, "title": "Count by spaces", "description": "x", "status": "pending" } ] } ], "metadata": {} } }
"#;

/// A repository without a run.
pub fn repository() -> TestEnvironment {
    let config = r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"]}}"#;
    TestEnvironment::of(&[
        (".taskmaster/tasks/tasks.json", TASKS),
        (".taskmaster/config.json", config),
        ("README.md", "words\n"),
    ])
}

/// A repository with a run in RED.
pub fn started() -> TestEnvironment {
    TestEnvironment::at("hook: started", || {
        let environment = repository();
        environment.does("autopilot start 1");
        environment
    })
}

impl TestEnvironment {
    /// Begins a run in another folder.
    pub fn begin_in(&self, folder: &Path, subtask: &str) {
        let title = folder.file_name().unwrap().to_str().unwrap();
        let words = ["autopilot", "start", "--title", title, "--subtask", subtask];
        let begun = self.program(&words).current_dir(folder).output();
        Outcome::of(&begun.unwrap()).text();
    }

    /// Calls the hook with these bytes.
    pub fn call(&self, client: &str, payload: impl AsRef<[u8]>) -> Outcome {
        self.tm_with_input(&["hook", client], payload)
    }

    /// What Claude Code is answered in the project; nothing if it is allowed.
    pub fn claude(&self, event: &str, more: Value) -> Option<Value> {
        self.claude_in(&self.project(), event, more)
    }

    /// The same in another folder, which is all that is said.
    pub fn claude_in(&self, cwd: &Path, event: &str, more: Value) -> Option<Value> {
        read(&self.call("claude-code", of_claude(cwd, event, more)))
    }

    /// What is said on the standard output and on the other where an agent has moved on from the project.
    pub fn moved(&self, cwd: &Path, event: &str, more: Value) -> (Option<Value>, String) {
        let mut hook = self.program(&["hook", "claude-code"]);
        hook.env("CLAUDE_PROJECT_DIR", self.project());
        let answer = with_input(&mut hook, of_claude(cwd, event, more));
        (read(&answer), answer.err)
    }

    /// What a session is told at its start.
    pub fn told(&self) -> String {
        let told = self.claude("SessionStart", json!({ "source": "startup" }));
        told.unwrap().to_string()
    }

    /// Whether a command may be run.
    pub fn command_is_denied(&self, line: &str) -> bool {
        is_denied(self.claude("PreToolUse", command(line)).as_ref())
    }

    /// Whether a file may be edited.
    pub fn edit_is_denied(&self, file: impl AsRef<Path>) -> bool {
        is_denied(self.claude("PreToolUse", edit(file)).as_ref())
    }
}

fn of_claude(cwd: &Path, event: &str, mut more: Value) -> String {
    more["cwd"] = json!(cwd);
    more["hook_event_name"] = event.into();
    more.to_string()
}

fn read(answer: &Outcome) -> Option<Value> {
    let text = answer.text();
    (!text.is_empty()).then(|| serde_json::from_str(text).unwrap())
}

/// Whether an answer of Claude Code denies something.
pub fn is_denied(answer: Option<&Value>) -> bool {
    answer.is_some_and(|answer| answer["hookSpecificOutput"]["permissionDecision"] == "deny")
}

/// An edit as Claude Code says it.
pub fn edit(file: impl AsRef<Path>) -> Value {
    let file = file.as_ref();
    json!({ "tool_name": "Write", "tool_input": { "file_path": file, "content": "x" } })
}

/// A command as Claude Code says it.
pub fn command(line: &str) -> Value {
    json!({ "tool_name": "Bash", "tool_input": { "command": line } })
}
