//! The phase form of a `tdd` run.

use engine::view::autopilot::request;
use engine::{Channel, Turn, Verb};
use mcp::Hints;
use serde_json::{Value, json};

use super::super::confirm::{confirm, strong_enough};
use super::super::place::RunSelector;
use super::evidence::{once, placed};
use super::turn::by_hand;
use super::{Answer, Call, Entry, answer, on_run, on_turn};
use crate::cli::Reopen;
use crate::cli::autopilot::{
    Abort, Commit, Complete, Finalize, Next, Pause, Resume, Skip, Status, TakeBaseline,
};
use crate::cli::rewind::Rewind;
use crate::cli::start::Start;
use crate::cli::submit::{Feedback, Submit};
use crate::steps::Form;

/// What is known of the next step, in every answer.
macro_rules! next_action {
    ($($rest:tt)*) => {
        json!({ $($rest)*, "nextAction": { "type": "object" } })
    };
}

/// The tools of the phase form, in the order in which a run needs them.
pub(super) fn entries() -> Vec<Entry> {
    let files = json!({ "type": "array", "items": { "type": "string" } });
    let text = json!({ "type": "string" });
    let flag = json!({ "type": "boolean" });
    // A text or null: a list of types is more than some clients understand.
    let verdict = next_action! {
        "validated": flag, "code": text, "message": text, "suggestion": text, "warning": text
    };
    let moved = next_action! { "message": text };
    vec![
        Entry {
            name: "autopilot_start",
            title: "Start a run",
            description: "Start a TDD run on a branch of its own: taskId (of tasks.json), or title with subtasks, or plan.",
            hints: Hints::Adds,
            output: next_action! { "runId": text, "branch": text, "warnings": files },
            always: &["branch"],
            handler: on_run(start),
        },
        Entry {
            name: "autopilot_next",
            title: "Next step",
            description: "What to do now: action (red, green, commit, finalize, paused, complete), unitId, instructions to follow exactly.",
            hints: Hints::ReadOnly,
            output: json!({
                "action": text, "runId": text, "unitId": text, "instructions": text,
                "subtask": { "type": "object" }, "context": { "type": "object" },
            }),
            always: &["runId", "action"],
            handler: on_run(next),
        },
        Entry {
            name: "autopilot_complete_phase",
            title: "Report RED or GREEN",
            description: "Report RED (new tests must fail) or GREEN (all must pass): results, or paths of the runner's report, or verify (runs the tests). validated: false: do what suggestion says.",
            hints: Hints::Adds,
            output: verdict.clone(),
            always: &["validated", "message", "nextAction"],
            handler: on_run(complete),
        },
        Entry {
            name: "autopilot_commit",
            title: "Commit the subtask",
            description: "In COMMIT: commit the subtask. Do not do it yourself; if you did, give commitSha.",
            hints: Hints::Idempotent,
            output: next_action! {
                "commitSha": text, "files": files, "alreadyCommitted": flag, "validated": flag,
                "code": text, "message": text, "suggestion": text
            },
            always: &["message", "nextAction"],
            handler: on_run(commit),
        },
        Entry {
            name: "autopilot_finalize",
            title: "Report the full suite",
            description: "When action is finalize: report the whole suite, as in autopilot_complete_phase. Failing tests open a repair.",
            hints: Hints::Idempotent,
            output: next_action! {
                "validated": flag, "code": text, "message": text, "suggestion": text,
                "commitSha": text, "report": text
            },
            always: &["validated", "message", "nextAction"],
            handler: on_run(finalize),
        },
        Entry {
            name: "autopilot_reopen",
            title: "Reopen a phase",
            description: "One phase back: COMMIT to GREEN, GREEN to RED; at finalize, open a repair.",
            hints: Hints::Adds,
            output: moved.clone(),
            always: &["message", "nextAction"],
            handler: on_turn(reopen),
        },
        Entry {
            name: "autopilot_baseline",
            title: "Record the baseline",
            description: "Which tests failed before the run, and may go on to: runs them where it began, or takes a report.",
            hints: Hints::Idempotent,
            output: moved.clone(),
            always: &["message", "nextAction"],
            handler: on_run(baseline),
        },
        Entry {
            name: "autopilot_skip",
            title: "Give a subtask up",
            description: "Give the subtask up for good; what depends on it is not run.",
            hints: Hints::Destructive,
            output: moved.clone(),
            always: &["message", "nextAction"],
            handler: on_turn(skip),
        },
        Entry {
            name: "autopilot_status",
            title: "Where the run is",
            description: "Progress, phase and attempt.",
            hints: Hints::ReadOnly,
            output: next_action! {
                "runId": text, "status": text,
                "progress": { "type": "object" }
            },
            always: &["runId", "status", "progress", "nextAction"],
            handler: on_run(status),
        },
        Entry {
            name: "autopilot_pause",
            title: "Pause the run",
            description: "Stop taking reports until autopilot_resume.",
            hints: Hints::Idempotent,
            output: moved.clone(),
            always: &["message", "nextAction"],
            handler: on_turn(pause),
        },
        Entry {
            name: "autopilot_resume",
            title: "Go on with a run",
            description: "Go on with a stopped run.",
            hints: Hints::Idempotent,
            output: next_action! { "runId": text, "resumed": flag },
            always: &["runId", "nextAction"],
            handler: on_turn(resume),
        },
        way_back(),
        submission(),
        remarks(moved),
        Entry {
            name: "autopilot_abort",
            title: "End the run",
            description: "End the run now; branch and files stay. cleanup asks the person.",
            hints: Hints::Destructive,
            output: json!({ "runId": text, "message": text, "cleanedUp": flag }),
            always: &["runId"],
            handler: on_turn(abort),
        },
    ]
}

