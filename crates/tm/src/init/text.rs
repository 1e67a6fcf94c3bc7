//! A file's text: where something stands in it, how its lines end, and a block at its end that can be taken out again
//! so that every byte is as it was.

use std::ops::Range;

/// Why a file cannot be changed, and where in it that shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong there.
    pub problem: String,
}

/// What is left of a file when something was taken out of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remainder {
    /// All of it: nothing of ours was in it.
    Unchanged,
    /// This.
    Text(String),
    /// Nothing: there was never anything in it but what was taken out.
    Nothing,
}

/// The mark that some editors put at the beginning of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

impl EditError {
    /// A problem at byte `offset` of `text`.
    pub fn at(text: &str, offset: usize, problem: impl Into<String>) -> Self {
        let before = &text[..text.floor_char_boundary(offset)];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..]
                .trim_start_matches(BYTE_ORDER_MARK)
                .chars()
                .count()
                + 1,
            problem: problem.into(),
        }
    }
}

/// A text without the byte order mark at its beginning, and that mark, or nothing.
pub fn without_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(BYTE_ORDER_MARK) {
        BYTE_ORDER_MARK.len_utf8()
    } else {
        0
    })
}

/// How lines end in a text: as its first one does.
pub fn newline_of(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Spaces and tabs at the beginning of the line that holds byte `offset`.
pub fn indent_at(text: &str, offset: usize) -> &str {
    let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let line = &text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// `text` with pieces of it replaced. They must not overlap.
pub fn spliced(text: &str, mut pieces: Vec<(Range<usize>, String)>) -> String {
    pieces.sort_by_key(|(range, _)| range.start);
    let mut new = String::with_capacity(text.len() + 256);
    let mut done = 0;
    for (range, put) in pieces {
        new.push_str(&text[done..range.start]);
        new.push_str(&put);
        done = range.end;
    }
    new.push_str(&text[done..]);
    new
}

/// A block as the whole of a new file.
pub fn alone(block: &str, newline: &str) -> String {
    format!("{block}{newline}")
}

/// A block put behind a text. Its last line ends as the last line of the text does, which also tells a file that was
/// empty from one that was not there. `gap` is what stands between the two, beside the end of the text's last line:
/// an empty line, or nothing.
pub fn with_block(text: &str, block: &str, newline: &str, gap: &str) -> String {
    if text.is_empty() {
        block.to_owned()
    } else if text.ends_with('\n') {
        format!("{text}{gap}{block}{newline}")
    } else {
        format!("{text}{newline}{gap}{block}")
    }
}

/// Takes out the block at `range`, which holds whole lines without the end of the last: the reverse of [`with_block`] and
/// of [`alone`]. `before` and `after` of a block that was moved since are kept to the byte.
pub fn without_block(text: &str, range: Range<usize>, newline: &str, gap: &str) -> Remainder {
    let (before, after) = (&text[..range.start], &text[range.end..]);
    let Some(rest) = after
        .strip_prefix("\r\n")
        .or_else(|| after.strip_prefix('\n'))
    else {
        if !after.is_empty() {
            return Remainder::Text(format!("{before}{after}"));
        }
        let before = before.strip_suffix(gap).unwrap_or(before);
        let before = before.strip_suffix(newline).unwrap_or(before);
        return Remainder::Text(before.to_owned());
    };
    if before.is_empty() && rest.is_empty() {
        return Remainder::Nothing;
    }
    // Without a line before it, an empty one is not ours.
    let before = before
        .strip_suffix(gap)
        .filter(|kept| kept.ends_with('\n'))
        .unwrap_or(before);
    Remainder::Text(format!("{before}{rest}"))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A text before and after a change, from one in which ‹what goes› and «what comes» is marked.
    pub fn change(marked: &str) -> (String, String) {
        let without = |open: char, close: char| {
            let mut kept = true;
            let mut text = marked.to_owned();
            text.retain(|letter| {
                kept = (kept && letter != open) || letter == close;
                kept && !"‹›«»".contains(letter)
            });
            text
        };
        (without('«', '»'), without('‹', '›'))
    }

    #[test]
    fn a_place_is_told_in_lines_and_characters() {
        for (text, offset, line, column) in [
            ("", 0, 1, 1),
            ("ab", 1, 1, 2),
            ("a\nb", 2, 2, 1),
            ("ä\r\nöx", 6, 2, 2),
            ("\u{feff}a", 3, 1, 1),
            ("a", 99, 1, 2),
        ] {
            let place = EditError::at(text, offset, "");
            assert_eq!((place.line, place.column), (line, column), "{text:?}");
        }
    }

    /// That a block goes in and out without a trace is shown by the properties of all documents.
    #[test]
    fn what_was_written_behind_a_block_stays() {
        for (text, gap, expected) in [
            ("a\n\nX\n\nb", "\n", "a\n\nb"),
            ("X\n\nb", "\n", "\nb"),
            ("// a\nX/* b\n */", "", "// a\n/* b\n */"),
        ] {
            let at = text.find('X').unwrap();
            let left = without_block(text, at..at + 1, "\n", gap);
            assert_eq!(left, Remainder::Text(expected.to_owned()));
        }
    }
}
