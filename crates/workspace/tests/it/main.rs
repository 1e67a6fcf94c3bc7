//! The crate as its users see it.

mod checks;
mod config;
mod convention;
mod evidence;
mod git;
mod passkey;
mod process;
mod profile;
mod tasks;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// A folder with these files.
fn folder(files: &[(impl AsRef<Path>, impl AsRef<[u8]>)]) -> TempDir {
    let folder = testkit::folder();
    for (name, text) in files {
        testkit::files::write(&folder.path().join(name), text);
    }
    folder
}

fn schema_text(schema: &Value) -> String {
    serde_json::to_string_pretty(schema).unwrap() + "\n"
}

/// A file of the repository that is made: `UPDATE_SCHEMAS=1` writes it anew.
fn up_to_date(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = path.join(name);
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "UPDATE_SCHEMAS=1 writes {name}");
}

fn ends(id: &str) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(20) {
        let told = Command::new("ps").args(["-o", "stat=", "-p", id]).output();
        let told = told.unwrap().stdout;
        if told.trim_ascii().is_empty() || told.starts_with(b"Z") {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}
