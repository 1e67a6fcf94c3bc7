//! A home, a repository, and the programs that run in it with nothing else in their environment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use testkit::mcp::Server;

/// A folder of its own for each test: `home`, where runs and settings lie, and `project`, a repository.
pub struct Stage {
    folder: TempDir,
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
      { "id": 2, "title": "Count the lines", "description": "Lines of a text.", "status": "pending" }
    ],
    "metadata": {}
  }
}
"#;

impl Stage {
    /// A repository with two tasks and one commit.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let stage = Self { folder };
        fs::create_dir_all(stage.home()).unwrap();
        fs::create_dir_all(stage.project()).unwrap();
        stage.write(".taskmaster/tasks/tasks.json", TASKS);
        stage.write(
            ".taskmaster/config.json",
            r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"]}}"#,
        );
        stage.git(&["init", "--quiet", "--template="]);
        stage.git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
        stage.git(&["config", "user.name", "Somebody"]);
        stage.git(&["config", "user.email", "somebody@localhost"]);
        stage.git(&["add", "--all"]);
        stage.git(&["commit", "--quiet", "--message", "Begin"]);
        stage
    }

    /// The same, with a run of task 1 under way.
    pub fn started() -> Self {
        let stage = Self::new();
        stage.tm(0, &["autopilot", "start", "1"]);
        stage
    }

    /// The same, with its first subtask ready to be committed.
    pub fn at_commit() -> Self {
        let stage = Self::started();
        stage.write("tests/words_test.sh", "false\n");
        stage.complete("red", "failed:1,passed:0");
        stage.write("src/words.sh", "true\n");
        stage.complete("green", "failed:0,passed:1");
        stage
    }

    fn complete(&self, phase: &str, results: &str) {
        self.tm(0, &["autopilot", "complete", phase, "--results", results]);
    }

    /// The repository.
    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// Where runs are kept.
    pub fn store(&self) -> PathBuf {
        self.home().join("store")
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The folder of the only run.
    pub fn run_folder(&self) -> PathBuf {
        let only = |folder: PathBuf| {
            let mut folders = fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .filter(|path| path.is_dir());
            let first = folders.next().unwrap();
            assert_eq!(folders.next(), None, "there are several");
            first
        };
        only(only(self.home().join("store/projects")).join("runs"))
    }

    /// The journal of the only run.
    pub fn journal(&self) -> String {
        fs::read_to_string(self.run_folder().join("activity.jsonl")).unwrap()
    }

    /// How many events of a type are in it.
    pub fn events(&self, kind: &str) -> usize {
        self.journal()
            .matches(&format!("\"event\":\"{kind}\""))
            .count()
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

    /// How many commits the run's branch has.
    pub fn commits(&self) -> usize {
        self.git(&["log", "--format=%H", "main..HEAD"])
            .lines()
            .count()
    }

    /// The binary, not yet started.
    pub fn program(&self, arguments: &[&str]) -> Command {
        let mut command = self.process(env!("CARGO_BIN_EXE_tm"));
        command.args(arguments);
        command
    }

    /// The command line with `--json`, which must come to this exit status, and its answer.
    pub fn tm(&self, status: i32, arguments: &[&str]) -> Value {
        let output = self.program(arguments).arg("--json").output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(status),
            "{arguments:?}: {output:?}"
        );
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {arguments:?}: {output:?}"))
    }

    /// A line in a shell that knows the binary by its name.
    pub fn shell(&self, line: &str) -> Output {
        let binary = Path::new(env!("CARGO_BIN_EXE_tm"));
        let mut path = binary.parent().unwrap().as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        self.process("sh")
            .env("PATH", path)
            .args(["-c", line])
            .output()
            .unwrap()
    }

    /// The run must be whole.
    pub fn verify(&self) {
        assert_eq!(self.tm(0, &["log", "verify"])["whole"], true);
    }

    /// A server that nobody has spoken to yet.
    pub fn server(&self) -> Server {
        self.server_with(&[])
    }

    /// The same, with options.
    pub fn server_with(&self, options: &[&str]) -> Server {
        let mut program = self.program(&["mcp"]);
        program.args(options);
        Server::spawn(program)
    }

    /// A server with a session of the older era.
    pub fn session(&self) -> Server {
        let mut server = self.server();
        server.initialize("2025-11-25", &serde_json::json!({}));
        server
    }

    /// Makes each commit wait until the gate is opened.
    pub fn gate_commits(&self) -> Gate {
        let path = self.folder.path().join("gate");
        let made = self.process("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        let hook = self.project().join(".git/hooks/pre-commit");
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        fs::write(
            &hook,
            format!("#!/bin/sh\nread -r _ < '{}'\nexit 0\n", path.display()),
        )
        .unwrap();
        let mut permissions = fs::metadata(&hook).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
        fs::set_permissions(&hook, permissions).unwrap();
        Gate { path, hook }
    }
}

/// Where commits wait.
pub struct Gate {
    path: PathBuf,
    hook: PathBuf,
}

impl Gate {
    /// Waits until a commit has come. It goes on when what this gives is dropped, and later ones do not wait.
    pub fn wait(self) -> fs::File {
        // Opening for writing waits until somebody reads.
        let gate = fs::OpenOptions::new().write(true).open(&self.path).unwrap();
        fs::remove_file(&self.hook).unwrap();
        gate
    }
}
