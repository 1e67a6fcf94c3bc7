//! What is not the same in two candidates.

use std::collections::BTreeSet;

use crate::capability::files::code::Tree;
use crate::view::session::answer::{FileChange, FileDifference};

/// The files in which two candidates differ, by their paths.
pub(crate) fn between(before: &Tree, after: &Tree) -> Vec<FileDifference> {
    let paths: BTreeSet<&String> = before.files.keys().chain(after.files.keys()).collect();
    paths
        .into_iter()
        .filter_map(|path| {
            let (old, new) = (before.files.get(path), after.files.get(path));
            let same_mode = before.executable.contains(path) == after.executable.contains(path);
            let change = match (old, new) {
                (None, _) => FileChange::Added,
                (_, None) => FileChange::Deleted,
                (old, new) if old == new && same_mode => return None,
                _ => FileChange::Changed,
            };
            Some(FileDifference {
                path: path.clone(),
                change,
                diff: text::diff::unified(path, old.map(String::as_str), new.map(String::as_str)),
            })
        })
        .collect()
}
