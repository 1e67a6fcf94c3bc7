//! The Rust part of a workflow: what its readers read, its effects do and its instructions say.

use machine::command::{Artifact, Present};
use machine::decide::PromptRequest;
use machine::event::{AcceptedReport, Domain};
use machine::state::{EffectAt, Pending};
use machine::{Event, Reading, Refusal, Role, RunState};
use serde_json::{Map, Value, json};

use crate::fault::Fault;

/// Why something could not be done: a rule that refuses, or a fault.
#[derive(Debug)]
pub enum HandlerError {
    /// Nothing moves, and that is an ordinary answer.
    Refused(Refusal),
    /// Something is broken.
    Fault(Fault),
}

impl From<Fault> for HandlerError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Refusal> for HandlerError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<workspace::git::GitError> for HandlerError {
    fn from(error: workspace::git::GitError) -> Self {
        Self::Fault(error.into())
    }
}

impl From<workspace::tasks::TaskError> for HandlerError {
    fn from(error: workspace::tasks::TaskError) -> Self {
        Self::Fault(error.into())
    }
}

/// The code of the fault that a template cannot be rendered.
pub const BAD_TEMPLATE: &str = "bad_template";

/// What an effect came to.
#[derive(Debug)]
pub enum Outcome {
    /// It was carried out.
    Done {
        /// What expressions see as `result`.
        result: Value,
        /// What to keep in the run's memory.
        keep: Map<String, Value>,
        /// The files of the run's folder that it wrote.
        artifacts: Vec<Artifact>,
    },
    /// It was not, and the world is as before.
    Failed {
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

impl Outcome {
    /// Carried out, with nothing to tell.
    pub fn done() -> Self {
        Self::Done {
            result: Value::Null,
            keep: Map::new(),
            artifacts: Vec::new(),
        }
    }

    /// Not carried out, because a rule stands against it.
    pub fn of_refusal(refusal: Refusal) -> Self {
        Self::Failed {
            message: refusal.message.unwrap_or_else(|| refusal.code.clone()),
            code: refusal.code,
            suggestion: refusal.suggestion,
            keep: Map::new(),
        }
    }

    /// Not carried out, because of `fault`.
    pub fn failed(fault: Fault) -> Self {
        Self::Failed {
            code: fault.code,
            message: fault.message,
            suggestion: Some(fault.suggestion).filter(|text| !text.is_empty()),
            keep: Map::new(),
        }
    }
}

/// An effect that is asked for.
#[derive(Debug)]
pub struct EffectRequest<'a> {
    /// Its name.
    pub effect: &'a str,
    /// The token on whose way it is.
    pub token: u32,
    /// What was reported, or read.
    pub facts: &'a Map<String, Value>,
    /// Flags of the command.
    pub flags: &'a Map<String, Value>,
    /// Where in the definition it stands.
    pub at: &'a EffectAt,
    /// What its edge tells it.
    pub with: &'a Map<String, Value>,
}

/// What the world says of an effect that was under way when its process ended.
#[derive(Debug)]
pub enum EffectState {
    /// It came out so.
    Settled(Outcome),
    /// It was not carried out, and can be.
    NotDone,
}

/// What was reported last, by its hash: what a gate of a run without files stands behind.
pub(crate) fn reported(run: &RunState) -> String {
    let last = run.last.as_ref();
    let mut told = last.map_or_else(String::new, |last| last.digest.clone());
    // A response that was taken in from a file is known by its bytes.
    for sha256 in last.iter().flat_map(|last| &last.evidence) {
        told.push_str(sha256);
    }
    journal::sha256_hex(told.as_bytes())
}

/// An event that a workflow emits, in the decision in which it comes about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Emitted<'a> {
    /// The event.
    pub(crate) domain: &'a Domain,
    /// The run before.
    pub(crate) before: &'a RunState,
    /// The run after.
    pub(crate) after: &'a RunState,
    /// All that comes about together.
    pub(crate) events: &'a [Event],
}

impl<'a> Emitted<'a> {
    /// The report that led to it.
    pub(crate) fn report(self) -> Option<&'a AcceptedReport> {
        self.events.iter().find_map(|event| match event {
            Event::ReportAccepted(report) | Event::ReportRetried(report) => Some(report.as_ref()),
            _ => None,
        })
    }

    /// The item that it is about.
    pub(crate) fn item(self) -> Option<&'a str> {
        self.domain.item.as_deref()
    }

    /// What every event of a workflow's own is told with.
    pub(crate) fn plain(self) -> Map<String, Value> {
        object(json!({
            "state": self.domain.state,
            "item": self.domain.item,
            "workflow": self.after.workflow,
        }))
    }
}

/// The fields that are there.
pub(crate) fn object(value: Value) -> Map<String, Value> {
    let Value::Object(mut map) = value else {
        return Map::new();
    };
    map.retain(|_, value| !value.is_null());
    map
}

/// What a workflow brings along in Rust.
pub trait Support {
    /// Reads what a report, or the world, has to say.
    fn read(&self, role: &Role, run: &RunState, token: u32) -> Result<Reading, HandlerError>;

    /// Finds out what an effect is going to do; `run` has the values that its edge sets before it. Changes nothing that
    /// counts: what is staged for it may stay behind.
    fn prepare(&self, asked: &EffectRequest<'_>, run: &RunState) -> Result<Value, HandlerError>;

    /// Carries an effect out.
    fn perform(&self, run: &RunState, pending: &Pending) -> Result<Outcome, Fault>;

    /// Looks whether an effect was carried out by a process that is gone.
    fn look(&self, run: &RunState, pending: &Pending) -> Result<EffectState, Fault>;

    /// Which files of the state that the token stands at are there.
    fn present(&self, run: &RunState, token: u32) -> Result<Present, Fault> {
        let _ = (run, token);
        Ok(Present::default())
    }

    /// The SHA-256 of what stands before a gate now.
    fn subject(&self, gate: &str, run: &RunState, token: u32) -> Result<String, HandlerError> {
        let _ = (gate, token);
        Ok(reported(run))
    }

    /// The bytes that a unit's executor is given.
    /// Where its template could not be rendered, and the run has to go on nevertheless, `broken` says why.
    fn context(
        &self,
        asked: &PromptRequest,
        run: &RunState,
        broken: Option<&Fault>,
    ) -> Result<Vec<u8>, Fault>;

    /// Whether what a unit of this state is told goes into the journal with it. That takes no flush of its own, and is for a few
    /// hundred bytes; what is longer is kept as evidence.
    fn tells_in_journal(&self, state: &str) -> bool {
        let _ = state;
        false
    }

    /// The fields of an event of the workflow's own; none where it did not come about after all.
    fn payload(
        &self,
        domain: &Domain,
        before: &RunState,
        after: &RunState,
        events: &[Event],
    ) -> Option<Map<String, Value>>;

    /// Puts the files into their places that the events speak of, as far as nothing did before. They are journalled: what
    /// cannot be written is told, and written by whoever goes on.
    fn place(&self, run: &RunState, appended: &[Event]) -> Result<(), Fault> {
        let _ = (run, appended);
        Ok(())
    }

    /// Writes what can be made anew from the journal: files for people and programs.
    fn derive(&self, run: &RunState, appended: &[Event]);
}

/// A refusal with a code, a message and a suggestion.
pub(crate) fn refusal(
    code: &str,
    message: impl Into<String>,
    suggestion: impl Into<String>,
) -> Refusal {
    Refusal::new(code).message(message).suggestion(suggestion)
}
