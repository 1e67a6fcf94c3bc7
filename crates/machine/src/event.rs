//! Events: what happened. The journal is a list of these, and the state is their fold.

mod fields;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::approval::{Approval, Strength};
use crate::command::{Artifact, Choice, Finding, Severity};
use crate::role::Role;
use crate::state::{Answer, EffectAt, ItemStatus, RunState, RunStatus};
use crate::trigger::Trigger;

/// One thing that happened to a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all_fields = "camelCase")]
pub enum Event {
    /// The run began.
    #[serde(rename = "run:created")]
    RunCreated {
        /// Its id.
        run: String,
        /// Id of the workflow.
        workflow: String,
        /// The view that its definition names.
        view: String,
        /// Text of the definition.
        definition: String,
        /// SHA-256 of that text.
        definition_hash: String,
        /// Arguments.
        inputs: Map<String, Value>,
        /// Vars at the beginning.
        vars: Map<String, Value>,
        /// What guards see as `config`.
        config: Value,
        /// All settings, pinned.
        settings: Value,
        /// Their SHA-256.
        policy_hash: String,
        /// Severity of each policy.
        policies: BTreeMap<String, Severity>,
        /// Who started it.
        actor: String,
        /// The least that stands behind a decision of a person.
        #[serde(default)]
        approvals: Strength,
        /// The run's memory at the beginning.
        keep: Map<String, Value>,
    },
    /// An item set was filled.
    #[serde(rename = "items:loaded")]
    ItemsLoaded {
        /// The set.
        set: String,
        /// Its items.
        items: Vec<NewItem>,
    },
    /// One item more.
    #[serde(rename = "item:added")]
    ItemAdded {
        /// The set.
        set: String,
        /// The item.
        #[serde(flatten)]
        item: NewItem,
    },
    /// An item's fields changed.
    #[serde(rename = "item:changed")]
    ItemChanged {
        /// The set.
        set: String,
        /// The item's key.
        key: String,
        /// The fields that changed.
        fields: Map<String, Value>,
        /// Where it stands now, where that changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<ItemStatus>,
        /// Why, where somebody said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// An item has a token now.
    #[serde(rename = "token:opened")]
    TokenOpened {
        /// Number of the token.
        token: u32,
        /// The token of the `each`.
        parent: u32,
        /// The set.
        set: String,
        /// The item's key.
        key: String,
        /// The nested state it begins in.
        state: String,
    },
    /// An item's token is over.
    #[serde(rename = "token:closed")]
    TokenClosed {
        /// Number of the token.
        token: u32,
        /// The item's key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        item: Option<String>,
        /// Whether the item is done, or skipped.
        done: bool,
        /// Whether it is left as it was, because the run ended around it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        left: bool,
    },
    /// A token moved.
    #[serde(rename = "state:entered")]
    StateEntered {
        /// The token.
        token: u32,
        /// Where it was.
        from: String,
        /// Where it is.
        to: String,
        /// The item that it carries.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        item: Option<String>,
        /// What moved it.
        cause: Trigger,
        /// Vars that were set on the way.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        set: Map<String, Value>,
        /// What to keep in the run's memory.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        keep: Map<String, Value>,
        /// Why, where somebody said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The round that the run is in from here on, where its definition counts them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        iteration: Option<i64>,
        /// A note of the definition's on the transition.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outcome: Option<String>,
        /// What was decided, where a decision moved the token.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision: Option<Choice>,
    },
    /// Vars were set without a transition.
    #[serde(rename = "vars:changed")]
    VarsChanged {
        /// Their values.
        values: Map<String, Value>,
        /// What to keep in the run's memory.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        keep: Map<String, Value>,
    },
    /// Somebody is asked to do something.
    #[serde(rename = "unit:issued")]
    UnitIssued {
        /// Id of the unit.
        unit: String,
        /// The id without the number of the issue.
        base: String,
        /// The token.
        token: u32,
        /// The state.
        state: String,
        /// Which attempt at the position this is, from 1.
        attempt: u32,
        /// How many there are, if there is a limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_attempts: Option<u32>,
        /// SHA-256 of the unit's context.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<String>,
        /// The name under which it is reported, where that is not the state's.
        #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The item, where it is one's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        item: Option<String>,
        /// What the state is for.
        #[serde(default, skip_serializing_if = "Role::is_empty")]
        role: Role,
    },
    /// A report was accepted.
    #[serde(rename = "report:accepted")]
    ReportAccepted(Box<AcceptedReport>),
    /// A report was taken, and an attempt used up.
    #[serde(rename = "report:retried")]
    ReportRetried(Box<AcceptedReport>),
    /// The engine is about to do something.
    #[serde(rename = "effect:intended")]
    EffectIntended {
        /// Number of the effect in this run.
        effect: u64,
        /// Its name.
        name: String,
        /// The token on whose way it is.
        token: u32,
        /// Where in the definition it stands.
        at: EffectAt,
        /// All that is needed to do it, or to see that it was done.
        what: Value,
        /// What brought it about: facts and flags for the guards that come after it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        report: Option<Box<AcceptedReport>>,
        /// Flags of the command.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        flags: Map<String, Value>,
        /// Why, where somebody said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// What the state read for itself, for the expressions that come after the effect.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        read: Option<Read>,
        /// What to keep in the run's memory when the token moves.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        keep: Map<String, Value>,
        /// What was decided, where a decision brought it about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision: Option<Choice>,
    },
    /// It did it.
    #[serde(rename = "effect:done")]
    EffectDone {
        /// Number of the effect.
        effect: u64,
        /// Its name.
        name: String,
        /// What came out.
        result: Value,
        /// What to keep in the run's memory.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        keep: Map<String, Value>,
    },
    /// It failed, and the world is as before.
    #[serde(rename = "effect:failed")]
    EffectFailed {
        /// Number of the effect.
        effect: u64,
        /// Its name.
        name: String,
        /// Stable code.
        code: String,
        /// What happened.
        message: String,
        /// What to keep in the run's memory.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        keep: Map<String, Value>,
    },
    /// A file was written or taken in.
    #[serde(rename = "artifact:recorded")]
    ArtifactRecorded(Artifact),
    /// Somebody decided at a gate.
    #[serde(rename = "decision:made")]
    DecisionMade {
        /// The gate.
        gate: String,
        /// The state behind it.
        state: String,
        /// The round.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        iteration: Option<i64>,
        /// SHA-256 of what was looked at.
        hash: String,
        /// What was decided.
        choice: Choice,
        /// What is to be done otherwise.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        feedback: String,
        /// The person's word.
        approval: Approval,
        /// What to keep in the run's memory of what was changed by hand and approved as it is.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        keep: Map<String, Value>,
    },
    /// A person let a refusal pass.
    #[serde(rename = "refusal:allowed")]
    RefusalAllowed {
        /// The unit it holds for.
        unit: String,
        /// The policy.
        code: String,
        /// Why.
        reason: String,
        /// The person's word.
        approval: Approval,
    },
    /// A person had the run go on, or end, or did what anybody may do: what follows in the same unit is by their word.
    #[serde(rename = "approval:given")]
    ApprovalGiven {
        /// `resume`, `reopen`, `rewind` or `abort`; or one of [`Approval::OF_ANYBODY`].
        what: String,
        /// The state that the run stood in.
        state: String,
        /// Why it had stopped, or how it stood.
        stopped: String,
        /// Why, where that was said.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
        /// What else was decided with it.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        flags: Map<String, Value>,
        /// The person's word.
        approval: Approval,
    },
    /// The run takes no reports.
    #[serde(rename = "run:paused")]
    RunPaused {
        /// Why.
        reason: String,
        /// The token that brought it about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<u32>,
        /// More on it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// Whether only a person has it go on.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        person: bool,
    },
    /// It goes on.
    #[serde(rename = "run:resumed")]
    RunResumed {
        /// The position that got a fresh set of attempts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grants: Option<Grant>,
    },
    /// It is as it was before.
    #[serde(rename = "run:rewound")]
    RunRewound {
        /// The number of the event that it is to stand behind again.
        to: u64,
        /// The run as it was then, without what never changes.
        state: Box<RunState>,
        /// Why, where somebody said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The position that got a fresh set of attempts: all others are as used up as they were.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grants: Option<Grant>,
    },
    /// It is over.
    #[serde(rename = "run:ended")]
    RunEnded {
        /// How.
        status: RunStatus,
        /// Why, where somebody said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Something that people and programs like to follow; it changes no state.
    #[serde(skip)]
    Domain(Domain),
}

/// An item that comes into a set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NewItem {
    /// Its key.
    pub key: String,
    /// All its fields, the key among them.
    pub fields: Map<String, Value>,
    /// Where it stands, if it is begun already.
    #[serde(default, skip_serializing_if = "ItemStatus::is_open")]
    pub status: ItemStatus,
}

/// What a state that nobody reports to found for itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
pub struct Read {
    /// Name of the reader, and so of the facts.
    pub reader: String,
    /// What it found.
    pub facts: Map<String, Value>,
    /// Files that were taken in with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
}

/// A fresh set of attempts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The token.
    pub token: u32,
    /// The state.
    pub state: String,
}

