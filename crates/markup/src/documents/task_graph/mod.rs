//! Tasks and what each of them depends on, as a document says it.

mod blocks;
mod fields;
mod keys;
mod knots;
mod merge;
mod path;
mod yaml;

use std::collections::BTreeMap;

use crate::documents::quoting::{Bounded, LeftOut, line_number};

/// The longest document that is read, in bytes.
pub const MAX_BYTES: usize = 8 * 1024 * 1024;
/// How many tasks of a document are read.
pub const MAX_TASKS: usize = 100_000;
/// The longest id of a task, in bytes.
pub const MAX_ID_BYTES: usize = 200;

/// The code of the problem that counts others.
const MORE: &str = "more_problems";

/// A task as its document has it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Task {
    /// Its name within the document.
    pub id: String,
    /// The files that it touches, each once.
    pub files: Vec<String>,
    /// The tests that belong to it, each once.
    pub tests: Vec<String>,
    /// What is to be done; empty where nothing is said.
    pub description: String,
    /// Whether it may share a batch with others.
    pub parallel: bool,
    /// The tasks that come before it, each once.
    pub depends_on: Vec<String>,
    /// Where it stands in the document, from 1.
    pub line: u32,
}

/// What is wrong with a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Stable name of what is wrong, such as `duplicate_id`; `more_problems` is that of the last one, which says how many there
    /// are besides those that are told.
    pub code: &'static str,
    /// Where, from 1.
    pub line: u32,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub suggestion: String,
    /// The tasks that it is about. A cycle is there as its path: each needs the next, and the last one is the first again. Of
    /// an unknown dependency it is the task, and then what it depends on, as it is written there.
    pub tasks: Vec<String>,
}

/// What was read with some freedom, or not taken into account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Where, from 1.
    pub line: u32,
    /// What was made of it.
    pub message: String,
}

/// What a document says of its tasks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Graph {
    /// The tasks, in the order of the document; of two with the same id the first.
    pub tasks: Vec<Task>,
    /// What is wrong, in the order of lines: at most 100 problems, and one more for the rest.
    pub problems: Vec<Problem>,
    /// How many problems there are besides.
    pub more_problems: usize,
    /// What was read with some freedom, in the order of lines: at most 100 notes, and one more for the rest.
    pub notes: Vec<Note>,
}

/// The graph of one item, among those that are merged.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// The number of the item.
    pub item: &'a str,
    /// The name of its document, for messages.
    pub document: &'a str,
    /// The graph.
    pub graph: &'a Graph,
    /// The numbers of the items that the item depends on.
    pub after: &'a [String],
}

/// A task among those of all items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedTask {
    /// Its id, which no other task has.
    pub id: String,
    /// The number of its item.
    pub item: String,
    /// The id that its document gives it.
    pub name: String,
    /// What is to be done; empty where nothing is said.
    pub description: String,
    /// The files that it touches.
    pub files: Vec<String>,
    /// The tests that belong to it.
    pub tests: Vec<String>,
    /// The ids of the tasks that come before it, each once.
    pub depends_on: Vec<String>,
    /// Whether it may share a batch with others.
    pub parallel: bool,
    /// Where it stands in its item's document, from 1.
    pub line: u32,
}

/// What is wrong with one of the graphs, or with them all together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeProblem {
    /// The number of the item in whose document it stands.
    pub item: String,
    /// The name of that document.
    pub document: String,
    /// What is wrong. Tasks are named by their merged ids where they have one.
    pub problem: Problem,
}

/// The graphs of all items as one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Merged {
    /// The tasks, item by item.
    pub tasks: Vec<MergedTask>,
    /// What is wrong, item by item, each in the order of lines: of each at most 100 problems, and one more for the rest. With
    /// problems, the tasks are only what could be read.
    pub problems: Vec<MergeProblem>,
}

/// Reads the graphs of a document: the document itself, or all fenced blocks with a graph in it.
///
/// Unknown dependencies and cycles are not among its problems, for a task may depend on one of another item: [`check`] and
/// [`merge`] tell them.
pub fn read(text: &str) -> Graph {
    if text.len() > MAX_BYTES {
        return Graph {
            problems: vec![Problem {
                code: "too_large",
                line: 1,
                message: format!(
                    "the document has {} bytes; at most {MAX_BYTES} are read",
                    text.len()
                ),
                suggestion: "leave out what is no task graph, or make several items of it"
                    .to_owned(),
                tasks: Vec::new(),
            }],
            ..Graph::default()
        };
    }
    let located = blocks::locate(text);
    let mut reader = fields::Reader::new(located.problems, located.notes);
    for found in &located.found {
        reader.take(found);
    }
    let (tasks, problems, notes) = reader.finish();
    let (mut problems, more) = with_remainder(problems);
    let (mut notes, more_notes) = notes.finish();
    notes.extend(more_notes.map(|more| Note {
        line: more.line,
        message: more.summary("note"),
    }));
    let last = line_number(text.lines().count().max(1));
    for line in problems
        .iter_mut()
        .map(|problem| &mut problem.line)
        .chain(notes.iter_mut().map(|note| &mut note.line))
    {
        *line = (*line).clamp(1, last);
    }
    Graph {
        tasks,
        problems,
        more_problems: more,
        notes,
    }
}

/// The problems that are told, the last one of which says how many there are besides.
fn with_remainder(problems: Bounded<Problem>) -> (Vec<Problem>, usize) {
    let (mut problems, more) = problems.finish();
    problems.extend(more.map(|more| Problem {
        code: MORE,
        line: more.line,
        message: more.summary("problem"),
        suggestion: "mend those above first".to_owned(),
        tasks: Vec::new(),
    }));
    (problems, more.map_or(0, |more| more.count))
}

/// Takes the problems of a graph over, those included that are only counted.
fn take_over(told: &mut Bounded<Problem>, graph: &Graph) {
    for problem in &graph.problems {
        if problem.code == MORE {
            told.leave_out(LeftOut {
                count: graph.more_problems,
                line: problem.line,
            });
        } else {
            told.tell(problem.line, || problem.clone());
        }
    }
}

/// What is wrong with a graph where there is no other: what was found reading it, unknown dependencies, and cycles.
pub fn check(graph: &Graph) -> Vec<Problem> {
    let alone = Part {
        item: "",
        document: "",
        graph,
        after: &[],
    };
    merge(&[alone], &BTreeMap::new())
        .problems
        .into_iter()
        .map(|found| found.problem)
        .collect()
}

/// Joins the graphs of all items.
///
/// `named`: ids that are fixed already, by item and name, for tasks that were known before. Every other task keeps the id
/// that its document gives it, or gets `item-N/ID` where another task has it. A dependency is one of the task's own item,
/// or `item-N/ID`, or an id that only one other item has.
///
/// The first tasks of an item, those that need nothing within it, come after the last ones of the items that it comes
/// after, those that nothing there needs.
pub fn merge(parts: &[Part<'_>], named: &BTreeMap<(String, String), String>) -> Merged {
    merge::merge(parts, named)
}

/// The graph of an item that has none: one task, the item itself.
pub fn lone(item: &str, title: &str) -> Graph {
    Graph {
        tasks: vec![Task {
            id: format!("item-{item}"),
            description: title.to_owned(),
            parallel: true,
            line: 1,
            ..Task::default()
        }],
        ..Graph::default()
    }
}
