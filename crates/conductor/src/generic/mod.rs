//! Runs of any workflow by the generic verbs: start, next, report, status, step, and the turns.
//!
//! A definition that needs nothing of `tdd`'s hands is run by `Plain`: its reports bring an outcome or
//! counts of tests, and nothing outside the run's folder is touched. One that works on a task's branch is
//! run by `tdd`'s own hands, and answers in the same shape.

pub mod answer;
mod begin;
mod choose;
mod context;
mod derived;
mod hand;
pub(crate) mod hands;
mod inputs;
mod look;
mod on_task;
mod readers;
mod report;
pub mod request;
pub(crate) mod run_report;
pub(crate) mod templates;
mod turn;
mod units;
pub(crate) mod view;
mod words;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use project::config::Config;
use rails::event::Domain;
use rails::state::Pending;
use rails::{Definition, Event, Reading, RunState};
use serde_json::{Map, Value, json};

use crate::fault::Fault;
use crate::support::{Looked, No, Outcome, Support};
use readers::Given;

/// The hands and eyes of a workflow that has none of its own, during one call.
#[derive(Debug)]
pub(crate) struct Plain<'a> {
    /// The project.
    pub(crate) root: &'a Path,
    /// The run's folder.
    pub(crate) dir: PathBuf,
    /// The definition that the run is pinned to.
    pub(crate) definition: Arc<Definition>,
    /// The settings that it is pinned to.
    pub(crate) pinned: Config,
    /// What the call brought along.
    pub(crate) given: Given,
}

impl Support for Plain<'_> {
    fn read(&self, reader: &str, run: &RunState, token: u32) -> Result<Reading, No> {
        readers::read(self, reader, run, token)
    }

    fn prepare(
        &self,
        effect: &str,
        _: &RunState,
        _: u32,
        _: &Map<String, Value>,
        _: &Map<String, Value>,
    ) -> Result<Value, No> {
        Err(no_effect(effect).into())
    }

    fn perform(&self, _: &RunState, pending: &Pending) -> Result<Outcome, Fault> {
        Err(no_effect(&pending.name))
    }

    fn look(&self, _: &RunState, pending: &Pending) -> Result<Looked, Fault> {
        Err(no_effect(&pending.name))
    }

    fn context(
        &self,
        run: &RunState,
        token: u32,
        unit: &str,
        attempt: u32,
        max_attempts: Option<u32>,
    ) -> Result<Vec<u8>, Fault> {
        let asked = context::Asked {
            unit,
            attempt,
            max_attempts,
        };
        context::build(self, run, token, &asked)
    }

    fn payload(
        &self,
        domain: &Domain,
        _: &RunState,
        after: &RunState,
        _: &[Event],
    ) -> Option<Map<String, Value>> {
        let mut fields = Map::new();
        fields.insert("state".to_owned(), json!(domain.state));
        if let Some(item) = &domain.item {
            fields.insert("item".to_owned(), json!(item));
        }
        fields.insert("workflow".to_owned(), json!(after.workflow));
        Some(fields)
    }

    fn derive(&self, run: &RunState, appended: &[Event]) {
        derived::write(self, run, appended);
    }
}

/// The proof of a definition admits effects only where `tdd`'s hands carry them out.
fn no_effect(name: &str) -> Fault {
    Fault::bug(format!(
        "the effect `{name}` was asked for in a workflow that has no hands for it"
    ))
}
