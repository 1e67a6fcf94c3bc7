//! An item of the run, as the table shows it.

use serde_json::{Value, json};

use crate::capability::tests::evidence::level_name;
use crate::summary::phase::Phase;

/// What became of an item that tests were reported of; of the run itself where they were of none.
#[derive(Debug, Default, Clone)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) title: String,
    /// What kind of work it is, by a field of that name.
    pub(super) kind: String,
    pub(super) status: String,
    pub(super) red: Option<Phase>,
    pub(super) green: Option<Phase>,
    /// The label of GREEN.
    pub(super) green_as: Option<String>,
    /// What was accepted of the code in another form, once GREEN was.
    pub(super) refactored: Option<Phase>,
    /// Why GREEN was not reached, each time.
    pub(super) failed_attempts: Vec<Value>,
    /// GREEN reports until one was accepted, over all attempts and reopenings.
    pub(super) reports: u32,
    /// The tree that GREEN was tested with.
    pub(super) tree: Option<String>,
    pub(super) commit: Option<String>,
    /// Somebody else made the commit, and handed it in.
    pub(super) handed_in: bool,
    pub(super) duration_ms: u64,
    pub(super) refused: Vec<Value>,
}

impl Row {
    /// The reports that stand.
    pub(super) fn phases(&self) -> impl DoubleEndedIterator<Item = &Phase> {
        self.red.iter().chain(&self.green).chain(&self.refactored)
    }

    /// GREEN, or the refactoring behind it where that rests on less.
    pub(super) fn weakest_green(&self) -> Option<&Phase> {
        let passing = self.green.iter().chain(&self.refactored);
        passing.min_by_key(|phase| phase.level)
    }

    pub(super) fn coverage(&self) -> Option<&Value> {
        let mut last = self.refactored.iter().chain(&self.green);
        last.find_map(|phase| phase.coverage.as_ref())
    }

    pub(super) fn json(&self) -> Value {
        let level = self.phases().map(|phase| phase.level).min();
        let mut row = json!({
            "id": self.id,
            "title": self.title,
            "status": self.status,
            "red": self.red.as_ref().map(Phase::json),
            "green": self.green.as_ref().map(Phase::json),
            "attempts": self.reports,
            "reports": self.reports,
            "failedAttempts": self.failed_attempts,
            "coverage": self.coverage(),
            "commit": self.commit,
            "handedIn": self.handed_in,
            "tree": self.tree,
            "durationMs": self.duration_ms,
            "level": level.map(level_name).unwrap_or_default(),
            "refused": self.refused,
        });
        if !self.kind.is_empty() {
            row["kind"] = self.kind.as_str().into();
        }
        if let Some(refactored) = &self.refactored {
            row["refactored"] = refactored.json();
        }
        row
    }
}
