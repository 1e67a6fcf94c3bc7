//! A project, and somebody who works in it as they are told to.

use std::cell::{Cell, RefCell};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value, json};

use crate::program::environment::TestEnvironment;

/// How the results of the tests are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// As numbers.
    Claimed,
    /// As the report that the runner wrote.
    Reported,
    /// By having the tests run.
    Verified,
}

/// All of them.
pub const WAYS: [Way; 3] = [Way::Claimed, Way::Reported, Way::Verified];

/// Ways in which the tests have names.
pub const BY_NAME: [Way; 2] = [Way::Reported, Way::Verified];

/// The project before the run.
#[derive(Debug, Clone, Copy)]
pub struct Before<'a> {
    /// Its files besides the runner, the tasks and the settings.
    pub files: &'a [(&'a str, &'a str)],
    /// The test command.
    pub command: &'a str,
    /// Settings besides the test command, as the members of a JSON object.
    pub settings: &'a str,
    /// Members of the object `test` of the settings besides the command.
    pub test: &'a str,
    /// The folder of the project in its repository.
    pub folder: &'a str,
    /// The task: 1 has one subtask, 2 has two that build on each other, 3 two that do not.
    pub task: &'a str,
    /// Whether the suite is reported before the run.
    pub baseline: bool,
}

/// A small shop: one test, which passes.
pub const SHOP: Before<'static> = Before {
    files: &[
        ("src/add.sh", "echo $(($1 + $2))\n"),
        ("tests/add.test", "adds: test $(sh src/add.sh 1 2) = 3\n"),
    ],
    command: "sh run.sh",
    settings: "",
    test: r#""patterns": ["**/tests/**", "**/*.test"]"#,
    folder: "",
    task: "1",
    baseline: true,
};

/// The shop with a test that fails already, of which nobody has said so.
pub const OLD_FAILURE: Before<'static> = Before {
    files: &[
        ("src/add.sh", "echo $(($1 + $2))\n"),
        (
            "tests/add.test",
            "adds: test $(sh src/add.sh 1 2) = 3\nold: false\n",
        ),
    ],
    baseline: false,
    ..SHOP
};

/// The test of what the first subtask is to bring, and the code that makes it pass.
pub const DOUBLES: &str = "doubles: test $(sh src/double.sh 4) = 8\n";
pub const DOUBLE: &str = "echo $(($1 * 2))\n";

/// The same for the second subtask.
pub const HALVES: &str = "halves: test $(sh src/halve.sh 8) = 4\n";
pub const HALVE: &str = "echo $(($1 / 2))\n";

/// The warning of a first RED without a report of the suite before.
pub const NO_BEFORE: &str = "No report of this format is there from before this subtask";

const SOME_PASS: &str = "Tests pass, too: numbers do not tell";

/// Runs every test of the project and prints TAP. Each line of a test file is a test: its name, a colon, and what has to
/// succeed, or `skip`.
const RUNNER: &str = r#"# Prints TAP.
[ -f before.sh ] && . ./before.sh
echo TAP version 13
find . \( -name .git -o -name node_modules \) -prune -o \
    \( -name '*.test' -o -name '*.test.ts' -o -name '*_test.go' \) -print | LC_ALL=C sort | {
  count=0
  status=0
  while IFS= read -r file; do
    while IFS= read -r line || [ -n "$line" ]; do
      line=$(printf %s "$line" | tr -d '\r')
      case $line in '' | '#'* | //*) continue ;; esac
      count=$((count + 1))
      name=${line%%: *}
      check=${line#*: }
      if [ "$check" = skip ]; then
        echo "ok $count - $name # SKIP not here"
      elif (eval "$check") >/dev/null 2>&1; then
        echo "ok $count - $name"
      else
        echo "not ok $count - $name"
        status=1
      fi
    done <"$file"
  done
  echo "1..$count"
  exit $status
}
"#;

const TASKS: &str = r#"{ "master": { "tasks": [
  { "id": 1, "title": "Double", "status": "pending", "subtasks": [ { "id": 1, "title": "Double a number", "status": "pending" } ] },
  { "id": 2, "title": "Double and halve", "status": "pending", "subtasks": [
    { "id": 1, "title": "Double a number", "status": "pending" },
    { "id": 2, "title": "Halve a number", "status": "pending", "dependencies": [1] } ] },
  { "id": 3, "title": "Double or halve", "status": "pending", "subtasks": [
    { "id": 1, "title": "Double a number", "status": "pending" },
    { "id": 2, "title": "Halve a number", "status": "pending" } ] }
], "metadata": {} } }
"#;

