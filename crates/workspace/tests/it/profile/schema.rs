//! The published JSON Schema says what the program reads.

use serde_json::Value;
use workspace::profile::json_schema;

/// `UPDATE_SCHEMAS=1` writes the file anew.
#[test]
fn the_schema_in_the_repository_is_up_to_date() {
    let schema = crate::schema_text(&json_schema());
    crate::up_to_date("schemas/profile.schema.json", &schema);
}

#[test]
fn it_is_strict_and_describes_every_key() {
    fn look(schema: &Value, place: &str) {
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            assert_eq!(schema["additionalProperties"], false, "{place}");
            for (name, property) in properties {
                let description = property.get("description");
                assert!(description.is_some(), "{place}.{name} has none");
            }
        }
        for (name, below) in schema.as_object().into_iter().flatten() {
            look(below, &format!("{place}/{name}"));
        }
        for below in schema.as_array().into_iter().flatten() {
            look(below, place);
        }
    }
    look(&json_schema(), "");
}
