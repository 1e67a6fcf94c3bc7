//! Settings that are loosened while a run is under way, and what a person may let pass.

use super::environment::{TASKS, TestEnvironment};
use super::terminal::{agreed, at_terminal};

const STRICT: &str = r#"{
  "test": {"command": "x", "patterns": ["tests/**", "spec/**"], "coverageThresholds": {"lines": 10}},
  "autopilot": {"maxGreenAttempts": 3},
  "git": {"protectedBranches": ["release"], "allowSecrets": ["a"]},
  "evidence": {"requireCoverage": true, "policy": {"red_without_tests": "warn", "stuck": "refuse"}}
}"#;

const RED: &str = "complete red --results failed:1,passed:0 --coverage 50";

#[test]
fn looser_settings_are_refused_and_named() {
    for (was, is, key) in [
        (
            r#""lines": 10"#,
            r#""lines": 9"#,
            "test.coverageThresholds.lines",
        ),
        (r#""lines": 10"#, "", "test.coverageThresholds.lines"),
        (
            r#""maxGreenAttempts": 3"#,
            r#""maxGreenAttempts": 30"#,
            "autopilot.maxGreenAttempts",
        ),
        (
            r#""maxGreenAttempts": 3"#,
            r#""redAllPassing": "skip""#,
            "autopilot.redAllPassing",
        ),
        (
            r#""maxGreenAttempts": 3"#,
            r#""requireCleanWorkingTree": false"#,
            "autopilot.requireCleanWorkingTree",
        ),
        (
            r#""warn", "stuck""#,
            r#""off", "stuck""#,
            "evidence.policy.red_without_tests",
        ),
        (
            r#""stuck": "refuse""#,
            r#""fewer_tests": "off", "stuck": "refuse""#,
            "evidence.policy.fewer_tests",
        ),
        (
            r#""stuck": "refuse""#,
            r#""config_loosened": "off""#,
            "evidence.policy.config_loosened",
        ),
        (
            r#""requireCoverage": true, "#,
            "",
            "evidence.requireCoverage",
        ),
        (r#"["release"]"#, "[]", "git.protectedBranches"),
        (r#"["a"]"#, r#"["a", "**"]"#, "git.allowSecrets"),
        (r#", "spec/**""#, "", "test.patterns"),
    ] {
        let env = TestEnvironment::started_with(STRICT);
        env.write("tests/a.sh", "test\n");
        let looser = STRICT.replacen(was, is, 1);
        assert_ne!(looser, STRICT, "{was}");
        env.write(".taskmaster/config.json", &looser);
        let answer = env.refused(RED, 3, "config_loosened", "put the settings back");
        assert!(answer.message().contains(key), "{key}: {answer:#?}");
        assert!(
            answer
                .suggestion()
                .contains("tm autopilot allow config_loosened"),
            "{answer:#?}"
        );
        env.write(".taskmaster/config.json", STRICT);
        env.auto(RED).ok();
    }
}

/// A variable can only make the rails stricter, so that nobody has to accuse it.
#[test]
fn a_looser_environment_does_not_count() {
    let env = TestEnvironment::started_with(STRICT);
    env.write("tests/a.sh", "test\n");
    let mut program = env.program(&super::environment::autopilot(RED));
    program.env("TRAMLINE_EVIDENCE_POLICY_FEWER_TESTS", "off");
    let answer = testkit::Outcome::of(&program.output().unwrap()).answered();
    answer.ok();
}

#[test]
fn stricter_or_other_settings_are_nobodys_fault() {
    for (was, is) in [
        (r#""lines": 10"#, r#""lines": 11, "branches": 5"#),
        (r#""maxGreenAttempts": 3"#, r#""maxGreenAttempts": 2"#),
        (
            r#""maxGreenAttempts": 3"#,
            r#""maxGreenAttempts": 3, "commitTemplate": "{msg}""#,
        ),
        (
            r#""warn", "stuck": "refuse""#,
            r#""refuse", "stuck": "pause""#,
        ),
        (r#"["release"]"#, r#"["release", "next"]"#),
        (r#"["a"]"#, "[]"),
        (
            r#"["tests/**", "spec/**"]"#,
            r#"["spec/**", "tests/**", "more/**"]"#,
        ),
        ("{\n", "{\n\"models\": {\"main\": 1},\n"),
        ("\n", "\n\n"),
    ] {
        let env = TestEnvironment::started_with(STRICT);
        env.write("tests/a.sh", "test\n");
        let other = STRICT.replacen(was, is, 1);
        assert_ne!(other, STRICT, "{was}");
        env.write(".taskmaster/config.json", &other);
        env.auto(RED).ok();
    }
}

#[test]
fn a_run_keeps_the_rules_it_was_started_with() {
    // A policy that was off at the start stays off, and attempts are those of the start.
    let env = TestEnvironment::started_with(
        r#"{"test": {"command": "x"}, "evidence": {"policy": {"red_without_tests": "off"}}}"#,
    );
    env.write(
        ".taskmaster/config.json",
        r#"{"test": {"command": "x"}, "autopilot": {"maxGreenAttempts": 1}}"#,
    );
    env.git(&["checkout", "--quiet", "--", "README.md"]);
    env.auto("complete red --results failed:1,passed:0").ok();
    let retry = env.auto("complete green --results failed:1,passed:0");
    assert_eq!(retry.json()["nextAction"]["attempt"], 2, "{retry:#?}");
}

#[test]
fn only_a_person_lets_a_refusal_pass() {
    lets_a_refusal_pass("autopilot");
}

#[test]
fn only_a_person_lets_a_refusal_of_any_run_pass() {
    lets_a_refusal_pass("run");
}

fn lets_a_refusal_pass(group: &str) {
    let env = TestEnvironment::started();
    let allow = [
        group,
        "allow",
        "red_without_tests",
        "--reason",
        "covered elsewhere",
    ];
    env.refused_of(&allow, 3, "needs_terminal", "person");
    let (status, shown) = at_terminal(&env, &allow, "no\n");
    assert_eq!(status, 3, "{shown}");
    env.refused(
        "complete red --results failed:1,passed:0",
        3,
        "red_without_tests",
        "",
    );

    let (status, shown) = agreed(&env, &allow);
    assert_eq!(status, 0, "{shown}");
    let red = env.auto("complete red --results failed:1,passed:0").ok();
    assert_eq!(red["nextAction"]["action"], "green");
    assert!(
        env.events().contains(&"refusal:allowed".to_owned()),
        "{:?}",
        env.events()
    );

    // It was for that unit: the next one is held against the rule again.
    env.auto("reopen --reason again").ok();
    env.refused(
        "complete red --results failed:1,passed:0",
        3,
        "red_without_tests",
        "",
    );
    env.write("tests/a.sh", "test\n");
    env.auto("complete red --results failed:1,passed:0").ok();
    let report = env.tm(&["runs", "report"]).ok();
    assert_eq!(report["allowed"][0]["code"], "red_without_tests");
    assert_eq!(report["allowed"][0]["reason"], "covered elsewhere");
}

#[test]
fn what_is_no_policy_cannot_be_let_pass() {
    let env = TestEnvironment::started();
    for code in [
        "red_requires_failing_tests",
        "secret_file",
        "no-such-code",
        "stale_unit",
    ] {
        let before = env.everything();
        let arguments = ["autopilot", "allow", code, "--reason", "because"];
        // Nobody is asked for what would be refused.
        let (status, shown) = at_terminal(&env, &arguments, "");
        assert_eq!(status, 3, "{code}: {shown}");
        assert!(
            shown.contains("red_without_tests") && !shown.contains("Type"),
            "{shown}"
        );
        before.assert_same(&env.everything(), code);
    }
}

#[test]
fn policies_can_be_turned_down_before_a_run() {
    for (severity, accepted) in [("off", true), ("warn", true), ("refuse", false)] {
        let config = format!(
            r#"{{"test": {{"command": "x"}}, "evidence": {{"policy": {{"red_without_tests": "{severity}"}}}}}}"#
        );
        let env = TestEnvironment::with(TASKS, &config);
        env.auto("start 1").ok();
        let red = env.auto("complete red --results failed:1,passed:0");
        assert_eq!(red.status == 0, accepted, "{severity}: {red:#?}");
        assert_eq!(
            red.json().get("warning").is_some(),
            severity == "warn",
            "{severity}: {red:#?}"
        );
    }
    // `pause` stops the run for a person to look at.
    let env = TestEnvironment::started_with(
        r#"{"test": {"command": "x"}, "evidence": {"policy": {"red_without_tests": "pause"}}}"#,
    );
    let red = env.auto("complete red --results failed:1,passed:0");
    assert_eq!(red.status, 3, "{red:#?}");
    assert_eq!(
        red.json()["nextAction"]["pausedReason"],
        "red_without_tests"
    );
    super::advice::check(&env, &red);
    let (status, shown) = agreed(&env, &["autopilot", "resume"]);
    assert_eq!(status, 0, "{shown}");
    assert_eq!(env.action(), "red");
}
