//! The published JSON Schema says what the program reads: the same keys, no more and no fewer.

use std::collections::BTreeSet;

use machine::Definition;
use machine::GateMode;
use machine::trigger::Trigger;
use serde_json::{Map, Value};

use crate::support::{COLLAB, REVIEW, TDD, catalog};

const SCHEMA: &str = include_str!("../../../../schemas/workflow.schema.json");

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

fn keys(schema: &Value) -> BTreeSet<String> {
    schema["properties"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect()
}

/// The keys that are read at the place of the unknown key `§§§`: the fault names them.
fn read_at(text: &str) -> BTreeSet<String> {
    let faults = Definition::load(text, &catalog()).unwrap_err();
    assert_eq!(faults[0].rule, "unreadable", "{:?}", faults[0]);
    let known = faults[0]
        .help
        .strip_prefix("known are: ")
        .unwrap_or_else(|| panic!("{:?}", faults[0]));
    known.split(", ").map(str::to_owned).collect()
}

#[test]
fn it_has_the_keys_that_are_read() {
    let schema = schema();
    let at = |place: &str| keys(&schema["$defs"][place]);
    let head = "tramline: 1\nid: x\ntitle: X\ninitial: a\n";
    let state = |inside: &str| format!("{head}states: {{ a: {{ {inside} }} }}\n");
    assert_eq!(keys(&schema), read_at("'§§§': 1\n"));
    assert_eq!(
        at("unit"),
        read_at(&format!("{head}unit: {{ '§§§': 1 }}\n"))
    );
    assert_eq!(
        at("itemSet"),
        read_at(&format!("{head}items: {{ s: {{ '§§§': 1 }} }}\n"))
    );
    let waves = format!("{head}items: {{ s: {{ waves: {{ '§§§': 1 }} }} }}\n");
    assert_eq!(at("waves"), read_at(&waves));
    let statuses = format!("{head}items: {{ s: {{ status: {{ '§§§': 1 }} }} }}\n");
    assert_eq!(at("statuses"), read_at(&statuses));
    assert_eq!(at("state"), read_at(&state("'§§§': 1")));
    assert_eq!(
        at("role"),
        read_at(&state("expects: { tests: { '§§§': 1 } }"))
    );
    assert_eq!(at("work"), read_at(&state("work: { '§§§': 1 }")));
    assert_eq!(at("each"), read_at(&state("each: { '§§§': 1 }")));
    assert_eq!(at("edge"), read_at(&state("route: { '§§§': 1 }")));
    assert_eq!(
        keys(&schema["$defs"]["field"]["anyOf"][1]),
        read_at(&format!("{head}vars: {{ x: {{ '§§§': 1 }} }}\n"))
    );
    let events: BTreeSet<String> = Trigger::EVENTS
        .iter()
        .map(|event| event.name().to_owned())
        .collect();
    let mut known = at("on");
    known.extend(keys(&schema["properties"]["on"]));
    assert_eq!(known, events);
}

#[test]
fn it_has_the_words_that_are_read() {
    let schema = schema();
    let words = |value: &Value| -> BTreeSet<String> {
        value
            .as_array()
            .unwrap()
            .iter()
            .map(|word| word.as_str().unwrap().to_owned())
            .collect()
    };
    let head = "tramline: 1\nid: x\ntitle: X\ninitial: a\n";
    let state = &schema["$defs"]["state"]["properties"];
    assert_eq!(
        words(&state["final"]["enum"]),
        read_at(&format!("{head}states: {{ a: {{ final: '§§§' }} }}\n"))
    );
    for (schema, read) in [
        (&state["edits"], "edits: '§§§'"),
        (
            &schema["$defs"]["role"]["properties"]["shows"],
            "expects: { tests: { shows: '§§§' } }",
        ),
        (
            &schema["$defs"]["role"]["properties"]["suite"],
            "expects: { tests: { suite: '§§§' } }",
        ),
    ] {
        assert_eq!(
            words(&schema["enum"]),
            read_at(&format!("{head}states: {{ a: {{ {read} }} }}\n"))
        );
    }
    let by = &schema["$defs"]["work"]["properties"]["by"]["enum"];
    assert_eq!(
        words(by),
        read_at(&format!(
            "{head}states: {{ a: {{ work: {{ by: '§§§' }} }} }}\n"
        ))
    );
    let issue = &schema["$defs"]["work"]["properties"]["issue"]["enum"];
    assert_eq!(
        words(issue),
        read_at(&format!(
            "{head}states: {{ a: {{ work: {{ issue: '§§§' }} }} }}\n"
        ))
    );
    assert_eq!(
        words(&schema["properties"]["advance"]["enum"]),
        read_at(&format!("{head}advance: '§§§'\n"))
    );
    let modes: BTreeSet<String> = GateMode::words().map(str::to_owned).into();
    assert_eq!(
        words(&schema["$defs"]["gateMode"]["anyOf"][0]["enum"]),
        modes
    );
    for name in words(&schema["$defs"]["fieldType"]["anyOf"][0]["enum"]) {
        let text =
            format!("{head}vars: {{ x: {name} }}\nstates: {{ a: {{ final: completed }} }}\n");
        assert!(Definition::load(&text, &catalog()).is_ok(), "{name}");
    }
}

#[test]
fn every_key_is_described() {
    fn undescribed(path: &str, schema: &Value, found: &mut Vec<String>) {
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            for (name, property) in properties {
                if property.get("description").is_none() {
                    found.push(format!("{path}.{name}"));
                }
            }
        }
        let inner: Vec<(String, &Value)> = match schema {
            Value::Object(map) => map
                .iter()
                .map(|(name, inner)| (name.clone(), inner))
                .collect(),
            Value::Array(all) => all
                .iter()
                .enumerate()
                .map(|(at, inner)| (at.to_string(), inner))
                .collect(),
            _ => Vec::new(),
        };
        for (name, inner) in inner {
            undescribed(&format!("{path}/{name}"), inner, found);
        }
    }
    let mut found = Vec::new();
    undescribed("", &schema(), &mut found);
    assert_eq!(found, Vec::<String>::new());
}

