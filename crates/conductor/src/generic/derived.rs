//! Files that are made from the journal, for people and programs. Any of them may be deleted: it is made
//! anew. None is read to decide anything.

use std::path::Path;

use journal::derived::replace_if_changed;
use journal::{FileJournal, Journal as _, Position};
use rails::{Event, RunState, RunStatus};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{left, run_report, units, view};
use crate::call::Call;
use crate::fail_point;

/// The files that are there once a run is over.
pub(super) const REPORTS: [&str; 2] = ["report.json", "report.md"];
/// Lists in the state file are cut at this length, with the total beside them.
const MOST_UNITS: usize = 20;
/// The state file is at most this long, in bytes.
const LONGEST_STATE: usize = 4096;

/// Brings the files up to date after `appended`. What cannot be written is left for the next time.
pub(crate) fn write(call: &Call<'_>, run: &RunState, appended: &[Event]) {
    if write_all(call, run, appended) {
        left::note(&call.dir, run);
    }
}

/// Whether all of them could be written.
fn write_all(call: &Call<'_>, run: &RunState, appended: &[Event]) -> bool {
    let dir = &call.dir;
    let mut all = true;
    for event in appended {
        if let Event::RunCreated { definition, .. } = event {
            all &= put(dir, "workflow.yaml", definition.as_bytes());
        }
    }
    all &= units::write(dir, run, appended);
    if appended.iter().any(concerns_manifest) {
        all &= put_json(dir, "manifest.json", &manifest(call, run));
    }
    if run.status.is_over() {
        fail_point::reach("end-before-report");
        reported(dir);
    } else if appended
        .iter()
        .any(|event| matches!(event, Event::RunResumed { .. }))
    {
        unreported(dir);
    }
    fail_point::reach("derived-before-state");
    // The last one, so that it tells whether all the others were written.
    all & put(dir, "state.json", state(call, run).as_bytes())
}

/// Whether the manifest says something else after it: where the run stands as a whole.
fn concerns_manifest(event: &Event) -> bool {
    matches!(
        event,
        Event::RunCreated { .. }
            | Event::RunPaused { .. }
            | Event::RunResumed { .. }
            | Event::RunEnded { .. }
    )
}

/// Makes good what is missing, torn or behind, as a process leaves it that ends in the middle. Whether there was anything.
///
/// A process that answers many calls reads them again only where they are not as it left them.
pub(crate) fn complete(call: &Call<'_>, run: &RunState) -> bool {
    let dir = &call.dir;
    if left::is_unchanged(dir, run) {
        return false;
    }
    let text = |name: &str| journal::durable::read_text(&dir.join(name)).unwrap_or_default();
    let as_it_is = text("state.json") == state(call, run)
        && text("manifest.json") == pretty(&manifest(call, run))
        && journal::sha256_hex(text("workflow.yaml").as_bytes()) == run.definition_hash
        && units::are_whole(dir, run)
        && if run.status.is_over() {
            text("report.md").ends_with('\n')
                && serde_json::from_str::<Value>(&text("report.json")).is_ok()
        } else {
            REPORTS.iter().all(|name| !dir.join(name).exists())
        };
    if as_it_is {
        left::note(dir, run);
        return false;
    }
    if let Some(definition) = first_definition(dir) {
        put(dir, "workflow.yaml", definition.as_bytes());
    }
    units::complete(dir, run);
    put_json(dir, "manifest.json", &manifest(call, run));
    if run.status.is_over() {
        reported(dir);
    } else {
        unreported(dir);
    }
    put(dir, "state.json", state(call, run).as_bytes());
    true
}

/// The definition in the first event.
fn first_definition(dir: &Path) -> Option<String> {
    let all = FileJournal::open(dir).ok()?.read(&Position::start()).ok()?;
    let definition = all.records.first()?.fields.get("definition")?;
    definition.as_str().map(str::to_owned)
}

/// Takes the report of an end away that was none: the run goes on.
fn unreported(dir: &Path) {
    for name in REPORTS {
        let _ = std::fs::remove_file(dir.join(name));
        fail_point::reach("io");
    }
}

fn reported(dir: &Path) {
    if let Ok(built) = run_report::build(dir) {
        put(dir, "report.json", pretty(&built.json).as_bytes());
        put(dir, "report.md", built.markdown.as_bytes());
    }
}

/// Whether it could be written.
pub(super) fn put(dir: &Path, name: &str, bytes: &[u8]) -> bool {
    replace_if_changed(&dir.join(name), bytes).is_ok()
}

fn put_json(dir: &Path, name: &str, value: &Value) -> bool {
    put(dir, name, pretty(value).as_bytes())
}

fn pretty(value: &impl Serialize) -> String {
    // Maps with text keys and numbers of JSON: nothing in it can fail.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

/// `state.json`: what the run is now, readable by anyone.
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
    r#type: &'static str,
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

/// The text of `state.json`, bounded.
fn state(call: &Call<'_>, run: &RunState) -> String {
    let none = Map::new();
    [(MOST_UNITS, &run.vars), (5, &none)]
        .into_iter()
        .map(|(most, vars)| pretty(&state_with(call, run, most, vars)))
        .find(|text| text.len() <= LONGEST_STATE)
        .unwrap_or_else(|| pretty(&state_with(call, run, 0, &none)))
}

fn state_with<'a>(
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
    let state = asked.map(|(token, _)| token.state.as_str());
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
            view::items(run, &call.definition)
        } else {
            Map::new()
        },
        vars,
        next_action: NextAction {
            r#type: view::action(run, &call.definition),
            state,
            unit_id: asked.map(|(_, unit)| Short::of(&unit.id)),
        },
        start_time: &run.started_at,
        last_updated: &run.updated_at,
        can_resume: !run.status.is_over(),
    }
}

/// What the run is about.
fn manifest(call: &Call<'_>, run: &RunState) -> Value {
    json!({
        "version": 1,
        "runId": run.run,
        "workflow": run.workflow,
        "view": run.view,
        "title": call.definition.title,
        "projectRoot": call.root,
        "taskId": "",
        "taskTitle": "",
        "tag": "",
        "branch": "",
        "startTime": run.started_at,
        "endTime": run.ended_at,
        "status": run.status.name(),
        "totalCommits": 0,
    })
}
