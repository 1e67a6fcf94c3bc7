//! Cheats in RED: no test, other files, a failure that is none of this subtask's.

use super::stage::{NEW_CODE, NEW_TESTS, Stage, accepted};

const NO_TEST: &str = "red_without_tests";

#[test]
fn red_without_a_test() {
    let stage = Stage::started();
    // The runner fails because the product is broken, and no test was written.
    stage.env.write("src/words.sh", "words() { echo 7; }\n");
    stage.report_refused(
        "complete red",
        NO_TEST,
        &["src/words.sh"],
        "write the tests",
    );
    // A claim is looked at in the same way.
    let claim = ["autopilot", "complete", "red", "--results", "failed:1"];
    stage.refused(&claim, NO_TEST, &["src/words.sh"], "write the tests");
    stage.env.write("src/words.sh", "words() { echo $#; }\n");
    stage.red();
}

#[test]
fn red_with_nothing_changed_or_a_test_that_says_nothing() {
    let stage = Stage::started();
    let claim = ["autopilot", "complete", "red", "--results", "failed:1"];
    stage.refused(&claim, NO_TEST, &["nothing was changed"], "write the tests");
    stage.env.write("tests/empty_test.sh", "\n");
    stage.refused(&claim, NO_TEST, &["tests/empty_test.sh"], "write the tests");
    std::fs::remove_file(stage.path("tests/empty_test.sh")).unwrap();
    // Another mode is no other test.
    executable(&stage, "tests/words_test.sh");
    stage.refused(&claim, NO_TEST, &["tests/words_test.sh"], "write the tests");
    stage.red();
}

#[test]
fn red_with_a_test_only_deleted() {
    let stage = Stage::started();
    std::fs::remove_file(stage.path("tests/words_test.sh")).unwrap();
    let claim = ["autopilot", "complete", "red", "--results", "failed:1"];
    stage.refused(&claim, NO_TEST, &["tests/words_test.sh"], "write the tests");
    stage.allow(NO_TEST);
    let answer = stage.env.tm(&claim).ok();
    assert!(
        answer["warning"]
            .as_str()
            .unwrap()
            .contains("no test was written"),
        "{answer}"
    );
}

#[test]
fn production_in_red_is_told() {
    let stage = Stage::started();
    stage.env.write("src/spaces.sh", NEW_CODE);
    stage.env.write("docs/spaces.md", "Spaces.\n");
    stage.env.write(
        "tests/spaces_test.sh",
        "test_spaces() { test \"$(spaces a b)\" = 2; }\n",
    );
    let answer = stage.report("complete red").ok();
    let warning = answer["warning"].as_str().unwrap();
    assert!(
        warning.contains("src/spaces.sh") && !warning.contains("docs/"),
        "{warning}"
    );

    let strict = Stage::started_with(r#""evidence": {"policy": {"production_changed": "refuse"}}"#);
    strict.env.write("tests/spaces_test.sh", NEW_TESTS);
    strict.env.write("src/other.sh", "other() { :; }\n");
    strict.report_refused(
        "complete red",
        "production_changed",
        &["src/other.sh"],
        "write only tests in RED",
    );
    std::fs::remove_file(strict.path("src/other.sh")).unwrap();
    strict.red();
    strict.green();
}

#[test]
fn a_failure_from_before_is_no_new_one() {
    let stage = Stage::new("");
    stage
        .env
        .write("tests/old_test.sh", "test_old() { false; }\n");
    stage.env.commit_all("A test that fails");
    stage.start();
    // A test is written, but passes: what fails is the old one.
    stage
        .env
        .write("tests/spaces_test.sh", "test_spaces() { true; }\n");
    stage.report_refused(
        "complete red",
        "no_new_failure",
        &["failed before"],
        "see it fail",
    );
    let red = stage.red();
    assert_eq!(red["nextAction"]["action"], "green", "{red}");
    let message = red["message"].as_str().unwrap();
    assert!(
        message.contains("1 newly failing, 1 failing as before"),
        "{message}"
    );
    // The old one may go on failing, and is told by name.
    stage.env.write("src/spaces.sh", NEW_CODE);
    let green = accepted(stage.report("complete green").ok());
    assert!(
        green["message"].as_str().unwrap().contains("3 passing"),
        "{green}"
    );
    let journal = String::from_utf8(stage.env.journal()).unwrap();
    assert!(
        journal.contains(r#""knownFailing":["old test_old"]"#),
        "{journal}"
    );
    stage.env.auto("commit").ok();
    // It is known to the next subtask, too, and at the end.
    stage.subtask("tabs");
    let end = stage.report("finalize").ok();
    assert_eq!(end["nextAction"]["status"], "completed", "{end}");
}

#[test]
fn without_a_baseline_that_is_said() {
    let stage = Stage::new("");
    stage.env.auto("start 1").ok();
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    let red = stage.report("complete red").ok();
    let warning = red["warning"].as_str().unwrap();
    assert!(warning.contains("before"), "{warning}");
    stage.green();
}

#[test]
fn all_tests_pass() {
    let stage = Stage::started();
    stage
        .env
        .write("tests/spaces_test.sh", "test_spaces() { true; }\n");
    stage.report_refused(
        "complete red",
        "red_requires_failing_tests",
        &["3 passed"],
        "must fail",
    );
    stage
        .env
        .write("tests/spaces_test.sh", "test_spaces() { return 77; }\n");
    stage.report_refused(
        "complete red",
        "red_requires_failing_tests",
        &["2 passed"],
        "must fail",
    );
    stage.red();
}

pub fn executable(stage: &Stage, name: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(stage.path(name), mode).unwrap();
}
