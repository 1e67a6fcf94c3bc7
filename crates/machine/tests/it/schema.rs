//! The published JSON Schema says what the program reads: the same keys, no more and no fewer.

use std::collections::BTreeSet;

use machine::trigger::Trigger;
use machine::{Definition, GateMode};
use serde_json::{Map, Value};

use crate::marked::{accepts, faults};
use crate::support::{COLLAB, REVIEW, TDD};

const SCHEMA: &str = include_str!("../../../../schemas/workflow.schema.json");
const HEAD: &str = "tramline: 1\nid: x\ntitle: X\ninitial: a\n";

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

/// The keys, or the words, at a place in the schema.
fn named(schema: &Value, place: &str) -> BTreeSet<String> {
    let at = schema.pointer(place).unwrap_or_else(|| panic!("{place}"));
    let keys = at.as_object().into_iter().flat_map(Map::keys).cloned();
    let words = at.as_array().into_iter().flatten();
    let words = words.map(|word| word.as_str().unwrap().to_owned());
    keys.chain(words).collect()
}

/// The keys or words that are read at the place of the unknown `§§§`: the fault names them.
fn read_at(text: &str) -> BTreeSet<String> {
    let fault = faults(text).remove(0);
    assert_eq!(fault.rule, "unreadable", "{fault:?}");
    let known = fault.help.strip_prefix("known are: ");
    let known = known.unwrap_or_else(|| panic!("{fault:?}"));
    known.split(", ").map(str::to_owned).collect()
}

#[test]
fn it_has_the_keys_and_words_that_are_read() {
    let schema = schema();
    assert_eq!(named(&schema, "/properties"), read_at("'§§§': 1\n"));
    let top = [
        ("unit/properties", "unit: KEY"),
        ("itemSet/properties", "items: { s: KEY }"),
        ("waves/properties", "items: { s: { waves: KEY } }"),
        ("statuses/properties", "items: { s: { status: KEY } }"),
        ("field/anyOf/1/properties", "vars: { x: KEY }"),
    ];
    let of_state = [
        ("state/properties", "KEY"),
        ("role/properties", "{ expects: { tests: KEY } }"),
        ("work/properties", "{ work: KEY }"),
        ("each/properties", "{ each: KEY }"),
        ("edge/properties", "{ route: KEY }"),
        ("state/properties/final/enum", "{ final: § }"),
        ("state/properties/edits/enum", "{ edits: § }"),
        (
            "role/properties/shows/enum",
            "{ expects: { tests: { shows: § } } }",
        ),
        (
            "role/properties/suite/enum",
            "{ expects: { tests: { suite: § } } }",
        ),
        ("work/properties/by/enum", "{ work: { by: § } }"),
        ("work/properties/issue/enum", "{ work: { issue: § } }"),
    ]
    .map(|(place, text)| (place, format!("states: {{ a: {text} }}")));
    let top = top.map(|(place, text)| (place, text.to_owned()));
    for (place, text) in top.into_iter().chain(of_state) {
        let text = text.replace("KEY", "{ §: 1 }").replace('§', "'§§§'");
        let read = read_at(&format!("{HEAD}{text}\n"));
        assert_eq!(named(&schema, &format!("/$defs/{place}")), read, "{place}");
    }
    let advance = named(&schema, "/properties/advance/enum");
    assert_eq!(advance, read_at(&format!("{HEAD}advance: '§§§'\n")));
    let events = Trigger::EVENTS.map(|event| event.name().to_owned());
    let mut known = named(&schema, "/$defs/on/properties");
    known.extend(named(&schema, "/properties/on/properties"));
    assert_eq!(known, events.into());
    let modes = named(&schema, "/$defs/gateMode/anyOf/0/enum");
    assert_eq!(modes, GateMode::words().map(str::to_owned).into());
    for name in named(&schema, "/$defs/fieldType/anyOf/0/enum") {
        accepts(&format!(
            "{HEAD}vars: {{ x: {name} }}\nstates: {{ a: {{ final: completed }} }}\n"
        ));
    }
}

