//! Files that are made from the journal, for people and programs. Any of them may be deleted: it is
//! made anew. None is read to decide anything.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use journal::derived::replace_if_changed;
use journal::{FileJournal, Journal as _, Position, Record};
use rails::event::Reported;
use rails::{Event, RunState};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::memory::{self, LAST_COMMIT, Memory};
use super::{report, view};
use crate::call::Call;
use crate::fail_point;
use crate::fault::Fault;

/// The folder of what reports of tests said, in the run's folder.
pub(crate) const TEST_RESULTS: &str = "test-results";
/// Lists in the state file are cut at this length, with the total beside them.
const MOST_IDS: usize = 20;
/// The state file is at most this long, in bytes.
const LONGEST_STATE: usize = 4096;
/// Above this many units the list of them is only written when the run ends.
const MOST_UNITS: usize = 512;

/// Brings the files up to date after `appended`. What cannot be written is left for the next time.
pub(crate) fn write(call: &Call<'_>, run: &RunState, appended: &[Event]) {
    let dir = &call.dir;
    let over = run.status.is_over();
    if over {
        fail_point::reach("end-before-report");
    }
    // The end is worth a look at the whole journal: whatever was lost on the way comes back.
    if over {
        let _ = rebuild(call, dir);
        return;
    }
    let turned = appended.iter().any(|event| {
        matches!(
            event,
            Event::RunCreated { .. }
                | Event::RunPaused { .. }
                | Event::RunResumed { .. }
                | Event::RunEnded { .. }
        )
    });
    let stepped = turned
        || appended
            .iter()
            .any(|event| matches!(event, Event::TokenClosed { .. }));
    for event in appended {
        if let Event::RunCreated { definition, .. } = event {
            put(dir, "workflow.yaml", definition.as_bytes());
        }
        if let Some((name, value)) = test_results(event) {
            put_json(dir, &name, &value);
        }
        if let Some(sha) = commit_of(event) {
            let path = dir.join("commits.txt");
            let mut all = journal::durable::read_text(&path).unwrap_or_default();
            if all.lines().last() != Some(sha) {
                all.push_str(sha);
                all.push('\n');
                put(dir, "commits.txt", all.as_bytes());
            }
        }
    }
    units(dir, run, appended);
    if stepped {
        put_json(dir, "manifest.json", &manifest(run));
    }
    if turned {
        current_run(call, run);
    }
    fail_point::reach("derived-before-state");
    // The last one, so that it tells whether all the others were written.
    put_json(dir, "state.json", &state(run, dir));
}

/// Makes good what is missing, torn or behind, as a process leaves it that ends in the middle. Whether there was anything.
pub fn complete(call: &Call<'_>, run: &RunState) -> bool {
    let behind = is_behind(&call.dir, run);
    if behind {
        let _ = rebuild(call, &call.dir);
    } else {
        current_run(call, run);
    }
    behind
}

/// Whether a file is missing, torn, or older than the run.
fn is_behind(dir: &Path, run: &RunState) -> bool {
    let text = |name: &str| journal::durable::read_text(&dir.join(name)).unwrap_or_default();
    let commits = || {
        let listed = text("commits.txt");
        let last = run.kept.get(LAST_COMMIT).and_then(Value::as_str);
        listed.lines().count() as u64 != memory::commits(run)
            || listed.lines().last() != last
            || !listed.ends_with('\n')
    };
    let units = || {
        let issued = issued(run);
        let listed = text("work-units.json");
        issued <= MOST_UNITS && (listed.lines().count() != issued + 2 || !listed.ends_with("]\n"))
    };
    let results = || {
        run.last
            .as_ref()
            .and_then(|report| results_of(report, report.code.is_none()))
            .is_some_and(|(name, value)| text(&name) != pretty(&value))
    };
    let manifest = || {
        let kept: Value = serde_json::from_str(&text("manifest.json")).unwrap_or_default();
        kept.get("runId") != Some(&Value::from(run.run.as_str()))
            || kept.get("status") != Some(&Value::from(run.status.name()))
            || kept.get("totalCommits") != Some(&Value::from(memory::commits(run)))
    };
    let report = || {
        serde_json::from_str::<Value>(&text("report.json")).is_err()
            || !text("report.md").ends_with('\n')
    };
    text("state.json") != pretty(&state(run, dir))
        || manifest()
        || units()
        || (memory::commits(run) > 0 && commits())
        || results()
        || journal::sha256_hex(text("workflow.yaml").as_bytes()) != run.definition_hash
        || (run.status.is_over() && report())
}

fn issued(run: &RunState) -> usize {
    run.issues.values().map(|count| *count as usize).sum()
}

