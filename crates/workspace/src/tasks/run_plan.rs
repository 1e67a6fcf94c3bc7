//! Which subtasks of a task are run, and in what order.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, HashSet};
use std::fmt;

use indexmap::IndexMap;
use serde::Serialize;

use super::error::why_left_out;
use super::{Status, Subtask, Task, TaskError};

/// What a run of a task will do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunPlan {
    /// What is run, every subtask after those that it depends on, else in the source's order. Their `dependencies` name
    /// only one another: what is satisfied already is taken out.
    pub runnable: Vec<Subtask>,
    /// What is done, cancelled or in review, and so not run.
    pub skipped: Vec<Subtask>,
    /// What is not run though it is not done.
    pub left_out: Vec<LeftOut>,
    /// What somebody should be told.
    pub warnings: Vec<PlanWarning>,
}

/// A subtask that is not run though it is not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The subtask.
    pub subtask: Subtask,
    /// Why.
    pub reason: LeftOutReason,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            LeftOutReason::Status => {
                f.write_str(&why_left_out(&self.subtask.id, &self.subtask.status))
            }
            LeftOutReason::Dependency { id } => {
                write!(
                    f,
                    "subtask {} depends on {id}, which is not run",
                    self.subtask.id
                )
            }
            LeftOutReason::Elsewhere { id, status } => write!(
                f,
                "subtask {} waits for {id}, which is {status}",
                self.subtask.id
            ),
        }
    }
}

/// Why a subtask is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum LeftOutReason {
    /// Its own status says so: `deferred` or `blocked`.
    Status,
    /// It depends on a subtask that is left out.
    Dependency {
        /// The dotted id of that subtask.
        id: String,
    },
    /// It depends on another task, or a subtask of one, that is not done.
    Elsewhere {
        /// The id of that one.
        id: String,
        /// How far it is.
        status: Status,
    },
}

/// Something that does not stop a run, but should be said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum PlanWarning {
    /// A subtask is in review; it counts as done here.
    InReview {
        /// Its dotted id.
        id: String,
        /// Which of the subtasks to be run depend on it.
        dependents: Vec<String>,
    },
    /// A status that nobody knows; the subtask is run.
    UnknownStatus {
        /// The subtask's dotted id.
        id: String,
        /// The status.
        status: Status,
    },
    /// The task as a whole is said to be done, put off or held up, but subtasks of it are not.
    TaskStatus {
        /// The task's id.
        id: String,
        /// Its status.
        status: Status,
    },
}

impl fmt::Display for PlanWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InReview { id, dependents } if dependents.is_empty() => {
                write!(
                    f,
                    "subtask {id} is in review: it counts as done and is not run"
                )
            }
            Self::InReview { id, dependents } => write!(
                f,
                "subtask {id} is in review: it counts as done, and {} build(s) on it",
                dependents.join(", ")
            ),
            Self::UnknownStatus { id, status } => {
                write!(
                    f,
                    "subtask {id} has the unknown status `{status}`: it is run"
                )
            }
            Self::TaskStatus { id, status } => {
                write!(
                    f,
                    "task {id} is {status}, though subtasks of it are not done"
                )
            }
        }
    }
}

