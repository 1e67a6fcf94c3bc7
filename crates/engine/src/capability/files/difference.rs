//! What is not the same in two candidates.

use std::collections::BTreeSet;

use workspace::profile::FileChange;

use crate::capability::files::code::Tree;

/// The files in which two candidates differ, by their paths.
pub(crate) fn between(before: &Tree, after: &Tree) -> Vec<FileChange> {
    let paths: BTreeSet<&String> = before.files.keys().chain(after.files.keys()).collect();
    paths
        .into_iter()
        .filter_map(|path| {
            let (old, new) = (before.files.get(path), after.files.get(path));
            let same_mode = before.executable.contains(path) == after.executable.contains(path);
            let change = match (old, new) {
                (None, _) => "added",
                (_, None) => "deleted",
                (old, new) if old == new && same_mode => return None,
                _ => "changed",
            };
            Some(FileChange {
                path: path.clone(),
                change: change.to_owned(),
                diff: text::diff::unified(path, old.map(String::as_str), new.map(String::as_str)),
            })
        })
        .collect()
}
