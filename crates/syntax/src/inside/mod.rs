//! Tests inside of the sources of a product: which parts of a Rust file are tests, and which the product.
//!
//! Tests are: items that are compiled for tests only (`#[cfg(test)]`, `#[cfg(all(test, …))]`), whatever they are; functions with an
//! attribute that makes them a test (`#[test]`, `#[tokio::test]`, `#[rstest]`, `#[test_case(…)]`, …); and the examples in documentation
//! that are run or compiled. A text that does not compile yet is parted as far as its parser sees through it.

mod doctest;
mod rust;

use std::ops::Range;

use text::diff::hunks;

use crate::form::form_of;

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

/// Whether source files of this name may hold tests of their own, apart from which the rest of them is known.
#[must_use]
pub fn may_hold_tests(path: &str) -> bool {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    name.rsplit_once('.')
        .is_some_and(|(_, ending)| ending == "rs")
}

/// Parts a source file; one that holds no tests of its own is product as a whole.
#[must_use]
pub fn split(path: &str, text: &str) -> Split {
    let mut split = Split::default();
    for part in parts(path, text) {
        let side = if part.is_test {
            &mut split.tests
        } else {
            &mut split.product
        };
        side.push_str(part.text);
    }
    split
}

/// As [`split`], but the parts one by one: joined, they are the text.
#[must_use]
pub fn parts<'a>(path: &str, text: &'a str) -> Vec<Part<'a>> {
    let tests = ranges(path, text);
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

/// Where the tests are, in their order.
pub(crate) fn ranges(path: &str, text: &str) -> Vec<Range<usize>> {
    if may_hold_tests(path) {
        rust::tests(text)
    } else {
        Vec::new()
    }
}

/// A source file with the product of one text of it and the tests of another, in the places that they have there: before and behind
/// the same parts of the product.
#[must_use]
pub fn with_tests_of(path: &str, product: &str, tests: &str) -> String {
    let (own, other) = (pieces(path, product), pieces(path, tests));
    let keys = |pieces: &[Part<'_>]| -> Vec<(bool, String)> {
        let key = |piece: &Part<'_>| (piece.is_test, key(path, piece));
        pieces.iter().map(key).collect()
    };
    let mut merged = String::with_capacity(product.len() + tests.len());
    let mut put = |piece: &Part<'_>| {
        if !merged.is_empty() && !merged.ends_with('\n') {
            merged.push('\n');
        }
        merged.push_str(piece.text);
    };
    for hunk in hunks(&keys(&own), &keys(&other)) {
        let (own, other) = (&own[hunk.before], &other[hunk.after]);
        if hunk.is_same {
            own.iter().for_each(&mut put);
            continue;
        }
        own.iter().filter(|piece| !piece.is_test).for_each(&mut put);
        other
            .iter()
            .filter(|piece| piece.is_test)
            .for_each(&mut put);
    }
    merged
}

/// Its lines of the product, and tests that nothing stands between.
fn pieces<'a>(path: &str, text: &'a str) -> Vec<Part<'a>> {
    let mut pieces = Vec::new();
    for part in parts(path, text) {
        if part.is_test {
            pieces.push(part);
        } else {
            let lines = part.text.split_inclusive('\n');
            pieces.extend(lines.map(|text| Part { text, ..part }));
        }
    }
    pieces
}

/// What makes two pieces the same.
fn key(path: &str, piece: &Part<'_>) -> String {
    if piece.is_test {
        form_of(path, piece.text)
    } else {
        piece.text.trim().to_owned()
    }
}
