//! The phase form of a `tdd` run.

use engine::view::autopilot::request;
use engine::{Engine, NEEDS_CONFIRMATION, Turn, Verb};
use mcp::Hints;
use serde_json::Value;

use super::super::confirm::confirm;
use super::super::place::RunSelector;
use super::evidence::{once, placed};
use super::turn::{GivenUp, by_hand};
use super::{Answer, Call, Entry, Property, answer, on_run, on_turn};
use crate::cli::Reopen;
use crate::cli::autopilot::{Abort, Commit, Complete, Finalize, Next, Pause, Resume, Skip, Status};
use crate::cli::rewind::Rewind;
use crate::cli::run::RunWithReason;
use crate::cli::start::Start;
use crate::cli::submit::{Feedback, Submit};
use crate::steps::Form;

/// What every answer of a report has.
const REPORTED: &[Property] = &[
    ("validated", "boolean"),
    ("message", "string"),
    ("nextAction", "object"),
];
/// What every answer of a tool that moves the run has.
const MOVED: &[Property] = &[("message", "string"), ("nextAction", "object")];

/// The tools of the phase form, in the order in which a run needs them.
pub(super) fn entries() -> Vec<Entry> {
    vec![
        Entry {
            name: "autopilot_start",
            title: "Start a task",
            description: "Start a task as a test-driven run on its own branch. Give taskId (of tasks.json), or title with subtasks, or plan. The answer has the first step.",
            hints: Hints::Adds,
            output: &[("branch", "string")],
            handler: on_run(start),
        },
        Entry {
            name: "autopilot_next",
            title: "Next step",
            description: "Get the next step of the task again, in full: action (red, green, commit, finalize, paused, complete), unitId, instructions. Every other answer has it as nextAction.",
            hints: Hints::ReadOnly,
            output: &[("runId", "string"), ("action", "string")],
            handler: on_run(next),
        },
        Entry {
            name: "autopilot_complete_phase",
            title: "Report RED or GREEN",
            description: "Report RED (new tests fail) or GREEN (all pass): verify runs the tests, or give report files or results. validated: false: do what suggestion says.",
            hints: Hints::Adds,
            output: REPORTED,
            handler: on_run(complete),
        },
        Entry {
            name: "autopilot_commit",
            title: "Commit the subtask",
            description: "Commit the subtask, in COMMIT. Never run git commit yourself.",
            hints: Hints::Idempotent,
            output: MOVED,
            handler: on_run(commit),
        },
        Entry {
            name: "autopilot_finalize",
            title: "Finish the run",
            description: "Finish the run: report the full test suite, when action is finalize. Failing tests open a repair.",
            hints: Hints::Idempotent,
            output: REPORTED,
            handler: on_run(finalize),
        },
        Entry {
            name: "autopilot_reopen",
            title: "Reopen a phase",
            description: "Go one phase back: COMMIT to GREEN, GREEN to RED to fix a wrong test; at finalize, open a repair.",
            hints: Hints::Adds,
            output: MOVED,
            handler: on_turn(reopen),
        },
        Entry {
            name: "autopilot_skip",
            title: "Give a subtask up",
            description: "Give the subtask up for good, and what depends on it. Asks the user.",
            hints: Hints::Destructive,
            output: MOVED,
            handler: on_turn(skip),
        },
        Entry {
            name: "autopilot_status",
            title: "Status of the run",
            description: "Show status, progress, phase and attempt.",
            hints: Hints::ReadOnly,
            output: &[
                ("runId", "string"),
                ("status", "string"),
                ("progress", "object"),
                ("nextAction", "object"),
            ],
            handler: on_run(status),
        },
        Entry {
            name: "autopilot_pause",
            title: "Pause the run",
            description: "Accept no reports until autopilot_resume.",
            hints: Hints::Idempotent,
            output: MOVED,
            handler: on_turn(pause),
        },
        Entry {
            name: "autopilot_resume",
            title: "Resume the run",
            description: "Resume a paused or interrupted run.",
            hints: Hints::Idempotent,
            output: &[("runId", "string"), ("nextAction", "object")],
            handler: on_turn(resume),
        },
        Entry {
            name: "autopilot_rewind",
            title: "Rewind the run",
            description: "Take run, branch and tree back to an earlier step; what was there is kept.",
            hints: Hints::Destructive,
            output: &[("runId", "string")],
            handler: on_turn(rewind),
        },
        Entry {
            name: "autopilot_adopt",
            title: "Adopt the branch",
            description: "Go on from the branch as it is, after branch_moved: the subtask begins again on it.",
            hints: Hints::Adds,
            output: MOVED,
            handler: on_turn(adopt),
        },
        Entry {
            name: "autopilot_submit",
            title: "Open the pull request",
            description: "Push the finished run's branch; open or update its pull request. byHand: show the user why, and the url.",
            hints: Hints::Adds,
            output: &[
                ("runId", "string"),
                ("message", "string"),
                ("nextAction", "object"),
            ],
            handler: on_run(submit),
        },
        Entry {
            name: "autopilot_feedback",
            title: "Import review feedback",
            description: "Import failing checks and review comments of the pull request as new subtasks.",
            hints: Hints::Adds,
            output: MOVED,
            handler: on_run(feedback),
        },
        Entry {
            name: "autopilot_abort",
            title: "Abort the run",
            description: "End the run now; branch and files stay. Asks the user.",
            hints: Hints::Destructive,
            output: &[("runId", "string")],
            handler: on_turn(abort),
        },
    ]
}

