//! A run open for writing, with what belongs to it.

use std::sync::{Arc, Mutex, PoisonError};

use journal::RunLock;
use journal::layout::{ProjectDir, RunDir};
use project::config::Config;
use rails::{Command, Decision, Event, Facts, Refusal, RunState, Shared, decide};
use serde::Deserialize as _;

use super::readers::Given;
use super::{Plain, derived, leftovers};
use crate::collab::Skills;
use crate::conductor::Conductor;
use crate::engine::{self, Done, OpenRun};
use crate::fault::{Fault, Kind};
use crate::integrity::never_began;
use crate::review::Session;

/// A run open for writing.
pub(crate) struct Hand<'a> {
    pub(crate) open: OpenRun<'a>,
    pub(crate) plain: Plain<'a>,
    /// Held until the call is over, where it ends a run.
    _project_lock: Option<RunLock>,
}

impl Hand<'_> {
    /// What a command came to: what was journalled, or why nothing was. An effect that failed is a fault.
    pub(crate) fn command(
        &mut self,
        command: &Command,
    ) -> Result<Result<Vec<Event>, Refusal>, Fault> {
        match self.open.command(&self.plain, command)? {
            Done::Moved(events) => Ok(Ok(events)),
            Done::Refused(refusal) => Ok(Err(refusal)),
            Done::EffectFailed {
                code,
                message,
                suggestion,
                ..
            } => {
                let fault = Fault::new(Kind::Environment, code, message);
                Err(fault.suggest(suggestion.unwrap_or_default()))
            }
        }
    }

    /// Why a command would be refused that asks for nothing from outside; changes nothing.
    pub(crate) fn would_refuse(&self, command: &Command) -> Option<Refusal> {
        let facts = Facts::default();
        match decide(&self.plain.definition, &self.open.run, command, &facts) {
            Decision::Refused(refusal) => Some(refusal),
            Decision::Events(_) | Decision::Need(_) => None,
        }
    }
}

impl Conductor {
    /// Opens a run for a report, or for a turn that leaves it under way.
    pub(crate) fn plain_hand<'a>(
        &'a self,
        dir: &RunDir,
        given: Given,
        project_lock: Option<RunLock>,
    ) -> Result<Hand<'a>, Fault> {
        let open = OpenRun::open(dir.path(), self.wait(), &self.command, &*self.clock)?;
        if open.run.run.is_empty() {
            return Err(never_began(dir));
        }
        let plain = self.plain(dir, &open.run, given)?;
        Self::in_hand(open, plain, project_lock, None)
    }

    /// A run that was opened, with its hands; what another process left is settled. `turn` is the lock of those who take
    /// steps, where the caller has it.
    pub(crate) fn in_hand<'a>(
        mut open: OpenRun<'a>,
        plain: Plain<'a>,
        project_lock: Option<RunLock>,
        turn: Option<&RunLock>,
    ) -> Result<Hand<'a>, Fault> {
        let after_a_death = open.is_after_a_death() || turn.is_some_and(RunLock::is_after_a_death);
        if after_a_death {
            leftovers::clear(&plain, &open.run, turn);
        }
        open.recover(&plain)?;
        if derived::complete(&plain, &open.run) {
            leftovers::clear(&plain, &open.run, turn);
        }
        Ok(Hand {
            open,
            plain,
            _project_lock: project_lock,
        })
    }

    /// A run as it is once what a process began that was killed is finished.
    pub(crate) fn settled(
        &self,
        dir: &RunDir,
        run: Shared<RunState>,
    ) -> Result<Shared<RunState>, Fault> {
        if run.pending.is_none() {
            return Ok(run);
        }
        let mut hand = self.plain_hand(dir, Given::default(), None)?;
        Ok(std::mem::take(&mut hand.open.run))
    }

    /// The hands of a run, without the right to write.
    pub(crate) fn plain(
        &self,
        dir: &RunDir,
        run: &RunState,
        given: Given,
    ) -> Result<Plain<'_>, Fault> {
        let definition = engine::pinned(dir.path(), run)?;
        let session = Session::of(&definition, dir.path(), run, self);
        let skills = Skills::of(run);
        Ok(Plain {
            root: &self.root,
            dir: dir.path().to_owned(),
            definition,
            pinned: settings(run)?,
            given,
            session,
            skills,
        })
    }

    /// The same, for a call that ends a run.
    pub(crate) fn plain_hand_alone<'a>(
        &'a self,
        project: &ProjectDir,
        dir: &RunDir,
    ) -> Result<Hand<'a>, Fault> {
        let lock = project.lock(self.wait(), &self.command)?;
        self.plain_hand(dir, Given::default(), Some(lock))
    }
}

impl Conductor {
    /// The same, for a call that ends a run whatever state it is in: an effect that cannot be finished is given up.
    pub(crate) fn plain_hand_to_end<'a>(
        &'a self,
        project: &ProjectDir,
        dir: &RunDir,
    ) -> Result<Hand<'a>, Fault> {
        match self.plain_hand_alone(project, dir) {
            Err(why) if engine::load(dir.path()).is_ok_and(|seen| seen.run.pending.is_some()) => {
                let lock = project.lock(self.wait(), &self.command)?;
                let mut open = OpenRun::open(dir.path(), self.wait(), &self.command, &*self.clock)?;
                let plain = self.plain(dir, &open.run, Given::default())?;
                open.give_up(&plain, &why)?;
                Self::in_hand(open, plain, Some(lock), None)
            }
            opened => opened,
        }
    }
}

/// The settings that a run is pinned to.
fn settings(run: &RunState) -> Result<Arc<Config>, Fault> {
    /// The last ones that were read, by their hash.
    static LAST: Mutex<Option<(String, Arc<Config>)>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((hash, config)) = &*last
        && *hash == run.policy_hash
    {
        return Ok(Arc::clone(config));
    }
    let config = Arc::new(read_settings(run)?);
    *last = Some((run.policy_hash.clone(), Arc::clone(&config)));
    Ok(config)
}

fn read_settings(run: &RunState) -> Result<Config, Fault> {
    Config::deserialize(&*run.settings).map_err(|error| {
        Fault::new(
            Kind::Environment,
            "settings_damaged",
            format!("the settings that the run is pinned to cannot be read: {error}"),
        )
        .suggest("use the version of tm that started the run, or a newer one")
    })
}