#[test]
fn every_key_is_described() {
    fn undescribed(place: &str, schema: &Value, found: &mut Vec<String>) {
        let keys = schema.as_object().into_iter().flatten();
        let keys = keys.map(|(name, inner)| (name.clone(), inner));
        let list = schema.as_array().into_iter().flatten().enumerate();
        let list = list.map(|(at, inner)| (at.to_string(), inner));
        for (name, inner) in keys.chain(list) {
            let path = format!("{place}/{name}");
            if place.ends_with("/properties") && inner.get("description").is_none() {
                found.push(path.clone());
            }
            undescribed(&path, inner, found);
        }
    }
    let mut found = Vec::new();
    undescribed("", &schema(), &mut found);
    assert_eq!(found, Vec::<String>::new());
}

/// Holds a value against the part of JSON Schema that the file uses.
fn holds(root: &Value, schema: &Value, value: &Value) -> bool {
    let Value::Object(rules) = schema else {
        return false;
    };
    let entries = || value.as_object().into_iter().flatten();
    let size = entries().count() as u64;
    let list = |wanted: &Value| wanted.as_array().unwrap().clone();
    rules.iter().all(|(rule, wanted)| match rule.as_str() {
        "$ref" => {
            let place = wanted.as_str().unwrap().trim_start_matches('#');
            holds(root, root.pointer(place).unwrap(), value)
        }
        "const" => value == wanted,
        "enum" => list(wanted).contains(value),
        "type" if wanted.is_array() => list(wanted).iter().any(|kind| is(kind, value)),
        "type" => is(wanted, value),
        "anyOf" => list(wanted).iter().any(|one| holds(root, one, value)),
        "required" => list(wanted)
            .iter()
            .all(|key| value.get(key.as_str().unwrap()).is_some()),
        "items" => value
            .as_array()
            .into_iter()
            .flatten()
            .all(|inner| holds(root, wanted, inner)),
        "properties" => entries()
            .all(|(key, inner)| wanted.get(key).is_none_or(|rule| holds(root, rule, inner))),
        "minProperties" => size >= wanted.as_u64().unwrap(),
        "maxProperties" => size <= wanted.as_u64().unwrap(),
        "additionalProperties" => entries().all(|(key, inner)| {
            let declared = rules.get("properties").and_then(|all| all.get(key));
            declared.is_some() || holds(root, wanted, inner)
        }),
        "pattern" if *wanted == "^=" => value.as_str().is_some_and(|text| text.starts_with('=')),
        "pattern" if wanted.as_str().unwrap().starts_with("^ref ") => {
            let set = value.as_str().and_then(|text| text.strip_prefix("ref "));
            set.is_some_and(|set| set.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
        }
        "$schema" | "$defs" | "title" | "description" | "default" | "pattern" | "propertyNames"
        | "maxLength" | "minItems" | "minimum" => true,
        other => panic!("this test does not know `{other}`"),
    })
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
    let keeps = |text: &str| {
        let value: Value = serde_saphyr::from_str(text).unwrap();
        holds(&schema, &schema, &value)
    };
    for text in [TDD, REVIEW, COLLAB, crate::sets::SETS] {
        assert!(keeps(text), "{}", Definition::parse(text).unwrap().id.value);
    }
    for (text, right, wrong) in [
        (REVIEW, "=inputs.planGate", "closed"),
        (REVIEW, "issue: step", "issue: later"),
        (REVIEW, "advance: manual", "advance: slowly"),
        (REVIEW, "with:", "width:"),
        (REVIEW, "reject:", "rejct:"),
        (REVIEW, "values: map", "values: object"),
        (COLLAB, "type: ref items", "type: item"),
        (COLLAB, "open: always", "open: sometimes"),
        (COLLAB, "fresh: true", "fresh: often"),
        (COLLAB, "as: collab-clear", "as: [collab-clear]"),
        (COLLAB, "into: batches", "in: batches"),
        (COLLAB, "done: [completed]", "finished: [completed]"),
        (COLLAB, "prefer: item", "prefers: item"),
        (COLLAB, "alone:", "solo:"),
        (TDD, "refuse:", "refuze:"),
        (TDD, "final: completed", "final: done"),
    ] {
        assert!(text.contains(right), "{right}");
        assert!(!keeps(&text.replace(right, wrong)), "{wrong}");
    }
}