fn start(call: Call<'_>, meant: RunSelector, start: Start) -> Answer {
    let (dry_run, force) = (start.dry_run, start.force);
    let mut request = start.request();
    let (client, places) = (call.client, call.places);
    let engine = call.open_to_begin(&meant)?;
    if let Some(plan) = &mut request.plan {
        *plan = places.file(&engine, &plan.to_string_lossy())?;
    }
    for report in &mut request.reports {
        *report = places.file(&engine, &report.to_string_lossy())?;
    }
    if dry_run {
        return answer(&engine.plan(&request)?);
    }
    // A run that is under way is superseded by a person's word alone.
    request.force = false;
    let fault = match engine.start(&request) {
        Err(fault) if fault.code == "run_active" && force => fault,
        started => return answer(&started?),
    };
    let by_hand = start_by_hand(&request, &meant, &engine);
    request.force = true;
    // Nobody is asked for a start that would be refused.
    let asking = match engine.asking().start(&request) {
        Err(asking) if asking.code == NEEDS_CONFIRMATION => asking,
        started => return answer(&started?),
    };
    let run = asking.details.get("runId").and_then(Value::as_str);
    let (statement, _) = engine.turn_statement(run.unwrap_or_default(), &Turn::new("abort", ""))?;
    let question = format!(
        "{}. End it, and start this one in its place?",
        fault.message
    );
    // The yes is for this start in the place of that run as it stands.
    let about = format!("{}\n{by_hand}", statement.text());
    let asked = confirm(client, &question, &about, &by_hand)?;
    answer(&engine.asked(asked).start(&request)?)
}

/// The same start as a person would type it. A task whose id begins with a hyphen is left out: it would be an option itself.
fn start_by_hand(request: &request::Start, meant: &RunSelector, engine: &Engine) -> String {
    let mut step = Verb::Start.step();
    let task = request.task_id.as_ref();
    let plan = request.plan.as_ref().map(|plan| plan.display().to_string());
    let most = request.max_attempts.map(|count| count.to_string());
    let given = [
        (
            "taskId",
            task.filter(|task| !task.starts_with('-')).cloned(),
        ),
        ("workflow", request.workflow.clone()),
        ("title", request.title.clone()),
        ("plan", plan),
        ("branch", request.branch.clone()),
        ("maxAttempts", most),
        ("testCommand", request.test_command.clone()),
        ("format", request.format.clone()),
    ];
    for (name, value) in given {
        if let Some(value) = value {
            step = step.with(name, value);
        }
    }
    for subtask in &request.subtasks {
        step = step.with("subtask", subtask);
    }
    for report in &request.reports {
        step = step.with("report", report.display().to_string());
    }
    let switches = [
        ("allowDirty", request.allow_dirty),
        ("verify", request.verify),
        ("force", true),
    ];
    for (name, is_on) in switches {
        if is_on {
            step = step.and(name);
        }
    }
    by_hand(Form::Autopilot, step, meant, engine)
}

fn next(call: Call<'_>, meant: RunSelector, next: Next) -> Answer {
    answer(&call.open(&meant)?.next(meant.run(), next.check)?)
}

