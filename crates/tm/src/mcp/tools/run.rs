//! Runs of any workflow, by the generic verbs.

use engine::Turn;
use mcp::Hints;
use serde_json::json;

use super::super::place::RunSelector;
use super::decision::{DecisionRequest, RUN_DECIDE, decided, deciding};
use super::evidence::{once, placed};
use super::{Answer, Call, Entry, Handler, answer, on_run, on_turn};
use crate::cli::Reopen;
use crate::cli::inputs::as_texts;
use crate::cli::rewind::Rewind;
use crate::cli::run::{Report, Resume, RunTarget, RunWithReason, Skip, Start};
use crate::cli::submit::{Feedback, Submit};
use crate::render::session::About;
use crate::steps::Form;

/// The tools of the generic verbs.
pub(super) fn entries() -> Vec<Entry> {
    let text = json!({ "type": "string" });
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    let object = json!({ "type": "object" });
    vec![
        Entry {
            name: "run_start",
            title: "Start a workflow",
            description: "Start a run of any workflow of this project; inputs as its definition names them.",
            hints: Hints::Adds,
            output: json!({ "runId": text, "workflow": text, "nextAction": object }),
            always: &["runId", "nextAction"],
            handler: on_run(start),
        },
        Entry {
            name: "run_next",
            title: "Next work unit",
            description: "What to do now in a run of any workflow: action (work, step, decide, restore, paused, complete), unitId, instructions, and what a report needs (expects, outcomes).",
            hints: Hints::ReadOnly,
            output: json!({
                "action": text, "runId": text, "workflow": text, "unitId": text, "state": text,
                "instructions": text, "expects": text, "outcomes": texts, "units": { "type": "array" },
            }),
            always: &["runId", "action"],
            handler: on_run(next),
        },
        Entry {
            name: "run_report",
            title: "Report a work unit",
            description: "Report a work unit of any workflow. Where expects is outcome: give outcome; where it is tests: results, or paths of the runner's report, or verify; where it is commit: nothing, or message, files or commitSha. validated: false: not accepted; do what suggestion says. Give unitId, so that a repeated report counts once.",
            hints: Hints::Adds,
            output: json!({
                "validated": { "type": "boolean" }, "code": text, "message": text,
                "suggestion": text, "nextAction": object,
            }),
            always: &["validated", "message", "nextAction"],
            handler: on_run(report),
        },
        Entry {
            name: "run_status",
            title: "Where a run is",
            description: "Status, states and items of a run of any workflow.",
            hints: Hints::ReadOnly,
            output: json!({
                "runId": text, "workflow": text, "status": text, "states": { "type": "array" },
                "items": object, "nextAction": object,
            }),
            always: &["runId"],
            handler: on_run(status),
        },
        turned(
            "run_step",
            "Take a step",
            "Take the step that is due where nothing is reported: a response is there, a gate is open, or the workflow is gone through by single steps.",
            on_turn(step),
        ),
        turned(
            "run_reopen",
            "Go back",
            "One step back, by the present state's own rule.",
            on_turn(reopen),
        ),
        Entry {
            hints: Hints::Destructive,
            ..turned(
                "run_skip",
                "Give it up",
                "Give an item up for good, or the run, by the present state's own rule.",
                on_turn(skip),
            )
        },
        Entry {
            name: "run_rewind",
            title: "Take a run back",
            description: "Take a run back to an earlier step, by its workflow's own rule.",
            hints: Hints::Destructive,
            output: json!({ "runId": text, "message": text, "nextAction": object, "steps": { "type": "array" } }),
            always: &["runId"],
            handler: on_turn(rewind),
        },
        Entry {
            name: "run_submit",
            title: "Hand a run over",
            description: "Push the run's branch; open its pull request, or update it.",
            hints: Hints::Adds,
            output: json!({ "runId": text, "message": text, "nextAction": object, "pullRequest": object, "byHand": object }),
            always: &["runId", "message", "nextAction"],
            handler: on_run(submit),
        },
        turned(
            "run_feedback",
            "Take in feedback",
            "Take in what others say of what the run handed over.",
            on_run(feedback),
        ),
        turned(
            "run_pause",
            "Pause a run",
            "Stop taking reports until run_resume.",
            on_turn(pause),
        ),
        turned(
            "run_resume",
            "Go on with a run",
            "Go on with a paused or interrupted run.",
            on_turn(resume),
        ),
        Entry {
            hints: Hints::Destructive,
            ..turned(
                "run_abort",
                "End a run",
                "End the run now; what it made stays.",
                on_turn(abort),
            )
        },
        deciding(
            RUN_DECIDE,
            json!({ "runId": text, "message": text, "nextAction": object }),
            &["runId", "message", "nextAction"],
            on_run(decide),
        ),
    ]
}

