//! `state.json`: what the run is now, readable by anyone, and bounded. In the words of the run's view.

use machine::{RunState, RunStatus};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::action::ActionKind;
use crate::action::next::{Detail, kind, next_action};
use crate::action::status;
use crate::call::Call;
use crate::capability::memory::{self, Memory};
use crate::derived::pretty;
use crate::find::is_over_a_task;
use crate::view::{AUTOPILOT, View};

/// Lists are cut at this length, with the total beside them.
const MOST: usize = 20;
/// The file is at most this long, in bytes.
const LONGEST: usize = 4096;

/// The text of the file.
pub(super) fn state(call: &Call<'_>, run: &RunState) -> String {
    if View::of(run).is_of_tasks && is_over_a_task(run) {
        on_task(call, run)
    } else {
        of_any(call, run)
    }
}

fn on_task(call: &Call<'_>, run: &RunState) -> String {
    let context = short_context(call, run);
    [MOST, 5, 0]
        .into_iter()
        .map(|most| pretty(&on_task_with(run, most, &context)))
        .find(|text| text.len() <= LONGEST)
        .unwrap_or_else(|| pretty(&on_task_with(run, 0, &Value::Null)))
}

fn cut(mut ids: Vec<String>, most: usize) -> Vec<String> {
    ids.truncate(most);
    ids
}

/// What a reader of the state file needs to begin with; all of it is in the unit's own context.
fn short_context(call: &Call<'_>, run: &RunState) -> Value {
    let action = next_action(&AUTOPILOT, call, run, Detail::Whole);
    let Ok(Some(context)) = action.map(|action| action.context) else {
        return Value::Null;
    };
    let list = |name: &str| -> Vec<String> {
        context
            .get(name)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .take(5)
            .map(|path| path.chars().take(120).collect())
            .collect()
    };
    json!({
        "testFile": context.get("testFile"),
        "failingTests": list("failingTests"),
        "implementationFiles": list("expectedFiles"),
    })
}

fn on_task_with(run: &RunState, most: usize, context: &Value) -> Value {
    let start = Memory::of(run)
        .map(|memory| memory.start)
        .unwrap_or_default();
    let progress = status::progress(run);
    let waiting = run.waiting().next();
    let phase = status::phase(run);
    let attempt = waiting.map_or(1, |(_, unit)| unit.attempt);
    let role = status::present(run).map(|token| &token.role);
    let kind = match (phase, role) {
        (None, _) => "complete",
        (Some(_), Some(role)) if role.shows.is_some() => "test",
        (Some(_), Some(role)) if role.reader == "tests" && role.suite.is_none() => "implement",
        (Some(phase), _) => phase,
    };
    let short = |text: &str| text.chars().take(200).collect::<String>();
    json!({
        "version": 1,
        "runId": run.run,
        "taskId": start.task_id,
        "tag": start.tag,
        "branch": short(&start.branch),
        "status": run.status.name(),
        "pausedReason": run.pause.as_ref().map(|pause| short(&pause.reason)),
        "currentSubtask": progress.current,
        "currentPhase": phase,
        "attemptNumber": attempt,
        "maxAttempts": status::max_attempts(run),
        "completedTotal": progress.completed.len(),
        "failedTotal": progress.failed.len(),
        "pendingTotal": progress.remaining.len(),
        "completedSubtasks": cut(progress.completed, most),
        "failedSubtasks": cut(progress.failed, most),
        "pendingSubtasks": cut(progress.remaining, most),
        "checkpoint": {
            "subtaskId": progress.current,
            "phase": phase.map(str::to_uppercase),
            "attemptNumber": attempt,
        },
        "nextAction": {
            "type": kind,
            "subtask": progress.current,
            "phase": phase,
            "unitId": waiting.map(|(_, unit)| unit.id.as_str()),
            "context": context,
        },
        "totalCommits": memory::commits(run),
        "startTime": run.started_at,
        "lastUpdated": run.updated_at,
        "lastUpdateTime": run.updated_at,
        "canResume": !run.status.is_over(),
    })
}

/// The file of a run of any workflow.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Present<'a> {
    version: u32,
    run_id: &'a str,
    workflow: &'a str,
    status: &'static str,
    paused_reason: Option<Short<'a>>,
    state: Option<&'a str>,
    units: Vec<OpenUnit<'a>>,
    units_total: usize,
    items: Map<String, Value>,
    vars: &'a Map<String, Value>,
    next_action: NextAction<'a>,
    start_time: &'a str,
    last_updated: &'a str,
    can_resume: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OpenUnit<'a> {
    unit_id: Short<'a>,
    state: &'a str,
    item: Option<Short<'a>>,
    attempt: u32,
    max_attempts: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NextAction<'a> {
    r#type: ActionKind,
    state: Option<&'a str>,
    unit_id: Option<Short<'a>>,
}

/// The beginning of a text that may be long.
#[derive(Serialize)]
#[serde(transparent)]
struct Short<'a>(&'a str);

impl<'a> Short<'a> {
    fn of(text: &'a str) -> Self {
        Self(match text.char_indices().nth(200) {
            Some((end, _)) => &text[..end],
            None => text,
        })
    }
}

fn of_any(call: &Call<'_>, run: &RunState) -> String {
    let none = Map::new();
    [(MOST, &run.vars), (5, &none)]
        .into_iter()
        .map(|(most, vars)| pretty(&of_any_with(call, run, most, vars)))
        .find(|text| text.len() <= LONGEST)
        .unwrap_or_else(|| pretty(&of_any_with(call, run, 0, &none)))
}

fn of_any_with<'a>(
    call: &Call<'_>,
    run: &'a RunState,
    most: usize,
    vars: &'a Map<String, Value>,
) -> Present<'a> {
    let units = run.waiting().take(most).map(|(token, unit)| OpenUnit {
        unit_id: Short::of(&unit.id),
        state: &token.state,
        item: token.key().map(Short::of),
        attempt: unit.attempt,
        max_attempts: unit.max_attempts,
    });
    let asked = run
        .waiting()
        .next()
        .filter(|_| run.status == RunStatus::Running);
    // Where nothing is asked for, a run with one position still stands somewhere.
    let stands = (run.tokens.len() == 1).then(|| run.state());
    let state = asked.map_or(stands, |(token, _)| Some(token.state.as_str()));
    Present {
        version: 1,
        run_id: &run.run,
        workflow: &run.workflow,
        status: run.status.name(),
        paused_reason: run.pause.as_ref().map(|pause| Short::of(&pause.reason)),
        state,
        units: units.collect(),
        units_total: run.waiting().count(),
        items: if most > 0 {
            status::items(run, &call.definition)
        } else {
            Map::new()
        },
        vars,
        next_action: NextAction {
            r#type: kind(run, Some(&call.definition)),
            state,
            unit_id: asked.map(|(_, unit)| Short::of(&unit.id)),
        },
        start_time: &run.started_at,
        last_updated: &run.updated_at,
        can_resume: !run.status.is_over(),
    }
}
