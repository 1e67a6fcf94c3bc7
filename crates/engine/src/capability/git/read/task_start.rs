//! A task as a run begins with it: what the run remembers, and the items of its set.

use std::path::Path;

use serde_json::{Map, Value, json};
use workspace::git::{RepoPath, Repository};
use workspace::tasks::Subtask;

use crate::capability::git::read::preflight::Planned;
use crate::capability::memory::{CHECKED_BEFORE, DIRTY, LAST_COMMIT, REPORTS, START, StartFacts};
use crate::capability::tests::evidence::baseline;
use crate::fault::Fault;

/// What a run that begins so remembers, and the items of its set.
pub(crate) struct TaskStart {
    /// Its memory.
    pub keep: Map<String, Value>,
    /// The fields of each subtask.
    pub items: Vec<Map<String, Value>>,
}

/// A run in `dir` opens its task: what [`plan`] found.
pub(crate) fn open(planned: &Planned, dir: &Path) -> Result<TaskStart, Fault> {
    let mut keep = LAST_COMMIT.entry(&planned.start.head)?;
    START.put(&mut keep, &planned.start)?;
    DIRTY.put(&mut keep, &planned.dirty)?;
    if let Some(baseline) = &planned.baseline {
        keep.extend(baseline::remembered(baseline, dir)?);
        let handed: Vec<RepoPath> = baseline
            .files
            .iter()
            // That of an adapter lies nowhere any more, and has a bare name.
            .filter(|file| file.path.is_absolute())
            .filter_map(|file| repository_of(&planned.start).relative(&file.path))
            .collect();
        REPORTS.put(&mut keep, &handed)?;
    }
    if let Some(checked) = &planned.checked {
        CHECKED_BEFORE.put(&mut keep, &checked.keep(dir)?)?;
    }
    Ok(TaskStart {
        keep,
        items: planned.plan.runnable.iter().map(item).collect(),
    })
}

fn repository_of(start: &StartFacts) -> Repository {
    Repository::at(
        start.top_level.clone(),
        start.git_dir.clone(),
        start.common_dir.clone(),
    )
}

fn item(subtask: &Subtask) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    put("id", json!(subtask.id));
    put("title", json!(subtask.title));
    put("description", json!(subtask.description));
    put("details", json!(subtask.details));
    put("testStrategy", json!(subtask.test_strategy));
    put("acceptanceCriteria", json!(subtask.acceptance_criteria));
    put("dependencies", json!(subtask.dependencies));
    if !subtask.kind.is_empty() {
        put("kind", json!(subtask.kind));
    }
    if let Some(refactor) = subtask.refactor {
        put("refactor", json!(if refactor { "yes" } else { "no" }));
    }
    fields
}
