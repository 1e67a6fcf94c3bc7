//! A run open for writing, with what belongs to it.

use journal::RunLock;
use journal::layout::{ProjectDir, RunDir};
use project::config::Config;
use rails::{Command, RunState};
use serde::Deserialize as _;

use super::readers::Given;
use super::{Plain, derived};
use crate::conductor::{Conductor, never_began};
use crate::engine::{self, Done, OpenRun};
use crate::fault::{Fault, Kind};

/// A run open for writing.
pub(super) struct Hand<'a> {
    pub(super) open: OpenRun<'a>,
    pub(super) plain: Plain<'a>,
    /// Held until the call is over, where it ends a run.
    _project_lock: Option<RunLock>,
}

impl Hand<'_> {
    pub(super) fn command(&mut self, command: &Command) -> Result<Done, Fault> {
        self.open.command(&self.plain, command)
    }
}

impl Conductor {
    /// Opens a run for a report, or for a turn that leaves it under way.
    pub(super) fn plain_hand<'a>(
        &'a self,
        dir: &RunDir,
        given: Given,
        project_lock: Option<RunLock>,
    ) -> Result<Hand<'a>, Fault> {
        let mut open = OpenRun::open(dir.path(), self.wait(), &self.command, &*self.clock)?;
        if open.run.run.is_empty() {
            return Err(never_began(dir.id()));
        }
        let plain = Plain {
            root: &self.root,
            dir: dir.path().to_owned(),
            definition: engine::pinned(dir.path(), &open.run)?,
            pinned: settings(&open.run)?,
            given,
        };
        open.recover(&plain)?;
        derived::complete(&plain, &open.run);
        Ok(Hand {
            open,
            plain,
            _project_lock: project_lock,
        })
    }

    /// The same, for a call that ends a run.
    pub(super) fn plain_hand_alone<'a>(
        &'a self,
        project: &ProjectDir,
        dir: &RunDir,
    ) -> Result<Hand<'a>, Fault> {
        let lock = project.lock(self.wait(), &self.command)?;
        self.plain_hand(dir, Given::default(), Some(lock))
    }
}

/// The settings that a run is pinned to.
fn settings(run: &RunState) -> Result<Config, Fault> {
    Config::deserialize(&run.settings).map_err(|error| {
        Fault::new(
            Kind::Environment,
            "settings_damaged",
            format!("the settings that the run is pinned to cannot be read: {error}"),
        )
        .suggest("use the version of tm that started the run, or a newer one")
    })
}
