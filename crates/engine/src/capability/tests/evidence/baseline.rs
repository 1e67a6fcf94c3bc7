//! The suite as it was before a run: what failed then may go on failing.

use std::path::Path;

use serde_json::{Map, Value};

use crate::capability::memory::{BASELINE, LAST_LEDGER, LAST_LEVEL, LAST_TOTAL};
use crate::capability::tests::evidence::{TestEvidence, level_name};
use crate::fault::Fault;

/// Under this name the baseline says what each test did: a hash of the run's evidence.
pub(crate) const BASELINE_LEDGER: &str = "ledger";
/// At most so many tests are named in a journal line.
const MOST_NAMED: usize = 100;

/// What a run in `dir` remembers of it, with the evidence kept there.
pub fn remembered(baseline: &TestEvidence, dir: &Path) -> Result<Map<String, Value>, Fault> {
    baseline.keep(dir)?;
    let mut keep = LAST_TOTAL.entry(&baseline.counts.total())?;
    LAST_LEVEL.put(&mut keep, &level_name(baseline.level()).to_owned())?;
    let mut told = baseline.counts.facts();
    told.extend(baseline.facts());
    if let Some(ledger) = baseline.ledger() {
        let hash = ledger.keep(dir)?;
        LAST_LEDGER.put(&mut keep, &hash)?;
        told.insert(BASELINE_LEDGER.to_owned(), hash.into());
        let failing: Vec<&str> = ledger.failing().take(MOST_NAMED).collect();
        told.insert("failingTests".to_owned(), failing.into());
    }
    BASELINE.put(&mut keep, &told)?;
    Ok(keep)
}
