//! A source file of which the product and the tests come from different texts.

use text::diff::hunks;

use super::{normal_form, parts};

/// A source file with the product of one text of it and the tests of another, in the places that they have there: before and behind
/// the same parts of the product.
pub fn with_tests_of(path: &str, product: &str, tests: &str) -> String {
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
        other
            .iter()
            .filter(|piece| piece.is_test)
            .for_each(&mut put);
    }
    merged
}

/// A line of the product, or tests that nothing stands between.
struct Piece<'a> {
    text: &'a str,
    is_test: bool,
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
