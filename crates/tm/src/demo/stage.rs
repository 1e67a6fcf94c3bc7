//! The throw-away repository, and the processes that run in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output as ProcessOutput, Stdio};

use engine::fault;
use engine::{Fault, Kind};
use serde_json::Value;
use tempfile::TempDir;

use super::executor;

/// A repository with a project in it, and a home folder of its own beside it. Nothing outside is read or written.
#[derive(Debug)]
pub struct Stage {
    folder: TempDir,
    repository: PathBuf,
    home: PathBuf,
    program: PathBuf,
}

/// A command of this program that was run.
#[derive(Debug)]
pub struct FinishedCommand {
    /// The command line, as a person would type it.
    pub line: String,
    /// Its exit status; none if it was killed.
    pub status: Option<i32>,
    /// What it answered.
    pub answer: Value,
}

impl FinishedCommand {
    /// A text in the answer, by JSON pointer; empty if it is not there.
    pub fn text(&self, pointer: &str) -> &str {
        self.answer
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or("")
    }
}

/// The fault of a step that did not come to what it should.
pub fn unexpected(message: impl Into<String>) -> Fault {
    Fault::new(Kind::Bug, "internal", message)
}

const TASKS: &str = r#"{
  "master": {
    "tasks": [
      {
        "id": 1,
        "title": "Temperatures for the shell",
        "description": "Functions that convert temperatures, for use in shell scripts.",
        "status": "pending",
        "dependencies": [],
        "subtasks": [
          {
            "id": 1,
            "title": "Convert Celsius to Fahrenheit",
            "description": "A function to_fahrenheit that takes whole degrees.",
            "status": "pending",
            "dependencies": []
          },
          {
            "id": 2,
            "title": "Print a table of temperatures",
            "description": "A function table that prints Celsius and Fahrenheit for each argument, and uses both conversions.",
            "status": "pending",
            "dependencies": [1, 3]
          },
          {
            "id": 3,
            "title": "Convert Fahrenheit to Celsius",
            "description": "A function to_celsius that takes whole degrees.",
            "status": "pending",
            "dependencies": []
          }
        ]
      }
    ],
    "metadata": { "description": "The tasks of the demo" }
  }
}
"#;

const CONFIG: &str = r#"{
  "test": {
    "command": "sh tests/run.sh",
    "patterns": ["tests/*_test.sh"]
  }
}
"#;

impl Stage {
    /// Makes the repository with its first commit.
    pub fn set() -> Result<Self, Fault> {
        let failed = |error: io::Error| {
            Fault::environment(
                "io_failed",
                "the folder of the demo could not be made",
                &error,
            )
        };
        let folder = tempfile::Builder::new()
            .prefix("tramline-demo-")
            .tempdir()
            .map_err(failed)?;
        // Without links in it, as git and the store of runs see it.
        let real = fs::canonicalize(folder.path()).map_err(failed)?;
        let stage = Self {
            repository: real.join("temperatures"),
            home: real.join("home"),
            folder,
            program: std::env::current_exe().map_err(|error| {
                Fault::environment(
                    "io_failed",
                    "the path of this program cannot be found",
                    &error,
                )
            })?,
        };
        fs::create_dir_all(&stage.repository).map_err(failed)?;
        fs::create_dir_all(&stage.home).map_err(failed)?;
        stage.write(".taskmaster/tasks/tasks.json", TASKS)?;
        stage.write(".taskmaster/config.json", CONFIG)?;
        stage.write(".gitignore", &format!("{}\n", executor::REPORT))?;
        stage.write(executor::RUNNER_FILE, executor::RUNNER)?;
        stage.write(
            "README.md",
            "# temperatures\n\nTemperatures for the shell.\n",
        )?;
        // Templates could bring hooks, and the name of the first branch is a setting: neither is left to chance.
        stage.git(&["init", "--quiet", "--template="])?;
        stage.git(&["symbolic-ref", "HEAD", "refs/heads/main"])?;
        for (key, value) in [
            ("user.name", "Tramline demo"),
            ("user.email", "demo@localhost"),
            ("commit.gpgsign", "false"),
            ("core.autocrlf", "false"),
        ] {
            stage.git(&["config", key, value])?;
        }
        stage.git(&["add", "--all"])?;
        stage.git(&["commit", "--quiet", "--message", "Begin the project"])?;
        Ok(stage)
    }

