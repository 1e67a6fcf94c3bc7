//! Which place a value is taken from.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use workspace::config::{
    Config, Origin, Severity, UpdateTaskStatus, environment_name, keys, load, loosened,
};

use super::Place;
use super::loosening::{steps, with};

#[test]
fn with_nothing_set_the_defaults_hold() {
    let place = Place::new();
    let settings = place.load().unwrap();
    assert_eq!(settings.config, Config::default());
    let mut origins = settings.origins.values();
    assert!(origins.all(|origin| *origin == Origin::Default));
    assert!(settings.files.is_empty());
    assert_eq!(settings.store, place.path("home/.taskmaster"));
}

#[test]
fn flag_environment_project_user_default() {
    const KEY: &str = "autopilot.testTimeout";
    let file = |most: u64| format!("{{\n\"autopilot\": {{\n\"testTimeout\": {most}}}}}");
    let mut place = Place::new();
    let (of_user, of_project) = (
        place.path("home/.taskmaster/config.json"),
        place.path("project/.taskmaster/config.json"),
    );
    let (name, line) = ("TRAMLINE_AUTOPILOT_TEST_TIMEOUT", 3);
    let origins = [
        Origin::UserFile {
            path: of_user.clone(),
            line,
        },
        Origin::ProjectFile {
            path: of_project.clone(),
            line,
        },
        Origin::Environment {
            name: name.to_owned(),
        },
        Origin::Flag,
    ];
    for (most, origin) in (4..).zip(origins) {
        place = match origin {
            Origin::UserFile { .. } => place.user(file(most)),
            Origin::ProjectFile { .. } => place.project(file(most)),
            Origin::Environment { .. } => place.variable(name, &most.to_string()),
            _ => place.flag(KEY, most),
        };
        let settings = place.load().unwrap();
        assert_eq!(settings.config.autopilot.test_timeout, most);
        assert_eq!(settings.origins[KEY], origin);
    }
    let settings = place.load().unwrap();
    assert_eq!(settings.origins["test.command"], Origin::Default);
    assert_eq!(settings.files, [of_project, of_user]);
}

/// Whichever place has the strict value: it holds.
#[test]
fn the_strictest_counts_of_what_makes_the_rails_strict() {
    for (key, strict, weak) in steps() {
        let file = |value: &Value| {
            let parts = key.rsplit('.');
            parts
                .fold(value.clone(), |inner, part| json!({ part: inner }))
                .to_string()
        };
        let name = environment_name(key);
        let text = weak.as_str();
        let text = text.map_or_else(|| weak.to_string(), ToOwned::to_owned);
        let new = Place::new;
        let mut places = vec![(
            "weaker of the person",
            new().user(file(&weak)).project(file(&strict)),
        )];
        // What a test is, is the project's to say, and not the shell's.
        if !matches!(key, "test.patterns" | "test.targetedRunPattern") {
            places.push((
                "weaker in the project",
                new().user(file(&strict)).project(file(&weak)),
            ));
        }
        if !weak.is_null() {
            places.extend([
                (
                    "project, environment",
                    new().project(file(&strict)).variable(&name, &text),
                ),
                (
                    "person, environment",
                    new().user(file(&strict)).variable(&name, &text),
                ),
                (
                    "person, flag",
                    new().user(file(&strict)).flag(key, weak.clone()),
                ),
            ]);
            if Config::default().value(key).unwrap() == strict {
                let place = new().variable(&name, &text);
                let overruled = place.load().unwrap().overruled;
                assert_eq!((overruled.len(), &*overruled[0].key), (1, key));
                places.push(("default, environment", place));
            }
        }
        for (what, place) in places {
            let settings = place.load().unwrap();
            let is = settings.value(key).unwrap();
            let as_strict = loosened(&with(key, &strict), &settings.config).is_empty();
            assert!(
                is == strict || strict.is_array() && as_strict,
                "{key} {what}: {is}"
            );
        }
    }
}

