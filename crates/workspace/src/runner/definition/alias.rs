//! Aliases of cargo, and the programs that it runs tests with.

use std::fmt::Write as _;

use toml::Value;

use super::{NamedPlace, Place};
use crate::convention::read_manifest;

pub(super) fn found(place: Place<'_>, argv: &[&str]) -> Option<NamedPlace> {
    let ["cargo", rest @ ..] = argv else {
        return None;
    };
    let mut words = rest
        .iter()
        .skip_while(|word| word.starts_with('+') || word.starts_with('-'));
    let name = words.next()?;
    let arguments: Vec<&str> = words.copied().collect();
    for folder in place.upward() {
        for file in [".cargo/config.toml", ".cargo/config"] {
            let path = folder.join(file);
            let Some(Ok(settings)) = read_manifest(&path).map(|text| text.parse::<toml::Table>())
            else {
                continue;
            };
            let mut text = String::new();
            let mut calls = Vec::new();
            let alias = settings.get("alias").and_then(|alias| alias.get(*name));
            if let Some(alias) = alias.and_then(words_of) {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "alias.{name}: {alias}");
                let line = format!("cargo {alias} {}", arguments.join(" "));
                calls.push((place.folder.to_owned(), line));
            }
            for (target, set) in settings
                .get("target")
                .and_then(Value::as_table)
                .into_iter()
                .flatten()
            {
                if let Some(runner) = set.get("runner").and_then(words_of) {
                    let _ = writeln!(text, "target.{target}.runner: {runner}");
                }
            }
            if !text.is_empty() {
                let kind = if calls.is_empty() {
                    "target.*.runner".to_owned()
                } else {
                    format!("alias.{name}")
                };
                return Some(NamedPlace {
                    what: format!("{kind} of {}", place.name(&path)),
                    text,
                    calls,
                });
            }
        }
    }
    None
}

/// A command that is written as one text or as a list of words.
fn words_of(value: &Value) -> Option<String> {
    match value {
        Value::String(line) => Some(line.clone()),
        Value::Array(words) => Some(
            words
                .iter()
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join(" "),
        ),
        _ => None,
    }
}
