//! What a report of tests showed, and what it rests on.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;

use ::test_report::Outcome;
use machine::RunState;
use machine::event::AcceptedReport;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::capability::checks::content_checks;
use crate::capability::memory::{LAST_LEDGER, REPAIRS, SHOWN};
use crate::capability::tests::as_before::AS_BEFORE;
use crate::capability::tests::evidence::ledger::Ledger;
use crate::capability::tests::evidence::suite::SuiteVerdict;
use crate::capability::tests::evidence::{NAMED, OFF_BENCH, SubmittedFile, level_name};
use crate::capability::tests::read::{MOST_NAMED, SNAPSHOTS};
use workspace::config::Level;

/// The levels, the weakest first.
pub const LEVELS: [Level; 4] = Level::ALL;

/// A report of tests: its numbers, and where they come from.
#[derive(Debug, Clone)]
pub struct Phase {
    /// The unit that it answered.
    pub unit: String,
    /// The state that it was reported in.
    pub state: String,
    /// When it was taken in.
    pub at: String,
    /// How much is known.
    pub level: Level,
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed, less those that may.
    pub failed: u64,
    /// Tests that could not be built or collected.
    pub errors: u64,
    /// Tests that were skipped.
    pub skipped: u64,
    /// Coverage, as it was given.
    pub coverage: Option<Value>,
    /// Format of the report.
    pub format: Option<String>,
    /// Which tests have a name in it.
    pub named: Option<String>,
    /// Hashes of the bytes that it rests on.
    pub evidence: Vec<String>,
    /// The files that were handed in.
    pub reports: Vec<SubmittedFile>,
    /// The file with the coverage.
    pub coverage_report: Option<SubmittedFile>,
    /// The run of the test command.
    pub verified: Option<SuiteVerdict>,
    /// Why the suite was run in the working tree, and not on the bench.
    pub off_bench: Option<String>,
    /// Tests that fail, and did not before.
    pub newly_failing: Vec<String>,
    /// Of those that RED showed failing, the ones that pass now.
    pub turned: Vec<String>,
    /// Others that pass now, and did not before.
    pub added: Vec<String>,
    /// Tests that fail and are to be mended.
    pub failing: Vec<String>,
    /// Tests that failed before and may go on failing.
    pub known_failing: Vec<String>,
    /// Tests that passed only when they were tried again.
    pub flaky: Vec<String>,
    /// Tests that were taken out on purpose.
    pub removed: Vec<String>,
    /// Snapshots that came.
    pub snapshots: Vec<String>,
    /// What people call the report that holds for it, where nothing was changed since.
    pub as_before: Option<String>,
    /// The linters, formatters and type checkers that found nothing new.
    pub checked: Vec<String>,
}

impl Phase {
    /// That of facts that were taken in at a level.
    pub fn of_facts(facts: &Map<String, Value>, level: &str) -> Self {
        let number = |name: &str| facts.get(name).and_then(Value::as_u64).unwrap_or(0);
        Self {
            unit: String::new(),
            state: String::new(),
            at: String::new(),
            level: LEVELS
                .into_iter()
                .find(|known| level_name(*known) == level)
                .unwrap_or(Level::Claimed),
            passed: number("passed"),
            failed: number("failed"),
            errors: number("errors"),
            skipped: number("skipped"),
            coverage: facts.get("coverage").cloned(),
            format: facts
                .get("format")
                .and_then(Value::as_str)
                .map(str::to_owned),
            named: facts.get(NAMED).and_then(Value::as_str).map(str::to_owned),
            evidence: Vec::new(),
            reports: read(facts, "reports").unwrap_or_default(),
            coverage_report: read(facts, "coverageReport"),
            verified: read(facts, "verified"),
            off_bench: read(facts, OFF_BENCH),
            newly_failing: read(facts, "newlyFailing").unwrap_or_default(),
            turned: Vec::new(),
            added: Vec::new(),
            failing: read(facts, "failingTests").unwrap_or_default(),
            known_failing: read(facts, "knownFailing").unwrap_or_default(),
            flaky: read(facts, "flakyTests").unwrap_or_default(),
            removed: read(facts, "removed").unwrap_or_default(),
            snapshots: read(facts, SNAPSHOTS).unwrap_or_default(),
            as_before: read(facts, AS_BEFORE),
            checked: content_checks(facts),
        }
    }

    /// That of a report that was taken in.
    pub fn of(report: &AcceptedReport, at: &str) -> Self {
        let mut evidence: Vec<String> = Vec::new();
        for hash in &report.evidence {
            if !evidence.contains(hash) {
                evidence.push(hash.clone());
            }
        }
        Self {
            unit: report.unit.clone(),
            state: report.state.clone(),
            at: at.to_owned(),
            evidence,
            ..Self::of_facts(&report.facts, &report.level)
        }
    }

