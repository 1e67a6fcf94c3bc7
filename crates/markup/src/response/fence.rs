//! Fenced code blocks, as Markdown knows them: opened by three or more backticks or tildes, closed
//! by at least as many of the same.

use crate::response::text::BLANKS;

/// How far a closing fence may stand to the right of its opening one.
const CLOSING_INDENT: usize = 3;
/// The width of a tab stop.
const TAB: usize = 4;

/// The line that opens a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fence<'a> {
    mark: u8,
    length: usize,
    /// The column at which it stands.
    indent: usize,
    /// What stands behind it, trimmed.
    pub(crate) info: &'a str,
    /// Whether it stands right behind the sign of a list entry.
    pub(crate) in_list: bool,
}

impl<'a> Fence<'a> {
    /// Reads an opening fence. It may be indented, and be the first thing in a list entry.
    pub(crate) fn open(line: &'a str) -> Option<Self> {
        let mut indent = 0;
        let mut in_list = false;
        let mut rest = line;
        loop {
            let (columns, after) = indentation(rest, indent);
            indent += columns;
            rest = after;
            match list_sign(rest) {
                Some(width) => {
                    in_list = true;
                    indent += width;
                    rest = &rest[width..];
                }
                None => break,
            }
        }
        let mark = *rest.as_bytes().first()?;
        if mark != b'`' && mark != b'~' {
            return None;
        }
        let length = run_length(rest, mark);
        let info = rest[length..].trim_matches(BLANKS);
        // Behind backticks, a backtick makes it code within a paragraph.
        if length < 3 || (mark == b'`' && info.contains('`')) {
            return None;
        }
        Some(Self {
            mark,
            length,
            indent,
            info,
            in_list,
        })
    }

    /// Whether the line closes the block.
    pub(crate) fn closes(&self, line: &str) -> bool {
        let (columns, rest) = indentation(line, 0);
        let length = run_length(rest, self.mark);
        length >= self.length
            && columns <= self.indent + CLOSING_INDENT
            && rest[length..].trim_matches(BLANKS).is_empty()
    }

    /// Whether the line, inside of the block, looks like the opening of another one that the
    /// block's own closing fence would close.
    pub(crate) fn is_nested(&self, line: &'a str) -> Option<Self> {
        Self::open(line).filter(|inner| {
            inner.mark == self.mark && inner.length >= self.length && !inner.info.is_empty()
        })
    }

    /// A line of the block without the indentation of the fence.
    pub(crate) fn content<'l>(&self, line: &'l str) -> &'l str {
        let mut columns = 0;
        for (at, byte) in line.bytes().enumerate() {
            let width = match byte {
                b' ' => 1,
                b'\t' => TAB - columns % TAB,
                _ => return &line[at..],
            };
            if columns + width > self.indent {
                return &line[at..];
            }
            columns += width;
        }
        ""
    }
}

/// The columns of white space at the start, and the rest; `from` is the column of the start.
fn indentation(line: &str, from: usize) -> (usize, &str) {
    let mut column = from;
    for (at, byte) in line.bytes().enumerate() {
        column += match byte {
            b' ' => 1,
            b'\t' => TAB - column % TAB,
            _ => return (column - from, &line[at..]),
        };
    }
    (column - from, "")
}

fn run_length(text: &str, mark: u8) -> usize {
    text.bytes().take_while(|byte| *byte == mark).count()
}

/// The width of the sign that begins a list entry, where one stands here with a blank behind it.
fn list_sign(text: &str) -> Option<usize> {
    const MOST_DIGITS: usize = 9;
    let bytes = text.as_bytes();
    let width = match bytes.first()? {
        b'-' | b'*' | b'+' => 1,
        b'0'..=b'9' => {
            let digits = bytes
                .iter()
                .take(MOST_DIGITS + 1)
                .take_while(|b| b.is_ascii_digit())
                .count();
            if digits > MOST_DIGITS || !matches!(bytes.get(digits), Some(b'.' | b')')) {
                return None;
            }
            digits + 1
        }
        _ => return None,
    };
    matches!(bytes.get(width), Some(b' ' | b'\t')).then_some(width)
}
