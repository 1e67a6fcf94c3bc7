//! A home, a repository with a run in it that made its commits, and clones of it that have no home.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// What a command came to.
#[derive(Debug)]
pub struct Ran {
    /// Its exit status; `None` if a signal ended it.
    pub status: Option<i32>,
    /// What it printed.
    pub out: String,
    /// What it said beside it.
    pub err: String,
    signal: Option<i32>,
}

impl Ran {
    /// The JSON value that it printed.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// Whether a signal ended it.
    pub fn died(&self) -> bool {
        self.signal.is_some()
    }
}

/// A folder of its own for each test.
pub struct TestEnvironment {
    folder: TempDir,
}

const TASKS: &str = r#"{ "master": { "tasks": [ { "id": 1, "title": "Count the words", "description": "x", "status": "pending",
  "subtasks": [
    { "id": 1, "title": "Count by spaces", "description": "x", "status": "pending" },
    { "id": 2, "title": "Count lines", "description": "x", "status": "pending" } ] } ], "metadata": {} } }
"#;

impl TestEnvironment {
    /// A repository without a run; its settings ask for notes, or do not.
    pub fn new(notes: bool) -> Self {
        let environment = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fs::create_dir_all(environment.home()).unwrap();
        environment.write(".taskmaster/tasks/tasks.json", TASKS);
        let settings = serde_json::json!({
            "test": { "command": "sh run.sh", "patterns": ["tests/**"] },
            "evidence": { "notes": notes },
        });
        environment.write(".taskmaster/config.json", &settings.to_string());
        environment.write("README.md", "words\n");
        environment.git(&["init", "--quiet", "--template="]);
        environment.git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
        environment.git(&["config", "user.name", "Somebody"]);
        environment.git(&["config", "user.email", "somebody@localhost"]);
        environment.git(&["add", "--all"]);
        environment.git(&["commit", "--quiet", "--message", "Begin"]);
        environment
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
    fn report(&self, name: &str, tests: &[&str], failing: Option<&str>) -> String {
        let mut text = format!("TAP version 13\n1..{}\n", tests.len());
        for (number, test) in (1..).zip(tests) {
            let not = if failing == Some(test) { "not " } else { "" };
            text = format!("{text}{not}ok {number} - {test}\n");
        }
        let path = self.folder.path().join(format!("{name}.tap"));
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The repository, by its real path.
    pub fn project(&self) -> PathBuf {
        let project = self.folder.path().join("project");
        fs::create_dir_all(&project).unwrap();
        fs::canonicalize(project).unwrap()
    }

    /// Some path beside the repository.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The home.
    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Writes a file of the repository.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The folder of the only run.
    pub fn run(&self) -> PathBuf {
        let projects = self.home().join("store/projects");
        let mut found = Vec::new();
        for project in fs::read_dir(projects).unwrap() {
            for run in fs::read_dir(project.unwrap().path().join("runs")).unwrap() {
                found.push(run.unwrap().path());
            }
        }
        assert_eq!(found.len(), 1);
        found.remove(0)
    }

    /// A process in a folder, with a home of this name, and nothing but what is needed in its environment.
    pub fn process(&self, program: impl AsRef<Path>, folder: &Path, home: &str) -> Command {
        let home = self.folder.path().join(home);
        fs::create_dir_all(&home).unwrap();
        let bin = Path::new(env!("CARGO_BIN_EXE_tm")).parent().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(program.as_ref());
        command
            .current_dir(folder)
            .env_clear()
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("HOME", &home)
            .env("TRAMLINE_HOME", home.join("store"))
            .env("GIT_CONFIG_GLOBAL", home.join("gitconfig"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("NO_COLOR", "1")
            .env("USER", "tester")
            .stdin(Stdio::null());
        command
    }

    /// Runs git, which must succeed.
    pub fn git(&self, arguments: &[&str]) -> String {
        let output = self
            .process("git", &self.project(), "home")
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs the binary, which must succeed.
    pub fn tm(&self, arguments: &[&str]) -> String {
        let ran = self.try_tm(arguments, &[]);
        assert_eq!(ran.status, Some(0), "tm {arguments:?}: {ran:?}");
        ran.out
    }

    /// Runs the binary, with variables on top.
    pub fn try_tm(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command = self.process(env!("CARGO_BIN_EXE_tm"), &self.project(), "home");
        command.args(arguments).envs(variables.iter().copied());
        ran(&mut command)
    }

    /// A clone without a home; with the notes, or without.
    pub fn clone_of_it(&self, notes: bool) -> PathBuf {
        let clone = self.beside(if notes { "clone-with-notes" } else { "clone" });
        let mut git = self.process("git", self.folder.path(), "elsewhere");
        git.args(["clone", "--quiet", "--template="])
            .arg(self.project())
            .arg(&clone);
        assert_eq!(ran(&mut git).status, Some(0));
        if notes {
            let mut git = self.process("git", &clone, "elsewhere");
            git.args([
                "fetch",
                "--quiet",
                "origin",
                "refs/notes/tramline:refs/notes/tramline",
            ]);
            let fetched = ran(&mut git);
            assert_eq!(fetched.status, Some(0), "{fetched:?}");
        }
        clone
    }

    /// Runs the binary in a clone, with a home that knows of nothing.
    pub fn tm_in(&self, clone: &Path, arguments: &[&str]) -> Ran {
        let mut command = self.process(env!("CARGO_BIN_EXE_tm"), clone, "elsewhere");
        command.args(arguments);
        ran(&mut command)
    }

    /// Verifies the range in the repository.
    pub fn verify(&self, more: &[&str]) -> (Option<i32>, Value) {
        let mut arguments = vec!["verify", "--json"];
        arguments.extend(more);
        let ran = self.try_tm(&arguments, &[]);
        (ran.status, ran.json())
    }
}

/// Runs a command to its end.
pub fn ran(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        status: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
        signal: output.status.signal(),
    }
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