    /// Looks up in the evidence of the run which tests RED showed failing. What is lost is known from the journal in part.
    pub fn look_up_red(&mut self, dir: &Path, run: &RunState, report: &AcceptedReport) {
        let shown = SHOWN.read(&report.keep, report.role.label.as_ref());
        let shown = shown.ok().flatten();
        if let Some(red) = ledger(
            dir,
            shown.as_ref().and_then(|shown| shown.ledger.as_deref()),
        ) {
            let before = ledger(dir, LAST_LEDGER.text(&run.kept));
            let before = before.filter(|before| before.names_alike(&red));
            let repairs = REPAIRS.read(&report.keep).ok().flatten();
            let before = before.map(|before| before.without(&repairs.unwrap_or_default()));
            self.newly_failing = red.newly_failing(before.as_ref());
        }
    }

    /// Looks up which tests pass now and did not before; `owed` are those that were to be made to pass.
    pub fn look_up_green(
        &mut self,
        dir: &Path,
        run: &RunState,
        report: &AcceptedReport,
        owed: &[String],
    ) {
        let Some(now) = ledger(dir, LAST_LEDGER.text(&report.keep_run)) else {
            return;
        };
        // One that lists only what failed does not say what passed.
        let before = ledger(dir, LAST_LEDGER.text(&run.kept))
            .filter(|before| before.every)
            .filter(|before| before.names_alike(&now));
        let owed: HashSet<&str> = owed.iter().map(String::as_str).collect();
        let passed_before = |id: &str| {
            // Where nothing is known from before, nothing is said to be new.
            before
                .as_ref()
                .is_none_or(|before| before.outcome(id).is_some_and(Outcome::is_success))
        };
        for id in now.those(Outcome::is_success) {
            if owed.contains(id) {
                self.turned.push(id.to_owned());
            } else if !passed_before(id) {
                self.added.push(id.to_owned());
            }
        }
    }

    /// It, for programs.
    pub fn json(&self) -> Value {
        let mut value = json!({
            "passed": self.passed,
            "failed": self.failed,
            "skipped": self.skipped,
            "errors": self.errors,
            "level": level_name(self.level),
        });
        let Value::Object(map) = &mut value else {
            return value;
        };
        let mut put = |name: &str, value: Value| {
            let is_nothing = match &value {
                Value::Null => true,
                Value::String(text) => text.is_empty(),
                Value::Array(list) => list.is_empty(),
                _ => false,
            };
            if !is_nothing {
                map.insert(name.to_owned(), value);
            }
        };
        put("unit", json!(self.unit));
        put("at", json!(self.at));
        put("coverage", json!(self.coverage));
        put("format", json!(self.format));
        put("named", json!(self.named));
        put("evidence", json!(self.evidence));
        put("reports", json!(self.reports));
        put("coverageReport", json!(self.coverage_report));
        put("verified", json!(self.verified));
        put(OFF_BENCH, json!(self.off_bench));
        put("failingTests", json!(self.failing));
        put("knownFailing", json!(self.known_failing));
        put("flakyTests", json!(self.flaky));
        put("removed", json!(self.removed));
        put(SNAPSHOTS, json!(self.snapshots));
        put(AS_BEFORE, json!(self.as_before));
        put("checked", json!(self.checked));
        let passing: Vec<&String> = self.turned.iter().chain(&self.added).collect();
        for (name, all) in [
            ("newlyFailing", self.newly_failing.iter().collect()),
            ("nowPassing", passing),
        ] {
            put(name, json!(all[..all.len().min(MOST_NAMED)]));
            if all.len() > MOST_NAMED {
                put(&format!("{name}Total"), all.len().into());
            }
        }
        value
    }
}

fn read<T: for<'de> Deserialize<'de>>(facts: &Map<String, Value>, name: &str) -> Option<T> {
    T::deserialize(facts.get(name)?).ok()
}

/// The ledger with this hash, if it is at hand.
fn ledger(dir: &Path, hash: Option<&str>) -> Option<Ledger> {
    Ledger::read(dir, hash?).ok()
}

/// How many reports there are of each level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Levels([u64; LEVELS.len()]);

impl Levels {
    /// Those of some reports.
    pub fn of<'p>(phases: impl IntoIterator<Item = &'p Phase>) -> Self {
        let mut levels = Self::default();
        for phase in phases {
            levels.0[phase.level as usize] += 1;
        }
        levels
    }

    /// Both together.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        for (mine, others) in self.0.iter_mut().zip(other.0) {
            *mine += others;
        }
        self
    }

    /// How many there are in all.
    pub fn total(self) -> u64 {
        self.0.iter().sum()
    }

    /// How many there are of each, for programs.
    pub fn json(self) -> Value {
        LEVELS
            .into_iter()
            .zip(self.0)
            .map(|(level, many)| (level_name(level).to_owned(), Value::from(many)))
            .collect::<Map<_, _>>()
            .into()
    }

    /// The levels that there are.
    fn present(self) -> impl DoubleEndedIterator<Item = (Level, u64)> {
        LEVELS.into_iter().zip(self.0).filter(|(_, many)| *many > 0)
    }
}

