//! The ledger of tests: what each of them did, by name, and what that says beside what it did before.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use ::test_report::{Named, Outcome, TestFormat, TestReport};
use journal::EvidenceStore;
use serde::{Deserialize, Serialize};

use super::naming::{function, outcomes};
use crate::fault::{Fault, Kind};

/// What each test did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// The format of the report: ids of two formats are not the same ids.
    pub format: TestFormat,
    /// Whether every test of the report is in it.
    pub every: bool,
    /// Outcome by id. Each test of one id has its own: the second is `ID (2)`.
    pub tests: BTreeMap<Box<str>, Outcome>,
}

impl Ledger {
    /// That of a report.
    pub fn of(report: &TestReport) -> Self {
        let tests = outcomes(report);
        // Files that could not be read are all named, by runners too that name no test that passes.
        let any_ran = tests
            .values()
            .any(|outcome| *outcome != Outcome::NotCollected);
        Self {
            format: report.format,
            every: report.named == Named::Every && any_ran && !lists_by_the_way(report.format),
            tests,
        }
    }

    /// Whether it has any test.
    pub fn names_any(&self) -> bool {
        !self.tests.is_empty()
    }

    /// The ids whose outcome is such.
    pub fn those(&self, such: impl Fn(Outcome) -> bool) -> impl Iterator<Item = &str> {
        self.tests
            .iter()
            .filter(move |(_, outcome)| such(**outcome))
            .map(|(id, _)| &**id)
    }

    /// The ids that failed.
    pub fn failing(&self) -> impl Iterator<Item = &str> {
        self.those(Outcome::is_failure)
    }

    /// What a test did.
    pub fn outcome(&self, id: &str) -> Option<Outcome> {
        self.tests.get(id).copied()
    }

    /// The same where the tests of a file have the names that they have `now`, which lies elsewhere since.
    #[must_use]
    pub fn moved(self, (from, to): (&str, &str), now: &Self) -> Self {
        let key = |file| move |id: &str| behind(id, stem(file)).map(str::to_owned);
        let added = now.added_to([Some(&self), None]);
        self.renamed(now, &added, [&key(from), &key(to)])
    }

    /// The same where a test that moved with its module has the name of one that was `added`, and passes.
    #[must_use]
    pub fn with_modules_of(self, now: &Self, added: &[(Outcome, Box<str>)]) -> Self {
        let last = |id: &str| id.rsplit_once("::").map(|(_, last)| last.to_owned());
        let passes = |id: &str| now.outcome(id).is_some_and(Outcome::is_success);
        let of_added = |id: &str| last(id).filter(|_| passes(id));
        self.renamed(now, added, [&last, &of_added])
    }

    /// Whether each test of a file that is not there `now` is there under the name that it has in the file's new place.
    pub fn came_along(&self, (from, to): (&str, &str), now: &Self) -> bool {
        let folder = |path: &str| path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
        // Cargo builds each file of the folder, under its name, and its tests are named without that.
        let is_built_anyway = self.format == TestFormat::CargoText && folder(from) == folder(to);
        let (from, to) = (stem(from), stem(to));
        let mut gone = self
            .tests
            .iter()
            .filter(|(id, _)| !now.tests.contains_key(*id))
            .filter_map(|(id, outcome)| Some((behind(id, from)?, *outcome)))
            .peekable();
        if gone.peek().is_none() {
            return true;
        }
        let there: HashSet<&str> = now.tests.keys().filter_map(|id| behind(id, to)).collect();
        let is_new = |id: &str| !self.tests.contains_key(id);
        // What could not be loaded has not yet told its tests.
        gone.all(|(rest, outcome)| match outcome {
            Outcome::NotCollected if is_built_anyway => now.those(|_| true).any(is_new),
            Outcome::NotCollected => !there.is_empty(),
            _ => there.contains(rest),
        })
    }

    /// Whether both give tests the same ids.
    pub fn names_alike(&self, other: &Self) -> bool {
        self.format.names_alike(other.format)
    }

    /// Whether a test failed here.
    pub fn fails(&self, id: &str) -> bool {
        self.outcome(id).is_some_and(Outcome::is_failure)
    }

    /// The ids that fail, and did not before.
    pub fn newly_failing(&self, before: Option<&Self>) -> Vec<String> {
        self.failing()
            .filter(|id| before.is_none_or(|before| !before.fails(id)))
            .map(str::to_owned)
            .collect()
    }

    /// Keeps it with the run, and returns its hash.
    pub fn keep(&self, dir: &Path) -> Result<String, Fault> {
        let bytes = serde_json::to_vec(self).map_err(|error| Fault::bug(error.to_string()))?;
        Ok(EvidenceStore::new(dir).put(&bytes)?)
    }

