//! Tasks and what they depend on, drawn wave by wave.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use super::mermaid::escaped;
use super::text::shortened;

/// The longest label of a task or a wave, in characters.
const LONGEST_LABEL: usize = 80;

/// Tasks that are done side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wave<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its name for people; the id stands in where it is empty.
    pub label: &'a str,
    /// Its tasks, in order.
    pub tasks: Vec<TaskNode<'a>>,
}

/// One task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskNode<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its name for people; may be empty.
    pub label: &'a str,
    /// How far it is.
    pub status: TaskStatus,
    /// The ids of the tasks that it depends on. One that no wave has is passed over.
    pub needs: Vec<&'a str>,
}

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TaskStatus {
    /// Not begun.
    Pending,
    /// Somebody is at it.
    InProgress,
    /// Reached its goal.
    Completed,
    /// Did not.
    Failed,
    /// Never begun, since something it depends on failed.
    NotRun,
}

impl TaskStatus {
    const ALL: [Self; 5] = [
        Self::Pending,
        Self::InProgress,
        Self::Completed,
        Self::Failed,
        Self::NotRun,
    ];

    /// What it is called in a picture, for people.
    pub(super) fn spoken(self) -> &'static str {
        match self {
            Self::Pending => "open",
            Self::InProgress => "in hand",
            Self::Completed => "done",
            Self::Failed => "failed",
            Self::NotRun => "blocked",
        }
    }

    /// The same as the name of a class.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::InProgress => "active",
            other => other.spoken(),
        }
    }

    /// Name and look of its class. Text and fill are both given, so that neither page nor theme makes it unreadable.
    fn class(self) -> (&'static str, &'static str) {
        match self {
            Self::Pending => ("pending", "fill:#f3f4f6,stroke:#6b7280,color:#111827"),
            Self::InProgress => (
                "inProgress",
                "fill:#fef3c7,stroke:#d97706,stroke-width:3px,color:#111827",
            ),
            Self::Completed => ("completed", "fill:#d1fae5,stroke:#059669,color:#111827"),
            Self::Failed => ("failed", "fill:#fee2e2,stroke:#dc2626,color:#111827"),
            Self::NotRun => (
                "notRun",
                "fill:#e5e7eb,stroke:#6b7280,stroke-dasharray:5 4,color:#4b5563",
            ),
        }
    }
}

/// The tasks as a Mermaid flowchart: a subgraph per wave, in order, tasks coloured by status, and an arrow to each task
/// from everything it depends on.
///
/// Ids and labels are text of others: the drawing has ids of its own, and what it shows is escaped. Where two tasks have
/// the same id, arrows begin at the first.
pub fn tasks(waves: &[Wave<'_>]) -> String {
    let mut out = String::from("flowchart TD\n");
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut members: [Vec<String>; TaskStatus::ALL.len()] = Default::default();
    let mut next = 0_usize;
    for (number, wave) in waves.iter().enumerate() {
        let label = if wave.label.trim().is_empty() {
            wave.id
        } else {
            wave.label
        };
        let _ = writeln!(out, "    subgraph w{number}[\"{}\"]", shown(label));
        for task in &wave.tasks {
            numbers.entry(task.id).or_insert(next);
            let _ = writeln!(out, "    t{next}[\"{}\"]", named(task));
            let place = TaskStatus::ALL.iter().position(|one| *one == task.status);
            if let Some(class) = place.and_then(|place| members.get_mut(place)) {
                class.push(format!("t{next}"));
            }
            next += 1;
        }
        let _ = writeln!(out, "    end");
    }
    arrows(&mut out, waves, &numbers);
    for (status, members) in TaskStatus::ALL.into_iter().zip(members) {
        if members.is_empty() {
            continue;
        }
        let (name, look) = status.class();
        let _ = writeln!(
            out,
            "    classDef {name} {look}\n    class {} {name}",
            members.join(",")
        );
    }
    out
}

fn arrows(out: &mut String, waves: &[Wave<'_>], numbers: &HashMap<&str, usize>) {
    let mut number = 0_usize;
    let mut before: Option<std::ops::Range<usize>> = None;
    for wave in waves {
        let first = number;
        let mut tied = false;
        for task in &wave.tasks {
            let mut drawn = BTreeSet::new();
            for needed in &task.needs {
                let Some(from) = numbers.get(needed) else {
                    continue;
                };
                tied |= before.as_ref().is_some_and(|range| range.contains(from));
                if drawn.insert(*from) {
                    let _ = writeln!(out, "    t{from} --> t{number}");
                }
            }
            number += 1;
        }
        // Without any arrow between them, two waves would be drawn side by side: an unseen one keeps the order.
        if let Some(before) = before.filter(|_| !tied && number > first) {
            let _ = writeln!(out, "    t{} ~~~ t{first}", before.start);
        }
        before = (number > first).then_some(first..number);
    }
}

fn shown(text: &str) -> String {
    escaped(&shortened(text, LONGEST_LABEL))
}

/// What stands in a task's box: its id, and its label where that says something else.
fn named(task: &TaskNode<'_>) -> String {
    let label = task.label.trim();
    if label.is_empty() || label == task.id {
        shown(task.id)
    } else {
        format!("{}<br/>{}", shown(task.id), shown(label))
    }
}