/// Somebody at work in a project.
pub struct Work {
    environment: TestEnvironment,
    folder: String,
    way: Way,
    command: String,
    /// Warnings that the next answer has to have, by a word of each.
    warnings: RefCell<Vec<&'static str>>,
    /// Report files to hand in, instead of what the runner prints.
    reports: RefCell<Vec<String>>,
    /// Ids of tests that are said to be taken out.
    removed: RefCell<Vec<&'static str>>,
    /// Files of snapshots that are said to be updated.
    updated: RefCell<Vec<&'static str>>,
    printed: Cell<u32>,
}

impl Work {
    /// A run that has begun, in a project like this.
    pub fn begin(before: &Before<'_>, way: Way) -> Self {
        Self::begin_with(before, way, |_| {})
    }

    /// The same, where something is to be done to the project before its first commit.
    pub fn begin_with(before: &Before<'_>, way: Way, prepare: impl FnOnce(&Self)) -> Self {
        Self::begin_at(before, way, "red", prepare)
    }

    /// The same, where something else is asked for first.
    pub fn begin_at(
        before: &Before<'_>,
        way: Way,
        first: &str,
        prepare: impl FnOnce(&Self),
    ) -> Self {
        let work = Self::unbegun_with(before, way, prepare);
        let mut start = vec!["start".to_owned(), before.task.to_owned()];
        match way {
            _ if !before.baseline => {}
            Way::Claimed => {}
            Way::Reported => start.extend(["--baseline-report".to_owned(), work.printed()]),
            Way::Verified => start.push("--verify".to_owned()),
        }
        let started = work.tm(&start);
        assert_eq!(started["nextAction"]["action"], first, "{started}");
        let warned = started["warnings"].as_array().into_iter().flatten();
        let mut warned = warned.filter_map(Value::as_str);
        // What a person has not decided yet is told, and in nobody's way.
        let open = [
            "The runner behind the test command is not known",
            "The test command does not name every test",
            "the list of checks",
        ];
        let is_open = |told: &str| open.iter().any(|open| told.starts_with(open));
        assert!(warned.all(is_open), "{started}");
        work
    }

    /// The project, in which no run was begun.
    pub fn unbegun(before: &Before<'_>, way: Way) -> Self {
        Self::unbegun_with(before, way, |_| {})
    }

