//! What stands in the payloads of all clients, by the names that one or the other has for it.

use std::path::{Path, PathBuf};

use engine::hook::Action;
use serde_json::Value;
use workspace::config::prepared_first;

/// Names for the path of a file.
const PATHS: [&str; 7] = [
    "file_path",
    "filePath",
    "path",
    "notebook_path",
    "target_file",
    "target_notebook",
    "absolute_path",
];
/// Names for several files.
const LISTS: [&str; 5] = ["files", "paths", "file_paths", "replacements", "edits"];
/// Names for the text of a patch, or of a command line.
const TEXTS: [&str; 5] = ["command", "cmd", "patch", "input", "patchText"];
/// What only a tool gets that writes.
const WRITTEN: [&str; 8] = [
    "content",
    "contents",
    "file_text",
    "old_string",
    "old_str",
    "new_string",
    "new_str",
    "edits",
];

/// Names for the folder that a command is run in.
const WORKING_FOLDERS: [&str; 5] = [
    "working_directory",
    "workdir",
    "cwd",
    "dir_path",
    "directory",
];

/// The beginning of a patch.
const PATCH: &str = "*** Begin Patch";

/// A text that is there and says something.
pub fn text<'v>(value: &'v Value, keys: &[&str]) -> Option<&'v str> {
    keys.iter()
        .filter_map(|key| value.get(key)?.as_str())
        .find(|text| !text.is_empty())
}

/// The folders that a payload names: where the agent is, then where its projects are.
pub fn folders(payload: &Value, input: &Value) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    let cwd = text(payload, &["cwd"]).map(PathBuf::from);
    if let Some(inner) = text(input, &WORKING_FOLDERS) {
        // A command may be run in a folder of its own.
        folders.push(
            cwd.as_ref()
                .map_or_else(|| PathBuf::from(inner), |cwd| cwd.join(inner)),
        );
    }
    folders.extend(cwd);
    let roots = payload.get("workspace_roots").and_then(Value::as_array);
    let roots = roots.into_iter().flatten().filter_map(Value::as_str);
    let roots = roots.filter(|root| !root.is_empty());
    let mut roots: Vec<PathBuf> = roots.map(PathBuf::from).collect();
    prepared_first(&mut roots);
    folders.extend(roots);
    folders
}

/// What a tool is about to do. Its name is compared without regard to case; one that has none is told by what it is given.
pub fn action(tool: Option<&str>, input: &Value, writing: &[&str], shells: &[&str]) -> Action {
    let is_one_of =
        |names: &[&str], tool: &str| names.iter().any(|name| name.eq_ignore_ascii_case(tool));
    match tool {
        Some(tool) if is_one_of(writing, tool) => edit(input),
        Some(tool) if is_one_of(shells, tool) => command(input),
        Some(_) => Action::Other,
        None if WRITTEN.iter().any(|key| input.get(key).is_some()) => edit(input),
        None => command(input),
    }
}

/// The files that a tool which writes is given.
pub fn edit(input: &Value) -> Action {
    let mut paths = Vec::new();
    collect(input, &mut paths);
    Action::Edit { paths }
}

fn collect(input: &Value, paths: &mut Vec<PathBuf>) {
    match input {
        Value::String(patch) => paths.extend(patched(patch)),
        Value::Object(_) => {
            paths.extend(text(input, &PATHS).map(PathBuf::from));
            if let Some(patch) = text(input, &TEXTS) {
                paths.extend(patched(patch));
            }
            for list in LISTS {
                for entry in input
                    .get(list)
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                {
                    match entry {
                        Value::String(path) if !path.is_empty() => paths.push(PathBuf::from(path)),
                        _ => paths.extend(text(entry, &PATHS).map(PathBuf::from)),
                    }
                }
            }
        }
        _ => {}
    }
}

/// The files that a patch is about, by its headers.
fn patched(patch: &str) -> impl Iterator<Item = PathBuf> + '_ {
    let is_patch = patch.trim_start().starts_with(PATCH);
    patch
        .lines()
        .filter(move |_| is_patch)
        .filter_map(|line| {
            let header = line.strip_prefix("*** ")?;
            ["Add File: ", "Update File: ", "Delete File: ", "Move to: "]
                .iter()
                .find_map(|kind| header.strip_prefix(kind))
        })
        .map(|path| PathBuf::from(path.trim()))
}

/// The files of a patch that is handed to `apply_patch` as a here-document, perhaps behind a `cd`: Codex takes such a
/// command for the patch, and has its shell run nothing.
fn patch_in_shell(line: &str) -> Option<Vec<PathBuf>> {
    let (command, patch) = line.trim_start().split_once('\n')?;
    let (words, _) = command.split_once("<<")?;
    let (folder, program) = match words.split_once("&&") {
        Some((first, then)) => (first.trim().strip_prefix("cd ")?.trim(), then),
        None => ("", words),
    };
    let is_patch = matches!(program.trim(), "apply_patch" | "applypatch");
    let folder = folder.trim_matches(['"', '\'']);
    (is_patch && patch.trim_start().starts_with(PATCH)).then(|| {
        patched(patch)
            .map(|path| Path::new(folder).join(path))
            .collect()
    })
}