/// An event of the workflow's own, named by its definition.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Domain {
    /// Its name, `noun:verb`.
    pub name: String,
    /// The item it is about.
    pub item: Option<String>,
    /// The state in which it came about.
    pub state: String,
    /// Its fields, filled in by the workflow's view.
    pub fields: Map<String, Value>,
}

/// A report that was taken in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub struct AcceptedReport {
    /// The unit it answered.
    pub unit: String,
    /// The token.
    pub token: u32,
    /// The state.
    pub state: String,
    /// The name under which it was reported, where that is not the state's.
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// What it was for, with the name of the reader, and so of the facts.
    #[serde(default, skip_serializing_if = "Role::is_empty")]
    pub role: Role,
    /// Level of the evidence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub level: String,
    /// What was reported.
    pub facts: Map<String, Value>,
    /// What policies had to say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Hashes of the bytes taken in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// Hash of all that was reported.
    pub digest: String,
    /// Codes of warnings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Code of the retry verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Whether the position had an attempt to lose.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub attempt_used: bool,
    /// To keep with the token.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub keep: Map<String, Value>,
    /// To keep in the run's memory.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub keep_run: Map<String, Value>,
    /// Files that were taken in with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// The verdict, so that the same report gets the same answer again.
    pub answer: Answer,
}