    /// The repository.
    pub fn repository(&self) -> &Path {
        &self.repository
    }

    /// Where the runs are kept.
    pub fn home(&self) -> PathBuf {
        self.home.join(".taskmaster")
    }

    /// Leaves everything where it is, for somebody to look at.
    pub fn keep(self) {
        let _ = self.folder.keep();
    }

    /// Writes a file of the project.
    pub fn write(&self, path: &str, text: &str) -> Result<(), Fault> {
        let path = self.repository.join(path);
        let written = path
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&path, text));
        written.map_err(|error| {
            Fault::environment(
                "io_failed",
                format!("{} could not be written", path.display()),
                &error,
            )
        })
    }

    /// Reads a file of the project.
    pub fn read(&self, path: &str) -> Result<String, Fault> {
        let path = self.repository.join(path);
        fs::read_to_string(&path).map_err(|error| {
            Fault::environment(
                "io_failed",
                format!("{} could not be read", path.display()),
                &error,
            )
        })
    }

    /// A process in the repository, with nothing of the caller's environment that could change what it does.
    pub fn process(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.repository).env_clear();
        for name in ["PATH", "DEVELOPER_DIR"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command
            .env("HOME", &self.home)
            // What a killed process leaves of its temporary files goes with the rest.
            .env("TMPDIR", &self.home)
            .env("TRAMLINE_HOME", self.home())
            .env("GIT_CONFIG_GLOBAL", self.home.join("gitconfig"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("USER", "demo")
            .env("LC_ALL", "C")
            .stdin(Stdio::null());
        command
    }

    /// Runs git, and gives what it printed.
    pub fn git(&self, arguments: &[&str]) -> Result<String, Fault> {
        let ran = self
            .process("git")
            .args(arguments)
            .output()
            .map_err(|error| {
                Fault::environment("command_failed", "git could not be run", &error)
                    .suggest("install git 2.25 or newer")
            })?;
        if ran.status.success() {
            return Ok(String::from_utf8_lossy(&ran.stdout).trim_end().to_owned());
        }
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        Err(fault!(
            "command_failed.git",
            arguments = arguments.join(" "),
            said = said.trim()
        ))
    }

    /// A command of this program, not yet started; its answer will be JSON.
    pub fn program(&self, arguments: &[&str]) -> Command {
        let mut command = self.process(&self.program);
        command.args(arguments).arg("--json");
        command
    }

    /// Runs a command of this program.
    pub fn tm(&self, arguments: &[&str]) -> Result<FinishedCommand, Fault> {
        let ran = self.program(arguments).output().map_err(|error| {
            Fault::environment(
                "io_failed",
                "this program could not be started again",
                &error,
            )
        })?;
        called(arguments, &ran)
    }

    /// Runs a command of this program that must come to this exit status.
    pub fn tm_expecting(&self, status: i32, arguments: &[&str]) -> Result<FinishedCommand, Fault> {
        let called = self.tm(arguments)?;
        if called.status == Some(status) {
            return Ok(called);
        }
        let got = called.status.map_or_else(
            || "a signal".to_owned(),
            |status| format!("exit status {status}"),
        );
        Err(unexpected(format!(
            "{} ended with {got} instead of {status}: {}",
            called.line, called.answer
        )))
    }
}

fn called(arguments: &[&str], ran: &ProcessOutput) -> Result<FinishedCommand, Fault> {
    let line = command_line(arguments);
    let answer = serde_json::from_slice(&ran.stdout).map_err(|error| {
        unexpected(format!(
            "{line} did not answer one JSON value ({error}); it said: {}",
            String::from_utf8_lossy(&ran.stderr).trim()
        ))
    })?;
    Ok(FinishedCommand {
        line,
        status: ran.status.code(),
        answer,
    })
}

/// A command line as a person would type it.
pub fn command_line(arguments: &[&str]) -> String {
    let mut line = "tm".to_owned();
    for argument in arguments {
        line.push(' ');
        if argument.contains(char::is_whitespace) {
            line.push_str(&text::quote::shell_word(argument));
        } else {
            line.push_str(argument);
        }
    }
    line
}
