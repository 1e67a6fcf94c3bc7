//! Cheats in RED: no test, other files, a failure that is none of this subtask's.

use super::stage::{CODE, GREEN, RED, Stage, WORDS};

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
