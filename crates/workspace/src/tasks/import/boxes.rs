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

/// The marks of what is done. With any other mark a task is open.
const DONE: [&str; 3] = ["x", "X", "✅"];

impl<'t> CheckboxLine<'t> {
    /// The checkbox of a line, whatever mark is in it; none where it has no such thing. A legend such as `[P]`, a footnote such as
    /// `[1]` and a link are none.
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
        let rest = &boxed[end + 1..];
        let inside = mark.trim();
        let is_link = rest.starts_with(['(', '[', ':']);
        let is_word = inside.contains(char::is_alphanumeric) && !DONE.contains(&mark);
        let is_letter = inside.chars().count() == 1 && inside.contains(char::is_alphabetic);
        let is_mark = is_letter && inside != "P" && rest.starts_with([' ', '\t']);
        (!is_link && (!is_word || is_mark)).then(|| Self {
            indent,
            mark_at: line.len() - boxed.len(),
            mark,
            rest: rest.trim(),
        })
    }

    pub(super) fn is_done(&self) -> bool {
        DONE.contains(&self.mark)
    }

    /// Whether it has a mark that says neither that the task is done nor that it is not.
    pub(super) fn is_odd(&self) -> bool {
        !self.is_done() && !self.mark.trim().is_empty()
    }

    /// Whether the task was struck out: given up, whatever is in the box.
    pub(super) fn is_struck(&self) -> bool {
        self.rest.starts_with("~~")
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
