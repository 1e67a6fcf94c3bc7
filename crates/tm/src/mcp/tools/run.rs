//! Runs of any workflow, by the generic verbs.

use engine::Turn;
use mcp::Hints;

use super::super::place::RunSelector;
use super::decision::{DecisionRequest, RUN_DECIDE, decided, deciding};
use super::evidence::{once, placed};
use super::turn::GivenUp;
use super::{Answer, Call, Entry, Handler, Property, answer, on_run, on_turn};
use crate::cli::Reopen;
use crate::cli::inputs::as_texts;
use crate::cli::rewind::Rewind;
use crate::cli::run::{Report, Resume, RunTarget, RunWithReason, Skip, Start};
use crate::cli::submit::{Feedback, Submit};
use crate::render::session::About;
use crate::steps::Form;

/// What every answer of a tool that moves a run has.
const MOVED: &[Property] = &[
    ("runId", "string"),
    ("message", "string"),
    ("nextAction", "object"),
];

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
        turned(
            "run_step",
            "Take a step",
            "Take the due step where nothing is reported: a response is there, a gate is open, or the workflow goes by single steps.",
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
                "Give an item up for good, or the run, by the present state's own rule. Asks the user.",
                on_turn(skip),
            )
        },
        Entry {
            name: "run_rewind",
            title: "Take a run back",
            description: "Take a run back to an earlier step, by its workflow's own rule.",
            hints: Hints::Destructive,
            output: &[("runId", "string")],
            handler: on_turn(rewind),
        },
        turned(
            "run_adopt",
            "Adopt the branch",
            "Go on from the run's branch as it is, after branch_moved.",
            on_turn(adopt),
        ),
        Entry {
            name: "run_submit",
            title: "Hand a run over",
            description: "Push the run's branch; open its pull request, or update it.",
            hints: Hints::Adds,
            output: MOVED,
            handler: on_run(submit),
        },
        turned(
            "run_feedback",
            "Import review feedback",
            "Import what others say of what the run handed over.",
            on_run(feedback),
        ),
        turned(
            "run_pause",
            "Pause a run",
            "Accept no reports until run_resume.",
            on_turn(pause),
        ),
        turned(
            "run_resume",
            "Resume a run",
            "Resume a paused or interrupted run.",
            on_turn(resume),
        ),
        Entry {
            hints: Hints::Destructive,
            ..turned(
                "run_abort",
                "Abort a run",
                "End the run now; what it made stays. Asks the user.",
                on_turn(abort),
            )
        },
        deciding(RUN_DECIDE, MOVED, on_run(decide)),
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
        output: MOVED,
        handler,
    }
}

fn start(call: Call<'_>, meant: RunSelector, start: Start) -> Answer {
    let engine = call.open_to_begin(&meant)?;
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
    let run = engine.run_status(meant.run())?.run_id;
    let item = skip.item.as_deref();
    let what = item.map_or_else(
        || "what is in progress".to_owned(),
        |item| format!("item {item}"),
    );
    let given_up = GivenUp {
        form: Form::Run,
        turn: &Turn::skip(item, &skip.reason),
        question: format!("Give up {what} of the run {run} for good, and what depends on it?"),
    };
    call.given_up(&engine, &meant, &given_up, |engine| {
        engine.run_skip(meant.run(), item, &skip.reason)
    })
}

fn pause(call: Call<'_>, meant: RunSelector, pause: RunWithReason) -> Answer {
    answer(&call.open(&meant)?.run_pause(meant.run(), &pause.reason)?)
}

fn abort(call: Call<'_>, meant: RunSelector, _: RunTarget) -> Answer {
    let engine = call.open(&meant)?;
    let run = engine.run_status(meant.run())?.run_id;
    let given_up = GivenUp {
        form: Form::Run,
        turn: &Turn::new("abort", ""),
        question: format!("Abort the run {run}? What it made stays."),
    };
    call.given_up(&engine, &meant, &given_up, |engine| {
        engine.run_abort(meant.run())
    })
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

fn adopt(call: Call<'_>, meant: RunSelector, adopt: RunWithReason) -> Answer {
    answer(&call.open(&meant)?.run_adopt(meant.run(), &adopt.reason)?)
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
