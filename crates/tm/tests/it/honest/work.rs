//! A project, and somebody who works in it as they are told to.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use testkit::chance;

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

/// A project before a run, and how the run is driven.
#[derive(Debug, Clone, Copy)]
pub struct Before<'a> {
    /// Its files besides the runner, the tasks and the settings.
    pub files: &'a [(&'a str, &'a str)],
    /// More of them, or others in their places.
    with: &'a [(&'a str, &'a str)],
    /// The test command.
    command: &'a str,
    /// Settings besides the test command, as the members of a JSON object.
    settings: &'a str,
    /// Members of the object `test` of the settings besides the command.
    test: &'a str,
    /// The folder of the project in its repository.
    folder: &'a str,
    /// The task: 1 has one subtask, 2 has two that build on each other, 3 two that do not.
    task: &'a str,
    /// The kinds of the subtasks of task 1, where it has others than one that is test-driven.
    kinds: &'a [&'a str],
    /// Whether the suite is reported before the run.
    pub baseline: bool,
    /// How it is reported.
    pub way: Way,
    /// What is done to the project before its first commit.
    prepare: Option<fn(&Work)>,
}

/// A small shop: one test, which passes.
pub const SHOP: Before<'static> = Before {
    files: &[
        ("src/add.sh", "echo $(($1 + $2))\n"),
        ("tests/add.test", ADDS),
    ],
    with: &[],
    command: "sh run.sh",
    settings: "",
    test: r#""patterns": ["**/tests/**", "**/*.test"]"#,
    folder: "",
    task: "1",
    kinds: &[],
    baseline: true,
    way: Way::Reported,
    prepare: None,
};

/// The shop where each test is run by the program under test.
pub const VERIFIED: Before<'static> = SHOP.by(Way::Verified);

/// The shop with a test that fails already.
pub const FAILING: Before<'static> = SHOP.with(&[(
    "tests/add.test",
    "adds: test $(sh src/add.sh 1 2) = 3\nold: false\n",
)]);

/// The same, where nobody finds out that it does.
pub const OLD_FAILURE: Before<'static> = FAILING.without_baseline();

/// Two subtasks in the shop, of which the second one builds on the first.
pub const TWO: Before<'static> = SHOP.task("2");

impl<'a> Before<'a> {
    /// The same with these files alone.
    pub const fn files(self, files: &'a [(&'a str, &'a str)]) -> Self {
        Self { files, ..self }
    }

    /// The same with these files as well.
    pub const fn with(self, with: &'a [(&'a str, &'a str)]) -> Self {
        Self { with, ..self }
    }

    /// The same with another test command.
    pub const fn command(self, command: &'a str) -> Self {
        Self { command, ..self }
    }

    /// The same with settings.
    pub const fn settings(self, settings: &'a str) -> Self {
        Self { settings, ..self }
    }

    /// The same with other members of the object `test`.
    pub const fn test(self, test: &'a str) -> Self {
        Self { test, ..self }
    }

    /// The same in a folder of its repository.
    pub const fn folder(self, folder: &'a str) -> Self {
        Self { folder, ..self }
    }

    /// The same with another task.
    pub const fn task(self, task: &'a str) -> Self {
        Self { task, ..self }
    }

