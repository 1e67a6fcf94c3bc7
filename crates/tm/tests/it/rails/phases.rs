//! RED, GREEN and the final suite: the rows of the table, and the numbers that make no sense.

use testkit::files::contents;

use super::environment::{FINALIZE, GREEN, RED, TestEnvironment, tells};

/// A report with these results, which is accepted with this warning, or with none.
fn warned(env: &TestEnvironment, report: &str, warning: &str) {
    let answer = env.auto(report).ok();
    assert_eq!(answer.get("warning").is_none(), warning.is_empty());
    tells(&answer["warning"], &[warning]);
}

#[test]
fn red_needs_a_changed_file_and_a_failing_test() {
    let env = TestEnvironment::started();
    env.refused(RED, 3, "red_without_tests", "allow red_without_tests");
    // What is ignored is no test.
    env.write("notes.tmp", "ignored\n");
    env.refused(RED, 3, "red_without_tests", "tests");
    env.write("tests/a.sh", "false\n");
    for (results, code) in [
        ("failed:0,passed:3", "red_requires_failing_tests"),
        ("failed:0,passed:0,skipped:4", "no_tests_ran"),
    ] {
        env.refuses(&format!("complete red --results {results}"), code);
    }
    // What does not compile, or passes in part, is accepted with a warning.
    for (results, warning) in [
        ("failed:0,passed:0,errors:2", "compiled"),
        ("failed:1,passed:9", "Tests pass, too"),
        ("failed:1,passed:0,errors:1", ""),
    ] {
        warned(&env, &format!("complete red --results {results}"), warning);
        env.auto("reopen --reason again").ok();
    }
    // Tests that the executor committed itself are tests, too.
    env.commit_all("Tests first");
    env.auto(RED).ok();
}

#[test]
fn green_needs_passing_tests_and_none_that_fails() {
    let env = TestEnvironment::started();
    env.write("tests/a.sh", "false\n");
    env.auto("complete red --results failed:1,passed:0,skipped:1")
        .ok();
    env.write("src/a.sh", "true\n");
    let none = "complete --results failed:0,passed:0,skipped:2";
    env.refuses(none, "no_tests_ran");
    let errors = "complete green --results failed:0,passed:5,errors:1";
    let retry = env.comes_to(errors, "green_tests_still_failing");
    assert_eq!(retry.json()["nextAction"]["attempt"], 2);
    assert_eq!(retry.json()["nextAction"]["unitId"], "workUnit-1.1-GREEN-2");
    env.auto(GREEN).ok();
}

#[test]
fn attempts_can_be_fewer_and_a_person_grants_fresh_ones() {
    let env = TestEnvironment::new();
    env.refused("start 1 --max-attempts 4", 3, "beyond_settings", "a person");
    let by_input = "run start tdd --input taskId=1 --input maxAttempts=99";
    let by_input: Vec<&str> = by_input.split(' ').collect();
    env.refused_of(&by_input, 3, "beyond_settings", "a person");
    env.auto("start 1 --max-attempts 1").ok();
    env.red();
    let fails = || {
        let failing = "complete green --results failed:1,passed:1";
        let answer = env.comes_to(failing, "green_tests_still_failing");
        tells(answer.suggestion(), &["tm autopilot resume"]);
        assert_eq!(env.status("pausedReason"), "max_attempts_reached");
    };
    fails();
    for words in [GREEN, "commit"] {
        env.refused(words, 5, "paused", "tm autopilot resume");
    }
    // Whoever does the work does not give itself more attempts.
    env.refused("resume", 3, "needs_person", "person");
    env.agreed(&["autopilot", "resume"]);
    assert_eq!(env.next()["attempt"], 1);
    assert_eq!(env.unit(), "workUnit-1.1-GREEN-2");
    fails();
    // Each failed attempt has a file of its own.
    let results = contents(&env.run_folder().join("test-results"));
    let failed = results.keys().filter(|name| name.contains("-failed-"));
    assert_eq!(failed.count(), 2);
    // A step back is a way out of the pause, too.
    env.refused("reopen --reason x", 3, "needs_person", "person");
    env.agreed(&["autopilot", "reopen", "--reason", "x"]);
    assert_eq!(env.action(), "red");
}

#[test]
fn coverage_is_held_against_its_thresholds() {
    let config =
        r#"{"test": {"command": "x", "coverageThresholds": {"lines": 80, "branches": 70}}}"#;
    let env = TestEnvironment::started_with(config);
    env.red();
    env.write("src/1.1.sh", "code\n");
    let both = ("lines:79.9,branches:12", ["lines 79.9", "branches 12"]);
    for (coverage, told) in [both, ("12", ["lines 12", "threshold 80"])] {
        let words = format!("{GREEN} --coverage {coverage}");
        let answer = env.refuses(&words, "coverage_below_threshold");
        tells(answer.message(), &told);
        // No attempt is used up.
        assert_eq!(answer.json()["nextAction"]["attempt"], 1);
    }
    let all = "--coverage lines:80,branches:70,functions:0";
    for (coverage, missing) in [("--coverage 80", "branches"), ("", "lines"), (all, "")] {
        warned(&env, &format!("{GREEN} {coverage}"), missing);
        env.auto("reopen --reason again").ok();
    }
}

#[test]
fn coverage_can_be_required() {
    let settings = [
        r#"{"test": {"command": "x"}, "evidence": {"requireCoverage": true}}"#,
        r#"{"test": {"command": "x", "coverageThresholds": {"lines": 80}}, "evidence": {"policy": {"coverage_missing": "refuse"}}}"#,
    ];
    let [_, env] = settings.map(|config| {
        let env = TestEnvironment::started_with(config);
        env.red();
        env.write("src/a.sh", "a\n");
        env.refused(GREEN, 3, "coverage_missing", "--coverage");
        env
    });
    env.auto(&format!("{GREEN} --coverage 81")).ok();
    env.commit();
    env.auto("skip --reason enough").ok();
    env.refused(FINALIZE, 3, "coverage_missing", "--coverage");
    let below = format!("{FINALIZE} --coverage 40");
    env.refused(&below, 3, "coverage_below_threshold", "--skip-coverage");
    env.auto(&format!("{below} --skip-coverage")).ok();
}

#[test]
fn the_final_suite_is_that_of_what_was_committed() {
    let env = TestEnvironment::at_the_end();
    env.write("src/late.sh", "late\n");
    let answer = env.refuses(FINALIZE, "changed_after_commit");
    tells(answer.message(), &["src/late.sh"]);
    env.delete("src/late.sh");
    // An empty commit of somebody else is told, too.
    env.git_words("commit --quiet --allow-empty --message Empty");
    env.refused(FINALIZE, 3, "branch_moved", "tm autopilot rewind");
    env.git(&["reset", "--quiet", "HEAD~1"]);
    env.write("coverage.tmp", "ignored\n");
    env.auto(FINALIZE).ok();
}

#[test]
fn files_must_be_among_the_changed_ones() {
    let env = TestEnvironment::started();
    env.write("tests/a.sh", "false\n");
    env.write("x.tmp", "ignored\n");
    for (files, code) in [
        ("tests/a.sh,README.md", "nothing_changed"),
        (".git/config", "nothing_changed"),
        ("x.tmp", "nothing_changed"),
        ("tests/../../x", "bad_name"),
    ] {
        env.refuses(&format!("{RED} --files {files}"), code);
    }
    env.auto(&format!("{RED} --files tests/a.sh")).ok();
}
