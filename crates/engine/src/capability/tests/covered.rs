//! Coverage that a report comes with, held against the thresholds.

use ::test_report::{FileCoverage, Metric};
use machine::role::FileClass;
use machine::{Finding, Role, RunState};
use workspace::config::Config;
use workspace::git::{Oid, Repository};

use crate::capability::git::read::finding;
use crate::capability::memory::LAST_COVERED;
use crate::capability::tests::difference::Difference;
use crate::capability::tests::evidence::{TestEvidence, changed_lines, percent_of};
use crate::capability::tests::read::few;
use crate::capability::tests::results::Coverage;
use crate::fault::Fault;
use crate::next_step::{Verb, argument};
use crate::report::present_report;

/// The policy of code in another form, of which tests reach less than before.
pub(super) const COVERAGE_FELL: &str = "coverage_fell";

/// The lines of all files of a coverage report; none where it tells of no file.
pub(super) fn lines_of(covered: &[FileCoverage]) -> Option<Metric> {
    (!covered.is_empty()).then(|| {
        covered.iter().fold(Metric::default(), |sum, file| Metric {
            covered: sum.covered + file.lines.covered,
            total: sum.total + file.lines.total,
        })
    })
}

/// That tests reach less than in the report that was accepted last. Of less code a smaller share may be reached, and more lines may hold
/// what was not reached before: it fell where both are so.
pub(super) fn fell(
    taken: &TestEvidence,
    role: &Role,
    run: &RunState,
) -> Result<Option<Finding>, Fault> {
    let is_of_product = role.only.is_empty() || role.only.contains(&FileClass::Source);
    let Some(now) = lines_of(&taken.covered).filter(|_| is_of_product) else {
        return Ok(None);
    };
    let Some(before) = LAST_COVERED.read(&run.kept)? else {
        return Ok(None);
    };
    let left = |lines: Metric| lines.total - lines.covered.min(lines.total);
    let (Some(then), Some(share)) = (percent_of(before), percent_of(now)) else {
        return Ok(None);
    };
    if share >= then || left(now) <= left(before) {
        return Ok(None);
    }
    Ok(Some(finding(
        COVERAGE_FELL,
        format!(
            "tests reach {share} % of the lines, and reached {then} % before: {} lines are not reached, and {} were not",
            left(now),
            left(before)
        ),
        format!(
            "take out what no test asks for: what is new begins with a test of its own. Then report again: {}",
            Verb::Report
        ),
    )))
}

/// The coverage of a report.
pub(super) struct Covered {
    /// In percent; none where it came with none.
    pub(super) coverage: Option<Coverage>,
    /// Whether the settings ask for that of changed lines, and the report does not tell of lines.
    lacks_lines: bool,
    /// The changed files that the report does not name.
    unreported: Vec<String>,
}

impl Covered {
    /// That of a report on what was changed from one tree to another.
    pub(super) fn of(
        taken: &TestEvidence,
        role: &Role,
        config: &Config,
        (repository, trees, of_item): (&Repository, (&Oid, &Oid), &[Difference]),
    ) -> Result<Self, Fault> {
        let mut coverage = taken.coverage;
        // Behind its end nothing of an item is changed, and before it is done nothing is there to be reached.
        if role.shows.is_some() || role.suite.is_some() {
            return Ok(Self {
                coverage,
                lacks_lines: false,
                unreported: Vec::new(),
            });
        }
        let is_source = |one: &&Difference| one.classes.contains(&FileClass::Source);
        let files = of_item.iter().filter(is_source);
        let reached = changed_lines::reached(repository, trees, files, &taken.covered)?;
        if let Some(coverage) = &mut coverage {
            let lines = reached.as_ref().map(|reached| reached.lines);
            coverage.changed_lines = lines.and_then(percent_of);
        }
        Ok(Self {
            coverage,
            lacks_lines: config.evidence.changed_lines.is_some() && reached.is_none(),
            unreported: reached.unwrap_or_default().unreported,
        })
    }

    /// What is under its threshold, in words.
    pub(super) fn under(&self, config: &Config) -> Vec<String> {
        let Some(coverage) = &self.coverage else {
            return Vec::new();
        };
        let mut under = coverage.under(&config.test.coverage_thresholds);
        let of_changed = coverage.changed_lines_under(config.evidence.changed_lines);
        under.extend(of_changed.map(|under| match &self.unreported[..] {
            [] => under,
            files => format!("{under}, since the report does not name {}", few(files)),
        }));
        under
    }

    /// That the settings ask for coverage which was not reported.
    pub(super) fn missing(&self, config: &Config, run: &RunState) -> Option<Finding> {
        let known = self.coverage.unwrap_or_default();
        let mut missing = known.missing(&config.test.coverage_thresholds);
        missing.extend(self.lacks_lines.then_some("changed lines"));
        if missing.is_empty() && !(config.evidence.require_coverage && self.coverage.is_none()) {
            return None;
        }
        let of = if missing.is_empty() {
            String::new()
        } else {
            format!(" of {}", missing.join(", "))
        };
        let by = if self.lacks_lines {
            "coverageReport"
        } else {
            "coverage"
        };
        Some(finding(
            "coverage_missing",
            format!("the settings ask for coverage{of}, and none was reported"),
            match present_report(run) {
                Some(report) => format!("report it too: {}", report.and(by)),
                None => concat!("report it with ", argument!("coverage")).to_owned(),
            },
        ))
    }
}
