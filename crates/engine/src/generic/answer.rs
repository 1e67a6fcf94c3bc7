//! What the generic verbs answer. These types are the wire: names and shapes are stable, and the same
//! for every workflow.

use std::path::PathBuf;

use machine::Strength;
use serde::Serialize;
use serde_json::{Map, Value};

/// What is to be done now. In an answer about something else the same without instructions and context.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunAction {
    /// `work`, `decide` (a gate is closed), `step` (somebody has to ask for it), `restore` (what was recorded was changed
    /// or is gone), `paused` or `complete`.
    pub action: String,
    /// The run.
    pub run_id: String,
    /// Its workflow.
    pub workflow: String,
    /// The work unit in hand; the first one, where several are open.
    #[serde(flatten)]
    pub unit: Option<OpenUnit>,
    /// All open work units, where there are several; in an answer about something else the first few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<OpenUnit>,
    /// How many are open, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub units_total: Option<usize>,
    /// The gate that is closed, where one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<String>,
    /// SHA-256 of what stands before it: a decision names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// The least that has to stand behind a decision at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
    /// Whether it can be rejected, and not only approved.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub can_reject: bool,
    /// What is to be looked at there: files, or a folder; the file to put back, where one is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub look_at: Vec<PathBuf>,
    /// Whether only a person has a paused run go on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub needs_person: bool,
    /// How the run ended, when it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Why the run is paused, when it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_reason: Option<String>,
    /// What was said of it then, where something was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_message: Option<String>,
    /// What the workflow's own rails know about this unit, where it has rails of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Map<String, Value>>,
}

/// A work unit that waits for a report.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenUnit {
    /// The work unit to name in the report.
    pub unit_id: String,
    /// The state that waits.
    pub state: String,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Who is to act: `agent`, `person` or `anyone`.
    pub by: String,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// How many there are, where there is a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
    /// The item in hand, with its fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<Map<String, Value>>,
    /// What a report has to bring along: `outcome`, `tests`, `commit`; nothing if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expects: Option<String>,
    /// The outcomes that the state's guards tell apart. Where its last edge takes any, others are taken too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<String>,
    /// The file that asks for it, where there is one: in the run's folder; beside instructions an absolute path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The file that the answer is waited for in, where it is, likewise; a step takes it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// What to do. Of very many units only the first few have them: those come first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

/// The answer of `run start`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunStarted {
    /// The run.
    pub run_id: String,
    /// Its workflow.
    pub workflow: String,
    /// Its branch, where it works on one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// What somebody should be told.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What comes next.
    pub next_action: RunAction,
}

/// The verdict on a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunVerdict {
    /// Whether it was accepted.
    pub validated: bool,
    /// Stable code of a refusal or a retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What was found.
    pub message: String,
    /// What somebody should be told all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// What it was about.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
    /// What the report brought about: of a commit `commitSha`, `message` and `files`.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub result: Map<String, Value>,
    /// What comes next.
    pub next_action: RunAction,
    /// The run report for people, if the run is over by this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
}

impl RunVerdict {
    /// The exit status of a process that answers so.
    pub fn exit_status(&self) -> u8 {
        match (self.validated, self.code.as_deref()) {
            (true, _) => 0,
            (false, Some("stale_unit" | "paused")) => 5,
            (false, _) => 3,
        }
    }
}

/// The answer of `run status`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunStatusAnswer {
    /// The run.
    pub run_id: String,
    /// Its workflow.
    pub workflow: String,
    /// One line on the workflow.
    pub title: String,
    /// `running`, `paused`, `completed`, `failed`, `error`, `cancelled` or `aborted`.
    pub status: String,
    /// The states that the run stands at: its own, and one for each item in flight.
    pub states: Vec<CurrentState>,
    /// How far each item set is, by its name.
    pub items: Map<String, Value>,
    /// What the run was started with.
    pub inputs: Map<String, Value>,
    /// Values of the run.
    pub vars: Map<String, Value>,
    /// When it began, UTC.
    pub start_time: String,
    /// When it ended, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_time: Option<String>,
    /// How long it has been going on, for people.
    pub duration: String,
    /// The same in milliseconds.
    pub duration_ms: u64,
    /// When it last moved, UTC.
    pub last_updated: String,
    /// Whether somebody can go on with it.
    pub can_resume: bool,
    /// Why it is paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_reason: Option<String>,
    /// Why it ended as it did, where somebody said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_reason: Option<String>,
    /// What the workflow's own rails say, where it has rails of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Map<String, Value>>,
    /// What comes next.
    pub next_action: RunAction,
}

/// A state that a run stands at.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CurrentState {
    /// The state.
    pub state: String,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The phase it belongs to, where that has another name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Key of the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// The work unit that waits there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit_id: Option<String>,
    /// Since when, UTC.
    pub since: String,
}

/// The answer of `run restore`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRestored {
    /// The run.
    pub run_id: String,
    /// The files that were put back, in the run's folder; a folder, which ends with `/`, with all that is in it.
    pub restored: Vec<String>,
    /// What stood in their places, under the names that it has now.
    pub aside: Vec<String>,
}
