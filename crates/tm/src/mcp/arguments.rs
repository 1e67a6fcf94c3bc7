//! Reading the arguments of a tool by its schema, with a fault that says what was expected.
//!
//! Agents are not exact, and a client may be less so: `null` and an empty text count as left out, a number is taken for a text
//! (ids often look like numbers), one text for a list of one, and the JSON text of a list for the list.

use engine::{Fault, Kind};
use serde_json::{Map, Value};
use text::plain::one_line;

use crate::calls::schema::{ALIASES, AS_IS, EMPTY, FORM, properties};

/// How much of what was given a fault repeats, in characters.
const LONGEST: usize = 60;

/// The arguments as the types that `schema` was made of take them.
pub fn read(schema: &Value, given: Map<String, Value>) -> Result<Map<String, Value>, Fault> {
    object(schema, given, "")
}

/// An object by its schema. `path` is its name with a dot behind it, or empty.
fn object(
    schema: &Value,
    mut given: Map<String, Value>,
    path: &str,
) -> Result<Map<String, Value>, Fault> {
    let mut read = Map::new();
    for (name, of) in properties(schema) {
        let aliases = of[ALIASES].as_array().into_iter().flatten();
        let names = aliases.filter_map(Value::as_str).chain([name.as_str()]);
        for other in names {
            if let Some(value) = given.shift_remove(other)
                && let Some(value) = one(of, value, &format!("{path}{name}"))?
            {
                read.insert(name.clone(), value);
            }
        }
    }
    if schema["additionalProperties"] == true {
        given.retain(|_, value| !value.is_null());
        read.append(&mut given);
    }
    // A misspelt name would be an argument that silently does nothing.
    if let Some((unknown, _)) = given.iter().find(|(_, value)| !value.is_null()) {
        let known: Vec<&str> = properties(schema).map(|(name, _)| name.as_str()).collect();
        return Err(bad(format!(
            "there is no argument `{}`",
            shown(&format!("{path}{unknown}"))
        ))
        .suggest(format!("the arguments here are {}", known.join(", "))));
    }
    let needed = schema["required"].as_array().into_iter().flatten();
    let missing: Vec<String> = needed
        .filter_map(Value::as_str)
        .filter(|name| !read.contains_key(*name))
        .map(|name| format!("`{path}{name}`"))
        .collect();
    match missing.as_slice() {
        [] => Ok(read),
        [one] => {
            Err(bad(format!("the argument {one} is missing"))
                .suggest(format!("call again with {one}")))
        }
        several => {
            let several = several.join(", ");
            Err(bad(format!("the arguments {several} are missing"))
                .suggest(format!("call again with {several}")))
        }
    }
}

/// A value by its schema; none where it says nothing.
fn one(schema: &Value, mut value: Value, name: &str) -> Result<Option<Value>, Fault> {
    let kind = schema["type"].as_str();
    if kind == Some("array") {
        unpack(&mut value);
    }
    if schema[AS_IS] == true {
        return Ok(Some(value));
    }
    let is_empty = value == "" && matches!(kind, Some("string" | "array"));
    if value.is_null() || (is_empty && schema[EMPTY] != true) {
        return Ok(None);
    }
    let has_form = schema[FORM] == true;
    let is_text = has_form || kind == Some("string");
    Ok(Some(match (kind, value) {
        (_, value @ Value::String(_)) if is_text => value,
        (_, value @ Value::Object(_)) if has_form => value.to_string().into(),
        (_, Value::Number(number)) if is_text && schema[EMPTY] != true => number.to_string().into(),
        (Some("integer"), value) => {
            if value.as_u64().is_none() {
                return Err(wrong(name, &value, "a whole number from 0 on"));
            }
            value
        }
        (Some("object"), Value::Object(all)) if schema.get("properties").is_some() => {
            object(schema, all, &format!("{name}."))?.into()
        }
        (Some("boolean"), value @ Value::Bool(_)) | (Some("object"), value @ Value::Object(_)) => {
            value
        }
        (Some("array"), Value::Array(all)) => {
            let all = all.into_iter().enumerate();
            let read = all
                .map(|(at, value)| one(&schema["items"], value, &format!("{name}[{at}]")))
                .collect::<Result<Vec<_>, _>>()?;
            read.into_iter().flatten().collect()
        }
        (Some("array"), value @ Value::String(_)) if schema["items"]["type"] == "string" => {
            vec![value].into()
        }
        (None, value) => value,
        (Some(kind), value) => return Err(wrong(name, &value, expected(kind, schema))),
    }))
}

