use super::{Named, Outcome, Test, TestFormat, TestReport, Totals};
use crate::limits::{LONGEST_ID, LONGEST_MESSAGE, MOST_MESSAGES, MOST_TESTS};
use crate::unreadable::{Kind, Unreadable};

/// A report in the making, within its limits.
pub(crate) struct Builder {
    format: TestFormat,
    totals: Totals,
    tests: Vec<Test>,
    unnamed: u64,
    messages: usize,
    notes: Vec<String>,
}

impl Builder {
    pub(crate) fn new(format: TestFormat) -> Self {
        Self {
            format,
            totals: Totals::default(),
            tests: Vec::new(),
            unnamed: 0,
            messages: 0,
            notes: Vec::new(),
        }
    }

    /// The cases so far.
    pub(crate) fn totals(&self) -> &Totals {
        &self.totals
    }

    /// A test that is known by name.
    pub(crate) fn test(
        &mut self,
        id: &str,
        outcome: Outcome,
        message: Option<&str>,
        file: Option<&str>,
    ) -> Result<(), Unreadable> {
        if self.tests.len() == MOST_TESTS {
            let message = format!("it names more than {MOST_TESTS} tests");
            return Err(Unreadable::new(Kind::TooLarge, message));
        }
        self.totals.count(outcome, 1);
        let message = message.map(str::trim).filter(|text| !text.is_empty());
        let message = message.filter(|_| self.messages < MOST_MESSAGES);
        self.messages += usize::from(message.is_some());
        self.tests.push(Test {
            id: short_id(id.trim()),
            outcome,
            message: message.map(|text| cut(text, LONGEST_MESSAGE).into()),
            file: file.map(|file| cut(file, LONGEST_ID).into()),
        });
        Ok(())
    }

    /// How many tests it names so far.
    pub(crate) fn len(&self) -> usize {
        self.tests.len()
    }

    /// What became of the test at that place.
    pub(crate) fn outcome(&self, at: usize) -> Outcome {
        self.tests[at].outcome
    }

    /// Notes how the test at that place ended when it was tried again: one that failed and passes now is flaky.
    pub(crate) fn tried_again(&mut self, at: usize, now: Outcome, message: Option<&str>) {
        let test = &mut self.tests[at];
        let was_bad = test.outcome.is_failure() || test.outcome == Outcome::Flaky;
        let outcome = if was_bad && now == Outcome::Passed {
            Outcome::Flaky
        } else {
            now
        };
        *self.totals.number_of(test.outcome) -= 1;
        *self.totals.number_of(outcome) += 1;
        test.outcome = outcome;
        if let Some(message) = message {
            test.message = Some(cut(message.trim(), LONGEST_MESSAGE).into());
        }
    }

    /// Tests that are only counted.
    pub(crate) fn unnamed(&mut self, outcome: Outcome, many: u64) {
        self.totals.count(outcome, many);
        self.unnamed = self.unnamed.saturating_add(many);
    }

    /// What a reader should know besides.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        if self.notes.len() < 20 {
            self.notes.push(note.into());
        }
    }

    /// Holds a number that the report declares against what was counted.
    pub(crate) fn agree(what: &str, declared: u64, counted: u64) -> Result<(), Unreadable> {
        if declared == counted {
            return Ok(());
        }
        let message = format!("it declares {declared} {what}, and {counted} are in it");
        Err(Unreadable::new(Kind::Contradiction, message))
    }

    /// The report. One without any test is none.
    pub(crate) fn finish(self) -> Result<TestReport, Unreadable> {
        if self.totals.total == 0 {
            let message = "it is complete, and no test was run";
            return Err(Unreadable::new(Kind::Nothing, message));
        }
        let named = match (self.tests.is_empty(), self.unnamed) {
            (_, 0) => Named::Every,
            (true, _) => Named::None,
            (false, _) => Named::Some,
        };
        Ok(TestReport {
            format: self.format,
            totals: self.totals,
            named,
            tests: self.tests,
            notes: self.notes,
        })
    }
}

/// As much of a text as fits, cut at a character.
pub(crate) fn cut(text: &str, longest: usize) -> &str {
    &text[..text.floor_char_boundary(longest)]
}

pub(crate) fn short_id(id: &str) -> Box<str> {
    if id.len() <= LONGEST_ID {
        return id.into();
    }
    format!("{}…{:016x}", cut(id, LONGEST_ID - 19), fnv1a(id)).into()
}

/// 64-bit FNV-1a, which stays the same from one version to the next.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
