//! The suite as it was before a run: what failed then may go on failing.

use std::path::Path;

use ::test_report::Outcome;
use machine::role::Shows;
use machine::{Role, RunState};
use serde_json::{Map, Value};
use workspace::config::{Baseline, Config, Level};
use workspace::process::Cancellation;

use crate::capability::memory::{
    BASELINE, LAST_LEDGER, LAST_LEVEL, LAST_RUNNER, LAST_TOTAL, Memory,
};
use crate::capability::tests::evidence::checkout::{self, Checkout, UNASKED};
use crate::capability::tests::evidence::ledger::Ledger;
use crate::capability::tests::evidence::suite::SuiteVerdict;
use crate::capability::tests::evidence::{TestEvidence, level_name};
use crate::capability::tests::read::MOST_NAMED;
use crate::fault::Fault;

/// Under this name the baseline says what each test did: a hash of the run's evidence.
const LEDGER: &str = "ledger";
/// Under this name it says so by other names of the tests: hashes, the newest first.
const OTHER_LEDGERS: &str = "otherLedgers";

/// What a run in `dir` remembers of it, with the evidence kept there.
pub fn remembered(baseline: &TestEvidence, dir: &Path) -> Result<Map<String, Value>, Fault> {
    baseline.keep(dir)?;
    let mut keep = LAST_TOTAL.entry(&baseline.counts.total())?;
    LAST_LEVEL.put(&mut keep, &level_name(baseline.level()).to_owned())?;
    if let Some(runner) = &baseline.runner {
        LAST_RUNNER.put(&mut keep, runner)?;
    }
    let mut told = baseline.counts.facts();
    told.extend(baseline.facts());
    if let Some(ledger) = baseline.ledger() {
        let hash = ledger.keep(dir)?;
        LAST_LEDGER.put(&mut keep, &hash)?;
        told.insert(LEDGER.to_owned(), hash.into());
        let failing: Vec<&str> = ledger.failing().take(MOST_NAMED).collect();
        told.insert("failingTests".to_owned(), failing.into());
    }
    BASELINE.put(&mut keep, &told)?;
    Ok(keep)
}

/// What each test did before the run, by every kind of names that it is known by, the newest first: hashes of the run's evidence.
pub fn ledgers(kept: &Map<String, Value>) -> Result<Vec<String>, Fault> {
    let Some(told) = BASELINE.read(kept)? else {
        return Ok(Vec::new());
    };
    let others = told.get(OTHER_LEDGERS).and_then(Value::as_array);
    let all = told
        .get(LEDGER)
        .into_iter()
        .chain(others.into_iter().flatten());
    Ok(all.filter_map(Value::as_str).map(str::to_owned).collect())
}

/// Whether nothing is known of before the run, nor was any report of passing tests accepted in it.
pub fn is_unknown(run: &RunState) -> bool {
    let kept = &run.kept;
    !(BASELINE.is_in(kept) || LAST_LEDGER.is_in(kept) || LAST_TOTAL.is_in(kept))
}

/// Whether a report in this role says that the suite is as it was, with no RED that saw it before.
pub(crate) fn needs_former_suite(role: &Role) -> bool {
    role.shows.is_none() && role.against.is_none() && role.suite.is_none()
}

