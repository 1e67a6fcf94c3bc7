//! The JSON Schema of the config.

use serde_json::{Value, json};

use super::values::Config;

/// The JSON Schema of `.taskmaster/config.json`. Keys of other tools are allowed at the top, and nowhere else; so are
/// keys that begin with `//`, which stand for comments.
pub fn json_schema() -> Value {
    let mut schema = schemars::schema_for!(Config).to_value();
    let sections = schema.get_mut("$defs").and_then(Value::as_object_mut);
    for section in sections
        .into_iter()
        .flat_map(|sections| sections.values_mut())
    {
        if let Some(section) = section
            .as_object_mut()
            .filter(|it| it.contains_key("properties"))
        {
            section.insert("additionalProperties".to_owned(), Value::Bool(false));
            section.insert(
                "patternProperties".to_owned(),
                json!({ "^(//.*|\\$comment)$": {} }),
            );
        }
    }
    schema
}

/// A setting, as a reader is told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Its dotted name.
    pub key: String,
    /// The values that it may have, in words.
    pub values: String,
    /// What it is where nothing sets it.
    pub default: Value,
    /// What it does.
    pub description: String,
}

/// A section of the settings, with those that are in it or in a section within.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// What it is about.
    pub description: String,
    /// In the order of the file.
    pub settings: Vec<Setting>,
}

/// All settings by section, as the schema has them.
pub fn sections() -> Vec<(String, Section)> {
    let schema = json_schema();
    let mut all = Vec::new();
    for (name, of) in schema["properties"].as_object().into_iter().flatten() {
        let section = resolved(&schema, of);
        if !section["properties"].is_object() {
            continue;
        }
        let mut settings = Vec::new();
        add(
            &schema,
            section,
            &format!("{name}."),
            &of["default"],
            &mut settings,
        );
        let description = of["description"].as_str().unwrap_or_default().to_owned();
        all.push((
            name.clone(),
            Section {
                description,
                settings,
            },
        ));
    }
    all
}

/// What a reference in the schema stands for.
fn resolved<'s>(schema: &'s Value, of: &'s Value) -> &'s Value {
    let path = of["$ref"].as_str();
    let name = path.and_then(|path| path.strip_prefix("#/$defs/"));
    name.map_or(of, |name| &schema["$defs"][name])
}

fn values(schema: &Value, of: &Value) -> String {
    let whole = resolved(schema, of);
    let quoted = |value: &Value| {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        format!("`{text}`")
    };
    if let Some(values) = whole["enum"].as_array() {
        return values.iter().map(quoted).collect::<Vec<_>>().join(", ");
    }
    for kind in ["oneOf", "anyOf"] {
        if let Some(kinds) = whole[kind].as_array() {
            let kinds = kinds.iter().map(|kind| match &kind["const"] {
                Value::Null => values(schema, kind),
                value => quoted(value),
            });
            return kinds.collect::<Vec<_>>().join(", ");
        }
    }
    match &whole["type"] {
        Value::String(name) if name == "array" => {
            format!("list of {}", values(schema, &whole["items"]))
        }
        Value::String(name) => name.clone(),
        Value::Array(names) => {
            let names = names.iter().filter_map(Value::as_str);
            names.collect::<Vec<_>>().join(" or ")
        }
        _ => String::new(),
    }
}

fn add(schema: &Value, section: &Value, before: &str, default: &Value, all: &mut Vec<Setting>) {
    for (name, of) in section["properties"].as_object().into_iter().flatten() {
        let key = format!("{before}{name}");
        let default = default.get(name).or_else(|| of.get("default"));
        let default = default.cloned().unwrap_or_default();
        let whole = resolved(schema, of);
        if whole["properties"].is_object() {
            add(schema, whole, &format!("{key}."), &default, all);
            continue;
        }
        let description = [of, whole]
            .into_iter()
            .find_map(|it| it["description"].as_str());
        all.push(Setting {
            key,
            values: values(schema, of),
            default,
            description: description.unwrap_or_default().replace('\n', " "),
        });
    }
}
