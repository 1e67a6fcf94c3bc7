//! What a report rests on: numbers, a runner's own report, or a run of the tests, each by its flags.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::environment::TestEnvironment;

/// Runs every file of `tests`, and prints what became of it as TAP.
const RUNNER: &str = r#"n=0
echo "TAP version 13"
for test in tests/*.sh; do
    n=$((n + 1))
    if sh "$test"; then echo "ok $n - $test"; else echo "not ok $n - $test"; fi
done
echo "1..$n"
"#;

/// A repository whose tests print TAP, with one that passes.
fn project(settings: &str) -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write("run.sh", RUNNER);
    environment.write("tests/old.sh", "true\n");
    environment.write(".taskmaster/config.json", settings);
    environment.git(&["add", "--all"]);
    environment.git(&["commit", "--quiet", "--message", "Tests"]);
    environment
}

const PLAIN: &str = r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"]}}"#;

/// A file that was made by the real tool.
fn made(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../test-report/tests/it/corpus")
        .join(name)
}

trait Reporting {
    fn start(&self, arguments: &[&str]) -> Value;
    fn complete(&self, status: i32, arguments: &[&str]) -> Value;
    fn tested(&self, report: &str);
}

impl Reporting for TestEnvironment {
    fn start(&self, arguments: &[&str]) -> Value {
        let start = ["autopilot", "start", "1", "--json"];
        self.tm(&[&start, arguments].concat()).json_with(0)
    }

    fn complete(&self, status: i32, arguments: &[&str]) -> Value {
        let complete = ["autopilot", "complete", "--json"];
        self.tm(&[&complete, arguments].concat()).json_with(status)
    }

    /// Runs the tests as an agent would, and keeps what they print.
    fn tested(&self, report: &str) {
        let output = self.process("sh").arg("run.sh").output().unwrap();
        self.write(report, String::from_utf8(output.stdout).unwrap());
    }
}

/// The journal's line of the last accepted report.
fn accepted(environment: &TestEnvironment) -> Value {
    let journal = std::fs::read_to_string(environment.journal_path()).unwrap();
    let line = journal
        .lines()
        .rev()
        .find(|line| line.contains("\"report:accepted\""))
        .expect("a report was accepted");
    serde_json::from_str(line).unwrap()
}

#[test]
fn a_subtask_on_reports_of_its_runner() {
    let environment = project(PLAIN);
    environment.tested("before.tap");
    std::fs::rename(
        environment.project().join("before.tap"),
        environment.home().join("before.tap"),
    )
    .unwrap();
    let before = environment.home().join("before.tap");
    environment.start(&["--baseline-report", before.to_str().unwrap()]);
    environment.write("tests/words.sh", "test -f words\n");
    environment.tested("out.tap");
    let red = environment.complete(0, &["red", "--report", "out.tap"]);
    let warning = red["warning"].as_str().unwrap_or_default();
    assert!(!warning.contains("not known"), "{red}");
    let journal = accepted(&environment).to_string();
    assert!(journal.contains("\"level\":\"reported\""), "{journal}");
    assert!(journal.contains("tests/words.sh"), "{journal}");

    let stale = environment.complete(3, &["green", "--report", "out.tap"]);
    assert_eq!(stale["code"], "stale_report", "{stale}");
    environment.write("words", "");
    environment.tested("out.tap");
    let green = environment.complete(0, &["green", "--report", "out.tap"]);
    assert_eq!(green["validated"], true, "{green}");
    let commit = environment
        .tm(&["autopilot", "commit", "--json"])
        .json_with(0);
    let files = commit["files"].to_string();
    assert!(
        files.contains("words") && !files.contains("out.tap"),
        "{files}"
    );
}

#[test]
fn without_a_baseline_the_first_red_says_so() {
    let environment = project(PLAIN);
    environment.start(&[]);
    environment.write("tests/words.sh", "test -f words\n");
    environment.tested("out.tap");
    let red = environment.complete(0, &["--report", "out.tap"]);
    let warning = red["warning"].as_str().unwrap_or_default();
    assert!(warning.contains("not known"), "{red}");
}

#[test]
fn tests_that_are_run_here() {
    let environment = project(PLAIN);
    environment.start(&["--verify"]);
    environment.write("tests/words.sh", "test -f words\n");
    environment.complete(0, &["red", "--verify"]);
    assert!(
        accepted(&environment)
            .to_string()
            .contains("\"level\":\"verified\"")
    );
    let retry = environment.complete(3, &["green", "--verify"]);
    assert_eq!(retry["code"], "green_tests_still_failing", "{retry}");
    environment.write("words", "");
    environment.complete(0, &["green", "--verify"]);
    environment
        .tm(&["autopilot", "commit", "--json"])
        .json_with(0);
    environment
        .tm(&["autopilot", "skip", "--reason", "not wanted", "--json"])
        .json_with(0);
    let end = environment.tm(&["autopilot", "finalize", "--verify", "--json"]);
    assert_eq!(end.status, 0, "{end:?}");
}

#[test]
fn settings_may_ask_for_more_than_numbers() {
    let asking = |level: &str| {
        PLAIN.replacen(
            '{',
            &format!("{{\"evidence\": {{\"require\": \"{level}\"}}, "),
            1,
        )
    };
    let environment = project(&asking("reported"));
    environment.start(&[]);
    environment.write("tests/words.sh", "test -f words\n");
    let weak = environment.complete(3, &["red", "--results", "failed:1,passed:1"]);
    assert_eq!(weak["code"], "evidence_too_weak", "{weak}");
    assert!(weak["suggestion"].as_str().unwrap().contains("--report"));
    environment.complete(0, &["red", "--verify"]);

    let environment = project(&asking("verified"));
    environment.trust(&["config", "trust"]);
    environment.start(&[]);
    environment.write("tests/words.sh", "test -f words\n");
    environment.complete(0, &["red"]);
    assert!(
        accepted(&environment)
            .to_string()
            .contains("\"level\":\"verified\"")
    );
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_looked_at() {
    let environment = project(PLAIN);
    environment.start(&[]);
    let results = "failed:1,passed:0";
    for arguments in [
        &["complete", "--results", results, "--report", "run.sh"][..],
        &["complete", "--results", results, "--verify"],
        &["complete", "--results", results, "--format", "tap"],
        &["complete", "--results", results, "--removed", "a"],
        &[
            "complete",
            "--report",
            "x",
            "--coverage",
            "9",
            "--coverage-report",
            "y",
        ],
        &["complete", "--report", "x", "--format", "nonsense"],
        &["complete", "--report"],
        &["finalize", "--results", results, "--verify"],
        &["start", "1", "--format", "tap"],
        &["start", "1", "--baseline-report", "x", "--format", "lcov"],
    ] {
        let ran = environment.tm(&[&["autopilot", "--json"], arguments].concat());
        assert_eq!(ran.json_with(2)["error"]["code"], "usage", "{arguments:?}");
    }
    for (arguments, code) in [
        (&[][..], "no_results"),
        (&["--coverage", "92"], "no_results"),
        (&["--report", "nowhere.xml"], "report_missing"),
        (&["--report", "tests"], "report_missing"),
        (&["--report", "run.sh"], "report_unreadable"),
        (
            &["--report", "run.sh", "--format", "junit"],
            "report_unreadable",
        ),
        (&["--report", "/dev/zero"], "report_unreadable"),
    ] {
        let answer = environment.complete(2, arguments);
        assert_eq!(answer["error"]["code"], code, "{arguments:?}: {answer}");
        assert!(!answer["error"]["suggestion"].as_str().unwrap().is_empty());
    }
}

#[test]
fn a_folder_and_several_files_are_one_report() {
    let environment = project(PLAIN);
    environment.start(&[]);
    environment.write("tests/words.sh", "false\n");
    environment.write("out/a.tap", "TAP version 13\n1..1\nok 1 - a\n");
    environment.write("out/b.tap", "TAP version 13\n1..1\nnot ok 1 - b\n");
    environment.write("out/notes.txt", "nothing of tests\n");
    environment.write("c.tap", "TAP version 13\n1..1\nok 1 - c\n");
    environment.complete(
        0,
        &["--report", "out", "--report", "c.tap", "--format", "tap"],
    );
    let line = accepted(&environment);
    assert_eq!(line["facts"]["passed"], 2, "{line}");
    assert_eq!(line["facts"]["failed"], 1, "{line}");
}

#[test]
fn a_test_that_was_taken_out_on_purpose_is_named() {
    let environment = project(PLAIN);
    environment.start(&["--verify"]);
    std::fs::remove_file(environment.project().join("tests/old.sh")).unwrap();
    environment.write("tests/words.sh", "test -f words\n");
    environment.write("tests/lines.sh", "true\n");
    environment.complete(0, &["red", "--verify"]);
    environment.write("words", "");
    let missing = environment.complete(3, &["green", "--verify"]);
    assert_eq!(missing["code"], "tests_missing", "{missing}");
    assert!(
        missing["message"]
            .as_str()
            .unwrap()
            .contains("tests/old.sh")
    );
    environment.complete(3, &["green", "--verify", "--removed", "tests/ol"]);
    environment.complete(0, &["green", "--verify", "--removed", "tests/ol*"]);
}

#[test]
fn coverage_may_come_from_its_tool() {
    let environment = project(
        r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"], "coverageThresholds": {"lines": 80}}}"#,
    );
    environment.start(&[]);
    environment.write("tests/words.sh", "test -f words\n");
    environment.complete(0, &["red", "--verify"]);
    environment.write("words", "");
    let covered = |line: u8| {
        format!(
            "SF:words\nDA:1,1\nDA:2,{line}\nLF:2\nLH:{}\nend_of_record\n",
            1 + line
        )
    };
    environment.write("lcov.info", covered(0));
    let under = environment.complete(3, &["green", "--verify", "--coverage-report", "lcov.info"]);
    assert_eq!(under["code"], "coverage_below_threshold", "{under}");
    assert!(
        under["message"].as_str().unwrap().contains("50%"),
        "{under}"
    );
    environment.write("lcov.info", covered(1));
    environment.complete(0, &["green", "--verify", "--coverage-report", "lcov.info"]);
}

#[test]
fn cargo_is_run_and_understood() {
    let environment = TestEnvironment::new();
    environment.write(
        "Cargo.toml",
        "[package]\nname = \"words\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n",
    );
    environment.write("src/lib.rs", "pub fn words(_: &str) -> usize {\n    0\n}\n");
    environment.write(".gitignore", "/target\n/Cargo.lock\n");
    // The toolchain of this test, without whatever chooses one by the home.
    let tools = Path::new(env!("CARGO")).parent().unwrap().display();
    environment.write(
        ".taskmaster/config.json",
        format!(
            r#"{{"test": {{"command": "PATH={tools}:/usr/bin:/bin cargo test --lib --offline"}}}}"#
        ),
    );
    environment.git(&["add", "--all"]);
    environment.git(&["commit", "--quiet", "--message", "Words"]);
    environment.start(&[]);
    environment.write(
        "src/lib.rs",
        "pub fn words(_: &str) -> usize {\n    0\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn counts() {\n        assert_eq!(super::words(\"a b\"), 2);\n    }\n}\n",
    );
    let red = environment.complete(0, &["red", "--verify"]);
    assert_eq!(red["validated"], true, "{red}");
    let line = accepted(&environment).to_string();
    assert!(line.contains("\"format\":\"cargo-text\""), "{line}");
    assert!(line.contains("tests::counts"), "{line}");
}

fn shown(arguments: &[&str]) -> String {
    let environment = TestEnvironment::bare();
    let corpus = made("");
    let mut command = environment.program(&["evidence", "show"]);
    let output = command
        .args(arguments)
        .current_dir(corpus)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn what_is_understood_of_test_reports() {
    insta::assert_snapshot!("shown_junit", shown(&["junit/surefire-mixed.xml"]));
    insta::assert_snapshot!(
        "shown_failed",
        shown(&["junit/surefire-mixed.xml", "--failed"])
    );
    insta::assert_snapshot!("shown_numbers", shown(&["pytest-text/mixed-q.txt"]));
    insta::assert_snapshot!("shown_flaky", shown(&["junit/rust-nextest-flaky.xml"]));
}

#[test]
fn what_is_understood_of_coverage_reports() {
    insta::assert_snapshot!(
        "shown_coverage",
        shown(&["lcov/jest.info", "jacoco/agent.xml"])
    );
}

#[test]
fn several_reports_are_put_together_by_format() {
    let text = shown(&[
        "junit/surefire-mixed.xml",
        "junit/cpp-googletest.xml",
        "tap/tape.tap",
    ]);
    assert!(text.contains("and 1 more"), "{text}");
    assert!(text.contains("one format at a time"), "{text}");
    let json: Value = serde_json::from_str(&shown(&[
        "junit/surefire-mixed.xml",
        "lcov/jest.info",
        "--json",
    ]))
    .unwrap();
    let tests = &json["tests"][0];
    assert_eq!(tests["format"], "junit");
    assert_eq!(tests["named"], "every");
    let failing = tests["failing"].as_array().unwrap().len();
    assert_eq!(tests["failingNamed"], failing);
    assert_eq!(json["coverage"][0]["format"], "lcov");
    assert!(json["coverage"][0]["lines"]["percent"].is_number());
}

#[test]
fn what_is_not_understood_is_said_and_nothing_else() {
    let environment = TestEnvironment::bare();
    for (file, says) in [
        ("junit/cut-in-tag.xml", "junit"),
        ("lcov/cut-in-number.info", "lcov"),
        ("jest-json", "report"),
    ] {
        let path = made(file);
        let ran = environment.tm(&["evidence", "show", "--json", path.to_str().unwrap()]);
        if file == "jest-json" {
            // A folder with reports that are broken on purpose.
            assert_eq!(ran.status, 2, "{ran:?}");
            continue;
        }
        let error = &ran.json_with(2)["error"];
        assert_eq!(error["code"], "report_unreadable");
        assert_eq!(error["details"]["format"], says, "{error}");
    }
    environment.write("notes.txt", "All 12 tests passed, trust me.\n");
    for (arguments, code) in [
        (&["notes.txt"][..], "report_unreadable"),
        (&["nowhere.xml"], "report_missing"),
        (&["/dev/zero"], "report_unreadable"),
        (&["notes.txt", "--format", "trx"], "report_unreadable"),
        (&["notes.txt", "--format", "cobertura"], "report_unreadable"),
        (&["notes.txt", "--format", "excel"], "usage"),
        (&[], "usage"),
    ] {
        let ran = environment.tm(&[&["evidence", "show", "--json"], arguments].concat());
        assert_eq!(ran.json_with(2)["error"]["code"], code, "{arguments:?}");
    }
}
