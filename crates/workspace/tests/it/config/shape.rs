//! The shape of the config: its keys, its JSON, its schema.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use workspace::config::{Config, Policy, json_schema, keys};

/// Dotted names of all values; what is not an object, or can be filled freely, is a value.
fn leaves(value: &Value, name: &str, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) if !["git.scopes", "checks.commands"].contains(&name) => {
            for (key, value) in map {
                let dot = if name.is_empty() { "" } else { "." };
                leaves(value, &format!("{name}{dot}{key}"), into);
            }
        }
        _ => {
            into.insert(name.to_owned());
        }
    }
}

#[test]
fn the_list_of_keys_and_the_config_agree() {
    let mut of_config = BTreeSet::new();
    leaves(&Config::default().to_json(), "", &mut of_config);
    let listed: BTreeSet<String> = keys().map(ToOwned::to_owned).collect();
    assert_eq!(listed, of_config);
    let policies = listed
        .iter()
        .filter(|key| key.starts_with("evidence.policy."))
        .count();
    assert_eq!(policies, Policy::CODES.len());
}

#[test]
fn a_config_survives_json_and_missing_parts_get_defaults() {
    let config = Config::default();
    assert_eq!(
        serde_json::from_value::<Config>(config.to_json()).unwrap(),
        config
    );
    assert_eq!(
        serde_json::from_str::<Config>("{\"test\": {}, \"later\": 1}").unwrap(),
        config
    );
}

#[test]
fn the_defaults_are_those_that_are_promised() {
    insta::assert_snapshot!(serde_json::to_string_pretty(&Config::default()).unwrap(), @r#"
    {
      "autopilot": {
        "enabled": true,
        "requireCleanWorkingTree": true,
        "commitTemplate": "{type}({scope}): {msg} (task {taskId})",
        "defaultCommitType": "feat",
        "maxGreenAttempts": 3,
        "testTimeout": 300000,
        "redAllPassing": "refuse",
        "refactor": false,
        "storage": {
          "location": "global",
          "basePath": "~/.taskmaster"
        },
        "finalization": {
          "updateTaskStatus": "review"
        }
      },
      "test": {
        "command": null,
        "setup": null,
        "runner": "auto",
        "adapter": true,
        "patterns": [],
        "targetedRunPattern": null,
        "coverageThresholds": {
          "lines": null,
          "branches": null,
          "functions": null,
          "statements": null
        }
      },
      "git": {
        "branchPattern": "{tag}/task-{id}-{slug}",
        "defaultRemote": "origin",
        "protectedBranches": [],
        "allowSecrets": [],
        "scopes": {},
        "signoff": false,
        "fsync": true,
        "commitTimeout": 600000
      },
      "prompts": {
        "rulesPath": ".cursor/rules",
        "loadOrder": [
          "git_workflow.mdc",
          "test_workflow.mdc"
        ],
        "testGeneratorPath": ".claude/agents/surgical-test-generator.md"
      },
      "evidence": {
        "require": "claimed",
        "requireCoverage": false,
        "changedLines": null,
        "flaky": "warn",
        "redInCleanTree": false,
        "baseline": "auto",
        "replay": "auto",
        "notes": false,
        "withoutTests": [],
        "policy": {
          "red_without_tests": "refuse",
          "production_changed": "warn",
          "no_new_failure": "refuse",
          "tests_changed": "refuse",
          "fewer_tests": "refuse",
          "tests_missing": "refuse",
          "green_without_change": "refuse",
          "red_not_replayed": "refuse",
          "passes_without_change": "warn",
          "green_not_replayed": "refuse",
          "runner_config_changed": "refuse",
          "snapshots_changed": "refuse",
          "other_files_changed": "refuse",
          "changes_left": "refuse",
          "passes_without_product": "refuse",
          "no_test_written": "refuse",
          "changed_after_green": "refuse",
          "changed_after_commit": "refuse",
          "foreign_commit": "refuse",
          "history_rewritten": "refuse",
          "config_loosened": "refuse",
          "command_replaced": "refuse",
          "stale_report": "refuse",
          "flaky": "warn",
          "stuck": "pause",
          "coverage_missing": "warn",
          "coverage_fell": "refuse",
          "new_findings": "refuse",
          "findings_silenced": "warn",
          "checks_changed": "refuse",
          "checks_not_run": "warn",
          "draft_missing": "refuse",
          "batch_without_change": "refuse",
          "task_without_change": "warn",
          "work_uncommitted": "refuse"
        }
      },
      "checks": {
        "run": "found",
        "without": [],
        "commands": {}
      },
      "approvals": {
        "require": "client"
      },
      "submit": {
        "forge": "auto",
        "base": null,
        "draft": false,
        "labels": [],
        "reviewers": [],
        "template": null,
        "approval": "auto",
        "proof": "note",
        "attempts": 3,
        "answer": true
      },
      "review": {
        "gates": {
          "plan": "auto",
          "code": "auto",
          "review": "auto"
        },
        "maxIterations": 10
      }
    }
    "#);
}

/// `UPDATE_SCHEMAS=1` writes the file anew.
#[test]
fn the_schema_in_the_repository_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/config.schema.json");
    let text = serde_json::to_string_pretty(&json_schema()).unwrap() + "\n";
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == text,
        "run the tests once with UPDATE_SCHEMAS=1 to write {}",
        path.display()
    );
}

#[test]
fn the_schema_lets_other_tools_be_and_is_strict_about_ours() {
    let schema = json_schema();
    assert_eq!(schema.get("additionalProperties"), None);
    let sections = schema["$defs"].as_object().unwrap();
    for name in [
        "Autopilot",
        "Storage",
        "Test",
        "Git",
        "Prompts",
        "Evidence",
        "Policy",
        "Review",
    ] {
        assert_eq!(sections[name]["additionalProperties"], false, "{name}");
    }
    for (name, section) in sections {
        for (key, property) in section["properties"].as_object().into_iter().flatten() {
            assert!(
                property.get("description").is_some(),
                "{name}.{key} has no description"
            );
            assert!(
                property.get("default").is_some(),
                "{name}.{key} has no default"
            );
        }
    }
}
