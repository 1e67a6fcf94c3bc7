//! A program has its own form, in whatever form it is written it says the same words, and its parts are the whole of it.
use syntax::form::is_same_form;
use syntax::inside::{parts, split, with_tests_of};

/// Reads the text as the name of a file, and after each zero what that holds: before, and now.
pub fn check(text: &str) {
    let mut told = text.split('\0');
    let (Some(name), Some(before)) = (told.next(), told.next()) else {
        return;
    };
    assert!(is_same_form(name, before, before));
    let now = told.next().unwrap_or_default();
    let same = is_same_form(name, before, now);
    assert_eq!(same, is_same_form(name, now, before));
    if same {
        assert_eq!(words(before), words(now));
    }
    let whole: String = parts(name, before).iter().map(|part| part.text).collect();
    assert_eq!(whole, before);
    // With its own tests it has the product and the tests that it had.
    let again = with_tests_of(name, before, before);
    let (was, is) = (split(name, before), split(name, &again));
    assert_eq!((was.product, was.tests), (is.product, is.tests));
}

fn words(text: &str) -> Vec<&str> {
    let words = text.split(|sign: char| !sign.is_alphanumeric());
    words.filter(|word| !word.is_empty()).collect()
}
