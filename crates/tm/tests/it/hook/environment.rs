//! A home, a repository with a run in it, and the hook called there as a client does.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A folder of its own for each test.
pub struct TestEnvironment {
    folder: TempDir,
}

const TASKS: &str = r#"{ "master": { "tasks": [ { "id": 1, "title": "Count the words", "description": "x", "status": "pending",
  "subtasks": [ { "id": 1, "title": "Count by spaces", "description": "x", "status": "pending" } ] } ], "metadata": {} } }
"#;

impl TestEnvironment {
    /// A repository without a run.
    pub fn new() -> Self {
        let environment = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fs::create_dir_all(environment.home()).unwrap();
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

    /// A repository with a run in RED.
    pub fn started() -> Self {
        let environment = Self::new();
        environment.tm(&["autopilot", "start", "1"]);
        environment
    }

    /// The repository, by its real path.
    pub fn project(&self) -> PathBuf {
        let project = self.folder.path().join("project");
        fs::create_dir_all(&project).unwrap();
        fs::canonicalize(project).unwrap()
    }

    /// The folder that home and repository are in.
    pub fn folder(&self) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap()
    }

    /// The home.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Writes a file of the repository.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A process with nothing but what is needed in its environment.
    fn process(&self, program: impl AsRef<Path>) -> Command {
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

    /// Runs git, which must succeed.
    pub fn git(&self, arguments: &[&str]) {
        let output = self.process("git").args(arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
    }

    /// Runs the binary, which must succeed.
    pub fn tm(&self, arguments: &[&str]) -> String {
        let output = self.program(arguments).output().unwrap();
        assert!(output.status.success(), "tm {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The binary, not yet started.
    pub fn program(&self, arguments: &[&str]) -> Command {
        let mut command = self.process(env!("CARGO_BIN_EXE_tm"));
        command.args(arguments);
        command
    }

    /// Calls the hook with these bytes.
    pub fn call(&self, arguments: &[&str], payload: &[u8]) -> Output {
        let mut arguments = arguments.to_vec();
        arguments.insert(0, "hook");
        let mut child = self
            .program(&arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // A hook that does not read everything closes the pipe.
        let _ = stdin.write_all(payload);
        drop(stdin);
        child.wait_with_output().unwrap()
    }

    /// What Claude Code is answered; nothing if it is allowed.
    pub fn claude(&self, payload: &Value) -> Option<Value> {
        let output = self.call(&["claude-code"], payload.to_string().as_bytes());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        if output.stdout.is_empty() {
            return None;
        }
        Some(serde_json::from_slice(&output.stdout).unwrap())
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
