//! Tests that git ignores are in no commit, and it is said so.

use super::stage::{Stage, VERIFIED_GREEN, VERIFIED_RED, set_age};

const HIDDEN: &str = "tests/hidden_test.sh";
const IGNORED: (&str, &str) = (".gitignore", "*.tmp\nhidden_*\n*_output.sh\n");

fn stage() -> Stage {
    let stage = Stage::with(r#""evidence": {"replay": "off"}"#, &[IGNORED]);
    // What lay there before is none of the run's.
    stage.write("tests/old_output.sh", "exit 1\n");
    set_age(&stage.path("tests/old_output.sh"), 60);
    stage.auto("start 1 --verify").ok();
    stage
}

#[test]
fn one_beside_others_is_named_and_missed_when_they_are_replayed() {
    for beside in [false, true] {
        let stage = stage();
        let told = |report: &str| {
            let answer = stage.auto(report).ok();
            let warning = answer["warning"].to_string();
            assert_eq!(warning.contains(HIDDEN), beside, "{answer:#}");
            assert!(!warning.contains("old_output"), "{answer:#}");
        };
        if beside {
            // Alone it is none.
            stage.write(HIDDEN, "test_hidden() { false; }\n");
            stage.refused(VERIFIED_RED, "red_without_tests", &[HIDDEN]);
            stage.write(HIDDEN, "test_hidden() { test -e src/spaces.sh; }\n");
        }
        stage.test("spaces");
        told(VERIFIED_RED);
        stage.code("spaces");
        told(VERIFIED_GREEN);
        stage.auto("commit").ok();
        let proof = stage.tm(&["verify", "main..HEAD", "--replay"]);
        let problems = proof.json()["commits"][0]["problems"].to_string();
        let is_missed = problems.contains("green_not_replayed");
        assert_eq!(is_missed, beside, "{proof:#?}");
    }
}
