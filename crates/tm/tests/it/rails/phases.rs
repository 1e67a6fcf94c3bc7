//! RED, GREEN and the final suite: the rows of the table, and the numbers that make no sense.

use serde_json::json;

use super::environment::TestEnvironment;
use super::terminal::agreed;

#[test]
fn red_needs_a_failing_test() {
    let env = TestEnvironment::started();
    env.write("tests/a.sh", "false\n");
    env.refused(
        "complete red --results failed:0,passed:3",
        3,
        "red_requires_failing_tests",
        "new behaviour",
    );
    env.refused(
        "complete --results failed:0,passed:0,skipped:4",
        3,
        "no_tests_ran",
        "errors",
    );
    env.refused(
        "complete --results failed:0,passed:0",
        3,
        "no_tests_ran",
        "errors",
    );
    env.auto("complete red 1.1 --results failed:1,passed:0")
        .ok();
}

#[test]
fn red_needs_a_changed_file() {
    let env = TestEnvironment::started();
    let words = "complete red --results failed:1,passed:0";
    env.refused(
        words,
        3,
        "red_without_tests",
        "tm autopilot allow red_without_tests",
    );
    // Neither what is ignored nor the tasks themselves are tests.
    env.write("notes.tmp", "ignored\n");
    env.write(".taskmaster/state.json", "{}");
    env.refused(words, 3, "red_without_tests", "tests");
    env.write("tests/a.sh", "false\n");
    env.auto(words).ok();
}

#[test]
fn tests_that_the_executor_committed_itself_are_tests_too() {
    let env = TestEnvironment::started();
    env.write("tests/a.sh", "false\n");
    env.commit_all("Tests first");
    env.auto("complete red --results failed:1,passed:0").ok();
}

#[test]
fn red_that_does_not_compile_or_passes_in_part_is_accepted_with_a_warning() {
    let env = TestEnvironment::started();
    env.write("tests/a.sh", "false\n");
    let red = env
        .auto("complete red --results failed:0,passed:0,errors:2")
        .ok();
    assert!(
        red["warning"].as_str().unwrap().contains("compiled"),
        "{red}"
    );
    env.auto("reopen --reason again").ok();
    let red = env.auto("complete red --results failed:1,passed:9").ok();
    assert!(
        red["warning"].as_str().unwrap().contains("Tests pass, too"),
        "{red}"
    );
    env.auto("reopen --reason again").ok();
    let red = env
        .auto("complete red --results failed:1,passed:0,errors:1")
        .ok();
    assert_eq!(red.get("warning"), None, "{red}");
}

#[test]
fn tests_that_pass_already_can_complete_a_subtask() {
    let env = TestEnvironment::started_with(
        r#"{"test": {"command": "x"}, "autopilot": {"redAllPassing": "skip"}}"#,
    );
    let tasks = env.read(".taskmaster/tasks/tasks.json");
    let red = env.auto("complete red --results failed:0,passed:3").ok();
    assert_eq!(red["nextAction"]["unitId"], "workUnit-1.2-RED");
    assert_eq!(
        env.read(".taskmaster/tasks/tasks.json"),
        tasks,
        "its `done` is owed"
    );
    env.refused(
        "complete red --results failed:0,passed:0",
        3,
        "no_tests_ran",
        "",
    );
    env.subtask();
    assert_eq!(done(&env), ["1", "2"], "it travels in the next commit");
    assert_eq!(env.git(&["status", "--porcelain"]), "");

    // With no commit to come it travels in that of the task.
    let env = TestEnvironment::started_with(
        r#"{"test": {"command": "x"}, "autopilot": {"redAllPassing": "skip"}}"#,
    );
    env.auto("complete red --results failed:0,passed:3").ok();
    env.auto("complete red --results failed:0,passed:3").ok();
    let end = env.auto("finalize --results failed:0,passed:3").ok();
    assert_eq!(end["nextAction"]["status"], "completed");
    assert_eq!(done(&env), ["1", "2"]);
    assert_eq!(env.git(&["rev-list", "--count", "main..HEAD"]), "1");
    assert_eq!(env.git(&["status", "--porcelain"]), "");
}

