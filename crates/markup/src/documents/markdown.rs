//! Markdown, line by line, as far as the readers need it: what is code, what is commented out, and what is text.

/// How far a fence may stand to the right of where its container begins.
const FENCE_INDENT: usize = 3;
/// The width of a tab stop.
const TAB: usize = 4;
/// What counts as white space within a line.
const BLANKS: [char; 2] = [' ', '\t'];

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place<'a> {
    /// It is text, or anything else that is no code.
    Text,
    /// It opens a code block; `info` is what stands behind the fence.
    Opens { info: &'a str, indent: usize },
    /// It stands within a code block.
    Code,
    /// It closes a code block.
    Closes,
    /// It is commented out.
    Comment,
}

/// One line of a document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Its text, without the line ending.
    pub(crate) text: &'a str,
    /// Its number, from 1.
    pub(crate) number: usize,
    /// Where it begins in the text that was given.
    pub(crate) start: usize,
    /// Where the next one begins.
    pub(crate) end: usize,
    /// What it is.
    pub(crate) place: Place<'a>,
}

/// The lines of a text, which begins with line `first` of its document.
pub(crate) fn lines(text: &str, first: usize) -> Lines<'_> {
    Lines {
        text,
        at: 0,
        number: first,
        state: State::Text,
        lists: Vec::new(),
    }
}

/// An iterator of lines.
pub(crate) struct Lines<'a> {
    text: &'a str,
    at: usize,
    number: usize,
    state: State,
    /// Where the text of the list entries around begins, the outermost first.
    lists: Vec<usize>,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Text,
    Code(Fence),
    Comment,
}

#[derive(Debug, Clone, Copy)]
struct Fence {
    mark: u8,
    length: usize,
    indent: usize,
}

impl Lines<'_> {
    /// Whether a code block or a comment is open behind the last line that was given.
    pub(crate) fn is_open(&self) -> bool {
        !matches!(self.state, State::Text)
    }

    /// Whether a line within the code block or comment that is open would open another one. A code block of other signs, or
    /// of fewer, may well stand in one.
    pub(crate) fn opens_again(&self, line: &str) -> bool {
        match self.state {
            State::Text => false,
            State::Comment => line.contains("<!--"),
            State::Code(fence) => {
                let (_, rest) = indentation(line, 0);
                let length = run_length(rest, fence.mark);
                let info = rest[length..].trim_matches(BLANKS);
                length >= fence.length && !info.is_empty() && !info.contains('`')
            }
        }
    }

    /// Whether a code block is open behind the last line that was given.
    pub(crate) fn in_code(&self) -> bool {
        matches!(self.state, State::Code(_))
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        if self.at >= self.text.len() {
            return None;
        }
        let start = self.at;
        let rest = &self.text[start..];
        // A carriage return alone ends a line, too, as YAML and Markdown have it.
        let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let ending = match rest.as_bytes().get(length..) {
            Some([b'\r', b'\n', ..]) => 2,
            Some([_, ..]) => 1,
            _ => 0,
        };
        let text = &rest[..length];
        self.at = start + length + ending;
        let number = self.number;
        self.number += 1;
        Some(Line {
            text,
            number,
            start,
            end: self.at,
            place: self.place(text),
        })
    }
}

