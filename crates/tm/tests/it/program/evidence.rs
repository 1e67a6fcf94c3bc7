//! Reports of tests and of coverage as they are handed in and shown.

use std::path::Path;

use serde_json::json;

use super::environment::{TestEnvironment, holds, words};
use testkit::Outcome;

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_looked_at() {
    let environment = TestEnvironment::started();
    for (line, code) in [
        ("complete --results failed:1 --report run.sh", "usage"),
        ("complete --results failed:1 --verify", "usage"),
        ("complete --results failed:1 --format tap", "usage"),
        ("complete --coverage 9 --coverage-report y", "usage"),
        ("finalize --results failed:1 --verify", "usage"),
        ("start 1 --format tap", "usage"),
        ("start 1 --verify --report x --format lcov", "usage"),
        ("complete --coverage 92", "usage"),
        ("complete --report /dev/zero", "report_unreadable"),
    ] {
        let ran = environment.line(&format!("autopilot {line}"));
        assert_eq!((ran.status, ran.code()), (2, code), "{line}");
    }
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
