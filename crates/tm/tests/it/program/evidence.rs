//! Reports of tests and of coverage as they are handed in and shown.

use std::path::Path;

use serde_json::json;

use super::environment::{TestEnvironment, has, holds, words};
use testkit::Outcome;

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_looked_at() {
    let environment = TestEnvironment::started();
    for (line, code) in [
        ("complete --results failed:1 --report run.sh", "usage"),
        ("complete --results failed:1 --verify", "usage"),
        ("complete --results failed:1 --format tap", "usage"),
        ("complete --results failed:1 --removed a", "usage"),
        ("complete --coverage 9 --coverage-report y", "usage"),
        ("complete --report x --format nonsense", "usage"),
        ("complete --report", "usage"),
        ("finalize --results failed:1 --verify", "usage"),
        ("start 1 --format tap", "usage"),
        ("start 1 --baseline-report x --format lcov", "usage"),
        ("complete --coverage 92", "no_results"),
        ("complete --report /dev/zero", "report_unreadable"),
    ] {
        let ran = environment.line(&format!("autopilot {line}"));
        assert_eq!((ran.status, ran.code()), (2, code), "{line}");
    }
}

/// A test that was taken out is named as it is, or with `*` behind its beginning.
#[test]
fn a_test_that_was_taken_out_on_purpose_is_named() {
    let environment = TestEnvironment::new();
    environment.write("tests/old.sh", "true\n");
    environment.commit_all("A test");
    environment.write("../before.tap", "1..1\nok 1 - old\n");
    environment.does("autopilot start 1 --baseline-report ../before.tap");
    environment.write("tests/old.sh", "");
    environment.write("tests/new.sh", "false\n");
    environment.write("red.tap", "1..1\nnot ok 1 - new\n");
    environment.does("autopilot complete red --report red.tap");
    environment.write("src/new.sh", "true\n");
    environment.write("green.tap", "1..1\nok 1 - new\n");
    let green = "autopilot complete green --report green.tap --removed";
    environment.refused(&format!("{green} ol"), 3, "tests_missing");
    environment.does(&format!("{green} ol*"));
}

/// Shows reports that were made by real tools.
fn show(line: &str) -> Outcome {
    let environment = TestEnvironment::bare();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = environment.program(&["evidence", "show"]);
    let command = command.args(words(line));
    command.current_dir(here.join("../test-report/tests/it/corpus"));
    Outcome::of(&command.output().unwrap())
}

#[test]
fn what_is_understood_of_reports() {
    for (name, line) in [
        ("shown_junit", "junit/surefire-mixed.xml"),
        ("shown_failed", "junit/surefire-mixed.xml --failed"),
        ("shown_numbers", "pytest-text/mixed-q.txt"),
        ("shown_flaky", "junit/rust-nextest-flaky.xml"),
        ("shown_coverage", "lcov/jest.info jacoco/agent.xml"),
    ] {
        insta::assert_snapshot!(name, show(line).text());
    }
}

#[test]
fn several_reports_are_put_together_by_format() {
    let shown = show("junit/surefire-mixed.xml junit/cpp-googletest.xml tap/tape.tap");
    has(&shown.text(), "and 1 more");
    has(&shown.text(), "one format at a time");
    let both = show("junit/surefire-mixed.xml lcov/jest.info --json").ok();
    let tests = &both["tests"][0];
    let failing = tests["failing"].as_array().unwrap().len();
    let told = json!({ "format": "junit", "named": "every", "failingNamed": failing });
    holds(tests, &told);
    assert_eq!(both["coverage"][0]["format"], "lcov");
    assert!(both["coverage"][0]["lines"]["percent"].is_number());
}

#[test]
fn what_is_not_understood_is_said_and_nothing_else() {
    let unreadable = "report_unreadable";
    for (line, code, format) in [
        ("junit/cut-in-tag.xml", unreadable, Some("junit")),
        ("lcov/cut-in-number.info", unreadable, Some("lcov")),
        // A folder with reports that are broken on purpose.
        ("jest-json", unreadable, Some("jest-json")),
        ("../corpus.rs", unreadable, None),
        ("nowhere.xml", "report_missing", None),
        ("/dev/zero", unreadable, None),
        ("../corpus.rs --format trx", unreadable, Some("trx")),
        ("../corpus.rs --format lcov", unreadable, Some("lcov")),
        ("../corpus.rs --format excel", "usage", None),
        ("", "usage", None),
    ] {
        let ran = show(&format!("{line} --json"));
        assert_eq!((ran.status, ran.code()), (2, code), "{line}");
        let details = &ran.json()["error"]["details"];
        assert_eq!(details["format"].as_str(), format, "{line}");
    }
}
