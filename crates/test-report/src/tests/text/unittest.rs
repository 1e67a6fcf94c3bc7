//! What Python's `unittest` prints.
//!
//! Each failure has a heading, and the end is a row of dashes, how many tests ran, and the numbers of what is not plain. With
//! `-v` every test has a line, unless what tests print stands in between.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::tests::builder::Builder;
use crate::tests::{Outcome, TestFormat, TestReport};
use crate::unreadable::{Kind, Unreadable};

pub(crate) fn read(text: &str) -> Result<TestReport, Unreadable> {
    let lines: Vec<&str> = text.lines().collect();
    let ends = ends(&lines);
    let end = match ends.as_slice() {
        [end] => end,
        [] => {
            let message = "it has no line of how many tests ran, followed by OK or FAILED";
            return Err(Unreadable::new(Kind::Truncated, message));
        }
        [_, second, ..] => {
            let message = "another run ends here: give the report of one run";
            return Err(Unreadable::new(Kind::Mixed, message).at_line(second.line as u64 + 1));
        }
    };
    let failures = headings(&lines[..end.line]);
    let many = |outcome| failures.iter().filter(|one| one.outcome == outcome).count() as u64;
    Builder::agree("failures", end.number("failures"), many(Outcome::Failed))?;
    let errors = many(Outcome::Error) + many(Outcome::NotCollected);
    Builder::agree("errors", end.number("errors"), errors)?;
    let mut report = Builder::new(TestFormat::UnittestText);
    if let Some(tests) = every(&lines[..end.line], end, &failures) {
        let messages: HashMap<&str, &str> = failures
            .iter()
            .rev()
            .map(|one| (one.id.as_str(), one.message.as_str()))
            .collect();
        for (id, outcome) in tests {
            report.test(&id, outcome, messages.get(id.as_str()).copied(), None)?;
        }
        return report.finish();
    }
    some(end, &failures, report)
}

/// How sure it is that this was printed by it: the number of lines that nobody else prints. 0 is no.
pub(crate) fn signs(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    ends(&lines).len() + headings(&lines).len()
}

/// The end of a run.
struct End<'a> {
    /// The row of dashes.
    line: usize,
    ran: u64,
    numbers: BTreeMap<&'a str, u64>,
}

impl End<'_> {
    fn number(&self, name: &str) -> u64 {
        self.numbers.get(name).copied().unwrap_or(0)
    }
}

/// Whether a line is nothing but 70 of this character.
fn is_row(line: &str, of: char) -> bool {
    line.len() == 70 && line.chars().all(|char| char == of)
}

fn ends<'a>(lines: &[&'a str]) -> Vec<End<'a>> {
    let found = lines.windows(4).enumerate().filter_map(|(line, window)| {
        let &[row, ran, blank, result] = window else {
            return None;
        };
        if !is_row(row, '-') || !blank.is_empty() {
            return None;
        }
        let (number, took) = ran.strip_prefix("Ran ")?.split_once(" test")?;
        took.split_once(" in ")?
            .1
            .strip_suffix('s')?
            .parse::<f64>()
            .ok()?;
        let numbers = ["OK", "FAILED", "NO TESTS RAN"]
            .iter()
            .find_map(|word| result.strip_prefix(word))?
            .trim();
        let numbers = numbers
            .strip_prefix('(')
            .and_then(|inner| inner.strip_suffix(')'));
        let numbers = numbers.unwrap_or_default().split(", ").filter_map(|part| {
            let (name, number) = part.split_once('=')?;
            Some((name, number.parse().ok()?))
        });
        Some(End {
            line,
            ran: number.parse().ok()?,
            numbers: numbers.collect(),
        })
    });
    found.collect()
}

/// A heading of what failed.
struct Failure {
    id: String,
    outcome: Outcome,
    /// Whether it is no test, but the preparation of a class or module.
    preparing: bool,
    /// Whether it is a part of a test.
    is_part: bool,
    message: String,
}

