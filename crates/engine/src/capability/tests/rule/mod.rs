//! The rule of the phases: what there is to say of a report, from what each test did, what differs between trees, and what the report is
//! for. Nothing is read here, and nobody asked.

use std::collections::{BTreeMap, HashSet};

use ::test_report::Outcome;
use machine::role::{FileClass, Shows};
use machine::{Finding, Role};
use workspace::config::Level;
use workspace::git::{Oid, TreeEntry};

use crate::capability::git::read::{finding, with_files, with_tests};
use crate::capability::messages::tests;
use crate::capability::tests::difference::{Difference, Protected, names};
use crate::capability::tests::evidence::is_meant;
use crate::capability::tests::evidence::ledger::Ledger;
use crate::capability::tests::read::few;
use crate::capability::tests::results::Counts;
use crate::next_step::{Argument, NextStep, Verb};

/// What is given of a report.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// What it is for.
    pub role: &'a Role,
    /// The item that it is of.
    pub item: Option<&'a str>,
    /// What people call the report that it is held against.
    pub against: &'a str,
    /// Its evidence.
    pub level: Level,
    /// Its numbers.
    pub counts: &'a Counts,
    /// What each test did.
    pub now: Option<&'a Ledger>,
    /// What each did before the item, where that is known.
    pub base: Option<&'a Ledger>,
    /// What the report of failing tests showed, where it is held against one.
    pub red: Option<Red<'a>>,
    /// Tests that were taken out on purpose.
    pub removed: &'a [String],
    /// Tests that failed before the item and are to pass with it: what each did before does not count.
    pub repairs: &'a [String],
    /// The names by which the caller means such tests.
    pub named_repairs: &'a [String],
    /// What differs since the item began.
    pub of_item: &'a [Difference],
    /// What differs since the report that it is held against, and the tree that this was about.
    pub since: Option<(&'a Oid, &'a [Difference])>,
    /// What the tests of a report of failing tests did without the product that was written already.
    pub without_product: Option<&'a Ledger>,
    /// What the tests of the report of failing tests did, where others came to them since, or they have another form: their numbers,
    /// and what each of them did.
    pub with_tests_of_red: Option<(&'a Counts, Option<&'a Ledger>)>,
    /// Files of tests that git ignores.
    pub ignored: &'a [String],
    /// Files that were changed before the run, and are as they were then.
    pub untouched: &'a [String],
}

/// What a report of failing tests showed.
#[derive(Debug, Clone, Copy)]
pub struct Red<'a> {
    /// What each test did, where it named them.
    pub ledger: Option<&'a Ledger>,
    /// The tests that failed newly, as far as they were kept.
    pub new: &'a [String],
    /// How many could not be built, of how many that failed.
    pub errors: (u64, u64),
    /// How many ran.
    pub ran: u64,
}

/// A policy, and what finds it.
pub type Policy = (&'static str, fn(&Given<'_>) -> Option<Finding>);

/// The policies of tests that need nothing but what is given.
pub const POLICIES: [Policy; 9] = [
    ("red_without_tests", red_without_tests),
    ("no_new_failure", no_new_failure),
    ("tests_changed", tests_changed),
    ("tests_changed", passes_by_what_was_added),
    ("runner_config_changed", runner_config_changed),
    ("green_without_change", green_without_change),
    ("other_files_changed", other_files_changed),
    ("no_test_written", no_test_written),
    ("tests_missing", tests_missing),
];

/// Those of them that do not wait for what the tests do: they can be told before any is run.
pub const BEFORE_THE_SUITE: [Policy; 4] = [POLICIES[0], POLICIES[2], POLICIES[4], POLICIES[6]];

/// What all of these policies have to say.
pub fn findings(policies: &[Policy], given: &Given<'_>) -> Vec<Finding> {
    let found = policies.iter().filter_map(|(policy, of)| {
        let found = of(given)?;
        debug_assert_eq!(found.policy, *policy);
        Some(found)
    });
    found.collect()
}

