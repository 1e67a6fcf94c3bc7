//! The suite of the commit that an item began on: what failed there may go on failing.

use std::path::Path;

use ::test_report::Outcome;
use machine::RunState;
use machine::state::Token;
use serde_json::{Map, Value};
use workspace::config::Level;

use crate::capability::memory::{
    BASELINE, BENCH, LAST_LEDGER, LAST_LEVEL, LAST_RUNNER, SHOWN, UNTRIED,
};
use crate::capability::tests::evidence::ledger::Ledger;
use crate::capability::tests::evidence::{TestEvidence, level_name, level_named};
use crate::capability::tests::read::MOST_NAMED;
use crate::fault::Fault;

/// What a run in `dir` remembers of it, with the evidence kept there.
pub fn remembered(baseline: &TestEvidence, dir: &Path) -> Result<Map<String, Value>, Fault> {
    baseline.keep(dir)?;
    let mut keep = LAST_LEVEL.entry(&level_name(baseline.level()).to_owned())?;
    UNTRIED.forget(&mut keep);
    if let Some(runner) = &baseline.runner {
        LAST_RUNNER.put(&mut keep, runner)?;
    }
    if let Some(reason) = &baseline.off_bench {
        BENCH.put(&mut keep, reason)?;
    }
    let mut told = baseline.counts.facts();
    told.extend(baseline.facts());
    if let Some(ledger) = baseline.ledger() {
        LAST_LEDGER.put(&mut keep, &ledger.keep(dir)?)?;
        let failing: Vec<&str> = ledger.failing().take(MOST_NAMED).collect();
        told.insert("failingTests".to_owned(), failing.into());
    }
    BASELINE.put(&mut keep, &told)?;
    Ok(keep)
}

/// Whether no suite was run here on what the item in hand began with.
pub fn is_unknown(run: &RunState) -> bool {
    let last = LAST_LEVEL.text(&run.kept).and_then(level_named);
    UNTRIED.is_in(&run.kept) || last.is_none_or(|level| level < Level::Ran)
}

/// Whether the suite of the commit that the work is on is to be run before that of a report of an item: nothing is known of what the
/// tests did before it. A repair begins with tests that fail there.
pub(crate) fn is_due(run: &RunState, present: &Token) -> bool {
    let role = &present.role;
    let against = role.against.as_ref();
    let is_repair = against.is_some_and(|label| !SHOWN.of(label).is_in(&present.kept));
    let is_of_item = role.shows.is_some() || role.suite.is_none() && !is_repair;
    is_of_item && is_unknown(run)
}

/// Whether the run has a verified suite in which a test passed. A suite without names of tests counts.
pub(crate) fn was_verified(dir: &Path, kept: &Map<String, Value>) -> Result<bool, Fault> {
    let last = LAST_LEVEL.text(kept).and_then(level_named);
    if ![level(kept)?, last].contains(&Some(Level::Verified)) {
        return Ok(false);
    }
    let Some(ledger) = LAST_LEDGER.text(kept) else {
        return Ok(true);
    };
    let ledger = Ledger::read(dir, ledger)?;
    Ok(ledger.those(Outcome::is_success).next().is_some())
}

/// The level of what was found out of before the run; none where nothing was.
pub fn level(kept: &Map<String, Value>) -> Result<Option<Level>, Fault> {
    let told = BASELINE.read(kept)?;
    let name = told.as_ref().and_then(|told| told.get("level")?.as_str());
    Ok(name.and_then(level_named))
}
