//! Fenced code blocks, as Markdown knows them: opened by three or more backticks or tildes, closed by at least as many of
//! the same ([CommonMark](https://spec.commonmark.org/0.31.2/#fenced-code-blocks)).

use super::{indentation, list_sign, shared_indentation};

/// How far a fence may stand to the right of where its container begins, and a closing one of its opening one.
const FENCE_INDENT: usize = 3;
/// What is white space within a line, a stray carriage return included.
const BLANKS: [char; 3] = [' ', '\t', '\r'];

/// The line that opens a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence<'a> {
    mark: u8,
    length: usize,
    /// The column at which it stands.
    pub(crate) indent: usize,
    /// What stands behind it, trimmed.
    pub(crate) info: &'a str,
    /// Whether it stands right behind the sign of a list entry.
    pub(crate) in_list: bool,
}

impl<'a> Fence<'a> {
    /// Reads an opening fence, wherever on the line it stands: indented by any width, and the first thing in a list entry.
    pub(crate) fn open(line: &'a str) -> Option<Self> {
        Self::behind_lists(line, None).0
    }

    /// Reads an opening fence that stands no further to the right than a block may, given where the text of the list
    /// entries around begins, the outermost first; keeps track of those.
    pub(super) fn open_within(line: &'a str, lists: &mut Vec<usize>) -> Option<Self> {
        let (column, rest) = indentation(line, 0);
        if rest.is_empty() {
            return None;
        }
        while lists.last().is_some_and(|start| *start > column) {
            lists.pop();
        }
        let base = lists.last().copied().unwrap_or(0);
        let (fence, signs) = Self::behind_lists(line, Some(base));
        lists.extend(&signs);
        let base = lists.last().copied().unwrap_or(0);
        fence.filter(|fence| fence.indent <= base + FENCE_INDENT)
    }

    /// What opens a block behind the signs of list entries, and where the text of each entry begins. No entry begins too far
    /// to the right of `base`, where it is given, or of the entry that it stands in.
    fn behind_lists(line: &'a str, mut base: Option<usize>) -> (Option<Self>, Vec<usize>) {
        let (mut column, mut rest) = indentation(line, 0);
        let mut signs = Vec::new();
        while base.is_none_or(|base| column <= base + FENCE_INDENT)
            && let Some(width) = list_sign(rest)
        {
            let (blanks, after) = indentation(&rest[width..], column + width);
            column += width + blanks;
            rest = after;
            signs.push(column);
            base = base.map(|_| column);
        }
        (Self::read(rest, column, !signs.is_empty()), signs)
    }

    fn read(rest: &'a str, indent: usize, in_list: bool) -> Option<Self> {
        let mark = *rest.as_bytes().first()?;
        if mark != b'`' && mark != b'~' {
            return None;
        }
        let length = run_length(rest, mark);
        let info = rest[length..].trim_matches(BLANKS);
        // Behind backticks, a backtick makes it code within a paragraph.
        (length >= 3 && (mark != b'`' || !info.contains('`'))).then_some(Self {
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
            && columns <= self.indent + FENCE_INDENT
            && rest[length..].trim_matches(BLANKS).is_empty()
    }

    /// What would open another block where the line stands inside of this one, and be closed by what closes this one.
    pub(crate) fn nested<'l>(&self, line: &'l str) -> Option<Fence<'l>> {
        Fence::open(line).filter(|inner| {
            inner.mark == self.mark && inner.length >= self.length && !inner.info.is_empty()
        })
    }

    /// How much of the indentation of the fence its block is without, given the lines of that.
    pub(crate) fn shared_indentation<'l>(&self, block: impl Iterator<Item = &'l str>) -> usize {
        shared_indentation(block, self.indent)
    }
}

fn run_length(text: &str, mark: u8) -> usize {
    text.bytes().take_while(|byte| *byte == mark).count()
}
