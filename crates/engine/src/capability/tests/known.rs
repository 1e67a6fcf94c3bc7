//! What is known of the tests from before a report.

use machine::state::Token;
use machine::{Role, RunState};
use serde_json::{Map, Value};

use crate::call::Call;
use crate::capability::memory::{BEGAN, LAST_LEDGER, LAST_TOTAL, SHOWN, TestsBefore};
use crate::capability::tests::evidence::baseline;
use crate::capability::tests::evidence::hollow::is_of_tests_alone;
use crate::capability::tests::evidence::ledger::Ledger;
use crate::capability::tests::read::Comparison;
use crate::fault::Fault;

/// What was known when the item in hand began, as it said in its first report.
pub(crate) fn began(kept: &Map<String, Value>, role: &Role) -> Result<Option<TestsBefore>, Fault> {
    for label in [&role.label, &role.against] {
        if let Some(shown) = SHOWN.read(kept, label.as_ref())? {
            return Ok(shown.before);
        }
    }
    if is_of_tests_alone(role) {
        return BEGAN.read(kept, role.label.as_ref());
    }
    Ok(None)
}

impl Comparison<'_> {
    /// Warns where nothing is known of the suite that this one is to be as.
    pub(super) fn warn_of_unknown_suite(&mut self) {
        // Numbers are claimed, and say so.
        let is_unknown = self.now.as_ref().is_some_and(|now| match &self.before {
            Some(before) => !before.names_alike(now),
            None => !LAST_TOTAL.is_in(&self.run.kept),
        });
        if baseline::needs_former_suite(self.role) && is_unknown {
            self.warnings.push("no_baseline".to_owned());
        }
    }
}

/// What each test did before: when the item began, before the run, or when the last report was accepted; the first of these
/// whose names can be compared with those of now.
pub(super) fn before(
    call: &Call<'_>,
    run: &RunState,
    present: Option<&Token>,
    role: &Role,
    now: Option<&Ledger>,
) -> Result<Option<Ledger>, Fault> {
    let began = match present {
        Some(token) => began(&token.kept, role)?,
        None => None,
    };
    let last = match began {
        Some(_) => None,
        None => LAST_LEDGER.read(&run.kept)?,
    };
    let hashes = [began.and_then(|before| before.ledger), last];
    let hashes = hashes.into_iter().flatten();
    let mut all = Vec::new();
    for hash in hashes.chain(baseline::ledgers(&run.kept)?) {
        let known = Ledger::read(&call.dir, &hash)?;
        if now.is_none_or(|now| known.names_alike(now)) {
            return Ok(Some(known));
        }
        all.push(known);
    }
    // By other names they may well be the same tests.
    let renamed = now.and_then(|now| all.iter().find_map(|known| known.in_format_of(now)));
    Ok(renamed.or_else(|| all.into_iter().next()))
}