    /// The one with that hash.
    pub fn read(dir: &Path, hash: &str) -> Result<Self, Fault> {
        let bytes = EvidenceStore::new(dir).get(hash)?;
        serde_json::from_slice(&bytes).map_err(|error| {
            Fault::new(
                Kind::Environment,
                "journal_damaged",
                format!("the ledger of tests {hash} cannot be read: {error}"),
            )
            .suggest("see `tm log verify`")
        })
    }
}

/// Whether a runner lists tests in one run and not in the next: Jest those of a run of one file, and of more only files; Go without
/// `-v` those that fail, and of all others only the packages. What is not listed is then not missing.
pub fn lists_by_the_way(format: TestFormat) -> bool {
    matches!(format, TestFormat::JestText | TestFormat::GoText)
}

/// What a GREEN owes to what was there before it.
#[derive(Debug, Default)]
pub struct Requirements<'a> {
    /// The last accepted ledger before RED, or the baseline.
    pub before: Option<&'a Ledger>,
    /// That of RED.
    pub red: Option<&'a Ledger>,
    /// The ids that failed newly in RED.
    pub new: Vec<String>,
    /// Whether RED failed before any test was heard of, so that none has a name there.
    pub nameless: bool,
    /// Whether RED was verified and what is known of before was not: what passed in RED did not fail before.
    pub red_tells_more: bool,
}

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
    /// No test is there that was not before, though RED had only such as could not be collected.
    pub no_new: bool,
    /// Files with new tests of RED that had no name there, and have none now.
    pub unreported: Vec<String>,
}

impl TestProblems {
    /// Whether nothing is wrong.
    pub fn is_none(&self) -> bool {
        self.missing.is_empty()
            && self.skipped.is_empty()
            && self.excused.is_empty()
            && !self.no_new
            && self.unreported.is_empty()
    }
}

impl Requirements<'_> {
    /// The tests that passed before, or failed in RED, and do not run now. `removed` says which were taken out on purpose, of those
    /// that passed in RED and of the others.
    pub fn lacking(&self, now: &Ledger, removed: impl Fn(&str, bool) -> bool) -> TestProblems {
        let comparable = |ledger: &&Ledger| ledger.names_alike(now);
        let before = self.before.filter(|before| comparable(before));
        let red = self.red.filter(|red| comparable(red));
        let mut owed: Vec<&str> = before
            .into_iter()
            .chain(red)
            .flat_map(|ledger| ledger.those(Outcome::is_success))
            .collect();
        let collected =
            |id: &&str| red.and_then(|red| red.outcome(id)) != Some(Outcome::NotCollected);
        let new: HashSet<&str> = self.new.iter().map(String::as_str).collect();
        owed.extend(new.iter().copied().filter(collected));
        owed.sort_unstable();
        owed.dedup();
        // Who was expected to fail already may go on so; for others that is no way to pass.
        let excused = |id: &str| {
            let ledgers = [before, red].into_iter().flatten();
            ledgers
                .clone()
                .any(|ledger| ledger.outcome(id) == Some(Outcome::ExpectedFailure))
        };
        let in_red = |id: &str| red.is_some_and(|red| red.tests.contains_key(id));
        let mut lacking = TestProblems::default();
        for id in owed {
            match now.outcome(id) {
                Some(Outcome::Skipped) => lacking.skipped.push(id.to_owned()),
                Some(Outcome::ExpectedFailure) if !excused(id) => {
                    lacking.excused.push(id.to_owned());
                }
                None if now.every && (new.contains(id) || !removed(id, in_red(id))) => {
                    lacking.missing.push(id.to_owned());
                }
                _ => {}
            }
        }
        // What lists no tests of a package that passed has the package for them.
        let is_package = |id: &str| {
            let of_it = format!("{id}/");
            let ledgers = [before, red].into_iter().flatten();
            ledgers.clone().any(|ledger| ledger.format != now.format)
                && now.tests.keys().any(|test| test.starts_with(&of_it))
        };
        // Node names a test that failed before its subtests began, and one that has come to them by these alone.
        let is_parent = |id: &str| {
            let (title, suite) = (format!("{id} > "), format!("{id}::"));
            let mut passing = now.those(Outcome::is_success);
            passing.any(|test| test.starts_with(&title) || test.starts_with(&suite))
        };
        lacking
            .missing
            .retain(|id| !is_package(id) && !is_parent(id));
        // Who is expected to fail shows nothing by that.
        let really = |outcome| matches!(outcome, Outcome::Passed | Outcome::Flaky);
        if !lacking.missing.is_empty() {
            let passing = now.those(really);
            let functions: HashSet<&str> = passing.map(|id| function(id).unwrap_or(id)).collect();
            let still_runs = |id: &mut String| {
                let function = function(id).filter(|_| !new.contains(id.as_str()));
                function.is_some_and(|function| functions.contains(function))
            };
            lacking.fewer = lacking.missing.extract_if(.., still_runs).collect();
        }
        // RED named files or packages that could not be built: which tests are in them shows only now.
        // Where a runner names nothing smaller, they are what passes now.
        let built = |id: &&str| now.outcome(id).is_some_and(Outcome::is_success);
        let unbuilt = !new.is_empty() && !new.iter().any(|id| collected(id) || built(id));
        lacking.no_new = (unbuilt || self.nameless)
            && now.every
            && before
                .is_some_and(|before| !now.those(really).any(|id| !before.tests.contains_key(id)));
        lacking
    }

    /// The ids that fail now as they did before RED: they may go on failing.
    pub fn known<'b>(&'b self, now: &'b Ledger) -> impl Iterator<Item = &'b str> {
        let before = self.before.filter(|before| before.names_alike(now));
        let new: HashSet<&str> = self.new.iter().map(String::as_str).collect();
        let red = self
            .red
            .filter(|red| self.red_tells_more && red.names_alike(now));
        let passed = move |id: &str| {
            red.and_then(|red| red.outcome(id))
                .is_some_and(Outcome::is_success)
        };
        now.failing().filter(move |id| {
            before.is_some_and(|before| before.fails(id)) && !new.contains(id) && !passed(id)
        })
    }
}

