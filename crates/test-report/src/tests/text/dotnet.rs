//! What `dotnet test` prints: the lines of `VSTest`, a summary for each project or one for all, and of the testing platform.

use std::collections::BTreeSet;

use crate::tests::builder::Builder;
use crate::tests::{Outcome, TestFormat, TestReport};
use crate::unreadable::{Kind, Unreadable};

pub(crate) fn read(text: &str) -> Result<TestReport, Unreadable> {
    let mut told = FailureText::default();
    let mut at = 0;
    for line in text.lines() {
        at += 1;
        told.line(line, at)?;
    }
    told.report(at)
}

/// How sure it is that this was printed by it: the number of lines that nobody else prints. 0 is no.
pub(crate) fn signs(text: &str) -> usize {
    text.lines()
        .filter(|line| {
            let line = line.trim();
            of_project(line).is_some()
                || one_line(line).is_some()
                || line.starts_with("Test run for ") && line.ends_with(')')
                || line.starts_with("Test run summary: ")
                || matches!(
                    line,
                    "Test Run Failed." | "Test Run Successful." | "Test Run Aborted."
                )
                || not_compiled(line).is_some()
        })
        .count()
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Numbers {
    total: Option<u64>,
    failed: u64,
    passed: u64,
    skipped: u64,
}

impl Numbers {
    /// Takes a number by the name that a runner gives it.
    fn take(&mut self, name: &str, number: &str) -> Option<()> {
        let number: u64 = number.trim().parse().ok()?;
        match name.trim().to_ascii_lowercase().as_str() {
            "total" | "total tests" => self.total = Some(number),
            "failed" => self.failed = number,
            "passed" | "succeeded" => self.passed = number,
            "skipped" => self.skipped = number,
            _ => return None,
        }
        Some(())
    }

    fn add(&mut self, more: Self) {
        self.total = Some(
            self.total
                .unwrap_or(0)
                .saturating_add(more.total.unwrap_or(0)),
        );
        self.failed = self.failed.saturating_add(more.failed);
        self.passed = self.passed.saturating_add(more.passed);
        self.skipped = self.skipped.saturating_add(more.skipped);
    }

    fn check(&self, line: u64) -> Result<(), Unreadable> {
        let sum = [self.failed, self.passed, self.skipped]
            .into_iter()
            .fold(0, u64::saturating_add);
        match self.total {
            Some(total) => Builder::agree("tests", total, sum).map_err(|fault| fault.at_line(line)),
            None => Ok(()),
        }
    }
}

/// `Failed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3, Duration: 5 ms - Shop.Tests.dll (net8.0)`
fn of_project(line: &str) -> Option<Numbers> {
    let rest = ["Passed!", "Failed!", "Skipped!"]
        .iter()
        .find_map(|word| line.strip_prefix(word))?;
    listed(rest.trim_start().strip_prefix("- ")?, 4)
}

/// `Test summary: total: 3, failed: 1, succeeded: 2, skipped: 0, duration: 1.2s`
fn one_line(line: &str) -> Option<Numbers> {
    let (front, rest) = line.split_once("est summary: ")?;
    matches!(front, "T" | "Build t").then(|| listed(rest, 4))?
}

fn listed(rest: &str, many: usize) -> Option<Numbers> {
    let mut numbers = Numbers::default();
    let mut parts = rest.split(',');
    for _ in 0..many {
        let (name, number) = parts.next()?.split_once(':')?;
        numbers.take(name, number)?;
    }
    Some(numbers)
}

/// The file of `/src/Cart.cs(3,14): error CS1002: ; expected [/src/Shop.csproj]`, without the folder of the project.
fn not_compiled(line: &str) -> Option<&str> {
    let (place, rest) = line.split_once("): error ")?;
    let file = place.rsplit_once('(')?.0.trim();
    let project = rest.rsplit_once('[')?.1.strip_suffix(']')?;
    let project = project.split("::").next()?;
    if !["proj", "sln", "slnx"]
        .iter()
        .any(|end| project.ends_with(end))
    {
        return None;
    }
    let folder = project
        .rsplit_once(['/', '\\'])
        .map_or("", |(folder, _)| folder);
    let inner = file.strip_prefix(folder).unwrap_or(file);
    Some(inner.trim_start_matches(['/', '\\']))
}

/// What is being read line by line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    /// Behind `Test Run Failed.`: numbers for all.
    Run,
    /// Behind `Test run summary:`.
    Platform,
}

#[derive(Default)]
struct FailureText {
    /// The sum of the lines of projects.
    projects: Option<Numbers>,
    /// The numbers of all.
    all: Option<Numbers>,
    block: Option<(Block, Numbers)>,
    begun: u64,
    ended: u64,
    aborted: bool,
    listed: Vec<(String, Outcome)>,
    uncompiled: BTreeSet<String>,
}

