//! Runs of any workflow by the generic verbs: start, next, report, status, step, and the turns.
//!
//! A definition that needs nothing of `tdd`'s hands is run by `Plain`: its reports bring an outcome or
//! counts of tests, and nothing outside the run's folder is touched. One that works on a task's branch is
//! run by `tdd`'s own hands, and answers in the same shape.

pub mod answer;
pub(crate) mod begin;
mod choose;
mod context;
mod derived;
pub(crate) mod files;
pub(crate) mod gate;
pub(crate) mod hand;
pub(crate) mod hands;
mod inputs;
mod left;
mod leftovers;
mod look;
mod on_task;
pub(crate) mod readers;
pub(crate) mod report;
pub mod request;
pub(crate) mod run_report;
pub(crate) mod templates;
mod turn;
mod units;
pub(crate) mod view;
pub(crate) mod words;

pub(crate) use choose::{named, session_name};

use std::path::{Path, PathBuf};
use std::sync::Arc;

use project::config::Config;
use rails::command::Present;
use rails::decide::Telling;
use rails::event::Domain;
use rails::state::Pending;
use rails::{Definition, Event, Reading, Role, RunState};
use serde_json::{Map, Value, json};

use crate::collab::{self, Skills};
use crate::fault::Fault;
use crate::review::{Session, effects, subject};
use crate::support::{Asked, Looked, No, Outcome, Support};
use crate::tdd;
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
    pub(crate) pinned: Arc<Config>,
    /// What the call brought along.
    pub(crate) given: Given,
    /// What belongs to a session, where the run is one.
    pub(crate) session: Option<Session>,
    /// What belongs to a session of skills, where the run is one.
    pub(crate) skills: Option<Skills>,
}

impl Support for Plain<'_> {
    fn read(&self, role: &Role, run: &RunState, token: u32) -> Result<Reading, No> {
        let reader = role.reader.as_str();
        match (&self.session, reader) {
            (_, "") => files::take_in(self, run, token).map(|(reading, _)| reading),
            (Some(session), "response") => session.read(self, run, token),
            (None, "design" | "graph") => collab::read(self, reader, run),
            _ => readers::read(self, reader, run, token),
        }
    }

    fn prepare(&self, asked: &Asked<'_>, run: &RunState) -> Result<Value, No> {
        match &self.session {
            Some(_) => effects::prepare(self, asked, run),
            None => Err(no_effect(asked.effect).into()),
        }
    }

    fn perform(&self, run: &RunState, pending: &Pending) -> Result<Outcome, Fault> {
        match &self.session {
            Some(_) => effects::perform(self, run, pending),
            None => Err(no_effect(&pending.name)),
        }
    }

    fn look(&self, _: &RunState, pending: &Pending) -> Result<Looked, Fault> {
        match &self.session {
            // What they do can be done again: each says beforehand all that comes of it.
            Some(_) => Ok(Looked::NotDone),
            None => Err(no_effect(&pending.name)),
        }
    }

    fn present(&self, run: &RunState, token: u32) -> Result<Present, Fault> {
        files::present(self, run, token)
    }

    fn subject(&self, gate: &str, run: &RunState, token: u32) -> Result<String, No> {
        match &self.session {
            Some(_) => subject::hash(self, gate, run, token),
            None => subject::last_report(self, run, token),
        }
    }

    fn context(&self, asked: &Telling<'_>, broken: Option<&Fault>) -> Result<Vec<u8>, Fault> {
        let (run, token) = (asked.run, asked.token);
        let state = run.token(token).map_or("", |token| token.state.as_str());
        if let Some(bytes) = files::standing_prompt(self, run, state)? {
            return Ok(bytes);
        }
        let bytes = if let Some(fault) = broken {
            tdd::context::without_template(fault).into_bytes()
        } else if let Some(session) = &self.session {
            session.prompt(self, run, token)?
        } else if let Some(skills) = &self.skills {
            skills.frame(self, run, token, asked.unit, asked.attempt)?
        } else {
            context::build(self, asked)?
        };
        let again = run.token(token).is_some_and(|token| token.unit.is_some());
        if again && let Some(path) = self.definition.prompt(state, &run.vars) {
            // Nothing else comes of it: where it cannot be written, nothing is to be journalled either.
            files::put_if_absent(&files::place(&self.dir, &path)?, &bytes)?;
        }
        Ok(bytes)
    }

    fn tells_in_journal(&self) -> bool {
        self.skills.is_some()
    }

    fn payload(
        &self,
        domain: &Domain,
        before: &RunState,
        after: &RunState,
        _: &[Event],
    ) -> Option<Map<String, Value>> {
        let mut fields = Map::new();
        fields.insert("state".to_owned(), json!(domain.state));
        if let Some(item) = &domain.item {
            fields.insert("item".to_owned(), json!(item));
        }
        fields.insert("workflow".to_owned(), json!(after.workflow));
        if self.skills.is_some() {
            collab::tell(&self.definition, domain, before, after, &mut fields);
        }
        Some(fields)
    }

    fn place(&self, run: &RunState, appended: &[Event]) -> Result<(), Fault> {
        files::place_prompts(self, run, appended)
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
