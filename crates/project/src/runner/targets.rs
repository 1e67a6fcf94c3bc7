//! A `test` target of make, a `test` recipe of just.

use std::path::Path;

use super::{Found, Note};
use crate::convention::read_manifest;

pub(super) fn make(root: &Path, _: &mut Vec<Note>) -> Option<Found> {
    // In the order in which make itself looks.
    let names = ["GNUmakefile", "makefile", "Makefile"];
    let text = names
        .iter()
        .find_map(|name| read_manifest(&root.join(name)))?;
    found("make test", block(&text, is_make_target)?)
}

pub(super) fn just(root: &Path, _: &mut Vec<Note>) -> Option<Found> {
    let names = ["justfile", "Justfile", ".justfile", "JUSTFILE"];
    let text = names
        .iter()
        .find_map(|name| read_manifest(&root.join(name)))?;
    found("just test", block(&text, is_just_recipe)?)
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "keeps the detectors to one line each"
)]
fn found(command: &str, definition: String) -> Option<Found> {
    let mut found = Found::new(command, "unknown", &[]);
    found.definition = Some(definition);
    Some(found)
}

/// The line that `is_head` accepts, with the indented lines below it.
fn block(text: &str, is_head: fn(&str) -> bool) -> Option<String> {
    let mut lines = text.lines().skip_while(|line| !is_head(line));
    let mut block = lines.next()?.trim_end().to_owned();
    for line in lines.take_while(|line| line.starts_with([' ', '\t'])) {
        block.push('\n');
        block.push_str(line.trim_end());
    }
    Some(block)
}

/// `test:`, `test check: deps`, but neither `test := x` nor `tests:`.
fn is_make_target(line: &str) -> bool {
    let Some((targets, rest)) = line.split_once(':') else {
        return false;
    };
    !line.starts_with(['\t', ' ', '#', '.'])
        && !rest.starts_with('=')
        && !rest.starts_with(":=")
        && !targets.contains('=')
        && targets.split_whitespace().any(|target| target == "test")
}

/// `test:`, `@test arg='x': deps`, but not `test := "x"`.
fn is_just_recipe(line: &str) -> bool {
    let line = line.strip_prefix('@').unwrap_or(line);
    let Some(rest) = line.strip_prefix("test") else {
        return false;
    };
    (rest.starts_with(':') && !rest.starts_with(":="))
        || (rest.starts_with(' ') && !rest.trim_start().starts_with(":=") && rest.contains(':'))
}
