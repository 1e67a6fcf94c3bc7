//! Runs of any workflow, by the generic verbs.

use engine::report::Meaning;
use engine::view::GENERIC;
use mcp::Hints;

use super::super::place::RunSelector;
use super::autopilot::record;
use super::decision::{DecisionRequest, RUN_DECIDE, deciding};
use super::turn::MOVED;
use super::{Answer, Call, Entry, answer, on_run, on_turn};
use crate::cli::inputs::as_texts;
use crate::cli::run::{Report, RunTarget, Start};
use crate::steps::Form;

/// The tools of the generic verbs.
pub(super) fn entries() -> Vec<Entry> {
    vec![
        Entry {
            name: "run_start",
            title: "Start a workflow",
            description: "Start a run of any workflow of this project; inputs as its definition names them.",
            hints: Hints::Adds,
            output: &[("runId", "string"), ("nextAction", "object")],
            handler: on_run(start),
        },
        Entry {
            name: "run_next",
            title: "Next work unit",
            description: "Get the next step of a run of any workflow: action (work, step, decide, restore, paused, complete), unitId, instructions, and what a report needs (expects, outcomes).",
            hints: Hints::ReadOnly,
            output: &[("runId", "string"), ("action", "string")],
            handler: on_run(next),
        },
        Entry {
            name: "run_report",
            title: "Report a work unit",
            description: "Report a work unit of any workflow. expects outcome: give outcome; tests: verify, report or results; commit: nothing, or message, files or commitSha. validated: false: do what suggestion says.",
            hints: Hints::Adds,
            output: &[
                ("validated", "boolean"),
                ("message", "string"),
                ("nextAction", "object"),
            ],
            handler: on_run(report),
        },
        Entry {
            name: "run_status",
            title: "Status of a run",
            description: "Show status, states and items of a run of any workflow.",
            hints: Hints::ReadOnly,
            output: &[("runId", "string")],
            handler: on_run(status),
        },
        Entry {
            name: "run_step",
            title: "Take a step",
            description: "Take the due step where nothing is reported: a response is there, a gate is open, or the workflow goes by single steps.",
            hints: Hints::Idempotent,
            output: MOVED,
            handler: on_turn(step),
        },
        deciding(RUN_DECIDE, MOVED, on_run(decide)),
    ]
}

fn start(call: Call<'_>, meant: RunSelector, start: Start) -> Answer {
    let engine = call.open_to_begin(&meant)?;
    let inputs = start.inputs.all(as_texts)?;
    answer(&engine.run_start(&start.workflow, inputs)?)
}

fn next(call: Call<'_>, meant: RunSelector, _: RunTarget) -> Answer {
    answer(&call.open(&meant)?.next(&GENERIC, meant.run(), false)?)
}

fn report(call: Call<'_>, meant: RunSelector, report: Report) -> Answer {
    record(call, &meant, report.request(), &GENERIC, Meaning::Anything)
}

fn status(call: Call<'_>, meant: RunSelector, _: RunTarget) -> Answer {
    answer(&call.open(&meant)?.status(&GENERIC, meant.run())?)
}

fn step(call: Call<'_>, meant: RunSelector, _: RunTarget) -> Answer {
    answer(&call.open(&meant)?.run_step(meant.run())?)
}

fn decide(call: Call<'_>, meant: RunSelector, wish: DecisionRequest) -> Answer {
    call.decide(&meant, Form::Run, wish)
}
