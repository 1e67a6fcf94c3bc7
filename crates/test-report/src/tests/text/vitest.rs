//! What vitest prints.

use std::collections::{HashMap, HashSet};

use super::script::{Counted, Names, number_of, only_one};
use crate::tests::builder::Builder;
use crate::tests::thrown::is_assertion;
use crate::tests::{Outcome, TestFormat, TestReport};
use crate::unreadable::{Kind, Unreadable};

/// The numbers of the summary.
#[derive(Default)]
struct Summary {
    counted: Counted,
    failed_files: u64,
    errors: u64,
}

/// The numbers of one line, with what they count.
type Items<'a> = Vec<(u64, &'a str)>;

/// A failure as it is told in full.
struct FailureText<'a> {
    heading: &'a str,
    error: String,
}

pub(crate) fn read(text: &str) -> Result<TestReport, Unreadable> {
    let lines: Vec<&str> = text.lines().collect();
    let (at, summary) = match only_one(&summaries(&lines))? {
        None if lines
            .iter()
            .any(|line| line.starts_with("No test files found")) =>
        {
            return Err(Unreadable::new(Kind::Nothing, "no test file was found"));
        }
        None => {
            let message = "there is no summary (`Test Files …`) at its end";
            return Err(Unreadable::new(Kind::Truncated, message));
        }
        Some(at) => (at, Summary::of(&lines[at..])?),
    };
    let lines = &lines[..at];
    let (suites, tests) = told(lines);
    let mut builder = Builder::new(TestFormat::VitestText);
    let mut names = Names::default();
    let mut failures: HashMap<&str, &FailureText<'_>> = HashMap::new();
    for told in &tests {
        // A test that was tried again is told once for each try.
        if failures.insert(told.heading, told).is_none() {
            let file = told.heading.split(" > ").next();
            names.failure(told.heading.to_owned(), told.outcome(), &told.error, file);
        }
    }
    let mut counted = summary.counted;
    list(lines, &failures, &mut names, &mut counted);
    names.give(&mut builder, counted)?;
    let mut seen = HashSet::new();
    for told in &suites {
        let id = match told.heading.split_once(" [ ") {
            Some((file, _)) => file,
            None => told.heading,
        };
        if seen.insert(id) {
            let file = id.split(" > ").next();
            builder.test(id, Outcome::NotCollected, Some(&told.error), file)?;
        }
    }
    // Errors that belong to no test: a rejection that nobody handled.
    builder.unnamed(Outcome::Error, summary.errors);
    if summary.failed_files > 0 && builder.totals().failures() == 0 {
        builder.unnamed(Outcome::Error, summary.failed_files);
    }
    builder.finish()
}

/// How sure it is that this was printed by it: the number of lines that nobody else prints. 0 is no.
pub(crate) fn signs(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let heads = lines.iter().filter(|line| {
        let version = [" RUN  v", " DEV  v"];
        version.iter().any(|head| line.starts_with(head))
    });
    summaries(&lines).len() + heads.count()
}

/// Where the summaries begin.
fn summaries(lines: &[&str]) -> Vec<usize> {
    let begins = |pair: &[&str]| {
        pair[0].starts_with(" Test Files  ") && pair[1].trim_start().starts_with("Tests  ")
    };
    let pairs = lines.windows(2).enumerate();
    pairs
        .filter(|(_, pair)| begins(pair))
        .map(|(at, _)| at)
        .collect()
}

impl Summary {
    fn of(lines: &[&str]) -> Result<Self, Unreadable> {
        let mut summary = Self::default();
        let mut complete = false;
        for line in lines.iter().take(8) {
            let Some((what, items)) = line.trim().split_once("  ") else {
                break;
            };
            match what {
                "Test Files" => summary.files(items)?,
                "Tests" => summary.tests(items)?,
                "Errors" => summary.errors = number_of(items)?.0,
                "Duration" => complete = true,
                _ => {}
            }
        }
        if complete {
            return Ok(summary);
        }
        let message = "its summary is not complete";
        Err(Unreadable::new(Kind::Truncated, message))
    }

    fn files(&mut self, items: &str) -> Result<(), Unreadable> {
        for (number, what) in Self::items(items)?.0 {
            if what == "failed" {
                self.failed_files = number;
            }
        }
        Ok(())
    }

    fn tests(&mut self, items: &str) -> Result<(), Unreadable> {
        let (items, total) = Self::items(items)?;
        let mut sum = 0_u64;
        for (number, what) in items {
            let counted = &mut self.counted;
            match what {
                "failed" => counted.failed = number,
                "passed" => counted.passed = number,
                "expected fail" => counted.expected = number,
                "skipped" | "todo" => counted.skipped = counted.skipped.saturating_add(number),
                _ => {
                    let message = format!("its summary has {what:?}, which is not known");
                    return Err(Unreadable::new(Kind::Malformed, message));
                }
            }
            sum = sum.saturating_add(number);
        }
        Builder::agree("tests", total, sum)
    }

