//! Files that are made from the journal, for people and programs. Any of them may be deleted: it is made anew. None is read to
//! decide anything.

pub(crate) mod results;
mod state;
mod units;
mod written_files;

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use journal::derived::replace_if_changed;
use journal::{FileJournal, Journal as _, Position, sha256_hex};
use machine::{Event, RunState};
use serde::Serialize;
use serde_json::{Value, json};
use workspace::git::Oid;

pub(crate) use crate::derived::results::commit_of;

use crate::action::status;
use crate::call::Call;
use crate::capability::git::effects::notes;
use crate::capability::memory::{self, ADOPTED, LAST_COMMIT, Memory, WORK};
use crate::capability::tests::evidence::work::keep_trees;
use crate::derived::results::{results_of, test_results};
use crate::derived::state::state;
use crate::earlier::Earlier;
use crate::fail_point;
use crate::find::is_over_a_task;
use crate::next_step::on_a_page;
use crate::summary;

/// The files that are there once a run is over.
const REPORTS: [&str; 2] = ["report.json", "report.md"];

/// Brings the files up to date after `appended`. What cannot be written is left for the next time.
pub(crate) fn write(call: &Call<'_>, run: &RunState, appended: &[Event]) {
    let dir = &call.dir;
    let is_over = run.status.is_over();
    if is_over {
        fail_point::reach("end-before-report");
    }
    // One that is not kept is only lost to who goes back to it.
    let _ = keep_trees(run, &trees_of(appended));
    let is_back = |event: &Event| matches!(event, Event::RunRewound { .. });
    // The end is worth a look at the whole journal: whatever was lost on the way comes back. What was taken back goes.
    let written = if is_over || appended.iter().any(is_back) {
        rebuild(call, run)
    } else {
        follow(call, run, appended)
    };
    if written {
        written_files::note(dir, run);
    }
    if is_over_a_task(run) {
        notes::catch_up(call, run);
    }
}

/// The trees of accepted reports by their units; of each the last.
fn trees_of(events: &[Event]) -> BTreeMap<String, Oid> {
    let tree = |event: &Event| match event {
        Event::ReportAccepted(report) => {
            let tree = WORK.read(&report.keep).ok()??;
            Some((report.unit.clone(), tree))
        }
        _ => None,
    };
    events.iter().filter_map(tree).collect()
}

/// Brings the files up to date that `appended` says something of. Whether all of them could be written.
fn follow(call: &Call<'_>, run: &RunState, appended: &[Event]) -> bool {
    let dir = &call.dir;
    let any = |fits: fn(&Event) -> bool| appended.iter().any(fits);
    let mut all = true;
    for event in appended {
        if let Event::RunCreated { definition, .. } = event {
            all &= put(dir, "workflow.yaml", definition.as_bytes());
        }
        if let Some((name, value)) = test_results(event).filter(|_| is_over_a_task(run)) {
            all &= put_json(dir, &name, &value);
        }
        if let Some(sha) = commit_of(event) {
            let mut listed = text(dir, "commits.txt");
            if listed.lines().last() != Some(sha) {
                listed.push_str(sha);
                listed.push('\n');
                all &= put(dir, "commits.txt", listed.as_bytes());
            }
        }
    }
    all &= units::write(dir, run, appended);
    let turned = any(|event| {
        matches!(
            event,
            Event::RunCreated { .. } | Event::RunPaused { .. } | Event::RunResumed { .. }
        )
    });
    let counts = is_over_a_task(run) && any(|event| matches!(event, Event::TokenClosed { .. }));
    if turned || counts {
        all &= put_json(dir, "manifest.json", &manifest_of(call, run));
    }
    if turned {
        point_at(call, run);
    }
    if any(|event| matches!(event, Event::RunResumed { .. })) {
        unreported(dir);
    }
    fail_point::reach("derived-before-state");
    // The last one, so that it tells whether all the others were written.
    all & put(dir, "state.json", state(call, run).as_bytes())
}

/// Makes good what is missing, torn or behind, as a process leaves it that ends in the middle. Whether there was anything.
///
/// A process that answers many calls reads them again only where they are not as it left them.
pub(crate) fn complete(call: &Call<'_>, run: &RunState) -> bool {
    let dir = &call.dir;
    let on_task = is_over_a_task(run);
    if !on_task && written_files::is_unchanged(dir, run) {
        return false;
    }
    let behind = is_behind(call, run);
    if behind {
        rebuild(call, run);
    } else {
        written_files::note(dir, run);
        point_at(call, run);
    }
    if on_task {
        notes::catch_up(call, run);
    }
    behind
}

/// Whether a file is missing, torn, or older than the run.
fn is_behind(call: &Call<'_>, run: &RunState) -> bool {
    let dir = &call.dir;
    let text = |name: &str| text(dir, name);
    let commits = || {
        let listed = text("commits.txt");
        let last = LAST_COMMIT.text(&run.kept);
        listed.lines().count() as u64 != memory::commits(run)
            || (listed.lines().last() != last && !ADOPTED.is_in(&run.kept))
            || !listed.ends_with('\n')
    };
    let results = || {
        run.last
            .as_ref()
            .filter(|_| is_over_a_task(run))
            .and_then(|report| results_of(report, report.code.is_none()))
            .is_some_and(|(name, value)| text(&name) != pretty(&value))
    };
    let manifest = || {
        let kept: Value = serde_json::from_str(&text("manifest.json")).unwrap_or_default();
        let now = manifest_of(call, run);
        ["runId", "view", "status", "totalCommits"]
            .iter()
            .any(|name| kept.get(name) != now.get(name))
    };
    let reports = || {
        if run.status.is_over() {
            serde_json::from_str::<Value>(&text("report.json")).is_err()
                || !text("report.md").ends_with('\n')
        } else {
            REPORTS.iter().any(|name| dir.join(name).exists())
        }
    };
    text("state.json") != state(call, run)
        || manifest()
        || !units::are_whole(dir, run)
        || (memory::commits(run) > 0 && commits())
        || results()
        || sha256_hex(text("workflow.yaml").as_bytes()) != run.definition_hash
        || reports()
}

