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
        ("evidence.withoutTests", json!([]), json!(["docs"])),
        ("review.maxIterations", json!(10), json!(11)),
    ];
    for key in keys() {
        if key.starts_with("test.coverageThresholds") {
            steps.extend([json!(79.5), Value::Null].map(|weak| (key, json!(80.0), weak)));
        }
        if key.starts_with("evidence.policy") {
            let pairs = [("refuse", "warn"), ("warn", "off"), ("pause", "warn")];
            steps.extend(pairs.map(|(strict, weak)| (key, json!(strict), json!(weak))));
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
fn what_is_only_different_is_not_weaker_and_losing_a_pattern_of_tests_is() {
    let list = |names: &str| names.split_terminator(' ').collect::<Value>();
    let (patterns, target) = ("test.patterns", "test.targetedRunPattern");
    for (key, was, is, weaker) in [
        (patterns, list("a b"), list("a"), 1),
        (patterns, list("a"), list(""), 1),
        (patterns, list(""), list("a"), 1),
        (patterns, list("a"), list("b a"), 0),
        (patterns, list("a b"), list("b a"), 0),
        (target, json!("a"), json!("b"), 1),
        (target, json!("a"), Value::Null, 1),
        (target, Value::Null, json!("b"), 0),
    ] {
        let found = loosened(&with(key, &was), &with(key, &is));
        assert_eq!(found.len(), weaker, "{was} -> {is}");
    }
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
