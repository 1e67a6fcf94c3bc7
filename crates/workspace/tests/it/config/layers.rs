//! Which place a value is taken from.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use workspace::config::{
    Config, Origin, Setting, Severity, UpdateTaskStatus, environment_name, keys, load, loosened,
    sections,
};

use super::Place;
use super::loosening::{steps, with};

#[test]
fn with_nothing_set_the_defaults_hold() {
    let place = Place::new();
    let settings = place.load().unwrap();
    assert_eq!(settings.config, Config::default());
    let mut origins = settings.origins.values();
    assert!(origins.all(|origin| *origin == Origin::Default) && settings.files.is_empty());
    assert_eq!(settings.store, place.path("home/.taskmaster"));
}

#[test]
fn flag_environment_project_user_default() {
    const KEY: &str = "autopilot.testTimeout";
    const NAME: &str = "TRAMLINE_AUTOPILOT_TEST_TIMEOUT";
    let file = |most: u64| format!("{{\n\"autopilot\": {{\n\"testTimeout\": {most}}}}}");
    let (mut place, mut told) = (Place::new(), Vec::new());
    for (most, from) in (4..).zip(["user", "project", "environment", "flag"]) {
        place = match from {
            "user" => place.user(file(most)),
            "project" => place.project(file(most)),
            "environment" => place.variable(NAME, &most.to_string()),
            _ => place.flag(KEY, most),
        };
        let settings = place.load().unwrap();
        assert_eq!(settings.config.autopilot.test_timeout, most);
        told.push(settings.origins[KEY].to_string());
    }
    let settings = place.load().unwrap();
    assert_eq!(settings.origins["test.command"], Origin::Default);
    let files = ["project", "home"].map(|of| place.path(of).join(".taskmaster/config.json"));
    assert_eq!(settings.files, files);
    let [project, user] = files.map(|file| file.display().to_string());
    let expected = format!("user {user}:3, project {project}:3, environment {NAME}, flag");
    assert_eq!(told.join(", "), expected);
}

