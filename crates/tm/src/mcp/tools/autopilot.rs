//! The phase form of a `tdd` run.

use engine::report::{Meaning, Report};
use engine::view::autopilot::request;
use engine::view::{AUTOPILOT, View};
use engine::{Engine, NEEDS_CONFIRMATION, Turn, Verb};
use mcp::Hints;
use serde_json::Value;

use super::super::confirm::confirm;
use super::super::place::RunSelector;
use super::evidence::{once, placed};
use super::turn::by_hand;
use super::{Answer, Call, Entry, Property, answer, on_run};
use crate::cli::autopilot::{Commit, Complete, Finalize, Next, Status};
use crate::cli::start::Start;
use crate::steps::Form;

/// What every answer of a report has.
const REPORTED: &[Property] = &[
    ("validated", "boolean"),
    ("message", "string"),
    ("nextAction", "object"),
];
/// What every answer to a commit has.
const COMMITTED: &[Property] = &[("message", "string"), ("nextAction", "object")];

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
            output: COMMITTED,
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
    let engine = call.open(&meant)?;
    answer(&engine.next(&AUTOPILOT, meant.run(), next.check)?)
}

fn complete(call: Call<'_>, meant: RunSelector, complete: Complete) -> Answer {
    record(call, &meant, complete.request(), &AUTOPILOT, Meaning::Tests)
}

fn commit(call: Call<'_>, meant: RunSelector, commit: Commit) -> Answer {
    record(call, &meant, commit.request(), &AUTOPILOT, Meaning::Commit)
}

fn finalize(call: Call<'_>, meant: RunSelector, finalize: Finalize) -> Answer {
    record(call, &meant, finalize.request(), &AUTOPILOT, Meaning::Suite)
}

fn status(call: Call<'_>, meant: RunSelector, _: Status) -> Answer {
    answer(&call.open(&meant)?.status(&AUTOPILOT, meant.run())?)
}

/// Records a report whose files stand where the caller's folder is.
pub(super) fn record(
    call: Call<'_>,
    meant: &RunSelector,
    mut report: Report,
    view: &'static View,
    meaning: Meaning,
) -> Answer {
    once(&report.evidence)?;
    let engine = call.open(meant)?;
    report.evidence = placed(call.places, &engine, report.evidence)?;
    answer(&engine.record_report(view, meant.run(), &report, meaning)?)
}
