//! Where a run is.

use std::collections::HashSet;

use machine::definition::Kind;
use machine::state::{ItemStatus, ROOT, RunStatus, Token};
use machine::{Definition, RunState};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::action::Action;
use crate::action::next::INTERRUPTED;
use crate::capability::memory::{self, Memory};
use crate::clock::{millis_of, spoken};
use crate::fault::Fault;
use crate::find::is_over_a_task;
use crate::running_suite::RunningSuite;

/// Where a run is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub struct Status {
    /// The suite that is run for it just now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite: Option<RunningSuite>,
    /// The run.
    pub run_id: String,
    /// Its workflow.
    pub workflow: String,
    /// One line on the workflow.
    pub title: String,
    /// `running`, `paused`, `completed`, `failed`, `error`, `cancelled` or `aborted`.
    pub status: String,
    /// The states that the run stands at: its own, and one for each item in progress.
    pub states: Vec<CurrentState>,
    /// How far each item set is, by its name.
    pub items: Map<String, Value>,
    /// The inputs that the run was started with.
    pub inputs: Map<String, Value>,
    /// Values of the run.
    pub vars: Map<String, Value>,
    /// The task of the run, where it is over one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskStatus>,
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
    /// Whether the run can go on.
    pub can_resume: bool,
    /// Why it is paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_reason: Option<String>,
    /// The reason with which it was ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_reason: Option<String>,
    /// What comes next.
    pub next_action: Action,
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

/// How far the task of a run is.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskStatus {
    /// The task.
    pub task_id: String,
    /// The tag.
    pub tag: String,
    /// The branch.
    pub branch: String,
    /// The subtask in hand.
    pub current_subtask: Option<String>,
    /// The phase, in lower case.
    pub current_phase: Option<String>,
    /// Which attempt this is, from 1.
    pub attempt_number: Option<u32>,
    /// How many there are.
    pub max_attempts: u32,
    /// How many subtasks are done.
    pub progress: Progress,
    /// Commits made.
    pub commits: u64,
}

/// How many subtasks of a task are done.
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

impl Serialize for Status {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let view = self.next_action.view;
        view.write(|json| Self::serialize(self, json), serializer)
    }
}

impl Status {
    /// Where a run is whose next action is known, at the time `now` in milliseconds since 1970; without the definition only of a run
    /// over a task.
    pub(crate) fn of(
        run: &RunState,
        definition: Option<&Definition>,
        now: i64,
        next_action: Action,
    ) -> Result<Self, Fault> {
        let began = millis_of(&run.started_at).unwrap_or(now);
        let until = run.ended_at.as_deref().and_then(millis_of).unwrap_or(now);
        let millis = u64::try_from(until - began).unwrap_or(0);
        let interrupted = next_action.paused_reason.as_deref() == Some(INTERRUPTED);
        let status = if interrupted {
            RunStatus::Paused
        } else {
            run.status
        };
        let task = is_over_a_task(run).then(|| TaskStatus::of(run));
        Ok(Self {
            suite: None,
            run_id: run.run.clone(),
            workflow: run.workflow.clone(),
            title: definition.map_or_else(String::new, |definition| definition.title.clone()),
            status: status.name().to_owned(),
            states: definition.map_or_else(Vec::new, |definition| standing(run, definition)),
            items: definition.map_or_else(Map::new, |definition| items(run, definition)),
            inputs: run.inputs.clone(),
            vars: run.vars.clone(),
            task: task.transpose()?,
            start_time: run.started_at.clone(),
            end_time: run.ended_at.clone(),
            duration: spoken(millis),
            duration_ms: millis,
            last_updated: run.updated_at.clone(),
            can_resume: !run.status.is_over(),
            paused_reason: run.pause.as_ref().map(|pause| pause.reason.clone()),
            end_reason: run.end_reason.clone(),
            next_action,
        })
    }
}

