//! RED in a clean tree: the tests that were written fail against the last commit, and not only against what lies about.

use machine::role::Shows;
use machine::{Refusal, Role, RunState};
use workspace::config::Config;
use workspace::git::{Oid, RepoPath, Repository};
use workspace::process::Cancellation;

use crate::capability::git::changes::Changes;
use crate::capability::memory::Memory;
use crate::capability::tests::evidence::checkout::Checkout;
use crate::capability::tests::evidence::frozen::TestReader;
use crate::capability::tests::evidence::ledger::Ledger;
use crate::capability::tests::evidence::suite::{SuiteVerdict, refused};
use crate::fault::Fault;
use crate::support::refusal;
use ::test_report::TestFormat;

/// Whether the settings ask for it, and a report has to show a new failure.
pub fn is_due(config: &Config, role: &Role) -> bool {
    config.evidence.red_in_clean_tree && role.shows == Some(Shows::NewFailure)
}

/// Runs the suite in a throw-away checkout of the last commit, with the tests of RED in it.
pub fn check(
    run: &RunState,
    config: &Config,
    format: Option<TestFormat>,
    cancelled: &Cancellation,
) -> Result<SuiteVerdict, Fault> {
    let memory = Memory::of(run)?;
    let repository = memory.repository();
    let last = memory.last_oid()?;
    let written = written(&repository, &memory, &last)?;
    if written.is_empty() {
        return Err(refused(
            "red_without_tests",
            "no test was written that could be tried in a clean tree",
            "write the tests of this subtask, see them fail, then report",
        ));
    }
    let checkout = Checkout::ready(&memory, config, (&last, &written), cancelled)?;
    let taken = checkout.tested(format)?;
    if taken.counts.failing() == 0 {
        return Err(refused(NOT_THERE.0, NOT_THERE.1, NOT_THERE.2));
    }
    taken
        .ran
        .ok_or_else(|| Fault::bug("a suite was run and says nothing of it"))
}

/// That what fails here does not fail there: code, message, suggestion.
const NOT_THERE: (&str, &str, &str) = (
    "red_not_in_clean_tree",
    "the tests of RED pass in a fresh checkout of the last commit: they fail here for another reason than what is missing",
    "see what else is changed or left over in the working tree; the tests have to fail against the last commit",
);

/// Whether, of the tests that are new, one at least fails in the fresh checkout too, as far as both name them.
pub fn fails_there(ran: &SuiteVerdict, now: &Ledger, new: &[String]) -> Result<(), Refusal> {
    let there = ran.ledger.as_ref().filter(|there| there.every);
    let Some(there) = there.and_then(|there| there.named_as(now)) else {
        return Ok(());
    };
    if new.is_empty() || new.iter().any(|id| there.fails(id)) {
        return Ok(());
    }
    Err(refusal(NOT_THERE.0, NOT_THERE.1, NOT_THERE.2))
}

/// The files with the tests of RED.
fn written(repository: &Repository, memory: &Memory, last: &Oid) -> Result<Vec<RepoPath>, Fault> {
    let status = repository.status()?;
    let changes = Changes::of(&status, memory, repository, &[])?;
    let written = TestReader::new(repository, memory, last, &status)?.written(&changes)?;
    Ok(written.frozen.0.into_keys().collect())
}