/// A kind of value in words.
fn expected(kind: &str, schema: &Value) -> &'static str {
    match kind {
        "string" => "a string",
        "boolean" => "true or false",
        "array" if schema["items"]["type"] == "string" => "a list of strings",
        "array" => "a list",
        "number" => "a number",
        _ => "an object",
    }
}

/// Makes a list of a text that holds one as JSON. Anything else stays as it is.
fn unpack(value: &mut Value) {
    if let Value::String(text) = value
        && let Ok(list @ Value::Array(_)) = serde_json::from_str(text)
    {
        *value = list;
    }
}

/// What somebody gave, plain and short.
fn shown(given: &str) -> String {
    let plain = one_line(given);
    if plain.chars().count() > LONGEST {
        plain.chars().take(LONGEST).chain(['…']).collect()
    } else {
        plain
    }
}

fn bad(message: String) -> Fault {
    Fault::new(Kind::Usage, "usage", message)
}

fn wrong(name: &str, value: &Value, expected: &str) -> Fault {
    let shown = shown(&value.to_string());
    bad(format!("`{name}` is {shown}, where {expected} is expected"))
        .suggest(format!("give {expected} for `{name}`"))
        .expected(expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls;
    use crate::calls::schema;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    struct Inner {
        success: bool,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Outer {
        unit_id: Option<String>,
        #[serde(default)]
        files: Vec<String>,
        most: Option<u32>,
        coverage: Option<String>,
        response: Option<String>,
        inner: Inner,
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "unitId": { "type": "string", "x-aliases": ["unit_id"] },
                "files": { "type": "array", "items": { "type": "string" } },
                "most": { "type": "integer" },
                "coverage": { "type": "number", "x-form": true },
                "response": { "type": "string", "x-empty": true },
                "inner": {
                    "type": "object",
                    "properties": { "success": { "type": "boolean" } },
                    "required": ["success"],
                },
            },
            "required": ["inner"],
        })
    }

    fn read(given: &str) -> Result<Outer, String> {
        let given = serde_json::from_str(given).unwrap();
        let read = super::read(&schema(), given);
        let read = read.and_then(|read| calls::read(Value::Object(read)));
        read.map_err(|fault| fault.message)
    }

    #[test]
    fn what_is_meant_is_taken() {
        let some = |text: &str| Some(text.to_owned());
        let given = r#"{"unit_id": 5, "files": "[\"a\", \"\", \"b\"]", "most": 3, "coverage": 92.5,
            "response": "", "inner": { "success": true }}"#;
        let expected = Outer {
            unit_id: some("5"),
            files: vec!["a".to_owned(), "b".to_owned()],
            most: Some(3),
            coverage: some("92.5"),
            response: some(""),
            inner: Inner { success: true },
        };
        assert_eq!(read(given), Ok(expected));
        let given = r#"{"unitId": "", "files": "a", "most": null, "coverage": {"lines": 3}, "inner": {"success": false}}"#;
        let expected = Outer {
            files: vec!["a".to_owned()],
            coverage: some("{\"lines\":3}"),
            ..Outer::default()
        };
        assert_eq!(read(given), Ok(expected));
    }

    #[test]
    fn what_cannot_be_meant_is_named_with_its_place() {
        for (given, place) in [
            ("{}", "`inner`"),
            (r#"{"inner": {}}"#, "`inner.success`"),
            (r#"{"inner": {"success": "yes"}}"#, "`inner.success`"),
            (r#"{"inner": {"success": true, "why": 1}}"#, "`inner.why`"),
            (r#"{"most": -1}"#, "`most`"),
            (r#"{"files": 1}"#, "`files`"),
            (r#"{"files": [true]}"#, "`files[0]`"),
            (r#"{"coverage": []}"#, "`coverage`"),
            (r#"{"bogus": 1}"#, "`bogus`"),
            (r#"{"inner": {"success": true}, "most": 5000000000}"#, ""),
        ] {
            let refused = read(given).unwrap_err();
            assert!(refused.contains(place), "{given}: {refused}");
        }
        // What is expected is said, too.
        let refused = read(r#"{"most": -1}"#).unwrap_err();
        assert_eq!(
            refused,
            "`most` is -1, where a whole number from 0 on is expected"
        );
    }

    #[test]
    fn a_client_is_shown_what_it_needs() {
        let shown = schema::shown(&schema());
        assert!(!shown.to_string().contains("x-"), "{shown}");
        let property = |name: &str| shown["properties"][name].clone();
        assert_eq!(property("coverage"), json!({ "type": "number" }));
        assert_eq!(property("inner"), schema()["properties"]["inner"]);
        assert_eq!(shown["required"], json!(["inner"]));
    }
}