    fn unbegun_with(before: &Before<'_>, way: Way, prepare: impl FnOnce(&Self)) -> Self {
        let environment = TestEnvironment::bare();
        let work = Self {
            environment,
            folder: before.folder.to_owned(),
            way,
            command: before.command.to_owned(),
            warnings: RefCell::default(),
            reports: RefCell::default(),
            removed: RefCell::default(),
            updated: RefCell::default(),
            printed: Cell::new(0),
        };
        for (path, text) in before.files {
            work.write(path, text);
        }
        if before.command == SHOP.command {
            work.write("run.sh", RUNNER);
        }
        work.write(".taskmaster/tasks/tasks.json", TASKS);
        let command = json!(before.command);
        let test = comma(before.test);
        let settings = comma(before.settings);
        work.write(
            ".taskmaster/config.json",
            &format!(r#"{{"test": {{"command": {command}{test}}}{settings}}}"#),
        );
        work.git(&["init", "--quiet", "--template="]);
        work.git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
        work.git(&["config", "user.name", "Somebody"]);
        work.git(&["config", "user.email", "somebody@localhost"]);
        prepare(&work);
        work.git(&["add", "--all"]);
        work.git(&["commit", "--quiet", "--message", "Begin"]);
        if ["verified", "redInCleanTree"]
            .iter()
            .any(|word| before.settings.contains(word))
        {
            work.environment.trust(&["config", "trust"]);
        }
        work
    }

    /// Trusts something of the project.
    pub fn trust(&self, command: &[&str]) {
        self.environment.trust(command);
    }

    /// Where the project lies.
    pub fn root(&self) -> PathBuf {
        self.environment.project().join(&self.folder)
    }

    /// A folder outside of the repository.
    pub fn outside(&self) -> PathBuf {
        self.environment.home()
    }

    /// Whether tests have names.
    pub fn by_name(&self) -> bool {
        self.way != Way::Claimed
    }

    /// Writes a file of the project.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Reads one.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }

    /// Writes at the end of one.
    pub fn append(&self, path: &str, text: &str) {
        self.write(path, &(self.read(path) + text));
    }

    /// Replaces a text in one.
    pub fn replace(&self, path: &str, what: &str, by: &str) {
        let text = self.read(path);
        assert!(text.contains(what), "{what:?} is not in {text:?}");
        self.write(path, &text.replace(what, by));
    }

    /// Deletes one.
    pub fn delete(&self, path: &str) {
        fs::remove_file(self.root().join(path)).unwrap();
    }

    /// Gives one another name, without telling git.
    pub fn rename(&self, from: &str, to: &str) {
        let to = self.root().join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::rename(self.root().join(from), to).unwrap();
    }

    /// Runs git in the repository.
    pub fn git(&self, arguments: &[&str]) -> String {
        self.environment.git(arguments)
    }

    /// A process in the project.
    pub fn process(&self, program: &str) -> Command {
        let mut process = self.environment.process(program);
        self.surround(&mut process);
        process
    }

    fn surround(&self, process: &mut Command) {
        process
            .current_dir(self.root())
            .env("PATH", std::env::join_paths(own_path()).unwrap())
            .env("CARGO_HOME", self.outside().join("cargo"))
            .env("CARGO_TARGET_DIR", self.outside().join("target"))
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_PROFILE_TEST_DEBUG", "0")
            .env("PYTHONDONTWRITEBYTECODE", "1");
    }

    /// Runs `tm autopilot`, which must succeed.
    pub fn tm<S: AsRef<str>>(&self, arguments: &[S]) -> Value {
        let (status, answer) = self.ask(arguments);
        assert_eq!(
            status,
            0,
            "{:?} {arguments:?}: {answer:#}",
            self.way,
            arguments = words(arguments)
        );
        answer
    }

    /// Runs `tm autopilot`, and gives its exit status and its answer.
    pub fn ask<S: AsRef<str>>(&self, arguments: &[S]) -> (i32, Value) {
        let mut process = self.environment.program(&["autopilot"]);
        self.surround(&mut process);
        process.args(words(arguments)).arg("--json");
        let output = process.output().unwrap();
        let answer = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {output:?}"));
        (output.status.code().unwrap(), answer)
    }

    /// Runs a command line of ours as a shell does, and gives its exit status and its answer.
    pub fn shell(&self, command: &str) -> (i32, Value) {
        let output = self.sh(&format!("{command} --json"));
        let answer = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{command}: {error}: {output:?}"));
        (output.status.code().unwrap(), answer)
    }

    /// Runs a command line of somebody else's. Whether it succeeds, and what it says.
    pub fn runs(&self, command: &str) -> (bool, String) {
        let output = self.sh(command);
        let said = [output.stdout, output.stderr].concat();
        (
            output.status.success(),
            String::from_utf8_lossy(&said).into_owned(),
        )
    }

    /// Runs a command line of somebody else's, which must succeed.
    pub fn runs_well(&self, command: &str) {
        let (done, said) = self.runs(command);
        assert!(done, "{command}: {said}");
    }

    /// Runs a command line in which `tm` is the program under test.
    fn sh(&self, command: &str) -> Output {
        let mut process = self.environment.process("sh");
        self.surround(&mut process);
        let own = testkit::sandbox::binary();
        let folder = own.parent().unwrap().to_owned();
        let path = [folder].into_iter().chain(own_path());
        process
            .env("PATH", std::env::join_paths(path).unwrap())
            .args(["-c", command])
            .output()
            .unwrap()
    }

    /// The numbers that somebody would read off the suite.
    pub fn counted(&self) -> String {
        let counts: Value = serde_json::from_str(&counts(&self.suite())).unwrap();
        let counts = counts.as_object().unwrap().iter();
        let all: Vec<String> = counts
            .map(|(name, count)| format!("{name}:{count}"))
            .collect();
        all.join(",")
    }

    /// Runs the tests as a person would, and gives what they print.
    pub fn suite(&self) -> String {
        let output = self
            .process("sh")
            .args(["-c", &format!("{} 2>&1", self.command)])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs the tests, with what they print in a file outside of the project.
    pub fn printed(&self) -> String {
        self.printed.set(self.printed.get() + 1);
        let path = self
            .outside()
            .join(format!("report-{}", self.printed.get()));
        fs::write(&path, self.suite()).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Hands these report files in at the next report, instead of what the runner prints.
    pub fn hand_in(&self, paths: &[&str]) {
        *self.reports.borrow_mut() = paths.iter().map(|&path| path.to_owned()).collect();
    }

    /// Says of tests that they are taken out, at the next report.
    pub fn remove(&self, ids: &[&'static str]) {
        *self.removed.borrow_mut() = ids.to_vec();
    }

    /// Says of files of snapshots that they are updated, at the next report.
    pub fn update(&self, files: &[&'static str]) {
        *self.updated.borrow_mut() = files.to_vec();
    }

    /// The next answer has to warn, in these words; any other must not.
    pub fn warns(&self, words: &[&'static str]) {
        *self.warnings.borrow_mut() = words.to_vec();
    }

    fn evidence(&self) -> Vec<String> {
        let reports = self.reports.take();
        let mut all = Vec::new();
        match self.way {
            Way::Claimed => all.extend(["--results".to_owned(), counts(&self.suite())]),
            Way::Verified => all.push("--verify".to_owned()),
            Way::Reported if reports.is_empty() => {
                all.extend(["--report".to_owned(), self.printed()]);
            }
            Way::Reported => {}
        }
        if self.by_name() {
            for report in reports {
                all.extend(["--report".to_owned(), report]);
            }
            for id in self.removed.take() {
                all.extend(["--removed".to_owned(), id.to_owned()]);
            }
            for file in self.updated.take() {
                all.extend(["--updated".to_owned(), file.to_owned()]);
            }
        }
        all
    }

    /// Reports a phase in words of its own, and gives exit status and answer.
    pub fn report(&self, phase: &[&str]) -> (i32, Value) {
        let mut call: Vec<String> = phase.iter().map(|&word| word.to_owned()).collect();
        call.extend(self.evidence());
        self.ask(&call)
    }

    /// Has the commit made with these options, and gives exit status and answer.
    pub fn report_commit(&self, options: &[&str]) -> (i32, Value) {
        self.ask(&[&["commit"], options].concat())
    }

    /// Reports a phase, which is accepted, so that this one is next.
    pub fn accept(&self, phase: &[&str], next: &str) -> Value {
        let (status, answer) = self.report(phase);
        assert_eq!(status, 0, "{:?} {phase:?}: {answer:#}", self.way);
        assert_eq!(
            answer["nextAction"]["action"], next,
            "{:?}: {answer:#}",
            self.way
        );
        self.look_at_warning(&answer);
        answer
    }

    fn look_at_warning(&self, answer: &Value) {
        let mut expected = self.warnings.take();
        let mut told: Vec<&str> = answer["warning"]
            .as_str()
            .map_or_else(Vec::new, |warning| warning.split("; ").collect());
        // These accuse nobody, and depend on what can be borrowed, and on the language.
        let not_tried = [
            "The tests were not tried in a fresh checkout",
            "The new tests were not tried on a product",
        ];
        told.retain(|told| {
            let at = expected
                .iter()
                .position(|expected| told.starts_with(expected));
            let is_expected = at.map(|at| expected.swap_remove(at)).is_some();
            !is_expected && !not_tried.iter().any(|known| told.starts_with(known))
        });
        assert!(
            told.is_empty() && expected.is_empty(),
            "{:?}: not expected {told:?}, not told {expected:?}: {answer:#}",
            self.way
        );
    }

    /// Reports RED, which is accepted.
    pub fn red(&self) -> Value {
        // Numbers do not tell which tests it is that pass.
        let passes = |line: &str| line.starts_with("ok ") && !line.contains("# SKIP");
        if self.way == Way::Claimed && self.suite().lines().any(passes) {
            self.warnings.borrow_mut().push(SOME_PASS);
        }
        self.accept(&["complete", "red"], "green")
    }

    /// Reports GREEN, which is accepted.
    pub fn green(&self) -> Value {
        self.accept(&["complete", "green"], "commit")
    }

    /// Reports GREEN, which is refused with this code. Gives the answer.
    pub fn green_refused(&self, code: &str) -> Value {
        let (status, answer) = self.report(&["complete", "green"]);
        assert_eq!(
            (status, &answer["code"]),
            (3, &json!(code)),
            "{:?}: {answer:#}",
            self.way
        );
        answer
    }

    /// Makes the commit, behind which nothing is left in the working tree. Gives its files.
    pub fn commit(&self) -> Vec<String> {
        let answer = self.tm(&["commit"]);
        self.look_at_warning(&answer);
        assert_eq!(self.git(&["status", "--porcelain"]), "", "{answer:#}");
        serde_json::from_value(answer["files"].clone()).unwrap()
    }

    /// Reports the suite at the end, and has the run completed.
    pub fn finalize(&self) -> Value {
        let answer = self.accept(&["finalize"], "complete");
        assert_eq!(answer["nextAction"]["status"], "completed", "{answer:#}");
        answer
    }

    /// RED, GREEN and COMMIT of a subtask, with what is written in the first two.
    pub fn subtask(&self, red: impl FnOnce(), green: impl FnOnce()) {
        red();
        self.red();
        green();
        self.green();
        self.commit();
    }

    /// Goes one phase back, to this one.
    pub fn reopen(&self, to: &str) {
        let answer = self.tm(&["reopen", "--reason", "a test is wrong"]);
        assert_eq!(answer["nextAction"]["action"], to, "{answer:#}");
    }

    /// Sets when a file of the project was written last: so many seconds ago.
    pub fn age(&self, path: &str, seconds: u64) {
        age(&self.root().join(path), seconds);
    }
}

/// Sets when a file was written last: so many seconds ago.
pub fn age(path: &Path, seconds: u64) {
    set_modified(path, SystemTime::now() - Duration::from_secs(seconds));
}

/// Sets when a file was written last.
pub fn set_modified(path: &Path, at: SystemTime) {
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(at).unwrap();
}

fn comma(members: &str) -> String {
    if members.is_empty() {
        String::new()
    } else {
        format!(", {members}")
    }
}

fn words<S: AsRef<str>>(arguments: &[S]) -> Vec<&str> {
    arguments.iter().map(AsRef::as_ref).collect()
}

/// The numbers that somebody would read off TAP.
fn counts(tap: &str) -> String {
    let mut counts =
        Map::from_iter(["passed", "failed", "skipped"].map(|name| (name.to_owned(), json!(0))));
    for line in tap.lines() {
        let name = match line {
            line if line.contains("# SKIP") => "skipped",
            line if line.starts_with("ok ") => "passed",
            line if line.starts_with("not ok ") => "failed",
            _ => continue,
        };
        counts[name] = json!(counts[name].as_u64().unwrap() + 1);
    }
    Value::Object(counts).to_string()
}

/// Where programs are looked for: the toolchain that the tests were built with comes first, since there is no home to choose one
/// from.
fn own_path() -> Vec<PathBuf> {
    let cargo = Path::new(env!("CARGO")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::split_paths(&path);
    [cargo.to_owned()].into_iter().chain(path).collect()
}