impl Given<'_> {
    fn is_red(&self) -> bool {
        self.role.shows == Some(Shows::NewFailure)
    }

    /// Whether it is a report of an item whose tests pass.
    fn is_green(&self) -> bool {
        self.role.shows.is_none() && self.role.suite.is_none()
    }

    /// What was known before, where its names are those of this report.
    fn base_alike(&self) -> Option<&Ledger> {
        let now = self.now?;
        self.base.filter(|base| base.names_alike(now))
    }

    fn red_alike(&self) -> Option<&Ledger> {
        let now = self.now?;
        self.red?.ledger.filter(|red| red.names_alike(now))
    }

    /// The tests that fail for want of the change: those that did not fail before, and do not pass without the product either.
    pub fn newly_failing(&self) -> Vec<String> {
        let Some(now) = self.now else {
            return Vec::new();
        };
        let passes_without = |id: &String| {
            let outcome = self.without_product.and_then(|without| without.outcome(id));
            outcome.is_some_and(Outcome::is_success)
        };
        let mut new = now.newly_failing(self.base_alike());
        new.retain(|id| !passes_without(id));
        new
    }

    /// The tests that failed newly in the report that it is held against.
    fn owed_new(&self) -> Vec<String> {
        let base = |red: &Ledger| self.base.filter(|base| base.names_alike(red));
        let red = self.red.and_then(|red| red.ledger);
        red.map_or_else(Vec::new, |red| red.newly_failing(base(red)))
    }

    /// The tests that fail as they did before the item: they may go on failing.
    pub fn known(&self) -> Vec<String> {
        self.failing_as_before(true)
    }

    /// The tests that fail, and did so before the item as it is said; none of those that fail newly in RED did.
    fn failing_as_before(&self, did: bool) -> Vec<String> {
        let Some(now) = self.now else {
            return Vec::new();
        };
        let new: HashSet<String> = self.owed_new().into_iter().collect();
        let base = self.base_alike();
        let is_known = |id: &str| base.is_some_and(|base| base.fails(id)) && !new.contains(id);
        let those = now.failing().filter(|id| is_known(id) == did);
        those.map(str::to_owned).collect()
    }

    /// The tests that have to pass and do not, by name.
    fn not_passing(&self) -> Vec<String> {
        let lacking = self.lacking();
        [
            self.failing_as_before(false),
            lacking.missing,
            lacking.skipped,
            lacking.excused,
        ]
        .concat()
    }

    /// Whether any test fails that did not before.
    fn fails(&self) -> bool {
        match self.now {
            Some(_) => !self.failing_as_before(false).is_empty(),
            None => self.counts.failing() > 0,
        }
    }

    fn was_removed(&self, id: &str) -> bool {
        self.removed.iter().any(|removed| is_meant(removed, id))
    }

    /// What is wrong where only numbers are known, and fewer tests ran than in RED.
    fn fewer_ran(&self) -> Option<String> {
        let red = self.red?;
        let owed = red.ran.saturating_sub(self.removed.len() as u64);
        // Where some are named, it is by the runner's habits how many are counted.
        let is_counted = self.now.is_none() && red.ledger.is_none();
        (is_counted && self.counts.ran() < owed).then(|| {
            format!(
                "{} ran in {}, and {} now",
                tests(red.ran),
                self.against,
                self.counts.ran()
            )
        })
    }

    /// What is wrong where every test was named before, and is not now: what we had a runner write once, it goes on to write.
    fn names_no_more(&self) -> Option<String> {
        let base = self
            .base
            .filter(|base| self.level >= Level::Ran && base.every && !base.format.is_printed())?;
        let goes_on = |now: &Ledger| now.every && base.names_alike(now);
        (!self.now.is_some_and(goes_on)).then(|| {
            format!(
                "before this subtask every test was named ({}), and this report does not name them so: nobody can see that the same tests pass",
                base.format
            )
        })
    }

    /// What is wrong where the names of this report cannot be held against those of RED, or of before.
    fn unlike(&self) -> Option<String> {
        let red = self.red.and_then(|red| red.ledger);
        // Who names only what fails owes no names, but for who says numbers where tests were named.
        let is_said = self.now.is_none() && self.level < Level::Ran;
        let held = red.or(self.base).filter(|held| held.every || is_said)?;
        let name = red.map_or("the report before", |_| self.against);
        match self.now {
            None => Some(format!(
                "{name} named its tests ({}), and this report has only numbers: nobody can see that the same tests pass",
                held.format
            )),
            // Of what was there before the run a format says nothing.
            Some(now) if !now.names_alike(held) => red.map(|_| {
                format!(
                    "{name} was reported as {}, and this is {}: the names of tests cannot be compared",
                    held.format, now.format
                )
            }),
            Some(now) => (!now.every).then(|| {
                format!("{name} named every test, and this report does not: nobody can see that the same tests pass")
            }),
        }
    }
}

