//! Which place a value is taken from.

use project::config::{Config, Origin, Severity, UpdateTaskStatus, environment_name, keys};
use serde_json::json;

use crate::Place;

#[test]
fn with_nothing_set_the_defaults_hold() {
    let place = Place::new();
    let settings = place.load().unwrap();
    assert_eq!(settings.config, Config::default());
    assert!(
        settings
            .origins
            .values()
            .all(|origin| *origin == Origin::Default)
    );
    assert!(settings.files.is_empty());
    assert_eq!(settings.store, place.path("home/.taskmaster"));
}

#[test]
fn flag_environment_project_user_default() {
    let file =
        |attempts: u32| format!("{{\n\"autopilot\": {{\n\"maxGreenAttempts\": {attempts}}}}}");
    let key = "autopilot.maxGreenAttempts";
    let user = Place::new().user(file(4));
    let settings = user.load().unwrap();
    assert_eq!(settings.config.autopilot.max_green_attempts, 4);
    let path = user.path("home/.taskmaster/config.json");
    assert_eq!(
        settings.origins[key],
        Origin::UserFile {
            path: path.clone(),
            line: 3
        }
    );

    let project = user.project(file(5));
    let settings = project.load().unwrap();
    assert_eq!(settings.config.autopilot.max_green_attempts, 5);
    let own = project.path("project/.taskmaster/config.json");
    assert_eq!(
        settings.origins[key],
        Origin::ProjectFile {
            path: own.clone(),
            line: 3
        }
    );
    assert_eq!(settings.files, [own, path]);

    let environment = project.variable("TRAMLINE_AUTOPILOT_MAX_GREEN_ATTEMPTS", "6");
    let settings = environment.load().unwrap();
    assert_eq!(settings.config.autopilot.max_green_attempts, 6);
    let name = "TRAMLINE_AUTOPILOT_MAX_GREEN_ATTEMPTS".to_owned();
    assert_eq!(settings.origins[key], Origin::Environment { name });

    let settings = environment.flag(key, 7).load().unwrap();
    assert_eq!(settings.config.autopilot.max_green_attempts, 7);
    assert_eq!(settings.origins[key], Origin::Flag);
    assert_eq!(settings.origins["test.command"], Origin::Default);
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
    assert_eq!(
        test.coverage_thresholds.branches, None,
        "there are no thresholds by default"
    );
}

#[test]
fn every_key_can_be_set_from_a_file() {
    let all = json!({
        "autopilot": {
            "enabled": false, "requireCleanWorkingTree": false, "commitTemplate": "{msg}",
            "defaultCommitType": "fix", "maxGreenAttempts": 9, "testTimeout": 1000,
            "redAllPassing": "skip", "storage": { "location": "global", "basePath": "/runs" },
            "finalization": { "updateTaskStatus": false }
        },
        "test": {
            "command": "make check", "setup": "make", "runner": "make", "patterns": ["t/**"],
            "targetedRunPattern": "**/*.t",
            "coverageThresholds": { "lines": 80.0, "branches": 0.0, "functions": 99.5, "statements": 100.0 }
        },
        "git": {
            "branchPattern": "{id}", "defaultRemote": "up", "protectedBranches": ["dev"],
            "allowSecrets": ["test/*.pem"], "scopes": { "b/**": "b", "a/**": "a" }, "fsync": false,
            "commitTimeout": 5
        },
        "prompts": { "rulesPath": "rules", "loadOrder": [], "testGeneratorPath": "gen.md" },
        "evidence": {
            "require": "verified", "requireCoverage": true, "flaky": "refuse", "redInCleanTree": true,
            "notes": true,
            "policy": {
                "red_without_tests": "warn", "production_changed": "refuse", "no_new_failure": "off",
                "tests_changed": "off", "fewer_tests": "off", "tests_missing": "off",
                "changed_after_green": "off", "changed_after_commit": "off", "foreign_commit": "off",
                "history_rewritten": "off", "config_loosened": "off", "command_replaced": "off",
                "stale_report": "off", "flaky": "off", "stuck": "off", "coverage_missing": "refuse"
            }
        },
        "review": { "gates": { "plan": "human", "code": "human", "review": "human" }, "maxIterations": 2 }
    });
    let place = Place::new().project(all.to_string());
    let settings = place.load().unwrap();
    assert_eq!(settings.config.to_json(), all);
    for key in keys() {
        let origin = &settings.origins[key];
        assert!(
            matches!(origin, Origin::ProjectFile { .. }),
            "{key}: {origin}"
        );
        assert_ne!(
            settings.value(key),
            Config::default()
                .value(key)
                .filter(|_| key != "autopilot.storage.location"),
            "{key}"
        );
    }
    let scopes: Vec<_> = settings.config.git.scopes.keys().collect();
    assert_eq!(
        scopes,
        ["b/**", "a/**"],
        "globs are tried in the file's order"
    );
}

