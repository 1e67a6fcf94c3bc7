//! What the calls on a `tdd` run answer. These types are the wire: names and shapes are stable.

use machine::Role;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::capability::tests::results::Counts;
use crate::running_suite::RunningSuite;

/// The answer of `next`: what to do now, with all that is needed to do it. In other answers the same without `context` and
/// `preconditions`, with the subtask by its name alone, and with `instructions` only where something new is asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NextAction {
    /// The phase, such as `red`, `green`, `commit` or `finalize`; or `paused` or `complete`.
    pub action: String,
    /// What report is waited for; none where none is.
    #[serde(skip)]
    pub report: Option<AwaitedReport>,
    /// The run.
    pub run_id: String,
    /// The work unit to name in the report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit_id: Option<String>,
    /// Which attempt this is, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// How many there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
    /// How the run ended, when it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Why the run is paused, when it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_reason: Option<String>,
    /// What was said of it then, where something was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_message: Option<String>,
    /// Whether only a person has it go on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub needs_person: bool,
    /// The subtask in hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subtask: Option<SubtaskView>,
    /// What is known about the project for this phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Map<String, Value>>,
    /// What must hold before the work begins.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preconditions: Vec<Precondition>,
    /// The steps that lead on from here, the first one first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next_steps: Vec<String>,
    /// The whole prompt. In the answer to a report, once a subtask went through the phase, without what is the same each time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

/// What report a phase waits for, and so how it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AwaitedReport {
    /// Of tests.
    Tests,
    /// Of the full suite.
    Suite,
    /// A commit is made, or handed in.
    Commit,
}

impl AwaitedReport {
    /// That of a role; none where a run over a task has no command of its own for it.
    pub(crate) fn of(role: &Role) -> Option<Self> {
        match role.reader.as_str() {
            "tests" if role.suite.is_some() => Some(Self::Suite),
            "tests" => Some(Self::Tests),
            "commit" => Some(Self::Commit),
            _ => None,
        }
    }
}

/// A subtask as the executor sees it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SubtaskView {
    /// Its dotted id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What kind of work it is, where its workflow has kinds.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// More on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
    /// How it is to be tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_strategy: Option<String>,
    /// The subtasks it builds on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<Vec<String>>,
}

/// Something that must hold before the work begins.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Precondition {
    /// Stable name.
    pub id: String,
    /// Whether it holds; absent (null) where that was not looked at.
    pub holds: Option<bool>,
    /// What it means here.
    pub detail: String,
}

/// The answer of `start`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Started {
    /// The run.
    pub run_id: String,
    /// Its branch.
    pub branch: String,
    /// The tests as they were before it, where that was reported or looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Counts>,
    /// What somebody should be told.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What comes next.
    pub next_action: NextAction,
}

/// The answer of `start --dry-run`: what a start would do.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StartPlan {
    /// Always true.
    pub dry_run: bool,
    /// The task.
    pub task_id: String,
    /// Its title.
    pub task_title: String,
    /// The tag that the run would be bound to.
    pub tag: String,
    /// Where the task comes from.
    pub source: String,
    /// The branch.
    pub branch: String,
    /// Whether the branch would be made, or is there.
    pub branch_exists: bool,
    /// The branch that the run would start from; none where HEAD is detached.
    pub from_branch: Option<String>,
    /// The test command, and the framework it runs.
    pub test_command: String,
    /// The framework that runs the tests.
    pub test_framework: String,
    /// How many GREEN attempts a subtask has.
    pub max_attempts: u32,
    /// The checks that were made.
    pub checks: Vec<Precondition>,
    /// The subtasks in the order in which they would be run.
    pub subtasks: Vec<PlannedSubtask>,
    /// Subtasks that are done already.
    pub skipped: Vec<String>,
    /// Subtasks that would not be run, and why.
    pub left_out: Vec<String>,
    /// What somebody should be told.
    pub warnings: Vec<String>,
}

/// One subtask of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedSubtask {
    /// Its dotted id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What it waits for.
    pub dependencies: Vec<String>,
    /// The commit message it would get, as far as it is known now.
    pub commit_message: String,
}

/// The verdict on a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// Whether it was accepted.
    pub validated: bool,
    /// What was found.
    pub message: String,
    /// What somebody should be told all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// Stable code of a refusal or a retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What it was about.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
    /// What comes next.
    pub next_action: NextAction,
}

impl Verdict {
    /// The exit status of a process that answers so.
    pub fn exit_status(&self) -> u8 {
        match (self.validated, self.code.as_deref()) {
            (true, _) => 0,
            (false, Some("stale_unit" | "paused")) => 5,
            (false, _) => 3,
        }
    }
}

/// The answer of `commit`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Committed {
    /// The commit.
    pub commit_sha: String,
    /// Its message.
    pub message: String,
    /// Its files.
    pub files: Vec<String>,
    /// Whether it was made before: the report was answered already, and nothing new was committed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub already_committed: bool,
    /// What somebody should be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// What comes next.
    pub next_action: NextAction,
}

/// What `commit` came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum CommitAnswer {
    /// A commit was made, or taken over.
    Committed(Committed),
    /// It was refused; nothing moved.
    Refused(Verdict),
}

/// The answer of `finalize`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finalized {
    /// The verdict on the suite.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The commit that carries the task's status, if one was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_sha: Option<String>,
    /// The run report for people, once the run is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
}

/// The answer of `status`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The suite that is run for it just now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite: Option<RunningSuite>,
    /// The run.
    pub run_id: String,
    /// The task.
    pub task_id: String,
    /// The tag.
    pub tag: String,
    /// The branch.
    pub branch: String,
    /// `running`, `paused`, `completed`, `failed` or `aborted`.
    pub status: String,
    /// The subtask in hand.
    pub current_subtask: Option<String>,
    /// The phase, in lower case.
    pub current_phase: Option<String>,
    /// Which attempt this is, from 1.
    pub attempt_number: Option<u32>,
    /// How many there are.
    pub max_attempts: u32,
    /// How far it is.
    pub progress: Progress,
    /// Commits made.
    pub commits: u64,
    /// When it began, UTC.
    pub start_time: String,
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
    /// What comes next.
    pub next_action: NextAction,
}

/// How far a run is.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Progress {
    /// Subtasks done.
    pub completed: Vec<String>,
    /// Subtasks skipped.
    pub failed: Vec<String>,
    /// The one in hand.
    pub current: Option<String>,
    /// Subtasks not begun.
    pub remaining: Vec<String>,
    /// All subtasks.
    pub total: usize,
    /// Done, of all, in whole percent.
    pub percentage: u32,
}