    /// `3 failed | 1 passed (4)`.
    fn items(items: &str) -> Result<(Items<'_>, u64), Unreadable> {
        let items = items.trim();
        if matches!(items, "no tests" | "no test files") {
            return Ok((Vec::new(), 0));
        }
        let total = items
            .strip_suffix(')')
            .and_then(|items| items.rsplit_once('('));
        let Some((items, total)) = total else {
            let message = "its summary is not complete";
            return Err(Unreadable::new(Kind::Truncated, message));
        };
        let items: Result<Vec<_>, _> = items.split('|').map(number_of).collect();
        Ok((items?, number_of(total)?.0))
    }
}

/// The failures told in full: of suites and files, and of tests.
fn told<'a>(lines: &[&'a str]) -> (Vec<FailureText<'a>>, Vec<FailureText<'a>>) {
    let (mut suites, mut tests) = (Vec::new(), Vec::new());
    let mut section = None;
    for &line in lines {
        if let Some(title) = line.strip_prefix('⎯') {
            let title = title.trim_matches('⎯').trim();
            if title.starts_with("Failed Suites") {
                section = Some(&mut suites);
            } else if title.starts_with("Failed Tests") {
                section = Some(&mut tests);
            } else if !title.is_empty() && !title.starts_with('[') {
                section = None;
            }
            continue;
        }
        let Some(section) = section.as_deref_mut() else {
            continue;
        };
        if let Some(heading) = line.strip_prefix(" FAIL  ") {
            section.push(FailureText {
                heading,
                error: String::new(),
            });
        } else if let Some(told) = section.last_mut()
            && told.error.len() < crate::limits::LONGEST_MESSAGE
        {
            told.error.push_str(line);
            told.error.push('\n');
        }
    }
    // Of several with the same error, that error stands below the last one.
    for told in [&mut suites, &mut tests] {
        let mut below = String::new();
        for told in told.iter_mut().rev() {
            if told.error.is_empty() {
                told.error.clone_from(&below);
            } else {
                below.clone_from(&told.error);
            }
        }
    }
    (suites, tests)
}

impl FailureText<'_> {
    fn outcome(&self) -> Outcome {
        if is_assertion(&self.error) {
            Outcome::Failed
        } else {
            Outcome::Error
        }
    }
}

/// The tests as the verbose reporter lists them; the others list some, without their suites.
fn list(
    lines: &[&str],
    failures: &HashMap<&str, &FailureText<'_>>,
    names: &mut Names,
    counted: &mut Counted,
) {
    let mut open: Option<(String, Outcome)> = None;
    for line in lines {
        let text = line.trim_start();
        let marked = [
            ("✓ ", Outcome::Passed),
            ("× ", Outcome::Failed),
            ("↓ ", Outcome::Skipped),
            ("□ ", Outcome::Skipped),
        ]
        .into_iter()
        .find_map(|(mark, outcome)| Some((text.strip_prefix(mark)?, outcome)));
        if let Some((title, outcome)) = marked {
            open = Some((title.to_owned(), outcome));
        } else if let Some((title, _)) = open.as_mut()
            && !line.starts_with(' ')
            && !line.is_empty()
        {
            title.push('\n');
            title.push_str(line);
        } else {
            open = None;
            continue;
        }
        let Some((title, outcome)) = &open else {
            continue;
        };
        // A passed or failed one is complete with its time.
        let (title, tries) = match (outcome, without_duration(title)) {
            (Outcome::Skipped, _) => (&**title, false),
            (_, Some((title, tries))) => (title, tries),
            (_, None) => continue,
        };
        counted.flaky += u64::from(tries && *outcome == Outcome::Passed);
        if line.starts_with("   ") || !title.contains(" > ") {
            open = None;
            continue;
        }
        let file = title.split(" > ").next();
        let told = failures.get(title).filter(|_| *outcome == Outcome::Failed);
        let outcome = match (outcome, told) {
            (Outcome::Passed, _) if tries => Outcome::Flaky,
            (Outcome::Failed, Some(told)) => told.outcome(),
            (outcome, _) => *outcome,
        };
        names.every(
            title.to_owned(),
            outcome,
            told.map(|told| &*told.error),
            file,
        );
        open = None;
    }
}

/// Takes ` 4ms` and ` (retry x2)` off the end of a title, and says whether it was tried again.
fn without_duration(title: &str) -> Option<(&str, bool)> {
    let (title, tries) = match title.rsplit_once(" (retry x") {
        Some((title, number)) if number.ends_with(')') => (title, true),
        _ => (title, false),
    };
    let title = match title.rsplit_once(" (repeat x") {
        Some((title, number)) if number.ends_with(')') => title,
        _ => title,
    };
    let (title, time) = title.rsplit_once(' ')?;
    let number = time.strip_suffix("ms").or_else(|| time.strip_suffix('s'))?;
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    is_number.then_some((title, tries))
}