#[test]
fn every_key_can_be_set_from_the_environment() {
    for key in keys() {
        let default = Config::default().value(key).unwrap();
        let (text, value) = match &default {
            json if json.is_boolean() => {
                let value = !json.as_bool().unwrap();
                (value.to_string(), json!(value))
            }
            json if json.is_number() => ("17".to_owned(), json!(17)),
            json if json.is_array() => ("a, b,".to_owned(), json!(["a", "b"])),
            json if json.is_object() => (r#"{"x/**": "x"}"#.to_owned(), json!({"x/**": "x"})),
            _ if key.starts_with("test.coverageThresholds") => ("50".to_owned(), json!(50.0)),
            _ if key.starts_with("evidence.policy") => ("off".to_owned(), json!("off")),
            _ => match key {
                "autopilot.redAllPassing" => ("skip".to_owned(), json!("skip")),
                "autopilot.storage.location" => ("global".to_owned(), json!("global")),
                "evidence.require" => ("reported".to_owned(), json!("reported")),
                "evidence.flaky" => ("refuse".to_owned(), json!("refuse")),
                key if key.starts_with("review.gates") => ("human".to_owned(), json!("human")),
                _ => ("some text".to_owned(), json!("some text")),
            },
        };
        let name = environment_name(key);
        let settings = Place::new().variable(&name, &text).load().unwrap();
        assert_eq!(settings.value(key).unwrap(), value, "{key}");
        assert_eq!(settings.origins[key], Origin::Environment { name });
    }
    let listed = Place::new()
        .variable("TRAMLINE_TEST_PATTERNS", r#"["a,b", "c"]"#)
        .load()
        .unwrap();
    assert_eq!(listed.config.test.patterns, ["a,b", "c"]);
    let left = Place::new().variable(
        "TRAMLINE_AUTOPILOT_FINALIZATION_UPDATE_TASK_STATUS",
        "false",
    );
    let left = left
        .load()
        .unwrap()
        .config
        .autopilot
        .finalization
        .update_task_status;
    assert_eq!(left, UpdateTaskStatus::Leave);
}

#[test]
fn who_asks_again_gets_what_the_files_say_now() {
    let most = |place: &Place| place.load().unwrap().config.review.max_iterations;
    let place = Place::new();
    let default = most(&place);
    let place = place.user(r#"{"review": {"maxIterations": 4}}"#);
    assert_ne!(default, 4);
    assert_eq!((most(&place), most(&place)), (4, 4));
    let place = place.project(r#"{"review": {"maxIterations": 5}}"#);
    assert_eq!(most(&place), 5);
    // As long as before, and written at once.
    let place = place.project(r#"{"review": {"maxIterations": 6}}"#);
    assert_eq!(most(&place), 6);
    let place = place.project("{");
    assert!(place.load().is_err());
    let place = place.variable("TRAMLINE_REVIEW_MAX_ITERATIONS", "7");
    std::fs::remove_file(place.path("project/.taskmaster/config.json")).unwrap();
    assert_eq!(most(&place), 7);
}

#[test]
fn the_store_can_be_elsewhere() {
    let place = Place::new()
        .file("runs/config.json", r#"{"review": {"maxIterations": 3}}"#)
        .user(r#"{"review": {"maxIterations": 4}}"#);
    let runs = place.path("runs").to_string_lossy().into_owned();
    let place = place
        .variable("TRAMLINE_HOME", &runs)
        .variable("TRAMLINE_AUTOPILOT_STORAGE_BASE_PATH", "/other");
    let settings = place.load().unwrap();
    assert_eq!(
        settings.config.review.max_iterations, 3,
        "the user's config lies in the store"
    );
    assert_eq!(settings.store, place.path("runs"));
    let name = "TRAMLINE_HOME".to_owned();
    assert_eq!(
        settings.origins["autopilot.storage.basePath"],
        Origin::Environment { name }
    );

    let base = |path: &str| format!(r#"{{"autopilot": {{"storage": {{"basePath": "{path}"}}}}}}"#);
    let place = Place::new().project(base("~/kept"));
    assert_eq!(place.load().unwrap().store, place.path("home/kept"));
    let place = Place::new().project(base("kept"));
    assert_eq!(place.load().unwrap().store, place.path("project/kept"));
}

#[test]
fn a_home_that_is_a_project_has_one_config() {
    let place = Place::new().user(r#"{"test": {"command": "x"}}"#);
    let home = place.path("home");
    let settings = project::config::load(
        &home,
        &std::collections::BTreeMap::new(),
        &place.environment(),
    )
    .unwrap();
    assert_eq!(settings.files.len(), 1);
    assert!(matches!(
        settings.origins["test.command"],
        Origin::ProjectFile { .. }
    ));
}

#[test]
fn two_settings_speak_through_a_policy() {
    let place =
        Place::new().project(r#"{"evidence": {"flaky": "refuse", "requireCoverage": true}}"#);
    let settings = place.load().unwrap();
    let policy = &settings.config.evidence.policy;
    assert_eq!(policy.flaky, Severity::Refuse);
    assert_eq!(policy.coverage_missing, Severity::Refuse);
    assert!(matches!(
        settings.origins["evidence.policy.flaky"],
        Origin::ProjectFile { .. }
    ));
    assert!(matches!(
        settings.origins["evidence.policy.coverage_missing"],
        Origin::ProjectFile { .. }
    ));

    let place = Place::new().project(
        r#"{"evidence": {"flaky": "refuse", "policy": {"flaky": "off", "coverage_missing": "off"}}}"#,
    );
    let policy = place.load().unwrap().config.evidence.policy;
    assert_eq!(
        (policy.flaky, policy.coverage_missing),
        (Severity::Off, Severity::Off)
    );
    assert_eq!(policy.severity("stuck"), Some(Severity::Pause));
    assert_eq!(policy.severity("nonsense"), None);
}

#[test]
fn comments_are_keys_that_begin_like_one() {
    let place = Place::new().project(
        r#"{"$schema": "x", "//": "top", "test": {"// why": 1, "$comment": [], "command": "a", "command": "b"}}"#,
    );
    assert_eq!(
        place.load().unwrap().config.test.command.as_deref(),
        Some("b")
    );
}
