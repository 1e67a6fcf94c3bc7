//! Settings as a caller sees them.

mod layers;
mod loosening;
mod mistakes;
mod page;
mod roots;
mod shape;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;
use workspace::config::{ConfigError, Environment, Settings, load};

/// A project and a user's home, both in a folder of their own.
struct Place {
    folder: TempDir,
    variables: Vec<(String, String)>,
    flags: BTreeMap<String, Value>,
}

impl Place {
    fn new() -> Self {
        let folder = testkit::folder();
        let home = folder.path().join("home").to_string_lossy().into_owned();
        fs::create_dir_all(folder.path().join("project")).unwrap();
        Self {
            folder,
            variables: vec![("HOME".to_owned(), home)],
            flags: BTreeMap::new(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn project(self, text: impl AsRef<[u8]>) -> Self {
        self.file("project/.taskmaster/config.json", text)
    }

    fn user(self, text: impl AsRef<[u8]>) -> Self {
        self.file("home/.taskmaster/config.json", text)
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    fn flag(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.flags.insert(name.to_owned(), value.into());
        self
    }

    fn environment(&self) -> Environment {
        self.variables.iter().cloned().collect()
    }

    fn load(&self) -> Result<Settings, ConfigError> {
        load(&self.path("project"), &self.flags, &self.environment())
            .map(std::sync::Arc::unwrap_or_clone)
    }
}
