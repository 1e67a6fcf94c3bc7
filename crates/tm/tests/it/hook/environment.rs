//! A home, a repository with a run in it, and the hook called there as a client does.

use std::ops::Deref;
use std::path::Path;

use serde_json::Value;
use testkit::{Outcome, Sandbox};

/// A sandbox whose project has a task.
pub struct TestEnvironment {
    sandbox: Sandbox,
}

impl Deref for TestEnvironment {
    type Target = Sandbox;

    fn deref(&self) -> &Sandbox {
        &self.sandbox
    }
}

const TASKS: &str = r#"{ "master": { "tasks": [ { "id": 1, "title": "Count the words", "description": "x", "status": "pending",
  "subtasks": [ { "id": 1, "title": "Count by spaces", "description": "x", "status": "pending" } ] } ], "metadata": {} } }
"#;

impl TestEnvironment {
    /// A repository without a run.
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

    /// A repository with a run in RED.
    pub fn started() -> Self {
        let environment = Self::new();
        environment.tm(&["autopilot", "start", "1"]);
        environment
    }

    /// Runs the binary, which must succeed.
    pub fn tm(&self, arguments: &[&str]) -> String {
        self.sandbox.tm(arguments).text().to_owned()
    }

    /// Calls the hook with these bytes.
    pub fn call(&self, arguments: &[&str], payload: &[u8]) -> Outcome {
        let mut all = vec!["hook"];
        all.extend(arguments);
        self.tm_with_input(&all, payload)
    }

    /// What Claude Code is answered; nothing if it is allowed.
    pub fn claude(&self, payload: &Value) -> Option<Value> {
        let answer = self.call(&["claude-code"], payload.to_string().as_bytes());
        let text = answer.text();
        (!text.is_empty()).then(|| serde_json::from_str(text).unwrap())
    }

    /// Whether Claude Code may use a tool; the reason if not.
    pub fn denied(&self, tool: &str, input: &Value) -> Option<String> {
        let answer = self.claude(&serde_json::json!({
            "cwd": self.project(), "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input,
        }))?;
        let output = &answer["hookSpecificOutput"];
        assert_eq!(output["permissionDecision"], "deny", "{answer}");
        Some(
            output["permissionDecisionReason"]
                .as_str()
                .unwrap()
                .to_owned(),
        )
    }

    /// Whether a file may be edited.
    pub fn edit_is_denied(&self, file: impl AsRef<Path>) -> bool {
        self.denied("Edit", &serde_json::json!({ "file_path": file.as_ref() }))
            .is_some()
    }

    /// RED reported, with a test in `file`.
    pub fn red(&self, file: &str) {
        self.write(file, "false\n");
        self.tm(&[
            "autopilot",
            "complete",
            "red",
            "1.1",
            "--results",
            "failed:1,passed:0",
        ]);
    }

    /// GREEN reported, with code.
    pub fn green(&self) {
        self.write("src/words.sh", "true\n");
        self.tm(&[
            "autopilot",
            "complete",
            "green",
            "1.1",
            "--results",
            "failed:0,passed:1",
        ]);
    }
}