/// Makes every derived file anew from the journal.
pub fn rebuild(call: &Call<'_>, dir: &Path) -> Result<RunState, Fault> {
    let tail = FileJournal::open(dir)?.read(&Position::start())?;
    let mut run = RunState::default();
    let mut rows = Vec::new();
    let mut commits = String::new();
    for record in &tail.records {
        let event = event_of(record)?;
        run.apply(&record.ts, &event);
        if let Event::RunCreated { definition, .. } = &event {
            put(dir, "workflow.yaml", definition.as_bytes());
        }
        if let Some((name, value)) = test_results(&event) {
            put_json(dir, &name, &value);
        }
        if let Some(sha) = commit_of(&event) {
            commits.push_str(sha);
            commits.push('\n');
        }
        note(&mut rows, &record.ts, &event);
    }
    if !commits.is_empty() {
        put(dir, "commits.txt", commits.as_bytes());
    }
    put(dir, "work-units.json", list(&rows).as_bytes());
    put_json(dir, "manifest.json", &manifest(&run));
    current_run(call, &run);
    if run.status.is_over() {
        let built = report::build(dir)?;
        put(dir, "report.json", pretty(&built.json).as_bytes());
        put(dir, "report.md", built.markdown.as_bytes());
    }
    put_json(dir, "state.json", &state(&run, dir));
    Ok(run)
}

pub(super) fn event_of(record: &Record) -> Result<Event, Fault> {
    Event::from_fields(&record.event, &record.fields).map_err(|error| {
        Fault::new(
            crate::fault::Kind::Environment,
            "journal_damaged",
            format!(
                "event {} ({}) cannot be read: {error}",
                record.seq, record.event
            ),
        )
    })
}

fn put(dir: &Path, name: &str, bytes: &[u8]) {
    let path = dir.join(name);
    if let Some(folder) = path.parent()
        && folder != dir
    {
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    }
    let _ = replace_if_changed(&path, bytes);
}

