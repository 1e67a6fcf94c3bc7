//! Tests of what is there already, tried on a product whose functions do nothing but fail: new ones that pass there, too, show nothing
//! of it, and older ones that have come to pass there show it no more.

use ::test_report::Outcome;
use machine::Finding;
use serde::{Deserialize, Serialize};
use workspace::convention::paths::PathClass;
use workspace::git::{Oid, RepoPath, TreeEntry};

use crate::capability::git::read::{finding, with_tests};
use crate::capability::memory::Memory;
use crate::capability::tests::evidence::TestEvidence;
use crate::capability::tests::evidence::bench::{Bench, benches};
use crate::capability::tests::evidence::ledger::Ledger;
use crate::capability::tests::evidence::suite::SuiteVerdict;
use crate::capability::tests::evidence::verified::Asked;
use crate::capability::tests::known;
use crate::capability::tests::read::{MOST_NAMED, few};
use crate::capability::tests::rule::is_of_tests_alone;
use crate::fault::Fault;
use crate::next_step::Verb;

/// The policy of new tests that pass without the product.
const PASSES_WITHOUT_PRODUCT: &str = "passes_without_product";

/// The warning that they could not be tried there.
pub const NOT_HOLLOWED: &str = "not_hollowed";

/// New tests on a product that does nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HollowRun {
    /// The run of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<SuiteVerdict>,
    /// The new ones that pass there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passing: Vec<String>,
    /// The older ones that pass there now, and did not before they were changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weakened: Vec<String>,
    /// Why it says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undecided: Option<String>,
}

impl HollowRun {
    fn undecided(why: impl Into<String>) -> Self {
        Self {
            undecided: Some(why.into()),
            ..Self::default()
        }
    }

    /// What is to be said of it.
    pub fn findings(&self) -> Vec<Finding> {
        let told = [
            (
                &self.passing,
                "these new tests pass, too, where every function of the product fails, and so show nothing of it",
                "have each call what it is about, and look at what comes of it",
            ),
            (
                &self.weakened,
                "these tests of before pass now, too, where every function of the product fails, and did not before they were changed",
                "put them back as they were; work of another kind changes what they ask for",
            ),
        ];
        let told = told.into_iter().filter(|(tests, ..)| !tests.is_empty());
        told.map(|(tests, what, then)| {
            let found = finding(
                PASSES_WITHOUT_PRODUCT,
                format!("{what}: {}", few(tests)),
                format!("{then}; then report again: {}", Verb::Report),
            );
            with_tests(found, tests)
        })
        .collect()
    }
}

/// Tries them, where a report is about tests alone and would be accepted by what it shows.
pub fn of(asked: &Asked<'_>, taken: &TestEvidence) -> Result<Option<HollowRun>, Fault> {
    let is_due = is_of_tests_alone(&asked.present.role) && taken.off_bench.is_none();
    let Some(ran_on) = taken.ran_on.as_ref().filter(|_| is_due) else {
        return Ok(None);
    };
    if taken.counts.passed == 0 || taken.counts.failing() > 0 {
        return Ok(None);
    }
    let Some(now) = taken.ledger().filter(|now| now.every) else {
        return Ok(Some(HollowRun::undecided("not every test has a name")));
    };
    let new = match new_tests(asked, taken, &now)? {
        Some(new) if new.is_empty() => return Ok(None),
        Some(new) => new,
        None => {
            return Ok(Some(HollowRun::undecided(
                "what tests there were before is not known",
            )));
        }
    };
    match tried(asked, &ran_on.work, (&now, new)) {
        Err(fault) if fault.code == "cancelled" => Err(fault),
        Err(fault) => Ok(Some(HollowRun::undecided(fault.message))),
        done => done.map(Some),
    }
}

