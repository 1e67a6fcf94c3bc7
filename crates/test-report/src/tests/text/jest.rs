//! What jest prints.

use std::collections::{HashMap, HashSet};

use super::script::{Counted, Listed, Names, number_of, only_one, without_time};
use crate::limits::LONGEST_ID;
use crate::tests::builder::{Builder, cut};
use crate::tests::thrown::is_assertion;
use crate::tests::{Outcome, TestFormat, TestReport};
use crate::unreadable::{Kind, Unreadable};

const BROKEN: &str = "Test suite failed to run";

/// The numbers of the summary.
#[derive(Default)]
struct Summary {
    counted: Counted,
    failed_files: u64,
}

/// A failure as it is told in full: the titles, and what was thrown.
struct FailureText<'a> {
    file: &'a str,
    heading: &'a str,
    error: String,
}

pub(crate) fn read(text: &str) -> Result<TestReport, Unreadable> {
    let lines: Vec<&str> = text.lines().collect();
    let (at, summary) = match only_one(&summaries(&lines))? {
        None if lines
            .iter()
            .any(|line| line.starts_with("No tests found, exiting")) =>
        {
            return Err(Unreadable::new(Kind::Nothing, "no test was found"));
        }
        None => {
            let message = "there is no summary (`Tests: … total`) at its end";
            return Err(Unreadable::new(Kind::Truncated, message));
        }
        Some(at) => (at, Summary::of(&lines[at..])?),
    };
    let repeated = lines[..at]
        .iter()
        .position(|line| *line == "Summary of all failing tests");
    let lines = &lines[..repeated.unwrap_or(at)];
    let told = told(lines);
    let mut builder = Builder::new(TestFormat::JestText);
    let listed = listed(lines);
    let mut failures: HashMap<String, &FailureText<'_>> = HashMap::new();
    let mut names = Names::default();
    for told in told.iter().filter(|told| told.heading != BROKEN) {
        names.failure(told.id(), told.outcome(), &told.error, Some(told.file));
        failures.entry(told.id()).or_insert(told);
    }
    for case in &listed {
        let told = match case.outcome {
            Outcome::Failed => failures.get(&case.id().replace(" › ", " > ")),
            _ => None,
        };
        let outcome = told.map_or(case.outcome, |told| told.outcome());
        let message = told.map(|told| &*told.error);
        names.every(case.id(), outcome, message, Some(case.file));
    }
    names.give(&mut builder, summary.counted)?;
    broken(&told, &summary, &mut builder)?;
    builder.finish()
}

/// How sure it is that this was printed by it: the number of lines that nobody else prints. 0 is no.
pub(crate) fn signs(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let nothing = |line: &&&str| line.starts_with("No tests found, exiting with code");
    let heads = lines.iter().filter(|line| file_of(line).is_some()).count();
    let told = lines.iter().filter(|line| line.starts_with("  ● ")).count();
    // A run that was cut off has no summary, but files with failures told under them.
    let cut = if heads > 0 && told > 0 { told } else { 0 };
    summaries(&lines).len() + lines.iter().filter(nothing).count() + cut
}

/// Where the summaries begin.
fn summaries(lines: &[&str]) -> Vec<usize> {
    let begins = |pair: &[&str]| {
        pair[0].starts_with("Test Suites: ") && pair[1].starts_with("Tests:       ")
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
        // It ends with the time: without that it was cut off.
        if !lines.iter().take(5).any(|line| line.starts_with("Time:")) {
            let message = "its summary is not complete";
            return Err(Unreadable::new(Kind::Truncated, message));
        }
        let mut total = 0;
        for (line, files) in [(lines[0], true), (lines[1], false)] {
            let (_, items) = line.split_once(':').unwrap_or_default();
            for item in items.split(',') {
                let (number, what) = number_of(item)?;
                let counted = &mut summary.counted;
                match what {
                    "failed" if files => summary.failed_files = number,
                    _ if files => {}
                    "failed" => counted.failed = number,
                    "passed" => counted.passed = number,
                    "skipped" | "todo" => {
                        counted.skipped = counted.skipped.saturating_add(number);
                    }
                    "total" => total = number,
                    _ => {
                        let message = format!("its summary has {what:?}, which is not known");
                        return Err(Unreadable::new(Kind::Malformed, message));
                    }
                }
            }
        }
        let counted = &summary.counted;
        let sum = counted.passed.saturating_add(counted.failed);
        Builder::agree("tests", total, sum.saturating_add(counted.skipped))?;
        Ok(summary)
    }
}

