//! Runs of any workflow, by the generic verbs.

use conductor::report::Report;
use conductor::{Conductor, Verb};
use mcp::Hints;
use serde_json::{Value, json};

use super::decision::{RUN_DECIDE, Wish, decided, deciding};
use super::evidence::{evidence, placed, reports};
use super::{Answer, Call, Entry, answer};
use crate::render::session::About;
use crate::steps::Form;

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
        turned(
            "run_step",
            "Take a step",
            "Take the step that is due where nothing is reported: a response is there, a gate is open, or the workflow is gone through by single steps.",
            json!({}),
            step,
        ),
        turned(
            "run_reopen",
            "Go back",
            "One step back, by the present state's own rule.",
            json!({ "reason": text }),
            reopen,
        ),
        Entry {
            needed: &["reason"],
            hints: Hints::Destructive,
            ..turned(
                "run_skip",
                "Give it up",
                "Give an item up for good, or the run, by the present state's own rule.",
                json!({ "item": text, "reason": text }),
                skip,
            )
        },
        turned(
            "run_pause",
            "Pause a run",
            "Stop taking reports until run_resume.",
            json!({ "reason": text }),
            pause,
        ),
        turned(
            "run_resume",
            "Go on with a run",
            "Go on with a paused or interrupted run.",
            json!({}),
            resume,
        ),
        Entry {
            hints: Hints::Destructive,
            ..turned(
                "run_abort",
                "End a run",
                "End the run now; what it made stays.",
                json!({}),
                abort,
            )
        },
        deciding(
            RUN_DECIDE,
            json!({ "runId": text, "message": text, "nextAction": object }),
            decide,
        ),
    ]
}

/// A tool that moves a run without a report.
fn turned(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    input: Value,
    call: fn(Call<'_>) -> Answer,
) -> Entry {
    Entry {
        name,
        title,
        description,
        hints: Hints::Idempotent,
        input,
        needed: &[],
        output: json!({
            "runId": { "type": "string" },
            "message": { "type": "string" },
            "nextAction": { "type": "object" },
        }),
        call,
    }
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
    let told = conductor.run_report(meant.run(), &report)?;
    answer(&told)
}

fn status(call: Call<'_>) -> Answer {
    let (conductor, meant) = call.open()?;
    answer(&conductor.run_status(meant.run())?)
}

fn step(call: Call<'_>) -> Answer {
    let (conductor, meant) = call.open()?;
    answer(&conductor.run_step(meant.run())?)
}

fn skip(mut call: Call<'_>) -> Answer {
    let reason = call.arguments.needed_text("reason")?;
    let item = call.arguments.text("item")?;
    let (conductor, meant) = call.open()?;
    answer(&conductor.run_skip(meant.run(), item.as_deref(), &reason)?)
}

fn pause(mut call: Call<'_>) -> Answer {
    let reason = call.arguments.text("reason")?.unwrap_or_default();
    let (conductor, meant) = call.open()?;
    answer(&conductor.run_pause(meant.run(), &reason)?)
}

fn abort(call: Call<'_>) -> Answer {
    let (conductor, meant) = call.open()?;
    answer(&conductor.run_abort(meant.run())?)
}

fn reopen(mut call: Call<'_>) -> Answer {
    let reason = call.arguments.text("reason")?.unwrap_or_default();
    call.turned(Form::Run, Verb::Reopen, |conductor, run| {
        conductor.run_reopen(run, &reason)
    })
}

fn resume(call: Call<'_>) -> Answer {
    call.turned(Form::Run, Verb::Resume, Conductor::run_resume)
}

fn decide(mut call: Call<'_>) -> Answer {
    let wish = Wish::of(&mut call.arguments)?;
    let client = call.client;
    let (conductor, meant) = call.open()?;
    let gate = conductor.run_gate(meant.run())?;
    let (asked, request) = decided(&conductor, gate, About::Run, &wish, client, &meant)?;
    answer(&asked.run_decide(&request)?)
}
