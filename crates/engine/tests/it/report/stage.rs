//! A repository with a run over a task in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use engine::report::{Meaning, Report};
use engine::view::AUTOPILOT;
use engine::view::autopilot::request::{Evidence, Start};
use engine::{Engine, Verdict};
use serde_json::{Value, json};

/// Runs each file of tests, and tells of it in TAP. The name of a test is what its file's first line has after `# `.
const RUNNER: &str = r#"n=0
for file in tests/*.sh; do
  n=$((n + 1))
  name=$(sed -n '1s/^# //p' "$file")
  if sh "$file" >/dev/null 2>&1; then echo "ok $n - $name"; else echo "not ok $n - $name"; fi
done
echo "1..$n"
"#;

const TASKS: &str = r#"{
  "master": { "tasks": [
    { "id": 1, "title": "Count the words", "status": "pending", "subtasks": [
      { "id": 1, "title": "Count by spaces", "status": "pending" },
      { "id": 2, "title": "Count by tabs", "status": "pending", "dependencies": [1] }
    ] }
  ] }
}
"#;

/// A project in folders of its own.
pub struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    /// A repository with a test that passes and one that fails.
    pub fn new() -> Self {
        let stage = Self {
            folder: testkit::folder(),
        };
        stage.write(".taskmaster/tasks/tasks.json", TASKS);
        stage.write(
            ".taskmaster/config.json",
            r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"]}}"#,
        );
        stage.write("run.sh", RUNNER);
        stage.write(".gitignore", "build/\n");
        stage.write("tests/adds.sh", "# adds\ntrue\n");
        stage.write("tests/old.sh", "# fails since long ago\nfalse\n");
        stage.git(&["init", "--quiet", "--template=", "--initial-branch=main"]);
        for (name, value) in [
            ("user.name", "Somebody"),
            ("user.email", "somebody@localhost"),
            ("commit.gpgSign", "false"),
            ("core.hooksPath", ".git/hooks"),
        ] {
            stage.git(&["config", name, value]);
        }
        stage.commits_all();
        stage
    }

    /// Commits everything by hand.
    pub fn commits_all(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "More"]);
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// The same with another file, committed before the run.
    pub fn with(self, path: &str, change: impl Fn(&str) -> String) -> Self {
        let text = fs::read_to_string(self.project().join(path)).unwrap_or_default();
        self.write(path, &change(&text));
        self.commits_all();
        self
    }

    pub fn engine(&self) -> Engine {
        crate::engine(self.folder.path(), "store")
    }

    pub fn write(&self, path: &str, text: &str) {
        testkit::files::write(&self.project().join(path), text);
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        crate::git(self.folder.path(), arguments)
    }

    /// Runs the tests as an executor would, and keeps what they print.
    pub fn run_tests(&self, report: &str) {
        let ran = Command::new("sh")
            .arg("run.sh")
            .current_dir(self.project())
            .output()
            .unwrap();
        self.write(report, &String::from_utf8(ran.stdout).unwrap());
    }

    /// Begins a run of the task; with `verify` the suite is run before.
    pub fn start(&self, verify: bool) {
        let start = Start {
            task_id: Some("1".to_owned()),
            verify,
            ..Start::default()
        };
        self.engine().start(&start).unwrap();
    }

    fn record(&self, report: &Report, meaning: Meaning) -> Verdict {
        let recorded = self
            .engine()
            .record_report(&AUTOPILOT, None, report, meaning);
        recorded.unwrap()
    }

    /// Reports a phase.
    pub fn tell(&self, phase: &str, evidence: Evidence) -> Verdict {
        let report = Report {
            state: Some(phase.to_owned()),
            evidence,
            ..Report::default()
        };
        self.record(&report, Meaning::Tests)
    }

    /// Reports a phase, which must be accepted.
    pub fn accepted(&self, phase: &str, evidence: Evidence) {
        let verdict = self.tell(phase, evidence);
        assert!(verdict.validated, "{verdict:?}");
    }

    /// Does a subtask, as far as COMMIT, whose numbers are those that the executor gives.
    pub fn claims(&self, name: &str) {
        self.write(&format!("tests/{name}.sh"), "false\n");
        self.accepted("red", Evidence::claimed("failed:1,passed:1"));
        self.write(&format!("src/{name}.sh"), "true\n");
        self.accepted("green", Evidence::claimed("failed:0,passed:3"));
    }

    /// The same, whose tests are run.
    pub fn proves(&self, name: &str) {
        let test = format!("# counts {name}\ntest -e src/{name}.sh\n");
        self.write(&format!("tests/{name}.sh"), &test);
        self.accepted("red", verified());
        self.write(&format!("src/{name}.sh"), "true\n");
        self.accepted("green", verified());
    }

    pub fn commit(&self) {
        let made = self.record(&Report::default(), Meaning::Commit);
        assert!(made.validated, "{made:?}");
    }

    /// Ends the run, and gives the report as it is told then.
    pub fn finalize(&self, evidence: Evidence) -> String {
        let report = Report {
            evidence,
            ..Report::default()
        };
        let done = self.record(&report, Meaning::Suite);
        done.report.expect("a run that is over")
    }

    /// The report as of now.
    pub fn report(&self) -> (Value, String) {
        let report = self.engine().report(None).unwrap();
        (report.json, report.markdown)
    }

    /// Whether the run keeps a piece of evidence with this hash.
    pub fn keeps(&self, hash: &str) -> bool {
        let store = testkit::files::contents(&self.folder.path().join("store"));
        store.keys().any(|path| path.ends_with(hash))
    }
}

/// The test command is to be run.
pub fn verified() -> Evidence {
    Evidence {
        verify: true,
        ..Evidence::default()
    }
}

/// A report was written.
pub fn reported(path: &str) -> Evidence {
    Evidence {
        reports: vec![path.into()],
        ..Evidence::default()
    }
}

/// A value without what is another each time.
pub fn steady(value: &Value) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| {
                let value = match (key.as_str(), value) {
                    ("durationMs" | "written", _) => json!(0),
                    ("at", _) => json!("AT"),
                    ("path", Value::String(path)) => {
                        json!(Path::new(path).file_name().unwrap().to_str())
                    }
                    _ => steady(value),
                };
                (key.clone(), value)
            })
            .collect(),
        Value::Array(list) => list.iter().map(steady).collect(),
        Value::String(text) => Value::from(steady_text(text)),
        other => other.clone(),
    }
}

/// The same of a text: hashes and times.
pub fn steady_text(text: &str) -> String {
    let mut out = String::new();
    for token in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let word = token.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_hash =
            matches!(word.len(), 12 | 40 | 64) && word.chars().all(|c| c.is_ascii_hexdigit());
        let number = word.trim_end_matches(['m', 's', 'h']);
        let is_time = number.len() < word.len() && number.parse::<u64>().is_ok();
        out.push_str(match (is_hash, is_time) {
            (true, _) => "HASH",
            (_, true) => "TIME",
            _ => word,
        });
        out.push_str(&token[word.len()..]);
    }
    out.replace("TIME TIME", "TIME")
}

/// A page without what is another each time.
pub fn steady_page(page: &str, json: &Value) -> String {
    let mut page = page.to_owned();
    for (name, stands) in [("runId", "RUN"), ("startTime", "BEGUN")] {
        page = page.replace(json[name].as_str().unwrap(), stands);
    }
    steady_text(&page)
}
