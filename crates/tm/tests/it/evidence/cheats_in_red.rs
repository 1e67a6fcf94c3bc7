//! Cheats in RED: no test, other files, a failure that is none of this subtask's.

use super::stage::{CODE, GREEN, RED, SPACES, Stage, WORDS};

const OLD_FAILURE: (&str, &str) = ("tests/old_test.sh", "test_old() { old; }\n");

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
fn production_in_red_is_told() {
    let stage = Stage::started("");
    stage.code("spaces");
    stage.write("docs/spaces.md", "Spaces.\n");
    stage.write(SPACES, "test_spaces() { false; }\n");
    let answer = stage.report(RED).ok();
    let warning = answer["warning"].as_str().unwrap();
    assert!(
        warning.contains(CODE) && !warning.contains("docs/"),
        "{warning}"
    );
}

#[test]
fn a_failure_from_before_is_no_new_one() {
    let stage = Stage::with("", &[OLD_FAILURE]);
    stage.start();
    let red = stage.red();
    let told = "RED accepted: 1 newly failing, 1 failing as before, 2 passing";
    assert_eq!(red["message"], told);
    // The old one may go on failing, and is told by name.
    stage.green();
    let journal = String::from_utf8(stage.journal()).unwrap();
    let known = r#""knownFailing":["old test_old"]"#;
    assert!(journal.contains(known), "{journal}");
    stage.auto("commit").ok();
    // It is known to the next subtask, too, and at the end.
    stage.subtask("tabs");
    let end = stage.report("finalize").ok();
    assert_eq!(end["nextAction"]["status"], "completed", "{end}");
}

#[test]
fn what_fails_again_is_no_known_failure() {
    let stage = Stage::with("", &[OLD_FAILURE]);
    stage.start();
    stage.red();
    // This subtask mends it on the way.
    stage.write("src/old.sh", "old() { :; }\n");
    stage.green();
    stage.auto("commit").ok();
    stage.test("tabs");
    stage.accepts(RED);
    stage.code("tabs");
    stage.delete("src/old.sh");
    assert_eq!(stage.report(GREEN).code(), "green_tests_still_failing");
}

#[test]
fn all_tests_pass() {
    let stage = Stage::started("");
    for passes in ["true", "return 77"] {
        stage.write(SPACES, format!("test_spaces() {{ {passes}; }}\n"));
        stage.report_refused(RED, "red_requires_failing_tests", &[]);
    }
}
