//! The projects that lie below a folder which has no tests itself, as in a repository of several.

use std::fs;
use std::path::Path;

use super::{TestSetup, detect};

/// So many folders down.
const DEPTH: usize = 3;
/// So many folders are looked into.
const MOST_FOLDERS: usize = 300;

/// The folders below `root` in which a test command is found, the nearest first, relative to it and with `/`; at most `most`.
/// What lies in one of them is not looked for.
pub fn projects_below(root: &Path, most: usize) -> Vec<(String, TestSetup)> {
    let mut found = Vec::new();
    let mut level = vec![String::new()];
    let mut looked = 0;
    for _ in 0..DEPTH {
        let mut next = Vec::new();
        for folder in level.iter().flat_map(|folder| folders_in(root, folder)) {
            looked += 1;
            if looked > MOST_FOLDERS || found.len() >= most {
                return found;
            }
            match detect(&root.join(&folder), "auto").map(|found| found.setup) {
                Ok(Some(setup)) => found.push((folder, setup)),
                _ => next.push(folder),
            }
        }
        level = next;
    }
    found
}

/// The folders in one, in their order, without hidden ones and those that hold code of others.
fn folders_in(root: &Path, folder: &str) -> Vec<String> {
    const FOREIGN: [&str; 6] = [
        "node_modules",
        "vendor",
        "third_party",
        "target",
        "dist",
        "build",
    ];
    let mut names: Vec<String> = fs::read_dir(root.join(folder))
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.') && !FOREIGN.contains(&name.as_str()))
        .collect();
    names.sort();
    let inside = |name: String| match folder {
        "" => name,
        folder => format!("{folder}/{name}"),
    };
    names.into_iter().map(inside).collect()
}
