//! Checkboxes of lists, as people and models write them.

/// A line with a checkbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CheckboxLine<'t> {
    /// Columns before the bullet; a tab counts as four.
    pub(super) indent: usize,
    /// Byte of the line at which what is in the box begins.
    pub(super) mark_at: usize,
    /// What is in the box.
    pub(super) mark: &'t str,
    /// What stands behind it.
    pub(super) rest: &'t str,
}

/// What stands in boxes, apart from nothing.
const DONE: [&str; 3] = ["x", "X", "✅"];
/// What stands in those of what is given up, or under way.
const OTHER: [&str; 4] = ["-", "~", "⚠️", "/"];

impl<'t> CheckboxLine<'t> {
    /// The checkbox of a line; none where it has no such thing. A legend such as `[P]` is none.
    pub(super) fn read(line: &'t str) -> Option<Self> {
        let inner = line.trim_start();
        let indent = line[..line.len() - inner.len()]
            .chars()
            .map(|c| if c == '\t' { 4 } else { 1 })
            .sum();
        let bulleted = inner
            .strip_prefix(['-', '*', '+'])
            .or_else(|| numbered(inner))?;
        let boxed = bulleted.trim_start().strip_prefix('[')?;
        let end = boxed.char_indices().take(4).find(|(_, c)| *c == ']')?.0;
        let mark = &boxed[..end];
        let is_known = mark.trim().is_empty() || DONE.contains(&mark) || OTHER.contains(&mark);
        let rest = &boxed[end + 1..];
        is_known.then(|| Self {
            indent,
            mark_at: line.len() - boxed.len(),
            mark,
            rest: rest.trim(),
        })
    }

    pub(super) fn is_done(&self) -> bool {
        DONE.contains(&self.mark)
    }

    /// Whether what it stands before was struck out: given up, whatever is in the box.
    pub(super) fn is_struck(&self) -> bool {
        self.rest.starts_with("~~") || matches!(self.mark, "-" | "~")
    }
}

/// What stands behind the number of a list's line, such as `1.` or `2)`.
fn numbered(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_number = (1..=9).contains(&(line.len() - rest.len()));
    rest.strip_prefix(['.', ')']).filter(|_| is_number)
}

/// A text without the signs of emphasis at its ends, and without what was struck through its id.
pub(super) fn plain(text: &str) -> String {
    text.replace("**", "").replace("~~", "").trim().to_owned()
}
