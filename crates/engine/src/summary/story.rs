//! What a journal tells of its run, as far as it stands.

use std::collections::HashMap;
use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value;

use crate::summary::phase::{Basis, Levels, Phase};
use crate::summary::row::Row;

/// What the journal tells.
#[derive(Debug, Default, Clone)]
pub(super) struct Story {
    pub(super) rows: IndexMap<String, Row>,
    /// The subtask of each unit that has one.
    pub(super) units: Arc<HashMap<String, String>>,
    pub(super) baseline: Option<Phase>,
    pub(super) commits: Vec<String>,
    pub(super) suite: Option<Phase>,
    pub(super) failed_suites: Vec<Phase>,
    /// The repair in which the last of these passed again.
    pub(super) mended_by: Option<String>,
    pub(super) reopened: Vec<Value>,
    /// To where the run was taken back.
    pub(super) rewound: Vec<Value>,
    /// The item that was given another kind of work last, when, and which one.
    pub(super) new_kind: Option<(String, String, Value)>,
    pub(super) skipped: Vec<Value>,
    pub(super) allowed: Vec<Value>,
    pub(super) approvals: Vec<Value>,
    pub(super) pauses: Vec<Value>,
    pub(super) failed_effects: Vec<Value>,
    pub(super) warnings: Vec<Value>,
    /// All that happened, in its order.
    pub(super) steps: Arc<Vec<Value>>,
}

impl Story {
    /// Lets stand what stood then, and nothing that came behind it.
    pub(super) fn go_back(&mut self, then: Option<&Self>) {
        let then = then.cloned().unwrap_or_default();
        let now = std::mem::replace(&mut self.rows, then.rows);
        for (key, gone) in now {
            // That something was tried and did not work is not undone by it.
            if gone.failed_attempts.is_empty() {
                continue;
            }
            let row = self.rows.entry(key.clone()).or_default();
            row.id = key;
            let known = row.failed_attempts.len();
            let failed = gone.failed_attempts.len().saturating_sub(known);
            row.reports += u32::try_from(failed).unwrap_or_default();
            row.failed_attempts = gone.failed_attempts;
        }
        self.commits = then.commits;
        self.suite = then.suite;
        self.failed_suites = then.failed_suites;
        self.mended_by = then.mended_by;
    }

    /// What the test results of the run rest on.
    pub(super) fn basis(&self) -> Basis {
        let red = || self.rows.values().filter_map(|row| row.red.as_ref());
        Basis {
            red: Levels::of(red()),
            green: Levels::of(self.rows.values().filter_map(Row::weakest_green)),
            suite: Levels::of(&self.suite),
            before: self.baseline.as_ref().map(|before| before.level),
        }
    }

    /// How many reports came to this.
    pub(super) fn verdicts(&self, verdict: &str) -> usize {
        let of = |step: &&Value| step["verdict"] == verdict;
        self.steps.iter().filter(of).count()
    }

    /// How often a person sent work back.
    pub(super) fn rejections(&self) -> usize {
        let rejected = |step: &&Value| step["what"] == "decision" && step["choice"] != "approve";
        self.steps.iter().filter(rejected).count()
    }

    /// The reports that stand, in order.
    pub(super) fn phases(&self) -> impl DoubleEndedIterator<Item = &Phase> {
        self.rows.values().flat_map(Row::phases).chain(&self.suite)
    }
}