fn report_again() -> String {
    format!("report again: {}", Verb::Report)
}

fn reopen() -> NextStep {
    Verb::Reopen.step().and("reason")
}

fn write_or_repair() -> String {
    format!(
        "write a test of the new behaviour, see it fail, and {}{}",
        report_again(),
        to_repair()
    )
}

fn to_repair() -> String {
    format!(
        "; where one that failed before is to pass now, have the tests run ({}), and name it with {} ID",
        Argument("verify"),
        Argument("repairs")
    )
}

/// The report of failing tests comes with no test.
fn red_without_tests(given: &Given<'_>) -> Option<Finding> {
    let fails = |named: &String| {
        let mut failing = given.now.into_iter().flat_map(Ledger::failing);
        failing.any(|id| is_meant(named, id))
    };
    if !given.is_red()
        || given.of_item.iter().any(Difference::brings)
        || given.repairs.iter().any(fails)
    {
        return None;
    }
    let changed = names(given.of_item);
    let in_form = |one: &&Difference| one.protected == Some(Protected::Form);
    let formed = names(given.of_item.iter().filter(in_form));
    let (why, then) = match (given.ignored, &changed[..], given.untouched) {
        _ if !given.named_repairs.is_empty() => (
            format!(
                "none of those that are named for repair failed before and fails now: {}",
                few(given.named_repairs)
            ),
            to_repair(),
        ),
        ([], [], []) => (
            "nothing was changed since the last commit".to_owned(),
            to_repair(),
        ),
        ([], [], untouched) => (
            format!("what is changed was there before this subtask: {}", few(untouched)),
            format!("; name those of them that belong to it with {}", Argument("files")),
        ),
        ([], ..) if !formed.is_empty() => (
            format!("the tests changed in form only: {}", few(&formed)),
            String::new(),
        ),
        ([], changed, _) => (
            format!("no changed file is a test: {}", few(changed)),
            "; `test.patterns` in the settings says which files are tests, for runs that begin then"
                .to_owned(),
        ),
        (ignored, ..) => (
            format!("git ignores {}", few(ignored)),
            "; give them another name, or take them out of .gitignore".to_owned(),
        ),
    };
    Some(finding(
        "red_without_tests",
        format!("no test was written: {why}"),
        format!(
            "write the tests, see them fail, and {}{then}",
            report_again()
        ),
    ))
}

/// All that fails failed before, or fails for another reason than the change that is wanted.
fn no_new_failure(given: &Given<'_>) -> Option<Finding> {
    let is_told = given.is_red() && given.now.is_some() && given.counts.failing() > 0;
    (is_told && given.newly_failing().is_empty()).then(|| {
        finding(
            "no_new_failure",
            match given.without_product {
                Some(_) => "no test fails for want of this subtask's change: each one failed before, or passes without it",
                None => "every test that fails now failed before this subtask, too",
            },
            if given.level < Level::Ran && given.of_item.iter().any(Difference::is_of_product) {
                format!(
                    "where the code is written already, have them run without it: {}; else {}",
                    NextStep::report(given.role, given.item, Level::Verified),
                    write_or_repair()
                )
            } else {
                write_or_repair()
            },
        )
    })
}

/// Tests, or what belongs to them, are not what they were when they failed.
fn tests_changed(given: &Given<'_>) -> Option<Finding> {
    given.role.frozen.as_ref()?;
    let (tree, since) = given.since?;
    // Where tests are run here, those that come are held against the product of before.
    let may_be_extended = given.level == Level::Verified;
    let is_broken = |difference: &&Difference| {
        let is_extended = difference.protected == Some(Protected::Extended);
        (difference.breaks() || is_extended && !may_be_extended) && !difference.configures
    };
    let broken: Vec<&Difference> = since.iter().filter(is_broken).collect();
    if broken.is_empty() {
        return None;
    }
    let told: Vec<String> = broken.iter().map(|difference| difference.told()).collect();
    // What was renamed is there under another name, too.
    let is_gone = |entry: &TreeEntry| {
        broken
            .iter()
            .any(|one| one.after.is_none() && one.before.as_ref() == Some(entry))
    };
    let renamed = since
        .iter()
        .filter(|one| one.before.is_none() && one.after.as_ref().is_some_and(is_gone));
    let back: Vec<&Difference> = broken.iter().copied().chain(renamed).collect();
    let found = finding(
        "tests_changed",
        format!("tests were changed since {}: {}", given.against, few(&told)),
        format!(
            "put them back ({}), and {}. If a test has to change, go back with {}: your work stays as it is",
            put_back::steps(tree, &back),
            report_again(),
            reopen()
        ),
    );
    Some(with_files(found, &told))
}

