//! The phase form of a `tdd` run.

use conductor::report::Report;
use conductor::tdd::request;
use conductor::{Asked, Conductor, Verb};
use mcp::Hints;
use serde_json::{Value, json};

use super::super::confirm::{No, confirm, strong_enough};
use super::super::place::Meant;
use super::evidence::{baseline, evidence, placed, reports};
use super::turn::by_hand;
use super::{Answer, Call, Entry, answer};
use crate::steps::Form;

/// What is known of the next step, in every answer.
macro_rules! next_action {
    ($($rest:tt)*) => {
        json!({ $($rest)*, "nextAction": { "type": "object" } })
    };
}

/// The tools of the phase form, in the order in which a run needs them.
#[expect(clippy::too_many_lines, reason = "a table: one entry a tool")]
pub(super) fn entries() -> Vec<Entry> {
    let results = json!({
        "type": "object",
        "description": "as the runner printed them; errors: could not compile or load",
        "properties": {
            "passed": { "type": "integer" },
            "failed": { "type": "integer" },
            "skipped": { "type": "integer" },
            "errors": { "type": "integer" },
        },
    });
    let coverage = json!({ "type": "number", "description": "lines, percent" });
    let files = json!({ "type": "array", "items": { "type": "string" } });
    let text = json!({ "type": "string" });
    let flag = json!({ "type": "boolean" });
    // Not a list of types: some clients take only one type a place.
    let perhaps = json!({ "anyOf": [text, { "type": "null" }] });
    let verdict = next_action! {
        "validated": flag, "code": text, "message": text, "suggestion": text, "warning": text
    };
    let moved = next_action! { "message": text };
    vec![
        Entry {
            name: "autopilot_start",
            title: "Start a run",
            description: "Start a TDD run on a task: makes the branch, gives the first step. Either taskId (from tasks.json), or title with subtasks, or plan.",
            hints: Hints::Adds,
            input: json!({
                "taskId": text,
                "workflow": text,
                "title": text,
                "subtasks": files,
                "plan": { "type": "string", "description": "path of a Markdown checklist" },
                "options": {
                    "type": "object",
                    "properties": { "branch": text, "maxAttempts": { "type": "integer" } },
                },
                "dryRun": flag,
                "allowDirty": flag,
                "baselineReport": text,
                "verify": flag,
                "force": { "type": "boolean", "description": "end the run that is under way; asks the person" },
            }),
            needed: &[],
            output: next_action! { "runId": text, "branch": text, "warnings": files },
            call: start,
        },
        Entry {
            name: "autopilot_next",
            title: "Next step",
            description: "What to do now: action (red, green, commit, finalize, paused, complete), unitId, instructions to follow exactly. Call it before each step.",
            hints: Hints::ReadOnly,
            input: json!({
                "check": { "type": "boolean", "description": "look at the working tree too" },
            }),
            needed: &[],
            output: json!({
                "action": text, "runId": text, "unitId": text, "instructions": text,
                "subtask": { "type": "object" }, "context": { "type": "object" },
            }),
            call: next,
        },
        Entry {
            name: "autopilot_complete_phase",
            title: "Report RED or GREEN",
            description: "Report RED (new tests must fail) or GREEN (all must pass): results, or paths of the runner's report, or verify (runs the tests). validated: false: not accepted; do what suggestion says. Failing tests in GREEN use up an attempt. Give unitId, so that a repeated report counts once.",
            hints: Hints::Adds,
            input: json!({
                "results": results,
                "phase": { "type": "string", "enum": ["red", "green"] },
                "subtaskId": text,
                "coverage": coverage,
                "files": files,
                "unitId": text,
                "report": reports(),
                "verify": flag,
                "format": text,
                "coverageReport": text,
                "removed": files,
            }),
            needed: &[],
            output: verdict.clone(),
            call: complete,
        },
        Entry {
            name: "autopilot_commit",
            title: "Commit the subtask",
            description: "In COMMIT: make the commit of the subtask. Do not commit yourself; if you did, give commitSha.",
            hints: Hints::Idempotent,
            input: json!({
                "subtaskId": text,
                "message": text,
                "files": files,
                "commitSha": text,
                "unitId": text,
            }),
            needed: &[],
            output: next_action! {
                "commitSha": text, "files": files, "validated": flag, "code": text,
                "message": text, "suggestion": text
            },
            call: commit,
        },
        Entry {
            name: "autopilot_finalize",
            title: "Report the full suite",
            description: "When action is finalize: report the whole suite, as in autopilot_complete_phase. Failing tests open a repair; else the run ends.",
            hints: Hints::Idempotent,
            input: json!({
                "results": { "type": "object" },
                "coverage": { "type": "number" },
                "skipCoverage": flag,
                "report": text,
                "verify": flag,
                "coverageReport": text,
            }),
            needed: &[],
            output: next_action! {
                "validated": flag, "code": text, "message": text, "suggestion": text,
                "commitSha": text, "report": text
            },
            call: finalize,
        },
        Entry {
            name: "autopilot_reopen",
            title: "Go one phase back",
            description: "One phase back: COMMIT to GREEN, GREEN to RED; at finalize, open a repair.",
            hints: Hints::Adds,
            input: json!({ "reason": text }),
            needed: &[],
            output: moved.clone(),
            call: reopen,
        },
        Entry {
            name: "autopilot_skip",
            title: "Give a subtask up",
            description: "Give up the subtask in hand for good; what depends on it is not run.",
            hints: Hints::Destructive,
            input: json!({ "reason": text }),
            needed: &["reason"],
            output: moved.clone(),
            call: skip,
        },
        Entry {
            name: "autopilot_status",
            title: "Where the run is",
            description: "Status, progress, phase and attempt of the run.",
            hints: Hints::ReadOnly,
            input: json!({}),
            needed: &[],
            output: next_action! {
                "runId": text, "status": text, "currentSubtask": perhaps, "currentPhase": perhaps,
                "progress": { "type": "object" }
            },
            call: status,
        },
        Entry {
            name: "autopilot_pause",
            title: "Pause the run",
            description: "Stop taking reports until autopilot_resume.",
            hints: Hints::Idempotent,
            input: json!({ "reason": text }),
            needed: &[],
            output: moved,
            call: pause,
        },
        Entry {
            name: "autopilot_resume",
            title: "Go on with a run",
            description: "Go on with a paused or interrupted run.",
            hints: Hints::Idempotent,
            input: json!({}),
            needed: &[],
            output: next_action! { "runId": text, "resumed": flag },
            call: resume,
        },
        Entry {
            name: "autopilot_abort",
            title: "End the run",
            description: "End the run now; branch and files stay. cleanup deletes the branch and the run's folder, and asks the person.",
            hints: Hints::Destructive,
            input: json!({
                "cleanup": flag,
                "force": { "type": "boolean", "description": "clean up even unmerged work" },
            }),
            needed: &[],
            output: json!({ "runId": text, "message": text, "cleanedUp": flag }),
            call: abort,
        },
    ]
}