/// Sorts the subtasks of a task. Refuses what cannot be run in any order, and a task with nothing to run.
pub fn plan_run(task: &Task) -> Result<RunPlan, TaskError> {
    let mut by_id: HashMap<&str, &Subtask> = HashMap::new();
    for subtask in &task.subtasks {
        if by_id.insert(&subtask.id, subtask).is_some() {
            return Err(TaskError::DuplicateId {
                id: subtask.id.clone(),
                of: format!("task {}", task.id),
            });
        }
    }
    // What is done may depend on anything: nobody waits for it any more.
    let open: Vec<&Subtask> = task
        .subtasks
        .iter()
        .filter(|s| !s.status.satisfies())
        .collect();
    for subtask in &open {
        for dependency in &subtask.dependencies {
            if *dependency == subtask.id {
                return Err(TaskError::SelfDependency {
                    subtask: subtask.id.clone(),
                });
            }
            let known =
                by_id.contains_key(dependency.as_str()) || task.elsewhere.contains_key(dependency);
            if !known {
                return Err(TaskError::UnknownDependency {
                    subtask: subtask.id.clone(),
                    dependency: dependency.clone(),
                });
            }
        }
    }
    if let Some(circle) = cycle(&edges(&open), open.len()) {
        let path = circle.into_iter().map(|at| open[at].id.clone()).collect();
        return Err(TaskError::Cycle { path });
    }
    let ordered = in_order(&open);
    let left_out = left_out(task, &ordered);
    let blocked: HashSet<&str> = left_out
        .iter()
        .map(|left| left.subtask.id.as_str())
        .collect();
    let runs: Vec<&Subtask> = ordered
        .iter()
        .copied()
        .filter(|subtask| !blocked.contains(subtask.id.as_str()))
        .collect();
    if open.is_empty() {
        return Err(TaskError::AllDone {
            task: task.id.clone(),
        });
    }
    if runs.is_empty() {
        return Err(TaskError::NothingRunnable {
            task: task.id.clone(),
            reasons: left_out.iter().map(ToString::to_string).collect(),
        });
    }
    let running: HashSet<&str> = runs.iter().map(|subtask| subtask.id.as_str()).collect();
    let runnable = runs
        .iter()
        .map(|subtask| {
            let mut subtask = (*subtask).clone();
            subtask
                .dependencies
                .retain(|dependency| running.contains(dependency.as_str()));
            subtask
        })
        .collect();
    let warnings = warnings(task, &runs);
    Ok(RunPlan {
        runnable,
        skipped: task
            .subtasks
            .iter()
            .filter(|s| s.status.satisfies())
            .cloned()
            .collect(),
        left_out,
        warnings,
    })
}

fn warnings(task: &Task, runs: &[&Subtask]) -> Vec<PlanWarning> {
    let mut warnings = Vec::new();
    if task.status.is_finished() || task.status.is_left_out() {
        warnings.push(PlanWarning::TaskStatus {
            id: task.id.clone(),
            status: task.status.clone(),
        });
    }
    let mut dependents: HashMap<&str, Vec<String>> = HashMap::new();
    for subtask in runs {
        for dependency in &subtask.dependencies {
            dependents
                .entry(dependency)
                .or_default()
                .push(subtask.id.clone());
        }
    }
    let own = task
        .subtasks
        .iter()
        .map(|subtask| (&subtask.id, &subtask.status));
    for (id, status) in own.chain(&task.elsewhere) {
        if *status == Status::Review {
            warnings.push(PlanWarning::InReview {
                id: id.clone(),
                dependents: dependents.remove(id.as_str()).unwrap_or_default(),
            });
        }
    }
    for subtask in runs {
        if matches!(subtask.status, Status::Other(_)) {
            warnings.push(PlanWarning::UnknownStatus {
                id: subtask.id.clone(),
                status: subtask.status.clone(),
            });
        }
    }
    warnings
}

/// What may not be run: put off, held up, or dependent on what is not run. Expects dependencies first.
fn left_out(task: &Task, ordered: &[&Subtask]) -> Vec<LeftOut> {
    let mut blocked: HashSet<&str> = HashSet::new();
    let mut left_out = Vec::new();
    for subtask in ordered {
        let reason = if subtask.status.is_left_out() {
            Some(LeftOutReason::Status)
        } else {
            subtask.dependencies.iter().find_map(|id| {
                if blocked.contains(id.as_str()) {
                    return Some(LeftOutReason::Dependency { id: id.clone() });
                }
                let status = task
                    .elsewhere
                    .get(id)
                    .filter(|status| !status.satisfies())?;
                Some(LeftOutReason::Elsewhere {
                    id: id.clone(),
                    status: status.clone(),
                })
            })
        };
        if let Some(reason) = reason {
            blocked.insert(&subtask.id);
            left_out.push(LeftOut {
                subtask: (*subtask).clone(),
                reason,
            });
        }
    }
    left_out
}

/// For each subtask the positions of those that it waits for.
fn edges(open: &[&Subtask]) -> Vec<Vec<usize>> {
    let positions: HashMap<&str, usize> = open
        .iter()
        .enumerate()
        .map(|(at, subtask)| (subtask.id.as_str(), at))
        .collect();
    open.iter()
        .map(|subtask| {
            let waits_for: BTreeSet<usize> = subtask
                .dependencies
                .iter()
                .filter_map(|id| positions.get(id.as_str()).copied())
                .collect();
            waits_for.into_iter().collect()
        })
        .collect()
}

