//! Which place a value is taken from.

use serde_json::json;
use workspace::config::{Config, Origin, Severity, UpdateTaskStatus, environment_name, keys};

use super::Place;

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
        |milliseconds: u32| format!("{{\n\"autopilot\": {{\n\"testTimeout\": {milliseconds}}}}}");
    let key = "autopilot.testTimeout";
    let user = Place::new().user(file(4));
    let settings = user.load().unwrap();
    assert_eq!(settings.config.autopilot.test_timeout, 4);
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
    assert_eq!(settings.config.autopilot.test_timeout, 5);
    let own = project.path("project/.taskmaster/config.json");
    assert_eq!(
        settings.origins[key],
        Origin::ProjectFile {
            path: own.clone(),
            line: 3
        }
    );
    assert_eq!(settings.files, [own, path]);

    let environment = project.variable("TRAMLINE_AUTOPILOT_TEST_TIMEOUT", "6");
    let settings = environment.load().unwrap();
    assert_eq!(settings.config.autopilot.test_timeout, 6);
    let name = "TRAMLINE_AUTOPILOT_TEST_TIMEOUT".to_owned();
    assert_eq!(settings.origins[key], Origin::Environment { name });

    let settings = environment.flag(key, 7).load().unwrap();
    assert_eq!(settings.config.autopilot.test_timeout, 7);
    assert_eq!(settings.origins[key], Origin::Flag);
    assert_eq!(settings.origins["test.command"], Origin::Default);
}

