//! Items that a code block or a comment hides, because its end is missing.

use crate::documents::quoting::line_number;
use crate::markdown::{Line, Place};

use super::heading;
use super::{Note, Problem, problem};

/// A code block, or a comment, that is open.
#[derive(Debug)]
pub(super) struct Hidden {
    /// The line that opened it.
    opened: u32,
    is_comment: bool,
    /// The first line in it that looks like an item.
    item: Option<u32>,
    /// Behind that, the first line that would open another one.
    another: Option<u32>,
}

impl Hidden {
    pub(super) fn opened(line: &Line<'_>) -> Self {
        Self {
            opened: line_number(line.number),
            is_comment: line.place == Place::Comment,
            item: None,
            another: None,
        }
    }

    /// A line within it; `opens` says whether it would open another one.
    pub(super) fn line(&mut self, line: &Line<'_>, opens: bool) {
        if self.item.is_none() {
            let is_item = |heading: heading::Heading<'_>| heading::is_item(heading.text);
            if heading::heading(line.text).is_some_and(is_item) {
                self.item = Some(line_number(line.number));
            }
        } else if self.another.is_none() && opens {
            self.another = Some(line_number(line.number));
        }
    }

    /// The document is over, and nothing closed it.
    pub(super) fn unclosed(&self) -> Option<Problem> {
        let item = self.item?;
        Some(problem(
            self.opened,
            format!(
                "{} is never closed, and what looks like an item in line {item} stands in it",
                self.name()
            ),
            if self.is_comment {
                "close it with `-->`"
            } else {
                "close it with a line of the same signs as it begins with"
            },
        ))
    }

    /// It is closed: perhaps by what was to close another one.
    pub(super) fn closed(&self) -> Option<Note> {
        let (item, another) = (self.item?, self.another?);
        Some(Note {
            line: self.opened,
            message: format!(
                "{} goes on beyond what looks like an item in line {item} and like another one's beginning in line {another}: see whether it is closed too late",
                self.name()
            ),
        })
    }

    const fn name(&self) -> &'static str {
        if self.is_comment {
            "the comment that begins here"
        } else {
            "the code block that begins here"
        }
    }
}
