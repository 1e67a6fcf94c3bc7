//! The Rust part of a workflow: what its readers read, its effects do and its instructions say.

use rails::event::Domain;
use rails::state::Pending;
use rails::{Event, Reading, Refusal, RunState};
use serde_json::{Map, Value};

use crate::fault::Fault;

/// Why something could not be done: a rule that refuses, or a fault.
#[derive(Debug)]
pub enum No {
    /// Nothing moves, and that is an ordinary answer.
    Refused(Refusal),
    /// Something is broken.
    Fault(Fault),
}

impl From<Fault> for No {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Refusal> for No {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<project::git::GitError> for No {
    fn from(error: project::git::GitError) -> Self {
        Self::Fault(error.into())
    }
}

impl From<project::tasks::TaskError> for No {
    fn from(error: project::tasks::TaskError) -> Self {
        Self::Fault(error.into())
    }
}

/// What an effect came to.
#[derive(Debug)]
pub enum Outcome {
    /// It was carried out.
    Done {
        /// What expressions see as `result`.
        result: Value,
        /// What to keep in the run's memory.
        keep: Map<String, Value>,
    },
    /// It was not, and the world is as before.
    Failed {
        /// Stable code.
        code: String,
        /// What happened.
        message: String,
        /// What to do.
        suggestion: Option<String>,
    },
}

impl Outcome {
    /// Carried out, with nothing to tell.
    pub fn done() -> Self {
        Self::Done {
            result: Value::Null,
            keep: Map::new(),
        }
    }
}

/// What the world says of an effect that was under way when its process ended.
#[derive(Debug)]
pub enum Looked {
    /// It came out so.
    Settled(Outcome),
    /// It was not carried out, and can be.
    NotDone,
}

/// What a workflow brings along in Rust.
pub trait Support {
    /// Reads what a report, or the world, has to say.
    fn read(&self, reader: &str, run: &RunState, token: u32) -> Result<Reading, No>;

    /// Finds out what an effect is going to do. Changes nothing.
    fn prepare(
        &self,
        effect: &str,
        run: &RunState,
        token: u32,
        facts: &Map<String, Value>,
        flags: &Map<String, Value>,
    ) -> Result<Value, No>;

    /// Carries an effect out.
    fn perform(&self, run: &RunState, pending: &Pending) -> Result<Outcome, Fault>;

    /// Looks whether an effect was carried out by a process that is gone.
    fn look(&self, run: &RunState, pending: &Pending) -> Result<Looked, Fault>;

    /// The bytes that a unit's executor is given.
    fn context(
        &self,
        run: &RunState,
        token: u32,
        unit: &str,
        attempt: u32,
        max_attempts: Option<u32>,
    ) -> Result<Vec<u8>, Fault>;

    /// The fields of an event of the workflow's own; none where it did not come about after all.
    fn payload(
        &self,
        domain: &Domain,
        before: &RunState,
        after: &RunState,
        events: &[Event],
    ) -> Option<Map<String, Value>>;

    /// Writes what can be made anew from the journal: files for people and programs.
    fn derive(&self, run: &RunState, appended: &[Event]);
}
