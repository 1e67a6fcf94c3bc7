//! Tests that git ignores are in no commit, and it is said so.

use super::stage::{Stage, VERIFIED_GREEN, VERIFIED_RED, set_age, warns};

const HIDDEN: &str = "tests/hidden_test.sh";
const IGNORED: (&str, &str) = (".gitignore", "*.tmp\nhidden_*\n*_output.sh\n");

#[test]
fn one_beside_others_is_named_and_in_no_commit() {
    let stage = Stage::with("", &[IGNORED]);
    // What lay there before is none of the run's.
    stage.write("tests/old_output.sh", "exit 1\n");
    set_age(&stage.path("tests/old_output.sh"), 60);
    stage.auto("start 1 --verify").ok();
    // Alone it is none.
    stage.write(HIDDEN, "test_hidden() { false; }\n");
    stage.refused(VERIFIED_RED, "red_without_tests", &[HIDDEN]);
    stage.write(HIDDEN, "test_hidden() { test -e src/spaces.sh; }\n");
    let told = |report: &str| {
        let answer = stage.auto(report).ok();
        warns(&answer, HIDDEN);
        assert!(!answer.to_string().contains("old_output"), "{answer:#}");
    };
    stage.test("spaces");
    told(VERIFIED_RED);
    stage.code("spaces");
    told(VERIFIED_GREEN);
    stage.auto("commit").ok();
    // What was verified is what is committed: without them.
    let proof = stage.tm(&["verify", "main..HEAD", "--replay"]).ok();
    assert_eq!(
        proof["commits"][0]["replay"]["green"]["passed"], 3,
        "{proof:#}"
    );
}