impl TaskStatus {
    fn of(run: &RunState) -> Result<Self, Fault> {
        let start = Memory::of(run)?.start;
        let waiting = run.waiting().next();
        let progress = progress(run);
        Ok(Self {
            task_id: start.task_id,
            tag: start.tag,
            branch: start.branch,
            current_subtask: progress.current.clone(),
            current_phase: phase(run).map(str::to_owned),
            attempt_number: waiting.map(|(_, unit)| unit.attempt).or_else(|| {
                let token = present(run)?;
                token.attempts.get(&token.state).copied()
            }),
            max_attempts: max_attempts(run),
            progress,
            commits: memory::commits(run),
        })
    }
}

/// The states that the run stands at. One whose items are in progress is left out: those say more.
fn standing(run: &RunState, definition: &Definition) -> Vec<CurrentState> {
    let in_progress = run.tokens.len() > 1;
    run.tokens
        .iter()
        .filter(|token| {
            let each = definition
                .state(&token.state)
                .is_some_and(|state| state.kind() == Kind::Each);
            !(each && in_progress)
        })
        .map(|token| {
            let state = definition.state(&token.state);
            CurrentState {
                state: token.state.clone(),
                label: state.and_then(|state| state.label.clone()),
                phase: state.and_then(|state| state.phase.clone()),
                item: token.key().map(str::to_owned),
                unit_id: token.unit.as_ref().map(|unit| unit.id.clone()),
                since: token.entered_at.clone(),
            }
        })
        .collect()
}

/// How far each item set is.
pub(crate) fn items(run: &RunState, definition: &Definition) -> Map<String, Value> {
    definition
        .items
        .iter()
        .filter_map(|(name, _)| {
            let set = run.sets.get(&name.value)?;
            let blocked = run.blocked(definition, name);
            let blocked = blocked.into_iter().filter(|is| *is).count();
            let open = set.count(ItemStatus::Open);
            let far = json!({
                "total": set.len(),
                "done": set.count(ItemStatus::Done),
                "failed": set.count(ItemStatus::Failed),
                "active": set.count(ItemStatus::Active),
                "open": open - blocked.min(open),
                "blocked": blocked,
            });
            Some((name.value.clone(), far))
        })
        .collect()
}

/// The token whose item is in hand, or the run's own.
pub(crate) fn present(run: &RunState) -> Option<&Token> {
    run.tokens
        .iter()
        .rfind(|token| token.id != ROOT)
        .or_else(|| run.token(ROOT))
}

/// The phase in lower case, while there is one.
pub(crate) fn phase(run: &RunState) -> Option<&str> {
    if run.status.is_over() {
        return None;
    }
    present(run).map(Token::phase)
}

/// How many subtasks of a run are done.
pub(crate) fn progress(run: &RunState) -> Progress {
    // Repairs are no subtasks of the task: they are in hand, but count for nothing.
    let own: HashSet<&str> = memory::planned(run).collect();
    let planned = |key: &str| own.contains(key) || memory::is_feedback(run, key);
    let of = |status: ItemStatus| -> Vec<String> {
        memory::subtasks(run)
            .filter(|(key, item)| item.status == status && planned(key))
            .map(|(key, _)| key.to_owned())
            .collect()
    };
    let before: Vec<String> = memory::done_before(run).map(str::to_owned).collect();
    let to_do = memory::subtasks(run).filter(|(key, _)| planned(key));
    let total = before.len() + to_do.count();
    let completed = [before, of(ItemStatus::Done)].concat();
    let percentage = (completed.len() * 100).checked_div(total).unwrap_or(0);
    Progress {
        percentage: u32::try_from(percentage).unwrap_or(100),
        failed: of(ItemStatus::Failed),
        current: memory::subtasks(run)
            .find(|(_, item)| item.status == ItemStatus::Active)
            .map(|(key, _)| key.to_owned()),
        remaining: of(ItemStatus::Open),
        completed,
        total,
    }
}

/// Attempts that a subtask has.
pub(crate) fn max_attempts(run: &RunState) -> u32 {
    memory::START
        .value(&run.kept)
        .and_then(|start| start.get("maxAttempts")?.as_u64())
        .and_then(|attempts| u32::try_from(attempts).ok())
        .unwrap_or(0)
}
