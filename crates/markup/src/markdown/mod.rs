//! Markdown, line by line, as far as the readers need it: what is code, what is commented out, and what is text.
//!
//! Code that is not indented as far as the list entry that it stands in belongs to its block all the same, and a block does
//! not end with the entry: who writes by hand, or is a model, forgets both. Nor does a block of Markdown end with the first
//! block within it that has a name, where another fence ends it. In this it is not `CommonMark`.

mod fence;

use std::ops::Range;

pub(crate) use fence::Fence;

/// The width of a tab stop.
const TAB: usize = 4;
/// What counts as white space within a line.
const BLANKS: [char; 2] = [' ', '\t'];

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'a> {
    /// It is text, or anything else that is no code.
    Text,
    /// It opens a code block; `info` is what stands behind the fence.
    Opens {
        /// What stands behind the fence, trimmed.
        info: &'a str,
        /// The column of the fence.
        indent: usize,
    },
    /// It stands within a code block.
    Code,
    /// It closes a code block.
    Closes,
    /// It is commented out.
    Comment,
}

/// One line of a document.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// Its text, without the line ending.
    pub text: &'a str,
    /// Its number, from 1.
    pub number: usize,
    /// Where it begins in the text that was given.
    pub start: usize,
    /// Where the next one begins.
    pub end: usize,
    /// What it is.
    pub place: Place<'a>,
}

/// The lines of a text, which begins with line `first` of its document.
pub fn lines(text: &str, first: usize) -> Lines<'_> {
    Lines {
        text,
        at: 0,
        number: first,
        state: State::Text,
        lists: Vec::new(),
    }
}

/// The stretches of fenced code, fences included. A block that nothing closes makes none.
pub fn fenced_code(text: &str) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let mut start = 0;
    for line in lines(text, 1) {
        match line.place {
            Place::Opens { .. } => start = line.start,
            Place::Closes => blocks.push(start..line.end),
            Place::Text | Place::Code | Place::Comment => {}
        }
    }
    blocks
}

/// An iterator of lines.
pub struct Lines<'a> {
    text: &'a str,
    at: usize,
    number: usize,
    state: State<'a>,
    /// Where the text of the list entries around begins, the outermost first.
    lists: Vec<usize>,
}

#[derive(Debug, Clone, Copy)]
enum State<'a> {
    Text,
    Code(Fence<'a>),
    /// A block of Markdown with blocks in it, which ends with the line that begins there.
    Markdown(usize),
    Comment,
}

/// So many lines are looked at for the end of a block of Markdown with blocks in it.
const MOST_LOOKED_AT: usize = 5000;

/// Where the line begins that ends a block of Markdown whose text begins at `from`, if there are blocks in it that have a name
/// and would end it by their own ends.
fn end_of_markdown(text: &str, from: usize, fence: Fence<'_>) -> Option<usize> {
    if !is_markdown(fence.info) {
        return None;
    }
    let mut at = from;
    let mut open = 0_usize;
    let mut nested = false;
    for line in text
        .get(from..)?
        .split_inclusive(['\n', '\r'])
        .take(MOST_LOOKED_AT)
    {
        let said = line.trim_end_matches(['\n', '\r']);
        if fence.closes(said) {
            if open == 0 {
                return nested.then_some(at);
            }
            open -= 1;
        } else if open == 0 && fence.nested(said).is_some() {
            // What stands in a block within is code, whatever it looks like.
            open = 1;
            nested = true;
        }
        at += line.len();
    }
    None
}

fn is_markdown(info: &str) -> bool {
    ["markdown", "md"]
        .iter()
        .any(|name| info.eq_ignore_ascii_case(name))
}

impl Lines<'_> {
    /// Whether a code block or a comment is open behind the last line that was given.
    pub fn is_open(&self) -> bool {
        !matches!(self.state, State::Text)
    }

    /// Whether a line within the code block or comment that is open would open another one. A code block of other signs, or
    /// of fewer, may well stand in one.
    pub(crate) fn opens_again(&self, line: &str) -> bool {
        match self.state {
            State::Text | State::Markdown(_) => false,
            State::Comment => line.contains("<!--"),
            State::Code(fence) => fence.nested(line).is_some(),
        }
    }

    /// Whether a code block is open behind the last line that was given.
    pub(crate) fn in_code(&self) -> bool {
        matches!(self.state, State::Code(_) | State::Markdown(_))
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
            place: self.place(text, start),
        })
    }
}

