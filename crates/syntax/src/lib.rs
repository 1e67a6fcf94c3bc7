//! Whether two texts of a program say the same, apart from their form.
//!
//! A formatter changes white space, quotes, brackets and commas that mean nothing, and the order of imports that decides nothing. Both texts are parsed
//! ([tree-sitter](https://tree-sitter.github.io/)), and what is left of each without all that is compared: not whether
//! they do the same, but whether they are the same program, written in another form. Comments count: runners, compilers and linters
//! are told things in them.

mod form;
mod grammar;
mod hollow;

use form::Form;
use grammar::Grammar;

/// What a text is to another one of the same program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// It says the same.
    Same,
    /// It says the same, but for so many inline snapshots that were empty, and are filled in.
    FilledIn(usize),
    /// It says something else.
    Different,
}

/// Texts of more bytes are not parsed.
const MOST_BYTES: usize = 1024 * 1024;

/// What a text is to the one before it, each with its path, `/` between its parts; none where no parser is at hand for them, or one of
/// them cannot be parsed.
///
/// A text in a string that leads somewhere from the folder of its file (`./…`, `../…`) is the same where it leads to the same place.
pub fn compare(before: (&str, &str), now: (&str, &str)) -> Option<Comparison> {
    let grammar = Grammar::of(before.0)?;
    if !std::ptr::eq(grammar, Grammar::of(now.0)?) {
        return None;
    }
    let before = form(grammar, before)?;
    Some(before.compared_with(&form(grammar, now)?))
}

/// The program of a file with each of its functions failing as soon as it is called, so that nothing of what it does is left; none where
/// there is no function in it, or nothing knows how one fails there.
pub fn hollowed(path: &str, text: &str) -> Option<String> {
    let grammar = Grammar::of(path).filter(|_| text.len() <= MOST_BYTES)?;
    hollow::hollowed(grammar, text)
}

fn form(grammar: &'static Grammar, (path, text): (&str, &str)) -> Option<Form> {
    if text.len() > MOST_BYTES {
        return None;
    }
    Form::of(grammar, path, text)
}