impl Call<'_> {
    /// Reads what every tool takes, refuses what is left, and opens the project.
    pub(super) fn open(mut self) -> Result<(Conductor, Meant), No> {
        let meant = Meant::of(&mut self.arguments)?;
        self.arguments.end()?;
        let conductor = self.places.open(&meant, self.tool, self.client)?;
        Ok((conductor, meant))
    }
}

fn start(mut call: Call<'_>) -> Answer {
    let given = &mut call.arguments;
    let mut options = given.object("options")?;
    let max_attempts = options.count("maxAttempts")?;
    let mut request = request::Start {
        task_id: given.text("taskId")?,
        workflow: given.text("workflow")?,
        title: given.text("title")?,
        subtasks: given.texts("subtasks")?,
        plan: None,
        branch: options.text("branch")?,
        max_attempts: max_attempts.map(|count| u32::try_from(count).unwrap_or(u32::MAX)),
        force: false,
        allow_dirty: given.flag("allowDirty")?,
        baseline: baseline(given)?,
    };
    options.end()?;
    let plan = given.text("plan")?;
    let dry_run = given.flag("dryRun")?;
    let force = given.flag("force")?;
    let (client, places) = (call.client, call.places);
    let (conductor, meant) = call.open()?;
    request.plan = plan
        .map(|plan| places.file(&conductor, &plan))
        .transpose()?;
    request.baseline = placed(places, &conductor, request.baseline)?;
    if dry_run {
        request.force = force;
        return answer(&conductor.plan(&request)?);
    }
    let fault = match conductor.start(&request) {
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
    answer(&conductor.start(&request)?)
}

/// The same start as a person would type it. A task whose id begins with a hyphen is left out: it would be an option itself.
fn start_by_hand(request: &request::Start, meant: &Meant) -> String {
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

fn next(mut call: Call<'_>) -> Answer {
    let check = call.arguments.flag("check")?;
    let (conductor, meant) = call.open()?;
    answer(&conductor.next(meant.run(), check)?)
}

fn complete(mut call: Call<'_>) -> Answer {
    let given = &mut call.arguments;
    let (results, coverage) = (given.form("results")?, given.form("coverage")?);
    let mut request = Report {
        state: given.text("phase")?,
        item: given.text("subtaskId")?,
        evidence: evidence(given, results, coverage)?,
        files: given.texts("files")?,
        unit: given.text("unitId")?,
        ..Report::default()
    };
    let places = call.places;
    let (conductor, meant) = call.open()?;
    request.evidence = placed(places, &conductor, request.evidence)?;
    answer(&conductor.complete(meant.run(), &request)?)
}

fn commit(mut call: Call<'_>) -> Answer {
    let given = &mut call.arguments;
    let request = Report {
        item: given.text("subtaskId")?,
        message: given.text("message")?,
        files: given.texts("files")?,
        sha: given.text("commitSha")?,
        unit: given.text("unitId")?,
        ..Report::default()
    };
    let (conductor, meant) = call.open()?;
    answer(&conductor.commit(meant.run(), &request)?)
}

fn finalize(mut call: Call<'_>) -> Answer {
    let given = &mut call.arguments;
    let (results, coverage) = (given.form("results")?, given.form("coverage")?);
    let mut request = Report {
        evidence: evidence(given, results, coverage)?,
        skip_coverage: given.flag("skipCoverage")?,
        ..Report::default()
    };
    let places = call.places;
    let (conductor, meant) = call.open()?;
    request.evidence = placed(places, &conductor, request.evidence)?;
    answer(&conductor.finalize(meant.run(), &request)?)
}

fn reopen(mut call: Call<'_>) -> Answer {
    let reason = call.arguments.text("reason")?.unwrap_or_default();
    call.turned(Form::Autopilot, Verb::Reopen, |conductor, run| {
        conductor.reopen(run, &reason)
    })
}

fn skip(mut call: Call<'_>) -> Answer {
    let reason = call.arguments.needed_text("reason")?;
    let subtask = call.arguments.text("subtaskId")?;
    let (conductor, meant) = call.open()?;
    answer(&conductor.skip(meant.run(), subtask.as_deref(), &reason)?)
}

fn status(call: Call<'_>) -> Answer {
    let (conductor, meant) = call.open()?;
    answer(&conductor.status(meant.run())?)
}

fn pause(mut call: Call<'_>) -> Answer {
    let reason = call.arguments.text("reason")?.unwrap_or_default();
    let (conductor, meant) = call.open()?;
    answer(&conductor.pause(meant.run(), &reason)?)
}

fn resume(call: Call<'_>) -> Answer {
    call.turned(Form::Autopilot, Verb::Resume, Conductor::resume)
}

fn abort(mut call: Call<'_>) -> Answer {
    let request = request::Abort {
        cleanup: call.arguments.flag("cleanup")?,
        force: call.arguments.flag("force")?,
    };
    let client = call.client;
    let (conductor, meant) = call.open()?;
    if !request.cleanup {
        return answer(&conductor.abort(meant.run(), request)?);
    }
    // Looked up first: the yes is for this run, whichever is the present one by then.
    let status = conductor.status(meant.run())?;
    let lost = if request.force {
        ", also commits that are nowhere else"
    } else {
        ""
    };
    let mut step = Verb::Abort.step().of(&status.run_id).and("cleanup");
    if request.force {
        step = step.and("force");
    }
    let by_hand = by_hand(Form::Autopilot, step, &meant);
    strong_enough(
        conductor.turn_statement(&status.run_id, &request.turn())?.1,
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
    let asked = conductor.asked(Asked::Client("elicitation".to_owned()));
    answer(&asked.abort(Some(&status.run_id), request)?)
}