/// The line that a shell is given; of a list of words, the one that a shell in it is given.
pub fn command(input: &Value) -> Action {
    let line = TEXTS.iter().find_map(|key| match input.get(key)? {
        Value::String(line) => Some(line.clone()),
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            match words?.as_slice() {
                [shell, option, line]
                    if shell.ends_with("sh")
                        && option.starts_with('-')
                        && option.ends_with('c') =>
                {
                    Some((*line).to_owned())
                }
                _ => None,
            }
        }
        _ => None,
    });
    match line {
        // Some agents hand a patch to their shell.
        Some(line) if line.trim_start().starts_with(PATCH) => Action::Edit {
            paths: patched(&line).collect(),
        },
        Some(line) => match patch_in_shell(&line) {
            Some(paths) => Action::Edit { paths },
            None => Action::Command { line },
        },
        None => Action::Other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn edits(paths: &[&str]) -> Action {
        Action::Edit {
            paths: paths.iter().map(PathBuf::from).collect(),
        }
    }

    fn file(name: &str) -> Value {
        json!({ name: "a" })
    }

    #[test]
    fn files_are_found_by_every_name_they_have() {
        let patch = "*** Begin Patch\n*** Add File: a b.rs\n+*** Delete File: no\n*** Update File: c\r\n*** Move to: d\n*** End Patch";
        let two = json!([{"filePath": "a"}, {"filePath": "b"}]);
        for (input, expected) in [
            (file("file_path"), &["a"][..]),
            (json!({"path": "a", "file_text": "x"}), &["a"]),
            (file("notebook_path"), &["a"]),
            (json!({"files": ["a", "b"]}), &["a", "b"]),
            (json!({"replacements": two}), &["a", "b"]),
            (json!({"file_path": "a", "edits": [{}]}), &["a"]),
            (json!({"command": patch}), &["a b.rs", "c", "d"]),
            (json!("*** Begin Patch\n*** Delete File: x"), &["x"]),
            (json!({"file_path": 7}), &[]),
            (json!(null), &[]),
            (json!({"command": "*** Update File: x"}), &[]),
        ] {
            assert_eq!(edit(&input), edits(expected), "{input}");
        }
    }

    #[test]
    fn folders_are_found_by_every_name_they_have() {
        let in_p = |name: &str, folder: &str| (json!({"cwd": "/p"}), json!({ name: folder }));
        let roots = json!({"cwd": "", "workspace_roots": ["/a", "", "/b"]});
        for ((payload, input), expected) in [
            (in_p("other", "w"), &["/p"][..]),
            (in_p("workdir", "w"), &["/p/w", "/p"]),
            (in_p("dir_path", "w"), &["/p/w", "/p"]),
            (in_p("directory", "/w"), &["/w", "/p"]),
            (
                (roots, json!({"working_directory": "/w"})),
                &["/w", "/a", "/b"],
            ),
            (
                (json!({"cwd": 7, "workspace_roots": "/a"}), json!(null)),
                &[],
            ),
        ] {
            let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(folders(&payload, &input), expected, "{payload} {input}");
        }
    }

    #[test]
    fn a_patch_that_a_shell_is_given_is_one() {
        let patch = "*** Begin Patch\n*** Add File: src/a.rs\n+x\n*** End Patch\nEOF\n";
        for (begin, file) in [
            ("apply_patch <<'EOF'", Some("src/a.rs")),
            ("cd 'sub' && apply_patch <<EOF", Some("sub/src/a.rs")),
            ("cat > x <<'EOF'", None),
            ("echo apply_patch; cat <<EOF", None),
        ] {
            let line = format!("{begin}\n{patch}");
            let given = command(&json!({ "command": line }));
            let expected = file.map_or(Action::Command { line }, |file| edits(&[file]));
            assert_eq!(given, expected);
        }
    }

    #[test]
    fn a_tool_without_a_name_is_told_by_what_it_is_given() {
        let line = || Action::Command {
            line: "git push".to_owned(),
        };
        for (input, expected) in [
            (file("file_path"), Action::Other),
            (json!({"file_path": "a", "contents": ""}), edits(&["a"])),
            (json!({"command": "git push"}), line()),
        ] {
            assert_eq!(action(None, &input, &[], &[]), expected, "{input}");
        }
        // A command may be a list of words.
        for (input, expected) in [
            (
                json!({"command": ["bash", "-lc", "git push"]}),
                Some(line()),
            ),
            (
                json!({"command": ["/bin/sh", "-c", "git push"]}),
                Some(line()),
            ),
            (json!({"command": ["git", "push"]}), None),
            (json!({"cmd": "git push"}), Some(line())),
            (json!({"command": 7}), None),
        ] {
            let given = command(&input);
            let told = Some(given).filter(|action| matches!(action, Action::Command { .. }));
            assert_eq!(told, expected, "{input}");
        }
    }
}