/// Makes every file anew from the journal. Whether all of them could be written.
fn rebuild(call: &Call<'_>, run: &RunState) -> bool {
    let dir = &call.dir;
    let Ok(tail) = FileJournal::open(dir).and_then(|journal| journal.read(&Position::start()))
    else {
        return false;
    };
    let mut all = true;
    let (mut rows, mut trees) = (Vec::new(), BTreeMap::new());
    let (mut files, mut earlier) = (ResultFiles::default(), Earlier::of(&tail.records));
    for record in &tail.records {
        let Ok(event) = Event::from_fields(&record.event, &record.fields) else {
            return false;
        };
        if let Event::RunCreated { definition, .. } = &event {
            all &= put(dir, "workflow.yaml", definition.as_bytes());
        }
        if let Some((name, value)) = test_results(&event).filter(|_| is_over_a_task(run)) {
            files.results.insert(name, value);
        }
        if let Some(sha) = commit_of(&event) {
            files.commits.push_str(sha);
            files.commits.push('\n');
        }
        trees.extend(trees_of(std::slice::from_ref(&event)));
        if let Event::RunRewound { to, .. } = event {
            let then = earlier.behind(to).cloned().unwrap_or_default();
            let gone = std::mem::replace(&mut files, then);
            for (name, value) in gone.results {
                if value["accepted"] == false {
                    // That it did not work is not undone by it.
                    files.results.insert(name, value);
                } else {
                    taken_away(dir, [name]);
                }
            }
        }
        earlier.note(record.seq, &files);
        units::note(&mut rows, &record.ts, &event);
    }
    if !run.status.is_over() {
        let _ = keep_trees(run, &trees);
    }
    for (name, value) in &files.results {
        all &= put_json(dir, name, value);
    }
    if files.commits.is_empty() {
        taken_away(dir, ["commits.txt"]);
    } else {
        all &= put(dir, "commits.txt", files.commits.as_bytes());
    }
    all &= units::put_all(dir, run, &rows);
    all &= put_json(dir, "manifest.json", &manifest_of(call, run));
    point_at(call, run);
    if run.status.is_over() {
        if let Ok(built) = summary::build(dir) {
            all &= put(dir, "report.json", pretty(&built.json).as_bytes());
            all &= put(dir, "report.md", built.markdown.as_bytes());
        }
    } else {
        unreported(dir);
    }
    fail_point::reach("derived-before-state");
    all & put(dir, "state.json", state(call, run).as_bytes())
}

/// What the files tell that reports and commits have each.
#[derive(Default, Clone)]
struct ResultFiles {
    /// By the file's name.
    results: BTreeMap<String, Value>,
    commits: String,
}

/// Takes the report of an end away that was none: the run goes on.
fn unreported(dir: &Path) {
    taken_away(dir, REPORTS);
}

/// Takes files away of what stands no more.
fn taken_away(dir: &Path, names: impl IntoIterator<Item = impl AsRef<Path>>) {
    for name in names {
        if std::fs::remove_file(dir.join(name)).is_ok() {
            fail_point::reach("io");
        }
    }
}

fn text(dir: &Path, name: &str) -> String {
    journal::durable::read_text(&dir.join(name)).unwrap_or_default()
}

/// Whether it could be written.
fn put(dir: &Path, name: &str, bytes: &[u8]) -> bool {
    let path = dir.join(name);
    if let Some(folder) = path.parent()
        && folder != dir
    {
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    }
    replace_if_changed(&path, bytes).is_ok()
}

fn put_json(dir: &Path, name: &str, value: &Value) -> bool {
    put(dir, name, pretty(value).as_bytes())
}

fn pretty(value: &impl Serialize) -> String {
    // Maps with text keys and numbers of JSON: nothing in it can fail.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    on_a_page(&text).into_owned()
}

/// What the run is about.
fn manifest_of(call: &Call<'_>, run: &RunState) -> Value {
    let start = Memory::of(run)
        .map(|memory| memory.start)
        .unwrap_or_default();
    let mut manifest = json!({
        "version": 1,
        "runId": run.run,
        "workflow": run.workflow,
        "view": run.view,
        "title": call.definition.title,
        "projectRoot": call.root,
        "taskId": start.task_id,
        "taskTitle": start.task_title,
        "tag": start.tag,
        "branch": start.branch,
        "startTime": run.started_at,
        "endTime": run.ended_at,
        "status": run.status.name(),
        "totalCommits": memory::commits(run),
    });
    if is_over_a_task(run) {
        let progress = status::progress(run);
        manifest["currentPhase"] = json!(status::phase(run));
        manifest["currentSubtask"] = json!(progress.current);
        manifest["subtasksCompleted"] = json!(progress.completed);
        manifest["subtasksFailed"] = json!(progress.failed);
        manifest["subtasksTotal"] = json!(progress.total);
    }
    manifest
}

/// The tag's pointer to its newest run.
fn point_at(call: &Call<'_>, run: &RunState) {
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
            // One that was taken up again since then is the newer one.
            Some(other && began > run.updated_at)
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
