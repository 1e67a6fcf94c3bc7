//! Settings that are loosened while a run is under way, and what a person may let pass.

use super::environment::{RED, SETTINGS, TestEnvironment, autopilot, tells};

const STRICT: &str = r#"{
  "test": {"command": "x", "patterns": ["tests/**", "spec/**"], "coverageThresholds": {"lines": 10}},
  "evidence": {"requireCoverage": true, "policy": {"red_without_tests": "warn"}}
}"#;

/// Which changes are looser is held key by key where settings are read.
#[test]
fn looser_settings_are_refused_and_named_and_others_are_nobodys_fault() {
    let env = TestEnvironment::started_with(STRICT);
    env.write("tests/a.sh", "test\n");
    env.save(0);
    let red = format!("{RED} --coverage 50");
    let itself = "evidence.policy.config_loosened";
    let patterns = r#""tests/**", "spec/**""#;
    for (was, is, looser) in [
        (r#""lines": 10"#, "", "test.coverageThresholds.lines"),
        (r#""warn""#, r#""off""#, "evidence.policy.red_without_tests"),
        (r#""warn""#, r#""warn", "config_loosened": "off""#, itself),
        (r#""lines": 10"#, r#""lines": 11, "branches": 5"#, ""),
        (patterns, r#""spec/**", "tests/**", "more/**""#, ""),
        ("{\n", "{\n\"models\": {\"main\": 1},\n", ""),
    ] {
        let other = STRICT.replacen(was, is, 1);
        assert_ne!(other, STRICT, "{was}");
        env.write(SETTINGS, &other);
        if !looser.is_empty() {
            let answer = env.refuses(&red, "config_loosened");
            tells(answer.message(), &[looser]);
            tells(answer.suggestion(), &["tm autopilot allow config_loosened"]);
            env.write(SETTINGS, STRICT);
        }
        env.auto(&red).ok();
        env.restore(0);
    }
    // A variable can only make the rails stricter, so that nobody has to accuse it.
    let mut program = env.program(&autopilot(&red));
    program.env("TRAMLINE_EVIDENCE_POLICY_FEWER_TESTS", "off");
    assert!(program.output().unwrap().status.success());
}

#[test]
fn a_run_keeps_the_rules_it_was_started_with() {
    // A policy that was off at the start stays off, and attempts are those of the start.
    let off = r#"{"test": {"command": "x"}, "evidence": {"policy": {"red_without_tests": "off"}}}"#;
    let env = TestEnvironment::started_with(off);
    let later = r#"{"test": {"command": "x"}, "autopilot": {"maxGreenAttempts": 1}}"#;
    env.write(SETTINGS, later);
    env.auto(RED).ok();
    let retry = env.auto("complete green --results failed:1,passed:0");
    assert_eq!(retry.json()["nextAction"]["attempt"], 2, "{retry:#?}");
}

#[test]
fn only_a_person_lets_a_refusal_pass() {
    let env = TestEnvironment::started();
    let reason = "covered elsewhere";
    let allow = ["run", "allow", "red_without_tests", "--reason", reason];
    env.refused_of(&allow, 3, "needs_person", "person");
    env.agreed(&allow);
    env.auto(RED).ok();
    // It was for that unit: the next one is held against the rule again.
    env.auto("reopen --reason again").ok();
    env.refuses(RED, "red_without_tests");
    let allowed = &env.report()["allowed"][0];
    assert_eq!(allowed["code"], "red_without_tests");
    assert_eq!(allowed["reason"], reason);
}
