//! What a run is: the fold of its events.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::approval::Strength;
use crate::command::{Choice, Severity};
use crate::definition::EndStatus;
use crate::event::{AcceptedReport, Read};
pub use crate::item_set::{Item, ItemSet, ItemStatus};
use crate::role::Role;
use crate::shared::Shared;
use crate::trigger::Trigger;

/// Number of the token that every run has.
pub const ROOT: u32 = 0;

/// A run, as its events made it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub struct RunState {
    /// Id of the run; empty before the first event.
    pub run: String,
    /// Id of its workflow.
    pub workflow: String,
    /// The view in which it is shown and driven.
    pub view: String,
    /// SHA-256 of the definition's text.
    pub definition_hash: String,
    /// Where it stands as a whole.
    pub status: RunStatus,
    /// Why it takes no reports, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<Pause>,
    /// Why it ended as it did, where somebody said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_reason: Option<String>,
    /// Arguments of the start.
    pub inputs: Map<String, Value>,
    /// What guards see as `config`.
    pub config: Shared<Value>,
    /// All settings, as they were at the start.
    pub settings: Shared<Value>,
    /// SHA-256 of the settings.
    pub policy_hash: String,
    /// Severity of each policy.
    pub policies: Shared<BTreeMap<String, Severity>>,
    /// Who started it.
    pub actor: String,
    /// Vars.
    pub vars: Map<String, Value>,
    /// Item sets.
    pub sets: IndexMap<String, ItemSet>,
    /// Positions in the graph; the first is the run's own.
    pub tokens: Vec<Token>,
    /// Number of the token that is opened next.
    pub next_token: u32,
    /// How often a unit was issued, by its id without the number.
    pub issues: Shared<BTreeMap<String, u32>>,
    /// The last report that was taken in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<AcceptedReport>,
    /// The effect under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<Pending>,
    /// Number of the effect that is intended next.
    pub next_effect: u64,
    /// The run's memory, for readers and effects.
    pub kept: Map<String, Value>,
    /// What was approved at gates, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<OpenedGate>,
    /// Attempts that were used up for items on ways that were taken back: set, key and state.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub spent: BTreeMap<String, BTreeMap<String, BTreeMap<String, u32>>>,
    /// The least that stands behind a decision of a person in this run.
    #[serde(default)]
    pub least_approval: Strength,
    /// How often the run's own token moved.
    #[serde(default)]
    pub transitions: u64,
    /// How often tokens went from each state to each other. A token begins at its first one from the empty name; work that was
    /// to be done once more went from its state to the same.
    #[serde(default, skip_serializing_if = "nobody_moved")]
    pub moves: Shared<BTreeMap<String, BTreeMap<String, u32>>>,
    /// How many files were recorded.
    #[serde(default)]
    pub artifacts: u64,
    /// Time of the first event.
    pub started_at: String,
    /// Time of the last event.
    pub updated_at: String,
    /// Time of the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
}

fn nobody_moved(moves: &BTreeMap<String, BTreeMap<String, u32>>) -> bool {
    moves.is_empty()
}

/// Where a run stands as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// It goes on.
    #[default]
    Running,
    /// It takes no reports until it is resumed.
    Paused,
    /// It reached its goal.
    Completed,
    /// It did not.
    Failed,
    /// It broke down.
    Error,
    /// It was called off from inside.
    Cancelled,
    /// It was called off from outside.
    Aborted,
}

impl RunStatus {
    /// Whether the run is over.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Running | Self::Paused)
    }

    /// Whether the run was called off: to abort it changes nothing.
    pub fn is_called_off(self) -> bool {
        matches!(self, Self::Aborted | Self::Cancelled)
    }

    /// The name used in files and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Error => "error",
            Self::Cancelled => "cancelled",
            Self::Aborted => "aborted",
        }
    }
}

impl From<EndStatus> for RunStatus {
    fn from(end: EndStatus) -> Self {
        match end {
            EndStatus::Completed => Self::Completed,
            EndStatus::Failed => Self::Failed,
            EndStatus::Error => Self::Error,
            EndStatus::Cancelled => Self::Cancelled,
            EndStatus::Aborted => Self::Aborted,
        }
    }
}

/// What was approved at a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenedGate {
    /// The gate.
    pub gate: String,
    /// The round, where the definition counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iteration: Option<i64>,
    /// SHA-256 of what was looked at.
    pub hash: String,
    /// How much stands behind it.
    #[serde(default)]
    pub strength: Strength,
}

/// Why a run takes no reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// The reason, a stable code or what a person said.
    pub reason: String,
    /// The token that brought it about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<u32>,
    /// More on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Whether only a person has the run go on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub person: bool,
}

/// A position in the graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Token {
    /// Its number.
    pub id: u32,
    /// The token of the `each` it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
    /// The item it carries: set and key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<(String, String)>,
    /// The state it stands at.
    pub state: String,
    /// The state that it left for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub came_from: Option<String>,
    /// Since when.
    pub entered_at: String,
    /// When the token was opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened_at: Option<String>,
    /// Why it came here, where somebody said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What somebody is asked to do there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// What the state is for, as the last unit that was issued there says it.
    #[serde(default, skip_serializing_if = "Role::is_empty")]
    pub role: Role,
    /// Attempts used up, by state.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attempts: BTreeMap<String, u32>,
    /// Where the way that nobody reported for stands, if some of its effects were carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<EffectAt>,
    /// The token's memory, for readers and effects.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub kept: Map<String, Value>,
}

