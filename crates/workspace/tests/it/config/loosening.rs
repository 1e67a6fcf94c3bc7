//! Which changes of the settings make the rails weaker.

use serde_json::{Value, json};
use workspace::config::{Config, keys, loosened};

/// The defaults but for one key.
pub(super) fn with(key: &str, value: &Value) -> Config {
    let mut config = Config::default().to_json();
    let place = format!("/{}", key.replace('.', "/"));
    *config.pointer_mut(&place).expect(key) = value.clone();
    serde_json::from_value(config).expect(key)
}

/// Key, the stricter value, the weaker one.
pub(super) fn steps() -> Vec<(&'static str, Value, Value)> {
    let yes_no = |key| (key, json!(true), json!(false));
    let human = |key| (key, json!("human"), json!("auto"));
    let mut steps = vec![
        yes_no("autopilot.requireCleanWorkingTree"),
        yes_no("evidence.requireCoverage"),
        yes_no("evidence.redInCleanTree"),
        yes_no("evidence.notes"),
        human("review.gates.plan"),
        human("review.gates.code"),
        human("review.gates.review"),
        ("autopilot.maxGreenAttempts", json!(3), json!(4)),
        ("autopilot.redAllPassing", json!("refuse"), json!("skip")),
        ("git.protectedBranches", json!(["a", "b"]), json!(["b"])),
        ("git.protectedBranches", json!(["a"]), json!([])),
        ("git.allowSecrets", json!([]), json!(["*.pem"])),
        ("evidence.require", json!("reported"), json!("claimed")),
        ("evidence.require", json!("verified"), json!("reported")),
        ("evidence.flaky", json!("refuse"), json!("warn")),
        ("evidence.changedLines", json!(80.0), json!(null)),
        ("evidence.baseline", json!("auto"), json!("off")),
        ("evidence.replay", json!("always"), json!("auto")),
        ("evidence.replay", json!("auto"), json!("off")),
        ("evidence.withoutTests", json!([]), json!(["docs"])),
        ("review.maxIterations", json!(10), json!(11)),
    ];
    for key in keys() {
        if key.starts_with("test.coverageThresholds") {
            steps.push((key, json!(80.0), json!(79.5)));
            steps.push((key, json!(80.0), Value::Null));
        }
        if key.starts_with("evidence.policy") {
            steps.push((key, json!("refuse"), json!("warn")));
            steps.push((key, json!("warn"), json!("off")));
            steps.push((key, json!("pause"), json!("warn")));
        }
    }
    steps
}

#[test]
fn weaker_is_told_and_stricter_is_not() {
    for (key, strict, weak) in steps() {
        let (was, is) = (with(key, &strict), with(key, &weak));
        let found = loosened(&was, &is);
        let found: Vec<_> = found.iter().map(|it| (&*it.key, &it.was, &it.is)).collect();
        assert_eq!(found, [(key, &strict, &weak)]);
        assert_eq!(loosened(&is, &was), [], "{key}: tightening");
        assert_eq!(loosened(&was, &was), [], "{key}: no change");
    }
}

#[test]
fn test_patterns_freeze_files_so_losing_one_is_weaker() {
    for (was, is, weaker) in [
        (json!(["a", "b"]), json!(["a"]), true),
        (json!(["a"]), json!([]), true),
        (json!([]), json!(["a"]), true),
        (json!(["a"]), json!(["b", "a"]), false),
        (json!(["a", "b"]), json!(["b", "a"]), false),
    ] {
        let found = loosened(&with("test.patterns", &was), &with("test.patterns", &is));
        assert_eq!(!found.is_empty(), weaker, "{was} -> {is}");
    }
    let target = |value: Value| with("test.targetedRunPattern", &value);
    assert_eq!(loosened(&target(json!("a")), &target(json!("b"))).len(), 1);
    assert_eq!(loosened(&target(json!("a")), &target(Value::Null)).len(), 1);
    assert!(loosened(&target(Value::Null), &target(json!("b"))).is_empty());
}

#[test]
fn what_is_only_different_is_not_weaker() {
    for (key, value) in [
        ("autopilot.commitTemplate", json!("{msg}")),
        ("autopilot.testTimeout", json!(1)),
        ("autopilot.finalization.updateTaskStatus", json!(false)),
        ("git.branchPattern", json!("x")),
        ("git.scopes", json!({"a": "b"})),
        ("prompts.loadOrder", json!([])),
        ("evidence.policy.stuck", json!("refuse")),
    ] {
        let found = loosened(&Config::default(), &with(key, &value));
        assert_eq!(found, [], "{key}");
    }
}

#[test]
fn a_loosening_reads_as_a_sentence() {
    let weaker = with("autopilot.maxGreenAttempts", &json!(9));
    let told = loosened(&Config::default(), &weaker)[0].to_string();
    assert_eq!(told, "`autopilot.maxGreenAttempts` was 3 and is 9");
}
