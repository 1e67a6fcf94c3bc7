//! What is known of the tests from before an item.

use std::path::Path;

use machine::RunState;
use machine::state::Token;

use crate::capability::memory::{BEFORE, LAST_LEDGER, REPAIRS};
use crate::capability::tests::evidence::is_meant;
use crate::capability::tests::evidence::ledger::Ledger;
use crate::fault::Fault;

/// The hash of what each test did before the item in hand, as the run has it: what was known when its first report was accepted. Who
/// goes back to its beginning is held to that again, not to what the item itself has brought since.
pub(crate) fn hash(run: &RunState, present: Option<&Token>) -> Result<Option<String>, Fault> {
    let began = present.map(|token| BEFORE.read(&token.kept)).transpose()?;
    match began.flatten() {
        Some(before) => Ok(Some(before).filter(|hash| !hash.is_empty())),
        None => LAST_LEDGER.read(&run.kept),
    }
}

/// What each test did then, but for those that the item is to repair. Each RED names them anew.
pub(crate) fn before(
    dir: &Path,
    run: &RunState,
    present: Option<&Token>,
) -> Result<Option<Ledger>, Fault> {
    let hash = hash(run, present)?;
    let before = hash.map(|hash| Ledger::read(dir, &hash)).transpose()?;
    let present = present.filter(|token| token.role.shows.is_none());
    let repairs = present.map(|token| REPAIRS.read(&token.kept)).transpose()?;
    let repairs = repairs.flatten().unwrap_or_default();
    Ok(before.map(|before| before.without(&repairs)))
}

/// The tests that a caller means to repair: those that failed before, as far as that is known.
pub(crate) fn repaired(before: Option<&Ledger>, named: &[String]) -> Vec<String> {
    let Some(before) = before else {
        return named.to_vec();
    };
    let is_named = |id: &&str| named.iter().any(|named| is_meant(named, id));
    let failed = before.failing().filter(is_named);
    failed.map(str::to_owned).collect()
}
