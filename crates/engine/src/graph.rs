//! Workflows and runs drawn.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use machine::{Definition, RunState};
use serde::Serialize;

use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::library;
use crate::open_run;

/// What a drawing is written in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GraphFormat {
    /// A Mermaid flowchart.
    #[default]
    Mermaid,
    /// A Graphviz digraph.
    Dot,
    /// A picture.
    Svg,
}

/// A workflow drawn.
#[derive(Debug, Clone, Serialize)]
pub struct WorkflowGraph {
    /// Its id.
    pub workflow: String,
    /// What the drawing is written in.
    pub format: GraphFormat,
    /// The drawing.
    pub graph: String,
    /// The states that are marked in it, in the order of the definition: where the run is.
    pub present: Vec<String>,
}

impl Engine {
    /// A workflow drawn. `workflow` is its id, or the path of a definition; with `run`, it is the definition that this run
    /// is pinned to, which must be of that id, and its present states are marked. Without either, it is the run that
    /// somebody looks at.
    ///
    /// A file is drawn with all its faults, as far as it can be read: a drawing helps to find them.
    pub fn workflow_graph(
        &self,
        workflow: Option<&Path>,
        run: Option<&str>,
        format: GraphFormat,
    ) -> Result<WorkflowGraph, Fault> {
        let (definition, at) = match (workflow, run) {
            (Some(workflow), None) => (Arc::new(self.unproved(workflow)?), BTreeSet::new()),
            _ => self.pinned_and_present(run)?,
        };
        if let (Some(named), Some(run)) = (workflow, run) {
            let id = &definition.id.value;
            // A file is another name for the workflow that it defines.
            let is_same = named.as_os_str() == id.as_str()
                || self
                    .unproved(named)
                    .is_ok_and(|other| other.id.value == *id);
            if !is_same {
                return Err(fault!(
                    "other_workflow.workflow_graph",
                    run,
                    id,
                    named = named.display()
                ));
            }
        }
        let present: BTreeSet<&str> = at.iter().map(String::as_str).collect();
        let graph = match format {
            GraphFormat::Mermaid => draw::mermaid(&definition, &present),
            GraphFormat::Dot => draw::dot(&definition, &present),
            GraphFormat::Svg => {
                draw::svg(&definition, &present).map_err(|error| too_large(&definition, error))?
            }
        };
        Ok(WorkflowGraph {
            workflow: definition.id.value.clone(),
            format,
            graph,
            present: definition
                .all_states()
                .map(|(_, name, _)| &name.value)
                .filter(|name| present.contains(name.as_str()))
                .cloned()
                .collect(),
        })
    }

    /// The workflow that a run is pinned to, as a Mermaid flowchart with the run's present states marked.
    pub fn run_graph(&self, run: Option<&str>) -> Result<String, Fault> {
        let (definition, at) = self.pinned_and_present(run)?;
        let present = at.iter().map(String::as_str).collect();
        Ok(draw::mermaid(&definition, &present))
    }

    /// The workflow that a run is pinned to, as SVG, with where the run is and how often it came to each state. `look` says whether
    /// it is a file by itself.
    pub fn run_picture(&self, run: Option<&str>, look: draw::Look) -> Result<String, Fault> {
        let (dir, loaded) = self.load_any(run)?;
        let definition = open_run::pinned(dir.path(), &loaded.run)?;
        picture_of(&loaded.run, &definition, look)
    }

    /// The workflow with this id, as a Mermaid flowchart.
    pub fn workflow_mermaid(&self, id: &str) -> Result<String, Fault> {
        let source = library::find(&self.root, id)?;
        let definition = read(id, &source.text)?;
        Ok(draw::mermaid(&definition, &BTreeSet::new()))
    }

    /// The definition that a run is pinned to, and the states at which its tokens stand.
    fn pinned_and_present(
        &self,
        run: Option<&str>,
    ) -> Result<(Arc<Definition>, BTreeSet<String>), Fault> {
        let (dir, loaded) = self.load_any(run)?;
        let definition = open_run::pinned(dir.path(), &loaded.run)?;
        let tokens = loaded.run.tokens.iter();
        let present = tokens.map(|token| token.state.clone()).collect();
        Ok((definition, present))
    }

    /// The definition in a file, or of the workflow with that id, read and not proved.
    fn unproved(&self, workflow: &Path) -> Result<Definition, Fault> {
        let name = workflow.display().to_string();
        let text = if workflow.is_dir() || !workflow.try_exists().unwrap_or(true) {
            match library::find(&self.root, &name) {
                Ok(source) => source.text,
                Err(fault) if fault.code == "not_found" => {
                    let message = format!("there is neither a workflow nor a file `{name}`");
                    return Err(Fault { message, ..fault });
                }
                Err(fault) => return Err(fault),
            }
        } else {
            library::read(workflow)?
        };
        read(&name, &text)
    }

    /// The ids of the tasks in the project's tasks file, those that are not finished first. Empty where there is none.
    pub fn task_ids(&self) -> Result<Vec<String>, Fault> {
        use workspace::tasks::{TaskError, TaskFile, TaskSource as _, resolve_tag};
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

/// The workflow of a run as SVG, with where the run is and which way it took.
pub(crate) fn picture_of(
    run: &RunState,
    definition: &Definition,
    look: draw::Look,
) -> Result<String, Fault> {
    let tokens = run.tokens.iter();
    let marks = draw::Marks {
        present: tokens.map(|token| token.state.as_str()).collect(),
        moves: moves_of(run),
    };
    draw::svg_of_run(definition, &marks, look).map_err(|error| too_large(definition, error))
}

/// How often a run went from one state to another.
fn moves_of(run: &RunState) -> BTreeMap<(&str, &str), u32> {
    let moves = run.moves.iter();
    moves
        .flat_map(|(from, ways)| {
            let ways = ways.iter();
            ways.map(move |(to, times)| ((from.as_str(), to.as_str()), *times))
        })
        .collect()
}

fn too_large(definition: &Definition, error: draw::TooLarge) -> Fault {
    fault!(
        "too_large.graph_too_large_too_large",
        workflow = definition.id.value,
        error
    )
}

fn read(name: &str, text: &str) -> Result<Definition, Fault> {
    Definition::parse(text)
        .map_err(|fault| fault!("workflow_invalid.unreadable", name, message = fault.message))
}