/// Holds a value against the part of JSON Schema that the file uses. Gives the place of a fault.
fn holds(root: &Value, schema: &Value, value: &Value, path: &str) -> Result<(), String> {
    let Value::Object(rules) = schema else {
        return Err(format!("{path}: no schema"));
    };
    for (rule, wanted) in rules {
        let kept = match rule.as_str() {
            "$ref" => {
                let target = root.pointer(wanted.as_str().unwrap().trim_start_matches('#'));
                holds(
                    root,
                    target.ok_or("a reference leads nowhere")?,
                    value,
                    path,
                )?;
                true
            }
            "const" => value == wanted,
            "enum" => wanted.as_array().unwrap().contains(value),
            "type" => match wanted {
                Value::Array(any) => any.iter().any(|kind| is(kind, value)),
                kind => is(kind, value),
            },
            "anyOf" => wanted
                .as_array()
                .unwrap()
                .iter()
                .any(|one| holds(root, one, value, path).is_ok()),
            "required" => wanted
                .as_array()
                .unwrap()
                .iter()
                .all(|key| value.get(key.as_str().unwrap()).is_some()),
            "items" => {
                for (at, inner) in value.as_array().into_iter().flatten().enumerate() {
                    holds(root, wanted, inner, &format!("{path}/{at}"))?;
                }
                true
            }
            "properties" => {
                for (key, inner) in value.as_object().into_iter().flatten() {
                    if let Some(rule) = wanted.get(key) {
                        holds(root, rule, inner, &format!("{path}/{key}"))?;
                    }
                }
                true
            }
            "minProperties" => {
                value.as_object().map_or(0, Map::len) as u64 >= wanted.as_u64().unwrap()
            }
            "maxProperties" => {
                value.as_object().map_or(0, Map::len) as u64 <= wanted.as_u64().unwrap()
            }
            "additionalProperties" => {
                let none = Map::new();
                let declared = rules
                    .get("properties")
                    .and_then(Value::as_object)
                    .unwrap_or(&none);
                for (key, inner) in value.as_object().into_iter().flatten() {
                    if declared.contains_key(key) {
                        continue;
                    }
                    if *wanted == Value::Bool(false) {
                        return Err(format!("{path}: `{key}` is not in the schema"));
                    }
                    holds(root, wanted, inner, &format!("{path}/{key}"))?;
                }
                true
            }
            "pattern" if *wanted == "^=" => {
                value.as_str().is_some_and(|text| text.starts_with('='))
            }
            "pattern"
                if wanted
                    .as_str()
                    .is_some_and(|pattern| pattern.starts_with("^ref ")) =>
            {
                value
                    .as_str()
                    .and_then(|text| text.strip_prefix("ref "))
                    .is_some_and(|set| set.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
            }
            "$schema" | "$defs" | "title" | "description" | "default" | "pattern"
            | "propertyNames" | "maxLength" | "minItems" | "minimum" => true,
            other => return Err(format!("this test does not know `{other}`")),
        };
        if !kept {
            return Err(format!("{path}: {value} breaks `{rule}`"));
        }
    }
    Ok(())
}

fn is(kind: &Value, value: &Value) -> bool {
    match kind.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        _ => false,
    }
}

#[test]
fn the_built_in_definitions_keep_to_it() {
    let schema = schema();
    for text in [TDD, REVIEW, COLLAB, crate::sets::SETS] {
        let value: Value = serde_saphyr::from_str(text).unwrap();
        assert_eq!(holds(&schema, &schema, &value, ""), Ok(()));
    }
    for (right, wrong) in [
        ("=inputs.planGate", "closed"),
        ("issue: step", "issue: later"),
        ("advance: manual", "advance: slowly"),
        ("with:", "width:"),
        ("reject:", "rejct:"),
        ("values: map", "values: object"),
    ] {
        let value: Value = serde_saphyr::from_str(&REVIEW.replace(right, wrong)).unwrap();
        assert!(holds(&schema, &schema, &value, "").is_err(), "{wrong}");
    }
    for (right, wrong) in [
        ("type: ref items", "type: item"),
        ("open: always", "open: sometimes"),
        ("fresh: true", "fresh: often"),
        ("as: collab-clear", "as: [collab-clear]"),
        ("into: batches", "in: batches"),
        ("done: [completed]", "finished: [completed]"),
        ("prefer: item", "prefers: item"),
        ("alone:", "solo:"),
    ] {
        assert!(COLLAB.contains(right), "{right}");
        let value: Value = serde_saphyr::from_str(&COLLAB.replace(right, wrong)).unwrap();
        assert!(holds(&schema, &schema, &value, "").is_err(), "{wrong}");
    }
    let wrong: Value = serde_saphyr::from_str(&TDD.replace("refuse:", "refuze:")).unwrap();
    assert!(holds(&schema, &schema, &wrong, "").is_err());
    let wrong: Value =
        serde_saphyr::from_str(&TDD.replace("final: completed", "final: done")).unwrap();
    assert!(holds(&schema, &schema, &wrong, "").is_err());
}