/// A file's name without its folders and its ending, as it stands in the names of its tests.
fn stem(path: &str) -> &str {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// What stands in the id of a test behind the name of its file; none where that is not in it.
fn behind<'a>(id: &'a str, stem: &str) -> Option<&'a str> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let places = id.match_indices(stem).filter_map(|(at, _)| {
        let (before, behind) = (&id[..at], &id[at + stem.len()..]);
        let is_whole = !before.ends_with(is_word) && !behind.starts_with(is_word);
        is_whole.then_some(behind)
    });
    places.last()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests by their ids, each with a sign behind it: it passes `+`, fails `-`, is skipped `?`, is expected to fail `~`, or was
    /// not collected `!`.
    fn ledger(tests: &str) -> Ledger {
        let one = |test: &str| {
            let (id, sign) = test.split_at(test.len() - 1);
            let outcome = match sign {
                "+" => Outcome::Passed,
                "-" => Outcome::Failed,
                "?" => Outcome::Skipped,
                "~" => Outcome::ExpectedFailure,
                _ => Outcome::NotCollected,
            };
            (id.into(), outcome)
        };
        Ledger {
            format: TestFormat::Junit,
            every: true,
            tests: tests.split(", ").map(one).collect(),
        }
    }

    /// What is owed after these.
    fn owed<'a>(before: Option<&'a Ledger>, red: Option<&'a Ledger>) -> Requirements<'a> {
        Requirements {
            before,
            red,
            new: red.map_or_else(Vec::new, |red| red.newly_failing(before)),
            ..Requirements::default()
        }
    }

    /// What is said of these tests.
    fn said(owed: &Requirements<'_>, now: &Ledger, removed: &str) -> String {
        let lacking = owed.lacking(now, |id, _| id == removed);
        let lists = [
            ("missing", lacking.missing),
            ("skipped", lacking.skipped),
            ("excused", lacking.excused),
            ("fewer", lacking.fewer),
            (
                "no new",
                vec!["one".to_owned(); usize::from(lacking.no_new)],
            ),
        ];
        let lists = lists.into_iter().filter(|(_, ids)| !ids.is_empty());
        let lists: Vec<String> = lists
            .map(|(what, ids)| format!("{what}: {}", ids.join(" ")))
            .collect();
        lists.join(", ")
    }

    /// Holds what is said of tests after others against what is expected.
    fn hold(before: &str, red: &str, rows: &[(&str, &str)]) {
        let known = [before, red].map(|tests| (!tests.is_empty()).then(|| ledger(tests)));
        let owed = owed(known[0].as_ref(), known[1].as_ref());
        for (now, expected) in rows {
            assert_eq!(said(&owed, &ledger(now), ""), *expected, "{now}");
        }
    }

    #[test]
    fn a_test_that_failed_before_its_subtests_is_answered_by_these() {
        hold(
            "",
            "parent-, other-",
            &[
                ("parent > one+, other+", ""),
                ("parent::one+, other+", ""),
                ("parent > one+", "missing: other"),
                ("parent::one+", "missing: other"),
                ("parent > one-, other+", "missing: parent"),
                ("parents > one+", "missing: other parent"),
            ],
        );
    }

    #[test]
    fn what_passed_before_or_failed_in_red_is_owed() {
        let rows = [
            ("a+, b+, old-, new+", ""),
            ("a+, b?", "missing: new, skipped: b"),
        ];
        hold("a+, b+, old-", "a+, b+, old-, new-", &rows);
        let before = ledger("a+, b+, old-");
        let owed = owed(Some(&before), None);
        let fewer = ledger("b+");
        let removed = ["", "a"].map(|removed| said(&owed, &fewer, removed));
        assert_eq!(removed, ["missing: a", ""]);
        assert_eq!(owed.known(&before).collect::<Vec<_>>(), ["old"]);
        // Ids of another format are not compared.
        let other = Ledger {
            format: TestFormat::Tap,
            ..fewer
        };
        assert_eq!(said(&owed, &other, ""), "");
    }

    type Renamed = fn(Ledger, &Ledger, &[(Outcome, Box<str>)]) -> Ledger;

    /// The same where tests of before may have other names now.
    fn hold_renamed(renamed: Renamed, before: &str, red: &str, rows: &[(&str, &str)]) {
        let (before, red) = (ledger(before), ledger(red));
        for (now, expected) in rows {
            let now = ledger(now);
            let added = now.added_to([Some(&before), Some(&red)]);
            let known = [&before, &red].map(|known| renamed(known.clone(), &now, &added));
            let owed = owed(Some(&known[0]), Some(&known[1]));
            assert_eq!(said(&owed, &now, ""), *expected, "{now:?}");
        }
    }

    #[test]
    fn cases_that_are_gone_are_judged_by_their_function() {
        hold_renamed(
            Ledger::with_cases_of,
            "o[1]+, o[2]+, own+",
            "o[1]+, o[2]+, own+, n[a]-, n[b]+",
            &[
                // Each case has another name than before.
                ("o[3]+, o[4]+, own+, n[c]+, n[d]+", ""),
                // Fewer cases are no problem, unless one of them failed in RED, or none is left.
                ("o[1]+, own+, n[a]+", "fewer: n[b] o[2]"),
                ("o[3]+, o[4]+, own+, n[b]+", "missing: n[a]"),
                ("o[3]+, o[4]+, own+", "missing: n[a] n[b]"),
                ("own+, n[c]+, n[d]+", "missing: o[1] o[2]"),
                // A test without parameters is no case of another.
                ("o[1]+, o[2]+, own2+, n[a]+, n[b]+", "missing: own"),
                // What stands for a case has to pass itself.
                ("o[3]+, o[4]+, own+, n[c]?, n[d]+", "skipped: n[c]"),
                ("o[3]+, o[4]+, own+, n[c]~", "missing: n[b], excused: n[c]"),
            ],
        );
    }

    #[test]
    fn a_test_that_moves_with_its_module_is_no_other() {
        let twice = "a::tests::twice-";
        hold_renamed(
            Ledger::with_modules_of,
            "a::tests::counts+, tests::counts+",
            twice,
            &[
                ("b::tests::counts+, b::tests::twice+, tests::counts+", ""),
                // One that comes stands for one that goes, and only if it passes.
                (
                    "b::tests::counts+, b::tests::twice?",
                    "missing: a::tests::counts a::tests::twice",
                ),
                (
                    "a::tests::counts_much+, a::tests::twice+, tests::counts+",
                    "missing: a::tests::counts",
                ),
            ],
        );
    }

    #[test]
    fn to_expect_a_failure_is_not_to_pass() {
        let rows = [
            ("a+, todo~, new+", ""),
            ("a~, todo~, new~", "excused: a new"),
        ];
        hold("a+, todo~", "a+, todo~, new-", &rows);
    }

    #[test]
    fn a_red_that_did_not_build_is_answered_by_a_test_that_was_not_there() {
        let rows = [
            ("a+", "no new: one"),
            ("a+, b~", "no new: one"),
            ("a+, b+", ""),
            ("a+, shop+", ""),
        ];
        hold("a+", "shop!", &rows);
    }

    #[test]
    fn the_tests_of_a_file_that_moves_have_other_names() {
        let red =
            ledger("t/sum.ts > adds-, t/sum.ts > adds more+, t/my_sum.ts > adds+, other > adds+");
        let way = ("t/sum.ts", "t/of/sums.ts");
        for (now, came_along) in [
            ("t/of/sums.ts > adds+, other > adds+", false),
            ("t/other.ts > adds+, t/other.ts > adds more+", false),
            ("t/of/sums.ts > adds+, t/of/sums.ts > adds more+", true),
        ] {
            assert_eq!(red.came_along(way, &ledger(now)), came_along, "{now}");
        }
        let now = "t/of/sums.ts > adds+, t/my_sum.ts > adds+, other > adds+";
        let moved = red.moved(way, &ledger(now));
        let (from, to) = way;
        let outcome = |file: &str, name: &str| moved.outcome(&format!("{file} > {name}"));
        assert_eq!(outcome(to, "adds"), Some(Outcome::Failed));
        // What did not come with it is missing under its old name.
        assert_eq!(outcome(from, "adds more"), Some(Outcome::Passed));
        assert_eq!(outcome(from, "adds"), None);
    }
}
