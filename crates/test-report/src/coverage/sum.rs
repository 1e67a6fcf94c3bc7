//! Adding up, and holding sums against what a report declares.

use super::{Coverage, CoverageFormat, Metric};
use crate::limits::MOST_FILES;
use crate::unreadable::{Kind, Unreadable};

impl Metric {
    /// Both together.
    pub(super) const fn and(self, other: Self) -> Self {
        Self {
            covered: self.covered.saturating_add(other.covered),
            total: self.total.saturating_add(other.total),
        }
    }

    /// Whether these can be some of those.
    pub(super) const fn is_part_of(self, whole: Self) -> bool {
        self.covered <= whole.covered
            && self.total.saturating_sub(self.covered) <= whole.total.saturating_sub(whole.covered)
    }

    /// The same, unless more are covered than there are.
    pub(super) fn sound(self, what: &str, whose: &str) -> Result<Self, Unreadable> {
        if self.covered <= self.total {
            return Ok(self);
        }
        let message = format!(
            "of {} {what} of {whose} it has {} covered",
            self.total, self.covered
        );
        Err(Unreadable::new(Kind::Contradiction, message))
    }

    /// Holds what is declared against what was counted.
    pub(super) fn agrees(self, counted: Self, what: &str, whose: &str) -> Result<(), Unreadable> {
        if self == counted {
            return Ok(());
        }
        let message = format!(
            "it declares that {} of {} {what} of {whose} are covered, and by what is in it {} of {} are",
            self.covered, self.total, counted.covered, counted.total
        );
        Err(Unreadable::new(Kind::Contradiction, message))
    }
}

impl Coverage {
    /// One of which nothing is known yet.
    pub(super) const fn of(format: CoverageFormat) -> Self {
        Self {
            format,
            lines: None,
            branches: None,
            functions: None,
            statements: None,
            files: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The same, unless nothing was measured.
    pub(super) fn finish(self) -> Result<Self, Unreadable> {
        if self.lines.is_some_and(|lines| lines.total > 0) {
            return Ok(self);
        }
        let message = "it is complete, and no line of any file was measured";
        Err(Unreadable::new(Kind::Nothing, message))
    }
}

/// Whether one more file may be named after so many.
pub(super) fn fits(files: usize) -> Result<(), Unreadable> {
    if files < MOST_FILES {
        return Ok(());
    }
    let message = format!("it names more than {MOST_FILES} files");
    Err(Unreadable::new(Kind::TooLarge, message))
}
