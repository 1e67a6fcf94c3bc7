//! What a caller may ask of a run, and the facts that a decision rests on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::approval::{Approval, Strength};
use crate::definition::FieldType;
use crate::state::RunState;
use crate::trigger::Trigger;

/// One thing asked of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Begin a run.
    Start(Box<Start>),
    /// Answer a work unit.
    Report(Report),
    /// One step back, by the present state's own rule.
    Reopen {
        /// The item that is meant; the present one if absent.
        item: Option<String>,
        /// Why.
        reason: String,
        /// What else the definition may look at, such as `maxIterations`.
        flags: Map<String, Value>,
        /// The person's word, where one is needed.
        approval: Option<Box<Approval>>,
    },
    /// Take the one transition that the run can take now.
    Step,
    /// Open a gate, or send back what stands before it.
    Decide(Box<GateDecision>),
    /// Give the present item up.
    Skip {
        /// The item that is meant; the present one if absent.
        item: Option<String>,
        /// Why.
        reason: String,
        /// What to keep in the run's memory.
        keep: Map<String, Value>,
        /// The person's word, where somebody was asked.
        approval: Option<Box<Approval>>,
    },
    /// Let one policy refusal pass for the present unit.
    Allow {
        /// The policy.
        code: String,
        /// Why.
        reason: String,
        /// The person's word.
        approval: Option<Box<Approval>>,
    },
    /// Set what the definition leaves open to callers: all of it, or nothing.
    Edit {
        /// What to set, in this order.
        edits: Vec<Edit>,
        /// What to keep in the run's memory.
        keep: Map<String, Value>,
    },
    /// Stop taking reports.
    Pause {
        /// Why.
        reason: String,
        /// The person's word, where somebody was asked.
        approval: Option<Box<Approval>>,
    },
    /// Go on.
    Resume {
        /// The person's word, where one is needed.
        approval: Option<Box<Approval>>,
    },
    /// End the run.
    Abort {
        /// The person's word, where one is needed.
        approval: Option<Box<Approval>>,
        /// What else the definition may look at, such as `cleanup`.
        flags: Map<String, Value>,
    },
    /// Have done with what the run made what the present state says, also where that is an end.
    Send {
        /// One of [`Trigger::AFTER_THE_END`].
        trigger: Trigger,
        /// What else the definition and its effects may look at.
        flags: Map<String, Value>,
        /// The person's word, where somebody was asked.
        approval: Option<Box<Approval>>,
    },
    /// Take the run back to where it stood behind an event of its journal.
    Rewind {
        /// The number of the event.
        to: u64,
        /// Why.
        reason: String,
        /// What else the definition and its effects may look at.
        flags: Map<String, Value>,
        /// The person's word, where one is needed.
        approval: Option<Box<Approval>>,
    },
    /// Take what the run works on as it is by now: items in progress begin again on it.
    Adopt {
        /// Why.
        reason: String,
        /// What to keep in the run's memory.
        keep: Map<String, Value>,
        /// Finished items of which nothing is left there: they are done again.
        again: Vec<String>,
    },
    /// The effect under way came out.
    EffectDone {
        /// What it gave.
        result: Value,
        /// What to keep in the run's memory.
        keep: Map<String, Value>,
        /// The files that it wrote.
        artifacts: Vec<Artifact>,
    },
    /// The effect under way failed, and the world is as before.
    EffectFailed {
        /// Stable code.
        code: String,
        /// What happened.
        message: String,
        /// What to do.
        suggestion: Option<String>,
        /// What to keep in the run's memory.
        keep: Map<String, Value>,
    },
}

/// One thing that a caller sets.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// A var.
    Var {
        /// Its name.
        name: String,
        /// Its value; of a cursor the key of the item, or null for none.
        value: Value,
    },
    /// All items of a set. What is known already stays where it stands.
    Items {
        /// The set.
        set: String,
        /// Its items.
        items: Vec<Map<String, Value>>,
    },
    /// Fields of an item.
    Item {
        /// The set.
        set: String,
        /// The item's key.
        key: String,
        /// The fields.
        fields: Map<String, Value>,
    },
    /// One item more.
    Add {
        /// The set.
        set: String,
        /// Its fields.
        item: Map<String, Value>,
    },
    /// An item that is to be run again: it stands where a new one does. One of a wave that is over comes into another one.
    Reopen {
        /// The set.
        set: String,
        /// The item's key.
        key: String,
        /// Fields that change with it.
        fields: Map<String, Value>,
        /// Whether it is to be run behind all waves that are begun, and so leaves the one in hand, with what there needs it.
        later: bool,
    },
    /// An item that is given up: what needs it is blocked.
    Skip {
        /// The set.
        set: String,
        /// The item's key.
        key: String,
        /// Fields that change with it.
        fields: Map<String, Value>,
    },
}

