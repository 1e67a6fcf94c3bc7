//! What the calls on a session of skills are asked with.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A skill was completed.
#[derive(Debug, Clone, Default)]
pub struct SkillDone {
    /// Name of the session; the only one under way if absent. The first skill begins one.
    pub session: Option<String>,
    /// Name of the skill. Blanks around it, and upper or lower case, do not matter.
    pub skill: String,
    /// The work unit that it was done for, where the caller knows it.
    pub unit_id: Option<String>,
}

/// What a caller sets of a session. What is absent stays as it is.
#[derive(Debug, Clone, Default)]
pub struct SessionUpdate {
    /// Name of the session; the only one under way if absent. One that is not there is begun.
    pub session: Option<String>,
    /// The fields to set, by name: `workItems`, `currentItem`, `hasSnapshot`. Any other is refused.
    pub fields: serde_json::Map<String, Value>,
}

/// What a task came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TaskUpdate {
    /// Id of the task.
    pub id: String,
    /// `pending`, `in_progress`, `completed`, `failed`, or `skipped`: then what depends on it is not run.
    pub status: String,
    /// `failed` beside the status `failed`: skipped, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
}

/// A task graph is handed over; or those among the session's documents are to be read again.
#[derive(Debug, Clone, Default)]
pub struct GraphSync {
    /// Name of the session; the only one under way if absent.
    pub session: Option<String>,
    /// Number of the item that it is of; the present one if absent, or the only one whose graph has errors.
    pub item: Option<String>,
    /// The text: YAML, alone or in Markdown.
    pub document: Option<String>,
    /// Or a file of the project that holds it, relative to the project's root.
    pub path: Option<String>,
}