/// Subtasks of task 1 that the tasks file of HEAD has as done.
fn done(env: &TestEnvironment) -> Vec<String> {
    let tasks = env.git(&["show", "HEAD:.taskmaster/tasks/tasks.json"]);
    let tasks: serde_json::Value = serde_json::from_str(&tasks).unwrap();
    tasks["master"]["tasks"][0]["subtasks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|subtask| subtask["status"] == "done")
        .map(|subtask| subtask["id"].to_string())
        .collect()
}

#[test]
fn green_needs_passing_tests_and_none_that_fails() {
    let env = TestEnvironment::started();
    env.write("tests/a.sh", "false\n");
    env.auto("complete red --results failed:1,passed:0,skipped:1")
        .ok();
    env.write("src/a.sh", "true\n");
    env.refused(
        "complete green --results failed:0,passed:0,skipped:2",
        3,
        "no_tests_ran",
        "errors",
    );
    env.refused(
        "complete green --results failed:0,passed:1",
        3,
        "fewer_tests",
        "tm autopilot reopen",
    );
    let retry = env.auto("complete green --results failed:0,passed:5,errors:1");
    assert_eq!(
        (retry.status, retry.code()),
        (3, "green_tests_still_failing")
    );
    super::advice::check(&env, &retry);
    assert_eq!(retry.json()["nextAction"]["attempt"], 2);
    assert_eq!(retry.json()["nextAction"]["unitId"], "workUnit-1.1-GREEN-2");
    env.auto("complete green --results failed:0,passed:2").ok();
}

#[test]
fn attempts_run_out_and_a_resume_grants_fresh_ones() {
    let env = TestEnvironment::started();
    env.red();
    let fail = "complete green --results failed:1,passed:1";
    for attempt in [2, 3] {
        let retry = env.auto(fail);
        assert_eq!(retry.json()["nextAction"]["attempt"], attempt, "{retry:#?}");
        assert_eq!(retry.json()["nextAction"]["maxAttempts"], 3);
        // The very same report without a unit is a new failure, not a repeat: it has another unit.
        env.write("src/a.sh", format!("{attempt}\n"));
    }
    let last = env.auto(fail);
    assert_eq!(
        (last.status, last.code()),
        (3, "green_tests_still_failing"),
        "{last:#?}"
    );
    assert_eq!(last.json()["nextAction"]["action"], "paused");
    assert_eq!(
        last.json()["nextAction"]["pausedReason"],
        "max_attempts_reached"
    );
    assert!(
        last.suggestion().contains("tm autopilot resume"),
        "{last:#?}"
    );
    super::advice::check(&env, &last);
    let status = env.auto("status").ok();
    assert_eq!(status["status"], "paused");
    assert_eq!(status["pausedReason"], "max_attempts_reached");
    assert_eq!(status["canResume"], true);
    env.refused(
        "complete green --results failed:0,passed:3",
        5,
        "paused",
        "tm autopilot resume",
    );
    env.refused("commit", 5, "paused", "tm autopilot resume");

    // Whoever does the work does not give itself more attempts.
    env.refused("resume", 3, "needs_person", "person");
    let (status, shown) = agreed(&env, &["autopilot", "resume"]);
    assert_eq!(status, 0, "{shown}");
    let next = env.auto("next").ok();
    assert_eq!(next["attempt"], 1);
    assert_eq!(
        next["unitId"], "workUnit-1.1-GREEN-4",
        "a unit's number is used once"
    );
    for attempt in [2, 3] {
        let retry = env.auto(fail);
        assert_eq!(retry.json()["nextAction"]["attempt"], attempt, "{retry:#?}");
    }
    env.auto("complete green --results failed:0,passed:3").ok();
    let results: Vec<bool> = (1..=5)
        .map(|n| {
            env.run_folder()
                .join(format!("test-results/subtask-1.1-green-failed-{n}.json"))
                .exists()
        })
        .collect();
    assert_eq!(
        results, [true; 5],
        "each failed attempt has a file of its own"
    );
}

#[test]
fn attempts_can_be_fewer() {
    let env = TestEnvironment::new();
    env.refused("start 1 --max-attempts 4", 3, "beyond_settings", "a person");
    let by_input = [
        "run",
        "start",
        "tdd",
        "--input",
        "taskId=1",
        "--input",
        "maxAttempts=99",
    ];
    env.refused_of(&by_input, 3, "beyond_settings", "a person");
    env.auto("start 1 --max-attempts 1").ok();
    env.red();
    let last = env.auto("complete green --results failed:1,passed:1");
    assert_eq!(last.json()["nextAction"]["action"], "paused");
    // A step back is a way out of the pause.
    env.refused("reopen --reason wrong-test", 3, "needs_person", "person");
    let reopen = ["autopilot", "reopen", "--reason", "wrong-test"];
    let (status, shown) = agreed(&env, &reopen);
    assert_eq!(status, 0, "{shown}");
    assert_eq!(env.auto("next").ok()["action"], "red");
}

#[test]
fn coverage_is_held_against_its_thresholds() {
    let env = TestEnvironment::started_with(
        r#"{"test": {"command": "x", "coverageThresholds": {"lines": 80, "branches": 70}}}"#,
    );
    env.red();
    env.write("src/1.1.sh", "code\n");
    let green = "complete green --results failed:0,passed:2 --coverage";
    let answer = env.refused(
        &format!("{green} lines:79.9,branches:12"),
        3,
        "coverage_below_threshold",
        "tests",
    );
    for told in ["lines 79.9", "threshold 80", "branches 12", "threshold 70"] {
        assert!(answer.message().contains(told), "{told}: {answer:#?}");
    }
    assert_eq!(
        answer.json()["nextAction"]["attempt"],
        1,
        "no attempt is used up"
    );
    let answer = env.refused(
        &format!("{green} 12"),
        3,
        "coverage_below_threshold",
        "tests",
    );
    assert!(!answer.message().contains("branches"), "{answer:#?}");
    let accepted = env.auto(&format!("{green} 80")).ok();
    assert!(
        accepted["warning"].as_str().unwrap().contains("branches"),
        "{accepted}"
    );
    env.auto("reopen --reason again").ok();
    let accepted = env.auto("complete green --results failed:0,passed:2").ok();
    assert!(
        accepted["warning"].as_str().unwrap().contains("lines"),
        "{accepted}"
    );
    env.auto("reopen --reason again").ok();
    let accepted = env
        .auto(&format!("{green} lines:80,branches:70,functions:0"))
        .ok();
    assert_eq!(accepted.get("warning"), None, "{accepted}");
}

#[test]
fn coverage_can_be_required() {
    for config in [
        r#"{"test": {"command": "x", "coverageThresholds": {"lines": 80}}, "evidence": {"requireCoverage": true}}"#,
        r#"{"test": {"command": "x"}, "evidence": {"requireCoverage": true}}"#,
        r#"{"test": {"command": "x", "coverageThresholds": {"lines": 80}}, "evidence": {"policy": {"coverage_missing": "refuse"}}}"#,
    ] {
        let env = TestEnvironment::started_with(config);
        env.red();
        env.write("src/a.sh", "a\n");
        env.refused(
            "complete green --results failed:0,passed:2",
            3,
            "coverage_missing",
            "--coverage",
        );
        env.auto("complete green --results failed:0,passed:2 --coverage 81")
            .ok();
        env.auto("commit").ok();
        env.subtask_with("--coverage 90");
        env.refused(
            "finalize --results failed:0,passed:2",
            3,
            "coverage_missing",
            "--coverage",
        );
        env.auto("finalize --results failed:0,passed:2 --coverage 90")
            .ok();
    }
}

#[test]
fn thresholds_hold_for_the_final_suite() {
    let env = TestEnvironment::started_with(
        r#"{"test": {"command": "x", "coverageThresholds": {"lines": 80}}}"#,
    );
    env.to_finalize();
    let answer = env.refused(
        "finalize --results failed:0,passed:2 --coverage 40",
        3,
        "coverage_below_threshold",
        "--skip-coverage",
    );
    assert!(answer.message().contains("40"), "{answer:#?}");
    env.refused(
        "finalize --results failed:0,passed:0",
        3,
        "no_tests_ran",
        "",
    );
    let end = env
        .auto("finalize --results failed:0,passed:2 --coverage 40 --skip-coverage")
        .ok();
    assert_eq!(end["nextAction"]["status"], "completed");
}

#[test]
fn the_final_suite_is_that_of_what_was_committed() {
    let env = TestEnvironment::started();
    env.to_finalize();
    env.write("src/late.sh", "late\n");
    let answer = env.refused(
        "finalize --results failed:0,passed:2",
        3,
        "changed_after_commit",
        "tm autopilot reopen",
    );
    assert!(answer.message().contains("src/late.sh"), "{answer:#?}");
    std::fs::remove_file(env.project().join("src/late.sh")).unwrap();
    env.write("coverage.tmp", "ignored\n");
    env.refused(
        "finalize --results failed:0,passed:1",
        3,
        "fewer_tests",
        "missing tests",
    );
    env.auto("finalize --results failed:0,passed:2").ok();
}

#[test]
fn numbers_must_make_sense() {
    let env = TestEnvironment::started();
    env.write("tests/a.sh", "false\n");
    for results in [
        "",
        " ",
        "3",
        "failed",
        "failed:",
        "failed:x",
        "failed:-1",
        "failed:1.5",
        "failed:1e3",
        "skipped:3",
        "errors:3",
        "failed:1,failed:2",
        "failed:1,total:7",
        "failed:99999999999999999999",
        "failed:1;passed:2",
        "{",
        "[1]",
        "null",
        r#"{"failed":-1}"#,
        r#"{"failed":1.5}"#,
        r#"{"failed":null}"#,
        r#"{"failed":"one"}"#,
        r#"{"failed":1,"total":3}"#,
        r#"{"failed":1} x"#,
        "wins:3",
        "failed:1,wins:3",
        "failed:NaN",
        "failed:+1 ,",
        r#"{"failed":1,"failed":0}"#,
    ] {
        let results = format!("--results={results}");
        for arguments in [
            &["autopilot", "complete", "red", &results][..],
            &["autopilot", "finalize", &results],
        ] {
            env.refused_of(arguments, 2, "bad_results", "");
        }
    }
    for coverage in [
        "",
        "x",
        "-1",
        "100.1",
        "NaN",
        "inf",
        "1e309",
        "lines",
        "lines:x",
        "rows:3",
        "{}x",
        "lines:1,lines:2",
    ] {
        let coverage = format!("--coverage={coverage}");
        env.refused_of(
            &[
                "autopilot",
                "complete",
                "red",
                "--results",
                "failed:1,passed:0",
                &coverage,
            ],
            2,
            "bad_coverage",
            "--coverage",
        );
    }
    env.tm(&[
        "autopilot",
        "complete",
        "red",
        "--results",
        r#"{"total":3,"skipped":1,"passed":1,"failed":1}"#,
    ])
    .ok();
}

#[test]
fn files_must_be_among_the_changed_ones() {
    let env = TestEnvironment::started();
    env.write("tests/a.sh", "false\n");
    env.write("x.tmp", "ignored\n");
    let red = "complete red --results failed:1,passed:0 --files";
    for files in ["README.md", "tests/a.sh,README.md", "no-such-file", "x.tmp"] {
        env.refused(&format!("{red} {files}"), 3, "file_not_changed", "--files");
    }
    for files in ["../outside", "/etc/passwd", "tests/../../x", ".git/config"] {
        let answer = env.tm(&super::environment::autopilot(&format!("{red} {files}")));
        assert!(
            matches!(answer.code(), "bad_path" | "file_not_changed"),
            "{files}: {answer:#?}"
        );
    }
    let before = env.everything();
    assert_eq!(env.auto("next").ok()["unitId"], json!("workUnit-1.1-RED"));
    before.assert_same(&env.everything(), "next");
    env.auto(&format!("{red} tests/a.sh")).ok();
}

#[test]
fn another_phase_or_subtask_is_stale() {
    let env = TestEnvironment::started();
    env.write("tests/a.sh", "false\n");
    for words in [
        "complete green --results failed:0,passed:1",
        "complete red 1.2 --results failed:1,passed:0",
        "complete red 2 --results failed:1,passed:0",
        "complete red --unit workUnit-1.1-RED-2 --results failed:1,passed:0",
        "complete red --unit workUnit-1.1-GREEN --results failed:1,passed:0",
        "complete red --unit x --results failed:1,passed:0",
        "commit",
        "commit 1.1",
        "finalize --results failed:0,passed:1",
    ] {
        let answer = env.refused(words, 5, "stale_unit", "tm autopilot next");
        assert!(
            answer.message().contains("workUnit-1.1-RED"),
            "{words}: {answer:#?}"
        );
        assert_eq!(answer.json()["nextAction"]["unitId"], "workUnit-1.1-RED");
    }
    let nowhere = env.auto("complete red 9.9 --results failed:1,passed:0");
    assert_eq!(nowhere.status, 4, "{nowhere:#?}");
    assert_eq!(nowhere.json()["error"]["code"], "unknown_item");
    // What tells it from the others of its task is enough.
    env.auto("complete red 1 --unit workUnit-1.1-RED --results failed:1,passed:0")
        .ok();
    env.refused(
        "complete red --results failed:2,passed:0",
        5,
        "stale_unit",
        "tm autopilot next",
    );
}
