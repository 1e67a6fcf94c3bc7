//! What `ctest` prints: a line for each test when it ends, and a summary.

use super::script::only_one;
use crate::tests::builder::Builder;
use crate::tests::{Outcome, TestFormat, TestReport};
use crate::unreadable::{Kind, Unreadable};

/// A line such as ` 2/19 Test  #2: parse_examples ...................   Passed    0.00 sec`.
struct TestLine<'a> {
    name: &'a str,
    outcome: Outcome,
    /// The words between the dots and the time.
    said: &'a str,
}

impl<'a> TestLine<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let (count, rest) = line.trim_start().split_once(" Test ")?;
        let (at, of) = count.split_once('/')?;
        at.parse::<u64>()
            .ok()
            .zip(of.trim_end().parse::<u64>().ok())?;
        let (number, rest) = rest.trim_start().strip_prefix('#')?.split_once(": ")?;
        number.parse::<u64>().ok()?;
        let rest = rest.trim_end().strip_suffix(" sec")?.trim_end();
        let (rest, _) = rest.rsplit_once(' ')?;
        let (name, said) = rest
            .trim_end()
            .split_once(" ..")
            .or_else(|| rest.split_once("   "))?;
        let said = said.trim_start_matches('.').trim();
        let outcome = match said.trim_start_matches('*') {
            "Passed" => Outcome::Passed,
            "Failed" => Outcome::Failed,
            "Skipped" | "Not Run (Disabled)" => Outcome::Skipped,
            "Not Run" => Outcome::NotCollected,
            other if other.starts_with("Failed") => Outcome::Failed,
            // A time-out, a crash, what it has words of its own for.
            _ => Outcome::Error,
        };
        Some(Self {
            name: name.trim_end(),
            outcome,
            said,
        })
    }
}

/// How many failed, and of how many: `29% tests passed, 5 tests failed out of 7`. What was disabled or skipped may not count.
fn summary(line: &str) -> Option<(u64, u64)> {
    let (_, rest) = line.split_once("% tests passed, ")?;
    let (failed, rest) = rest.split_once(' ')?;
    let of = rest
        .strip_prefix("tests failed out of ")
        .or_else(|| rest.strip_prefix("test failed out of "))?;
    Some((failed.parse().ok()?, of.trim_end().parse().ok()?))
}

/// Nothing is registered, or nothing that was asked for.
const NO_TESTS: &str = "No tests were found!!!";

pub(crate) fn read(text: &str) -> Result<TestReport, Unreadable> {
    let lines: Vec<&str> = text.lines().collect();
    let mut builder = Builder::new(TestFormat::CtestText);
    let ends: Vec<usize> = (0..lines.len())
        .filter(|at| summary(lines[*at]).is_some())
        .collect();
    let Some(end) = only_one(&ends)? else {
        if lines.iter().any(|line| line.trim() == NO_TESTS) {
            return builder.finish();
        }
        let message = "there is no summary (`…% tests passed`) at its end";
        return Err(Unreadable::new(Kind::Truncated, message));
    };
    let mut failed = 0;
    for test in lines[..end].iter().filter_map(|line| TestLine::read(line)) {
        failed += u64::from(test.outcome.is_failure());
        let message = test.outcome.is_failure().then_some(test.said);
        builder.test(test.name, test.outcome, message, None)?;
    }
    if let Some((counted, _)) = summary(lines[end]) {
        Builder::agree("failed tests", counted, failed)?;
    }
    builder.finish()
}

/// How sure it is that this was printed by it: the number of lines that nobody else prints. 0 is no.
pub(crate) fn signs(text: &str) -> usize {
    let is_sign = |line: &&str| {
        summary(line).is_some() || line.trim() == NO_TESTS || TestLine::read(line).is_some()
    };
    text.lines().filter(is_sign).count()
}
