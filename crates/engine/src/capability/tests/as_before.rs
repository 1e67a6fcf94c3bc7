//! A report that nothing was changed since one that was accepted, which holds for it, too.

use machine::RunState;
use machine::state::Token;

use crate::capability::memory::{LAST_LEDGER, LAST_LEVEL, TESTED};
use crate::capability::tests::comparison::Comparison;
use crate::capability::tests::evidence::{TestEvidence, level_named};
use crate::capability::tests::read::{few, name_of};
use crate::fault::Fault;
use crate::support::HandlerError;
use crate::{fault, refusal};

/// What such a report says of the one that holds for it: what people call that.
pub(crate) const AS_BEFORE: &str = "asBefore";

/// The evidence of a report of a present unit that says so: what the accepted one showed.
pub(crate) fn evidence(run: &RunState, present: &Token) -> Result<TestEvidence, Fault> {
    let tested = TESTED.read(&present.kept, present.role.against.as_ref())?;
    let tested = tested.ok_or_else(|| fault!("usage.evidence"))?;
    let mut taken = TestEvidence {
        unchanged: true,
        level: LAST_LEVEL.text(&run.kept).and_then(level_named),
        ..TestEvidence::default()
    };
    taken.counts.passed = tested.passed;
    Ok(taken)
}

impl Comparison<'_> {
    /// Takes the report over that this one is held against, where the tree is the one that it was about.
    pub(super) fn as_before(&mut self) -> Result<(), HandlerError> {
        let against = self.role.against.as_ref();
        let name = name_of(against);
        let Some(tested) = TESTED.read(self.kept, against)? else {
            return Err(Fault::bug("nothing was tested before").into());
        };
        if self.work.tree != tested.work.tree {
            let changed = self
                .repository
                .changed_paths(&tested.work.tree, &self.work.tree)?;
            let changed: Vec<String> = changed.iter().map(ToString::to_string).collect();
            return Err(refusal!("changed_since.report", name, changed = few(&changed)).into());
        }
        self.facts.insert(AS_BEFORE.to_owned(), name.into());
        if let Some(label) = &self.role.label {
            TESTED.of(label).put(&mut self.keep, &tested)?;
        }
        self.hashes.extend(LAST_LEDGER.read(&self.run.kept)?);
        Ok(())
    }
}
