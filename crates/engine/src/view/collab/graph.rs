//! The task graph: handed over, and drawn.

use std::path::{Path, PathBuf};

use ::markup::documents::task_graph::Merged;
use draw::{TaskNode, TaskStatus, Wave, tasks as draw_tasks};
use machine::command::Edit;
use machine::decide::foresee_filled;
use machine::definition::open::ALL;
use machine::{Command, Refusal, RunState};
use serde_json::Value;

use crate::call::Call;
use crate::call::Input;
use crate::capability::documents::bound;
use crate::capability::documents::folder::{self, Document, Graphs};
use crate::capability::documents::read::{self, All};
use crate::capability::documents::skills::{key, name_of, number};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::generic::readers;
use crate::view::collab::answer::{BatchState, DocumentProblem, SyncAnswer, TaskGraph, Verdict};
use crate::view::collab::request::GraphSync;
use crate::view::collab::state::{batches, stopped};
use crate::writer::RunWriter;
use crate::{fault, refusal};

impl Engine {
    /// The task graph, with its batches. Before they are cut: what the documents would give now.
    pub fn collab_graph(&self, session: Option<&str>) -> Result<TaskGraph, Fault> {
        let (dir, run) = self.skills_seen(session)?;
        let call = self.call(&dir, &run, Input::None)?;
        let cut = bound::is_cut(&run);
        let (batches, problems) = if cut {
            (batches(&call.definition, &run), Vec::new())
        } else {
            foreseen(&call, &run)?
        };
        Ok(TaskGraph {
            session: name_of(&run).unwrap_or_default().to_owned(),
            cut,
            mermaid: drawn(&batches),
            batches,
            problems,
        })
    }

    /// Takes a task graph in; without one, those that lie among the session's documents are read again.
    pub fn collab_sync(&self, sync: &GraphSync) -> Result<SyncAnswer, Fault> {
        let text = self.text_of(sync)?;
        let dir = self.skills_dir(sync.session.as_deref())?;
        let mut writer = self.writer(&dir, Input::None)?;
        let mut synced = SyncAnswer {
            session: name_of(&writer.open.run).unwrap_or_default().to_owned(),
            ..SyncAnswer::default()
        };
        let refusal = take_graphs(&mut writer, sync.item.as_deref(), text, &mut synced)?;
        synced.verdict = Verdict::new(&writer, refusal.as_ref());
        Ok(synced)
    }

    /// The text that is handed over, if one is.
    fn text_of(&self, sync: &GraphSync) -> Result<Option<String>, Fault> {
        match (&sync.document, &sync.path) {
            (None, None) => Ok(None),
            (Some(text), None) => Ok(Some(text.clone())),
            (None, Some(path)) => {
                let place = inside(&self.root, path)?;
                let bytes = folder::read_file(&place)?
                    .ok_or_else(|| fault!("not_found.document", place = place.display()))?;
                Ok(Some(Document::of(path, bytes)?.text))
            }
            (Some(_), Some(_)) => Err(fault!("usage.graph_twice")),
        }
    }
}

/// Reads the task graphs again, with `text` for that of the item, and cuts the batches anew where they are cut. The refusal, if
/// nothing was accepted; `synced` holds what was found either way.
fn take_graphs(
    writer: &mut RunWriter<'_>,
    named: Option<&str>,
    text: Option<String>,
    synced: &mut SyncAnswer,
) -> Result<Option<Refusal>, Fault> {
    let run = &writer.open.run;
    if let Some(refusal) = stopped(run) {
        return Ok(Some(refusal));
    }
    let mut graphs = Graphs::of(run)?;
    let item = match (&text, named) {
        (None, None) => bound::item_in_hand(run).map(str::to_owned),
        _ => Some(meant(&writer.call, run, named, &graphs)?),
    };
    synced.item = item.as_deref().map(number);
    let document = match (text, &item) {
        (Some(text), Some(item)) => {
            let name = folder::graph_name(item);
            Some(Document::of(&name, text.into_bytes())?)
        }
        _ => None,
    };
    let given = item.as_deref().zip(document.as_ref());
    let all = All::read(&writer.call, run, &mut graphs, given)?;
    let merged = all.merge(run);
    // While items are worked out again, batches are cut when all of them are.
    let tasks = writer.call.definition.items.get(bound::tasks_name(run));
    let open = tasks.and_then(|tasks| tasks.open.get(ALL));
    let cut = bound::is_cut(run) && open.is_some_and(|open| open.is_open(run.state()));
    synced.notes = all.notes(item.as_deref());
    if item.as_deref().is_none_or(|item| all.has(item)) {
        synced.tasks = all.count(item.as_deref()) as u64;
    }
    if let Some((refusal, problems)) = missing_or_wrong(&all, &merged, item.as_deref(), cut) {
        synced.problems = problems;
        return Ok(Some(refusal));
    }
    let mut edits = Vec::new();
    if cut {
        edits.push(Edit::Items {
            set: bound::tasks_name(run).to_owned(),
            items: read::tasks(&merged, run),
        });
    }
    let command = Command::Edit {
        edits,
        keep: graphs.kept()?,
    };
    if let Err(refusal) = writer.weigh(&command)? {
        return Ok(Some(refusal));
    }
    // What the journal speaks of is there before it does.
    all.keep(&writer.call)?;
    let before = match &document {
        Some(document) => Some(document.put(&writer.call.dir)?),
        None => None,
    };
    let there = before.as_ref().zip(document.as_ref());
    if let Some((before, document)) = there
        && let Some(aside) = before.kept_aside(document, &writer.call.dir)?
    {
        synced.notes.push(format!(
            "`{}` was there, and said something else: that is kept as {}",
            document.name,
            aside.display()
        ));
    }
    let done = writer.command(&command);
    if let (Err(_), Some(before)) = (&done, before) {
        // Nothing was journalled: what lay there is what counts.
        before.put_back();
    }
    if let Err(refusal) = done? {
        return Ok(Some(refusal));
    }
    if cut {
        synced.batches = batches(&writer.call.definition, &writer.open.run);
    }
    Ok(None)
}

