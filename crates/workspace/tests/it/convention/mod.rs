//! The conventions of a project: names, messages, places of tests, test commands.

mod branch;
mod criteria;
mod hints;
mod message;
mod paths;
mod runner;
mod scope;

use tempfile::TempDir;

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        testkit::files::write(&folder.path().join(path), text);
    }
    folder
}

fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|&item| item.to_owned()).collect()
}
