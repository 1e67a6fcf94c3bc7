//! Runs and workflows as resources: what a client can read, follow and hand to its model.

use engine::view::GENERIC;
use engine::{Engine, Fault, RunFilter, RunSummary};
use mcp::{Client, Contents, Problem, Resource, Stop, Template};
use serde_json::json;
use text::plain::one_line;

use super::marks::Marks;
use super::place::Places;
use crate::steps::StepSpelling;

const RUNS: &str = "tramline://runs";
const WORKFLOWS: &str = "tramline://workflows";
const JSON: &str = "application/json";
const LINES: &str = "application/jsonl";
const MARKDOWN: &str = "text/markdown";
const MERMAID: &str = "text/vnd.mermaid";
/// The newest events of a log that a client gets: enough for any run of ordinary size.
const LOG_EVENTS: usize = 2000;
/// How many runs are listed one by one.
const LISTED: usize = 1000;

/// The longest part of a title that says what a run is about, in characters.
const LONGEST_TITLE: usize = 80;

/// What there is to read of a run.
const PARTS: [(&str, Template); 4] = [
    (
        "state",
        Template {
            uri: "tramline://runs/{id}/state",
            name: "run-state",
            title: "State of a run",
            description: "Where a run is: status, progress, present phase, next action",
            mime: JSON,
        },
    ),
    (
        "log",
        Template {
            uri: "tramline://runs/{id}/log",
            name: "run-log",
            title: "Journal of a run",
            description: "Every event of a run, one JSON object a line; the newest 2000",
            mime: LINES,
        },
    ),
    (
        "report",
        Template {
            uri: "tramline://runs/{id}/report",
            name: "run-report",
            title: "Report of a run",
            description: "What a run did, for people: subtasks, tests, attempts, commits, refusals",
            mime: MARKDOWN,
        },
    ),
    (
        "graph",
        Template {
            uri: "tramline://runs/{id}/graph",
            name: "run-graph",
            title: "Graph of a run",
            description: "The run's workflow as a Mermaid diagram, its present place marked",
            mime: MERMAID,
        },
    ),
];

/// A workflow, drawn.
const WORKFLOW_GRAPH: Template = Template {
    uri: "tramline://workflows/{id}/graph",
    name: "workflow-graph",
    title: "Graph of a workflow",
    description: "A workflow as a Mermaid diagram: its states and what leads from one to the next",
    mime: MERMAID,
};

/// Patterns of resources.
pub fn templates() -> Vec<Template> {
    let of_runs = PARTS.into_iter().map(|(_, template)| template);
    of_runs.chain([WORKFLOW_GRAPH]).collect()
}

/// The list of runs, and what there is to read of each.
pub fn list(places: &Places, client: &Client) -> Result<Vec<Resource>, Stop> {
    let mut all = vec![Resource {
        uri: RUNS.to_owned(),
        name: "runs".to_owned(),
        title: "Runs".to_owned(),
        description: "The runs of this project, newest first".to_owned(),
        mime: JSON.to_owned(),
    }];
    for project in places.all(client).map_err(problem)? {
        for run in project.runs(&newest()).map_err(problem)? {
            for (part, template) in PARTS {
                all.push(Resource {
                    uri: format!("{RUNS}/{}/{part}", run.run_id),
                    name: format!("{}-{part}", run.run_id),
                    title: titled(template.title, &run),
                    description: String::new(),
                    mime: template.mime.to_owned(),
                });
            }
        }
    }
    Ok(all)
}

/// A part of a run, by what the run is about. That was written by others, so it is made plain, and short.
fn titled(part: &str, run: &RunSummary) -> String {
    let about: String = one_line(run.title()).chars().take(LONGEST_TITLE).collect();
    format!("{part}: {about}")
}

/// The ids of runs, newest first.
pub fn run_ids(places: &Places, client: &Client) -> Result<Vec<String>, Stop> {
    let mut ids = Vec::new();
    for project in places.all(client).map_err(problem)? {
        let runs = project.runs(&newest()).map_err(problem)?;
        ids.extend(runs.into_iter().map(|run| run.run_id));
    }
    Ok(ids)
}

/// What the argument `id` of this template may be: the ids of workflows, or those of runs.
pub fn ids(template: &str, places: &Places, client: &Client) -> Result<Vec<String>, Stop> {
    if !template.starts_with(WORKFLOWS) {
        return run_ids(places, client);
    }
    let mut ids = Vec::new();
    for project in places.all(client).map_err(problem)? {
        for workflow in project.workflows().map_err(problem)? {
            // One that is at fault may not even have an id.
            if workflow.problem.is_none() && !ids.contains(&workflow.id) {
                ids.push(workflow.id);
            }
        }
    }
    Ok(ids)
}

