//! A home, a repository and the binary, with nothing else in its environment; and the proof that a refused command
//! left all of it as it was.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

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

/// A folder of its own for each test: `home`, with the store of runs in it, and `project`, a repository.
pub struct TestEnvironment {
    folder: TempDir,
    /// Where commands are run; the project's root unless a test says otherwise.
    pub cwd: PathBuf,
}

/// What a command came to.
#[derive(Debug)]
pub struct Answer {
    /// Its exit status.
    pub status: i32,
    /// The JSON value that it printed.
    pub json: Value,
    /// What it said beside it.
    pub err: String,
}

impl Answer {
    /// Reads what a process that was given `--json` printed.
    pub fn of(output: &Output) -> Self {
        let out = String::from_utf8(output.stdout.clone()).expect("standard output is UTF-8");
        let err = String::from_utf8(output.stderr.clone()).expect("standard error is UTF-8");
        let json = serde_json::from_str(&out)
            .unwrap_or_else(|error| panic!("{error}: {out:?} {err:?} {:?}", output.status));
        Self {
            status: output.status.code().expect("ended by itself"),
            json,
            err,
        }
    }

    /// The answer of a command that must succeed.
    pub fn ok(self) -> Value {
        assert_eq!(self.status, 0, "{self:#?}");
        self.json
    }

    /// Code of a refusal, whichever of the two shapes it has.
    pub fn code(&self) -> &str {
        self.part("code")
    }

    /// Its message.
    pub fn message(&self) -> &str {
        self.part("message")
    }

    /// Its suggestion.
    pub fn suggestion(&self) -> &str {
        self.part("suggestion")
    }

    fn part(&self, name: &str) -> &str {
        let refusal = self.json.get("error").unwrap_or(&self.json);
        refusal[name].as_str().unwrap_or_default()
    }
}

