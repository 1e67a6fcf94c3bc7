//! Tests of what is there already, tried on a product whose functions do nothing but fail: new ones that pass there, too, show nothing
//! of it, and older ones that have come to pass there show it no more.

use std::path::Path;

use ::test_report::Outcome;
use machine::role::FileClass;
use machine::state::Token;
use machine::{Finding, Role, RunState};
use serde::{Deserialize, Serialize};
use workspace::convention::paths::PathClass;
use workspace::git::{FILE_MODE, Oid, RepoPath, TreeEntry};

use crate::capability::git::read::{finding, with_tests};
use crate::capability::memory::{LAST_LEDGER, Memory};
use crate::capability::tests::evidence::bench::{Bench, benches};
use crate::capability::tests::evidence::ledger::Ledger;
use crate::capability::tests::evidence::suite::SuiteVerdict;
use crate::capability::tests::evidence::verified::Asked;
use crate::capability::tests::evidence::{TestEvidence, baseline};
use crate::capability::tests::known::began;
use crate::capability::tests::read::{MOST_NAMED, few};
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
    let new = match new_tests((asked.run_dir, asked.run), asked.present, taken, &now)? {
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

/// Whether reports in this role are about tests, and nothing that these need.
pub(crate) fn is_of_tests_alone(role: &Role) -> bool {
    role.only == [FileClass::Tests]
}

/// The tests that pass now, and were not there before; none where nothing is known of before.
fn new_tests(
    (dir, run): (&Path, &RunState),
    present: &Token,
    taken: &TestEvidence,
    now: &Ledger,
) -> Result<Option<Vec<String>>, Fault> {
    let known = match began(&present.kept, &present.role)? {
        Some(began) => began.ledger,
        None => LAST_LEDGER.read(&run.kept)?,
    };
    let known = known.into_iter().chain(baseline::ledgers(&run.kept)?);
    let mut before: Vec<Ledger> = known
        .map(|hash| Ledger::read(dir, &hash))
        .collect::<Result<_, Fault>>()?;
    before.extend(taken.baseline.as_ref().and_then(|taken| taken.ledger()));
    let before: Vec<Ledger> = before
        .iter()
        .filter_map(|before| before.named_as(now))
        .collect();
    if before.is_empty() {
        return Ok(None);
    }
    let is_new = |id: &&str| before.iter().all(|before| before.outcome(id).is_none());
    let passing = now.those(|outcome| matches!(outcome, Outcome::Passed | Outcome::Flaky));
    Ok(Some(passing.filter(is_new).map(str::to_owned).collect()))
}

fn tried(
    asked: &Asked<'_>,
    work: &Oid,
    (now, new): (&Ledger, Vec<String>),
) -> Result<HollowRun, Fault> {
    let memory = Memory::of(asked.run)?;
    let repository = memory.repository();
    let last = memory.last_oid()?;
    let hollowed = hollowed(&memory, &last)?;
    if hollowed.is_empty() {
        return Ok(HollowRun::undecided(
            "no parser is at hand for what the product is written in",
        ));
    }
    let benches = benches(asked.run_dir);
    let bench = Bench::take(
        &benches,
        &memory,
        asked.config,
        last.clone(),
        asked.cancelled,
    )?
    .reporting(asked.reports);
    let tested = |tree: &Oid| {
        let tree = repository.edit_tree(tree, &hollowed)?;
        bench.tested(&tree, true, asked.format)
    };
    let there = tested(work)?;
    let ledger = there.ledger().and_then(|there| there.named_as(now));
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
        let before = before.ledger().and_then(|before| before.named_as(now));
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

/// The edits that take out what the functions of the product do at a commit; none where no parser is at hand.
fn hollowed(memory: &Memory, commit: &Oid) -> Result<Vec<(RepoPath, Option<TreeEntry>)>, Fault> {
    let repository = memory.repository();
    let classes = memory.start.classes()?;
    let mut hollowed = Vec::new();
    for path in repository.known_files()? {
        if classes.of(&repository.name_in_scope(&path)) != PathClass::Source {
            continue;
        }
        let text = repository.file_at(commit, &path)?;
        let text = text.and_then(|text| syntax::hollowed(&path.to_string(), &text));
        hollowed.extend(text.map(|text| (path, text)));
    }
    let texts: Vec<&str> = hollowed.iter().map(|(_, text)| text.as_str()).collect();
    let blobs = repository.write_blobs(&texts)?;
    let files = hollowed.into_iter().zip(blobs);
    let edit = |((path, _), oid): ((RepoPath, String), Oid)| {
        let mode = FILE_MODE;
        (path, Some(TreeEntry { mode, oid }))
    };
    Ok(files.map(edit).collect())
}
