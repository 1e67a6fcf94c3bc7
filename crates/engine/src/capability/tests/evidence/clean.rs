//! RED in a clean tree: the tests that were written fail against the last commit, and not only against what lies about.

use machine::role::Shows;
use machine::{Refusal, Role, RunState};
use workspace::config::Config;
use workspace::git::{Oid, RepoPath, Repository};
use workspace::process::{Cancellation, How};

use crate::capability::git::changes::Changes;
use crate::capability::memory::Memory;
use crate::capability::tests::evidence::frozen::Look;
use crate::capability::tests::evidence::ledger::Ledger;
use crate::capability::tests::evidence::suite;
use crate::capability::tests::evidence::suite::SuiteVerdict;
use crate::capability::tests::evidence::suite::{Suite, refused};
use crate::capability::tests::evidence::{TestEvidence, may_break};
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
    let taken = tested_at(&last, &written, &memory, config, format, cancelled)?;
    if taken.counts.failing() == 0 {
        return Err(refused(NOT_THERE.0, NOT_THERE.1, NOT_THERE.2));
    }
    taken
        .ran
        .ok_or_else(|| Fault::bug("a suite was run and says nothing of it"))
}

/// Runs the suite in a throw-away checkout of a commit, with these files of the working tree in it.
pub fn tested_at(
    commit: &Oid,
    files: &[RepoPath],
    memory: &Memory,
    config: &Config,
    format: Option<TestFormat>,
    cancelled: &Cancellation,
) -> Result<TestEvidence, Fault> {
    let repository = memory.repository();
    let setup = config.test.setup.as_deref();
    if setup.is_none()
        && let Some(missing) = repository.needs_setup()?
    {
        return Err(refused(
            "setup_needed",
            format!(
                "the tests are run in a fresh checkout, and {missing} is not there: git does not track it"
            ),
            "set test.setup to the command that makes a fresh checkout ready, such as `npm ci`",
        ));
    }
    let tree = repository.throw_away_worktree(commit, files)?;
    let folder = tree.project_root();
    if let Some(setup) = setup {
        let ran = suite::run(setup, None, folder, config, cancelled)?;
        if ran.how == How::Cancelled {
            return Err(suite::cancelled(setup));
        }
        if !ran.success() {
            return Err(refused(
                "setup_failed",
                format!("`{setup}` failed in a fresh checkout"),
                "mend test.setup: it has to make a checkout ready for tests",
            )
            .detail("output", suite::end_of(&ran.both)));
        }
    }
    suite::verify(&Suite {
        command: &memory.start.test_command,
        folder,
        config,
        format,
        reports: &[],
        subject: None,
        cancelled,
        // With tests of what is not there yet it may well not build.
        may_break: !files.is_empty() && may_break(&memory.start.test_framework),
    })
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
    let written = Look::new(repository, memory, last, &status)?.written(&changes)?;
    Ok(written.frozen.0.into_keys().collect())
}