/// What a run begins with.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Start {
    /// Id of the run.
    pub run: String,
    /// SHA-256 of the definition's text, in hexadecimal.
    pub definition_hash: String,
    /// The definition's text.
    pub definition: String,
    /// Arguments.
    pub inputs: Map<String, Value>,
    /// The section of the settings that guards see as `config`.
    pub config: Value,
    /// All settings, kept as they were at the start.
    pub settings: Value,
    /// SHA-256 of the settings.
    pub policy_hash: String,
    /// Severity of each policy.
    pub policies: BTreeMap<String, Severity>,
    /// Who started it.
    pub actor: String,
    /// The run's memory at the beginning.
    pub keep: Map<String, Value>,
    /// What item sets are filled with, as the resources of the run have it: the fields of each item.
    pub items: Vec<(String, Vec<Map<String, Value>>)>,
    /// The least that stands behind a decision of a person in this run.
    pub approvals: Strength,
}

/// The answer to a work unit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// The unit it names.
    pub unit: Option<String>,
    /// The state it means, or the name under which its work is reported, where no unit is named.
    pub state: Option<String>,
    /// The item it means, where no unit is named.
    pub item: Option<String>,
    /// Hash of all that was reported: the very same report has the same one.
    pub digest: String,
    /// Flags that guards see as `command`.
    pub flags: Map<String, Value>,
    /// The person's word, where somebody was asked.
    pub approval: Option<Box<Approval>>,
}

/// What somebody decided at a gate. It holds for what was looked at, and for nothing else.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GateDecision {
    /// The gate.
    pub gate: String,
    /// The state behind it.
    pub state: String,
    /// The round that was looked at, where the definition counts them.
    pub round: Option<i64>,
    /// SHA-256 of what was looked at.
    pub hash: String,
    /// What was decided.
    pub choice: Choice,
    /// What is to be done otherwise; not blank where the choice is to reject.
    pub feedback: String,
    /// The person's word.
    pub approval: Option<Box<Approval>>,
    /// Files that were looked at and are not as they were recorded: what is approved is recorded anew.
    pub changed: Vec<Artifact>,
    /// What to keep of them in the run's memory, where the choice is to approve.
    pub keep: Map<String, Value>,
}

/// What can be decided at a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Choice {
    /// The gate opens.
    #[default]
    Approve,
    /// What stands before it is made anew.
    Reject,
}

impl Choice {
    /// The word for it in events, statements and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
        }
    }
}

/// A file that was written or taken in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
pub struct Artifact {
    /// Where it stands in the run's folder, with `/`.
    pub path: String,
    /// SHA-256 of its content.
    pub sha256: String,
    /// The state that it belongs to.
    pub state: String,
    /// The round, where the definition counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iteration: Option<i64>,
}

/// Which of a work state's files are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Present {
    /// The prompt.
    pub prompt: bool,
    /// The response.
    pub response: bool,
}

/// What the outside world says. Times and hashes arrive here, never from a clock or a file.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The time of the decision: UTC, RFC 3339, milliseconds.
    pub now: String,
    /// What the reader found in a report: the first reading of a decision.
    pub reading: Option<Reading>,
    /// The readings after the first, in the order in which they were asked for: a report may lead
    /// through states that read for themselves.
    pub further: Vec<Reading>,
    /// The intent of the effect that was asked for last.
    pub prepared: Option<Prepared>,
    /// Which files of the present state are there.
    pub present: Option<Present>,
    /// What stands before gates: gate → SHA-256.
    pub subjects: BTreeMap<String, String>,
    /// The run as it was behind the event that was asked for.
    pub past: Option<Box<RunState>>,
}

/// What a reader found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// What guards see under the reader's name.
    pub facts: Map<String, Value>,
    /// What policies are about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// To keep with the token until its item is over.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub keep: Map<String, Value>,
    /// To keep in the run's memory.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub keep_run: Map<String, Value>,
    /// Hashes of the bytes taken in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// Level of the evidence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub level: String,
    /// Warnings that are no policy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Files that were taken in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
}

/// One thing that a policy is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Name of the policy.
    pub policy: String,
    /// What was found.
    pub message: String,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// What it was about.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

/// How much a finding counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Not at all.
    Off,
    /// It is said.
    Warn,
    /// The report is refused.
    Refuse,
    /// The run pauses.
    Pause,
}

impl Severity {
    /// Its name in the settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Warn => "warn",
            Self::Refuse => "refuse",
            Self::Pause => "pause",
        }
    }
}

/// An effect whose intent is known: nothing has changed yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// Name of the effect.
    pub effect: String,
    /// What it is going to do: all that is needed to do it, or to see that it was done.
    pub what: Value,
}

/// The flag that names the event that a run is taken back to. No caller sets it.
pub const EVENT: &str = "event";

/// The flag that says how much stands behind what was sent, where a person was asked: the name of a [`Strength`]. No caller sets it.
pub const APPROVED: &str = "approved";

/// The flags of `command` that guards may look at, with the type of each. One that was not given is
/// empty.
pub fn command_flags() -> [(&'static str, FieldType); 7] {
    [
        (APPROVED, FieldType::String),
        ("cleanup", FieldType::Bool),
        ("draft", FieldType::Bool),
        ("item", FieldType::String),
        ("kind", FieldType::String),
        ("maxIterations", FieldType::Int),
        ("skipCoverage", FieldType::Bool),
    ]
}
