//! A small project with a runner of its own, which really runs its tests, and the reports that it writes.

use std::fs;
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::rails::advice;
use crate::rails::environment::{TASKS, TestEnvironment};
use crate::rails::terminal::agreed;
use testkit::Outcome;

/// Runs each function `test_…` of each `tests/*_test.sh` and tells in TAP what it did: status 77 skips. With
/// `JUNIT` it tells the same in that file as XML, and with `RETRY` tries once more what failed.
const RUNNER: &str = r#"echo "TAP version 14"
n=0
bad=0
cases=
attempt() {
  (
    for part in src/*.sh; do [ ! -f "$part" ] || . "./$part"; done
    . "./$1"
    "$2"
  ) >/dev/null 2>&1
}
for file in tests/*_test.sh; do
  [ -f "$file" ] || continue
  class=$(basename "$file" _test.sh)
  for name in $(sed -n 's/^\(test_[a-z0-9_]*\)().*/\1/p' "$file"); do
    n=$((n + 1))
    attempt "$file" "$name"
    status=$?
    inside=
    case $status in
      0) echo "ok $n - $class $name" ;;
      77) echo "ok $n - $class $name # SKIP not here"; inside="<skipped/>" ;;
      *)
        if [ -n "$RETRY" ] && attempt "$file" "$name"; then
          echo "ok $n - $class $name"
          inside='<flakyFailure message="at first"/>'
        else
          echo "not ok $n - $class $name"
          bad=1
          inside="<failure message=\"status $status\"/>"
        fi
        ;;
    esac
    cases="$cases<testcase classname=\"$class\" name=\"$name\">$inside</testcase>
"
  done
done
echo "1..$n"
[ -z "$JUNIT" ] ||
  printf '<?xml version="1.0"?>\n<testsuites><testsuite name="all" tests="%s">\n%s</testsuite></testsuites>\n' "$n" "$cases" >"$JUNIT"
exit $bad
"#;