/// The tests pass by what came to them since they failed: as they were then, they do not.
fn passes_by_what_was_added(given: &Given<'_>) -> Option<Finding> {
    let (counts, now) = given.with_tests_of_red?;
    // A module of the product's own may stand in a file that came: nothing is built without it.
    if now.is_none() && counts.errors == counts.ran() {
        return None;
    }
    let own = Given {
        counts,
        now,
        ..*given
    };
    // What is wrong as it is, is told as it is.
    let as_it_is = given.not_passing();
    let mut failing = own.not_passing();
    failing.retain(|id| !as_it_is.contains(id));
    let told = if !failing.is_empty() {
        format!("these do not pass: {}", few(&failing))
    } else if !as_it_is.is_empty() {
        return None;
    } else if own.lacking().no_new {
        "none is there that was not before".to_owned()
    } else if own.fails() {
        format!("{} fail", tests(counts.failing()))
    } else {
        own.fewer_ran()?
    };
    let (_, since) = given.since?;
    let added = since
        .iter()
        .filter(|difference| difference.protected.is_some());
    let found = finding(
        "tests_changed",
        format!("with the tests as they were in {}, {told}", given.against),
        format!(
            "have them pass without what came to the tests since ({}), and {}; or go back with {}, and show that they fail with it",
            few(&names(added)),
            report_again(),
            reopen()
        ),
    );
    Some(with_tests(found, &failing))
}

/// What configures a runner, or is loaded before the tests, is not what it was.
fn runner_config_changed(given: &Given<'_>) -> Option<Finding> {
    let is_of = |class| given.role.only.contains(&class);
    let (tree, differences) = match given.since.filter(|_| given.role.frozen.is_some()) {
        Some((tree, since)) => (Some(tree), since),
        // What tests are loaded with may well belong to them, and what builds is there to be changed.
        None if given.is_green() && is_of(FileClass::Source) => (None, given.of_item),
        None => return None,
    };
    let broken: Vec<&Difference> = differences
        .iter()
        .filter(|difference| difference.breaks() && difference.configures)
        .collect();
    if broken.is_empty() {
        return None;
    }
    let told = names(broken.iter().copied());
    let (since, then) = match tree {
        Some(tree) => (
            format!("since {}", given.against),
            format!(
                "put it back ({}), and {}. If the tests need it, go back with {}, and report it with them",
                put_back::steps(tree, &broken),
                report_again(),
                reopen()
            ),
        ),
        None => (
            "since the last commit".to_owned(),
            format!(
                "put it back, and {}; to change it is a subtask of its own",
                report_again()
            ),
        ),
    };
    let found = finding(
        "runner_config_changed",
        format!(
            "what configures the runner, or is loaded before the tests, was changed {since}: {}",
            few(&told)
        ),
        then,
    );
    Some(with_files(found, &told))
}

/// Nothing of the product is another than when the item began.
fn green_without_change(given: &Given<'_>) -> Option<Finding> {
    given.red?;
    let is_changed = given.of_item.iter().any(Difference::is_of_product);
    (!is_changed).then(|| {
        finding(
            "green_without_change",
            format!(
                "nothing but tests was changed since the last commit, so what failed in {} passes for another reason",
                given.against
            ),
            format!(
                "find out what the test rests on beside the code, such as time, order or files elsewhere, and mend it: {}",
                reopen()
            ),
        )
    })
}

fn other_files_changed(given: &Given<'_>) -> Option<Finding> {
    other_files(given.role, given.of_item)
}