fn put_json(dir: &Path, name: &str, value: &Value) {
    put(dir, name, pretty(value).as_bytes());
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// The file that keeps the results of a report, and what it holds.
fn test_results(event: &Event) -> Option<(String, Value)> {
    let (report, accepted) = match event {
        Event::ReportAccepted(report) => (report, true),
        Event::ReportRetried(report) => (report, false),
        _ => return None,
    };
    results_of(report, accepted)
}

fn results_of(report: &Reported, accepted: bool) -> Option<(String, Value)> {
    if report.reader() != "tests" {
        return None;
    }
    let name = match (&report.item, accepted) {
        (Some(item), true) => format!("{TEST_RESULTS}/subtask-{item}-{}.json", report.phase()),
        (Some(item), false) => format!(
            "{TEST_RESULTS}/subtask-{item}-{}-failed-{}.json",
            report.phase(),
            number(&report.unit)
        ),
        (None, true) => format!("{TEST_RESULTS}/final-suite.json"),
        (None, false) => format!(
            "{TEST_RESULTS}/final-suite-failed-{}.json",
            number(&report.unit)
        ),
    };
    let mut value = json!({
        "unit": report.unit,
        "subtaskId": report.item,
        "phase": report.phase(),
        "accepted": accepted,
        "level": report.level,
    });
    if let Value::Object(map) = &mut value {
        for name in [
            "passed",
            "failed",
            "skipped",
            "errors",
            "total",
            "coverage",
            "files",
            "format",
            "reports",
            "coverageReport",
            "verified",
            "inCleanTree",
            "newlyFailing",
            "failingTests",
            "knownFailing",
            "flakyTests",
            "removed",
        ] {
            if let Some(given) = report.facts.get(name) {
                map.insert(name.to_owned(), given.clone());
            }
        }
    }
    Some((name, value))
}

/// The number of the issue at the end of a unit's id; the first has none.
fn number(unit: &str) -> u32 {
    unit.rsplit_once('-')
        .and_then(|(_, number)| number.parse().ok())
        .unwrap_or(1)
}

/// The commit that an event tells of.
pub(super) fn commit_of(event: &Event) -> Option<&str> {
    let sha = match event {
        Event::EffectDone { name, result, .. } if name == "git.commit" || name == "task.finish" => {
            result.get("sha")?.as_str()?
        }
        Event::ReportAccepted(report) if report.reader() == "commit" => {
            report.facts.get("sha")?.as_str()?
        }
        _ => return None,
    };
    (!sha.is_empty()).then_some(sha)
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct UnitRow {
    id: String,
    phase: String,
    /// The state, where it is not called as the phase is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subtask_id: Option<String>,
    attempt: u32,
    issued: String,
    outcome: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reported: Option<String>,
}

fn note(rows: &mut Vec<UnitRow>, at: &str, event: &Event) {
    let mut close = |report: &Reported, outcome: &str| {
        if let Some(row) = rows.iter_mut().rfind(|row| row.id == report.unit) {
            outcome.clone_into(&mut row.outcome);
            row.reported = Some(at.to_owned());
            row.subtask_id.clone_from(&report.item);
        }
    };
    match event {
        Event::StateEntered { from, cause, .. } if cause == "reopen" || cause == "skip" => {
            let outcome = if cause == "reopen" {
                "reopened"
            } else {
                "skipped"
            };
            for row in rows.iter_mut().filter(|row| {
                row.outcome == "open" && row.state.as_ref().unwrap_or(&row.phase) == from
            }) {
                outcome.clone_into(&mut row.outcome);
            }
        }
        Event::ReportAccepted(report) => close(report, "accepted"),
        Event::ReportRetried(report) => close(report, report.code.as_deref().unwrap_or("retry")),
        Event::UnitIssued {
            unit,
            item,
            state,
            attempt,
            role,
            ..
        } => {
            let phase = role.phase.as_ref().unwrap_or(state);
            rows.push(UnitRow {
                id: unit.clone(),
                phase: phase.clone(),
                state: (phase != state).then(|| state.clone()),
                subtask_id: item.clone(),
                attempt: *attempt,
                issued: at.to_owned(),
                outcome: "open".to_owned(),
                reported: None,
            });
        }
        _ => {}
    }
}

fn list(rows: &[UnitRow]) -> String {
    let lines: Vec<String> = rows
        .iter()
        .filter_map(|row| serde_json::to_string(row).ok())
        .collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

fn units(dir: &Path, run: &RunState, appended: &[Event]) {
    let touches = appended.iter().any(|event| {
        matches!(
            event,
            Event::UnitIssued { .. }
                | Event::ReportAccepted(_)
                | Event::ReportRetried(_)
                | Event::StateEntered { .. }
        )
    });
    // A very long list is not kept in step with every report: it is made anew at the end.
    if !touches || issued(run) > MOST_UNITS {
        return;
    }
    let kept = journal::durable::read(&dir.join("work-units.json"))
        .ok()
        .and_then(|bytes| serde_json::from_slice::<Vec<UnitRow>>(&bytes).ok());
    let rows = match kept {
        Some(mut rows) => {
            for event in appended {
                note(&mut rows, &run.updated_at, event);
            }
            rows
        }
        None => match rows_of_journal(dir) {
            Ok(rows) => rows,
            Err(_) => return,
        },
    };
    put(dir, "work-units.json", list(&rows).as_bytes());
}

fn rows_of_journal(dir: &Path) -> Result<Vec<UnitRow>, Fault> {
    let tail = FileJournal::open(dir)?.read(&Position::start())?;
    let mut rows = Vec::new();
    for record in &tail.records {
        note(&mut rows, &record.ts, &event_of(record)?);
    }
    Ok(rows)
}

fn cut(mut ids: Vec<String>, most: usize) -> Vec<String> {
    ids.truncate(most);
    ids
}

/// What the run is now, readable by anyone, and bounded.
pub(super) fn state(run: &RunState, dir: &Path) -> Value {
    let context = short_context(run, dir);
    for most in [MOST_IDS, 5, 0] {
        let value = state_with(run, most, &context);
        if pretty(&value).len() <= LONGEST_STATE {
            return value;
        }
    }
    state_with(run, 0, &Value::Null)
}

/// What a reader of the state file needs to begin with; all of it is in the unit's own context.
fn short_context(run: &RunState, dir: &Path) -> Value {
    let Ok(action) = view::full(run, dir) else {
        return Value::Null;
    };
    let Some(context) = action.context else {
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

fn state_with(run: &RunState, most: usize, context: &Value) -> Value {
    let start = Memory::of(run)
        .map(|memory| memory.start)
        .unwrap_or_default();
    let progress = view::progress(run);
    let waiting = run.waiting().next();
    let phase = view::phase(run);
    let attempt = waiting.map_or(1, |(_, unit)| unit.attempt);
    let role = view::present(run).map(|token| &token.role);
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
        "maxAttempts": view::max_attempts(run),
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

/// What the run is about.
fn manifest(run: &RunState) -> Value {
    let start = Memory::of(run)
        .map(|memory| memory.start)
        .unwrap_or_default();
    let progress = view::progress(run);
    json!({
        "version": 1,
        "runId": run.run,
        "workflow": run.workflow,
        "view": run.view,
        "projectRoot": start.project_root,
        "taskId": start.task_id,
        "taskTitle": start.task_title,
        "tag": start.tag,
        "branch": start.branch,
        "startTime": run.started_at,
        "endTime": run.ended_at,
        "status": run.status.name(),
        "currentPhase": view::phase(run),
        "currentSubtask": progress.current,
        "subtasksCompleted": progress.completed,
        "subtasksFailed": progress.failed,
        "subtasksTotal": progress.total,
        "totalCommits": memory::commits(run),
    })
}

/// The tag's pointer to its newest run.
fn current_run(call: &Call<'_>, run: &RunState) {
    let Ok(Some(project)) = call.home.find_project(call.root) else {
        return;
    };
    let Ok(memory) = Memory::of(run) else {
        return;
    };
    let Ok(tag) = project.tag(&memory.start.tag) else {
        return;
    };
    let path = tag.current_run_path();
    // A newer run of the tag keeps its place.
    let newer = journal::durable::read(&path)
        .ok()
        .and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok())
        .and_then(|value| {
            let other = value.get("runId")?.as_str()? != run.run;
            let began = value.get("startTime")?.as_str()?.to_owned();
            Some(other && began > run.started_at)
        })
        .unwrap_or(false);
    if newer {
        return;
    }
    let value = json!({
        "runId": run.run,
        "taskId": memory.start.task_id,
        "tag": memory.start.tag,
        "startTime": run.started_at,
        "status": run.status.name(),
    });
    let _ = replace_if_changed(&path, pretty(&value).as_bytes());
}
