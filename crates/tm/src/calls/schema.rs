//! The schema of a tool's arguments, and that of its answers.
//!
//! What an argument has that JSON Schema has no words for stands in extensions: [`ALIASES`], [`FORM`], [`EMPTY`] and [`AS_IS`].
//! Clients are not shown them.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::{Argument, Call, Family, Kind, each};

/// Other names under which an argument is taken.
pub const ALIASES: &str = "x-aliases";
/// The argument is a text to Rust; JSON may have it in its own form.
pub const FORM: &str = "x-form";
/// An empty text is not the same as none.
pub const EMPTY: &str = "x-empty";
/// The argument is taken as it comes, `null` too.
pub const AS_IS: &str = "x-as-is";

/// What a tool takes.
pub(super) fn taken(family: &'static Family, call: &'static Call) -> Vec<&'static Argument> {
    let mut all = of_tools(each(&call.takes));
    all.extend(each(&family.place));
    all
}

fn of_tools(mut all: Vec<&'static Argument>) -> Vec<&'static Argument> {
    all.retain(|argument| argument.brief.is_some());
    all
}

/// The schema of all arguments of a tool.
pub fn of_call(family: &'static Family, call: &'static Call) -> Value {
    let mut schema = object(&taken(family, call));
    if call.open {
        schema["additionalProperties"] = true.into();
    }
    schema
}

fn object(all: &[&'static Argument]) -> Value {
    let properties = all
        .iter()
        .map(|argument| (argument.tool_name().to_owned(), property(argument)));
    let properties: Map<String, Value> = properties.collect();
    let required = all.iter().filter(|argument| argument.required);
    let required: Vec<&str> = required.map(|argument| argument.tool_name()).collect();
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

fn property(of: &'static Argument) -> Value {
    let fields = of_tools(each(&of.takes));
    let objects = || {
        if fields.is_empty() {
            json!({ "type": "object" })
        } else {
            object(&fields)
        }
    };
    let mut schema = match of.kind {
        Kind::Text | Kind::Path | Kind::Format => json!({ "type": "string" }),
        Kind::Switch | Kind::Bool | Kind::OptionalBool => json!({ "type": "boolean" }),
        Kind::Number | Kind::Count => json!({ "type": "integer" }),
        Kind::Texts | Kind::Paths | Kind::List => {
            json!({ "type": "array", "items": { "type": "string" } })
        }
        Kind::Items => json!({ "type": "array", "items": objects() }),
        Kind::Pairs | Kind::Object if fields.is_empty() => {
            json!({ "type": "object", "additionalProperties": true })
        }
        Kind::Pairs | Kind::Object => objects(),
    };
    if let Some(form) = &of.form {
        schema["type"] = form.as_str().into();
        schema[FORM] = true.into();
    }
    if !of.one_of.is_empty() {
        schema["enum"] = json!(of.one_of);
    }
    if !of.aliases.is_empty() {
        schema[ALIASES] = json!(of.aliases);
    }
    for (name, is_set) in [(EMPTY, of.empty), (AS_IS, of.as_is)] {
        if is_set {
            schema[name] = true.into();
        }
    }
    schema["description"] = json!(of.brief);
    schema
}

/// The schema as clients are shown it.
pub fn shown(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let is_known = |name: &str| !name.starts_with("x-") && name != "additionalProperties";
            let known = fields.iter().filter(|(name, _)| is_known(name));
            let shown = known.map(|(name, value)| (name.clone(), shown(value)));
            shown.collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

/// The schema of a tool's answer, by what every answer has. Types only: the model reads the answers themselves.
pub fn of_answer(always: &IndexMap<String, String>) -> Value {
    let typed = |kind: &str| match kind.strip_suffix('?') {
        // A list of types is more than some clients understand.
        Some(kind) => json!({ "anyOf": [{ "type": kind }, { "type": "null" }] }),
        None => json!({ "type": kind }),
    };
    let properties = always
        .iter()
        .map(|(name, kind)| (name.clone(), typed(kind)));
    let properties: Map<String, Value> = properties.collect();
    let required: Vec<&String> = always.keys().collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// The properties of an object's schema, by name.
pub fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}
