//! How messages quote what stands in a document, and how many of them there are.

use std::collections::BTreeMap;

/// The most that a message quotes, in characters.
const MOST: usize = 80;
/// How many problems, and how many notes, are told of one document.
const MOST_TOLD: usize = 100;

/// The text between backticks, on one line, cut where it is long, without anything that moves a cursor or turns text
/// around.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(4 * MOST) + 2);
    out.push('`');
    let turning = |c: &char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    for (at, c) in text.trim().chars().filter(|c| !turning(c)).enumerate() {
        if at == MOST {
            out.push('…');
            break;
        }
        out.push(match c {
            '\u{2028}' | '\u{2029}' => ' ',
            c if c.is_control() => ' ',
            '`' => '\'',
            c => c,
        });
    }
    out.push('`');
    out
}

/// A line number as the crate gives it out.
pub(crate) fn line_number(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// What is told of a document, line by line: that of the first lines, and how much there is besides. However long a document
/// is, and however wrong, who reads of it is told no more than can be read.
#[derive(Debug)]
pub(crate) struct Bounded<T> {
    /// By line, and among those of a line by when it was told.
    kept: BTreeMap<(u32, usize), T>,
    /// How often something was told.
    times: usize,
    left_out: Option<LeftOut>,
}

/// What was not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// How much it is.
    pub(crate) count: usize,
    /// The first line of it.
    pub(crate) line: u32,
}

impl<T> Default for Bounded<T> {
    fn default() -> Self {
        Self {
            kept: BTreeMap::new(),
            times: 0,
            left_out: None,
        }
    }
}

impl<T> Bounded<T> {
    /// Tells something of a line. What would not be kept is not made.
    pub(crate) fn tell(&mut self, line: u32, make: impl FnOnce() -> T) {
        let key = (line, self.times);
        self.times += 1;
        if !self.takes(line) {
            self.leave_out(LeftOut { count: 1, line });
            return;
        }
        self.kept.insert(key, make());
        if self.kept.len() > MOST_TOLD
            && let Some(((line, _), _)) = self.kept.pop_last()
        {
            self.leave_out(LeftOut { count: 1, line });
        }
    }

    /// Whether something that is told of that line is kept.
    pub(crate) fn takes(&self, line: u32) -> bool {
        self.kept.len() < MOST_TOLD
            || self
                .kept
                .last_key_value()
                .is_some_and(|((last, _), _)| line < *last)
    }

    /// Counts what somebody else did not keep.
    pub(crate) fn leave_out(&mut self, more: LeftOut) {
        let before = self.left_out.unwrap_or(LeftOut {
            count: 0,
            line: u32::MAX,
        });
        self.left_out = Some(LeftOut {
            count: before.count.saturating_add(more.count),
            line: before.line.min(more.line),
        });
    }

    /// How often something was told.
    pub(crate) const fn times(&self) -> usize {
        self.times
    }

    /// What was told after that many times, as far as it is kept.
    pub(crate) fn after(&mut self, times: usize) -> impl Iterator<Item = &mut T> {
        let has_more = self.times > times;
        self.kept
            .iter_mut()
            .filter(move |((_, told), _)| has_more && *told >= times)
            .map(|(_, kept)| kept)
    }

    /// What is kept, in the order of lines.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.kept.values()
    }

    /// What is kept, in the order of lines, and what is not.
    pub(crate) fn finish(self) -> (Vec<T>, Option<LeftOut>) {
        (self.kept.into_values().collect(), self.left_out)
    }
}

impl LeftOut {
    /// How messages count it.
    pub(crate) fn summary(self, thing: &str) -> String {
        let are = if self.count == 1 { "is" } else { "are" };
        let things = text::counted(self.count, &format!("more {thing}"));
        format!("there {are} {things}, the first of line {}", self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::{Bounded, LeftOut, MOST_TOLD};
    use text::listed;

    #[test]
    fn few_are_named() {
        let words = [0, 1, 3, 8, 10].map(|count: usize| listed((0..count).map(|_| 1)));
        let eight = "1, 1, 1, 1, 1, 1, 1 and 1";
        let ten = "1, 1, 1, 1, 1, 1, 1, 1 and 2 more";
        assert_eq!(words, ["", "1", "1, 1 and 1", eight, ten]);
    }

    #[test]
    fn the_first_lines_are_kept_in_whatever_order_they_are_told() {
        let mut told = Bounded::default();
        for line in (1..=250).rev() {
            told.tell(line, || line);
        }
        told.tell(7, || 1_007);
        told.tell(251, || unreachable!("it is not kept"));
        let (kept, left_out) = told.finish();
        assert_eq!(kept.len(), MOST_TOLD);
        assert_eq!(kept[6..9], [7, 1_007, 8]);
        let (count, line) = (152, 100);
        assert_eq!(left_out, Some(LeftOut { count, line }));
    }
}