fn complete(call: Call<'_>, meant: RunSelector, complete: Complete) -> Answer {
    let mut request = complete.request();
    once(&request.evidence)?;
    let engine = call.open(&meant)?;
    request.evidence = placed(call.places, &engine, request.evidence)?;
    answer(&engine.complete(meant.run(), &request)?)
}

fn commit(call: Call<'_>, meant: RunSelector, commit: Commit) -> Answer {
    let engine = call.open(&meant)?;
    answer(&engine.commit(meant.run(), &commit.request())?)
}

fn finalize(call: Call<'_>, meant: RunSelector, finalize: Finalize) -> Answer {
    let mut request = finalize.request();
    once(&request.evidence)?;
    let engine = call.open(&meant)?;
    request.evidence = placed(call.places, &engine, request.evidence)?;
    answer(&engine.finalize(meant.run(), &request)?)
}

fn reopen(call: Call<'_>, meant: RunSelector, reopen: Reopen) -> Answer {
    let turn = reopen.turn();
    call.turned(&meant, Form::Autopilot, &turn, |engine| {
        engine.reopen(meant.run(), &turn)
    })
}

fn skip(call: Call<'_>, meant: RunSelector, skip: Skip) -> Answer {
    let engine = call.open(&meant)?;
    let status = engine.status(meant.run())?;
    let item = skip.subtask.as_deref();
    let what = match item.or(status.current_subtask.as_deref()) {
        Some(subtask) => format!("subtask {subtask}"),
        None => "the task".to_owned(),
    };
    let given_up = GivenUp {
        form: Form::Autopilot,
        turn: &Turn::skip(item, &skip.reason),
        question: format!(
            "Give up {what} of the run {} for good, and what depends on it?",
            status.run_id
        ),
    };
    call.given_up(&engine, &meant, &given_up, |engine| {
        engine.skip(meant.run(), item, &skip.reason)
    })
}

fn status(call: Call<'_>, meant: RunSelector, _: Status) -> Answer {
    answer(&call.open(&meant)?.status(meant.run())?)
}

fn pause(call: Call<'_>, meant: RunSelector, pause: Pause) -> Answer {
    answer(&call.open(&meant)?.pause(meant.run(), &pause.reason)?)
}

fn resume(call: Call<'_>, meant: RunSelector, _: Resume) -> Answer {
    call.turned(
        &meant,
        Form::Autopilot,
        &Turn::new("resume", ""),
        |engine| engine.resume(meant.run()),
    )
}

fn rewind(call: Call<'_>, meant: RunSelector, rewind: Rewind) -> Answer {
    let Some(turn) = rewind.turn() else {
        return answer(&call.open(&meant)?.past_steps(meant.run())?);
    };
    call.turned(&meant, Form::Autopilot, &turn, |engine| {
        engine.rewind(meant.run(), &turn)
    })
}

fn adopt(call: Call<'_>, meant: RunSelector, adopt: RunWithReason) -> Answer {
    answer(&call.open(&meant)?.adopt(meant.run(), &adopt.reason)?)
}

fn submit(call: Call<'_>, meant: RunSelector, submit: Submit) -> Answer {
    let turn = submit.turn();
    call.turned(&meant, Form::Autopilot, &turn, |engine| {
        engine.submit(meant.run(), &turn)
    })
}

fn feedback(call: Call<'_>, meant: RunSelector, feedback: Feedback) -> Answer {
    answer(&call.open(&meant)?.feedback(meant.run(), &feedback.turn())?)
}

fn abort(call: Call<'_>, meant: RunSelector, abort: Abort) -> Answer {
    let request = abort.request();
    let engine = call.open(&meant)?;
    // Looked up first: the yes is for this run, whichever is the present one by then.
    let status = engine.status(meant.run())?;
    let (run, branch) = (status.run_id.as_str(), &status.branch);
    let question = match (request.cleanup, request.force) {
        (false, _) => format!("Abort the run {run}? Its branch {branch} and its files stay."),
        (true, false) => {
            format!("Abort the run {run} and delete its branch {branch} and its folder?")
        }
        (true, true) => format!(
            "Abort the run {run} and delete its branch {branch} and its folder, also commits that are nowhere else?"
        ),
    };
    let given_up = GivenUp {
        form: Form::Autopilot,
        turn: &request.turn(),
        question,
    };
    call.given_up(&engine, &meant, &given_up, |engine| {
        engine.abort(Some(run), request)
    })
}
