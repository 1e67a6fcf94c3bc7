//! A home, a repository and the binary, with nothing else in its environment; and the proof that a refused command
//! left all of it as it was.

use std::fmt::Display;
use std::fs;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use testkit::chance::draws;
use testkit::{Everything, Outcome, Sandbox};

use super::{advice, terminal::agreed};

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

/// Where the tasks are.
pub const TASKS_FILE: &str = ".taskmaster/tasks/tasks.json";

/// Where the settings are.
pub const SETTINGS: &str = ".taskmaster/config.json";

/// The branch of a run of task 1.
pub const BRANCH: &str = "master/task-1-count-the-words";

/// A report of RED, as it is claimed.
pub const RED: &str = "complete red --results failed:1,passed:1";

/// A report of GREEN behind that.
pub const GREEN: &str = "complete green --results failed:0,passed:2";

/// The same at the end.
pub const FINALIZE: &str = "finalize --results failed:0,passed:2";

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

/// How it is made, and how far a run in it has come; what is asked of the binary; what the repository and its files are.
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
                (TASKS_FILE, tasks),
                (SETTINGS, config),
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
        Self::started_with(CONFIG)
    }

    /// The same with settings of its own.
    pub fn started_with(config: &str) -> Self {
        Self::started_on(TASKS, config)
    }

    /// The same with tasks of its own.
    pub fn started_on(tasks: &str, config: &str) -> Self {
        Self::at(&format!("started: {tasks} {config}"), || {
            let env = Self::with(tasks, config);
            env.auto("start 1").ok();
            env
        })
    }

    /// A repository at this point, which is come to once.
    pub fn at(point: &str, come: impl FnOnce() -> Self) -> Self {
        let sandbox = Sandbox::at(&format!("rails {point}"), || come().sandbox);
        Self { sandbox }
    }

    /// In GREEN of the first subtask.
    pub fn in_green() -> Self {
        Self::at("green", || {
            let env = Self::started();
            env.red();
            env
        })
    }

    /// Where the first subtask is to be committed.
    pub fn in_commit() -> Self {
        Self::at("commit", || {
            let env = Self::in_green();
            env.green();
            env
        })
    }

    /// Where all is done but for the last report.
    pub fn at_the_end() -> Self {
        Self::at("end", || {
            let env = Self::started();
            env.to_finalize();
            env
        })
    }

    /// The binary, not yet started, to be asked for JSON.
    pub fn program(&self, arguments: &[&str]) -> Command {
        let (family, rest) = arguments.split_first().expect("a command");
        self.sandbox.program(&[&[*family, "--json"], rest].concat())
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
        let mut program = self.program(&autopilot(words));
        program.stdout(Stdio::piped()).stderr(Stdio::piped());
        program.spawn().unwrap()
    }

    /// Has `tm autopilot` die at a fail point.
    #[cfg(debug_assertions)]
    pub fn killed(&self, words: &str, point: &str) {
        let mut program = self.program(&autopilot(words));
        let output = program.env("TRAMLINE_FAIL_POINT", point).output().unwrap();
        assert!(!output.status.success(), "{point} is not reached");
    }

    /// Those of these places of death that are tried: all where the environment asks for that, else a third, by chance.
    #[cfg(debug_assertions)]
    pub fn deaths<'p>(places: &[&'p str]) -> Vec<&'p str> {
        let drawn = places.iter().filter(|place| draws(place, 3));
        drawn.copied().collect()
    }

    /// Writes a failing test and reports RED of the present subtask.
    pub fn red(&self) -> Value {
        self.red_of(&self.present_subtask())
    }

    fn red_of(&self, id: &str) -> Value {
        self.write(&format!("tests/{id}.sh"), format!("test {id}\n"));
        self.auto(RED).ok()
    }

    /// Writes the code and reports GREEN of the present subtask.
    pub fn green(&self) -> Value {
        self.green_with("")
    }

    /// The same with more arguments.
    pub fn green_with(&self, more: &str) -> Value {
        self.green_of(&self.present_subtask(), more)
    }

    fn green_of(&self, id: &str, more: &str) -> Value {
        self.write(&format!("src/{id}.sh"), format!("code {id}\n"));
        self.auto(&format!("{GREEN} {more}")).ok()
    }

    /// Has the commit be made.
    pub fn commit(&self) -> Value {
        self.auto("commit").ok()
    }

    /// Goes from the beginning of the present subtask to where its commit is to be made.
    pub fn to_commit(&self) {
        self.to_commit_of(&self.present_subtask());
    }

    fn to_commit_of(&self, id: &str) {
        self.red_of(id);
        self.green_of(id, "");
    }

    /// Goes through the whole present subtask.
    pub fn subtask(&self) -> Value {
        self.to_commit();
        self.commit()
    }

    /// Goes from the beginning of a run to its last report.
    pub fn to_finalize(&self) {
        let mut next = self.next();
        while next["action"] == "red" {
            self.to_commit_of(next["subtask"]["id"].as_str().unwrap());
            next = self.commit()["nextAction"].take();
        }
        assert_eq!(next["action"], "finalize");
    }

    /// A whole run, to its good end.
    pub fn whole_run(&self, start: &str) -> Value {
        self.auto(start).ok();
        self.finish()
    }

    /// The rest of a run, to its good end.
    pub fn finish(&self) -> Value {
        self.to_finalize();
        let end = self.auto(FINALIZE).ok();
        assert_eq!(end["nextAction"]["status"], "completed", "{end}");
        end
    }

    /// A person has this be done.
    pub fn agreed(&self, arguments: &[&str]) {
        let (status, shown) = agreed(self, arguments);
        assert_eq!(status, 0, "{shown}");
    }

    /// What comes next.
    pub fn next(&self) -> Value {
        self.auto("next").ok()
    }

    /// What is to be done now.
    pub fn action(&self) -> String {
        self.next()["action"].as_str().unwrap().to_owned()
    }

    /// The present work unit.
    pub fn unit(&self) -> String {
        let next = self.next();
        next["unitId"].as_str().unwrap_or_default().to_owned()
    }

    fn present_subtask(&self) -> String {
        self.next()["subtask"]["id"].as_str().unwrap().to_owned()
    }

    /// Part of what is said of the present run.
    pub fn status(&self, part: &str) -> Value {
        self.auto("status").ok()[part].take()
    }

    /// The report of the run.
    pub fn report(&self) -> Value {
        self.tm(&["runs", "report"]).ok()
    }

    /// Holds that the journal is whole.
    pub fn journal_is_whole(&self) {
        assert_eq!(self.tm(&["log", "verify"]).ok()["whole"], true);
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
        fails(&answer, status, code);
        assert_eq!(answer.err, "", "all is said in the answer: {answer:#?}");
        advice::check(self, &answer);
        tells(answer.suggestion(), &[way_out]);
        answer
    }

    /// A command that a rule forbids, with the status that the list of codes gives to this code.
    pub fn refuses(&self, words: &str, code: &str) -> Outcome {
        self.refuses_of(&autopilot(words), code)
    }

    /// The same for arguments that hold spaces.
    pub fn refuses_of(&self, arguments: &[&str], code: &str) -> Outcome {
        self.refused_of(arguments, AS_LISTED, code, "")
    }

    /// A command that comes to this code, has advice that can be followed, and may have changed something.
    pub fn comes_to(&self, words: &str, code: &str) -> Outcome {
        let answer = self.auto(words);
        fails(&answer, AS_LISTED, code);
        advice::check(self, &answer);
        answer
    }

    /// Runs git with words that stand apart by spaces.
    pub fn git_words(&self, words: &str) -> String {
        self.git(&words.split(' ').collect::<Vec<_>>())
    }

    /// Has another branch be checked out.
    pub fn switch(&self, branch: &str) {
        self.git(&["switch", "--quiet", branch]);
    }

    /// The branch that is checked out; empty where there is none.
    pub fn branch(&self) -> String {
        self.git_words("branch --show-current")
    }

    /// All branches.
    pub fn branches(&self) -> String {
        self.git_words("for-each-ref --format=%(refname:short) refs/heads")
    }

    /// What git calls changed.
    pub fn changes(&self) -> String {
        self.git_words("status --porcelain")
    }

    /// The message of the last commit.
    pub fn message(&self) -> String {
        self.git_words("log -1 --format=%B")
    }

    /// The paths of the last commit.
    pub fn committed(&self) -> String {
        self.git_words("show --format= --name-only HEAD")
    }

    /// The paths of a commit of this subtask, as [`red`](Self::red) and [`green`](Self::green) leave them.
    pub fn files_of(id: &str) -> String {
        format!("{TASKS_FILE}\nsrc/{id}.sh\ntests/{id}.sh")
    }

    /// How many commits `main` does not have.
    pub fn commits(&self) -> String {
        self.git_words("rev-list --count main..HEAD")
    }

    /// Writes a file of the project, and commits all that is changed.
    pub fn commit_file(&self, path: &str, text: impl AsRef<[u8]>) {
        self.write(path, text);
        self.commit_all(path);
    }

    /// Somebody commits these paths by hand.
    pub fn commit_by_hand(&self, paths: &[&str]) -> String {
        self.git(&[&["add"], paths].concat());
        self.git(&["commit", "--quiet", "--message", "My own words"]);
        self.head()
    }

    /// Deletes a file of the project.
    pub fn delete(&self, path: &str) {
        fs::remove_file(self.project().join(path)).unwrap();
    }

    /// The tasks of the file, of whatever tag they are.
    pub fn tasks(&self) -> Value {
        let file: Value = serde_json::from_str(&self.read(TASKS_FILE)).unwrap();
        let tagged = file.get("master").unwrap_or(&file);
        tagged["tasks"].clone()
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
}

