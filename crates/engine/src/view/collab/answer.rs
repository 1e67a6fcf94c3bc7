//! What the calls on a session of skills answer. These types are the wire: names and shapes are stable.

use machine::Refusal;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::generic::messages;
use crate::writer::RunWriter;

/// Whether what was asked of a session was accepted, and if not, why.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Verdict {
    /// Whether it was accepted: all of it; else nothing moved.
    pub validated: bool,
    /// Stable code of a refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What a refusal is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

impl Verdict {
    /// The verdict with this refusal, in the words of its code; without one, it was accepted.
    pub(crate) fn new(writer: &RunWriter<'_>, refusal: Option<&Refusal>) -> Self {
        let (run, definition) = (&writer.open.run, &writer.call.definition);
        let text =
            refusal.map(|refusal| messages::refusal(run, definition, Some(run.state()), refusal));
        let (message, suggestion) = text.map(|text| (text.message, text.suggestion)).unzip();
        Self {
            validated: refusal.is_none(),
            code: refusal.map(|refusal| refusal.code.clone()),
            message,
            suggestion,
        }
    }
}

/// The answer to a completed skill.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SkillAnswer {
    /// Whether it was accepted.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The skill to invoke now; none only when the session is over.
    pub next_skill: Option<String>,
    /// Whether the session has come to its end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub done: bool,
    /// `paused`, `completed` or `aborted`, where the session does not go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// `clear` where the executor forgets its context now, else `none`.
    pub action: String,
    /// What the skill is about.
    pub params: SkillParams,
    /// Name of the session.
    pub session: String,
    /// The state that waits for the skill.
    pub state: String,
    /// Its name for people.
    pub display_name: String,
    /// The work unit to name with the completion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit_id: Option<String>,
    /// The work item in hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemBrief>,
    /// The batch in hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<BatchBrief>,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// All skills that there are, where the one that was named is none of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub valid_skills: Vec<String>,
    /// What stands against it, with lines, where a document has errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<DocumentProblem>,
    /// What somebody should be told all the same: what was read with some freedom, waves that were split, tasks that were not
    /// run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What a skill is about.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SkillParams {
    /// Number of the work item in hand: a number where it is one, else text such as `2a`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_number: Option<Value>,
    /// Which batch is in hand, from 0: there exactly while one is executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_index: Option<u64>,
}

/// A work item in few words.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ItemBrief {
    /// Its number.
    pub number: Value,
    /// Its title.
    pub title: String,
    /// `code`, `task` or `bugfix`.
    #[serde(rename = "type")]
    pub kind: String,
}

/// A batch in few words.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchBrief {
    /// Its id.
    pub id: String,
    /// Which one it is, from 0.
    pub index: u64,
    /// How many there are.
    pub of: u64,
    /// Its tasks, the first of them where there are many.
    pub tasks: Vec<TaskBrief>,
    /// How many tasks it has, where they are more than those shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks_total: Option<u64>,
}

/// A task in few words.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskBrief {
    /// Its id.
    pub id: String,
    /// `pending`, `in_progress`, `completed` or `failed`.
    pub status: String,
    /// `failed` where it was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Why it is run again, or was skipped.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Whether it is not run, because something it depends on was skipped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_run: bool,
    /// Ids of the tasks that must be completed before.
    pub depends_on: Vec<String>,
    /// How many these are, where they are more than those shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depends_on_total: Option<u64>,
    /// The rest of what its document says; in answers that have every field.
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    pub details: Option<TaskDetails>,
}

/// What the document of a task says of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskDetails {
    /// Number of its item.
    pub item: Value,
    /// What is to be done; empty where nothing is said.
    pub description: String,
    /// The files that it touches.
    pub files: Vec<String>,
    /// The tests that belong to it.
    pub tests: Vec<String>,
}

/// What is wrong with a document.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct DocumentProblem {
    /// Stable code.
    pub code: String,
    /// The document.
    pub document: String,
    /// Number of the item that it is of, where it is of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<Value>,
    /// Line in the document, from 1.
    pub line: u32,
    /// What is wrong.
    pub message: String,
    /// What to do.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub suggestion: String,
}

