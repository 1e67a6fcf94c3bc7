//! What comes next in a run: one answer, whose fields a view names.

pub(crate) mod next;
pub(crate) mod status;

use std::path::PathBuf;

use machine::Role;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::gate::ClosedGate;
use crate::report::Meaning;
use crate::view::View;

/// The next thing to do in a run. In answers about something else it has no context and no preconditions, names its item alone,
/// and has instructions only where something new is asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub struct Action {
    /// The view whose names and fields its JSON has.
    #[serde(skip)]
    pub view: &'static View,
    /// What sort of thing it is.
    pub action: ActionKind,
    /// The phase of the unit, in lower case; of a run over a task alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The report that the unit waits for, where it is one of tests or of a commit.
    #[serde(skip)]
    pub report: Option<Meaning>,
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
    #[serde(flatten)]
    pub gate: Option<ClosedGate>,
    /// The code of what stands against the next step, where something does that only a step tells more of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<String>,
    /// The file to put back, where one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<PathBuf>,
    /// How the run ended, when it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Why the run is paused, when it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_reason: Option<String>,
    /// The message that the pause came with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_message: Option<String>,
    /// Whether a person has it go on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub needs_person: bool,
    /// Facts about the project for this unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Map<String, Value>>,
    /// What must hold before the work begins.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preconditions: Vec<Precondition>,
    /// The steps that lead on from here, the best one first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next_steps: Vec<String>,
}

/// What sort of thing comes next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ActionKind {
    /// A work unit is to be done and reported.
    #[default]
    Work,
    /// A gate is closed: a person decides.
    Decide,
    /// A step has to be asked for.
    Step,
    /// A recorded file was changed or is gone, and has to be put back.
    Restore,
    /// The run is paused.
    Paused,
    /// The run is over.
    Complete,
}

impl ActionKind {
    /// It in a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Decide => "decide",
            Self::Step => "step",
            Self::Restore => "restore",
            Self::Paused => "paused",
            Self::Complete => "complete",
        }
    }
}

/// A work unit that waits for a report.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenUnit {
    /// Its id, to name in the report.
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
    /// The outcomes that the state's guards tell apart. Where its last edge takes any, others are accepted too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<String>,
    /// The file that asks for it, where there is one: in the run's folder; beside instructions an absolute path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The file that the answer is waited for in, where it is, likewise; a step reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// What to do. Of very many units only the first few have them: those come first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The step that reports it.
    #[serde(skip)]
    pub report: String,
}

/// A condition that must hold before the work begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Precondition {
    /// Stable name.
    pub id: String,
    /// Whether it holds; null where that was not checked.
    pub holds: Option<bool>,
    /// What it means here.
    pub detail: String,
}

impl Meaning {
    /// What is reported in a role; none where a run over a task has no command of its own for it.
    pub(crate) fn of(role: &Role) -> Option<Self> {
        match role.reader.as_str() {
            "tests" if role.suite.is_some() => Some(Self::Suite),
            "tests" => Some(Self::Tests),
            "commit" => Some(Self::Commit),
            _ => None,
        }
    }
}

impl Action {
    /// An action without anything to do.
    pub(crate) fn new(view: &'static View, run_id: &str, workflow: &str) -> Self {
        Self {
            view,
            run_id: run_id.to_owned(),
            workflow: workflow.to_owned(),
            ..Self::default()
        }
    }

    /// The unit that waits, by its id.
    pub fn unit_id(&self) -> Option<&str> {
        self.unit.as_ref().map(|unit| unit.unit_id.as_str())
    }

    /// The instructions of the unit that waits.
    pub fn instructions(&self) -> Option<&str> {
        self.unit.as_ref()?.instructions.as_deref()
    }

    /// It in a word: the phase, else what sort of thing it is.
    pub fn name(&self) -> &str {
        self.phase.as_deref().unwrap_or(self.action.name())
    }

    /// Whether the run is paused.
    pub fn is_paused(&self) -> bool {
        self.action == ActionKind::Paused
    }
}

impl Serialize for Action {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.view
            .write(|json| Self::serialize(self, json), serializer)
    }
}

impl OpenUnit {
    /// The key of its item, where it has one.
    pub fn key(&self) -> Option<&str> {
        self.item.as_ref()?.values().next()?.as_str()
    }

    /// The title of its item, where it has one that says more than its key.
    pub fn title(&self) -> Option<&str> {
        let title = self.item.as_ref()?.get("title")?.as_str()?;
        (!title.is_empty() && Some(title) != self.key()).then_some(title)
    }

    /// Its name for people: the label, or the state.
    pub fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.state)
    }
}
