//! What is known of the tests from before an item.

use std::path::Path;

use machine::RunState;
use machine::state::Token;

use crate::capability::memory::{BEFORE, LAST_LEDGER};
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

/// What each test did then.
pub(crate) fn before(
    dir: &Path,
    run: &RunState,
    present: Option<&Token>,
) -> Result<Option<Ledger>, Fault> {
    let hash = hash(run, present)?;
    hash.map(|hash| Ledger::read(dir, &hash)).transpose()
}
