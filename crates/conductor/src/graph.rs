//! Workflows and runs drawn.

use std::collections::BTreeSet;

use crate::conductor::Conductor;
use crate::engine;
use crate::fault::Fault;

impl Conductor {
    /// The workflow that a run is pinned to, as a Mermaid flowchart with the run's present states marked.
    pub fn run_graph(&self, run: Option<&str>) -> Result<String, Fault> {
        let (dir, loaded) = self.load_any(run)?;
        let definition = engine::pinned(dir.path(), &loaded.run)?;
        let present: BTreeSet<&str> = loaded
            .run
            .tokens
            .iter()
            .map(|token| token.state.as_str())
            .collect();
        Ok(rails::graph::mermaid(&definition, &present))
    }

    /// The ids of the tasks in the project's tasks file, those that are not finished first. Empty where there is none.
    pub fn task_ids(&self) -> Result<Vec<String>, Fault> {
        use project::tasks::{TaskError, TaskFile, TaskSource as _, resolve_tag};
        let tag = resolve_tag(&self.root, self.tag.as_deref())?;
        let statuses = TaskFile::in_project(&self.root, &tag).and_then(|file| file.task_statuses());
        let statuses = match statuses {
            Err(error) if TaskError::code(&error) == "tasks_missing" => return Ok(Vec::new()),
            other => other?,
        };
        let tasks = statuses.iter().filter(|(id, _)| !id.contains('.'));
        let (over, open): (Vec<_>, Vec<_>) = tasks.partition(|(_, status)| status.is_finished());
        Ok(open
            .into_iter()
            .chain(over)
            .map(|(id, _)| id.clone())
            .collect())
    }
}