#[test]
fn the_strictest_counts_of_what_makes_the_rails_strict() {
    for (key, strict, weak) in steps() {
        let file = |value: &Value| {
            let nest = |inner: Value, part: &str| json!({ part: inner });
            key.rsplit('.').fold(value.clone(), nest).to_string()
        };
        let name = environment_name(key);
        let text = weak.as_str();
        let text = text.map_or_else(|| weak.to_string(), ToOwned::to_owned);
        let new = Place::new;
        let mut places = vec![new().user(file(&weak)).project(file(&strict))];
        // What a test is, is the project's to say, and not the shell's.
        if !matches!(key, "test.patterns" | "test.targetedRunPattern") {
            places.push(new().user(file(&strict)).project(file(&weak)));
        }
        if !weak.is_null() {
            places.extend([
                new().project(file(&strict)).variable(&name, &text),
                new().user(file(&strict)).variable(&name, &text),
                new().user(file(&strict)).flag(key, weak.clone()),
            ]);
            if Config::default().value(key).unwrap() == strict {
                let place = new().variable(&name, &text);
                let overruled = place.load().unwrap().overruled;
                assert_eq!((overruled.len(), &*overruled[0].key), (1, key));
                places.push(place);
            }
        }
        for (number, place) in places.into_iter().enumerate() {
            let settings = place.load().unwrap();
            let is = settings.value(key).unwrap();
            let as_strict = loosened(&with(key, &strict), &settings.config).is_empty();
            let holds = is == strict || strict.is_array() && as_strict;
            assert!(holds, "{key}, place {number}: {is}");
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
        .user(r#"{"test": {"command": "user", "runner": "cargo"}, "bench": {"setup": "install"}}"#)
        // Comments are keys that begin like one, and the last of two equal ones counts.
        .project(r#"{"$schema": "x", "//": "top", "models": {"main": 1}, "test": {"// why": 1, "$comment": [], "command": "x", "command": "project"}, "bench": {"setup": null}}"#)
        .variable("TRAMLINE_TEST_COVERAGE_THRESHOLDS_LINES", "87.5")
        .variable("TRAMLINE_TEST_RUNNER", "")
        .load();
    let config = &settings.unwrap().config;
    let test = &config.test;
    assert_eq!(test.command.as_deref(), Some("project"));
    assert_eq!(
        config.bench.setup.as_deref(),
        Some("install"),
        "null says nothing"
    );
    assert_eq!(test.runner, "cargo", "neither does an empty variable");
    assert_eq!(test.coverage_thresholds.lines, Some(87.5));
    assert_eq!(test.coverage_thresholds.branches, None);
}

/// For each key a value that is not the default, where there is another one.
fn others() -> impl Iterator<Item = (String, Value)> {
    let sections = sections().into_iter();
    let all = sections.flat_map(|(_, section)| section.settings);
    all.map(
        |Setting {
             key,
             values,
             default,
             ..
         }| {
            let other = match (&*key, &*values) {
                ("autopilot.commitTemplate", _) => json!("{summary}"),
                ("autopilot.storage.basePath", _) => default,
                ("evidence.policy.coverage_missing", _) => json!("refuse"),
                (_, "boolean") => json!(default != true),
                (_, "integer") => json!(17),
                (_, "number or null") => json!(50.0),
                (_, "list of string") => json!(["a", "b"]),
                (_, "object") => json!({ "x/**": "x", "a/**": "a" }),
                (_, words) if words.starts_with('`') => {
                    let mut words = words.split(", ").map(|word| word.trim_matches('`'));
                    words
                        .find(|word| default != *word)
                        .map_or(default, Into::into)
                }
                _ => json!("some text"),
            };
            (key, other)
        },
    )
}

#[test]
fn every_key_can_be_set_from_a_file() {
    let mut all = Config::default().to_json();
    for (key, other) in others() {
        *all.pointer_mut(&format!("/{}", key.replace('.', "/")))
            .unwrap() = other;
    }
    let settings = Place::new().project(all.to_string()).load().unwrap();
    assert_eq!(settings.config.to_json(), all);
    // Where runs lie is the person's to say; what says the same is passed over.
    for key in keys().filter(|key| !key.starts_with("autopilot.storage")) {
        let is_of_project = matches!(settings.origins[key], Origin::ProjectFile { .. });
        let is_other = settings.value(key) != Config::default().value(key);
        assert!(is_of_project && is_other, "{key}");
    }
    let scopes: Vec<_> = settings.config.git.scopes.keys().collect();
    // Globs are tried in the file's order.
    assert_eq!(scopes, ["x/**", "a/**"]);
}

#[test]
fn every_key_can_be_set_from_the_environment() {
    let mut weaker = 0;
    for (key, mut value) in others() {
        if key == "autopilot.storage.basePath" {
            value = json!("/some/folder");
        }
        let text = match &value {
            Value::String(text) => text.clone(),
            Value::Array(_) => "a, b,".to_owned(),
            other => other.to_string(),
        };
        let name = environment_name(&key);
        let settings = Place::new().variable(&name, &text).load().unwrap();
        let origin = Origin::Environment { name };
        if let [overruled] = &settings.overruled[..] {
            // Weaker than the default: the shell cannot say that.
            assert_eq!(settings.value(&key), Config::default().value(&key), "{key}");
            let overruled = (&overruled.key, &overruled.origin, &overruled.value);
            assert_eq!(overruled, (&key, &origin, &value));
            weaker += 1;
            continue;
        }
        assert_eq!(settings.value(&key).unwrap(), value, "{key}");
        assert_eq!(settings.origins[&key], origin);
    }
    assert!(weaker > 10, "{weaker}");
    let set = |name, text| Place::new().variable(name, text).load().unwrap().config;
    let listed = set("TRAMLINE_PROMPTS_LOAD_ORDER", r#"["a,b", "c"]"#);
    assert_eq!(listed.prompts.load_order, ["a,b", "c"]);
    let name = "TRAMLINE_AUTOPILOT_FINALIZATION_UPDATE_TASK_STATUS";
    let left = set(name, "false").autopilot.finalization;
    assert_eq!(left.update_task_status, UpdateTaskStatus::Leave);
}

#[test]
fn who_asks_again_gets_what_the_files_say_now() {
    let most = |place: &Place| place.load().unwrap().config.autopilot.test_timeout;
    let file = |most: u64| format!("{{\"autopilot\": {{\"testTimeout\": {most}}}}}");
    let place = Place::new();
    assert_ne!(most(&place), 4);
    let place = place.user(file(4));
    assert_eq!((most(&place), most(&place)), (4, 4));
    let place = place.project(file(5));
    assert_eq!(most(&place), 5);
    // As long as before, and written at once.
    let place = place.project(file(6));
    assert_eq!(most(&place), 6);
    let place = place.project("{");
    assert!(place.load().is_err());
    std::fs::remove_file(place.path("project/.taskmaster/config.json")).unwrap();
    assert_eq!(most(&place), 4);
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
    for setting in "HOME= HOME=home TRAMLINE_HOME=runs TRAMLINE_HOME=$HOME/runs TRAMLINE_HOME=~other/runs TRAMLINE_HOME=./runs".split(' ') {
        let (name, path) = setting.split_once('=').unwrap();
        let error = Place::new().variable(name, path).load().unwrap_err();
        assert_eq!(error.code(), "config_invalid", "{setting}");
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
    let origin = &settings.origins["test.command"];
    assert!(matches!(origin, Origin::UserFile { .. }), "{origin}");
}

#[test]
fn two_settings_speak_through_a_policy() {
    let own = r#"{"flaky": "refuse", "policy": {"flaky": "off", "coverage_missing": "off"}}"#;
    let spoken = r#"{"flaky": "refuse", "requireCoverage": true}"#;
    for (evidence, expected) in [(spoken, Severity::Refuse), (own, Severity::Off)] {
        let place = Place::new().project(format!("{{\"evidence\": {evidence}}}"));
        let settings = place.load().unwrap();
        let policy = &settings.config.evidence.policy;
        for code in ["flaky", "coverage_missing"] {
            assert_eq!(policy.severity(code), Some(expected), "{evidence}");
            let origin = &settings.origins[&format!("evidence.policy.{code}")];
            assert!(matches!(origin, Origin::ProjectFile { .. }), "{origin}");
        }
        assert_eq!(policy.severity("stuck"), Some(Severity::Pause));
        assert_eq!(policy.severity("nonsense"), None);
    }
}
