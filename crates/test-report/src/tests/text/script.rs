//! What the runners of JavaScript have in common when they print for people: a summary that counts, and tests of which all,
//! some or none are listed.

use crate::tests::Outcome;
use crate::tests::builder::Builder;
use crate::unreadable::{Kind, Unreadable};

/// A test in a list or tree of tests.
pub(super) struct Listed<'a> {
    pub(super) file: &'a str,
    pub(super) suites: Vec<String>,
    pub(super) title: String,
    pub(super) outcome: Outcome,
}

impl Listed<'_> {
    /// File, suites and title.
    pub(super) fn id(&self) -> String {
        let file = Some(self.file).filter(|file| !file.is_empty());
        let parts: Vec<&str> = file
            .into_iter()
            .chain(self.suites.iter().map(String::as_str))
            .chain([&*self.title])
            .collect();
        parts.join(" > ")
    }
}

struct Name {
    id: String,
    outcome: Outcome,
    message: Option<String>,
    file: Option<String>,
}

/// The tests that a text names. They are taken only where there are as many as the summary counts: what a test printed may
/// look like a test.
#[derive(Default)]
pub(super) struct Names {
    every: Vec<Name>,
    failures: Vec<Name>,
}

/// The numbers of a summary.
#[derive(Default, Clone, Copy)]
pub(super) struct Counted {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
    /// Tests that failed as expected, counted besides those that passed.
    pub(super) expected: u64,
    /// Of those that passed, how many did so only when they were tried again.
    pub(super) flaky: u64,
}

impl Names {
    /// A test of a list of all.
    pub(super) fn every(
        &mut self,
        id: String,
        outcome: Outcome,
        message: Option<&str>,
        file: Option<&str>,
    ) {
        self.every.push(Name {
            id,
            outcome,
            message: message.map(str::to_owned),
            file: file.map(str::to_owned),
        });
    }

    /// A test of a list of those that failed.
    pub(super) fn failure(
        &mut self,
        id: String,
        outcome: Outcome,
        message: &str,
        file: Option<&str>,
    ) {
        self.failures.push(Name {
            id,
            outcome,
            message: Some(message.to_owned()),
            file: file.map(str::to_owned),
        });
    }

    /// The tests as the summary counts them, by name as far as they are known.
    pub(super) fn give(self, builder: &mut Builder, counted: Counted) -> Result<(), Unreadable> {
        let listed = |wanted: fn(&Outcome) -> bool| {
            self.every
                .iter()
                .filter(|name| wanted(&name.outcome))
                .count() as u64
        };
        let passed = counted.passed.saturating_add(counted.expected);
        if !self.every.is_empty()
            && listed(|outcome| outcome.is_success()) == passed
            && listed(|outcome| outcome.is_failure()) == counted.failed
            && listed(|outcome| *outcome == Outcome::Skipped) == counted.skipped
        {
            if counted.expected > listed(|outcome| *outcome == Outcome::ExpectedFailure) {
                builder.note(format!(
                    "{} of the tests that passed failed as expected; which ones is not in it",
                    counted.expected
                ));
            }
            return named(&self.every, builder);
        }
        let flaky = counted.flaky.min(counted.passed);
        builder.unnamed(Outcome::Passed, counted.passed - flaky);
        builder.unnamed(Outcome::Flaky, flaky);
        builder.unnamed(Outcome::ExpectedFailure, counted.expected);
        builder.unnamed(Outcome::Skipped, counted.skipped);
        if self.failures.len() as u64 == counted.failed {
            return named(&self.failures, builder);
        }
        builder.unnamed(Outcome::Failed, counted.failed);
        Ok(())
    }
}

fn named(names: &[Name], builder: &mut Builder) -> Result<(), Unreadable> {
    names.iter().try_for_each(|name| {
        let (message, file) = (name.message.as_deref(), name.file.as_deref());
        builder.test(&name.id, name.outcome, message, file)
    })
}

/// The summary, if there is one, of the lines at which summaries begin: two are of two runs.
pub(super) fn only_one(summaries: &[usize]) -> Result<Option<usize>, Unreadable> {
    if let [_, second, ..] = summaries {
        let message = "there is more than one summary: give the report of one run";
        return Err(Unreadable::new(Kind::Mixed, message).at_line(*second as u64 + 1));
    }
    Ok(summaries.first().copied())
}

/// `3 failed`, as number and word.
pub(super) fn number_of(item: &str) -> Result<(u64, &str), Unreadable> {
    let item = item.trim();
    let (number, what) = item.split_once(' ').unwrap_or((item, ""));
    number.parse().map(|number| (number, what)).map_err(|_| {
        let message = format!("its summary has {item:?}, which is no number");
        Unreadable::new(Kind::Malformed, message)
    })
}

/// Takes a time in brackets off the end of a title: `adds (12 ms)`, `adds (5.1 s)`, `adds (0.3ms)`.
pub(super) fn without_time(title: &str) -> &str {
    let Some((before, time)) = title.rsplit_once(" (") else {
        return title;
    };
    let number = ["ms)", "s)"]
        .iter()
        .find_map(|unit| time.strip_suffix(unit));
    match number.map(str::trim_end) {
        Some(number)
            if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit() || b == b'.') =>
        {
            before
        }
        _ => title,
    }
}