impl Token {
    /// A token that has just come to `state`, at `at` (UTC, RFC 3339).
    pub(crate) fn new(id: u32, state: &str, at: &str) -> Self {
        Self {
            id,
            parent: None,
            item: None,
            state: state.to_owned(),
            came_from: None,
            entered_at: at.to_owned(),
            opened_at: Some(at.to_owned()),
            reason: None,
            unit: None,
            role: Role::default(),
            attempts: BTreeMap::new(),
            progress: None,
            kept: Map::new(),
        }
    }

    /// The phase it is in, by the name that people know.
    pub fn phase(&self) -> &str {
        self.role.phase.as_deref().unwrap_or(&self.state)
    }

    /// The key of its item.
    pub fn key(&self) -> Option<&str> {
        self.item.as_ref().map(|(_, key)| key.as_str())
    }
}

/// What somebody is asked to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Unit {
    /// Its id, never used twice in a run.
    pub id: String,
    /// Which attempt at the position, from 1.
    pub attempt: u32,
    /// How many there are, if there is a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
    /// When it was issued.
    pub issued_at: String,
    /// SHA-256 of its context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The name under which it is reported, where that is not the state's.
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Policies that a person let pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<String>,
}

/// The verdict on a report, as it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
pub struct Answer {
    /// Whether the report was accepted.
    pub validated: bool,
    /// What came next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Next>,
}

/// What comes next: a unit, or the status of a run that has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Next {
    /// Status of the run.
    pub status: RunStatus,
    /// The state that waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The phase it is shown as, where one is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Its item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// Its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The attempt, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// How many there are, if there is a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
}

/// Where in a definition an effect stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectAt {
    /// The state.
    pub state: String,
    /// What takes it, and so the list of edges.
    pub trigger: Trigger,
    /// The edge in that list.
    pub edge: usize,
    /// The effect on that edge.
    pub effect: usize,
}

/// An effect that is under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    /// Its number.
    pub effect: u64,
    /// Its name.
    pub name: String,
    /// The token on whose way it is.
    pub token: u32,
    /// Where it stands.
    pub at: EffectAt,
    /// What it is going to do.
    pub what: Value,
    /// When it was intended.
    pub since: String,
    /// The report that brought it about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Box<AcceptedReport>>,
    /// Flags of the command.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub flags: Map<String, Value>,
    /// Why, where somebody said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the state read for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Read>,
    /// What to keep in the run's memory when the token moves.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub keep: Map<String, Value>,
    /// What was decided, where a decision brought it about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Choice>,
}

impl RunState {
    /// Why it does not go on by itself: the reason of a pause, else the word of its status.
    pub fn stopped(&self) -> &str {
        match &self.pause {
            Some(pause) => &pause.reason,
            None => self.status.name(),
        }
    }

    /// The token with that number.
    pub fn token(&self, id: u32) -> Option<&Token> {
        self.tokens.iter().find(|token| token.id == id)
    }

    /// The state that the run's own token stands at; empty before the first event.
    pub fn state(&self) -> &str {
        self.tokens.first().map_or("", |token| token.state.as_str())
    }

    /// The tokens that wait for somebody, with their units.
    pub fn waiting(&self) -> impl Iterator<Item = (&Token, &Unit)> {
        self.tokens
            .iter()
            .filter_map(|token| token.unit.as_ref().map(|unit| (token, unit)))
    }

    /// The item that a token carries.
    pub fn item(&self, token: &Token) -> Option<&Item> {
        let (set, key) = token.item.as_ref()?;
        self.sets.get(set)?.get(key)
    }

    /// What comes next, for an answer.
    pub fn next(&self) -> Next {
        let waiting = if self.status == RunStatus::Running {
            self.waiting().next()
        } else {
            None
        };
        Next {
            status: self.status,
            state: waiting.map(|(token, _)| token.state.clone()),
            phase: waiting.and_then(|(token, _)| token.role.phase.clone()),
            item: waiting.and_then(|(token, _)| token.key().map(str::to_owned)),
            unit: waiting.map(|(_, unit)| unit.id.clone()),
            attempt: waiting.map(|(_, unit)| unit.attempt),
            max_attempts: waiting.and_then(|(_, unit)| unit.max_attempts),
        }
    }

    /// Whether a unit of that id was issued at some time.
    pub fn was_issued(&self, unit: &str) -> bool {
        if self.issues.contains_key(unit) {
            return true;
        }
        let Some((base, number)) = unit.rsplit_once('-') else {
            return false;
        };
        number.parse::<u32>().is_ok_and(|n| {
            // Written as the engine writes it: `2`, never `02` or `+2`.
            n >= 2
                && n.to_string() == number
                && self.issues.get(base).is_some_and(|issued| *issued >= n)
        })
    }

    /// The key of the item that a var points at, where it is a cursor that points at one.
    pub fn pointed_at(&self, cursor: &str) -> Option<&str> {
        let key = self.vars.get(cursor)?.as_str()?;
        (!key.is_empty()).then_some(key)
    }
}
