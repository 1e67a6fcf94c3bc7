//! A `test` target of make, a `test` recipe of just.

use std::path::Path;

use super::{Note, RunnerMatch};
use crate::convention::read_manifest;

/// In the order in which make itself looks.
pub(super) const MAKE_FILES: &[&str] = &["GNUmakefile", "makefile", "Makefile"];
/// As just may have them.
pub(super) const JUST_FILES: &[&str] = &["justfile", "Justfile", ".justfile", "JUSTFILE"];

pub(super) fn make(root: &Path, _: &mut Vec<Note>) -> Option<RunnerMatch> {
    let text = MAKE_FILES
        .iter()
        .find_map(|name| read_manifest(&root.join(name)))?;
    found("make test", block(&text, is_make_target)?)
}

pub(super) fn just(root: &Path, _: &mut Vec<Note>) -> Option<RunnerMatch> {
    let text = JUST_FILES
        .iter()
        .find_map(|name| read_manifest(&root.join(name)))?;
    found(
        "just test",
        block(&text, |line| just_recipe(line) == Some("test"))?,
    )
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "keeps the detectors to one line each"
)]
fn found(command: &str, definition: String) -> Option<RunnerMatch> {
    let mut found = RunnerMatch::new(command, "unknown", &[]);
    found.definition = Some(definition);
    Some(found)
}

/// The line that `is_head` accepts, with the indented lines below it.
pub(super) fn block(text: &str, is_head: impl Fn(&str) -> bool) -> Option<String> {
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

/// The name of the recipe that a line begins: that of `test:` and `@test arg='x': deps`, but not of `test := "x"`.
pub(super) fn just_recipe(line: &str) -> Option<&str> {
    let line = line.strip_prefix('@').unwrap_or(line);
    let end = line.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')))?;
    let (name, rest) = line.split_at(end);
    let is_recipe = (rest.starts_with(':') && !rest.starts_with(":="))
        || (rest.starts_with(' ') && !rest.trim_start().starts_with(":=") && rest.contains(':'));
    (is_recipe && !name.is_empty() && !is_setting(name)).then_some(name)
}

/// Words that begin a line of just which is no recipe.
fn is_setting(name: &str) -> bool {
    matches!(
        name,
        "alias" | "export" | "import" | "mod" | "set" | "unexport"
    )
}
