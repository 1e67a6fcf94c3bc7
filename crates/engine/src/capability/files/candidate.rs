//! The code that comes of a response: what was carried forward, and what the response makes of it.

use markup::response::bundle::{self, Bundle, File, Move, Rules};

use crate::capability::files::code::Tree;

/// How many files a message names.
const MOST_NAMED: usize = 12;

/// The code with the changes of a response, or why there can be none such.
pub(crate) fn candidate(carried: &Tree, changes: &Bundle) -> Result<Tree, String> {
    let mut tree = carried.clone();
    for Move { from, to } in &changes.moved {
        let Some(content) = tree.files.remove(from) else {
            return Err(no_such("moved", from, carried));
        };
        if tree.files.contains_key(to) && !changes.deleted.contains(to) {
            return Err(format!(
                "`{from}` cannot be moved to `{to}`, which is there already: delete that, too, if it is to go"
            ));
        }
        tree.files.insert(to.clone(), content);
        if tree.executable.remove(from) {
            tree.executable.insert(to.clone());
        }
    }
    for path in &changes.deleted {
        let moved_here = changes.moved.iter().any(|moved| moved.to == *path);
        if moved_here {
            continue;
        }
        if tree.files.remove(path).is_none() {
            return Err(no_such("deleted", path, carried));
        }
        tree.executable.remove(path);
    }
    for File { path, content } in &changes.files {
        let content = match tree.files.get(path) {
            Some(before) if ends_in_crlf(before) && !content.contains('\r') => {
                content.replace('\n', "\r\n")
            }
            _ => content.clone(),
        };
        if content.starts_with("#!") {
            tree.executable.insert(path.clone());
        }
        tree.files.insert(path.clone(), content);
    }
    if tree.files.is_empty() {
        return Err("no file would be left".to_owned());
    }
    match clash(&tree) {
        Some(clash) => Err(clash),
        None => Ok(tree),
    }
}

/// Whether each line of a text ends in a carriage return and a line feed.
fn ends_in_crlf(text: &str) -> bool {
    let mut lines = text
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    text.contains('\n') && lines.all(|line| line.ends_with("\r\n"))
}

fn no_such(what: &str, path: &str, carried: &Tree) -> String {
    let names: Vec<_> = carried.files.keys().take(MOST_NAMED).cloned().collect();
    let there = match carried.files.len() {
        0 => "there is no code yet".to_owned(),
        all if all > names.len() => {
            format!(
                "there are {}, and {} more",
                names.join(", "),
                all - names.len()
            )
        }
        _ => format!("there are {}", names.join(", ")),
    };
    format!("`{path}` cannot be {what}, for the code has no such file: {there}")
}

/// Whether the files could not stand in one folder.
fn clash(tree: &Tree) -> Option<String> {
    let rules = Rules::default()
        .with_max_files(usize::MAX)
        .with_max_bytes(u64::MAX);
    let error = bundle::check(&tree.in_bundle(), &[], &rules).err()?;
    Some(format!(
        "together with the files carried forward it could not be written: {error}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files, and the one of them that may be run.
    fn tree(files: &[(&str, &str)], executable: &str) -> Tree {
        let files = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        Tree {
            files: files.collect(),
            executable: [executable.to_owned()].into(),
        }
    }

    fn made(carried: &Tree, changes: &str) -> Result<Tree, String> {
        let changes = bundle::read(changes.as_bytes(), &Rules::default());
        candidate(carried, &changes.expect("a bundle"))
    }

    #[test]
    fn what_is_not_named_stays_as_it_was() {
        let carried = tree(&[("a", "1\n"), ("b.sh", "2\n"), ("c", "3\n")], "b.sh");
        let changes = "<<<DELETE: a>>>\n<<<MOVE: b.sh -> d/b.sh>>>\n<<<EMPTY: e>>>\n";
        let expected = tree(&[("c", "3\n"), ("d/b.sh", "2\n"), ("e", "")], "d/b.sh");
        assert_eq!(made(&carried, changes), Ok(expected));
        // So do line ends, and the right to run.
        let carried = tree(&[("a.bat", "x\r\ny\r\n"), ("run", "1\n")], "run");
        let changes = "<<<FILE: a.bat>>>\nz\n<<<FILE: run>>>\n2\n<<<FILE: new>>>\n#!/bin/sh\n";
        let made = made(&carried, changes).expect("code");
        assert_eq!(made.files["a.bat"], "z\r\n");
        assert_eq!(made.executable.iter().collect::<Vec<_>>(), ["new", "run"]);
    }

    #[test]
    fn what_is_not_there_neither_goes_nor_moves() {
        let carried = tree(&[("a", "1\n"), ("b", "2\n")], "a");
        for (changes, reason) in [
            ("<<<DELETE: x>>>\n", "no such file: there are a, b"),
            ("<<<MOVE: x -> y>>>\n", "no such file: there are a, b"),
            ("<<<MOVE: a -> b>>>\n", "`b`, which is there already"),
            (
                "<<<DELETE: a>>>\n<<<DELETE: b>>>\n",
                "no file would be left",
            ),
        ] {
            let told = made(&carried, changes).unwrap_err();
            assert!(told.contains(reason), "{told}");
        }
    }
}
