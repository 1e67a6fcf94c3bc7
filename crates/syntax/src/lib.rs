//! What is known of the texts of programs: whether two are the same but for their [form], which parts of a source file are
//! [tests](inside), and what is left of one whose functions do not do what they did.
//!
//! Form needs no parser; the others use [tree-sitter](https://tree-sitter.github.io/).

pub mod form;
mod grammar;
mod hollow;
pub mod inside;

use std::collections::BTreeSet;

use grammar::Grammar;
pub use hollow::{Instead, Outline};

/// Texts of more bytes are not parsed.
const MOST_BYTES: usize = 1024 * 1024;

/// The program of a file with its functions doing something else as soon as they are called; tests that stand in it stay as they are, and
/// so do functions whose text is among `unchanged`. None where there is no other function in it, or its language is not known.
#[must_use]
pub fn hollowed(
    path: &str,
    text: &str,
    instead: Instead,
    unchanged: &BTreeSet<String>,
) -> Option<String> {
    let grammar = Grammar::of(path).filter(|_| text.len() <= MOST_BYTES)?;
    let tests = inside::ranges(path, text);
    hollow::hollowed(grammar, text, &tests, (instead, unchanged))
}

/// The functions and values of a file, but for those of tests that stand in it. None where it cannot be parsed, or its language is not
/// known.
#[must_use]
pub fn outline(path: &str, text: &str) -> Option<Outline> {
    let grammar = Grammar::of(path).filter(|_| text.len() <= MOST_BYTES)?;
    hollow::outline(grammar, text, &inside::ranges(path, text))
}

/// Whether functions can be taken away in files of this name.
#[must_use]
pub fn has_functions(path: &str) -> bool {
    Grammar::of(path).is_some()
}
