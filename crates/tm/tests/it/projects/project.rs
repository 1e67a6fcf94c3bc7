//! A repository with a task of three subtasks, a home of its own, and the two programs that are run in it: `tm` and
//! the test runner.

use std::io::Write as _;
use std::ops::Deref;
use std::process::{Command, Stdio};

use serde_json::Value;
use testkit::Sandbox;

use super::counts::Counts;
use super::language::{File, Language};

/// The second subtask waits for the other two, so the third comes before it.
const TASKS: &str = r#"{
  "master": {
    "tasks": [
      {
        "id": 1,
        "title": "Text statistics",
        "status": "pending",
        "subtasks": [
          { "id": 1, "title": "Count words", "description": "Words of a text.", "status": "pending" },
          { "id": 2, "title": "Average words per line", "status": "pending", "dependencies": [1, 3] },
          { "id": 3, "title": "Count lines", "description": "Lines of a text.", "status": "pending" }
        ]
      }
    ],
    "metadata": { "kept": [1,  2] }
  }
}
"#;

/// Where the tasks lie.
pub const TASKS_PATH: &str = ".taskmaster/tasks/tasks.json";

/// A project being worked on.
pub struct Project<'a> {
    sandbox: Sandbox,
    language: &'a Language,
}

impl Deref for Project<'_> {
    type Target = Sandbox;

    fn deref(&self) -> &Sandbox {
        &self.sandbox
    }
}

impl<'a> Project<'a> {
    /// The project as it is before the run; none if the language's program is missing or too old.
    pub fn new(language: &'a Language) -> Option<Self> {
        if !is_there(language) {
            let _ = writeln!(
                std::io::stderr(),
                "not told: there is no `{}` here that will do",
                language.program
            );
            return None;
        }
        let tasks: File = (TASKS_PATH, TASKS);
        let files = [&[tasks], language.setup].concat();
        Some(Self {
            sandbox: Sandbox::repository(&files),
            language,
        })
    }

    /// Writes files.
    pub fn write_all(&self, files: &[File]) {
        for (path, text) in files {
            self.write(path, text);
        }
    }

    /// Runs `tm … --json`, which must come to `status`.
    pub fn tm(&self, arguments: &[&str], status: i32) -> Value {
        self.json(arguments).json_with(status)
    }

    /// Runs the tests, and counts what the runner says.
    pub fn run_tests(&self) -> Counts {
        self.run_tests_with(&[])
    }

    /// Runs the tests with variables set.
    pub fn run_tests_with(&self, variables: &[(&str, &str)]) -> Counts {
        // The runner keeps the environment: toolchains are found through it. What is said for the build that
        // this test is part of is not meant for it.
        let output = Command::new(self.language.program)
            .args(self.language.runs_tests)
            .current_dir(self.project())
            .env("CARGO_TARGET_DIR", self.project().join("target"))
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_PROFILE_TEST_DEBUG", "0")
            .env_remove("CARGO_BUILD_TARGET")
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            // With it Node's runner takes itself for a test of another runner, and prints for that one.
            .env_remove("NODE_TEST_CONTEXT")
            // Compiled copies are to be made: they are the products that must stay out of the commits.
            .env_remove("PYTHONDONTWRITEBYTECODE")
            .env_remove("PYTHONPYCACHEPREFIX")
            .env_remove("WORDS_LOCALE")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        let counts = (self.language.counts)(&text);
        assert_eq!(
            output.status.success(),
            counts.failed + counts.errors == 0 && counts.passed > 0,
            "{counts:?} was understood of: {text}"
        );
        counts
    }

    /// Reports a phase, which must come to `status`.
    pub fn complete(&self, phase: &str, subtask: &str, counts: Counts, status: i32) -> Value {
        self.tm(
            &[
                "autopilot",
                "complete",
                phase,
                subtask,
                "--results",
                &counts.results(),
            ],
            status,
        )
    }
}

fn is_there(language: &Language) -> bool {
    let Ok(output) = Command::new(language.program).arg("--version").output() else {
        return false;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let major: u32 = text
        .split(|c: char| !c.is_ascii_digit())
        .find(|part| !part.is_empty())
        .and_then(|part| part.parse().ok())
        .unwrap_or(0);
    output.status.success() && major >= language.oldest
}