/// What the test results of a run rest on, by phase.
#[derive(Debug, Clone, Copy, Default)]
pub struct Basis {
    /// Accepted REDs.
    pub red: Levels,
    /// Accepted GREENs.
    pub green: Levels,
    /// The final suite.
    pub suite: Levels,
    /// The suite of before the run.
    pub before: Option<Level>,
}

impl Basis {
    /// Of all phases.
    pub fn total(&self) -> Levels {
        self.red.with(self.green).with(self.suite)
    }

    /// It in words. `strong` sets off the name of a level.
    pub fn spoken(&self, strong: &dyn Fn(&str) -> String) -> String {
        let total = self.total();
        let mut said = match total.present().collect::<Vec<_>>().as_slice() {
            [] => "No test results were accepted in this run.".to_owned(),
            [(level, 1)] => format!(
                "The only test results of this run are {}: {}.",
                strong(level_name(*level)),
                meaning(*level)
            ),
            [(level, _)] => format!(
                "All test results of this run are {}: {}.",
                strong(level_name(*level)),
                meaning(*level)
            ),
            several => {
                let phases = [
                    ("RED", self.red),
                    ("GREEN", self.green),
                    ("final suite", self.suite),
                ]
                .into_iter()
                .filter(|(_, levels)| levels.total() > 0)
                .map(|(name, levels)| format!("{name}: {}", numbered(levels)))
                .collect::<Vec<_>>();
                let meanings = several
                    .iter()
                    .rev()
                    .map(|(level, _)| {
                        format!("{}: {}", strong(level_name(*level)), meaning(*level))
                    })
                    .collect::<Vec<_>>();
                format!("{}. ({}.)", phases.join("; "), meanings.join("; "))
            }
        };
        let weakest = total.present().next().map(|(level, _)| level);
        if let Some(before) = self.before.filter(|before| Some(*before) < weakest) {
            let level = strong(level_name(before));
            let _ = write!(said, " What failed before the run is only {level}.");
        }
        said
    }
}

/// Where one phase's results come from: `verified`, or `2 verified, 1 claimed`.
fn numbered(levels: Levels) -> String {
    let present: Vec<(Level, u64)> = levels.present().rev().collect();
    match present.as_slice() {
        [(level, 1)] => level_name(*level).to_owned(),
        [(level, many)] => format!("all {many} {}", level_name(*level)),
        several => several
            .iter()
            .map(|(level, many)| format!("{many} {}", level_name(*level)))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

fn meaning(level: Level) -> &'static str {
    match level {
        Level::Claimed => {
            "the numbers are those that the executor gave, and nothing else tells of them"
        }
        Level::Reported => "they were read from what the test runner wrote",
        Level::Ran => "tm ran the test command itself, in the working tree as it stood",
        Level::Verified => "tm ran the test command itself, on the trees that are judged",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn basis(red: [u64; 4], green: [u64; 4], suite: [u64; 4]) -> String {
        let basis = Basis {
            red: Levels(red),
            green: Levels(green),
            suite: Levels(suite),
            before: Some(Level::Reported),
        };
        basis.spoken(&str::to_uppercase)
    }

    #[test]
    fn what_results_rest_on_is_said_as_it_is() {
        let none = [0; 4];
        let said = [
            basis(none, none, none),
            basis([1, 0, 0, 0], none, none),
            basis([2, 0, 0, 0], [2, 0, 0, 0], [1, 0, 0, 0]),
            basis([0, 2, 0, 0], [0, 2, 0, 0], none),
            basis([0, 0, 0, 2], [0, 0, 0, 2], [0, 0, 0, 1]),
            basis([1, 1, 0, 0], [0, 0, 0, 2], [1, 0, 0, 0]),
        ];
        assert_eq!(
            said,
            [
                "No test results were accepted in this run.",
                "The only test results of this run are CLAIMED: the numbers are those that the executor gave, and nothing else tells of them.",
                "All test results of this run are CLAIMED: the numbers are those that the executor gave, and nothing else tells of them.",
                "All test results of this run are REPORTED: they were read from what the test runner wrote.",
                "All test results of this run are VERIFIED: tm ran the test command itself, on the trees that are judged. What failed before the run is only REPORTED.",
                "RED: 1 reported, 1 claimed; GREEN: all 2 verified; final suite: claimed. (VERIFIED: tm ran the test command itself, on the trees that are judged; REPORTED: they were read from what the test runner wrote; CLAIMED: the numbers are those that the executor gave, and nothing else tells of them.)",
            ]
        );
    }
}
