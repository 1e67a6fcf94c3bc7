//! What pytest prints.
//!
//! Its last line has the numbers. In front of it stands what became of each test, in letters or (with `-v`) in words, and the list
//! of those that failed. With words for all of them every test is known; else the numbers count, and the list gives names.

mod lines;

use std::collections::{BTreeSet, HashMap};

use crate::tests::builder::Builder;
use crate::tests::{Outcome, TestFormat, TestReport};
use crate::unreadable::{Kind, Unreadable};
use lines::{Counts, PrintedOutput, Word};

pub(crate) fn read(text: &str) -> Result<TestReport, Unreadable> {
    let told = lines::read(text)?;
    let failing = told.counts.failed.saturating_add(told.counts.errors);
    if told.letters > failing {
        let message = format!(
            "its last line has {failing} failures and errors, and {} are in it",
            told.letters
        );
        return Err(Unreadable::new(Kind::Contradiction, message));
    }
    match every(&told) {
        Some(tests) => {
            let mut report = Builder::new(TestFormat::PytestText);
            let messages = told.messages();
            for (id, outcome) in tests {
                report.test(id, outcome, messages.get(id).copied(), file(id))?;
            }
            report.finish()
        }
        None => some(&told),
    }
}

/// How sure it is that this was printed by it: the number of lines that nobody else prints. 0 is no.
pub(crate) fn signs(text: &str) -> usize {
    lines::signs(text)
}

/// Every test by its name, where there is a word for each, and they are as many as the last line says.
fn every<'a>(told: &PrintedOutput<'a>) -> Option<Vec<(&'a str, Outcome)>> {
    let mut counted = Counts::default();
    for (_, word) in &told.words {
        counted.count(*word, 1);
    }
    let in_parts = |told: &[(&str, Word, Option<&str>)]| {
        told.iter()
            .filter(|(_, word, _)| *word == Word::PartFailed)
            .count() as u64
    };
    // With its output captured, pytest does not always write what became of the parts.
    let listed = in_parts(&told.listed);
    let parts = told
        .words
        .iter()
        .filter(|(_, word)| *word == Word::PartFailed)
        .count() as u64;
    counted.failed += listed.saturating_sub(parts);
    counted.errors += told.uncollected.len() as u64;
    if counted != told.counts.of_tests() {
        return None;
    }
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut tests: Vec<(&str, Vec<Word>)> = Vec::new();
    let parts = told
        .listed
        .iter()
        .filter(|(_, word, _)| *word == Word::PartFailed);
    for (id, word) in told
        .words
        .iter()
        .copied()
        .chain(parts.map(|(id, word, _)| (*id, *word)))
    {
        let place = *places.entry(id).or_insert_with(|| {
            tests.push((id, Vec::new()));
            tests.len() - 1
        });
        if !tests[place].1.contains(&word) {
            tests[place].1.push(word);
        }
    }
    let mut named: Vec<(&str, Outcome)> = told
        .uncollected
        .iter()
        .map(|id| (*id, Outcome::NotCollected))
        .collect();
    named.extend(tests.into_iter().map(|(id, words)| (id, outcome(&words))));
    Some(named)
}

/// What a test came to that has several words: one for its teardown, for its parts, for each time that it was tried.
fn outcome(words: &[Word]) -> Outcome {
    let has = |word| words.contains(&word);
    if has(Word::Failed) || has(Word::PartFailed) {
        Outcome::Failed
    } else if has(Word::Error) {
        Outcome::Error
    } else if has(Word::Rerun) {
        Outcome::Flaky
    } else if has(Word::Xfail) {
        Outcome::ExpectedFailure
    } else if has(Word::Passed) || has(Word::Xpass) || has(Word::PartPassed) {
        Outcome::Passed
    } else {
        Outcome::Skipped
    }
}

/// The numbers of the last line, with the names that are listed.
fn some(told: &PrintedOutput<'_>) -> Result<TestReport, Unreadable> {
    let counts = &told.counts;
    let mut report = Builder::new(TestFormat::PytestText);
    let uncollected = counts
        .errors
        .min(told.collection_errors.max(told.uncollected.len() as u64));
    let mut left = [
        (Outcome::Failed, counts.failed),
        (Outcome::Error, counts.errors - uncollected),
        (Outcome::NotCollected, uncollected),
        (Outcome::Skipped, counts.skipped),
        (Outcome::ExpectedFailure, counts.xfailed),
        (Outcome::Flaky, 0),
        (
            Outcome::Passed,
            counts.passed.saturating_add(counts.xpassed),
        ),
    ];
    let failed: BTreeSet<&str> = told
        .listed
        .iter()
        .filter(|(_, word, _)| matches!(word, Word::Failed | Word::Error | Word::PartFailed))
        .map(|(id, ..)| *id)
        .collect();
    let again: BTreeSet<&str> = told
        .listed
        .iter()
        .filter(|(id, word, _)| *word == Word::Rerun && !failed.contains(id))
        .map(|(id, ..)| *id)
        .collect();
    let flaky = (again.len() as u64).min(counts.passed);
    left[5].1 = flaky;
    left[6].1 -= flaky;
    let named = told
        .listed
        .iter()
        .filter_map(|(id, word, message)| {
            let outcome = match word {
                Word::Failed | Word::PartFailed => Outcome::Failed,
                Word::Error => Outcome::Error,
                Word::Xfail => Outcome::ExpectedFailure,
                Word::Passed if again.contains(id) => Outcome::Flaky,
                Word::Passed | Word::Xpass => Outcome::Passed,
                _ => return None,
            };
            Some((*id, outcome, *message))
        })
        .chain(
            told.uncollected
                .iter()
                .map(|id| (*id, Outcome::NotCollected, None)),
        );
    for (id, outcome, message) in named {
        let room = left
            .iter_mut()
            .find(|(of, left)| *of == outcome && *left > 0);
        if let Some((_, left)) = room {
            *left -= 1;
            report.test(id, outcome, message, file(id))?;
        }
    }
    for (outcome, left) in left {
        report.unnamed(outcome, left);
    }
    if counts.rerun > 0 && again.is_empty() {
        report.note(format!(
            "{} times a test was tried again; which of them passed then is not said: -v or -rA says it",
            counts.rerun
        ));
    }
    report.finish()
}

/// The file of a test: what is in front of the first `::`.
fn file(id: &str) -> Option<&str> {
    let file = id.split("::").next()?;
    file.strip_suffix(".py").map(|_| file)
}
