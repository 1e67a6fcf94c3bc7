//! What reports of tests said and which commits were made, a file each.

use machine::Event;
use machine::event::AcceptedReport;
use serde_json::{Value, json};

/// The folder of what reports of tests said, in the run's folder.
pub(crate) const TEST_RESULTS: &str = "test-results";

/// The file that keeps the results of a report, and what it holds.
pub(super) fn test_results(event: &Event) -> Option<(String, Value)> {
    let (report, accepted) = match event {
        Event::ReportAccepted(report) => (report, true),
        Event::ReportRetried(report) => (report, false),
        _ => return None,
    };
    results_of(report, accepted)
}

pub(super) fn results_of(report: &AcceptedReport, accepted: bool) -> Option<(String, Value)> {
    if report.reader() != "tests" {
        return None;
    }
    let name = match (&report.item, accepted) {
        (Some(item), true) => format!("{TEST_RESULTS}/subtask-{item}-{}.json", report.phase()),
        (Some(item), false) => format!(
            "{TEST_RESULTS}/subtask-{item}-{}-failed-{}.json",
            report.phase(),
            number(&report.unit)
        ),
        (None, true) => format!("{TEST_RESULTS}/final-suite.json"),
        (None, false) => format!(
            "{TEST_RESULTS}/final-suite-failed-{}.json",
            number(&report.unit)
        ),
    };
    let mut value = json!({
        "unit": report.unit,
        "subtaskId": report.item,
        "phase": report.phase(),
        "accepted": accepted,
        "level": report.level,
    });
    if let Value::Object(map) = &mut value {
        for name in [
            "passed",
            "failed",
            "skipped",
            "errors",
            "total",
            "coverage",
            "files",
            "format",
            "named",
            "reports",
            "coverageReport",
            "verified",
            "offBench",
            "ranOn",
            "newlyFailing",
            "failingTests",
            "knownFailing",
            "flakyTests",
            "removed",
            "repairs",
            "movedTests",
            "snapshots",
        ] {
            if let Some(given) = report.facts.get(name) {
                map.insert(name.to_owned(), given.clone());
            }
        }
    }
    Some((name, value))
}

/// The number of the issue at the end of a unit's id; the first has none.
fn number(unit: &str) -> u32 {
    unit.rsplit_once('-')
        .and_then(|(_, number)| number.parse().ok())
        .unwrap_or(1)
}

/// The commit that an event tells of.
pub(crate) fn commit_of(event: &Event) -> Option<&str> {
    let sha = match event {
        Event::EffectDone { name, result, .. } if name == "git.commit" || name == "task.finish" => {
            result.get("sha")?.as_str()?
        }
        Event::ReportAccepted(report) if report.reader() == "commit" => {
            report.facts.get("sha")?.as_str()?
        }
        _ => return None,
    };
    (!sha.is_empty()).then_some(sha)
}