impl<'a> Lines<'a> {
    fn place(&mut self, text: &'a str) -> Place<'a> {
        match self.state {
            State::Code(fence) if fence.is_closed_by(text) => {
                self.state = State::Text;
                Place::Closes
            }
            State::Code(_) => Place::Code,
            State::Comment => {
                if text.contains("-->") {
                    self.state = State::Text;
                }
                Place::Comment
            }
            State::Text => {
                if let Some(behind) = text.trim_start_matches(BLANKS).strip_prefix("<!--") {
                    if !behind.contains("-->") {
                        self.state = State::Comment;
                    }
                    return Place::Comment;
                }
                match self.open(text) {
                    Some((fence, info)) => {
                        self.state = State::Code(fence);
                        Place::Opens {
                            info,
                            indent: fence.indent,
                        }
                    }
                    None => Place::Text,
                }
            }
        }
    }

    /// Reads an opening fence, and keeps track of the list entries that one may stand in.
    fn open(&mut self, line: &'a str) -> Option<(Fence, &'a str)> {
        let (mut column, mut rest) = indentation(line, 0);
        if rest.is_empty() {
            return None;
        }
        while self.lists.last().is_some_and(|start| *start > column) {
            self.lists.pop();
        }
        let mut base = self.lists.last().copied().unwrap_or(0);
        while column <= base + FENCE_INDENT
            && let Some(width) = list_sign(rest)
        {
            let (blanks, after) = indentation(&rest[width..], column + width);
            column += width + blanks;
            rest = after;
            base = column;
            self.lists.push(base);
        }
        let mark = *rest.as_bytes().first()?;
        if (mark != b'`' && mark != b'~') || column > base + FENCE_INDENT {
            return None;
        }
        let length = run_length(rest, mark);
        let info = rest[length..].trim_matches(BLANKS);
        // Behind backticks, a backtick makes it code within a paragraph.
        if length < 3 || (mark == b'`' && info.contains('`')) {
            return None;
        }
        let fence = Fence {
            mark,
            length,
            indent: column,
        };
        Some((fence, info))
    }
}

impl Fence {
    fn is_closed_by(self, line: &str) -> bool {
        let (columns, rest) = indentation(line, 0);
        let length = run_length(rest, self.mark);
        length >= self.length
            && columns <= self.indent + FENCE_INDENT
            && rest[length..].trim_matches(BLANKS).is_empty()
    }
}

/// The text of a code block, each line without the indentation of the block's fence and with a line feed at its end.
pub(crate) fn unindented(text: &str, indent: usize) -> String {
    let mut out = String::with_capacity(text.len() + 1);
    let mut rest = text;
    while !rest.is_empty() {
        let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let ending = if rest[length..].starts_with("\r\n") {
            2
        } else {
            1
        };
        out.push_str(without_indentation(&rest[..length], indent));
        out.push('\n');
        rest = rest.get(length + ending..).unwrap_or_default();
    }
    out
}

/// The line without as much of the white space at its start.
fn without_indentation(line: &str, indent: usize) -> &str {
    let mut columns = 0;
    for (at, byte) in line.bytes().enumerate() {
        let width = match byte {
            b' ' => 1,
            b'\t' => TAB - columns % TAB,
            _ => return &line[at..],
        };
        if columns + width > indent {
            return &line[at..];
        }
        columns += width;
    }
    ""
}

/// The columns of white space at the start, and the rest; `from` is the column of the start.
pub(crate) fn indentation(line: &str, from: usize) -> (usize, &str) {
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
pub(crate) fn list_sign(text: &str) -> Option<usize> {
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

/// The document without a code block around all of it, as answers of a model come at times; and the number of its first
/// line.
pub(crate) fn unwrapped(text: &str) -> (&str, usize) {
    let text = text.trim_start_matches('\u{feff}');
    let Some(opening) = lines(text, 1).find(|line| !line.text.trim().is_empty()) else {
        return (text, 1);
    };
    let Place::Opens { info, .. } = opening.place else {
        return (text, 1);
    };
    if !["markdown", "md"]
        .iter()
        .any(|name| info.eq_ignore_ascii_case(name))
    {
        return (text, 1);
    }
    let trimmed = text.trim_end();
    let last = trimmed.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let mark = opening.text.trim_start().chars().next().unwrap_or('`');
    let closing = trimmed[last..].trim_matches(BLANKS);
    if last < opening.end || closing.len() < 3 || !closing.trim_matches(mark).is_empty() {
        return (text, 1);
    }
    let inner = &text[opening.end..last];
    // Where a block is open at the end, that last line was its end, and not that of the first line's.
    let mut within = lines(inner, opening.number + 1);
    while within.next().is_some() {}
    if within.in_code() {
        (text, 1)
    } else {
        (inner, opening.number + 1)
    }
}