/// The workflow that a URI names.
fn workflow(uri: &str) -> Option<&str> {
    uri.strip_prefix(WORKFLOWS)?
        .strip_prefix('/')?
        .strip_suffix("/graph")
        // An id, and no path: a client must not have any file read.
        .filter(|id| !id.is_empty() && !id.contains('/'))
}

/// Draws a workflow of the first project that has it.
fn drawn(places: &Places, uri: &str, id: &str, client: &Client) -> Result<Vec<Contents>, Stop> {
    for project in places.all(client).map_err(problem)? {
        match project.workflow_mermaid(id) {
            Ok(text) => return Ok(vec![Contents::text(uri, MERMAID, text)]),
            Err(fault) if fault.kind == engine::Kind::Missing => {}
            Err(fault) => return Err(problem(fault)),
        }
    }
    Err(no_resource(uri))
}

/// Reads one.
pub fn read(
    places: &Places,
    uri: &str,
    client: &Client,
    caller: &impl StepSpelling,
) -> Result<Vec<Contents>, Stop> {
    if uri == RUNS {
        let mut runs = Vec::new();
        for project in places.all(client).map_err(problem)? {
            runs.extend(project.runs(&newest()).map_err(problem)?);
        }
        let text = json!({ "runs": runs }).to_string();
        return Ok(vec![Contents::text(uri, JSON, text)]);
    }
    if let Some(id) = workflow(uri) {
        return drawn(places, uri, id, client);
    }
    let (run, part) = parts(uri)?;
    let (project, _) = owner(places, run, client)?.ok_or_else(|| no_resource(uri))?;
    let gone = |fault: Fault| {
        if fault.kind == engine::Kind::Missing {
            no_resource(uri)
        } else {
            problem(fault)
        }
    };
    let (mime, text) = match part {
        "state" => {
            let mut state = json!(project.status(&GENERIC, Some(run)).map_err(gone)?);
            caller.value(&mut state);
            (JSON, state.to_string())
        }
        "log" => {
            let records = project.log(Some(run)).map_err(gone)?;
            let from = records.len().saturating_sub(LOG_EVENTS);
            let lines: Vec<String> = records[from..]
                .iter()
                .map(|record| json!(record).to_string())
                .collect();
            (LINES, lines.join("\n"))
        }
        "report" => (MARKDOWN, project.report(Some(run)).map_err(gone)?.markdown),
        _ => (MERMAID, project.run_graph(Some(run)).map_err(gone)?),
    };
    Ok(vec![Contents::text(uri, mime, text)])
}

/// Changes whenever the resource does.
pub fn mark(places: &Places, marks: &Marks, uri: &str, client: &Client) -> Option<u64> {
    if uri == RUNS {
        let projects = places.all(client).ok()?;
        return projects.iter().try_fold(0_u64, |sum, project| {
            Some(sum.rotate_left(1) ^ marks.of_runs(project).ok()?)
        });
    }
    let (run, _) = parts(uri).ok()?;
    let (project, id) = owner(places, run, client).ok()??;
    marks.of_run(&project, &id).ok()
}

/// The run and the part that a URI names.
fn parts(uri: &str) -> Result<(&str, &str), Stop> {
    uri.strip_prefix(RUNS)
        .and_then(|rest| rest.strip_prefix('/'))
        .and_then(|rest| rest.split_once('/'))
        .filter(|(_, part)| PARTS.iter().any(|(known, _)| known == part))
        .ok_or_else(|| no_resource(uri))
}

/// The project that has the run, and the whole id of it.
fn owner(places: &Places, run: &str, client: &Client) -> Result<Option<(Engine, String)>, Stop> {
    let mut all = places.all(client).map_err(problem)?.into_iter();
    Ok(all.find_map(|project| {
        let id = project.run_id(run)?;
        Some((project, id))
    }))
}

fn newest() -> RunFilter {
    RunFilter {
        limit: Some(LISTED),
        ..RunFilter::default()
    }
}

fn no_resource(uri: &str) -> Stop {
    Problem::NoResource(uri.to_owned()).into()
}

/// A resource has no other way to tell a fault than the protocol's.
pub fn problem(fault: Fault) -> Stop {
    let text = if fault.suggestion.is_empty() {
        fault.message
    } else {
        format!("{}; {}", fault.message, fault.suggestion)
    };
    match fault.kind {
        // A file of the project that is no workflow is nothing that the server could mend.
        _ if fault.code == "workflow_invalid" => Problem::Invalid(text).into(),
        engine::Kind::Bug | engine::Kind::Environment => Problem::Internal(text).into(),
        _ => Problem::Invalid(text).into(),
    }
}