    /// The same with subtasks of these kinds.
    pub const fn kinds(self, kinds: &'a [&'a str]) -> Self {
        Self { kinds, ..self }
    }

    /// The same where nobody says what the suite comes to before the run.
    pub const fn without_baseline(self) -> Self {
        Self {
            baseline: false,
            ..self
        }
    }

    /// The same, reported in this way.
    pub const fn by(self, way: Way) -> Self {
        Self { way, ..self }
    }

    /// The same where this is done before the first commit.
    pub const fn prepared(self, prepare: fn(&Work)) -> Self {
        Self {
            prepare: Some(prepare),
            ..self
        }
    }

    /// A run that has begun.
    pub fn begin(&self) -> Work {
        self.at("begun", || self.begun())
    }

    /// Somebody at this point, which is come to once.
    pub fn at(&self, point: &str, come: impl FnOnce() -> Work) -> Work {
        let point = format!("{point}: {self:?}");
        self.work(TestEnvironment::at(&point, || come().environment))
    }

    fn begun(&self) -> Work {
        let work = self.unbegun();
        work.environment.note_quick_tests();
        let mut start = vec!["start".to_owned(), self.task.to_owned()];
        match self.way {
            _ if !self.baseline => {}
            Way::Claimed => {}
            Way::Reported | Way::Verified => start.push("--verify".to_owned()),
        }
        let started = work.tm(&start);
        let first = match self.kinds.first() {
            Some(&"config") => "chore",
            Some(kind) => kind,
            None => "red",
        };
        assert_eq!(started["nextAction"]["action"], first, "{started}");
        let warned = started["warnings"].as_array().into_iter().flatten();
        let mut warned = warned.filter_map(Value::as_str);
        // What a person has not decided yet is told, and in nobody's way.
        let open = [
            "The runner behind the test command is not known",
            "The test command does not name every test",
            "the list of checks",
            "These tests fail on the bench and pass in the working tree",
        ];
        let is_open = |told: &str| open.iter().any(|open| told.starts_with(open));
        assert!(warned.all(is_open), "{started}");
        work
    }

    /// The project, in which no run was begun.
    pub fn unbegun(&self) -> Work {
        let files = self.all_files();
        let path = |name: &str| Path::new(self.folder).join(name).display().to_string();
        let files: Vec<(String, &str)> = files
            .iter()
            .map(|(name, text)| (path(name), text.as_str()))
            .collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, *text)).collect();
        let environment = match self.prepare {
            None => TestEnvironment::of(&files),
            Some(_) => TestEnvironment::bare(),
        };
        let work = self.work(environment);
        if let Some(prepare) = self.prepare {
            for (path, text) in files {
                work.environment.write(path, text);
            }
            work.environment.init();
            prepare(&work);
            work.commit_by_hand("Begin");
        }
        work
    }

    fn work(&self, environment: TestEnvironment) -> Work {
        Work {
            environment,
            folder: self.folder.to_owned(),
            way: self.way,
            command: self.command.to_owned(),
            warnings: RefCell::default(),
            options: RefCell::default(),
        }
    }

    /// The files of the first commit, by their paths within the project.
    fn all_files(&self) -> BTreeMap<&'a str, String> {
        let given = self.files.iter().chain(self.with);
        let mut files: BTreeMap<&str, String> =
            given.map(|&(path, text)| (path, text.to_owned())).collect();
        if self.command.starts_with("sh ") {
            files.insert("run.sh", RUNNER.to_owned());
        }
        files.insert(TASKS_FILE, TASKS.to_owned());
        if !self.kinds.is_empty() {
            let subtask = |(id, kind): (i32, &&str)| json!({ "id": id, "title": format!("A piece of {kind}"), "kind": kind });
            let subtasks: Vec<Value> = (1..).zip(self.kinds).map(subtask).collect();
            let task = json!({ "id": 1, "title": "Many things", "subtasks": subtasks });
            let tasks = json!({ "master": { "tasks": [task] } });
            files.insert(TASKS_FILE, tasks.to_string());
        }
        let command = json!(self.command);
        let [test, settings] = [self.test, self.settings].map(comma);
        let config = format!(r#"{{"test": {{"command": {command}{test}}}{settings}}}"#);
        files.insert(CONFIG, config);
        files
    }

    /// A run in which the test of the first subtask is written.
    pub fn at_red(&self) -> Work {
        let work = self.begin();
        work.test();
        work
    }

    /// A run in which RED was accepted.
    pub fn at_green(&self) -> Work {
        self.at("green", || {
            let work = self.at_red();
            work.red();
            work
        })
    }

    /// A run in which the code is written, too.
    pub fn with_code(&self) -> Work {
        let work = self.at_green();
        work.code();
        work
    }

    /// A run in which GREEN was accepted.
    pub fn at_commit(&self) -> Work {
        self.at("commit", || {
            let work = self.with_code();
            work.green();
            work
        })
    }

    /// A run whose first subtask is committed.
    pub fn committed(&self) -> Work {
        self.at("committed", || {
            let work = self.at_commit();
            work.commit();
            work
        })
    }
}

