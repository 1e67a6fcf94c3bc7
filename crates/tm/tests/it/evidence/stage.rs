//! A small project with a runner of its own, which really runs its tests, and the reports that it writes.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::rails::advice;
use crate::rails::environment::{TASKS, TestEnvironment, autopilot};
use crate::rails::terminal::agreed;
use testkit::Outcome;

/// Runs each function `test_…` of each `tests/*_test.sh` and tells in TAP what it did: status 77 skips, 78 is still to be
/// done. With `JUNIT` it tells the same in that file as XML, and with `RETRY` tries once more what failed.
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
      78) echo "not ok $n - $class $name # TODO some day"; inside="<skipped/>" ;;
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
if [ -n "$JUNIT" ]; then
  printf '<?xml version="1.0"?>\n<testsuites><testsuite name="all" tests="%s">\n%s</testsuite></testsuites>\n' "$n" "$cases" >"$JUNIT"
fi
exit $bad
"#;

/// What the project begins with: two tests, both of which pass.
const OLD_TESTS: &str = "test_one() { test \"$(words one)\" = 1; }
test_two() { test \"$(words one two)\" = 2; }
";

/// The test of the first subtask.
pub const NEW_TESTS: &str = "test_spaces() { test \"$(spaces a b)\" = 1; }
";

/// What makes it pass.
pub const NEW_CODE: &str = "spaces() { echo $(($# - 1)); }
";

/// A project in which a cheat is played.
pub struct Stage {
    /// Home, repository and binary.
    pub env: TestEnvironment,
    reports: Cell<u32>,
}

impl Stage {
    /// The project, before a run; `settings` are members of its settings beside `test`.
    pub fn new(settings: &str) -> Self {
        Self::with_test(r#""patterns": ["tests/**"]"#, settings)
    }

    /// The same with the members of `test`, too.
    pub fn with_test(test: &str, settings: &str) -> Self {
        let more = if settings.is_empty() { "" } else { ", " };
        let config = format!(r#"{{"test": {{"command": "sh run.sh", {test}}}{more}{settings}}}"#);
        let env = TestEnvironment::with(TASKS, &config);
        env.write("run.sh", RUNNER);
        env.write("tests/words_test.sh", OLD_TESTS);
        env.write("src/words.sh", "words() { echo $#; }\n");
        env.commit_all("Words");
        let stage = Self {
            env,
            reports: Cell::new(0),
        };
        fs::create_dir(stage.outside("reports")).unwrap();
        stage
    }

    /// With a run of task 1 that knows what passed before.
    pub fn started() -> Self {
        Self::started_with("")
    }

    /// The same with settings.
    pub fn started_with(settings: &str) -> Self {
        let stage = Self::new(settings);
        stage.start();
        stage
    }

    /// Begins the run, with a report of the suite as it is.
    pub fn start(&self) -> Value {
        let report = self.suite();
        let report = report.to_str().unwrap();
        self.env
            .tm(&["autopilot", "start", "1", "--baseline-report", report])
            .ok()
    }

    /// In GREEN, whose code is not written yet.
    pub fn in_green() -> Self {
        Self::in_green_with("")
    }

    /// The same with settings.
    pub fn in_green_with(settings: &str) -> Self {
        let stage = Self::started_with(settings);
        stage.red();
        stage
    }

    /// In COMMIT.
    pub fn in_commit() -> Self {
        let stage = Self::in_green();
        stage.green();
        stage
    }

    /// A path beside the project.
    pub fn outside(&self, name: &str) -> PathBuf {
        self.env.folder().join(name)
    }

    /// A path of a report that is not there yet.
    pub fn next_report(&self) -> PathBuf {
        self.reports.set(self.reports.get() + 1);
        self.outside(&format!("reports/{}", self.reports.get()))
    }

    /// Runs the suite, and gives what it printed, in a file.
    pub fn suite(&self) -> PathBuf {
        let path = self.next_report();
        let output = self.env.process("sh").arg("run.sh").output().unwrap();
        fs::write(&path, output.stdout).unwrap();
        path
    }

    /// Runs the suite, and gives its report in XML.
    pub fn junit(&self) -> PathBuf {
        let path = self.next_report();
        self.junit_at(&path);
        path
    }

    /// The same at a path of choice.
    pub fn junit_at(&self, path: &Path) {
        self.env
            .process("sh")
            .arg("run.sh")
            .env("JUNIT", path)
            .env("RETRY", "1")
            .output()
            .unwrap();
    }

    /// Hands in what the suite says now.
    pub fn report(&self, words: &str) -> Outcome {
        self.hand_in(words, &self.suite())
    }

    /// Hands in a report.
    pub fn hand_in(&self, words: &str, report: &Path) -> Outcome {
        self.env.tm(&with_report(words, report))
    }

    /// The new test, and RED.
    pub fn red(&self) -> Value {
        self.env.write("tests/spaces_test.sh", NEW_TESTS);
        accepted(self.report("complete red").ok())
    }

    /// The code, and GREEN.
    pub fn green(&self) -> Value {
        self.env.write("src/spaces.sh", NEW_CODE);
        accepted(self.report("complete green").ok())
    }

    /// RED, GREEN and COMMIT of a subtask with this name.
    pub fn subtask(&self, name: &str) {
        self.env.write(
            &format!("tests/{name}_test.sh"),
            format!("test_{name}() {{ test \"$({name})\" = {name}; }}\n"),
        );
        accepted(self.report("complete red").ok());
        self.env.write(
            &format!("src/{name}.sh"),
            format!("{name}() {{ echo {name}; }}\n"),
        );
        accepted(self.report("complete green").ok());
        self.env.auto("commit").ok();
    }

    /// A report that a rule forbids: code and status, what the message names, what the suggestion names, and that the run
    /// has not moved.
    pub fn refused(
        &self,
        arguments: &[&str],
        code: &str,
        names: &[&str],
        way_out: &str,
    ) -> Outcome {
        let before = self.env.journal();
        let answer = self.env.tm(arguments);
        assert_eq!((answer.code(), answer.status), (code, 3), "{answer:#?}");
        assert!(
            before == self.env.journal(),
            "the run has moved: {arguments:?}"
        );
        advice::check(&self.env, &answer);
        for name in names {
            assert!(answer.message().contains(name), "{name}: {answer:#?}");
        }
        assert!(
            answer.suggestion().contains(way_out),
            "{way_out}: {answer:#?}"
        );
        let refusals = fs::read_to_string(self.env.run_folder().join("refusals.jsonl")).unwrap();
        assert!(
            refusals.lines().last().unwrap().contains(code),
            "{refusals}"
        );
        answer
    }

    /// The same for what the suite says now.
    pub fn report_refused(
        &self,
        words: &str,
        code: &str,
        names: &[&str],
        way_out: &str,
    ) -> Outcome {
        let report = self.suite();
        self.refused(&with_report(words, &report), code, names, way_out)
    }

    /// A person at a terminal lets a refusal pass.
    pub fn allow(&self, code: &str) {
        self.allow_by("autopilot", code);
    }

    /// The same by the commands of this group.
    pub fn allow_by(&self, group: &str, code: &str) {
        let arguments = [group, "allow", code, "--reason", "looked at it"];
        let (status, shown) = agreed(&self.env, &arguments);
        assert_eq!(status, 0, "{shown}");
    }

    /// Goes back one phase.
    pub fn reopen(&self) {
        let back = ["autopilot", "reopen", "--reason", "the test was wrong"];
        self.env.tm(&back).ok();
    }

    /// A path of the project.
    pub fn path(&self, name: &str) -> PathBuf {
        self.env.project().join(name)
    }
}

/// Sets when a file was written, in seconds before now.
pub fn set_age(path: &Path, seconds: u64) {
    let written = SystemTime::now() - Duration::from_secs(seconds);
    let file = fs::File::options().append(true).open(path).unwrap();
    file.set_modified(written).unwrap();
}

/// The words of a call, and a report.
pub fn with_report<'a>(words: &'a str, report: &'a Path) -> Vec<&'a str> {
    let mut arguments = autopilot(words);
    arguments.extend(["--report", report.to_str().unwrap()]);
    arguments
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