/// The tests that pass now, and were not there before; none where nothing is known of before.
fn new_tests(
    asked: &Asked<'_>,
    taken: &TestEvidence,
    now: &Ledger,
) -> Result<Option<Vec<String>>, Fault> {
    let before = match &taken.baseline {
        Some(found) => found.ledger(),
        None => known::before(asked.run_dir, asked.run, Some(asked.present))?,
    };
    let before = before.filter(|before| before.names_alike(now));
    let new = before.map(|before| {
        let passing = now.those(|outcome| matches!(outcome, Outcome::Passed | Outcome::Flaky));
        let new = passing.filter(|id| before.outcome(id).is_none());
        new.map(str::to_owned).collect()
    });
    Ok(new)
}

fn tried(
    asked: &Asked<'_>,
    work: &Oid,
    (now, new): (&Ledger, Vec<String>),
) -> Result<HollowRun, Fault> {
    let memory = &asked.work.memory;
    let repository = memory.repository();
    let last = asked.work.base.clone();
    if hollowed(memory, work)?.is_empty() {
        return Ok(HollowRun::undecided(
            "no parser is at hand for what the product is written in",
        ));
    }
    let benches = benches(asked.run_dir);
    let bench = Bench::take(
        &benches,
        memory,
        asked.config,
        last.clone(),
        asked.cancelled,
    )?
    .reporting(asked.reports)
    .of_run(asked.run_dir);
    let tested = |tree: &Oid| {
        let tree = repository.write_texts(tree, &hollowed(memory, tree)?)?;
        bench.tested("the work with empty functions", &tree, true, asked.format)
    };
    let there = tested(work)?;
    let ledger = there.ledger().filter(|there| there.names_alike(now));
    let ran = |id: &String| {
        let there = ledger.as_ref().and_then(|there| there.outcome(id));
        there.is_some()
    };
    // One that was not even begun there says nothing.
    if !new.iter().any(ran) {
        return Ok(HollowRun {
            verified: there.ran,
            ..HollowRun::undecided("none of the new tests came to run there")
        });
    }
    let passes = |id: &String| {
        let outcome = ledger.as_ref().and_then(|there| there.outcome(id));
        outcome.is_some_and(Outcome::is_success)
    };
    // What passed without the product before, as a test of a constant does, has lost nothing.
    let mut weakened: Vec<String> = now
        .those(Outcome::is_success)
        .map(str::to_owned)
        .filter(|id| !new.contains(id) && passes(id))
        .collect();
    if !weakened.is_empty() {
        let before = tested(&last)?;
        let before = before.ledger().filter(|before| before.names_alike(now));
        let failed = |id: &String| {
            let outcome = before.as_ref().and_then(|before| before.outcome(id));
            outcome.is_some_and(|outcome| matches!(outcome, Outcome::Failed | Outcome::Error))
        };
        weakened.retain(failed);
        weakened.truncate(MOST_NAMED);
    }
    Ok(HollowRun {
        verified: there.ran,
        passing: new.into_iter().filter(passes).take(MOST_NAMED).collect(),
        weakened,
        ..HollowRun::default()
    })
}

/// The files of the product in a tree without what their functions do; none where no parser is at hand.
fn hollowed(
    memory: &Memory,
    tree: &Oid,
) -> Result<Vec<(RepoPath, Option<TreeEntry>, String)>, Fault> {
    let repository = memory.repository();
    let classes = memory.start.classes()?;
    let mut entries = repository.tree_entries(tree)?;
    entries.retain(|(path, _)| {
        classes.of(&repository.name_in_scope(path)) == PathClass::Source
            && syntax::has_functions(&path.to_string())
    });
    let blobs: Vec<&Oid> = entries.iter().map(|(_, entry)| &entry.oid).collect();
    let texts = repository.read_blobs(&blobs)?.into_iter();
    let hollowed = entries
        .into_iter()
        .zip(texts)
        .filter_map(|((path, entry), text)| {
            let text = String::from_utf8(text).ok()?;
            let text = syntax::hollowed(&path.to_string(), &text)?;
            Some((path, Some(entry), text))
        });
    Ok(hollowed.collect())
}
