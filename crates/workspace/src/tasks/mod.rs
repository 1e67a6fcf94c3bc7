//! Tasks: where they come from, in what order their subtasks are run, and how their status is written back.
//!
//! A [`TaskSource`] reads tasks from one place: [`TaskFile`] (`tasks.json`), [`PlanFile`] (a Markdown checklist) or
//! [`InlineTask`] (the command line). [`plan_run`] sorts a task's subtasks into what is run, skipped and left out. A source
//! never writes: it says with a [`Rewrite`] which bytes are to change, and that value can be journalled before
//! [`Rewrite::apply`] touches the file.

mod error;
mod file;
pub mod import;
mod inline;
pub(crate) mod json;
mod name;
mod plan_file;
mod rewrite;
mod run_plan;
mod tag;
mod task;
mod words;

pub use error::{Place, TaskError};
pub use file::TaskFile;
pub use inline::InlineTask;
pub use plan_file::PlanFile;
pub use rewrite::{Applied, FileState, RevertOutcome, Rewrite, Splice};
pub use run_plan::{CUT_CIRCLE, LeftOut, LeftOutReason, PlanWarning, RunPlan, circle, plan_run};
pub use tag::{DEFAULT_TAG, current_tag, resolve_tag, switch_tag};
pub use task::{Status, Subtask, Task};

use std::path::Path;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// Where a project's tasks stand, in its folder.
pub const TASKS_FILE: &str = ".taskmaster/tasks/tasks.json";
/// Where a project names its current tag.
pub const STATE_FILE: &str = ".taskmaster/state.json";

/// One status to be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusChange {
    /// A task's id (`1`) or a subtask's dotted one (`1.2`).
    pub id: String,
    /// The status as it shall stand in the file, such as `done`.
    pub status: String,
}

impl StatusChange {
    /// A change of one status.
    pub fn new(id: impl Into<String>, status: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            status: status.into(),
        }
    }
}

/// A task that another one waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnmetDependency {
    /// Its id.
    pub id: String,
    /// Its status; `None` where no such task exists.
    pub status: Option<Status>,
}

/// What the dependencies of a whole task say about starting it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DependencyCheck {
    /// Dependencies that are not done.
    pub unmet: Vec<UnmetDependency>,
    /// Dependencies that are in review: they count as done, but this should be said.
    pub in_review: Vec<String>,
}

/// A place that tasks come from.
pub trait TaskSource {
    /// What it is, for messages: the file's path, or `the command line`.
    fn describe(&self) -> String;

    /// The file that the tasks stand in, as it was named; `None` where there is no file.
    fn path(&self) -> Option<&Path>;

    /// The same source with `text` in place of what its file says here, such as the file's content on a branch; `None`
    /// where there is no file.
    fn as_of(&self, text: String) -> Option<Box<dyn TaskSource>> {
        drop(text);
        None
    }

    /// Reads one task with its subtasks. Every call reads the file again.
    fn load_task(&self, id: &str) -> Result<Task, TaskError>;

    /// The status of every task (`1`) and subtask (`1.2`) of the source, in its order.
    fn task_statuses(&self) -> Result<IndexMap<String, Status>, TaskError>;

    /// Which bytes of the file must change for these statuses; `None` where there is no file, or nothing to change.
    ///
    /// Of two changes for one id the last counts. The implied only subtask of a task without subtasks (see
    /// [`Subtask::implicit`]) has no status of its own in the file; a change for it changes nothing.
    fn rewrite(&self, changes: &[StatusChange]) -> Result<Option<Rewrite>, TaskError>;

    /// Whether what the task as a whole depends on is done.
    fn check_dependencies(&self, task: &Task) -> Result<DependencyCheck, TaskError> {
        if task.dependencies.is_empty() {
            return Ok(DependencyCheck::default());
        }
        Ok(check_dependencies(task, &self.task_statuses()?))
    }
}

/// Tasks, and the status of each of them and of their subtasks.
pub type TasksWithStatuses = (Vec<Task>, IndexMap<String, Status>);

/// Whether what the task as a whole depends on is done, by the statuses of its source.
pub fn check_dependencies(task: &Task, statuses: &IndexMap<String, Status>) -> DependencyCheck {
    let mut check = DependencyCheck::default();
    for id in &task.dependencies {
        match statuses.get(id) {
            Some(Status::Review) => check.in_review.push(id.clone()),
            Some(status) if status.is_finished() => {}
            status => check.unmet.push(UnmetDependency {
                id: id.clone(),
                status: status.cloned(),
            }),
        }
    }
    check
}
