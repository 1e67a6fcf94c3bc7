//! Tests that git ignores are in no commit, and it is said so.

use super::stage::{NEW_CODE, NEW_TESTS, Stage};

const RED: &[&str] = &["autopilot", "complete", "red", "--verify"];
const GREEN: &[&str] = &["autopilot", "complete", "green", "--verify"];
const HIDDEN: &str = "tests/hidden_test.sh";

fn stage() -> Stage {
    let stage = Stage::new(r#""evidence": {"replay": "off"}"#);
    let env = &stage.env;
    env.write(".gitignore", "*.tmp\nhidden_*\n*_output.sh\n");
    env.commit_all("Ignore");
    // What lay there before is none of the run's.
    env.write("tests/old_output.sh", "exit 1\n");
    super::stage::set_age(&env.project().join("tests/old_output.sh"), 60);
    env.auto("start 1 --verify").ok();
    stage
}

#[test]
fn an_ignored_test_alone_is_none() {
    let stage = stage();
    stage.env.write(HIDDEN, NEW_TESTS);
    let answer = stage.env.tm(RED);
    assert_eq!(answer.code(), "red_without_tests", "{answer:#?}");
    assert!(answer.message().contains(HIDDEN), "{answer:#?}");
    assert!(answer.suggestion().contains(".gitignore"), "{answer:#?}");
}

#[test]
fn one_beside_others_is_named_and_missed_when_they_are_replayed() {
    for beside in [false, true] {
        let stage = stage();
        let env = &stage.env;
        env.write("tests/spaces_test.sh", NEW_TESTS);
        if beside {
            env.write(HIDDEN, "test_hidden() { test -e src/spaces.sh; }\n");
        }
        for (report, ahead) in [(RED, true), (GREEN, false)] {
            if !ahead {
                env.write("src/spaces.sh", NEW_CODE);
            }
            let answer = env.tm(report).ok();
            let warning = answer["warning"].as_str().unwrap_or_default();
            assert_eq!(warning.contains(HIDDEN), beside, "{answer:#}");
            assert!(!warning.contains("old_output"), "{answer:#}");
        }
        env.auto("commit").ok();
        let proof = env.tm(&["verify", "main..HEAD", "--replay"]).json().clone();
        let problems = &proof["commits"][0]["problems"];
        let is_missed = problems.to_string().contains("green_not_replayed");
        assert_eq!(is_missed, beside, "{proof:#}");
    }
}

/// What the project lacks is no tool that somebody could install.
#[test]
fn a_replay_that_cannot_be_run_says_what_was_printed() {
    let stage = Stage::new("");
    let env = &stage.env;
    let runner = std::fs::read_to_string(env.project().join("run.sh")).unwrap();
    env.write("run.sh", format!(". ./helper.tmp\n{runner}"));
    env.write("helper.tmp", "true\n");
    env.commit_all("Helper");
    env.auto("start 1").ok();
    env.write("tests/new_test.sh", "test_new() { new; }\n");
    env.auto("complete red --verify").ok();
    env.write("src/new.sh", "new() { true; }\n");
    env.auto("complete green --verify").ok();
    env.auto("commit").ok();
    let answer = env.tm(&["verify", "main..HEAD", "--replay"]);
    let problem = &answer.json()["commits"][0]["problems"][0];
    assert_eq!(problem["code"], "not_replayed", "{answer:#?}");
    assert!(problem["message"].as_str().unwrap().contains("helper.tmp"));
    assert!(answer.suggestion().contains("by hand"), "{answer:#?}");
}