/// Finds out what the tests did on the commit that a run began on, in a fresh checkout beside the first report that needs it and was
/// seen here: of failing tests, or of a suite that is to be as it was. Nothing comes of it where it is not to be found out, or where
/// the checkout is not like the working tree.
pub fn found_out(
    run: &RunState,
    role: &Role,
    config: &Config,
    taken: &mut TestEvidence,
    cancelled: &Cancellation,
) -> Result<(), Fault> {
    let is_quick = |ran: &SuiteVerdict| ran.duration_ms <= UNASKED;
    let is_due = config.evidence.baseline == Baseline::Auto
        && (role.shows == Some(Shows::NewFailure) && taken.counts.failing() > 0
            || needs_former_suite(role))
        && is_unknown(run)
        && taken.ran.as_ref().is_some_and(is_quick);
    if !is_due {
        return Ok(());
    }
    let memory = Memory::of(run)?;
    if !checkout::is_worth_a_try(run, &memory)? {
        return Ok(());
    }
    let base = memory.base_oid()?;
    let config = config.with_test_timeout(UNASKED);
    let checkout = Checkout::lent(&memory, &config, (&base, &[]), cancelled);
    let tested = checkout.and_then(|checkout| checkout.reporting(&taken.files).tested(None));
    let found = match tested {
        Ok(found) => found,
        Err(fault) if fault.code == "cancelled" => return Err(fault),
        Err(fault) => {
            taken.baseline_too_slow = fault.code == "test_timeout";
            return Ok(());
        }
    };
    let is_like_here = match (found.ledger(), taken.ledger()) {
        (Some(there), Some(here)) => there.named_as(&here).is_some_and(|there| {
            let mut passing = here.those(Outcome::is_success);
            !passing.any(|id| there.fails(id))
        }),
        (there, _) => there.is_some_and(|there| there.every),
    };
    if is_like_here && found.counts.passed > 0 {
        taken.baseline = Some(Box::new(found));
    }
    Ok(())
}

/// Whether what is known of before the run was seen here, by a runner that was made to name its tests.
pub fn was_named_by_adapter(kept: &Map<String, Value>) -> Result<bool, Fault> {
    let told = BASELINE.read(kept)?;
    let told = told.as_ref().and_then(|told| told.get("verified"));
    Ok(told.is_some_and(|ran| ran.get("adapter").is_some()))
}

/// The level of what is known of before the run; none where nothing is.
pub fn level(kept: &Map<String, Value>) -> Result<Option<Level>, Fault> {
    let told = BASELINE.read(kept)?;
    let name = told.as_ref().and_then(|told| told.get("level")?.as_str());
    let mut levels = [Level::Claimed, Level::Reported, Level::Verified].into_iter();
    Ok(levels.find(|level| name == Some(level_name(*level))))
}

/// What a run remembers of one that came while it was under way: what was known by other names stays known, and what was
/// accepted since counts more.
pub fn added(
    baseline: &TestEvidence,
    run: &RunState,
    dir: &Path,
) -> Result<Map<String, Value>, Fault> {
    let mut keep = remembered(baseline, dir)?;
    let known = ledgers(&run.kept)?;
    let mut others = Vec::new();
    if let Some(now) = baseline.ledger() {
        for hash in &known {
            if !Ledger::read(dir, hash)?.names_alike(&now) {
                others.push(hash.clone());
            }
        }
    }
    if !others.is_empty()
        && let Some(mut told) = BASELINE.read(&keep)?
    {
        told.insert(OTHER_LEDGERS.to_owned(), others.into());
        BASELINE.put(&mut keep, &told)?;
    }
    let last = LAST_LEDGER.text(&run.kept);
    let accepted_since = match last {
        Some(last) => !known.iter().any(|hash| hash == last),
        None => LAST_TOTAL.is_in(&run.kept),
    };
    if accepted_since {
        let counts_more = |name: &str| {
            LAST_TOTAL.is_called(name) || LAST_LEVEL.is_called(name) || LAST_LEDGER.is_called(name)
        };
        keep.retain(|name, _| !counts_more(name));
        // A part of the suite may have been accepted while nothing was known.
        if let (Some(last), Some(mut all)) = (last, baseline.ledger())
            && !BASELINE.is_in(&run.kept)
        {
            let last = Ledger::read(dir, last)?;
            if last.names_alike(&all) {
                all.tests.extend(last.tests);
                LAST_LEDGER.put(&mut keep, &all.keep(dir)?)?;
            }
        }
    }
    Ok(keep)
}