fn headings(lines: &[&str]) -> Vec<Failure> {
    let rows: Vec<usize> = (0..lines.len())
        .filter(|at| is_row(lines[*at], '='))
        .collect();
    let found = rows.iter().enumerate().filter_map(|(index, row)| {
        let heading = lines.get(row + 1)?;
        let (kind, named) = heading.split_once(": ")?;
        let outcome = match kind {
            "FAIL" | "UNEXPECTED SUCCESS" => Outcome::Failed,
            "ERROR" => Outcome::Error,
            _ => return None,
        };
        // What passed unexpectedly has numbers of its own, and no text.
        if kind == "UNEXPECTED SUCCESS" {
            return None;
        }
        let (id, rest) = identified(named)?;
        let end = rows.get(index + 1).copied().unwrap_or(lines.len());
        let body: Vec<&str> = lines[row + 2..end]
            .iter()
            .copied()
            .skip_while(|line| !is_row(line, '-'))
            .skip(1)
            .collect();
        let loading = named.contains("(unittest.loader._FailedTest");
        let preparing = named
            .split(' ')
            .next()
            .is_some_and(|name| PREPARING.contains(&name));
        Some(Failure {
            preparing,
            is_part: !rest.is_empty(),
            id: if loading {
                named.split(' ').next().unwrap_or(named).to_owned()
            } else {
                id
            },
            outcome: if loading || preparing {
                Outcome::NotCollected
            } else {
                outcome
            },
            message: shown(&body),
        })
    });
    found.collect()
}

const PREPARING: [&str; 5] = [
    "setUpClass",
    "tearDownClass",
    "setUpModule",
    "tearDownModule",
    "_ErrorHolder",
];

/// What was raised: the lines behind the indented ones of the traceback, else all of it.
fn shown(body: &[&str]) -> String {
    let raised = body
        .iter()
        .rposition(|line| line.starts_with("  File ") || line.starts_with("    "));
    let from = raised.map_or(0, |at| at + 1);
    body[from..].join("\n").trim().to_owned()
}

/// The id of `test_adds (test_cart.TestCart.test_adds)`, which before Python 3.11 is `test_adds (test_cart.TestCart)`, and what
/// follows it.
fn identified(named: &str) -> Option<(String, &str)> {
    let Some((name, rest)) = named.split_once(" (") else {
        // nose2 leaves the place out.
        return (named == "_ErrorHolder").then(|| (named.to_owned(), ""));
    };
    let (place, rest) = rest.split_once(')')?;
    let is_name = |text: &str, dots: bool| {
        !text.is_empty()
            && text.chars().all(|char| {
                char.is_alphanumeric() || char == '_' || dots && matches!(char, '.' | '<' | '>')
            })
    };
    // A module that could not be loaded has the dots of the packages that it is in.
    let loading = place.starts_with("unittest.loader._FailedTest");
    if !is_name(name, loading) || !is_name(place, true) {
        return None;
    }
    let ends_so = place
        .strip_suffix(name)
        .is_some_and(|before| before.is_empty() || before.ends_with('.'));
    let id = if ends_so {
        place.to_owned()
    } else {
        format!("{place}.{name}")
    };
    Some((id, rest))
}