impl AcceptedReport {
    /// What the reader says of it that was found under a code, or led to one.
    pub fn message(&self, code: &str) -> Option<&str> {
        let mut findings = self.findings.iter();
        let found = findings.find(|finding| finding.policy == code)?;
        Some(&found.message)
    }

    /// What the reader says is to be done about it.
    pub fn suggestion(&self, code: &str) -> Option<&str> {
        let findings = self.findings.iter();
        let mut found = findings.filter(|finding| finding.policy == code);
        found.find_map(|finding| finding.suggestion.as_deref())
    }

    /// The reader that read it; empty where none did.
    pub fn reader(&self) -> &str {
        &self.role.reader
    }

    /// The phase that the state is shown as.
    pub fn phase(&self) -> &str {
        self.role.phase.as_deref().unwrap_or(&self.state)
    }
}

/// A token's move in the making.
pub(crate) struct Entered;

impl Entered {
    /// A move with nothing to tell of it.
    pub(crate) fn plainly(token: u32, from: &str, to: &str, cause: Trigger) -> Event {
        Event::StateEntered {
            token,
            from: from.to_owned(),
            to: to.to_owned(),
            item: None,
            cause,
            set: Map::new(),
            keep: Map::new(),
            reason: None,
            iteration: None,
            outcome: None,
            decision: None,
        }
    }
}
