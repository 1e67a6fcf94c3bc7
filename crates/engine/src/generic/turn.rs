//! The turns of any run, in the shape of the generic verbs.

use machine::Command;
use serde_json::Map;

use crate::approval::Turn;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::find::{Selector, is_over_a_task};
use crate::generic::answer::RunMoved;
use crate::generic::on_task::action_of_call;
use crate::turn::{TurnOutcome, turned};
use crate::view::GENERIC;
use crate::view::autopilot::state;

impl Engine {
    /// Stops taking reports.
    pub fn run_pause(&self, run: Option<&str>, reason: &str) -> Result<RunMoved, Fault> {
        moved(self.turn_to_pause(&GENERIC, run, reason)?)
    }

    /// Goes on with a run.
    pub fn run_resume(&self, run: Option<&str>) -> Result<RunMoved, Fault> {
        let (project, dir) = self.meant(&GENERIC, run, Selector::Stopped)?;
        moved(self.turn_to_resume(&GENERIC, &project, &dir)?)
    }

    /// One step back, by the present state's own rule.
    pub fn run_reopen(&self, run: Option<&str>, turn: &Turn<'_>) -> Result<RunMoved, Fault> {
        moved(self.turn_back(&GENERIC, run, turn)?)
    }

    /// Gives an item up, or the run, by the present state's own rule.
    pub fn run_skip(
        &self,
        run: Option<&str>,
        item: Option<&str>,
        reason: &str,
    ) -> Result<RunMoved, Fault> {
        moved(self.turn_to_skip(&GENERIC, run, item, reason)?)
    }

    /// Lets one policy refusal pass for the present unit. Only for a person.
    pub fn run_allow(
        &self,
        run: Option<&str>,
        code: &str,
        reason: &str,
    ) -> Result<RunMoved, Fault> {
        moved(self.turn_to_allow(&GENERIC, run, code, reason)?)
    }

    /// Ends a run. Whatever it left outside its own folder stays.
    pub fn run_abort(&self, run: Option<&str>) -> Result<RunMoved, Fault> {
        let (project, dir) = self.meant(&GENERIC, run, Selector::NotOver)?;
        let writer = self.writer_to_end(&project, &dir)?;
        if !writer.open.run.status.is_called_off() {
            self.unit_is_present(&writer.open.run, &writer.call.definition)?;
        }
        let command = Command::Abort {
            approval: self.approval_of_turn(&writer.open, &Turn::new("abort", ""))?,
            flags: Map::new(),
        };
        moved(turned(&GENERIC, writer, &command, |run| {
            format!("The run was aborted; its journal stays: {}", run.run)
        })?)
    }

    /// Settles what an interrupted call left, which is the step that a run over a task can take by itself.
    pub(super) fn step_on_task(&self, id: &str) -> Result<RunMoved, Fault> {
        let (project, dir) = self.meant(&GENERIC, Some(id), Selector::Running)?;
        let settled = self.turn_to_resume(&GENERIC, &project, &dir)?;
        Ok(RunMoved {
            message: "What was interrupted is settled".to_owned(),
            ..moved(settled)?
        })
    }
}

/// What a turn came to, in the shape of the generic verbs.
pub(crate) fn moved(turned: TurnOutcome<'_>) -> Result<RunMoved, Fault> {
    let run = turned.run();
    Ok(RunMoved {
        run_id: run.run.clone(),
        next_action: if is_over_a_task(run) {
            action_of_call(&turned.writer.call, run, state::next_action(run))?
        } else {
            let own = crate::generic::view::next_action(run, &turned.writer.call.definition);
            crate::generic::look::look_further(&turned.writer.call, run, own)?
        },
        report: turned.report(),
        message: turned.message,
    })
}