/// The tool that takes a run back.
fn way_back() -> Entry {
    let text = json!({ "type": "string" });
    Entry {
        name: "autopilot_rewind",
        title: "Take the run back",
        description: "Take run, branch and tree back to an earlier step; what was there is kept.",
        hints: Hints::Destructive,
        output: next_action! { "runId": text, "message": text, "steps": { "type": "array" } },
        always: &["runId"],
        handler: on_turn(rewind),
    }
}

/// The tool that hands a run over.
fn submission() -> Entry {
    let text = json!({ "type": "string" });
    Entry {
        name: "autopilot_submit",
        title: "Open the pull request",
        description: "Push the finished run's branch; open its pull request, or update it. byHand: tell the person why, and the url.",
        hints: Hints::Adds,
        output: next_action! { "runId": text, "message": text, "pullRequest": { "type": "object" }, "byHand": { "type": "object" } },
        always: &["runId", "message", "nextAction"],
        handler: on_run(submit),
    }
}

/// The tool that takes in what others say of it.
fn remarks(moved: Value) -> Entry {
    Entry {
        name: "autopilot_feedback",
        title: "Take in feedback",
        description: "Fetch failing checks and review comments of the pull request; each becomes a subtask.",
        hints: Hints::Adds,
        output: moved,
        always: &["message", "nextAction"],
        handler: on_run(feedback),
    }
}

fn start(call: Call<'_>, meant: RunSelector, start: Start) -> Answer {
    let (dry_run, force) = (start.dry_run, start.force);
    let mut request = start.request();
    let (client, places) = (call.client, call.places);
    let engine = call.open(&meant)?;
    if let Some(plan) = &mut request.plan {
        *plan = places.file(&engine, &plan.to_string_lossy())?;
    }
    request.baseline = placed(places, &engine, request.baseline)?;
    if dry_run {
        return answer(&engine.plan(&request)?);
    }
    // A run that is under way is superseded by a person's word alone.
    request.force = false;
    let fault = match engine.start(&request) {
        Err(fault) if fault.code == "run_active" && force => fault,
        started => return answer(&started?),
    };
    let run = fault
        .details
        .get("runId")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    confirm(
        client,
        &format!(
            "{}. End it, and start this one in its place?",
            fault.message
        ),
        &run,
        &start_by_hand(&request, &meant),
    )?;
    request.force = true;
    answer(&engine.start(&request)?)
}

/// The same start as a person would type it. A task whose id begins with a hyphen is left out: it would be an option itself.
fn start_by_hand(request: &request::Start, meant: &RunSelector) -> String {
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
        ("format", request.baseline.format.clone()),
    ];
    for (name, value) in given {
        if let Some(value) = value {
            step = step.with(name, value);
        }
    }
    for subtask in &request.subtasks {
        step = step.with("subtask", subtask);
    }
    for report in &request.baseline.reports {
        step = step.with("baselineReport", report.display().to_string());
    }
    let switches = [
        ("allowDirty", request.allow_dirty),
        ("verify", request.baseline.verify),
        ("force", true),
    ];
    for (name, is_on) in switches {
        if is_on {
            step = step.and(name);
        }
    }
    by_hand(Form::Autopilot, step, meant)
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

fn baseline(call: Call<'_>, meant: RunSelector, baseline: TakeBaseline) -> Answer {
    let engine = call.open(&meant)?;
    let given = placed(call.places, &engine, baseline.request())?;
    answer(&engine.take_baseline(meant.run(), &given)?)
}

fn reopen(call: Call<'_>, meant: RunSelector, reopen: Reopen) -> Answer {
    let turn = reopen.turn();
    call.turned(&meant, Form::Autopilot, &turn, |engine| {
        engine.reopen(meant.run(), &turn)
    })
}

fn skip(call: Call<'_>, meant: RunSelector, skip: Skip) -> Answer {
    let engine = call.open(&meant)?;
    answer(&engine.skip(meant.run(), skip.subtask.as_deref(), &skip.reason)?)
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
    let client = call.client;
    let engine = call.open(&meant)?;
    if !request.cleanup {
        return answer(&engine.abort(meant.run(), request)?);
    }
    // Looked up first: the yes is for this run, whichever is the present one by then.
    let status = engine.status(meant.run())?;
    let lost = if request.force {
        ", also commits that are nowhere else"
    } else {
        ""
    };
    let step = request.turn().step().of(&status.run_id);
    let by_hand = by_hand(Form::Autopilot, step, &meant);
    strong_enough(
        engine.turn_statement(&status.run_id, &request.turn())?.1,
        &by_hand,
    )?;
    confirm(
        client,
        &format!(
            "Abort the run {} and delete its branch {} and its folder{lost}?",
            status.run_id, status.branch
        ),
        &format!("{} {}", status.run_id, request.force),
        &by_hand,
    )?;
    let asked = engine.asked(Channel::Client("elicitation".to_owned()));
    answer(&asked.abort(Some(&status.run_id), request)?)
}