/// Whichever place has the strict value: it holds.
#[test]
fn the_strictest_counts_of_what_makes_the_rails_strict() {
    for (key, strict, weak) in super::loosening::steps() {
        // What a test is, is the project's to say, and not the shell's.
        let of_project = matches!(key, "test.patterns" | "test.targetedRunPattern");
        let file = |value: &serde_json::Value| {
            let parts: Vec<&str> = key.split('.').collect();
            let nested = parts
                .iter()
                .rev()
                .fold(value.clone(), |inner, part| json!({ *part: inner }));
            nested.to_string()
        };
        let text = |value: &serde_json::Value| match value {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let name = environment_name(key);
        let holds = |place: &Place, what: &str| {
            let settings = place.load().unwrap();
            let lists = strict.is_array();
            let is = settings.value(key).unwrap();
            let kept = is == strict
                || lists
                    && workspace::config::loosened(&with(key, &strict), &settings.config)
                        .is_empty();
            assert!(kept, "{key} {what}: {is}");
        };
        if !of_project {
            let place = Place::new().user(file(&strict)).project(file(&weak));
            holds(&place, "of the person, weaker in the project");
        }
        if !weak.is_null() {
            let place = Place::new()
                .project(file(&strict))
                .variable(&name, &text(&weak));
            holds(&place, "of the project, weaker in the environment");
            let place = Place::new()
                .user(file(&strict))
                .variable(&name, &text(&weak));
            holds(&place, "of the person, weaker in the environment");
            let place = Place::new().user(file(&strict)).flag(key, weak.clone());
            holds(&place, "of the person, weaker by a flag");
            let default = Config::default().value(key).unwrap();
            if default == strict {
                let place = Place::new().variable(&name, &text(&weak));
                holds(&place, "by default, weaker in the environment");
                let settings = place.load().unwrap();
                assert_eq!(settings.overruled.len(), 1, "{key}");
                assert_eq!(settings.overruled[0].key, key);
            }
        }
        let place = Place::new().user(file(&weak)).project(file(&strict));
        holds(&place, "of the project, weaker of the person");
    }
}

/// The defaults but for one key.
fn with(key: &str, value: &serde_json::Value) -> Config {
    let mut config = Config::default().to_json();
    *config
        .pointer_mut(&format!("/{}", key.replace('.', "/")))
        .unwrap() = value.clone();
    serde_json::from_value(config).unwrap()
}

#[test]
fn lists_of_several_places_are_put_together() {
    let list = |of: &str, entries: &[&str]| json!({ "git": { of: entries } }).to_string();
    let place = Place::new()
        .user(list("protectedBranches", &["release", "dev"]))
        .project(list("protectedBranches", &["dev", "stable"]))
        .variable("TRAMLINE_GIT_PROTECTED_BRANCHES", "dev");
    let settings = place.load().unwrap();
    assert_eq!(
        settings.config.git.protected_branches,
        ["release", "dev", "stable"]
    );
    assert_eq!(settings.overruled.len(), 1, "the variable adds nothing");
    let place = Place::new()
        .user(list("allowSecrets", &["a", "b"]))
        .project(list("allowSecrets", &["b", "c"]));
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
    assert_eq!(
        test.coverage_thresholds.branches, None,
        "there are no thresholds by default"
    );
}

#[test]
fn every_key_can_be_set_from_a_file() {
    let policy = json!({
        "red_without_tests": "warn", "production_changed": "refuse", "no_new_failure": "off",
        "tests_changed": "off", "runner_config_changed": "off", "snapshots_changed": "off", "green_without_change": "off", "red_not_replayed": "off", "passes_without_change": "off", "green_not_replayed": "off", "other_files_changed": "off", "changes_left": "off",
        "passes_without_product": "off", "no_test_written": "off", "fewer_tests": "off", "tests_missing": "off",
        "changed_after_green": "off", "changed_after_commit": "off", "foreign_commit": "off",
        "history_rewritten": "off", "config_loosened": "off", "command_replaced": "off",
        "stale_report": "off", "flaky": "off", "stuck": "off", "coverage_missing": "refuse",
        "coverage_fell": "off", "new_findings": "off", "findings_silenced": "off",
        "checks_changed": "off", "checks_not_run": "off", "draft_missing": "off",
        "batch_without_change": "off", "task_without_change": "off", "work_uncommitted": "off"
    });
    let all = json!({
        "autopilot": {
            "enabled": false, "requireCleanWorkingTree": false, "commitTemplate": "{msg}",
            "defaultCommitType": "fix", "maxGreenAttempts": 9, "testTimeout": 1000,
            "redAllPassing": "skip", "refactor": true, "storage": { "location": "global", "basePath": "~/.taskmaster" },
            "finalization": { "updateTaskStatus": false }
        },
        "test": {
            "command": "make check", "setup": "make", "runner": "make", "adapter": false, "patterns": ["t/**"],
            "targetedRunPattern": "**/*.t",
            "coverageThresholds": { "lines": 80.0, "branches": 0.0, "functions": 99.5, "statements": 100.0 }
        },
        "git": {
            "branchPattern": "{id}", "defaultRemote": "up", "protectedBranches": ["dev"],
            "allowSecrets": ["test/*.pem"], "scopes": { "b/**": "b", "a/**": "a" }, "signoff": true, "fsync": false,
            "commitTimeout": 5
        },
        "prompts": { "rulesPath": "rules", "loadOrder": [], "testGeneratorPath": "gen.md" },
        "evidence": {
            "require": "verified", "requireCoverage": true, "changedLines": 75.0, "flaky": "refuse", "redInCleanTree": true, "baseline": "off", "replay": "always",
            "notes": true, "withoutTests": ["docs"],
            "policy": policy
        },
        "checks": { "run": "off", "without": ["tsc"], "commands": { "lint": "make lint" } },
        "approvals": { "require": "terminal" },
        "submit": {
            "forge": "gitlab", "base": "next", "draft": true, "labels": ["run"], "reviewers": ["ann"], "template": "t.md",
            "approval": "human", "proof": "bundle", "attempts": 1, "answer": false
        },
        "review": { "gates": { "plan": "human", "code": "human", "review": "human" }, "maxIterations": 2 }
    });
    let place = Place::new().project(all.to_string());
    let settings = place.load().unwrap();
    assert_eq!(settings.config.to_json(), all);
    // Where runs lie is the person's to say; what says the same is passed over.
    for key in keys().filter(|key| *key != "autopilot.storage.basePath") {
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
    let mut weaker = 0;
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
            _ if key.starts_with("test.coverageThresholds") || key == "evidence.changedLines" => {
                ("50".to_owned(), json!(50.0))
            }
            _ if key.starts_with("evidence.policy") => ("off".to_owned(), json!("off")),
            _ => match key {
                "autopilot.finalization.updateTaskStatus" => ("done".to_owned(), json!("done")),
                "autopilot.commitTemplate" => ("{summary}".to_owned(), json!("{summary}")),
                "autopilot.redAllPassing" => ("skip".to_owned(), json!("skip")),
                "autopilot.storage.location" => ("global".to_owned(), json!("global")),
                "evidence.require" => ("reported".to_owned(), json!("reported")),
                "approvals.require" => ("signed".to_owned(), json!("signed")),
                "evidence.flaky" => ("refuse".to_owned(), json!("refuse")),
                "checks.run" => ("off".to_owned(), json!("off")),
                "evidence.baseline" => ("auto".to_owned(), json!("auto")),
                "evidence.replay" => ("always".to_owned(), json!("always")),
                "submit.forge" => ("github".to_owned(), json!("github")),
                "submit.proof" => ("bundle".to_owned(), json!("bundle")),
                "submit.approval" => ("human".to_owned(), json!("human")),
                key if key.starts_with("review.gates") => ("human".to_owned(), json!("human")),
                _ => ("some text".to_owned(), json!("some text")),
            },
        };
        let text = if key == "autopilot.storage.basePath" {
            "/some/folder".to_owned()
        } else {
            text
        };
        let value = if text.starts_with('/') {
            json!(text)
        } else {
            value
        };
        let name = environment_name(key);
        let settings = Place::new().variable(&name, &text).load().unwrap();
        let origin = Origin::Environment { name };
        if let [overruled] = &settings.overruled[..] {
            // Weaker than the default: the shell cannot say that.
            assert_eq!(settings.value(key).unwrap(), default, "{key}");
            assert_eq!((overruled.key.as_str(), &overruled.origin), (key, &origin));
            assert_eq!(overruled.value, value, "{key}");
            weaker += 1;
            continue;
        }
        assert_eq!(settings.value(key).unwrap(), value, "{key}");
        assert_eq!(settings.origins[key], origin);
    }
    assert!(weaker > 10, "{weaker}");
    let listed = Place::new()
        .variable("TRAMLINE_PROMPTS_LOAD_ORDER", r#"["a,b", "c"]"#)
        .load()
        .unwrap();
    assert_eq!(listed.config.prompts.load_order, ["a,b", "c"]);
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
    let place = Place::new().user(base("~/kept"));
    assert_eq!(place.load().unwrap().store, place.path("home/kept"));
}

#[test]
fn a_repository_does_not_say_where_runs_lie() {
    let base = |path: &str| format!(r#"{{"autopilot": {{"storage": {{"basePath": "{path}"}}}}}}"#);
    for path in ["kept", ".taskmaster/cache", "/elsewhere", "~/kept", "../x"] {
        let error = Place::new().project(base(path)).load().unwrap_err();
        assert_eq!(error.code(), "config_invalid", "{path}");
        assert!(error.to_string().contains("basePath"), "{error}");
        assert!(error.suggestion().unwrap().contains("your own settings"));
    }
    // It may say what holds anyway.
    let place = Place::new().project(base("~/.taskmaster"));
    assert_eq!(place.load().unwrap().store, place.path("home/.taskmaster"));
    let place = Place::new()
        .user(base("~/kept"))
        .project(base("~/.taskmaster"));
    assert_eq!(place.load().unwrap().store, place.path("home/kept"));
}

#[test]
fn runs_lie_at_an_absolute_path() {
    let code = |place: &Place| place.load().unwrap_err().code();
    let nowhere = Place::new().variable("HOME", "");
    assert_eq!(code(&nowhere), "no_store");
    assert_eq!(code(&Place::new().variable("HOME", "home")), "no_store");
    for path in ["runs", "$HOME/runs", "~other/runs", "./runs"] {
        let place = Place::new().variable("TRAMLINE_HOME", path);
        let error = place.load().unwrap_err();
        assert_eq!(error.code(), "no_store", "{path}");
        assert!(error.to_string().contains("TRAMLINE_HOME"), "{error}");
    }
    let place = nowhere.variable("TRAMLINE_HOME", "/runs");
    assert_eq!(place.load().unwrap().store, std::path::Path::new("/runs"));
}

#[test]
fn a_home_that_is_a_project_has_one_config() {
    let place = Place::new().user(r#"{"test": {"command": "x"}}"#);
    let home = place.path("home");
    let settings = workspace::config::load(
        &home,
        &std::collections::BTreeMap::new(),
        &place.environment(),
    )
    .unwrap();
    assert_eq!(settings.files.len(), 1);
    assert!(matches!(
        settings.origins["test.command"],
        Origin::UserFile { .. }
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
