//! `tm collab`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use engine::Turn;
use schemars::JsonSchema;
use serde::Deserialize;

use super::ProjectPlace;

/// `tm collab`.
#[derive(Debug, Args)]
pub struct Collab {
    /// Where, and how to answer.
    #[command(flatten)]
    pub place: ProjectPlace,
    /// The session, by its name; the only one under way if left out
    #[arg(
        long,
        short = 's',
        global = true,
        value_name = "NAME",
        alias = "run-id",
        help_heading = "Everywhere"
    )]
    pub session: Option<String>,
    /// What to do.
    #[command(subcommand)]
    pub command: CollabCommand,
}

impl Collab {
    /// Whether what is drawn is JSON.
    pub(super) fn draws_json(&self) -> bool {
        matches!(
            self.command,
            CollabCommand::Graph(Graph {
                format: Format::Json
            })
        )
    }
}

/// The commands of `tm collab`, in the order in which a session needs them.
#[derive(Debug, Subcommand)]
pub enum CollabCommand {
    /// Say that a skill is finished, and be told the next one
    ///
    /// The present state decides, and not the name: a skill that is not the one expected is refused, and nothing moves.
    /// Said twice, it counts once. The first skill, `collab-start`, begins a session.
    ///
    /// The exit status is 0 if it was taken, 3 if it was refused, and 5 if the unit is a stale one or the session is paused.
    #[command(
        after_long_help = "Example:\n  tm collab complete-skill collab-start --session parser"
    )]
    CompleteSkill(CompleteSkill),
    /// Show the skill that is due, and all that is needed to go on with it
    ///
    /// One call is enough for an agent that remembers nothing, such as after its context was cleared.
    #[command(
        alias = "status",
        alias = "next",
        after_long_help = "Example:\n  tm collab state --full"
    )]
    State(State),
    /// Set the work items, which of them comes first, and whether a snapshot is kept
    ///
    /// All of it is taken, or nothing. What follows from the rails (state, phase, batches, …) is refused as `read_only`. A
    /// session that is not there is begun.
    ///
    /// Each item has a number, a title and a type (code, task, bugfix), and perhaps dependsOn, the numbers of the items that
    /// come before it.
    #[command(
        after_long_help = "Example:\n  tm collab update --work-items '[{\"number\": 1, \"title\": \"Dates\", \"type\": \"code\"}]'"
    )]
    Update(Update),
    /// Add an item that came late
    ///
    /// It is worked out when it is its turn: after the item in hand or, once batches are executed, after the batch in hand. Its
    /// tasks come behind what was begun. Before the goals are gathered, items are written into the design document or set
    /// with `tm collab update`.
    ///
    /// The exit status is 0 if it was added or is there, and 3 if it was refused.
    #[command(
        after_long_help = "Example:\n  tm collab add 'Export as CSV' --type code --depends-on 1"
    )]
    Add(Add),
    /// Have an item be worked out again, or tasks be run again
    ///
    /// An item that is documented, skipped or in hand begins anew. What is done of its tasks stays so, but for the only task of
    /// an item without a task graph, and the graph can be handed over again. A task of a batch that is over comes into the
    /// batch in hand or, between batches, into a new one. Without an item or a task: the item in hand, or, when all batches
    /// are over, one more task for what the end asks for.
    ///
    /// The exit status is 0 if it was done, and 3 if it was refused.
    #[command(
        after_long_help = "Examples:\n  tm collab reopen --item 2 --reason 'the parser has to stream'\n  tm collab reopen --task lexer --reason 'it loses comments'\n  tm collab reopen --reason 'the suite fails: two tests of the parser'"
    )]
    Reopen(Reopen),
    /// Give up an item with all its tasks that are not done, or single tasks
    ///
    /// What depends on it is not run, and is listed at the end. Without an item or a task the item in hand is meant.
    ///
    /// The exit status is 0 if it was done, and 3 if it was refused.
    #[command(
        after_long_help = "Example:\n  tm collab skip --item 3 --reason 'not before the next release'"
    )]
    Skip(Skip),
    /// Say what tasks of the batch in hand came to
    ///
    /// One task as `ID STATUS`, any number of them as `ID=STATUS`: all of them are stored, or none. The statuses are `pending`,
    /// `in_progress`, `completed` and `failed`. A task that is skipped has failed for good, and what depends on it is not run:
    /// `--skipped` says so of one task, and `ID=skipped` of each of several. An id that begins with a hyphen stands behind `--`.
    ///
    /// The exit status is 0 if they were stored, and 3 if they were refused.
    #[command(
        after_long_help = "Examples:\n  tm collab task types in_progress\n  tm collab task types=completed lexer=completed parser=skipped"
    )]
    Task(Task),
    /// Draw the tasks of all items as a Mermaid flowchart
    ///
    /// It has a box for each wave, and a colour for each status. Before the batches are cut it shows those that the graphs
    /// would give now.
    ///
    /// The exit status is 0, and 3 where the graphs have errors and nothing can be drawn.
    #[command(after_long_help = "Example:\n  tm collab graph > tasks.mmd")]
    Graph(Graph),
    /// Hand over the task graph of an item
    ///
    /// It is YAML, alone or as the block with `tasks:` in a Markdown document. It replaces the item's graph that was there
    /// before; what its tasks came to is kept. Without a file the documents in the session's own folder are read again.
    ///
    /// The exit status is 0 if it was taken, and 3 if it has errors, which are told with their lines.
    #[command(after_long_help = "Example:\n  tm collab sync docs/task-graph.md --item 2")]
    Sync(Sync),
}

