//! Reports of tests and of coverage as they are handed in and shown.

use serde_json::json;

use super::environment::{TestEnvironment, fields, has, words};
use testkit::Outcome;

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_looked_at() {
    let environment = TestEnvironment::started();
    for (line, code) in [
        ("complete --results failed:1 --report run.sh", "usage"),
        ("complete --results failed:1 --verify", "usage"),
        ("complete --results failed:1 --format tap", "usage"),
        ("complete --results failed:1 --removed a", "usage"),
        (
            "complete --report x --coverage 9 --coverage-report y",
            "usage",
        ),
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

/// Shows reports that were made by real tools.
fn show(line: &str) -> Outcome {
    let environment = TestEnvironment::bare();
    let corpus = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../test-report/tests/it/corpus"
    );
    let mut command = environment.program(&["evidence", "show"]);
    let command = command.args(words(line)).current_dir(corpus);
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
    assert_eq!(
        fields(tests, &["format", "named"]),
        json!(["junit", "every"])
    );
    let failing = tests["failing"].as_array().unwrap().len();
    assert_eq!(tests["failingNamed"], failing);
    assert_eq!(both["coverage"][0]["format"], "lcov");
    assert!(both["coverage"][0]["lines"]["percent"].is_number());
}

#[test]
fn what_is_not_understood_is_said_and_nothing_else() {
    for (line, code, format) in [
        ("junit/cut-in-tag.xml", "report_unreadable", Some("junit")),
        ("lcov/cut-in-number.info", "report_unreadable", Some("lcov")),
        // A folder with reports that are broken on purpose.
        ("jest-json", "report_unreadable", Some("jest-json")),
        ("../corpus.rs", "report_unreadable", None),
        ("nowhere.xml", "report_missing", None),
        ("/dev/zero", "report_unreadable", None),
        (
            "../corpus.rs --format trx",
            "report_unreadable",
            Some("trx"),
        ),
        ("../corpus.rs --format excel", "usage", None),
        ("", "usage", None),
    ] {
        let ran = show(&format!("{line} --json"));
        assert_eq!((ran.status, ran.code()), (2, code), "{line}");
        let details = &ran.json()["error"]["details"];
        assert_eq!(details["format"].as_str(), format, "{line}");
    }
}