/// What the project begins with: two tests, both of which pass.
pub const OLD_TESTS: &str = "test_one() { test \"$(words one)\" = 1; }
test_two() { test \"$(words one two)\" = 2; }
";

/// Where the old tests are, the test of the first subtask, and what makes it pass.
pub const WORDS: &str = "tests/words_test.sh";
pub const SPACES: &str = "tests/spaces_test.sh";
pub const CODE: &str = "src/spaces.sh";

pub const RED: &str = "complete red";
pub const GREEN: &str = "complete green";
pub const VERIFIED_RED: &str = "complete red --verify";
pub const VERIFIED_GREEN: &str = "complete green --verify";

/// GREEN of the first subtask in numbers.
pub const CLAIM: &str = "complete green --results passed:3,failed:0";

/// A project in which a cheat is played.
pub struct Stage {
    env: TestEnvironment,
}

impl Deref for Stage {
    type Target = TestEnvironment;

    fn deref(&self) -> &TestEnvironment {
        &self.env
    }
}

impl Stage {
    /// A project of any kind.
    pub fn of(env: TestEnvironment) -> Self {
        fs::create_dir(env.folder().join("reports")).unwrap();
        env.note_quick_tests();
        Self { env }
    }

    /// The project, before a run; `settings` are members of its settings beside `test`.
    pub fn new(settings: &str) -> Self {
        Self::with(settings, &[])
    }

    /// The same with more files.
    pub fn with(settings: &str, files: &[(&str, &str)]) -> Self {
        Self::with_test(r#""command": "sh run.sh""#, settings, files)
    }

    /// The same with members of `test`.
    pub fn with_test(test: &str, settings: &str, files: &[(&str, &str)]) -> Self {
        let more = if settings.is_empty() { "" } else { ", " };
        let config = format!(r#"{{"test": {{"patterns": ["tests/**"], {test}}}{more}{settings}}}"#);
        Self::at(&format!("begun: {config} {files:?}"), || {
            let stage = Self::of(TestEnvironment::with(TASKS, &config));
            stage.write("run.sh", RUNNER);
            stage.write(WORDS, OLD_TESTS);
            stage.write("src/words.sh", "words() { echo $#; }\n");
            for (path, text) in files {
                stage.write(path, text);
            }
            stage.commit_all("Words");
            stage
        })
    }

    fn at(point: &str, come: impl FnOnce() -> Self) -> Self {
        let env = TestEnvironment::at(&format!("evidence {point}"), || come().env);
        Self { env }
    }

    /// With a run of task 1 that knows what passed before.
    pub fn started(settings: &str) -> Self {
        Self::at(&format!("started: {settings}"), || {
            let stage = Self::new(settings);
            stage.start();
            stage
        })
    }

    /// Begins the run, with the suite run as it is.
    pub fn start(&self) {
        self.auto("start 1 --verify").ok();
    }

    /// Begins the run with these options, and writes the new test.
    pub fn begin(&self, options: &str) -> Value {
        let started = self.auto(&format!("start 1 {options}")).ok();
        self.test("spaces");
        started
    }

    /// In GREEN, whose code is written and not reported yet.
    pub fn coded() -> Self {
        Self::at("coded", || {
            let stage = Self::started("");
            stage.red();
            stage.code("spaces");
            stage
        })
    }

    /// A path beside the project.
    pub fn outside(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// A path of the project.
    pub fn path(&self, name: &str) -> PathBuf {
        self.project().join(name)
    }

    /// Deletes a file of the project.
    pub fn delete(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    /// Makes a file of the project one that can be run.
    pub fn make_executable(&self, name: &str) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Writes a test that wants a function to say its own name.
    pub fn test(&self, name: &str) {
        let test = format!("test_{name}() {{ test \"$({name})\" = {name}; }}\n");
        self.write(&format!("tests/{name}_test.sh"), test);
    }

    /// Writes a function that says its own name.
    pub fn code(&self, name: &str) {
        let code = format!("{name}() {{ echo {name}; }}\n");
        self.write(&format!("src/{name}.sh"), code);
    }

    /// Tests and code are what they are at their best.
    pub fn restore(&self) {
        self.write(WORDS, OLD_TESTS);
        self.test("spaces");
        self.code("spaces");
    }

    /// A report that is not there yet, with this text.
    pub fn written(&self, text: impl AsRef<[u8]>) -> PathBuf {
        let mut paths = (1..).map(|number| self.outside(&format!("reports/{number}")));
        let path = paths.find(|path| !path.exists()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Runs the suite, and gives what it printed, in a file.
    pub fn suite(&self) -> PathBuf {
        let output = self.process("sh").arg("run.sh").output().unwrap();
        self.written(output.stdout)
    }

    /// Runs the suite, and gives its report in XML.
    pub fn junit(&self) -> PathBuf {
        let path = self.written("");
        self.junit_at(&path);
        path
    }

    /// The same at a path of choice.
    pub fn junit_at(&self, path: &Path) {
        let mut suite = self.process("sh");
        suite.arg("run.sh").env("JUNIT", path).env("RETRY", "1");
        suite.output().unwrap();
    }

    /// Hands in what the suite says now.
    pub fn report(&self, words: &str) -> Outcome {
        self.hand_in(words, &self.suite())
    }

    /// Hands in a report.
    pub fn hand_in(&self, words: &str, report: &Path) -> Outcome {
        self.auto(&with_report(words, report))
    }

    /// What the suite says now accuses nobody.
    pub fn accepts(&self, words: &str) -> Value {
        accepted(self.report(words).ok())
    }

    /// Neither does this report.
    pub fn takes(&self, words: &str, report: &Path) -> Value {
        accepted(self.hand_in(words, report).ok())
    }

    /// Nor what is said in these words.
    pub fn accepted(&self, words: &str) -> Value {
        accepted(self.auto(words).ok())
    }

    /// The new test, and RED.
    pub fn red(&self) -> Value {
        self.test("spaces");
        self.accepts(RED)
    }

    /// The code, and GREEN.
    pub fn green(&self) -> Value {
        self.code("spaces");
        self.accepts(GREEN)
    }

    /// RED, GREEN and COMMIT of a subtask with this name.
    pub fn subtask(&self, name: &str) {
        self.test(name);
        self.accepts(RED);
        self.code(name);
        self.accepts(GREEN);
        self.auto("commit").ok();
    }

    /// The journal holds this text.
    pub fn has_journalled(&self, text: &str) {
        let journal = String::from_utf8(self.journal()).unwrap();
        assert!(journal.contains(text), "{text}: {journal}");
    }

    /// A call that a rule forbids: its code and what it names; the run has not moved.
    pub fn refused(&self, words: &str, code: &str, names: &[&str]) -> Outcome {
        let before = (self.journal(), self.head());
        let answer = self.auto(words);
        let is_refused = (answer.code(), answer.status) == (code, 3);
        assert!(is_refused, "{words} is not {code}: {answer:#?}");
        assert!(before == (self.journal(), self.head()), "it moved: {words}");
        advice::check(self, &answer);
        let told = format!("{} {}", answer.message(), answer.json()["details"]);
        for name in names {
            assert!(told.contains(name), "{name}: {answer:#?}");
        }
        let refusals = fs::read_to_string(self.run_folder().join("refusals.jsonl")).unwrap();
        let last = refusals.lines().last().unwrap();
        assert!(last.contains(code), "{refusals}");
        answer
    }

    /// The same for a report.
    pub fn hand_in_refused(&self, words: &str, report: &Path, code: &str, names: &[&str]) {
        self.refused(&with_report(words, report), code, names);
    }

    /// The same for what the suite says now.
    pub fn report_refused(&self, words: &str, code: &str, names: &[&str]) -> Outcome {
        self.refused(&with_report(words, &self.suite()), code, names)
    }

    /// A person at a terminal lets a refusal pass, by the commands of this group.
    pub fn allow(&self, group: &str, code: &str) {
        let arguments = [group, "allow", code, "--reason", "looked at it"];
        let (status, shown) = agreed(self, &arguments);
        assert_eq!(status, 0, "{shown}");
    }

    /// Goes back one phase.
    pub fn reopen(&self) {
        self.auto("reopen --reason wrong").ok();
    }

    /// The files of the last commit.
    pub fn committed(&self) -> String {
        let show = ["show", "--name-only", "--no-renames", "--format=", "HEAD"];
        self.git(&show)
            .replace(".taskmaster/tasks/tasks.json\n", "")
    }
}

/// Sets when a file was written, in seconds before now.
pub fn set_age(path: &Path, seconds: u64) {
    set_written(path, SystemTime::now() - Duration::from_secs(seconds));
}

/// The same in seconds from now.
pub fn set_later(path: &Path, seconds: u64) {
    set_written(path, SystemTime::now() + Duration::from_secs(seconds));
}

fn set_written(path: &Path, at: SystemTime) {
    fs::File::open(path).unwrap().set_modified(at).unwrap();
}

/// The words of a call, and a report.
pub fn with_report(words: &str, report: &Path) -> String {
    format!("{words} --report {}", report.display())
}

/// An answer that accuses nobody.
pub fn accepted(answer: Value) -> Value {
    assert_eq!(answer["validated"], true, "{answer:#}");
    let warning = answer["warning"].as_str().unwrap_or_default();
    let harmless = [
        "Tests pass, too: numbers do not tell",
        "The tests were not tried in a fresh checkout",
    ];
    let harmless = warning.is_empty() || harmless.iter().any(|told| warning.starts_with(told));
    assert!(harmless && !warning.contains(';'), "{answer:#}");
    answer
}

/// An answer warns, and says this.
pub fn warns(answer: &Value, told: &str) {
    let warning = answer["warning"].as_str().unwrap_or_default();
    assert!(warning.contains(told), "{told}: {answer:#}");
}
