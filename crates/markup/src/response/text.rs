//! Text, line by line, with what a reader has to know of each line.

/// Why bytes are no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotText {
    /// The byte that shows it, counted from 1.
    pub(crate) byte: usize,
    /// Its line, counted from 1.
    pub(crate) line: usize,
    /// Whether it is a NUL; else it is not UTF-8.
    pub(crate) is_nul: bool,
}

impl NotText {
    fn new(bytes: &[u8], at: usize, is_nul: bool) -> Self {
        let before = bytes.get(..at).unwrap_or(bytes);
        Self {
            byte: at + 1,
            line: before.split(|byte| *byte == b'\n').count(),
            is_nul,
        }
    }
}

/// The text of a response, without byte order marks at its start.
pub(crate) fn decode(bytes: &[u8]) -> Result<&str, NotText> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| NotText::new(bytes, error.valid_up_to(), false))?;
    if let Some(at) = text.find('\0') {
        return Err(NotText::new(bytes, at, true));
    }
    // More than one comes from tools that join files.
    Ok(text.trim_start_matches('\u{feff}'))
}

/// One line of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Its text, without the line ending.
    pub(crate) text: &'a str,
    /// Its number, counted from 1.
    pub(crate) number: usize,
    /// Where it begins in the text.
    pub(crate) start: usize,
    /// Where the next one begins.
    pub(crate) end: usize,
    /// Whether it ends in a carriage return and a line feed.
    pub(crate) crlf: bool,
}

impl Line<'_> {
    /// Whether nothing but white space is on it.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// The line ending, given that a transport's carriage return is dropped.
    pub(crate) fn ending(&self, drop_carriage_return: bool) -> &'static str {
        match (
            self.end - self.start - self.text.len(),
            drop_carriage_return,
        ) {
            (0, _) => "",
            (1, _) | (_, true) => "\n",
            _ => "\r\n",
        }
    }
}

/// The lines of a text; a line feed ends one, alone or behind a carriage return.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    lines_from(text, 1)
}

/// The lines of a piece of text whose first line has this number.
pub(crate) fn lines_from(text: &str, first: usize) -> impl Iterator<Item = Line<'_>> {
    let mut start = 0;
    text.split_inclusive('\n')
        .zip(first..)
        .map(move |(whole, number)| {
            let begin = start;
            start += whole.len();
            let body = whole.strip_suffix('\n').unwrap_or(whole);
            let ended = body.len() < whole.len();
            let text = if ended {
                body.strip_suffix('\r').unwrap_or(body)
            } else {
                body
            };
            Line {
                text,
                number,
                start: begin,
                end: start,
                crlf: ended && text.len() < body.len(),
            }
        })
}

/// What is white space at the end of a line, a stray carriage return included.
pub(crate) const BLANKS: [char; 3] = [' ', '\t', '\r'];

/// A line without the white space and the invisible characters around it: what a person sees of it.
pub(crate) fn visible(line: &str) -> &str {
    line.trim_matches(|c: char| c.is_whitespace() || is_invisible(c))
}

/// Foreign text as it may stand in a message: one line, nothing in it that cannot be seen, not too long.
pub(crate) fn shown(foreign: &str) -> String {
    const MOST: usize = 120;
    let mut out = String::new();
    for (count, c) in foreign.chars().enumerate() {
        if count == MOST {
            out.push('…');
            break;
        }
        if c.is_control() || is_invisible(c) || (c.is_whitespace() && c != ' ') {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// Whether a character leaves no mark of its own, or changes the direction of others: what
/// lets two names look the same, or one look like something else.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}
