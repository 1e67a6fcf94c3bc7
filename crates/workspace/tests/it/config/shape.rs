//! The shape of the config: its keys, its JSON, its schema.

use std::collections::BTreeSet;

use serde_json::Value;
use workspace::config::{Config, Policy, json_schema, keys, sections};

use crate::{schema_text, up_to_date};

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
    let policies = keys().filter(|key| key.starts_with("evidence.policy."));
    assert_eq!(policies.count(), Policy::CODES.len());
}

#[test]
fn a_config_survives_json_and_missing_parts_get_defaults() {
    let whole = Config::default().to_json().to_string();
    for text in [&*whole, "{\"test\": {}, \"later\": 1}"] {
        let read: Config = serde_json::from_str(text).unwrap();
        assert_eq!(read, Config::default(), "{text}");
    }
}

/// The page on settings and the schema in the repository name each default: what is told there is what holds.
#[test]
fn the_defaults_are_those_that_are_promised() {
    for setting in sections()
        .into_iter()
        .flat_map(|(_, section)| section.settings)
    {
        let default = Config::default().value(&setting.key).unwrap();
        assert_eq!(setting.default, default, "{}", setting.key);
    }
}

/// `UPDATE_SCHEMAS=1` writes the file anew.
#[test]
fn the_schema_in_the_repository_is_up_to_date() {
    up_to_date("schemas/config.schema.json", &schema_text(&json_schema()));
}

#[test]
fn the_schema_lets_other_tools_be_and_is_strict_about_ours() {
    let schema = json_schema();
    assert_eq!(schema.get("additionalProperties"), None);
    let sections = schema["$defs"].as_object().unwrap();
    for name in "Autopilot Storage Test Git Prompts Evidence Policy Review".split(' ') {
        assert_eq!(sections[name]["additionalProperties"], false, "{name}");
    }
    for (name, section) in sections {
        for (key, property) in section["properties"].as_object().into_iter().flatten() {
            for said in ["description", "default"] {
                assert!(property.get(said).is_some(), "{name}.{key} has no {said}");
            }
        }
    }
}
