//! The schema of a tool's arguments, derived from the type that takes them.
//!
//! A type says by extensions what Rust has no words for: [`BRIEF`], [`ALIASES`], [`FORM`], [`EMPTY`] and [`AS_IS`]. Clients
//! are not shown them.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// What a client is told of an argument. The doc comment beside it is for the help of a command, and too long here.
pub const BRIEF: &str = "x-brief";
/// Other names under which an argument is taken: answers spell it so, and agents repeat what they read.
pub const ALIASES: &str = "x-aliases";
/// The argument is a text to Rust, as on a command line; JSON may have it in its own form.
pub const FORM: &str = "x-form";
/// An empty text is not the same as none.
pub const EMPTY: &str = "x-empty";
/// The argument is taken as it comes, `null` too: somebody else says what it may be.
pub const AS_IS: &str = "x-as-is";

/// The schema of a type: an object with its properties.
pub fn of<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    plain(schema.as_value())
}

/// Without what nobody needs here: nulls (left out is left out), defaults, formats, titles, and texts for somebody else.
fn plain(schema: &Value) -> Value {
    let Some(given) = schema.as_object() else {
        return schema.clone();
    };
    let mut kept = Map::new();
    for (key, value) in given {
        match key.as_str() {
            "type" => {
                let one = value.as_array().map_or(value, |types| &types[0]);
                kept.insert(key.clone(), one.clone());
            }
            "properties" => {
                let properties = value.as_object().into_iter().flatten();
                let plain = properties
                    .map(|(name, schema)| (name.clone(), plain(schema)))
                    .collect();
                kept.insert(key.clone(), Value::Object(plain));
            }
            "items" if value.is_object() => {
                kept.insert(key.clone(), plain(value));
            }
            "enum"
            | "required"
            | "minimum"
            | "additionalProperties"
            | BRIEF
            | ALIASES
            | FORM
            | EMPTY
            | AS_IS => {
                kept.insert(key.clone(), value.clone());
            }
            _ => {}
        }
    }
    Value::Object(kept)
}

/// The schema as clients are shown it.
pub fn shown(schema: &Value) -> Value {
    let Some(given) = schema.as_object() else {
        return schema.clone();
    };
    let mut shown = Map::new();
    for (key, value) in given {
        match key.as_str() {
            BRIEF => {
                shown.insert("description".to_owned(), value.clone());
            }
            "properties" => {
                let properties = value.as_object().into_iter().flatten();
                let all = properties.map(|(name, schema)| (name.clone(), self::shown(schema)));
                shown.insert(key.clone(), Value::Object(all.collect()));
            }
            "items" => {
                shown.insert(key.clone(), self::shown(value));
            }
            // That there is no less than none goes without saying.
            "minimum" if *value == json!(0) => {}
            "type" | "enum" | "required" | "minimum" => {
                shown.insert(key.clone(), value.clone());
            }
            _ => {}
        }
    }
    Value::Object(shown)
}

/// The schema of a tool's answer, by what every answer has. Types only: the model reads the answers themselves.
pub fn of_answer(always: &[(&str, &str)]) -> Value {
    let typed = |kind: &str| match kind.strip_suffix('?') {
        // A list of types is more than some clients understand.
        Some(kind) => json!({ "anyOf": [{ "type": kind }, { "type": "null" }] }),
        None => json!({ "type": kind }),
    };
    let properties: Map<String, Value> = always
        .iter()
        .map(|&(name, kind)| (name.to_owned(), typed(kind)))
        .collect();
    let required: Vec<&str> = always.iter().map(|&(name, _)| name).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// Both in one: the properties of `other` behind those of `schema`.
pub fn joined(schema: &Value, other: &Value) -> Value {
    let mut joined = schema.clone();
    for (name, property) in properties(other) {
        joined["properties"][name] = property.clone();
    }
    joined
}

/// The properties of an object's schema, by name.
pub fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}
