//! What a turn answers: the same for every view, but for what comes next, which each tells in its own words.

use serde::Serialize;

use crate::fault::Fault;
use crate::find::is_over_a_task;
use crate::generic::answer::RunAction;
use crate::generic::look::look_further;
use crate::generic::on_task::action_of_call;
use crate::turn::TurnOutcome;
use crate::turn::submit::Submission;
use crate::view::autopilot::answer::NextAction;
use crate::view::autopilot::state;
use crate::view::{AUTOPILOT, View};

/// What a turn came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnAnswer {
    /// The run.
    pub run_id: String,
    /// What was done.
    pub message: String,
    /// Fields that only some turns have.
    #[serde(flatten)]
    pub details: TurnDetails,
    /// What comes next; none where the run is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_action: Option<Standing>,
    /// The run report for people, if the run is over by this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
}

/// Fields that only some turns have.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum TurnDetails {
    /// Nothing.
    None {},
    /// Of `resume`.
    Resumed {
        /// Always true.
        resumed: bool,
    },
    /// Of `abort`, in a run over a task.
    #[serde(rename_all = "camelCase")]
    Aborted {
        /// Always true.
        aborted: bool,
        /// The branch of the run.
        branch: String,
        /// Whether it is deleted, and so is the run's folder.
        cleaned_up: bool,
    },
    /// Of `submit`.
    Submitted(Box<Submission>),
}

/// What comes next, in the words of a view.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Standing {
    /// Of a run over a task, phase by phase.
    Task(Box<NextAction>),
    /// Of any run.
    Any(Box<RunAction>),
}

impl TurnAnswer {
    /// An answer without fields of its own.
    pub(crate) fn of(run: &str, message: String, next: RunAction) -> Self {
        Self {
            run_id: run.to_owned(),
            message,
            details: TurnDetails::None {},
            next_action: Some(Standing::Any(Box::new(next))),
            report: None,
        }
    }
}

impl TurnOutcome<'_> {
    /// The answer, in the words of a view.
    pub(crate) fn answer(self, view: &'static View) -> Result<TurnAnswer, Fault> {
        let (run, call) = (self.run(), &self.writer.call);
        let next_action = if *view == AUTOPILOT {
            Standing::Task(Box::new(state::told(run, &self.writer.open.dir)))
        } else if is_over_a_task(run) {
            Standing::Any(Box::new(action_of_call(
                call,
                run,
                state::next_action(run),
            )?))
        } else {
            let own = crate::generic::view::next_action(run, &call.definition);
            Standing::Any(Box::new(look_further(call, run, own)?))
        };
        Ok(TurnAnswer {
            run_id: run.run.clone(),
            next_action: Some(next_action),
            report: self.report(),
            message: self.message,
            details: self.details,
        })
    }
}