impl FailureText {
    fn line(&mut self, raw: &str, at: u64) -> Result<(), Unreadable> {
        let line = raw.trim();
        if let Some((block, numbers)) = &mut self.block {
            let taken = line
                .split_once(':')
                .and_then(|(name, number)| numbers.take(name, number));
            if taken.is_some() {
                return Ok(());
            }
            if *block == Block::Platform || !line.is_empty() {
                self.close(at)?;
            }
        }
        if let Some(numbers) = of_project(line) {
            numbers.check(at)?;
            self.ended += 1;
            self.projects.get_or_insert_default().add(numbers);
        } else if let Some(numbers) = one_line(line) {
            numbers.check(at)?;
            self.set_all(numbers, at)?;
        } else if line.starts_with("Test run for ") && line.ends_with(')') {
            self.begun += 1;
        } else if line.starts_with("Test run summary:") {
            self.block = Some((Block::Platform, Numbers::default()));
            self.aborted |= line.contains("Aborted");
        } else if matches!(
            line,
            "Test Run Failed." | "Test Run Successful." | "Test Run Aborted."
        ) || line.starts_with("Total tests: ")
        {
            // Each project has its own.
            let mut numbers = Numbers::default();
            if let Some((name, number)) = line.split_once(':') {
                numbers.take(name, number);
            }
            self.aborted |= line == "Test Run Aborted.";
            self.block = Some((Block::Run, numbers));
        } else if line.starts_with("The active test run was aborted") {
            self.aborted = true;
        } else if let Some(file) = not_compiled(line) {
            self.uncompiled.insert(file.to_owned());
        } else {
            self.test(raw);
        }
        Ok(())
    }

    /// `  Failed Shop.CartTests.Adds(a: 1) [3 ms]`, or `failed Adds (3ms)` of the testing platform.
    fn test(&mut self, line: &str) {
        let Some((word, rest)) = line.trim().split_once(' ') else {
            return;
        };
        let (outcome, vstest) = match word {
            "Passed" => (Outcome::Passed, true),
            "Failed" => (Outcome::Failed, true),
            "Skipped" => (Outcome::Skipped, true),
            "passed" => (Outcome::Passed, false),
            "failed" => (Outcome::Failed, false),
            "skipped" => (Outcome::Skipped, false),
            _ => return,
        };
        let name = if vstest && line.starts_with("  ") {
            rest.rsplit_once(" [")
                .filter(|(_, took)| took.ends_with("s]") || took.ends_with("h]"))
        } else if !vstest && line.starts_with(word) {
            rest.rsplit_once(" (")
                .filter(|(_, took)| took.ends_with("s)"))
        } else {
            None
        };
        if let Some((name, _)) = name {
            self.listed.push((name.trim().to_owned(), outcome));
        }
    }

    fn set_all(&mut self, numbers: Numbers, at: u64) -> Result<(), Unreadable> {
        if self.all.is_some_and(|all| all != numbers) {
            let message = "another summary of all follows the first: give the report of one run";
            return Err(Unreadable::new(Kind::Mixed, message).at_line(at));
        }
        self.all = Some(numbers);
        Ok(())
    }

    fn close(&mut self, at: u64) -> Result<(), Unreadable> {
        match self.block.take() {
            Some((Block::Run, numbers)) if numbers.total.is_some() => {
                numbers.check(at)?;
                self.ended += 1;
                self.projects.get_or_insert_default().add(numbers);
            }
            Some((Block::Platform, numbers)) => {
                numbers.check(at)?;
                self.set_all(numbers, at)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// What all of it comes to; `last` is the number of its last line.
    fn report(mut self, last: u64) -> Result<TestReport, Unreadable> {
        self.close(last)?;
        let mut report = Builder::new(TestFormat::DotnetText);
        for file in &self.uncompiled {
            report.test(file, Outcome::NotCollected, None, Some(file))?;
        }
        if self.begun > self.ended && self.all.is_none() && self.uncompiled.is_empty() {
            let message = format!(
                "{} test runs begin in it, and {} of them end: it was cut off, or a run did not come to its end",
                self.begun, self.ended
            );
            return Err(Unreadable::new(Kind::Truncated, message));
        }
        let numbers = match (self.all, self.projects) {
            (Some(all), Some(projects)) => {
                Builder::agree("failures", all.failed, projects.failed)?;
                all
            }
            (Some(numbers), None) | (None, Some(numbers)) => numbers,
            (None, None) if report.totals().total > 0 => Numbers::default(),
            (None, None) => {
                let message = "it has no summary of a test run: it was cut off";
                return Err(Unreadable::new(Kind::Truncated, message));
            }
        };
        let mut left = [
            (Outcome::Failed, numbers.failed),
            (Outcome::Skipped, numbers.skipped),
            (Outcome::Passed, numbers.passed),
        ];
        for (outcome, declared) in &left {
            let listed = self.listed.iter().filter(|(_, of)| of == outcome).count() as u64;
            if listed > *declared && *outcome == Outcome::Failed {
                Builder::agree("failures", *declared, listed)?;
            }
        }
        for (id, outcome) in &self.listed {
            if let Some((_, left)) = left
                .iter_mut()
                .find(|(of, left)| of == outcome && *left > 0)
            {
                *left -= 1;
                report.test(id, *outcome, None, None)?;
            }
        }
        for (outcome, left) in left {
            report.unnamed(outcome, left);
        }
        if self.aborted && report.totals().failures() == 0 {
            let message = "the test run was aborted";
            report.test("test run", Outcome::NotCollected, Some(message), None)?;
        }
        report.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_do_not_agree_at_the_end_have_a_line() {
        let text = "Test run summary: Failed!\n  total: 3\n  failed: 1\n  succeeded: 9";
        assert_eq!(read(text).unwrap_err().line, Some(4));
    }
}
