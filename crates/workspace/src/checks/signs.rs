//! By what a project tells that it uses a tool.

use std::path::Path;

use serde_json::Value;

use super::CheckSettings;
use crate::convention::{has_file, read_manifest};

/// One of them.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sign {
    /// This file is there, and has to do with other things as well.
    There(&'static str),
    /// This file is there, which is about the tool alone.
    File(&'static str),
    /// A table of this path in a file of TOML.
    Toml(&'static str, &'static [&'static str]),
    /// A section of this name in a file of INI.
    Ini(&'static str, &'static str),
    /// A member of the outermost object in a file of JSON.
    Json(&'static str, &'static str),
    /// A hook of this id in the settings of pre-commit.
    PreCommit(&'static str),
}

/// What of a project's files is such a sign.
pub(super) fn present(root: &Path, signs: &[Sign]) -> Vec<CheckSettings> {
    signs
        .iter()
        .filter_map(|sign| sign.settings(root))
        .collect()
}

impl Sign {
    /// The file that holds it, with what of that is about the tool.
    fn settings(&self, root: &Path) -> Option<CheckSettings> {
        const PRE_COMMIT: &str = ".pre-commit-config.yaml";
        let read = |name: &str| read_manifest(&root.join(name));
        let found = |file: &str, text: String| CheckSettings {
            file: file.to_owned(),
            text,
        };
        match *self {
            Self::There(name) => has_file(root, name).then(|| found(name, String::new())),
            Self::File(name) => {
                has_file(root, name).then(|| found(name, read(name).unwrap_or_default()))
            }
            Self::Toml(name, path) => {
                let table: toml::Table = read(name)?.parse().ok()?;
                let mut value = &toml::Value::Table(table);
                for key in path {
                    value = value.get(key)?;
                }
                Some(found(name, value.to_string()))
            }
            Self::Ini(name, section) => {
                let text = read(name)?;
                let head = |line: &str| {
                    let head = line.trim().strip_prefix('[')?.split(']').next()?;
                    Some(head.trim().to_owned())
                };
                let is_own = |line: &str| head(line).is_some_and(|head| head == section);
                let mut lines = text.lines().skip_while(|line| !is_own(line));
                let first = lines.next()?;
                let rest = lines.take_while(|line| head(line).is_none());
                let own: Vec<&str> = std::iter::once(first).chain(rest).collect();
                Some(found(name, own.join("\n")))
            }
            Self::Json(name, member) => {
                let value: Value = serde_json::from_str(&read(name)?).ok()?;
                value
                    .get(member)
                    .map(|value| found(name, value.to_string()))
            }
            Self::PreCommit(id) => {
                let text = read(PRE_COMMIT)?;
                let mut ids = text.lines().filter_map(|line| {
                    let line = line.trim().trim_start_matches("- ");
                    line.strip_prefix("id:")
                });
                let is_it = |word: &str| word.trim().trim_matches(['"', '\'']) == id;
                ids.any(is_it).then(|| found(PRE_COMMIT, String::new()))
            }
        }
    }
}
