//! Source files that hold tests of their own: which parts of them are tests, and which the product.
//!
//! No parser is needed for that, and none is used: a text that does not compile yet is parted as well as one that does.
//! Every text is parted, in time that grows with its length and no faster.

mod blocks;
mod compare;
mod doctest;
mod imports;
mod lexer;
mod merge;
mod rust;

use std::ops::Range;

pub use compare::normal_form;
pub use merge::with_tests_of;

use super::paths::file_name;
use lexer::Language;

/// The parts of a source file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split {
    /// What the product is made of, in its order.
    pub product: String,
    /// The tests, in their order.
    pub tests: String,
}

/// One part of a source file, as it stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part<'a> {
    /// Its text.
    pub text: &'a str,
    /// Whether it is tests.
    pub is_test: bool,
}

/// Parts a source file by its ending: Rust, Zig and D are known, anything else is product as a whole.
///
/// In Rust, tests are: items that are compiled for tests only (`#[cfg(test)]`, `#[cfg(all(test, …))]`), whatever they are;
/// functions with an attribute that makes them a test (`#[test]`, `#[tokio::test]`, `#[rstest]`, `#[test_case(…)]`, …);
/// and the examples in documentation that are run or compiled.
pub fn split(path: &str, text: &str) -> Split {
    let mut split = Split::default();
    for part in parts(path, text) {
        if part.is_test {
            split.tests.push_str(part.text);
        } else {
            split.product.push_str(part.text);
        }
    }
    split
}

/// As [`split`], but the parts one by one: joined, they are the text.
pub fn parts<'a>(path: &str, text: &'a str) -> Vec<Part<'a>> {
    let tests = match file_name(path).rsplit_once('.') {
        Some((_, "rs")) => rust::tests(text),
        Some((_, "zig")) => blocks::tests(text, Language::Zig),
        Some((_, "d")) => blocks::tests(text, Language::D),
        _ => Vec::new(),
    };
    let mut parts = Vec::new();
    let mut done = 0;
    let mut push = |range: Range<usize>, is_test| {
        if let Some(text) = text.get(range).filter(|text| !text.is_empty()) {
            parts.push(Part { text, is_test });
        }
    };
    for range in tests {
        push(done..range.start, false);
        done = range.end;
        push(range, true);
    }
    push(done..text.len(), false);
    parts
}

/// Whether the tests of two splits say the same: equal but for white space, trailing commas and the braces around
/// arms and closures, and the order of imports, as a formatter sets them.
pub fn same_tests(a: &str, b: &str) -> bool {
    same(a, b)
}

/// Whether the product of two splits says the same: equal but for what [`same_tests`] lets pass, too.
pub fn same_product(a: &str, b: &str) -> bool {
    same(a, b)
}

fn same(a: &str, b: &str) -> bool {
    a == b || normal_form(a) == normal_form(b)
}

/// Folders whose content a runner writes by itself.
const WRITTEN_FOLDERS: &[&str] = &[
    "__snapshots__",
    "__image_snapshots__",
    "__file_snapshots__",
    "__diff_output__",
    "proptest-regressions",
    ".hypothesis",
];

/// Files that a runner writes by itself, by how their names end.
const WRITTEN_ENDINGS: &[&str] = &[
    ".snap",
    ".snap.new",
    ".pending-snap",
    ".ambr",
    ".proptest-regressions",
];

/// Whether a file is one that a test runner writes by itself, such as a snapshot: a new one is no change of the tests. What
/// people approve by hand (`*.approved.*`) is not.
pub fn is_runner_written(path: &str) -> bool {
    let name = file_name(path);
    let in_folder = |wanted: &str| path.split('/').rev().skip(1).any(|part| part == wanted);
    let received = name.contains(".received.") && !name.starts_with('.');
    received
        || WRITTEN_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || WRITTEN_FOLDERS.iter().any(|folder| in_folder(folder))
        || path.starts_with("testdata/fuzz/")
        || path.contains("/testdata/fuzz/")
}

/// Folders with what a runner expects, as it has written it.
const SNAPSHOT_FOLDERS: &[&str] = &["__snapshots__", "__image_snapshots__", "__file_snapshots__"];

/// Files with what a runner expects, by how their names end.
const SNAPSHOT_ENDINGS: &[&str] = &[".snap", ".ambr"];

/// Whether a file holds what a runner has written down as right: its tests fail where something else comes out.
pub fn is_snapshot(path: &str) -> bool {
    let name = file_name(path);
    let mut folders = path.split('/').rev().skip(1);
    SNAPSHOT_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || folders.any(|folder| SNAPSHOT_FOLDERS.contains(&folder))
}

/// A stretch of the text from the beginning of its first line to the end of its last, where nothing else stands on them.
fn widened(text: &str, range: Range<usize>) -> Range<usize> {
    let blank = |c: &char| matches!(c, ' ' | '\t' | '\r');
    let before = text[..range.start].trim_end_matches(|c| blank(&c));
    let start = if before.is_empty() || before.ends_with('\n') {
        before.len()
    } else {
        range.start
    };
    let after = text[range.end..].trim_start_matches(|c| blank(&c));
    let at = text.len() - after.len();
    let end = if after.is_empty() {
        at
    } else if after.starts_with('\n') {
        at + 1
    } else {
        range.end
    };
    start..end
}

/// Puts a stretch behind those before it; where they touch, they become one.
fn append(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    match ranges.last_mut() {
        Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
        _ => ranges.push(range),
    }
}
