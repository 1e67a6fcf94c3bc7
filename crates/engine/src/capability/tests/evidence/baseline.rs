//! The suite as it was before a run: what failed then may go on failing.

use std::path::Path;

use machine::role::Shows;
use machine::{Role, RunState};
use serde_json::{Map, Value};
use workspace::config::Level;

use crate::capability::memory::{
    BASELINE, BENCH, LAST_LEDGER, LAST_LEVEL, LAST_RUNNER, LAST_TOTAL,
};
use crate::capability::tests::evidence::ledger::Ledger;
use crate::capability::tests::evidence::{TestEvidence, level_name, level_named};
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
    if let Some(reason) = &baseline.off_bench {
        BENCH.put(&mut keep, reason)?;
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

/// Whether the suite of the commit that the work began on is to be run before that of a report in this role: it is of failing tests, or
/// of a suite that is to be as it was, and nothing is known of the tests.
pub(crate) fn is_due(run: &RunState, role: &Role) -> bool {
    (role.shows == Some(Shows::NewFailure) || needs_former_suite(role)) && is_unknown(run)
}

/// Whether what is known of before the run was seen here, by a runner that was made to name its tests.
pub fn was_named_by_adapter(kept: &Map<String, Value>) -> Result<bool, Fault> {
    let told = BASELINE.read(kept)?;
    let told = told.as_ref().and_then(|told| told.get("verified"));
    Ok(told.is_some_and(|ran| ran.get("adapter").is_some()))
}

/// Whether a suite that was run on the bench told of its tests.
pub(crate) fn was_verified(kept: &Map<String, Value>) -> Result<bool, Fault> {
    let last = LAST_LEVEL.text(kept).and_then(level_named);
    Ok([level(kept)?, last].contains(&Some(Level::Verified)))
}

/// The level of what is known of before the run; none where nothing is.
pub fn level(kept: &Map<String, Value>) -> Result<Option<Level>, Fault> {
    let told = BASELINE.read(kept)?;
    let name = told.as_ref().and_then(|told| told.get("level")?.as_str());
    Ok(name.and_then(level_named))
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
