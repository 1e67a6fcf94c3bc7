//! The file of tasks, in which a commit writes that something is done.

use workspace::git::RepoPath;
use workspace::tasks::{Rewrite, StatusChange};

use crate::call::Call;
use crate::capability::memory::Memory;
use crate::fault::Fault;
use crate::next_step::{NextStep, Verb};
use crate::support::HandlerError;

/// What becomes of statuses in the tasks file.
#[derive(Debug, Default)]
pub(crate) struct StatusWrite {
    /// The change of the file, if there is one.
    pub(super) rewrite: Option<Rewrite>,
    /// The subtasks whose `done` stands in the file then.
    pub(super) written: Vec<String>,
    /// Subtasks, and the task itself, which have no place in the file any more.
    pub(super) owed: Vec<String>,
    /// Whether the task itself has one.
    task: bool,
}

/// The change of the tasks file that marks `done` as done, and the task itself with `task_status`.
pub(crate) fn writing(
    call: &Call<'_>,
    memory: &Memory,
    done: Vec<String>,
    task_status: Option<&str>,
) -> Result<StatusWrite, HandlerError> {
    let opened = memory.start.source.open(call.root, &memory.start.tag);
    let source = opened.map_err(|fault| without_tasks(fault, memory))?;
    // Where there is no file, or no place in it, nothing has to be written.
    if source.path().is_none() || memory.start.implicit && task_status.is_none() {
        return Ok(StatusWrite {
            written: done,
            ..StatusWrite::default()
        });
    }
    // What somebody took out of the file meanwhile has no status there any more.
    let known = source.task_statuses().map_err(Fault::from);
    let mut known = known.map_err(|fault| without_tasks(fault, memory))?;
    // Neither has what lies behind a link of the repository's own that leads out of it.
    if let Some(path) = source.path()
        && memory.repository().led_out(path)?.is_some()
    {
        known.clear();
    }
    let is_known = |id: &String| memory.start.implicit || known.contains_key(id.as_str());
    let (written, mut owed): (Vec<String>, Vec<String>) = done.into_iter().partition(is_known);
    let mut changes: Vec<StatusChange> = written
        .iter()
        .map(|id| StatusChange::new(id.clone(), "done"))
        .collect();
    let task_id = &memory.start.task_id;
    let task = known.contains_key(task_id);
    if let Some(status) = task_status {
        if task {
            changes.push(StatusChange::new(task_id.clone(), status));
        } else {
            owed.push(task_id.clone());
        }
    }
    Ok(StatusWrite {
        rewrite: if changes.is_empty() {
            None
        } else {
            source.rewrite(&changes)?
        },
        task: task && task_status.is_some(),
        written,
        owed,
    })
}

/// The fault that the file of tasks is gone, to whoever has a run of one under way.
fn without_tasks(fault: Fault, memory: &Memory) -> Fault {
    let Some(path) = memory
        .start
        .tasks_path
        .as_ref()
        .filter(|_| fault.code == "tasks_missing")
    else {
        return fault;
    };
    let again = Verb::Report.step().with("phase", "commit");
    let repository = memory.repository();
    if !matches!(repository.is_tracked(path), Ok(true)) {
        return fault.suggest(format!("bring {path} back, then commit again: {again}"));
    }
    let own = repository.absolute(path);
    fault.suggest(format!(
        "bring it back with {}, then commit again: {again}",
        NextStep::git(["restore", "--", &own.to_string_lossy()])
    ))
}

/// The tasks file goes into the commit where git knows it and the commit brings a status, also one that stands in the
/// file already, as an interrupted commit leaves it when somebody has edited the file since. Says whether somebody has.
pub(crate) fn add_tasks_file(
    call: &Call<'_>,
    memory: &Memory,
    writing: &StatusWrite,
    paths: &mut Vec<RepoPath>,
) -> Result<bool, HandlerError> {
    let Some(tasks) = &memory.start.tasks_path else {
        return Ok(false);
    };
    let repository = memory.repository();
    if paths.contains(tasks) || !repository.is_tracked(tasks)? {
        return Ok(false);
    }
    let brings_status = writing.task || !writing.written.is_empty();
    let is_changed = brings_status
        && call
            .tree(&repository)?
            .changes
            .iter()
            .any(|change| change.path == *tasks);
    if writing.rewrite.is_some() || is_changed {
        paths.push(tasks.clone());
    }
    // A status that stands there already was written by a commit of ours that did not come about.
    Ok(is_changed && writing.rewrite.is_some())
}
