//! A home, a repository and the binary, with nothing else in its environment; and the proof that a refused command
//! left all of it as it was.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use testkit::{Everything, Outcome, Sandbox};

use super::advice;

/// The settings of a project whose tests are numbers that the test makes up.
pub const CONFIG: &str = r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"]}}"#;

/// Two tasks: one with two subtasks, the second of which builds on the first, and one that waits for it.
pub const TASKS: &str = r#"{
  "master": {
    "tasks": [
      {
        "id": 1,
        "title": "Count the words",
        "description": "Words of a text, counted.",
        "status": "pending",
        "subtasks": [
          { "id": 1, "title": "Count by spaces", "description": "One space apart.", "status": "pending" },
          { "id": 2, "title": "Count by tabs", "description": "Tabs too.", "status": "pending", "dependencies": [1] }
        ]
      },
      { "id": 2, "title": "Print the count", "status": "pending", "dependencies": [1] },
      { "id": 3, "title": "All of it is done", "status": "pending", "subtasks": [ { "id": 1, "title": "a", "status": "done" } ] },
      { "id": 4, "title": "On its own", "status": "pending", "dependencies": [] }
    ],
    "metadata": {}
  }
}
"#;

/// A sandbox whose project is a repository with tasks.
pub struct TestEnvironment {
    sandbox: Sandbox,
}

impl Deref for TestEnvironment {
    type Target = Sandbox;

    fn deref(&self) -> &Sandbox {
        &self.sandbox
    }
}

impl DerefMut for TestEnvironment {
    fn deref_mut(&mut self) -> &mut Sandbox {
        &mut self.sandbox
    }
}

impl TestEnvironment {
    /// A home, and an empty folder for the project.
    pub fn bare() -> Self {
        Self {
            sandbox: Sandbox::new(),
        }
    }

    /// A repository with one commit on `main`, of the tasks and the settings given.
    pub fn with(tasks: &str, config: &str) -> Self {
        Self {
            sandbox: Sandbox::repository(&[
                (".taskmaster/tasks/tasks.json", tasks),
                (".taskmaster/config.json", config),
                ("README.md", "words\n"),
                (".gitignore", "*.tmp\n"),
            ]),
        }
    }

    /// The usual repository.
    pub fn new() -> Self {
        Self::with(TASKS, CONFIG)
    }

    /// The usual repository, with a run of task 1 that has begun.
    pub fn started() -> Self {
        let env = Self::new();
        env.auto("start 1").ok();
        env
    }

    /// The same with settings of its own.
    pub fn started_with(config: &str) -> Self {
        let env = Self::with(TASKS, config);
        env.auto("start 1").ok();
        env
    }

    /// The binary, not yet started, to be asked for JSON.
    pub fn program(&self, arguments: &[&str]) -> Command {
        let (family, rest) = arguments.split_first().expect("a command");
        let mut command = self.sandbox.program(&[family, "--json"]);
        command.args(rest);
        command
    }

    /// Runs the binary for JSON.
    pub fn tm(&self, arguments: &[&str]) -> Outcome {
        Outcome::of(&self.program(arguments).output().unwrap()).answered()
    }

    /// Runs `tm autopilot` with words that stand apart by spaces.
    pub fn auto(&self, words: &str) -> Outcome {
        self.tm(&autopilot(words))
    }

