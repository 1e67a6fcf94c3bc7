//! Cheats in GREEN: the tests made to pass, taken away, or not run.

use super::stage::{CLAIM, GREEN, OLD_TESTS, SPACES, Stage, WORDS};
use crate::rails::terminal::agreed;

const CHANGED: &str = "tests_changed";

#[test]
fn tests_are_not_made_to_pass() {
    let stage = Stage::coded();
    for (file, text, how) in [
        (SPACES, Some("test_spaces() { true; }\n"), "changed"),
        (SPACES, Some(""), "changed"),
        (SPACES, Some("test_spaces() { return 77; }\n"), "changed"),
        (SPACES, None, "deleted or renamed"),
        (WORDS, Some("test_one() { true; }\n"), "changed"),
        (WORDS, None, "deleted"),
    ] {
        match text {
            Some(text) => stage.write(file, text),
            None => stage.delete(file),
        }
        let named = format!("{file} ({how})");
        let answer = stage.report_refused(GREEN, CHANGED, &[&named]);
        let files = &answer.json()["details"]["files"];
        assert_eq!(files.as_array().unwrap().len(), 1, "{named}: {files}");
        // A claim does not get past it either.
        stage.refused(CLAIM, CHANGED, &[&named]);
        stage.restore();
    }
    stage.write(WORDS, "test_one() { true; }\n");
    stage.delete(SPACES);
    stage.report_refused(GREEN, CHANGED, &[SPACES, WORDS]);
    stage.restore();
    stage.accepts(GREEN);
}

#[test]
fn tests_are_not_hidden_from_git() {
    let stage = Stage::coded();
    let ignored = stage.read(".gitignore");
    stage.write(".gitignore", format!("{ignored}{SPACES}\n"));
    let named = "tests/spaces_test.sh (git ignores it now)";
    stage.report_refused(GREEN, CHANGED, &[named]);
    // What else is ignored is nobody's business.
    stage.write(".gitignore", format!("{ignored}*.bak\n"));
    stage.write("tests/words_test.sh.bak", "\n");
    stage.accepts(GREEN);
}

#[test]
fn a_commit_hides_no_change_of_tests() {
    let stage = Stage::coded();
    stage.write(WORDS, "test_one() { :; }\ntest_two() { :; }\n");
    stage.write("tests/more_test.sh", "test_more() { :; }\n");
    stage.commit_all("Tests and code");
    let answer = stage.report_refused(GREEN, CHANGED, &["tests/words_test.sh (changed)"]);
    assert!(!answer.message().contains("more_test"), "{answer:#?}");
    stage.write(WORDS, OLD_TESTS);
    stage.accepts(GREEN);
}

#[test]
fn stuck_after_three_alike() {
    const PATIENT: &str = r#""autopilot": {"maxGreenAttempts": 9}"#;
    let old = ("tests/old_test.sh", "test_old() { false; }\n");
    let stage = Stage::with(PATIENT, &[old]);
    stage.start();
    stage.red();
    let still_failing = || {
        let answer = stage.report(GREEN);
        assert_eq!(answer.code(), "green_tests_still_failing", "{answer:#?}");
    };
    still_failing();
    still_failing();
    // Of what failed before nobody is asked why.
    let answer = stage.report(GREEN);
    assert_eq!((answer.code(), answer.status), ("stuck", 3), "{answer:#?}");
    let message = answer.message();
    let named = message.contains("spaces test_spaces") && !message.contains("test_old");
    assert!(named, "{message}");
    let next = &answer.json()["nextAction"];
    assert_eq!(next["pausedReason"], "stuck");
    assert_eq!(stage.auto(CLAIM).code(), "paused");
    let (status, shown) = agreed(&stage, &["autopilot", "resume"]);
    assert_eq!(status, 0, "{shown}");
    // Who gets on is not stuck, however often it takes.
    for attempt in 1..=5 {
        let failing = format!("words() {{ test $# = {} && echo $#; }}\n", attempt % 2 + 1);
        stage.write("src/words.sh", failing);
        still_failing();
    }
    stage.write("src/words.sh", "words() { echo $#; }\n");
    stage.green();
}
