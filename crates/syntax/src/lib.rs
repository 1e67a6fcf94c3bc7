//! What is known of the texts of programs: whether two are the same but for their [form], which parts of a source file are
//! [tests](inside), and what is left of one whose functions do nothing.
//!
//! Form needs no parser; the others use [tree-sitter](https://tree-sitter.github.io/).

pub mod form;
mod grammar;
mod hollow;
pub mod inside;

use grammar::Grammar;

/// Texts of more bytes are not parsed.
const MOST_BYTES: usize = 1024 * 1024;

/// The program of a file with each of its functions failing as soon as it is called, so that nothing of what it does is left; tests
/// that stand in it stay as they are. None where there is no function in it, or nothing knows how one fails there.
#[must_use]
pub fn hollowed(path: &str, text: &str) -> Option<String> {
    let grammar = Grammar::of(path).filter(|_| text.len() <= MOST_BYTES)?;
    hollow::hollowed(grammar, text, &inside::ranges(path, text))
}

/// Whether functions can be taken away in files of this name.
#[must_use]
pub fn has_functions(path: &str) -> bool {
    Grammar::of(path).is_some()
}