/// All that is needed to go on, for somebody who remembers nothing. At most 1 KB.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionBrief {
    /// Name of the session.
    pub session: String,
    /// The skill to invoke now; none only when the session is over, or paused.
    pub skill: Option<String>,
    /// Whether the session has come to its end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub done: bool,
    /// `paused`, `completed` or `aborted`, where the session does not go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Why it takes no completions, where somebody stopped it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_reason: Option<String>,
    /// The work unit to name with its completion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit_id: Option<String>,
    /// The state.
    pub state: String,
    /// Its name for people.
    pub display_name: String,
    /// `gathering`, `brainstorming`, `rough-draft`, `implementation` or `done`.
    pub phase: String,
    /// The work item in hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemBrief>,
    /// The batch in hand: tasks that are still to be done come first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<BatchBrief>,
    /// Folder of the session's documents; left out where its path alone would fill the answer.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub documents: String,
    /// The files in it to read: the design, and the task graphs of the item or the batch in hand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// How many more of them there was no room for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_more: Option<u64>,
    /// What to do, where there is room for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Whether there was no room for all of the instructions: the state with every field has them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub instructions_cut: bool,
}

/// The session with every field.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionState {
    /// Name of the session.
    pub session: String,
    /// Id of its run.
    pub run_id: String,
    /// `running`, `paused`, `completed` or `aborted`.
    pub status: String,
    /// The skill to invoke now.
    pub skill: Option<String>,
    /// The work unit to name with its completion.
    pub unit_id: Option<String>,
    /// The state.
    pub state: String,
    /// `gathering`, `brainstorming`, `rough-draft`, `implementation` or `done`.
    pub phase: String,
    /// The state's name for people.
    pub display_name: String,
    /// When it last moved: UTC, RFC 3339.
    pub last_activity: String,
    /// Number of the work item in hand.
    pub current_item: Option<Value>,
    /// Its type.
    pub current_item_type: Option<String>,
    /// All work items.
    pub work_items: Vec<WorkItem>,
    /// How many there are.
    pub total_items: u64,
    /// How many of them are documented, or complete.
    pub documented_items: u64,
    /// The batches.
    pub batches: Vec<BatchState>,
    /// Which batch is executed, from 0.
    pub current_batch: Option<u64>,
    /// Ids of the tasks that are completed.
    pub completed_tasks: Vec<String>,
    /// Ids of the tasks that are neither completed nor skipped nor left out.
    pub pending_tasks: Vec<String>,
    /// Ids of the tasks that were skipped.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_tasks: Vec<String>,
    /// Ids of the tasks that are not run, because something they depend on was skipped.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_run_tasks: Vec<String>,
    /// Whether the caller keeps a snapshot of its context.
    pub has_snapshot: bool,
    /// Why it takes no completions, where somebody stopped it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_reason: Option<String>,
    /// Folder of the session's documents.
    pub documents: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

/// A work item.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkItem {
    /// Its number: a number where it is one, else text.
    pub number: Value,
    /// Its title.
    pub title: String,
    /// `code`, `task` or `bugfix`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `pending`, `documented`, `complete` or `skipped`.
    pub status: String,
    /// Why it was taken up again, or skipped.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Numbers of the items that come before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<Value>,
}

/// A batch.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchState {
    /// Its id.
    pub id: String,
    /// Its tasks.
    pub tasks: Vec<TaskBrief>,
    /// `pending`, `in_progress` or `completed`.
    pub status: String,
    /// The wave that it is cut out of, from 1.
    pub wave: u64,
    /// Why its wave was split, where it was.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub split: String,
}

/// What became of a session's update, or of tasks.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateAnswer {
    /// Whether it was accepted.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Name of the session.
    pub session: String,
    /// The state.
    pub state: String,
    /// The unit that waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit_id: Option<String>,
    /// What could have been named instead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<Value>,
    /// The tasks that were named, as they are now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskBrief>,
    /// How many tasks of the batch in hand are neither completed nor skipped nor left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining: Option<u64>,
    /// The fields that were set, as they are now.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub fields: serde_json::Map<String, Value>,
}

/// The task graph.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskGraph {
    /// Name of the session.
    pub session: String,
    /// Whether the batches are cut: before that they are those that the graphs would give now.
    pub cut: bool,
    /// The batches.
    pub batches: Vec<BatchState>,
    /// The drawing, as a Mermaid flowchart.
    pub mermaid: String,
    /// What is wrong with the documents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<DocumentProblem>,
}

/// What became of a task graph that was handed over.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SyncAnswer {
    /// Whether it was accepted.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Name of the session.
    pub session: String,
    /// Number of the item that it is of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<Value>,
    /// How many tasks it has.
    pub tasks: u64,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<DocumentProblem>,
    /// What somebody should be told all the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The batches, where they were cut again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub batches: Vec<BatchState>,
}
