//! A source file of which the product and the tests come from different texts.

use text::diff::hunks;

use super::{normal_form, parts};

/// Words that an item of Rust or Zig begins with, and signs before it.
const ITEMS: &[&str] = &[
    "#[",
    "///",
    "//!",
    "async ",
    "const ",
    "enum ",
    "fn ",
    "impl ",
    "impl<",
    "macro_rules!",
    "mod ",
    "pub ",
    "pub(",
    "static ",
    "struct ",
    "trait ",
    "type ",
    "unsafe ",
    "use ",
];

/// A source file with the product of one text of it and the tests of another, in the places that they have there: before and behind
/// the same parts of the product.
pub fn with_tests_of(path: &str, product: &str, tests: &str) -> String {
    merged(path, product, tests, |_| false)
}

/// As [`with_tests_of`], with the items that the other text only adds to the product, such as those that its tests need to be built.
/// Nothing that the first has is changed or gone in it.
pub fn with_additions_of(path: &str, product: &str, tests: &str) -> String {
    merged(path, product, tests, |lines| {
        let mut code = lines
            .iter()
            .map(|line| line.text.trim_start())
            .filter(|line| !line.is_empty());
        code.next()
            .is_some_and(|first| ITEMS.iter().any(|word| first.starts_with(word)))
    })
}

/// A line of the product, or tests that nothing stands between.
struct Piece<'a> {
    text: &'a str,
    is_test: bool,
}

fn merged(
    path: &str,
    product: &str,
    tests: &str,
    is_added: impl Fn(&[&Piece<'_>]) -> bool,
) -> String {
    let (own, other) = (pieces(path, product), pieces(path, tests));
    let mut merged = String::with_capacity(product.len() + tests.len());
    let mut put = |piece: &Piece<'_>| {
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
        let lines: Vec<&Piece<'_>> = other.iter().filter(|piece| !piece.is_test).collect();
        let adds = own.iter().all(|piece| piece.is_test) && is_added(&lines);
        let taken = other.iter().filter(|piece| piece.is_test || adds);
        taken.for_each(&mut put);
    }
    merged
}

fn pieces<'a>(path: &str, text: &'a str) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    for part in parts(path, text) {
        let is_test = part.is_test;
        if is_test {
            let text = part.text;
            pieces.push(Piece { text, is_test });
        } else {
            let lines = part.text.split_inclusive('\n');
            pieces.extend(lines.map(|text| Piece { text, is_test }));
        }
    }
    pieces
}

/// What makes two pieces the same.
fn keys(pieces: &[Piece<'_>]) -> Vec<(bool, String)> {
    let key = |piece: &Piece<'_>| {
        if piece.is_test {
            normal_form(piece.text)
        } else {
            piece.text.trim().to_owned()
        }
    };
    pieces
        .iter()
        .map(|piece| (piece.is_test, key(piece)))
        .collect()
}
