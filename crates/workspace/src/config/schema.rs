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
