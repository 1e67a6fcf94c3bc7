//! Runs of any workflow, by the generic verbs.

use conductor::report::Report;
use mcp::Hints;
use serde_json::json;

use super::evidence::{evidence, placed, reports};
use super::{Answer, Call, Entry, answer};
use crate::commands::collab::advice::of_refusal;

/// The tools of the generic verbs.
pub(super) fn entries() -> Vec<Entry> {
    let text = json!({ "type": "string" });
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    let object = json!({ "type": "object" });
    let flag = json!({ "type": "boolean" });
    vec![
        Entry {
            name: "run_start",
            title: "Start a workflow",
            description: "Start a run of any workflow of this project; inputs as its definition names them.",
            hints: Hints::Adds,
            input: json!({ "workflow": text, "inputs": object }),
            needed: &["workflow"],
            output: json!({ "runId": text, "workflow": text, "nextAction": object }),
            call: start,
        },
        Entry {
            name: "run_next",
            title: "Next work unit",
            description: "What to do now in a run of any workflow: action (work, paused, complete), unitId, instructions, and what a report needs (expects, outcomes).",
            hints: Hints::ReadOnly,
            input: json!({}),
            needed: &[],
            output: json!({
                "action": text, "runId": text, "workflow": text, "unitId": text, "state": text,
                "instructions": text, "expects": text, "outcomes": texts, "units": { "type": "array" },
            }),
            call: next,
        },
        Entry {
            name: "run_report",
            title: "Report a work unit",
            description: "Report a work unit of any workflow. Where expects is outcome: give outcome; where it is tests: results, or paths of the runner's report, or verify; where it is commit: nothing, or message, files or commitSha. validated: false: not accepted; do what suggestion says. Give unitId, so that a repeated report counts once.",
            hints: Hints::Adds,
            input: json!({
                "unitId": text,
                "outcome": text,
                "note": text,
                "results": { "type": "object", "description": "test counts: passed, failed, skipped, errors" },
                "coverage": { "type": "number" },
                "files": texts,
                "report": reports(),
                "verify": flag,
                "format": text,
                "coverageReport": text,
                "removed": texts,
                "message": text,
                "commitSha": text,
                "skipCoverage": flag,
            }),
            needed: &[],
            output: json!({
                "validated": { "type": "boolean" }, "code": text, "message": text,
                "suggestion": text, "nextAction": object,
            }),
            call: report,
        },
        Entry {
            name: "run_status",
            title: "Where a run is",
            description: "Status, states and items of a run of any workflow.",
            hints: Hints::ReadOnly,
            input: json!({}),
            needed: &[],
            output: json!({
                "runId": text, "workflow": text, "status": text, "states": { "type": "array" },
                "items": object, "nextAction": object,
            }),
            call: status,
        },
    ]
}

fn start(mut call: Call<'_>) -> Answer {
    let workflow = call.arguments.needed_text("workflow")?;
    let inputs = call.arguments.map("inputs")?;
    let (conductor, _) = call.open()?;
    answer(&conductor.run_start(&workflow, inputs)?)
}

fn next(call: Call<'_>) -> Answer {
    let (conductor, meant) = call.open()?;
    answer(&conductor.run_next(meant.run())?)
}

fn report(mut call: Call<'_>) -> Answer {
    let given = &mut call.arguments;
    let (results, coverage) = (given.form("results")?, given.form("coverage")?);
    let mut report = Report {
        unit: given.text("unitId")?,
        outcome: given.text("outcome")?,
        note: given.text("note")?,
        evidence: evidence(given, results, coverage)?,
        files: given.texts("files")?,
        message: given.text("message")?,
        sha: given.text("commitSha")?,
        skip_coverage: given.flag("skipCoverage")?,
        ..Report::default()
    };
    let places = call.places;
    let (conductor, meant) = call.open()?;
    report.evidence = placed(places, &conductor, report.evidence)?;
    let mut told = conductor.run_report(meant.run(), &report)?;
    of_refusal(&mut told.suggestion, meant.run());
    answer(&told)
}

fn status(call: Call<'_>) -> Answer {
    let (conductor, meant) = call.open()?;
    answer(&conductor.run_status(meant.run())?)
}
