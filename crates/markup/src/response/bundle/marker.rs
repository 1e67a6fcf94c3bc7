//! The lines that begin or tell of a file: `<<<FILE: name>>>` and its like.

use crate::response::text::{BLANKS, visible};

/// What a line is to the marker form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker<'a> {
    /// No marker.
    None,
    /// The text of the file of this name follows.
    File(&'a str),
    /// Says all about a file in its own line.
    Whole(Whole<'a>),
    /// Nearly one: another spelling, a bracket too few, text behind it.
    Nearly,
}

/// What a line says of a file that has no text below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whole<'a> {
    /// `<<<EMPTY: name>>>`: it has no text.
    Empty(&'a str),
    /// `<<<DELETE: name>>>`: it goes.
    Delete(&'a str),
    /// `<<<MOVE: name -> other>>>`: it gets another name.
    Move(&'a str, &'a str),
}

/// The words that make a line in these brackets a marker.
const WORDS: [&str; 4] = ["FILE", "EMPTY", "DELETE", "MOVE"];

/// Reads a line.
pub(super) fn read(line: &str) -> Marker<'_> {
    let plain = line.trim_matches(BLANKS);
    if let Some((word, name)) = named(plain) {
        return match word {
            "FILE" => Marker::File(name),
            "EMPTY" => Marker::Whole(Whole::Empty(name)),
            "DELETE" => Marker::Whole(Whole::Delete(name)),
            _ => match name.split_once("->") {
                Some((from, to)) => Marker::Whole(Whole::Move(from.trim(), to.trim())),
                None => Marker::Nearly,
            },
        };
    }
    let seen = visible(plain);
    let Some(rest) = seen.strip_prefix("<<<") else {
        return Marker::None;
    };
    // A mark or a blank that nobody sees must not make a file part of the one before.
    if named(seen).is_some() || is_misspelt(rest.trim_start_matches(['<', ' ', '\t'])) {
        return Marker::Nearly;
    }
    Marker::None
}

/// The word and the name in a marker.
fn named(line: &str) -> Option<(&'static str, &str)> {
    let inside = line.strip_prefix("<<<")?.strip_suffix(">>>")?;
    WORDS.into_iter().find_map(|word| {
        let name = inside.strip_prefix(word)?.strip_prefix(':')?;
        Some((word, name.trim()))
    })
}

/// Whether one of the words is there, in any case, with a colon or a bracket that make it more than a word.
fn is_misspelt(rest: &str) -> bool {
    WORDS.into_iter().any(|word| {
        let Some((begin, behind)) = rest.split_at_checked(word.len()) else {
            return false;
        };
        let has_blank = behind.starts_with(char::is_whitespace);
        begin.eq_ignore_ascii_case(word)
            && (behind.trim_start().starts_with(':') || (has_blank && behind.ends_with(">>>")))
    })
}

/// Whether a marker stands somewhere in the line, among other text.
pub(super) fn is_within(line: &str) -> bool {
    line.find("<<<FILE:")
        .is_some_and(|at| line[at..].contains(">>>"))
}