/// Files were changed that are of another kind than the report is about.
pub(crate) fn other_files(role: &Role, of_item: &[Difference]) -> Option<Finding> {
    let only = &role.only;
    let mut others: BTreeMap<FileClass, Vec<String>> = BTreeMap::new();
    for difference in of_item.iter().filter(|_| !only.is_empty()) {
        for class in difference
            .classes
            .iter()
            .filter(|class| !only.contains(class))
        {
            let files = others.entry(*class).or_default();
            files.push(difference.path.to_string());
        }
    }
    if others.is_empty() {
        return None;
    }
    let told = others
        .iter()
        .map(|(class, files)| format!("{}: {}", class.noun(), few(files)));
    let found = finding(
        "other_files_changed",
        format!(
            "only {} may be changed here, and these were, too: {}",
            text::listed(only.iter().map(|class| class.noun())),
            told.collect::<Vec<_>>().join("; ")
        ),
        format!(
            "put them back, and {}; where the subtask needs them it is of another kind: {}",
            report_again(),
            Verb::Reopen.step().with("kind", "KIND").and("reason")
        ),
    );
    let files: Vec<String> = others.into_values().flatten().collect();
    Some(with_files(found, &files))
}

/// Whether reports in this role are about tests, and nothing that these need.
pub(crate) fn is_of_tests_alone(role: &Role) -> bool {
    role.only == [FileClass::Tests]
}

/// A report about tests alone brings none.
fn no_test_written(given: &Given<'_>) -> Option<Finding> {
    if !is_of_tests_alone(given.role) || given.fails() {
        return None;
    }
    let why = if !given.of_item.iter().any(Difference::brings) {
        "no test was written or changed since the last commit"
    } else if let (Some(now), Some(base)) = (given.now, given.base_alike())
        && base.every
        && now
            .those(Outcome::is_success)
            .all(|id| base.tests.contains_key(id))
    {
        "no test that passes is new: a subtask of this kind brings some, and changes none alone"
    } else {
        return None;
    };
    Some(finding(
        "no_test_written",
        why,
        format!("write one, and {}", report_again()),
    ))
}

/// Tests that were there before, or that failed, are not among those that pass.
fn tests_missing(given: &Given<'_>) -> Option<Finding> {
    if given.is_red() {
        // What a build or a crash leaves without an outcome was not run, and is not missing.
        let breaks = |now: &Ledger| now.those(|outcome| outcome == Outcome::Error).count() > 0;
        if given.level < Level::Ran
            || given.counts.errors > 0
            || given.now.is_some_and(breaks)
            || given.base.is_none_or(|base| !base.every)
        {
            return None;
        }
    } else if let Some(why) = given
        .fewer_ran()
        .or_else(|| given.names_no_more())
        .or_else(|| given.unlike())
    {
        return Some(finding(
            "tests_missing",
            why,
            format!("report as then: {}", Verb::Report),
        ));
    }
    let lacking = given.lacking();
    let mut told = Vec::new();
    for (what, ids) in [
        ("missing", &lacking.missing),
        ("skipped", &lacking.skipped),
        ("expected to fail", &lacking.excused),
    ] {
        if !ids.is_empty() {
            told.push(format!("{what}: {}", few(ids)));
        }
    }
    if lacking.no_new {
        told.push(format!(
            "no test is there that was not before, and those of {} could not be built",
            given.against
        ));
    }
    let all = [lacking.missing, lacking.skipped, lacking.excused].concat();
    let red = given.red;
    // When it was accepted, nobody had said how they were before.
    let is_all_old = told.is_empty()
        && given.owed_new().is_empty()
        && given.base.is_some()
        && red.is_some_and(|red| red.ledger.is_some() && red.errors.0 == 0 && !red.new.is_empty());
    if is_all_old {
        return Some(finding(
            "tests_missing",
            format!(
                "every test that failed in {0} failed before this subtask, too: {0} has shown no test of what is to be done",
                given.against
            ),
            format!(
                "go back with {}, write a test of it, and see it fail",
                reopen()
            ),
        ));
    }
    if told.is_empty() {
        return None;
    }
    let found = finding(
        "tests_missing",
        format!("tests that were there do not pass now: {}", told.join("; ")),
        format!(
            "bring them back, and report the whole suite: {}; name those that were taken out on purpose with {} ID{}",
            Verb::Report,
            Argument("removed"),
            red.map_or_else(String::new, |_| format!(
                ", or go back with {} where {} named one that is not there",
                reopen(),
                given.against
            ))
        ),
    );
    Some(with_tests(found, &all))
}

mod lacking;
pub(crate) mod put_back;
#[cfg(test)]
mod table;