impl TestEnvironment {
    /// A home, and an empty folder for the project.
    pub fn bare() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("home")).unwrap();
        fs::create_dir_all(folder.path().join("project")).unwrap();
        let cwd = folder.path().join("project");
        Self { folder, cwd }
    }

    /// A repository with one commit on `main`, of the tasks and the settings given.
    pub fn with(tasks: &str, config: &str) -> Self {
        let env = Self::bare();
        env.init();
        env.write(".taskmaster/tasks/tasks.json", tasks);
        env.write(".taskmaster/config.json", config);
        env.write("README.md", "words\n");
        env.write(".gitignore", "*.tmp\n");
        env.commit_all("Begin");
        env
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

    /// Makes the project a repository with somebody's name in it.
    pub fn init(&self) {
        self.git(&["init", "--quiet", "--template=", "--initial-branch=main"]);
        let config = self.project().join(".git/config");
        let mut text = fs::read_to_string(&config).unwrap();
        text.push_str(
            "[user]\n\tname = Somebody\n\temail = somebody@localhost\n[gc]\n\tauto = 0\n",
        );
        fs::write(config, text).unwrap();
    }

    /// Commits everything there is.
    pub fn commit_all(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        self.head()
    }

    /// The folder that holds all of it.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The repository.
    pub fn project(&self) -> PathBuf {
        self.folder().join("project")
    }

    /// Where runs are stored.
    pub fn store(&self) -> PathBuf {
        self.folder().join("home/store")
    }

    /// Folders of all runs of every project, in order of their names.
    pub fn runs(&self) -> Vec<PathBuf> {
        let mut all = Vec::new();
        for project in list(&self.store().join("projects")) {
            all.extend(list(&project.join("runs")));
        }
        all.sort();
        all
    }

    /// The folder of the only run.
    pub fn run_dir(&self) -> PathBuf {
        let mut runs = self.runs();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs.remove(0)
    }

    /// The journal of the only run.
    pub fn journal(&self) -> Vec<u8> {
        fs::read(self.run_dir().join("activity.jsonl")).unwrap()
    }

    /// The names of the events of the only run.
    pub fn events(&self) -> Vec<String> {
        String::from_utf8(self.journal())
            .unwrap()
            .lines()
            .map(|line| {
                let line: Value = serde_json::from_str(line).unwrap();
                line["event"].as_str().unwrap().to_owned()
            })
            .collect()
    }

    /// Writes a file of the project.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Reads a file of the project.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.project().join(path)).unwrap()
    }

    /// Installs a hook of git.
    pub fn hook(&self, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let path = format!(".git/hooks/{name}");
        self.write(&path, format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(self.project().join(path), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A process with nothing but what is needed in its environment.
    pub fn process(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.cwd)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder().join("home"))
            .env("TRAMLINE_HOME", self.store())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CEILING_DIRECTORIES", self.folder())
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

    /// Runs git, which must fail.
    pub fn git_fails(&self, arguments: &[&str]) {
        let output = self.process("git").args(arguments).output().unwrap();
        assert!(!output.status.success(), "git {arguments:?}: {output:?}");
    }

    /// The commit that HEAD is at.
    pub fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    /// The binary, not yet started.
    pub fn program(&self, arguments: &[&str]) -> Command {
        let mut command = self.process(env!("CARGO_BIN_EXE_tm"));
        let (family, rest) = arguments.split_first().expect("a command");
        command.arg(family).arg("--json").args(rest);
        command
    }

    /// Runs the binary for JSON.
    pub fn tm(&self, arguments: &[&str]) -> Answer {
        Answer::of(&self.program(arguments).output().unwrap())
    }

    /// Trusts something of the repository as it is: `["config", "trust"]`, or another command that does.
    #[allow(
        dead_code,
        reason = "some of those who share this file have nothing to trust"
    )]
    pub fn trust(&self, command: &[&str]) {
        let asked = self.tm(&[command, &["--hash", "00"]].concat());
        assert_eq!(asked.code(), "other_hash", "{asked:#?}");
        let hash = asked.json["error"]["details"]["hash"].as_str().unwrap();
        self.tm(&[command, &["--hash", hash]].concat()).ok();
    }

    /// Runs `tm autopilot` with words that stand apart by spaces.
    pub fn auto(&self, words: &str) -> Answer {
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

    /// A command that a rule forbids: it has this status and code, its suggestion names `way_out` and nothing that does
    /// not exist, and everything is as it was before.
    pub fn refused(&self, words: &str, status: i32, code: &str, way_out: &str) -> Answer {
        self.refused_of(&autopilot(words), status, code, way_out)
    }

    /// The same for arguments that hold spaces.
    pub fn refused_of(&self, arguments: &[&str], status: i32, code: &str, way_out: &str) -> Answer {
        let before = Everything::of(self);
        let answer = self.tm(arguments);
        before.assert_unchanged(self, &format!("{arguments:?}"));
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

/// The entries of a folder that may be missing.
pub fn list(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .collect()
}

/// Every file of the project (git's own folder included) and of the store, with its bytes, mode and identity.
#[derive(PartialEq, Eq)]
pub struct Everything(BTreeMap<PathBuf, (u64, u32, Vec<u8>)>);

impl Everything {
    /// Reads all of it.
    pub fn of(env: &TestEnvironment) -> Self {
        let mut files = BTreeMap::new();
        for folder in ["project", "home"] {
            collect(&env.folder().join(folder), &mut files);
        }
        Self(files)
    }

    /// Only the user's files, by their bytes: what was written anew with the same content counts as untouched.
    pub fn of_project_without_git(self) -> Self {
        let of_user = |path: &Path| {
            let names: Vec<&str> = path.iter().filter_map(|name| name.to_str()).collect();
            names.contains(&"project") && !names.contains(&".git")
        };
        Self(
            self.0
                .into_iter()
                .filter(|(path, _)| of_user(path))
                .map(|(path, (_, mode, bytes))| (path, (0, mode, bytes)))
                .collect(),
        )
    }

    /// Compares with what is there now, and names what differs.
    pub fn assert_unchanged(&self, env: &TestEnvironment, what: &str) {
        self.assert_same(&Self::of(env), what);
    }

    /// Compares, and names what differs.
    pub fn assert_same(&self, after: &Self, what: &str) {
        let mut differing: Vec<&PathBuf> = self
            .0
            .iter()
            .filter(|(path, was)| after.0.get(*path) != Some(was))
            .map(|(path, _)| path)
            .chain(after.0.keys().filter(|path| !self.0.contains_key(*path)))
            .collect();
        differing.sort();
        assert!(differing.is_empty(), "{what} changed {differing:?}");
    }
}

/// The list of refusals is kept for the report, and a lock names its last holder: neither is part of a run's state.
fn is_beside_the_run(name: &str) -> bool {
    matches!(name, "refusals.jsonl" | "lock")
}

fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, (u64, u32, Vec<u8>)>) {
    for path in list(folder) {
        let kind = fs::symlink_metadata(&path).unwrap();
        if kind.is_dir() {
            collect(&path, files);
            files.insert(path, (0, kind.mode(), Vec::new()));
        } else if !is_beside_the_run(path.file_name().unwrap().to_str().unwrap_or_default()) {
            let bytes = if kind.is_symlink() {
                use std::os::unix::ffi::OsStringExt as _;
                fs::read_link(&path).unwrap().into_os_string().into_vec()
            } else {
                fs::read(&path).unwrap_or_default()
            };
            files.insert(path, (kind.ino(), kind.mode(), bytes));
        }
    }
}
