//! The line that begins a file: `<<<FILE: name>>>`.

use crate::response::text::{BLANKS, visible};

/// What a line is to the marker form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker<'a> {
    /// No marker.
    None,
    /// A marker with this name.
    File(&'a str),
    /// Nearly one: another spelling, a bracket too few, text behind it.
    Nearly,
}

/// Reads a line.
pub(super) fn read(line: &str) -> Marker<'_> {
    let plain = line.trim_matches(BLANKS);
    if let Some(name) = named(plain) {
        return Marker::File(name.trim());
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

fn named(line: &str) -> Option<&str> {
    line.strip_prefix("<<<FILE:")?.strip_suffix(">>>")
}

/// Whether the word `FILE` is there, in any case, with a colon or a bracket that make it more than a word.
fn is_misspelt(rest: &str) -> bool {
    let Some((word, behind)) = rest.split_at_checked("FILE".len()) else {
        return false;
    };
    let has_blank = behind.starts_with(char::is_whitespace);
    word.eq_ignore_ascii_case("FILE")
        && (behind.trim_start().starts_with(':') || (has_blank && behind.ends_with(">>>")))
}

/// Whether a marker stands somewhere in the line, among other text.
pub(super) fn is_within(line: &str) -> bool {
    line.find("<<<FILE:")
        .is_some_and(|at| line[at..].contains(">>>"))
}
