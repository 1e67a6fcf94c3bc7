//! A home, a repository with a run in it that made its commits, and clones of it that have no home.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use testkit::sandbox::{binary, path_with_binary};
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
  "subtasks": [
    { "id": 1, "title": "Count by spaces", "description": "x", "status": "pending" },
    { "id": 2, "title": "Count lines", "description": "x", "status": "pending" } ] } ], "metadata": {} } }
"#;

impl TestEnvironment {
    /// A repository without a run; its settings ask for notes, or do not.
    pub fn new(notes: bool) -> Self {
        let settings = serde_json::json!({
            "test": { "command": "sh run.sh", "patterns": ["tests/**"] },
            "evidence": { "notes": notes },
        });
        Self {
            sandbox: Sandbox::repository(&[
                (".taskmaster/tasks/tasks.json", TASKS),
                (".taskmaster/config.json", &settings.to_string()),
                ("README.md", "words\n"),
            ]),
        }
    }

    /// A repository whose run is over: two subtasks, and the task's status. The reports are those of a test runner.
    pub fn finished(notes: bool) -> Self {
        let environment = Self::new(notes);
        environment.tm(&["autopilot", "start", "1"]);
        environment.subtask("1.1", &["words"]);
        environment.subtask("1.2", &["words", "lines"]);
        environment.finalize(&["words", "lines"]);
        environment
    }

    /// RED, GREEN and the commit of a subtask, whose test is the last one.
    pub fn subtask(&self, id: &str, tests: &[&str]) {
        self.red_and_green(id, tests);
        self.tm(&["autopilot", "commit", id]);
    }

    /// RED and GREEN of a subtask, whose test is the last one.
    pub fn red_and_green(&self, id: &str, tests: &[&str]) {
        let name = tests.last().unwrap();
        self.write(&format!("tests/{name}.sh"), "false\n");
        let red = self.report(&format!("{id}-red"), tests, Some(name));
        self.tm(&["autopilot", "complete", "red", id, "--report", &red]);
        self.write(&format!("src/{name}.sh"), "true\n");
        let green = self.report(&format!("{id}-green"), tests, None);
        self.tm(&["autopilot", "complete", "green", id, "--report", &green]);
    }

    /// The end of the run.
    pub fn finalize(&self, tests: &[&str]) {
        let suite = self.report("suite", tests, None);
        self.tm(&["autopilot", "finalize", "--report", &suite]);
    }

    /// Writes a report outside of the repository.
    pub fn report(&self, name: &str, tests: &[&str], failing: Option<&str>) -> String {
        let mut text = format!("TAP version 13\n1..{}\n", tests.len());
        for (number, test) in (1..).zip(tests) {
            let not = if failing == Some(test) { "not " } else { "" };
            text = format!("{text}{not}ok {number} - {test}\n");
        }
        let path = self.beside(&format!("{name}.tap"));
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Some path beside the repository.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// A process in a folder, with a home of this name, which finds the binary by its name.
    pub fn process(&self, program: impl AsRef<Path>, folder: &Path, home: &str) -> Command {
        let home = self.beside(home);
        fs::create_dir_all(&home).unwrap();
        let mut command = self.sandbox.process(program);
        command
            .current_dir(folder)
            .env("PATH", path_with_binary())
            .env("HOME", &home)
            .env("TRAMLINE_HOME", home.join("store"))
            .env("GIT_CONFIG_GLOBAL", home.join("gitconfig"));
        command
    }

    /// Runs the binary, which must succeed.
    pub fn tm(&self, arguments: &[&str]) -> String {
        self.sandbox.tm(arguments).text().to_owned()
    }

    /// Runs the binary, with variables on top.
    pub fn try_tm(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Outcome {
        ran(self.program(arguments).envs(variables.iter().copied()))
    }

    /// A clone without a home; with the notes, or without.
    pub fn clone_of_it(&self, notes: bool) -> PathBuf {
        let clone = self.beside(if notes { "clone-with-notes" } else { "clone" });
        let mut git = self.process("git", &self.folder(), "elsewhere");
        git.args(["clone", "--quiet", "--template="])
            .arg(self.project())
            .arg(&clone);
        ran(&mut git).text();
        if notes {
            let mut git = self.process("git", &clone, "elsewhere");
            git.args([
                "fetch",
                "--quiet",
                "origin",
                "refs/notes/tramline:refs/notes/tramline",
            ]);
            ran(&mut git).text();
        }
        clone
    }

    /// Runs the binary in a clone, with a home that knows of nothing.
    pub fn tm_in(&self, clone: &Path, arguments: &[&str]) -> Outcome {
        let mut command = self.process(binary(), clone, "elsewhere");
        command.args(arguments);
        ran(&mut command)
    }

    /// Verifies what the branch has in a clone, with a home that knows of nothing.
    pub fn verify_in(&self, clone: &Path) -> (i32, Value) {
        let range = ["verify", "origin/main..HEAD", "--json"];
        let ran = self.tm_in(clone, &range);
        (ran.status, ran.json().clone())
    }

    /// Verifies the range in the repository.
    pub fn verify(&self, more: &[&str]) -> (i32, Value) {
        let mut arguments = vec!["verify"];
        arguments.extend(more);
        let ran = self.json(&arguments);
        (ran.status, ran.json().clone())
    }
}

/// Runs a command to its end.
pub fn ran(command: &mut Command) -> Outcome {
    Outcome::of(&command.output().unwrap())
}

/// How the commits of an answer stand, in their order.
pub fn standings(answer: &Value) -> Vec<&str> {
    answer["commits"]
        .as_array()
        .unwrap_or_else(|| panic!("no commits: {answer}"))
        .iter()
        .map(|commit| commit["standing"].as_str().unwrap())
        .collect()
}

/// The codes of all problems of an answer.
pub fn problems(answer: &Value) -> Vec<&str> {
    answer["commits"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|commit| commit["problems"].as_array().unwrap())
        .map(|problem| problem["code"].as_str().unwrap())
        .collect()
}
