//! The project's settings, `.taskmaster/config.json`, as they begin.

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
        let environment = [("HOME", "/home/somebody")]
            .into_iter()
            .collect::<Environment>();
        let settings =
            workspace::config::load(project.path(), &BTreeMap::new(), &environment).unwrap();
        assert_eq!(settings.config, Config::default());
        serde_json::from_str::<serde_json::Value>(BEGINNING).unwrap();
    }
}