/// Dependencies first, else in the order given. Expects no circle.
fn in_order<'t>(open: &[&'t Subtask]) -> Vec<&'t Subtask> {
    let edges = edges(open);
    let mut dependents = vec![Vec::new(); open.len()];
    for (at, waits_for) in edges.iter().enumerate() {
        for dependency in waits_for {
            dependents[*dependency].push(at);
        }
    }
    let mut missing: Vec<usize> = edges.iter().map(Vec::len).collect();
    let free = |missing: &[usize], at: &usize| missing[*at] == 0;
    let mut ready: BinaryHeap<Reverse<usize>> = (0..open.len())
        .filter(|at| free(&missing, at))
        .map(Reverse)
        .collect();
    let mut ordered = Vec::with_capacity(open.len());
    while let Some(Reverse(at)) = ready.pop() {
        ordered.push(open[at]);
        for dependent in &dependents[at] {
            missing[*dependent] -= 1;
            if free(&missing, dependent) {
                ready.push(Reverse(*dependent));
            }
        }
    }
    ordered
}

/// A circle that one of the first nodes leads into, if there is one: each depends on the next, the last is the first.
fn cycle(edges: &[Vec<usize>], first: usize) -> Option<Vec<usize>> {
    let mut finished = vec![false; edges.len()];
    let mut on_path = vec![false; edges.len()];
    for start in 0..first {
        // Depth first with a stack of its own: a long chain must not use up the thread's.
        let mut path: Vec<(usize, usize)> = Vec::new();
        if !finished[start] {
            path.push((start, 0));
            on_path[start] = true;
        }
        while let Some((at, next)) = path.last_mut() {
            let at = *at;
            let Some(dependency) = edges[at].get(*next).copied() else {
                finished[at] = true;
                on_path[at] = false;
                path.pop();
                continue;
            };
            *next += 1;
            if on_path[dependency] {
                let from = path.iter().position(|(node, _)| *node == dependency)?;
                let circle = path[from..]
                    .iter()
                    .map(|(node, _)| *node)
                    .chain([dependency]);
                return Some(circle.collect());
            }
            if !finished[dependency] {
                on_path[dependency] = true;
                path.push((dependency, 0));
            }
        }
    }
    None
}

/// How a circle of tasks ends.
pub const CUT_CIRCLE: &str = "in .taskmaster/tasks/tasks.json, take one of them out of the `dependencies` of the one before it, or of that one's task";

/// Tasks and subtasks that wait for each other, so that none is ever done: each waits for the next, the last is the first. The circle
/// that this task waits for, if it is named; one of all otherwise.
pub fn circle(tasks: &[Task], of: Option<&str>) -> Option<Vec<String>> {
    let (own, others) = tasks
        .iter()
        .filter(|task| !task.status.satisfies())
        .partition::<Vec<_>, _>(|task| of == Some(task.id.as_str()));
    let mut nodes: IndexMap<&str, Vec<&String>> = IndexMap::new();
    for task in own.iter().chain(&others) {
        let open = |part: &&Subtask| {
            !part.implicit && !part.status.satisfies() && !part.status.is_left_out()
        };
        let parts = task.subtasks.iter().filter(open);
        let below = parts.clone().map(|part| &part.id);
        nodes.insert(&task.id, task.dependencies.iter().chain(below).collect());
        for part in parts {
            let needed = part.dependencies.iter().chain(&task.dependencies);
            nodes.insert(&part.id, needed.collect());
        }
    }
    let place = |id: &&String| nodes.get_index_of(id.as_str());
    let edges: Vec<Vec<usize>> = nodes
        .values()
        .map(|waits_for| waits_for.iter().filter_map(place).collect())
        .collect();
    let first = if own.is_empty() { edges.len() } else { 1 };
    let path = cycle(&edges, first)?.into_iter();
    Some(
        path.filter_map(|at| Some((*nodes.get_index(at)?.0).to_owned()))
            .collect(),
    )
}
