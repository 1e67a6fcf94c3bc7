//! The published JSON Schema says what the program reads.

use std::path::Path;

use serde_json::Value;
use workspace::profile::json_schema;

/// `UPDATE_SCHEMAS=1` writes the file anew.
#[test]
fn the_schema_in_the_repository_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/profile.schema.json");
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
fn it_is_strict_and_describes_every_key() {
    fn look(schema: &Value, place: &str) {
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            assert_eq!(schema["additionalProperties"], false, "{place}");
            for (name, property) in properties {
                assert!(
                    property.get("description").is_some(),
                    "{place}.{name} has no description"
                );
            }
        }
        match schema {
            Value::Object(all) => all
                .iter()
                .for_each(|(name, below)| look(below, &format!("{place}/{name}"))),
            Value::Array(all) => all.iter().for_each(|below| look(below, place)),
            _ => {}
        }
    }
    look(&json_schema(), "");
}