/// Every test by its name, where `-v` gave each a line of its own, and they are as many as the end says.
fn every(lines: &[&str], end: &End<'_>, failures: &[Failure]) -> Option<Vec<(String, Outcome)>> {
    let until = lines
        .iter()
        .position(|line| is_row(line, '='))
        .unwrap_or(lines.len());
    let mut tests: Vec<(String, Option<Outcome>)> = Vec::new();
    for line in &lines[..until] {
        if let Some((id, rest)) = identified(line.trim_start()) {
            let word = rest
                .rsplit_once(" ... ")
                .map(|(_, word)| word)
                .and_then(spoken);
            match tests.iter_mut().last() {
                // Its parts are indented, and follow it.
                Some((of, outcome)) if line.starts_with("  ") && *of == id => {
                    if word.is_some_and(Outcome::is_failure) {
                        *outcome = word;
                    }
                }
                _ => tests.push((id, word)),
            }
        } else if let Some((_, open @ None)) = tests.last_mut() {
            let word = line.rsplit_once(" ... ").map_or(*line, |(_, word)| word);
            *open = spoken(word);
        }
    }
    let places: HashMap<&str, &Failure> =
        failures.iter().map(|one| (one.id.as_str(), one)).collect();
    // Of several tests of one name the lines say which failed: as many as have a heading.
    let mut several: HashMap<String, (usize, usize)> = HashMap::new();
    for (id, outcome) in &tests {
        let (all, failed) = several.entry(id.clone()).or_default();
        *all += 1;
        *failed += usize::from(outcome.is_some_and(Outcome::is_failure));
    }
    several.retain(|_, (all, _)| *all > 1);
    for failure in failures.iter().filter(|failure| !failure.is_part) {
        if let Some((_, failed)) = several.get_mut(&failure.id) {
            *failed = failed.checked_sub(1)?;
        }
    }
    if several.values().any(|(_, failed)| *failed > 0) {
        return None;
    }
    let mut loaded = Vec::with_capacity(tests.len());
    for (id, outcome) in tests {
        let is_told = several.contains_key(&id);
        let name = id
            .strip_prefix("unittest.loader._FailedTest.")
            .map(str::to_owned);
        let id = name.unwrap_or(id);
        let outcome = match (places.get(id.as_str()), outcome?) {
            (Some(_), outcome) if is_told && !outcome.is_failure() => outcome,
            (Some(failure), _) => failure.outcome,
            (None, Outcome::Error) => return None,
            (None, outcome) => outcome,
        };
        loaded.push((id, outcome));
    }
    let of = |wanted| {
        loaded
            .iter()
            .filter(|(_, outcome)| *outcome == wanted)
            .count() as u64
    };
    let preparing = failures.iter().filter(|one| one.preparing).count() as u64;
    let known: HashSet<&str> = loaded.iter().map(|(id, _)| id.as_str()).collect();
    let complete = loaded.len() as u64 == end.ran.saturating_add(preparing)
        && of(Outcome::Skipped) == end.number("skipped")
        && of(Outcome::ExpectedFailure) == end.number("expected failures")
        && failures.iter().all(|one| known.contains(one.id.as_str()));
    complete.then_some(loaded)
}

fn spoken(word: &str) -> Option<Outcome> {
    Some(match word.trim_end() {
        "ok" => Outcome::Passed,
        "FAIL" | "unexpected success" => Outcome::Failed,
        "ERROR" => Outcome::Error,
        "expected failure" => Outcome::ExpectedFailure,
        word if word.starts_with("skipped ") => Outcome::Skipped,
        _ => return None,
    })
}

/// The numbers of the end, with the names of what failed. A test of which several parts failed is one, and so is one that failed and
/// broke; with two headings of one kind there are two of its name.
fn some(
    end: &End<'_>,
    failures: &[Failure],
    mut report: Builder,
) -> Result<TestReport, Unreadable> {
    let mut seen: BTreeMap<&str, &Failure> = BTreeMap::new();
    let mut tests = 0;
    for failure in failures {
        let before = seen.insert(&failure.id, failure);
        let is_other = before.is_none_or(|before| {
            let is_part = before.is_part || failure.is_part;
            !is_part && before.outcome == failure.outcome && tests < end.ran
        });
        if is_other {
            tests += u64::from(!failure.preparing);
            let (id, message) = (failure.id.as_str(), failure.message.as_str());
            report.test(id, failure.outcome, Some(message), None)?;
        }
    }
    let unexpected = end.number("unexpected successes");
    let expected = end.number("expected failures");
    let skipped = end.number("skipped");
    let apart = [tests, unexpected, expected]
        .into_iter()
        .fold(0, u64::saturating_add);
    if apart > end.ran {
        let message = format!(
            "it declares {} tests, and {apart} failures are in it",
            end.ran
        );
        return Err(Unreadable::new(Kind::Contradiction, message));
    }
    report.unnamed(Outcome::Failed, unexpected);
    report.unnamed(Outcome::ExpectedFailure, expected);
    report.unnamed(Outcome::Skipped, skipped);
    // Skipped classes are not among those that ran, so that this is the least that passed.
    report.unnamed(Outcome::Passed, (end.ran - apart).saturating_sub(skipped));
    report.finish()
}
