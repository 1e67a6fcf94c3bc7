//! The ledger of tests: what each of them did, by name, and what that says beside what it did before.

use std::collections::BTreeMap;
use std::path::Path;

use ::test_report::{Named, Outcome, TestFormat, TestReport};
use journal::EvidenceStore;
use serde::{Deserialize, Serialize};

use super::{is_meant, names::outcomes};
use crate::fault;
use crate::fault::Fault;

/// What each test did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// The format of the report: ids of two formats are not the same ids.
    pub format: TestFormat,
    /// Whether every test of the report is in it.
    pub every: bool,
    /// Outcome by id. Each test of one id has its own: the second is `ID (2)`.
    pub tests: BTreeMap<Box<str>, Outcome>,
}

impl Ledger {
    /// That of a report.
    pub fn of(report: &TestReport) -> Self {
        let tests = outcomes(report);
        // Files that could not be read are all named, by runners too that name no test that passes.
        let any_ran = tests
            .values()
            .any(|outcome| *outcome != Outcome::NotCollected);
        Self {
            format: report.format,
            every: report.named == Named::Every && any_ran && !lists_by_the_way(report.format),
            tests,
        }
    }

    /// Whether it has any test.
    pub fn names_any(&self) -> bool {
        !self.tests.is_empty()
    }

    /// The ids whose outcome is such.
    pub fn those(&self, such: impl Fn(Outcome) -> bool) -> impl Iterator<Item = &str> {
        self.tests
            .iter()
            .filter(move |(_, outcome)| such(**outcome))
            .map(|(id, _)| &**id)
    }

    /// The ids that failed.
    pub fn failing(&self) -> impl Iterator<Item = &str> {
        self.those(Outcome::is_failure)
    }

    /// What a test did.
    pub fn outcome(&self, id: &str) -> Option<Outcome> {
        self.tests.get(id).copied()
    }

    /// Whether both give tests the same ids.
    pub fn names_alike(&self, other: &Self) -> bool {
        self.format.names_alike(other.format)
    }

    /// Whether a test failed here.
    pub fn fails(&self, id: &str) -> bool {
        self.outcome(id).is_some_and(Outcome::is_failure)
    }

    /// The ids that fail, and did not before.
    pub fn newly_failing(&self, before: Option<&Self>) -> Vec<String> {
        self.failing()
            .filter(|id| before.is_none_or(|before| !before.fails(id)))
            .map(str::to_owned)
            .collect()
    }

    /// It without the tests that a caller names.
    #[must_use]
    pub fn without(mut self, named: &[String]) -> Self {
        let is_named = |id: &str| named.iter().any(|named| is_meant(named, id));
        self.tests.retain(|id, _| !is_named(id));
        self
    }

    /// Keeps it with the run, and returns its hash.
    pub fn keep(&self, dir: &Path) -> Result<String, Fault> {
        let bytes = serde_json::to_vec(self).map_err(|error| Fault::bug(error.to_string()))?;
        Ok(EvidenceStore::new(dir).put(&bytes)?)
    }

    /// The one with that hash.
    pub fn read(dir: &Path, hash: &str) -> Result<Self, Fault> {
        let bytes = EvidenceStore::new(dir).get(hash)?;
        serde_json::from_slice(&bytes)
            .map_err(|error| fault!("journal_damaged.ledger", hash, error))
    }
}

/// Whether a runner lists tests in one run and not in the next: Jest those of a run of one file, and of more only files; Go without
/// `-v` those that fail, and of all others only the packages. What is not listed is then not missing.
pub fn lists_by_the_way(format: TestFormat) -> bool {
    matches!(format, TestFormat::JestText | TestFormat::GoText)
}
