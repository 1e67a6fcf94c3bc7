//! Tests that were there and are not among those that pass: which they are, and which have only another name.

use std::collections::{HashMap, HashSet};

use ::test_report::Outcome;

use super::Given;
use crate::capability::tests::difference::Difference;
use crate::capability::tests::evidence::names::{function, last_part, pattern};

/// What is wrong with the tests of a report, by id.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TestProblems {
    /// They are not there any more.
    pub missing: Vec<String>,
    /// They are there, and were not run.
    pub skipped: Vec<String>,
    /// They are expected to fail now, and were not before.
    pub excused: Vec<String>,
    /// They are not there any more, and other cases of their functions are: no problem, but reported.
    pub fewer: Vec<String>,
    /// No test is there that was not before, though those that failed could not be built.
    pub no_new: bool,
}

impl Given<'_> {
    /// The tests that passed before, or failed in the report of failing tests, and do not run now.
    pub fn lacking(&self) -> TestProblems {
        let Some(now) = self.now else {
            return TestProblems::default();
        };
        let (base, red) = (self.base_alike(), self.red_alike());
        let ledgers = || base.into_iter().chain(red);
        let was = |id: &str, such: fn(Outcome) -> bool| {
            ledgers().any(|ledger| ledger.outcome(id).is_some_and(such))
        };
        let new = red.map_or_else(Vec::new, |_| self.owed_new());
        let new: HashSet<String> = new.into_iter().collect();
        let is_built =
            |id: &&String| red.and_then(|red| red.outcome(id)) != Some(Outcome::NotCollected);
        let passed = ledgers().flat_map(|ledger| ledger.those(Outcome::is_success));
        let mut owed: Vec<&str> = passed
            .chain(new.iter().filter(is_built).map(String::as_str))
            .collect();
        owed.sort_unstable();
        owed.dedup();
        let mut lacking = TestProblems::default();
        for id in owed {
            match now.outcome(id) {
                Some(Outcome::Skipped) => lacking.skipped.push(id.to_owned()),
                // Who was expected to fail already may go on so; for others that is no way to pass.
                Some(Outcome::ExpectedFailure)
                    if !was(id, |outcome| outcome == Outcome::ExpectedFailure) =>
                {
                    lacking.excused.push(id.to_owned());
                }
                None if now.every && (new.contains(id) || !self.was_removed(id)) => {
                    lacking.missing.push(id.to_owned());
                }
                _ => {}
            }
        }
        let really = |outcome| matches!(outcome, Outcome::Passed | Outcome::Flaky);
        // Node names a test that failed before its subtests began, and one that has come to them by these alone.
        lacking.missing.retain(|id| {
            let (title, suite) = (format!("{id} > "), format!("{id}::"));
            let mut passing = now.those(Outcome::is_success);
            !passing.any(|test| test.starts_with(&title) || test.starts_with(&suite))
        });
        // Of those that are gone since the failing tests were shown, and of those that were gone then, each by itself.
        let is_of_red = |id: &mut String| red.is_some_and(|red| red.outcome(id).is_some());
        let of_red: Vec<String> = lacking.missing.extract_if(.., is_of_red).collect();
        for (mut missing, known) in [(std::mem::take(&mut lacking.missing), base), (of_red, red)] {
            let is_new = |id: &&str| known.is_some_and(|known| known.outcome(id).is_none());
            let mut came: Vec<&str> = now.those(really).filter(is_new).collect();
            stand_in(&mut missing, &mut came, pattern);
            stand_in(&mut missing, &mut came, |id| {
                last_part(id).unwrap_or(id).to_owned()
            });
            lacking.missing.extend(missing);
        }
        lacking.missing.sort_unstable();
        if !lacking.missing.is_empty() {
            let functions: HashSet<&str> = now.those(really).filter_map(function).collect();
            let still_runs = |id: &mut String| {
                let function = function(id).filter(|_| !new.contains(id.as_str()));
                function.is_some_and(|function| functions.contains(function))
            };
            lacking.fewer = lacking.missing.extract_if(.., still_runs).collect();
        }
        // What could not be built was named by its file or its package, or not at all: which tests are in it shows only now.
        let passes = |id: &String| now.outcome(id).is_some_and(Outcome::is_success);
        let is_unbuilt = !new.is_empty() && !new.iter().any(|id| is_built(&id) || passes(id));
        let is_nameless = self.red.is_some_and(|red| {
            let (errors, failing) = red.errors;
            red.ledger.is_none() && errors > 0 && errors == failing
        });
        // Tests of before that were changed are known by no name.
        let changes_old = |one: &Difference| one.brings() && one.before.is_some();
        lacking.no_new = (is_unbuilt || is_nameless)
            && now.every
            && !self.of_item.iter().any(changes_old)
            && base.is_some_and(|base| now.those(really).all(|id| base.tests.contains_key(id)));
        lacking
    }
}

/// Takes out of these tests each one that has the key of one that came; each of those stands for one.
fn stand_in(missing: &mut Vec<String>, came: &mut Vec<&str>, key: impl Fn(&str) -> String) {
    if missing.is_empty() || came.is_empty() {
        return;
    }
    let mut free: HashMap<String, Vec<&str>> = HashMap::new();
    for id in came.iter() {
        free.entry(key(id)).or_default().push(id);
    }
    missing.retain(|id| free.get_mut(&key(id)).and_then(Vec::pop).is_none());
    let left: HashSet<&str> = free.into_values().flatten().collect();
    came.retain(|id| left.contains(id));
}
