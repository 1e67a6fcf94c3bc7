//! Cheats with tests: none is written, they are made to pass, taken away, or not run.

use std::path::PathBuf;

use super::stage::{CLAIM, CODE, GREEN, OLD_TESTS, RED, SPACES, Stage, WORDS};
use crate::rails::terminal::agreed;

const MISSING: &str = "tests_missing";
const CHANGED: &str = "tests_changed";

#[test]
fn tests_are_not_made_to_pass_or_hidden() {
    let stage = Stage::coded();
    for (file, text, how) in [
        (SPACES, Some("test_spaces() { true; }\n"), "changed"),
        (SPACES, Some(""), "changed"),
        (SPACES, Some("test_spaces() { return 77; }\n"), "changed"),
        (SPACES, None, "deleted"),
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
    // Nor hidden from git.
    let ignored = stage.read(".gitignore");
    stage.write(".gitignore", format!("{ignored}{SPACES}\n"));
    let named = "tests/spaces_test.sh (deleted)";
    stage.report_refused(GREEN, CHANGED, &[named]);
    // What else is ignored is nobody's business.
    stage.write(".gitignore", format!("{ignored}*.bak\n"));
    stage.write("tests/words_test.sh.bak", "\n");
    // Nor by a commit.
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

#[test]
fn without_a_new_test_there_is_no_red() {
    let stage = Stage::started("");
    let no_test = |names: &[&str]| {
        let claim = "complete red --results failed:1";
        stage.refused(claim, "red_without_tests", names);
    };
    no_test(&[]);
    // The runner fails because the product is broken.
    stage.write("src/words.sh", "words() { echo 7; }\n");
    no_test(&["src/words.sh"]);
    stage.git(&["checkout", "--quiet", "src"]);
    stage.write("tests/empty_test.sh", "\n");
    no_test(&["tests/empty_test.sh"]);
    stage.delete("tests/empty_test.sh");
    // Another mode is no other test.
    stage.make_executable(WORDS);
    no_test(&[WORDS]);
    stage.delete(WORDS);
    no_test(&[WORDS]);
    stage.restore();
    stage.delete(CODE);
    stage.red();
}

#[test]
fn what_fails_again_is_no_known_failure() {
    let old = ("tests/old_test.sh", "test_old() { old; }\n");
    let stage = Stage::with("", &[old]);
    stage.start();
    stage.red();
    stage.green();
    stage.has_journalled(r#""knownFailing":["old test_old"]"#);
    // It is mended on the way.
    stage.reopen();
    stage.write("src/old.sh", "old() { :; }\n");
    stage.accepts(GREEN);
    stage.auto("commit").ok();
    stage.test("tabs");
    stage.accepts(RED);
    stage.code("tabs");
    stage.delete("src/old.sh");
    assert_eq!(stage.report(GREEN).code(), "green_tests_still_failing");
}

/// A report of these tests, which nobody has run and which pass where nothing else is said: for runners that this machine has not.
fn written(stage: &Stage, lines: &[&str]) -> PathBuf {
    let cases = lines.iter().zip(1..).map(|(line, at)| {
        let (how, name) = line.split_once(": ").unwrap_or(("ok", line));
        format!("{how} {at} - {name}\n")
    });
    let cases: String = cases.collect();
    stage.written(format!("TAP version 14\n{cases}1..{}\n", lines.len()))
}

#[test]
fn a_part_of_the_suite_is_not_the_suite() {
    let stage = Stage::coded();
    let (one, two, new) = ("words test_one", "words test_two", "spaces test_spaces");
    let part = written(&stage, &["spaces test_spaces"]);
    stage.hand_in_refused(GREEN, &part, MISSING, &[one, two]);
    // Numbers after names are no names.
    stage.refused(CLAIM, MISSING, &[]);
    stage.accepts(GREEN);
    stage.auto("commit").ok();
    // In RED the new test alone will do.
    stage.test("tabs");
    let (tabs, phantom) = ("not ok: tabs test_tabs", "not ok: phantom");
    stage.takes(RED, &written(&stage, &[tabs, phantom]));
    stage.code("tabs");
    let part = || written(&stage, &["tabs test_tabs"]);
    // What it named and what is not there is owed until it is reported anew.
    stage.hand_in_refused(GREEN, &part(), MISSING, &["phantom"]);
    stage.reopen();
    stage.delete("src/tabs.sh");
    stage.takes(RED, &written(&stage, &[tabs]));
    stage.code("tabs");
    stage.hand_in_refused(GREEN, &part(), MISSING, &[new, one, two]);
    stage.accepts(GREEN);
    stage.auto("commit").ok();
    stage.hand_in_refused("finalize", &part(), MISSING, &[new, one, two]);
    stage.refused("finalize --results passed:4,failed:0", MISSING, &[]);
    let end = stage.report("finalize").ok();
    assert_eq!(end["nextAction"]["status"], "completed", "{end}");
}
