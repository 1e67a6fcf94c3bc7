//! What was found out of the tests of before, beside a report.

use journal::layout::RunDir;
use machine::Command;

use crate::call::Input;
use crate::capability::memory::BASELINE;
use crate::capability::messages::tests;
use crate::capability::tests::evidence::ledger::Ledger;
use crate::capability::tests::evidence::{TestEvidence, baseline};
use crate::capability::tests::read::few;
use crate::engine::Engine;
use crate::fault::Fault;

impl Engine {
    /// Has a run remember how the tests were before the item in hand, where nobody has found that out meanwhile. Gives what to say
    /// of it, where anything failed then.
    pub(super) fn take_found_baseline(
        &self,
        dir: &RunDir,
        found: &TestEvidence,
    ) -> Result<Option<String>, Fault> {
        let mut writer = self.writer(dir, Input::None)?;
        let run = &writer.open.run;
        if !baseline::is_unknown(run) {
            return Ok(None);
        }
        let mut keep = baseline::remembered(found, &writer.call.dir)?;
        if BASELINE.is_in(&run.kept) {
            // That of the first item is the one from before the run.
            keep.retain(|name, _| !BASELINE.is_called(name));
        }
        let command = Command::Edit {
            edits: Vec::new(),
            keep,
        };
        let done = writer.command(&command)?.is_ok();
        Ok(Some(told(found)).filter(|_| done && found.counts.failing() > 0))
    }
}

/// What to say of tests that failed before.
fn told(found: &TestEvidence) -> String {
    let ledger = found.ledger();
    let failing: Vec<String> = ledger
        .iter()
        .flat_map(Ledger::failing)
        .map(str::to_owned)
        .collect();
    let passed = tests(found.counts.passed);
    match &failing[..] {
        [] => format!(
            "Before this subtask {passed} passed and {} failed, without names",
            found.counts.failing()
        ),
        failing => format!(
            "Before this subtask {passed} passed, and these failed, as they may go on to: {}",
            few(failing)
        ),
    }
}