    /// Starts `tm autopilot` and does not wait for it.
    pub fn spawn(&self, words: &str) -> Child {
        self.program(&autopilot(words))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Writes a failing test and reports RED of the present subtask.
    pub fn red(&self) -> Value {
        let id = self.present_subtask();
        self.write(&format!("tests/{id}.sh"), format!("test {id}\n"));
        self.auto("complete red --results failed:1,passed:1").ok()
    }

    /// Writes the code and reports GREEN of the present subtask.
    pub fn green(&self) -> Value {
        self.green_with("")
    }

    /// The same with more arguments.
    pub fn green_with(&self, more: &str) -> Value {
        let id = self.present_subtask();
        self.write(&format!("src/{id}.sh"), format!("code {id}\n"));
        self.auto(&format!(
            "complete green --results failed:0,passed:2 {more}"
        ))
        .ok()
    }

    /// The same without asking what the present subtask is.
    pub fn green_of(&self, id: &str) -> Value {
        self.write(&format!("src/{id}.sh"), format!("code {id}\n"));
        self.auto("complete green --results failed:0,passed:2").ok()
    }

    /// Goes from the beginning of the present subtask to where its commit is to be made.
    pub fn to_commit(&self) {
        self.red();
        self.green();
    }

    /// Goes through the whole present subtask.
    pub fn subtask(&self) -> Value {
        self.subtask_with("")
    }

    /// The same with more arguments at GREEN.
    pub fn subtask_with(&self, more: &str) -> Value {
        self.red();
        self.green_with(more);
        self.auto("commit").ok()
    }

    /// Goes from the beginning of a run to its last report.
    pub fn to_finalize(&self) {
        while self.action() == "red" {
            self.subtask();
        }
        assert_eq!(self.action(), "finalize");
    }

    /// A whole run, to its good end.
    pub fn whole_run(&self, start: &str) -> Value {
        self.auto(start).ok();
        self.finish()
    }

    /// The rest of a run, to its good end.
    pub fn finish(&self) -> Value {
        self.to_finalize();
        let end = self.auto("finalize --results failed:0,passed:2").ok();
        assert_eq!(end["nextAction"]["status"], "completed", "{end}");
        end
    }

    /// What is to be done now.
    pub fn action(&self) -> String {
        let next = self.auto("next").ok();
        next["action"].as_str().unwrap().to_owned()
    }

    /// The present work unit.
    pub fn unit(&self) -> String {
        let next = self.auto("next").ok();
        next["unitId"].as_str().unwrap_or_default().to_owned()
    }

    fn present_subtask(&self) -> String {
        let next = self.auto("next").ok();
        next["subtask"]["id"].as_str().unwrap().to_owned()
    }

    /// Every file of the project and of the home. The list of refusals is kept for the report, and a lock names its last
    /// holder: neither is part of a run's state. An object that is there already git touches instead of writing it.
    pub fn everything(&self) -> Everything {
        let is_beside_the_run =
            |path: &Path| path.ends_with("refusals.jsonl") || path.ends_with("lock");
        let objects = self.project().join(".git/objects");
        self.sandbox
            .everything()
            .without(is_beside_the_run)
            .without_times(|path| path.starts_with(&objects))
    }

    /// The user's files alone, by what is in them.
    pub fn files_of_the_user(&self) -> Everything {
        let (project, git) = (self.project(), self.project().join(".git"));
        Everything::below([project.as_path()])
            .without(|path| path.starts_with(&git))
            .by_files()
            .by_content()
    }

    /// A command that a rule forbids: it has this status and code, its suggestion names `way_out` and nothing that does
    /// not exist, and everything is as it was before.
    pub fn refused(&self, words: &str, status: i32, code: &str, way_out: &str) -> Outcome {
        self.refused_of(&autopilot(words), status, code, way_out)
    }

    /// The same for arguments that hold spaces.
    pub fn refused_of(
        &self,
        arguments: &[&str],
        status: i32,
        code: &str,
        way_out: &str,
    ) -> Outcome {
        let before = self.everything();
        let answer = self.tm(arguments);
        before.assert_same(&self.everything(), &format!("{arguments:?}"));
        assert_eq!(
            (answer.code(), answer.status),
            (code, status),
            "{arguments:?}: {answer:#?}"
        );
        assert_eq!(answer.err, "", "all is said in the answer: {answer:#?}");
        advice::check(self, &answer);
        assert!(
            answer.suggestion().contains(way_out),
            "{arguments:?} should suggest {way_out:?}: {answer:#?}"
        );
        answer
    }
}

/// The words of a `tm autopilot` command.
pub fn autopilot(words: &str) -> Vec<&str> {
    std::iter::once("autopilot")
        .chain(words.split_whitespace())
        .collect()
}