/// A tool that moves a run without a report.
fn turned(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    handler: Handler,
) -> Entry {
    Entry {
        name,
        title,
        description,
        hints: Hints::Idempotent,
        output: json!({
            "runId": { "type": "string" },
            "message": { "type": "string" },
            "nextAction": { "type": "object" },
        }),
        always: &["runId", "message", "nextAction"],
        handler,
    }
}

fn start(call: Call<'_>, meant: RunSelector, start: Start) -> Answer {
    let engine = call.open(&meant)?;
    let inputs = start.inputs.all(as_texts)?;
    answer(&engine.run_start(&start.workflow, inputs)?)
}

fn next(call: Call<'_>, meant: RunSelector, _: RunTarget) -> Answer {
    answer(&call.open(&meant)?.run_next(meant.run())?)
}

fn report(call: Call<'_>, meant: RunSelector, report: Report) -> Answer {
    let mut report = report.request();
    once(&report.evidence)?;
    let engine = call.open(&meant)?;
    report.evidence = placed(call.places, &engine, report.evidence)?;
    answer(&engine.run_report(meant.run(), &report)?)
}

fn submit(call: Call<'_>, meant: RunSelector, submit: Submit) -> Answer {
    let turn = submit.turn();
    call.turned(&meant, Form::Run, &turn, |engine| {
        engine.run_submit(meant.run(), &turn)
    })
}

fn feedback(call: Call<'_>, meant: RunSelector, feedback: Feedback) -> Answer {
    answer(
        &call
            .open(&meant)?
            .run_feedback(meant.run(), &feedback.turn())?,
    )
}

fn status(call: Call<'_>, meant: RunSelector, _: RunTarget) -> Answer {
    answer(&call.open(&meant)?.run_status(meant.run())?)
}

fn step(call: Call<'_>, meant: RunSelector, _: RunTarget) -> Answer {
    answer(&call.open(&meant)?.run_step(meant.run())?)
}

fn skip(call: Call<'_>, meant: RunSelector, skip: Skip) -> Answer {
    let engine = call.open(&meant)?;
    answer(&engine.run_skip(meant.run(), skip.item.as_deref(), &skip.reason)?)
}

fn pause(call: Call<'_>, meant: RunSelector, pause: RunWithReason) -> Answer {
    answer(&call.open(&meant)?.run_pause(meant.run(), &pause.reason)?)
}

fn abort(call: Call<'_>, meant: RunSelector, _: RunTarget) -> Answer {
    answer(&call.open(&meant)?.run_abort(meant.run())?)
}

fn reopen(call: Call<'_>, meant: RunSelector, reopen: Reopen) -> Answer {
    let turn = reopen.turn();
    call.turned(&meant, Form::Run, &turn, |engine| {
        engine.run_reopen(meant.run(), &turn)
    })
}

fn rewind(call: Call<'_>, meant: RunSelector, rewind: Rewind) -> Answer {
    let Some(turn) = rewind.turn() else {
        return answer(&call.open(&meant)?.run_past_steps(meant.run())?);
    };
    call.turned(&meant, Form::Run, &turn, |engine| {
        engine.run_rewind(meant.run(), &turn)
    })
}

fn resume(call: Call<'_>, meant: RunSelector, _: Resume) -> Answer {
    call.turned(&meant, Form::Run, &Turn::new("resume", ""), |engine| {
        engine.run_resume(meant.run())
    })
}

fn decide(call: Call<'_>, meant: RunSelector, wish: DecisionRequest) -> Answer {
    let wish = wish.checked()?;
    let engine = call.open(&meant)?;
    let gate = engine.run_gate(meant.run())?;
    let (asked, request) = decided(&engine, gate, About::Run, &wish, call.client, &meant)?;
    answer(&asked.run_decide(&request)?)
}