/// Why the task graphs cannot be taken in, and what is wrong with them: with that of the item, where one is named; and with all of
/// them, where batches are cut.
fn missing_or_wrong(
    all: &All,
    merged: &Merged,
    item: Option<&str>,
    cut: bool,
) -> Option<(Refusal, Vec<DocumentProblem>)> {
    let mut problems = all.problems(merged, item);
    if let Some(item) = item.filter(|item| !all.has(item)) {
        problems.truncate(1);
        // Something may lie there of which cannot be told which is meant, or what it says.
        let refusal = match problems.first() {
            Some(problem) => Refusal::new(&problem.code)
                .message(&problem.message)
                .suggestion(&problem.suggestion),
            None => refusal!("graph_missing.of_item", item),
        };
        return Some((refusal, problems));
    }
    if problems.is_empty() && cut {
        problems = all.problems(merged, None);
    }
    (!problems.is_empty()).then(|| (Refusal::new("graph_invalid"), problems))
}

/// Where a file of the project lies. A link on the way may not lead out of the project.
fn inside(root: &Path, path: &str) -> Result<PathBuf, Fault> {
    let place = root.join(readers::file(path, root)?);
    match std::fs::canonicalize(&place) {
        Ok(real) if real.starts_with(root) => Ok(real),
        Ok(_) => Err(fault!("bad_name.file", name = path)),
        // What is not there is complained of by whoever reads it.
        Err(_) => Ok(place),
    }
}

/// The item whose task graph is meant: the one that is named; else the one in hand; else the only one there is, or the only
/// one whose graph has errors.
fn meant(
    call: &Call<'_>,
    run: &RunState,
    named: Option<&str>,
    graphs: &Graphs,
) -> Result<String, Fault> {
    let known: Vec<&str> = bound::items(run).keys().collect();
    let expected: Vec<Value> = known.iter().map(|known| number(known)).collect();
    if let Some(named) = named {
        let found = key(&Value::from(named)).filter(|number| known.contains(&number.as_str()));
        return found
            .ok_or_else(|| fault!("unknown_item.meant", item = named.trim()).expected(expected));
    }
    if let Some(item) = bound::item_in_hand(run) {
        return Ok(item.to_owned());
    }
    let mut graphs = graphs.clone();
    let all = All::read(call, run, &mut graphs, None)?;
    let wrong = all.with_errors(&all.merge(run));
    match (known.as_slice(), wrong.as_slice()) {
        ([only], _) => Ok((*only).to_owned()),
        (_, [only]) => Ok(only.clone()),
        _ => Err(fault!("which_one.which_item").expected(expected)),
    }
}

/// The batches that the documents would give now, and what is wrong with them.
fn foreseen(
    call: &Call<'_>,
    run: &RunState,
) -> Result<(Vec<BatchState>, Vec<DocumentProblem>), Fault> {
    let all = All::read(call, run, &mut Graphs::of(run)?, None)?;
    let merged = all.merge(run);
    let problems = all.problems(&merged, None);
    if !problems.is_empty() {
        return Ok((Vec::new(), problems));
    }
    let definition = &call.definition;
    let tasks = read::tasks(&merged, run);
    let filled = foresee_filled(definition, run, bound::tasks_name(run), &tasks);
    let batches = filled.map(|run| batches(definition, &run));
    Ok((batches.unwrap_or_default(), problems))
}

/// The batches as a Mermaid flowchart.
fn drawn(batches: &[BatchState]) -> String {
    let labels: Vec<String> = batches
        .iter()
        .map(|batch| match batch.split.as_str() {
            "" => format!("{}: {}", batch.id, batch.status),
            split => format!("{}: {} ({split})", batch.id, batch.status),
        })
        .collect();
    let waves: Vec<Wave<'_>> = batches
        .iter()
        .zip(&labels)
        // All that was in it was taken up again.
        .filter(|(batch, _)| !batch.tasks.is_empty())
        .map(|(batch, label)| Wave {
            id: &batch.id,
            label,
            tasks: batch
                .tasks
                .iter()
                .map(|task| TaskNode {
                    id: &task.id,
                    label: &task.id,
                    status: match task.status.as_str() {
                        _ if task.not_run => TaskStatus::NotRun,
                        "in_progress" => TaskStatus::InProgress,
                        "completed" => TaskStatus::Completed,
                        "failed" => TaskStatus::Failed,
                        _ => TaskStatus::Pending,
                    },
                    needs: task.depends_on.iter().map(String::as_str).collect(),
                })
                .collect(),
        })
        .collect();
    draw_tasks(&waves)
}