#[test]
fn lists_of_several_places_are_put_together() {
    let list = |of: &str, entries: &[&str]| json!({ "git": { of: entries } }).to_string();
    let place = Place::new()
        .user(list("protectedBranches", &["release", "dev"]))
        .project(list("protectedBranches", &["dev", "stable"]))
        .variable("TRAMLINE_GIT_PROTECTED_BRANCHES", "dev");
    let settings = place.load().unwrap();
    let protected = settings.config.git.protected_branches;
    assert_eq!(protected, ["release", "dev", "stable"]);
    assert_eq!(settings.overruled.len(), 1, "the variable adds nothing");
    let place = Place::new().user(list("allowSecrets", &["a", "b"]));
    let place = place.project(list("allowSecrets", &["b", "c"]));
    assert_eq!(place.load().unwrap().config.git.allow_secrets, ["b"]);
    let place = place.variable("TRAMLINE_GIT_ALLOW_SECRETS", "c");
    assert!(place.load().unwrap().config.git.allow_secrets.is_empty());
}

#[test]
fn the_shell_does_not_replace_what_a_run_rests_on() {
    let place = Place::new()
        .project(r#"{"test": {"command": "sh run.sh"}, "autopilot": {"enabled": false}}"#)
        .variable("TRAMLINE_TEST_COMMAND", "true")
        .variable("TRAMLINE_AUTOPILOT_ENABLED", "true");
    let settings = place.load().unwrap();
    assert_eq!(settings.config.test.command.as_deref(), Some("sh run.sh"));
    assert!(!settings.config.autopilot.enabled);
    assert_eq!(settings.overruled.len(), 2);
}

#[test]
fn values_of_one_section_may_come_from_several_places() {
    let settings = Place::new()
        .user(r#"{"test": {"command": "user", "setup": "install", "runner": "cargo"}}"#)
        .project(r#"{"models": {"main": 1}, "test": {"command": "project", "setup": null}}"#)
        .variable("TRAMLINE_TEST_COVERAGE_THRESHOLDS_LINES", "87.5")
        .variable("TRAMLINE_TEST_RUNNER", "")
        .load()
        .unwrap();
    let test = &settings.config.test;
    assert_eq!(test.command.as_deref(), Some("project"));
    assert_eq!(test.setup.as_deref(), Some("install"), "null says nothing");
    assert_eq!(test.runner, "cargo", "neither does an empty variable");
    assert_eq!(test.coverage_thresholds.lines, Some(87.5));
    assert_eq!(test.coverage_thresholds.branches, None);
}

/// A value of this key that is not the default, where there is another one.
fn another(key: &str) -> Value {
    let default = Config::default().value(key).unwrap();
    match key {
        "autopilot.commitTemplate" => json!("{summary}"),
        "autopilot.finalization.updateTaskStatus" => json!("done"),
        "autopilot.redAllPassing" => json!("skip"),
        "autopilot.storage.location" | "autopilot.storage.basePath" => default,
        "approvals.require" => json!("signed"),
        "checks.run" | "evidence.baseline" => json!("off"),
        "evidence.changedLines" => json!(50.0),
        "evidence.flaky" | "evidence.policy.coverage_missing" => json!("refuse"),
        "evidence.replay" => json!("always"),
        "evidence.require" => json!("reported"),
        "submit.approval" => json!("human"),
        "submit.forge" => json!("github"),
        "submit.proof" => json!("bundle"),
        _ if key.starts_with("review.gates") => json!("human"),
        _ if key.starts_with("evidence.policy") => json!("off"),
        _ if key.starts_with("test.coverageThresholds") => json!(50.0),
        _ => match default {
            Value::Bool(is) => json!(!is),
            Value::Number(_) => json!(17),
            Value::Array(_) => json!(["a", "b"]),
            Value::Object(_) => json!({"x/**": "x", "a/**": "a"}),
            _ => json!("some text"),
        },
    }
}

#[test]
fn every_key_can_be_set_from_a_file() {
    let mut all = Config::default().to_json();
    for key in keys() {
        *all.pointer_mut(&format!("/{}", key.replace('.', "/")))
            .unwrap() = another(key);
    }
    let settings = Place::new().project(all.to_string()).load().unwrap();
    assert_eq!(settings.config.to_json(), all);
    // Where runs lie is the person's to say; what says the same is passed over.
    for key in keys().filter(|key| !key.starts_with("autopilot.storage")) {
        let is_of_project = matches!(settings.origins[key], Origin::ProjectFile { .. });
        let is_other = settings.value(key) != Config::default().value(key);
        assert!(is_of_project && is_other, "{key}");
    }
    let scopes = settings.config.git.scopes.keys();
    assert!(
        scopes.eq(["x/**", "a/**"]),
        "globs are tried in the file's order"
    );
}

#[test]
fn every_key_can_be_set_from_the_environment() {
    let mut weaker = 0;
    for key in keys() {
        let value = match key {
            "autopilot.storage.basePath" => json!("/some/folder"),
            _ => another(key),
        };
        let text = match &value {
            Value::String(text) => text.clone(),
            Value::Array(_) => "a, b,".to_owned(),
            other => other.to_string(),
        };
        let name = environment_name(key);
        let settings = Place::new().variable(&name, &text).load().unwrap();
        let origin = Origin::Environment { name };
        if let [overruled] = &settings.overruled[..] {
            // Weaker than the default: the shell cannot say that.
            assert_eq!(settings.value(key), Config::default().value(key), "{key}");
            assert_eq!((&*overruled.key, &overruled.origin), (key, &origin));
            assert_eq!(overruled.value, value, "{key}");
            weaker += 1;
            continue;
        }
        assert_eq!(settings.value(key).unwrap(), value, "{key}");
        assert_eq!(settings.origins[key], origin);
    }
    assert!(weaker > 10, "{weaker}");
    let set = |name, text| Place::new().variable(name, text).load().unwrap().config;
    let listed = set("TRAMLINE_PROMPTS_LOAD_ORDER", r#"["a,b", "c"]"#);
    assert_eq!(listed.prompts.load_order, ["a,b", "c"]);
    let left = set(
        "TRAMLINE_AUTOPILOT_FINALIZATION_UPDATE_TASK_STATUS",
        "false",
    );
    let expected = UpdateTaskStatus::Leave;
    assert_eq!(left.autopilot.finalization.update_task_status, expected);
}

#[test]
fn who_asks_again_gets_what_the_files_say_now() {
    let most = |place: &Place| place.load().unwrap().config.autopilot.test_timeout;
    let place = Place::new();
    let default = most(&place);
    let place = place.user(r#"{"autopilot": {"testTimeout": 4}}"#);
    assert_ne!(default, 4);
    assert_eq!((most(&place), most(&place)), (4, 4));
    let place = place.project(r#"{"autopilot": {"testTimeout": 5}}"#);
    assert_eq!(most(&place), 5);
    // As long as before, and written at once.
    let place = place.project(r#"{"autopilot": {"testTimeout": 6}}"#);
    assert_eq!(most(&place), 6);
    let place = place.project("{");
    assert!(place.load().is_err());
    let place = place.variable("TRAMLINE_AUTOPILOT_TEST_TIMEOUT", "7");
    std::fs::remove_file(place.path("project/.taskmaster/config.json")).unwrap();
    assert_eq!(most(&place), 7);
}

fn base(path: &str) -> String {
    json!({ "autopilot": { "storage": { "basePath": path } } }).to_string()
}

#[test]
fn the_store_can_be_elsewhere() {
    let place = Place::new().file("runs/config.json", r#"{"review": {"maxIterations": 3}}"#);
    let place = place.user(r#"{"review": {"maxIterations": 4}}"#);
    let runs = place.path("runs").to_string_lossy().into_owned();
    let place = place.variable("TRAMLINE_HOME", &runs);
    let place = place.variable("TRAMLINE_AUTOPILOT_STORAGE_BASE_PATH", "/other");
    let settings = place.load().unwrap();
    // The user's config lies in the store.
    assert_eq!(settings.config.review.max_iterations, 3);
    assert_eq!(settings.store, place.path("runs"));
    let name = "TRAMLINE_HOME".to_owned();
    let origin = &settings.origins["autopilot.storage.basePath"];
    assert_eq!(origin, &Origin::Environment { name });
    let place = Place::new().user(base("~/kept"));
    assert_eq!(place.load().unwrap().store, place.path("home/kept"));
}

#[test]
fn a_repository_does_not_say_where_runs_lie() {
    for path in ["kept", ".taskmaster/cache", "/elsewhere", "~/kept", "../x"] {
        let error = Place::new().project(base(path)).load().unwrap_err();
        assert_eq!(error.code(), "config_invalid", "{path}");
        assert!(error.to_string().contains("basePath"), "{error}");
    }
    // It may say what holds anyway.
    let place = Place::new().project(base("~/.taskmaster"));
    assert_eq!(place.load().unwrap().store, place.path("home/.taskmaster"));
    let place = place.user(base("~/kept"));
    assert_eq!(place.load().unwrap().store, place.path("home/kept"));
}

#[test]
fn runs_lie_at_an_absolute_path() {
    for (name, path) in [
        ("HOME", ""),
        ("HOME", "home"),
        ("TRAMLINE_HOME", "runs"),
        ("TRAMLINE_HOME", "$HOME/runs"),
        ("TRAMLINE_HOME", "~other/runs"),
        ("TRAMLINE_HOME", "./runs"),
    ] {
        let error = Place::new().variable(name, path).load().unwrap_err();
        assert_eq!(error.code(), "no_store", "{name}={path}");
    }
    let place = Place::new().variable("HOME", "");
    let place = place.variable("TRAMLINE_HOME", "/runs");
    assert_eq!(place.load().unwrap().store, std::path::Path::new("/runs"));
}

#[test]
fn a_home_that_is_a_project_has_one_config() {
    let place = Place::new().user(r#"{"test": {"command": "x"}}"#);
    let settings = load(&place.path("home"), &BTreeMap::new(), &place.environment()).unwrap();
    assert_eq!(settings.files.len(), 1);
    assert!(matches!(
        settings.origins["test.command"],
        Origin::UserFile { .. }
    ));
}

#[test]
fn two_settings_speak_through_a_policy() {
    let settings = |evidence: &str| {
        Place::new()
            .project(format!("{{\"evidence\": {evidence}}}"))
            .load()
            .unwrap()
    };
    let spoken = settings(r#"{"flaky": "refuse", "requireCoverage": true}"#);
    let policy = &spoken.config.evidence.policy;
    assert_eq!(policy.flaky, Severity::Refuse);
    assert_eq!(policy.coverage_missing, Severity::Refuse);
    for key in ["evidence.policy.flaky", "evidence.policy.coverage_missing"] {
        assert!(
            matches!(spoken.origins[key], Origin::ProjectFile { .. }),
            "{key}"
        );
    }
    let own =
        settings(r#"{"flaky": "refuse", "policy": {"flaky": "off", "coverage_missing": "off"}}"#);
    let policy = &own.config.evidence.policy;
    assert_eq!(policy.flaky, Severity::Off);
    assert_eq!(policy.coverage_missing, Severity::Off);
    assert_eq!(policy.severity("stuck"), Some(Severity::Pause));
    assert_eq!(policy.severity("nonsense"), None);
}

#[test]
fn comments_are_keys_that_begin_like_one() {
    let text = r#"{"$schema": "x", "//": "top", "test": {"// why": 1, "$comment": [], "command": "a", "command": "b"}}"#;
    let config = Place::new().project(text).load().unwrap().config;
    assert_eq!(config.test.command.as_deref(), Some("b"));
}