/// The words of a `tm autopilot` command.
pub fn autopilot(words: &str) -> Vec<&str> {
    std::iter::once("autopilot")
        .chain(words.split_whitespace())
        .collect()
}

/// Stands for any status that the list of codes gives to a code.
const AS_LISTED: i32 = -1;

/// Holds that an answer has this status and code.
pub fn fails(answer: &Outcome, status: i32, code: &str) {
    assert_eq!(answer.code(), code, "{answer:#?}");
    let is_meant = match status {
        AS_LISTED => listed_statuses(code).contains(&answer.status),
        status => answer.status == status,
    };
    assert!(is_meant, "not {status}: {answer:#?}");
}

/// Holds that a text has all of these parts.
pub fn tells(text: impl Display, parts: &[&str]) {
    let text = text.to_string();
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}

/// The exit statuses that `docs/codes.md` gives to a code. A policy refuses with 3.
fn listed_statuses(code: &str) -> Vec<i32> {
    let name = format!("`{code}`");
    let mut rows = include_str!("../../../../../docs/codes.md")
        .lines()
        .filter_map(|row| row.strip_prefix("| ")?.split_once(" | "));
    let row = rows.find(|(names, _)| names.split(", ").any(|listed| listed == name));
    let (_, rest) = row.unwrap_or_else(|| panic!("{code} is not in the list of codes"));
    let listed = rest.split(" | ").next().unwrap_or_default().split(", ");
    listed.map(|status| status.parse().unwrap_or(3)).collect()
}