/// Plays stories one by one, each on a thread that has its name: so a failure names it, and the others are played all the same.
/// Chance draws a third of them, where not all are tried.
pub fn play<S: Send>(
    stories: impl IntoIterator<Item = (&'static str, S)>,
    each: impl Fn(S) + Sync,
) {
    let each = &each;
    let test = std::thread::current().name().map(str::to_owned);
    let is_drawn = |name: &str| chance::draws(&format!("{test:?} {name}"), 3);
    let stories = stories.into_iter().filter(|(name, _)| is_drawn(name));
    let failed: Vec<&str> = std::thread::scope(|scope| {
        let plays = |(name, story): (&'static str, S)| {
            let thread = std::thread::Builder::new().name(name.to_owned());
            let played = thread.spawn_scoped(scope, move || each(story)).unwrap();
            played.join().is_err().then_some(name)
        };
        stories.filter_map(plays).collect()
    });
    assert!(failed.is_empty(), "{failed:?}");
}

/// The test that is there before, that of what the first subtask is to bring, and the code that makes it pass.
pub const ADDS: &str = "adds: test $(sh src/add.sh 1 2) = 3\n";
pub const DOUBLES: &str = "doubles: test $(sh src/double.sh 4) = 8\n";
pub const DOUBLE: &str = "echo $(($1 * 2))\n";

/// The same for the second subtask.
pub const HALVES: &str = "halves: test $(sh src/halve.sh 8) = 4\n";
pub const HALVE: &str = "echo $(($1 / 2))\n";

/// The reports of the phases.
pub const RED: &[&str] = &["complete", "red"];
pub const GREEN: &[&str] = &["complete", "green"];
pub const COMMIT: &[&str] = &["commit"];
pub const FINALIZE: &[&str] = &["finalize"];

/// Runs every test of the project and prints TAP. Each line of a test file is a test: its name, a colon, and what has to
/// succeed, or `skip`.
const RUNNER: &str = r#"# Prints TAP.
[ -f before.sh ] && . ./before.sh
return=$(printf '\r')
echo TAP version 13
find . \( -name .git -o -name node_modules \) -prune -o \
    \( -name '*.test' -o -name '*.test.ts' -o -name '*_test.go' \) -print | LC_ALL=C sort | {
  count=0
  status=0
  while IFS= read -r file; do
    while IFS= read -r line || [ -n "$line" ]; do
      line=${line%"$return"}
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

/// The tasks and the settings of the project.
pub const TASKS_FILE: &str = ".taskmaster/tasks/tasks.json";
pub const CONFIG: &str = ".taskmaster/config.json";

/// Somebody at work in a project.
pub struct Work {
    environment: TestEnvironment,
    folder: String,
    way: Way,
    command: String,
    /// Warnings that the next answer has to have: the code of each, and behind it what it has to name.
    warnings: RefCell<Vec<&'static str>>,
    /// Options of the next report, where tests have names.
    options: RefCell<Vec<String>>,
}

impl Work {
    /// Writes the test of the first subtask, and then its code.
    pub fn test(&self) {
        self.write("tests/double.test", DOUBLES);
    }

    pub fn code(&self) {
        self.write("src/double.sh", DOUBLE);
    }

    /// The same for the second subtask.
    pub fn second_test(&self) {
        self.write("tests/halve.test", HALVES);
    }

    pub fn second_code(&self) {
        self.write("src/halve.sh", HALVE);
    }

    /// Commits everything, without the program under test.
    pub fn commit_by_hand(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
    }

    /// Puts a hook of git there.
    pub fn hook(&self, name: &str, script: &str) {
        self.write(&format!(".git/hooks/{name}"), script);
        self.runs_well(&format!("chmod +x .git/hooks/{name}"));
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

    /// How it is reported.
    pub fn way(&self) -> Way {
        self.way
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

    /// A process in the project, for which programs are looked for in these folders as well.
    fn within(&self, mut process: Command, folders: &[&Path]) -> Output {
        let folders = folders.iter().map(|&folder| folder.to_owned());
        process
            .current_dir(self.root())
            .env(
                "PATH",
                std::env::join_paths(folders.chain(own_path())).unwrap(),
            )
            .env("CARGO_HOME", self.outside().join("cargo"))
            .env("CARGO_TARGET_DIR", self.outside().join("target"))
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_PROFILE_TEST_DEBUG", "0")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output()
            .unwrap()
    }

    /// Runs `tm autopilot`, which must succeed.
    pub fn tm<S: AsRef<str>>(&self, arguments: &[S]) -> Value {
        let (status, answer) = self.ask(arguments);
        assert_eq!(status, 0, "{:?}: {answer:#}", words(arguments));
        answer
    }

    /// Runs `tm autopilot`, and gives its exit status and its answer.
    pub fn ask<S: AsRef<str>>(&self, arguments: &[S]) -> (i32, Value) {
        let mut process = self.environment.program(&["autopilot"]);
        process.args(words(arguments)).arg("--json");
        answer_in(&self.within(process, &[]))
    }

    /// Runs a command line of ours as a shell does, and gives its exit status and its answer.
    pub fn shell(&self, command: &str) -> (i32, Value) {
        answer_in(&self.sh(&format!("{command} --json")))
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
        process.args(["-c", command]);
        self.within(process, &[testkit::sandbox::binary().parent().unwrap()])
    }

    /// The numbers that somebody would read off the suite.
    pub fn counted(&self) -> String {
        let suite = self.suite();
        let count = |is: &dyn Fn(&str) -> bool| suite.lines().filter(|line| is(line)).count();
        let skipped = count(&|line| line.contains("# SKIP"));
        let passed = count(&|line| line.starts_with("ok ")) - skipped;
        let failed = count(&|line| line.starts_with("not ok "));
        format!("failed:{failed},passed:{passed},skipped:{skipped}")
    }

    /// Runs the tests as a person would, and gives what they print.
    pub fn suite(&self) -> String {
        let output = self.sh(&format!("{} 2>&1", self.command));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs the tests, with what they print in a file outside of the project.
    pub fn printed(&self) -> String {
        let mut paths = (1..).map(|number| self.outside().join(format!("report-{number}")));
        let path = paths.find(|path| !path.exists()).unwrap();
        fs::write(&path, self.suite()).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Hands these report files in at the next report, instead of what the runner prints.
    pub fn hand_in(&self, paths: &[&str]) {
        self.says("--report", paths);
    }

    /// Says of tests that they are taken out, at the next report.
    pub fn remove(&self, ids: &[&str]) {
        self.says("--removed", ids);
    }

    fn says(&self, option: &str, values: &[&str]) {
        let words = values.iter().flat_map(|value| [option, value]);
        self.options.borrow_mut().extend(words.map(str::to_owned));
    }

    /// The next answer has to warn of these codes, and to name what is written behind one; any other must not.
    pub fn warns(&self, codes: &[&'static str]) {
        *self.warnings.borrow_mut() = codes.to_vec();
    }

    fn evidence(&self) -> Vec<String> {
        let mut options = self.options.take();
        match self.way {
            Way::Claimed => options = vec!["--results".to_owned(), self.counted()],
            Way::Verified => options.push("--verify".to_owned()),
            Way::Reported if options.iter().any(|option| option == "--report") => {}
            Way::Reported => options.extend(["--report".to_owned(), self.printed()]),
        }
        options
    }

    /// Reports a phase, and gives exit status and answer.
    pub fn report(&self, phase: &[&str]) -> (i32, Value) {
        let mut call: Vec<String> = phase.iter().map(|&word| word.to_owned()).collect();
        if ["complete", "finalize"].contains(&phase[0]) {
            call.extend(self.evidence());
        }
        self.ask(&call)
    }

    /// Reports a phase, which is refused with this code. Gives the answer.
    pub fn refused(&self, phase: &[&str], code: &str) -> Value {
        let (status, answer) = self.report(phase);
        assert_eq!((status, code_of(&answer)), (3, code), "{answer:#}");
        answer
    }

    /// Reports a phase, which is accepted, so that this one is next.
    pub fn accept(&self, phase: &[&str], next: &str) -> Value {
        let answer = self.accepted(phase);
        assert_eq!(answer["nextAction"]["action"], next, "{answer:#}");
        self.look_at_warning(&answer);
        answer
    }

    /// Reports a phase, which is accepted, whatever it is warned about.
    pub fn accepted(&self, phase: &[&str]) -> Value {
        let (status, answer) = self.report(phase);
        assert_eq!(status, 0, "{:?} {phase:?}: {answer:#}", self.way);
        answer
    }

    /// Where the last run is kept.
    pub fn run_folder(&self) -> PathBuf {
        self.environment.runs().pop().unwrap()
    }

    /// The codes of the warnings of the last report that was accepted.
    pub fn warned(&self) -> Vec<String> {
        let journal = self.run_folder().join("activity.jsonl");
        let journal = fs::read_to_string(journal).unwrap();
        let accepted = |line: &&str| line.contains(r#""event":"report:accepted""#);
        let report = journal.lines().rfind(accepted).unwrap();
        let report: Value = serde_json::from_str(report).unwrap();
        serde_json::from_value(report["warnings"].clone()).unwrap_or_default()
    }

    fn look_at_warning(&self, answer: &Value) {
        let warned = self.warned();
        assert_eq!(answer["warning"].is_null(), warned.is_empty(), "{answer:#}");
        let told = answer["warning"].as_str().unwrap_or_default();
        let mut expected = Vec::new();
        for warning in self.warnings.take() {
            let (code, named) = warning.split_once(' ').unwrap_or((warning, ""));
            assert!(told.contains(named), "{named}: {answer:#}");
            expected.push(code);
        }
        // It accuses nobody, and depends on the language.
        let accuses = |code: &&str| *code != "not_hollowed";
        let mut codes: Vec<&str> = warned.iter().map(String::as_str).filter(accuses).collect();
        expected.sort_unstable();
        codes.sort_unstable();
        assert_eq!(codes, expected, "{:?}: {answer:#}", self.way);
    }

    /// Reports RED, which is accepted.
    pub fn red(&self) -> Value {
        // Numbers do not tell which tests it is that pass.
        let passes = |line: &str| line.starts_with("ok ") && !line.contains("# SKIP");
        if self.way == Way::Claimed && self.suite().lines().any(passes) {
            self.warnings.borrow_mut().push("red_has_passing_tests");
        }
        self.accept(RED, "green")
    }

    /// Reports GREEN, which is accepted.
    pub fn green(&self) -> Value {
        self.accept(GREEN, "commit")
    }

    /// Makes the commit, behind which nothing is left in the working tree. Gives its files.
    pub fn commit(&self) -> Vec<String> {
        let answer = self.tm(COMMIT);
        self.look_at_warning(&answer);
        assert_eq!(self.git(&["status", "--porcelain"]), "", "{answer:#}");
        serde_json::from_value(answer["files"].clone()).unwrap()
    }

    /// Reports the suite at the end, and has the run completed.
    pub fn finalize(&self) -> Value {
        let answer = self.accept(FINALIZE, "complete");
        assert_eq!(answer["nextAction"]["status"], "completed", "{answer:#}");
        answer
    }

    /// The rest of a run from its last commit on, and from its last GREEN on.
    pub fn ends(&self) {
        self.commit();
        self.finalize();
    }

    pub fn goes_through(&self) {
        self.green();
        self.ends();
    }

    /// Goes one phase back, to this one.
    pub fn reopen(&self, to: &str) {
        let answer = self.tm(&["reopen", "--reason", &format!("back to {to}")]);
        assert_eq!(answer["nextAction"]["action"], to, "{answer:#}");
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

fn answer_in(output: &Output) -> (i32, Value) {
    let answer = serde_json::from_slice(&output.stdout);
    let answer = answer.unwrap_or_else(|error| panic!("{error}: {output:?}"));
    (output.status.code().unwrap(), answer)
}

/// The code of a refusal.
pub fn code_of(answer: &Value) -> &str {
    let error = answer.get("error").unwrap_or(answer);
    error["code"].as_str().unwrap_or_default()
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

/// Where programs are looked for: the toolchain that the tests were built with comes first, since there is no home to choose one
/// from.
fn own_path() -> Vec<PathBuf> {
    let cargo = Path::new(env!("CARGO")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::split_paths(&path);
    [cargo.to_owned()].into_iter().chain(path).collect()
}