/// The files that broke outside of their tests. No file that failed goes without a failure.
fn broken(
    told: &[FailureText<'_>],
    summary: &Summary,
    builder: &mut Builder,
) -> Result<(), Unreadable> {
    let files: HashSet<&str> = told.iter().map(|told| told.file).collect();
    for told in told.iter().filter(|told| told.heading == BROKEN) {
        let outcome = Outcome::NotCollected;
        builder.test(told.file, outcome, Some(&told.error), Some(told.file))?;
    }
    if summary.failed_files > files.len() as u64 && builder.totals().failures() == 0 {
        builder.unnamed(Outcome::Error, summary.failed_files);
    }
    Ok(())
}

/// `FAIL ./cart.test.js (5.1 s)`, of several projects also with the project's name in front.
fn file_of(line: &str) -> Option<&str> {
    // In color the word stands in a box, which is a space wider.
    let word = line.strip_prefix(' ').unwrap_or(line);
    let rest = word
        .strip_prefix("PASS ")
        .or_else(|| word.strip_prefix("FAIL "))?;
    let rest = match rest.rsplit_once(" (") {
        Some((file, time)) if time.ends_with("s)") => file,
        _ => rest,
    };
    let file = rest.rsplit(' ').next()?.trim();
    file.contains('.').then(|| file.trim_start_matches("./"))
}

/// The tests that are listed under their files, as `--verbose` has it. A title may go over several lines.
fn listed<'a>(lines: &[&'a str]) -> Vec<Listed<'a>> {
    let mut found: Vec<Listed<'a>> = Vec::new();
    let mut file: Option<&str> = None;
    let mut suites: Vec<(usize, String)> = Vec::new();
    for &line in lines {
        if let Some(begun) = file_of(line) {
            (file, suites) = (Some(begun), Vec::new());
            continue;
        }
        let Some(of) = file else { continue };
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if text.is_empty() || text.starts_with("● ") {
            file = None;
            continue;
        }
        if indent < 2 {
            match found.last_mut().filter(|last| last.file == of) {
                Some(last) => {
                    last.title.push('\n');
                    last.title.push_str(without_time(line));
                }
                None => file = None,
            }
            continue;
        }
        suites.retain(|(at, _)| *at < indent);
        let marked = [
            ("✓ ", Outcome::Passed),
            ("✕ ", Outcome::Failed),
            ("○ skipped ", Outcome::Skipped),
            ("✎ todo ", Outcome::Skipped),
        ]
        .into_iter()
        .find_map(|(mark, outcome)| Some((text.strip_prefix(mark)?, outcome)));
        let Some((title, outcome)) = marked else {
            suites.push((indent, cut(text, LONGEST_ID).to_owned()));
            continue;
        };
        found.push(Listed {
            file: of,
            suites: suites.iter().map(|(_, title)| title.clone()).collect(),
            title: without_time(title).to_owned(),
            outcome,
        });
    }
    found
}

/// The failures told in full.
fn told<'a>(lines: &[&'a str]) -> Vec<FailureText<'a>> {
    let mut found: Vec<FailureText<'_>> = Vec::new();
    let mut file = None;
    for &line in lines {
        if let Some(begun) = file_of(line) {
            file = Some(begun);
        } else if let (Some(file), Some(heading)) = (file, line.strip_prefix("  ● ")) {
            found.push(FailureText {
                file,
                heading: heading.trim(),
                error: String::new(),
            });
        } else if let Some(told) = found.last_mut()
            && file == Some(told.file)
            && told.error.len() < crate::limits::LONGEST_MESSAGE
        {
            told.error.push_str(line.trim_start_matches("    "));
            told.error.push('\n');
        }
    }
    // What tests print to the console is told under such a heading, too.
    found.retain(|told| !told.heading.starts_with("Console"));
    found
}

impl FailureText<'_> {
    fn id(&self) -> String {
        format!("{} > {}", self.file, self.heading.replace(" › ", " > "))
    }

    fn outcome(&self) -> Outcome {
        if is_assertion(&self.error) {
            Outcome::Failed
        } else {
            Outcome::Error
        }
    }
}
