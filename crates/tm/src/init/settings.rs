//! The project's settings, `.taskmaster/config.json`, as they begin, and one of them changed.

use serde_json::Value;

use super::cst::{input, parsed, wrong};
use super::text::{EditError, without_mark};

/// The file.
pub const FILE: &str = ".taskmaster/config.json";

/// Strict JSON, since other tools read this file too: what would be a comment is a key that means nothing. Only what a
/// project is likely to decide stands here; everything else keeps following the defaults.
pub const BEGINNING: &str = r#"{
  "autopilot": {
    "//": "every setting, its value and where it comes from: tm config show --origin",
    "enabled": true,
    "maxGreenAttempts": 3
  },
  "test": {
    "//": "null: the command that the project's own files name",
    "command": null
  }
}
"#;

/// The text with a value for the key of that dotted name, everything else as it was. `None` where there is no file.
pub fn with_value(text: Option<&str>, key: &str, value: &Value) -> Result<String, EditError> {
    let (mark, body) = without_mark(text.unwrap_or_default());
    if body.trim().is_empty() {
        let document = key.rsplit('.').fold(value.clone(), |inner, name| {
            Value::Object([(name.to_owned(), inner)].into_iter().collect())
        });
        return Ok(format!("{mark}{document:#}\n"));
    }
    let root = parsed(body)?;
    let (sections, name) = sections_and_name(key);
    let mut at = root
        .object_value_or_create()
        .ok_or_else(|| wrong(body, "", "the document is not an object"))?;
    for section in sections {
        at = at
            .object_value_or_create(section)
            .ok_or_else(|| wrong(body, section, &format!("`{section}` is not an object")))?;
    }
    if let Some(member) = at.get(name) {
        member.set_value(input(value));
    } else {
        at.ensure_multiline();
        at.append(name, input(value));
    }
    Ok(format!("{mark}{root}"))
}

/// Whether the text holds what `tm init` writes and no more: the beginning, with any test command.
pub fn are_ours(text: &str) -> bool {
    with_value(Some(text), "test.command", &Value::Null).is_ok_and(|text| text == BEGINNING)
}

/// The text without that key. Its section stays, even if nothing is left in it.
pub fn without_value(text: &str, key: &str) -> Result<String, EditError> {
    let (mark, body) = without_mark(text);
    let root = parsed(body)?;
    let (mut sections, name) = sections_and_name(key);
    let at = root.object_value();
    let at = at.and_then(|root| sections.try_fold(root, |at, section| at.object_value(section)));
    if let Some(member) = at.and_then(|at| at.get(name)) {
        member.remove();
    }
    Ok(format!("{mark}{root}"))
}

fn sections_and_name(key: &str) -> (impl Iterator<Item = &str>, &str) {
    let (sections, name) = key.rsplit_once('.').unwrap_or(("", key));
    let sections = sections.split('.').filter(|section| !section.is_empty());
    (sections, name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use workspace::config::{Config, Environment};

    use super::*;

    #[test]
    fn the_beginning_is_valid_and_changes_nothing() {
        let project = tempfile::tempdir().unwrap();
        let file = project.path().join(FILE);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, BEGINNING).unwrap();
        let environment = Environment::from_iter([("HOME", "/home/somebody")]);
        let given = BTreeMap::new();
        let settings = workspace::config::load(project.path(), &given, &environment).unwrap();
        assert_eq!(settings.config, Config::default());
        serde_json::from_str::<Value>(BEGINNING).unwrap();
    }

    #[test]
    fn one_value_changes_and_nothing_else() {
        let set = |text: Option<&str>, key: &str, value: Value| {
            let new = with_value(text, key, &value).unwrap();
            let read: Value = serde_json::from_str(&new).unwrap();
            let pointer = format!("/{}", key.replace('.', "/"));
            assert_eq!(read.pointer(&pointer), Some(&value), "{new}");
            new
        };
        let command = Value::from("npm test");
        let new = set(Some(BEGINNING), "test.command", command.clone());
        assert_eq!(new, BEGINNING.replace("null\n", "\"npm test\"\n"));
        // What the comment says stays.
        let left = without_value(&new, "test.command").unwrap();
        assert_eq!(left.matches("command").count(), 1);
        let alone = "{\n  \"test\": {\n    \"command\": \"npm test\"\n  }\n}\n";
        assert_eq!(set(None, "test.command", command.clone()), alone);
        let foreign = "{ \"models\": {\"main\": 1}, \"test\": {} }\r\n";
        let new = set(Some(foreign), "evidence.policy.tests_missing", "off".into());
        assert!(new.contains("\"models\": {\"main\": 1}"), "{new}");
        let deep = "autopilot.finalization.updateTaskStatus";
        set(Some("{}"), deep, false.into());
        for text in ["{\"test\": 1}", "[]"] {
            with_value(Some(text), "test.command", &command).unwrap_err();
        }
        let other = "{\"a\": 1}";
        assert_eq!(without_value(other, "test.command").unwrap(), other);
    }
}
