use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::TestFormat;

/// What became of one test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It ran and passed, at the first try.
    Passed,
    /// It failed as it was expected to, and so counts as passed.
    ExpectedFailure,
    /// It did not run, or only until it said that it does not apply. Also a test marked as still to be written.
    Skipped,
    /// It passed, but only when it was tried again.
    Flaky,
    /// An assertion did not hold. Also one that passed although it was expected to fail, where its runner counts that as a failure.
    Failed,
    /// Something broke that was no assertion: an exception, a crash, a time-out, its set-up.
    Error,
    /// It never began: its file could not be compiled, loaded or collected, or its process ended before. The id is then of the file, the
    /// package or the program, which is no test.
    NotCollected,
}

impl Outcome {
    /// A stable name: `passed`, `expected_failure`…
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::ExpectedFailure => "expected_failure",
            Self::Skipped => "skipped",
            Self::Flaky => "flaky",
            Self::Failed => "failed",
            Self::Error => "error",
            Self::NotCollected => "not_collected",
        }
    }

    /// Whether it counts against the suite: an assertion that failed, an error, or a test that could not be collected.
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::Error | Self::NotCollected)
    }

    /// Whether the test ran and its runner was content: passed, failed as expected, or passed when tried again.
    pub const fn is_success(self) -> bool {
        matches!(self, Self::Passed | Self::ExpectedFailure | Self::Flaky)
    }
}

/// One test of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Test {
    /// What the runner calls it, the same in every report of the same format; at most [`LONGEST_ID`](crate::limits::LONGEST_ID)
    /// bytes.
    ///
    /// It may repeat: a test class that is loaded twice, parameters without names, two packages with a test target of the same name
    /// in what `cargo test` prints, two files of the same name in different folders of a JavaScript project, whose ids begin with
    /// the name of the file alone ([`file`](Self::file) tells them apart).
    pub id: Box<str>,
    /// What became of it.
    pub outcome: Outcome,
    /// What the runner says of a failure; or the reason of a skip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Box<str>>,
    /// The file it is in, as the report writes it, where the report says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Box<str>>,
}

/// How many tests had which outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// All of them.
    pub total: u64,
    /// [`Outcome::Passed`].
    pub passed: u64,
    /// [`Outcome::Failed`].
    pub failed: u64,
    /// [`Outcome::Error`].
    pub errors: u64,
    /// [`Outcome::NotCollected`].
    pub not_collected: u64,
    /// [`Outcome::Skipped`].
    pub skipped: u64,
    /// [`Outcome::ExpectedFailure`].
    pub expected_failures: u64,
    /// [`Outcome::Flaky`].
    pub flaky: u64,
}

impl Totals {
    /// Counts `many` tests of one outcome.
    pub fn count(&mut self, outcome: Outcome, many: u64) {
        let counted = self.number_of(outcome);
        *counted = counted.saturating_add(many);
        self.total = self.total.saturating_add(many);
    }

    /// How many tests had this outcome.
    pub(crate) fn number_of(&mut self, outcome: Outcome) -> &mut u64 {
        match outcome {
            Outcome::Passed => &mut self.passed,
            Outcome::Failed => &mut self.failed,
            Outcome::Error => &mut self.errors,
            Outcome::NotCollected => &mut self.not_collected,
            Outcome::Skipped => &mut self.skipped,
            Outcome::ExpectedFailure => &mut self.expected_failures,
            Outcome::Flaky => &mut self.flaky,
        }
    }

    /// What counts against the suite: failed, errors and not collected.
    pub const fn failures(&self) -> u64 {
        self.failed
            .saturating_add(self.errors)
            .saturating_add(self.not_collected)
    }
}

/// Which tests of a report are known by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Named {
    /// Every one: [`TestReport::tests`] has as many as the totals say.
    Every,
    /// Some, as a runner has it that lists only what failed.
    Some,
    /// None: the report has only numbers.
    None,
}

/// What a test runner reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestReport {
    /// The format that it was read as.
    pub format: TestFormat,
    /// How many tests had which outcome. At least one test.
    pub totals: Totals,
    /// Which of them are in `tests`.
    pub named: Named,
    /// The tests that are known by name, in the order of the report.
    pub tests: Vec<Test>,
    /// What a reader should know besides: cut messages, say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl TestReport {
    /// Marks as flaky the failed tests that passed in `again`, another run. Of several tests with one id nobody can tell which is which:
    /// all of them have to be in both runs, and pass in that one.
    pub fn mark_flaky(&mut self, again: &Self) {
        let mut missing: HashMap<Box<str>, usize> = HashMap::new();
        for test in &self.tests {
            *missing.entry(test.id.clone()).or_default() += 1;
        }
        for test in &again.tests {
            if let Some(missing) = missing.get_mut(&test.id) {
                *missing = if test.outcome.is_success() {
                    missing.saturating_sub(1)
                } else {
                    usize::MAX
                };
            }
        }
        for test in &mut self.tests {
            if !test.outcome.is_failure() || missing[&test.id] > 0 {
                continue;
            }
            let counted = self.totals.number_of(test.outcome);
            *counted = counted.saturating_sub(1);
            test.outcome = Outcome::Flaky;
            *self.totals.number_of(Outcome::Flaky) += 1;
        }
    }

    /// Adds the tests of another report of the same run: of another package, say.
    pub fn merge(&mut self, other: Self) {
        let totals = &other.totals;
        for (outcome, many) in [
            (Outcome::Passed, totals.passed),
            (Outcome::Failed, totals.failed),
            (Outcome::Error, totals.errors),
            (Outcome::NotCollected, totals.not_collected),
            (Outcome::Skipped, totals.skipped),
            (Outcome::ExpectedFailure, totals.expected_failures),
            (Outcome::Flaky, totals.flaky),
        ] {
            self.totals.count(outcome, many);
        }
        if self.named != other.named {
            self.named = Named::Some;
        }
        self.tests.extend(other.tests);
        self.notes.extend(other.notes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(tests: &[(&str, Outcome)]) -> TestReport {
        let mut totals = Totals::default();
        for (_, outcome) in tests {
            totals.count(*outcome, 1);
        }
        let test = |(id, outcome): &(&str, Outcome)| Test {
            id: (*id).into(),
            outcome: *outcome,
            message: None,
            file: None,
        };
        TestReport {
            format: TestFormat::Junit,
            totals,
            named: Named::Every,
            tests: tests.iter().map(test).collect(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_test_is_flaky_when_all_of_its_id_pass_in_another_run() {
        use Outcome::{Failed, Flaky, Passed};
        let twins = [("twin", Passed), ("twin", Failed)];
        for (first, again, expected) in [
            (&[("one", Failed)][..], &[("one", Passed)][..], Flaky),
            (&[("one", Failed)], &[("one", Failed)], Failed),
            (&[("one", Failed)], &[("other", Passed)], Failed),
            // Another test of the same name may be the one that passes.
            (&twins, &twins, Failed),
            (&twins, &[("twin", Passed)], Failed),
            (&twins, &[("twin", Passed), ("twin", Passed)], Flaky),
            (&twins[1..], &twins, Failed),
        ] {
            let mut told = report(first);
            told.mark_flaky(&report(again));
            let outcome = told.tests.last().map(|test| test.outcome);
            assert_eq!(outcome, Some(expected), "{first:?} {again:?}");
            let mut counted = told.totals;
            assert_eq!(*counted.number_of(expected), 1, "{first:?} {again:?}");
        }
    }
}