/// `tm collab complete-skill`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompleteSkill {
    /// The skill that is finished
    #[arg(value_name = "SKILL")]
    #[schemars(extend("x-brief" = "the skill that is done"))]
    pub skill: String,
    /// The work unit that it was done for, as the answer before named it
    #[arg(long, value_name = "ID", alias = "unit")]
    #[schemars(extend("x-brief" = "unit_id that came with the skill", "x-aliases" = ["unit_id"]))]
    pub unit_id: Option<String>,
}

/// `tm collab state`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// Every field: all items, batches and tasks
    #[arg(long)]
    #[serde(default)]
    #[schemars(extend("x-brief" = "every field"))]
    pub full: bool,
}

/// `tm collab update`.
#[derive(Debug, Args)]
pub struct Update {
    /// All work items, as a JSON list; from a file with `@`, from standard input with `-`
    #[arg(long, value_name = "JSON|@FILE|-")]
    pub work_items: Option<String>,
    /// The number of the item that is to be taken first
    #[arg(long, value_name = "N")]
    pub current_item: Option<String>,
    /// Whether the caller keeps a snapshot of its context
    #[arg(long, value_name = "true|false")]
    pub has_snapshot: Option<bool>,
    /// Any field, by its name and its value as JSON; may be repeated
    #[arg(long, value_name = "NAME=JSON")]
    pub set: Vec<String>,
}

/// `tm collab add`.
#[derive(Debug, Args)]
pub struct Add {
    /// Its title
    #[arg(value_name = "TITLE")]
    pub title: String,
    /// What it is: code, task or bugfix
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: String,
    /// Its number; the next one if left out
    #[arg(long, value_name = "N")]
    pub number: Option<String>,
    /// The number of an item that comes before it; may be repeated
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub depends_on: Vec<String>,
}

/// `tm collab reopen`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reopen {
    /// The item's number
    #[arg(long, value_name = "N")]
    #[schemars(extend("x-brief" = "number of an item"))]
    pub item: Option<String>,
    /// What the item is from now on: code, task or bugfix
    #[arg(long = "type", value_name = "TYPE")]
    #[serde(rename = "type")]
    #[schemars(extend("x-brief" = "new type of the item"))]
    pub kind: Option<String>,
    /// The id of a task; may be repeated
    #[arg(long = "task", value_name = "ID")]
    #[serde(default)]
    #[schemars(extend("x-brief" = "or ids of tasks"))]
    pub tasks: Vec<String>,
    /// Why; it is told whoever works on it
    #[arg(long, value_name = "TEXT")]
    #[schemars(extend("x-brief" = "shown to who works on it"))]
    pub reason: String,
    /// Refuse where this is not the present work unit
    #[arg(long, alias = "unit-id", value_name = "UNIT")]
    #[serde(skip)]
    pub unit: Option<String>,
}

/// `tm collab skip`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Skip {
    /// The item's number
    #[arg(long, value_name = "N")]
    #[schemars(extend("x-brief" = "number of an item"))]
    pub item: Option<String>,
    /// The id of a task; may be repeated
    #[arg(long = "task", value_name = "ID")]
    #[serde(default)]
    #[schemars(extend("x-brief" = "or ids of tasks"))]
    pub tasks: Vec<String>,
    /// Why; it is journalled and reported
    #[arg(long, value_name = "TEXT")]
    #[schemars(extend("x-brief" = "recorded"))]
    pub reason: String,
    /// Refuse where this is not the present work unit
    #[arg(long, alias = "unit-id", value_name = "UNIT")]
    #[serde(skip)]
    pub unit: Option<String>,
}

impl Reopen {
    /// It as a turn.
    pub fn turn(&self) -> Turn<'_> {
        let (item, kind) = (self.item.as_deref(), self.kind.as_deref());
        Turn::reopen(item, kind, &self.reason).of_tasks(&self.tasks)
    }
}

impl Skip {
    /// It as a turn.
    pub fn turn(&self) -> Turn<'_> {
        Turn::skip(self.item.as_deref(), &self.reason).of_tasks(&self.tasks)
    }
}

/// `tm collab task`.
#[derive(Debug, Args)]
pub struct Task {
    /// A task and its status, or any number of them as `ID=STATUS`
    #[arg(value_name = "ID STATUS|ID=STATUS", required = true)]
    pub words: Vec<String>,
    /// The task is skipped, and what depends on it is not run
    #[arg(long)]
    pub skipped: bool,
}

/// `tm collab graph`.
#[derive(Debug, Args)]
pub struct Graph {
    /// As what to print it
    #[arg(long, value_name = "FORMAT", default_value = "mermaid")]
    pub format: Format,
}

/// As what a graph is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A Mermaid flowchart
    Mermaid,
    /// The batches, with that flowchart in it
    Json,
}

/// `tm collab sync`.
#[derive(Debug, Args)]
pub struct Sync {
    /// The file with the graph; `-` for standard input
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The number of the item that it is of; the present one if left out
    #[arg(long, value_name = "N")]
    pub item: Option<String>,
}
