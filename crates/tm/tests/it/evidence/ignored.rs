//! Tests that git ignores are in no commit, and it is said so.

use super::stage::{Stage, VERIFIED_GREEN, VERIFIED_RED, set_age};

const HIDDEN: &str = "tests/hidden_test.sh";
const IGNORED: (&str, &str) = (".gitignore", "*.tmp\nhidden_*\n*_output.sh\n");
const REPLAY: &[&str] = &["verify", "main..HEAD", "--replay"];

fn stage() -> Stage {
    let stage = Stage::with(r#""evidence": {"replay": "off"}"#, &[IGNORED]);
    // What lay there before is none of the run's.
    stage.write("tests/old_output.sh", "exit 1\n");
    set_age(&stage.path("tests/old_output.sh"), 60);
    stage.auto("start 1 --verify").ok();
    stage
}

#[test]
fn an_ignored_test_alone_is_none() {
    let stage = stage();
    stage.write(HIDDEN, "test_hidden() { false; }\n");
    stage.refused(VERIFIED_RED, "red_without_tests", &[HIDDEN]);
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
        stage.test("spaces");
        if beside {
            stage.write(HIDDEN, "test_hidden() { test -e src/spaces.sh; }\n");
        }
        told(VERIFIED_RED);
        stage.code("spaces");
        told(VERIFIED_GREEN);
        stage.auto("commit").ok();
        let proof = stage.tm(REPLAY);
        let problems = proof.json()["commits"][0]["problems"].to_string();
        assert_eq!(
            problems.contains("green_not_replayed"),
            beside,
            "{proof:#?}"
        );
    }
}

/// What the project lacks is no tool that somebody could install.
#[test]
fn a_replay_that_cannot_be_run_says_what_was_printed() {
    let stage = Stage::new("");
    let runner = stage.read("run.sh");
    stage.write("run.sh", format!(". ./helper.tmp\n{runner}"));
    stage.write("helper.tmp", "true\n");
    stage.commit_all("Helper");
    stage.auto("start 1").ok();
    stage.test("new");
    stage.auto(VERIFIED_RED).ok();
    stage.code("new");
    stage.auto(VERIFIED_GREEN).ok();
    stage.auto("commit").ok();
    let answer = stage.tm(REPLAY);
    let problem = &answer.json()["commits"][0]["problems"][0];
    assert_eq!(problem["code"], "not_replayed", "{answer:#?}");
    assert!(problem["message"].as_str().unwrap().contains("helper.tmp"));
}
