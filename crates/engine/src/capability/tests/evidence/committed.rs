//! GREEN once more, on what would be committed: its tests pass in a fresh checkout, too.
//!
//! What git ignores, or was told not to look at, what lies in another repository, and what somebody changes while the tests run,
//! makes tests pass here and is in no commit.

use std::collections::BTreeSet;

use ::test_report::Outcome;
use machine::{Finding, Role};
use serde::{Deserialize, Serialize};
use workspace::git::{FingerprintRequest, RepoPath};

use crate::capability::git::changes::Changes;
use crate::capability::git::read::{finding, with_tests};
use crate::capability::memory::Memory;
use crate::capability::tests::evidence::TestEvidence;
use crate::capability::tests::evidence::checkout::Checkout;
use crate::capability::tests::evidence::ledger::Ledger;
use crate::capability::tests::evidence::suite::SuiteVerdict;
use crate::capability::tests::read::{MOST_NAMED, few, name_of};
use crate::fault::Fault;
use crate::next_step::Verb;

/// The tests of GREEN in a checkout of what would be committed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Committed {
    /// The run of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<SuiteVerdict>,
    /// The tests that pass in the working tree and not there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<String>,
    /// Why it says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undecided: Option<String>,
}

impl Committed {
    fn undecided(why: impl Into<String>) -> Self {
        Self {
            undecided: Some(why.into()),
            ..Self::default()
        }
    }

    /// What is to be said of a report in this role.
    pub fn finding(&self, role: &Role) -> Option<Finding> {
        if self.failing.is_empty() {
            return None;
        }
        let found = finding(
            "green_not_replayed",
            format!(
                "in a fresh checkout of what would be committed these tests of {} do not pass: {}",
                name_of(role.label.as_ref()),
                few(&self.failing)
            ),
            format!(
                "what they need lies here and would be in no commit: see what git ignores (`git status --ignored`), what it was told not to look at (`git ls-files -v`), and what was changed before the run; have it in the commit, and report again: {}",
                Verb::Report
            ),
        );
        Some(with_tests(found, &self.failing))
    }
}

/// The ledgers that such a run is held against.
pub struct Known<'a> {
    /// That of the working tree.
    pub now: &'a Ledger,
    /// That of a checkout without the change of this item; none where nothing could be built or run there.
    pub without: Option<Ledger>,
    /// Those of the working tree before that change.
    pub before: Vec<&'a Ledger>,
    /// The files that the checkout has otherwise than the last commit.
    pub written: Vec<RepoPath>,
}

impl Committed {
    /// Brings a checkout of the last commit forward to what would be committed now, and runs the tests there. `named` are files
    /// that are to be committed whatever they were before the run.
    pub fn of(
        (memory, named): (&Memory, &[RepoPath]),
        checkout: &Checkout<'_>,
        known: Known<'_>,
    ) -> Result<Self, Fault> {
        match Self::decided((memory, named), checkout, known) {
            Err(fault) if fault.code != "cancelled" => Ok(Self::undecided(fault.message)),
            done => done,
        }
    }

    fn decided(
        (memory, named): (&Memory, &[RepoPath]),
        checkout: &Checkout<'_>,
        mut known: Known<'_>,
    ) -> Result<Self, Fault> {
        let repository = memory.repository();
        let status = repository.status()?;
        let last = memory.last_oid()?;
        let changes = Changes::of(&status, memory, &repository, named)?;
        let exclude = changes.exclude(memory, &repository);
        let request = FingerprintRequest {
            exclude: &exclude,
            ..FingerprintRequest::default()
        };
        // What was committed since is there to be handed in; what was taken back since RED is not to be in it.
        let head = status.head.as_ref().unwrap_or(&last);
        let is_changed = |path| {
            changes
                .files
                .iter()
                .any(|change| change.paths().any(|own| own == path))
        };
        let is_other = *head != last || !known.written.iter().all(is_changed);
        let other = is_other.then(|| checkout.another(head)).transpose()?;
        let checkout = other.as_ref().unwrap_or(checkout);
        checkout.bring_forward(&status, &request)?;
        let there = checkout.tested(None)?;
        let mut failing = known.failing(&there);
        let mut why = None;
        if !failing.is_empty() {
            // A test that fails now and then is not to be taken for one that needs something else.
            let again = known.failing(&checkout.tested(None)?);
            failing.retain(|id| again.contains(id));
        }
        if !failing.is_empty() {
            if known.without.is_none() {
                // One test that cannot be loaded ends all of them with some runners.
                let alone = checkout.another(&last)?.tested(None)?;
                known.without = alone.ledger().filter(|_| alone.counts.passed > 0);
            }
            why = known.cannot_tell(&failing);
            let fine = known.fine();
            // Where others fall with it, it is the one that is not there that is named.
            if failing.iter().any(|id| !fine.contains(id)) {
                failing.retain(|id| !fine.contains(id));
            }
        }
        failing.truncate(if why.is_some() { 0 } else { MOST_NAMED });
        Ok(Self {
            verified: there.ran,
            failing,
            undecided: why,
        })
    }
}

impl Known<'_> {
    /// The tests that pass in the working tree and not there.
    fn failing(&self, there: &TestEvidence) -> Vec<String> {
        let really = |outcome| matches!(outcome, Outcome::Passed | Outcome::Flaky);
        let ledger = there.ledger().and_then(|there| there.named_as(self.now));
        let passes = |id: &str| ledger.as_ref().is_some_and(|there| passes(there, id));
        let passing = self.now.those(really).filter(|id| !passes(id));
        passing.map(str::to_owned).collect()
    }

    /// The tests that pass in a checkout without the change.
    fn fine(&self) -> BTreeSet<String> {
        let without = self.without.as_ref();
        let without = without.and_then(|without| without.named_as(self.now));
        let those = without
            .iter()
            .flat_map(|fine| fine.those(Outcome::is_success));
        those.map(str::to_owned).collect()
    }

    /// Why nobody can say that it is something of this item that is missing there.
    fn cannot_tell(&self, failing: &[String]) -> Option<String> {
        let fine = self.fine();
        // Whether a checkout has what tests need is seen by those that pass in it.
        if !self
            .now
            .those(Outcome::is_success)
            .any(|id| fine.contains(id))
        {
            return Some("no test passes in a fresh checkout".to_owned());
        }
        let before: Vec<Ledger> = self
            .before
            .iter()
            .filter_map(|before| before.named_as(self.now))
            .collect();
        let was_passing = |id: &&String| before.iter().any(|before| passes(before, id));
        let needs_more = failing
            .iter()
            .filter(|id| !fine.contains(*id))
            .find(was_passing)?;
        Some(format!(
            "{needs_more} passed before, and does in no fresh checkout, which lacks something"
        ))
    }
}

fn passes(ledger: &Ledger, id: &str) -> bool {
    ledger.outcome(id).is_some_and(Outcome::is_success)
}
