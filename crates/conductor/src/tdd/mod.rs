//! The Rust part of the `tdd` workflow: what it reads, what it does, what it answers.

pub mod answer;
pub mod autopilot;
pub mod changes;
pub mod context;
pub mod derived;
pub mod effects;
pub mod evidence;
pub mod memory;
pub mod payload;
pub mod products;
pub mod readers;
pub mod report;
pub mod request;
pub mod results;
pub mod texts;
pub mod view;
pub mod work_unit;

use std::path::{Path, PathBuf};

use project::config::{Config, Settings};
use rails::decide::Telling;
use rails::event::Domain;
use rails::state::Pending;
use rails::{Event, Reading, Refusal, Role, RunState};
use serde_json::{Map, Value};

use crate::fault::Fault;
use crate::support::{Asked, Looked, No, Outcome, Support};
use evidence::Taken;

/// What a call brought along for the readers.
#[derive(Debug, Clone)]
pub enum Raw {
    /// Nothing.
    None,
    /// A start that was planned.
    Start(Box<readers::preflight::Planned>),
    /// Test results.
    Tests {
        /// The results, and what they rest on.
        taken: Box<Taken>,
        /// Files that are said to have been changed.
        files: Vec<String>,
        /// What the executor said beside its numbers, kept with them.
        said: Map<String, Value>,
    },
    /// A commit.
    Commit {
        /// The whole message, if given.
        message: Option<String>,
        /// Files that are named.
        files: Vec<String>,
        /// A commit that was made already.
        sha: Option<String>,
    },
}

/// The workflow's hands and eyes during one call.
#[derive(Debug)]
pub struct Tdd<'a> {
    /// The project.
    pub root: &'a Path,
    /// The settings as they are now.
    pub settings: &'a Settings,
    /// The settings that the run is pinned to.
    pub pinned: Config,
    /// The run's folder.
    pub dir: PathBuf,
    /// The project's folder in the store.
    pub project: Option<&'a journal::layout::ProjectDir>,
    /// What the call brought along.
    pub raw: Raw,
    /// The time of the call, in milliseconds since 1970.
    pub now: i64,
}

impl Support for Tdd<'_> {
    fn read(&self, role: &Role, run: &RunState, token: u32) -> Result<Reading, No> {
        match role.reader.as_str() {
            "preflight" => readers::preflight::read(self),
            "tests" => readers::tests::read(self, role, run, token),
            "commit" => readers::commit::read(self, role, run, token),
            other => Err(unknown("reader", other).into()),
        }
    }

    fn prepare(&self, asked: &Asked<'_>, run: &RunState) -> Result<Value, No> {
        match asked.effect {
            "git.branch" => effects::branch::prepare(self, run),
            "tag.switch" => effects::tag::prepare_switch(self, run),
            "tag.restore" => effects::tag::prepare_restore(self, run),
            "git.commit" => effects::commit::prepare(self, run, asked.token, asked.facts),
            "task.finish" => effects::finish::prepare(self, run),
            "branch.delete" => effects::delete::prepare(self, run, asked.flags),
            other => Err(unknown("effect", other).into()),
        }
    }

    fn perform(&self, run: &RunState, pending: &Pending) -> Result<Outcome, Fault> {
        match pending.name.as_str() {
            "git.branch" => effects::branch::perform(self, run, pending),
            "tag.switch" | "tag.restore" => effects::tag::perform(run, pending),
            "git.commit" | "task.finish" => effects::commit::perform(self, run, pending),
            "branch.delete" => effects::delete::perform(self, run, pending),
            other => Err(unknown("effect", other)),
        }
    }

    fn look(&self, run: &RunState, pending: &Pending) -> Result<Looked, Fault> {
        match pending.name.as_str() {
            "git.branch" => effects::branch::look(self, run, pending),
            "branch.delete" => effects::delete::look(self, run, pending),
            "tag.switch" | "tag.restore" => Ok(Looked::NotDone),
            "git.commit" | "task.finish" => effects::commit::look(self, run, pending),
            other => Err(unknown("effect", other)),
        }
    }

    fn context(&self, asked: &Telling<'_>, broken: Option<&Fault>) -> Result<Vec<u8>, Fault> {
        context::build(self, asked, broken)
    }

    fn payload(
        &self,
        domain: &Domain,
        before: &RunState,
        after: &RunState,
        events: &[Event],
    ) -> Option<Map<String, Value>> {
        payload::fields(domain, before, after, events)
    }

    fn derive(&self, run: &RunState, appended: &[Event]) {
        derived::write(self, run, appended);
        effects::notes::catch_up(self, run);
    }
}

fn unknown(what: &str, name: &str) -> Fault {
    Fault::bug(format!(
        "the workflow names the {what} `{name}`, which tdd does not have"
    ))
}

/// A refusal with a code, a message and a suggestion.
pub(crate) fn refusal(
    code: &str,
    message: impl Into<String>,
    suggestion: impl Into<String>,
) -> Refusal {
    Refusal::new(code).message(message).suggestion(suggestion)
}