impl<'a> Lines<'a> {
    fn place(&mut self, text: &'a str, start: usize) -> Place<'a> {
        match self.state {
            State::Markdown(end) if start == end => {
                self.state = State::Text;
                Place::Closes
            }
            State::Code(fence) if fence.closes(text) => {
                self.state = State::Text;
                Place::Closes
            }
            State::Code(_) | State::Markdown(_) => Place::Code,
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
                match Fence::open_within(text, &mut self.lists) {
                    Some(fence) => {
                        self.state = match end_of_markdown(self.text, self.at, fence) {
                            Some(end) => State::Markdown(end),
                            None => State::Code(fence),
                        };
                        Place::Opens {
                            info: fence.info,
                            indent: fence.indent,
                        }
                    }
                    None => Place::Text,
                }
            }
        }
    }
}

/// How much of its fence's indentation a code block is without: as much as all its lines have that are not blank. Where
/// some stand further to the left than the fence, `CommonMark` would move the others against them, and with them what they
/// mean to Python, YAML or make.
fn shared_indentation<'l>(block: impl Iterator<Item = &'l str>, indent: usize) -> usize {
    block
        .filter(|line| !line.trim_matches(BLANKS).is_empty())
        .map(|line| indentation(line, 0).0)
        .fold(indent, usize::min)
}

/// The text of a code block, each line without the indentation of the block's fence, as far as all share it, and with a line
/// feed at its end.
pub(crate) fn unindented(text: &str, indent: usize) -> String {
    let indent = shared_indentation(text.split(['\n', '\r']), indent);
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
pub(crate) fn without_indentation(line: &str, indent: usize) -> &str {
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
pub fn indentation(line: &str, from: usize) -> (usize, &str) {
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

/// The width of the sign that begins a list entry, where one stands here with a blank behind it.
pub fn list_sign(text: &str) -> Option<usize> {
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
pub fn unwrapped(text: &str) -> (&str, usize) {
    let text = text.trim_start_matches('\u{feff}');
    let Some(opening) = lines(text, 1).find(|line| !line.text.trim().is_empty()) else {
        return (text, 1);
    };
    let Place::Opens { info, .. } = opening.place else {
        return (text, 1);
    };
    if !is_markdown(info) {
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

#[cfg(test)]
mod tests {
    use super::fenced_code;

    /// The text with what is fenced in brackets.
    fn shown(text: &str) -> String {
        let mut shown = String::new();
        let mut done = 0;
        for range in fenced_code(text) {
            shown.push_str(&text[done..range.start]);
            shown.push('[');
            shown.push_str(&text[range.clone()]);
            shown.push(']');
            done = range.end;
        }
        shown.push_str(&text[done..]);
        shown
    }

    #[test]
    fn fenced_code_is_what_markdown_takes_for_it() {
        for expected in [
            "",
            "a\n[```\nx\n```\n]b\n",
            "a\n[```\nx\n```]",
            "[~~~ sh `x`\n```\n   ~~~~  \r\n]b\n",
            "[   ```markdown\r\nx\r\n  ```\r\n]b\r\n",
            "[````\n```\n~~~\n    ````\n```` x\n`````\n][```\n```\n]",
            // Code within a line, too short, too far to the right, or a mix.
            "```x```\n``\n    ```\n\t```\n``~\n",
            // Nothing closes it.
            "```\nx\n",
            "~~~ a\n```\nx\n```\n~~~ b\n",
            "````\n```\n~~~\n```\n~~~~\n",
            // Markdown with blocks in it, named or not at all.
            "[```markdown\na\n```sh\nx\n```\nb\n```\n]c\n[```\ny\n```\n]",
            "[```md\n```sh\n```\n```js\n```yaml\n```\n```\n]c\n",
            "[```markdown\na\n```\n]b\n[```\nx\n```\n]",
            // Nothing ends it but what it has in it.
            "[```markdown\n```sh\nx\n```\n]b\n",
            // In lists, behind the sign of an entry or in its text, indented like that or not.
            "[- ```\n  x\n  ```\n]y\n[```\n```\n]",
            "- a\n\n[  ```\n  x\n  ```\n]y\n",
            "1. a\n   - b\n[     ```\nx\n     ```\n]y\n",
            "[  * + ~~~\n      ~~~\n]y\n",
            "-```\n1) x\n> ```\n",
        ] {
            let text = expected.replace(['[', ']'], "");
            assert_eq!(shown(&text), expected, "{text:?}");
        }
    }
}
