//! A program says the same as itself, and in whatever form it says so with the same words.
use syntax::{Comparison, compare};

/// Reads the text as the name of a file, and after each zero what that holds: before, and now.
pub fn check(text: &str) {
    let mut parts = text.split('\0');
    let (Some(name), Some(before)) = (parts.next(), parts.next()) else {
        return;
    };
    let same = compare((name, before), (name, before));
    assert!(matches!(same, None | Some(Comparison::Same)), "{same:?}");
    let now = parts.next().unwrap_or_default();
    let there = compare((name, before), (name, now));
    let back = compare((name, now), (name, before));
    assert_eq!(
        there == Some(Comparison::Same),
        back == Some(Comparison::Same)
    );
    if there == Some(Comparison::Same) {
        assert_eq!(words(before), words(now));
    }
}

/// In any order, since imports may have another one.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|sign: char| !sign.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    let mut words: Vec<String> = words.map(str::to_lowercase).collect();
    words.sort_unstable();
    words
}
