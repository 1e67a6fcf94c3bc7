//! What a turn answers: the same for every view, but for what comes next, which each tells in its own words.

use machine::Strength;
use serde::Serialize;

use crate::action::Action;
use crate::action::next::{Detail, next_action};
use crate::fault::Fault;
use crate::turn::TurnOutcome;
use crate::turn::submit::Submission;
use crate::view::View;

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
    pub next_action: Option<Action>,
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
    /// Of a decision at a gate.
    Decided {
        /// The gate.
        gate: String,
        /// `approve` or `reject`.
        choice: &'static str,
        /// Whether it was recorded now; false where the very same was approved before.
        recorded: bool,
        /// How much stands behind it.
        strength: Strength,
        /// Who decided: the user's name, or whose key it was.
        actor: String,
        /// By which way it came.
        how: String,
    },
    /// Of `restore`.
    Restored {
        /// The files that were put back, in the run's folder; a folder, which ends with `/`, with all that is in it.
        restored: Vec<String>,
        /// What stood in their places, under the names that it has now.
        aside: Vec<String>,
    },
    /// Of `submit`.
    Submitted(Box<Submission>),
}

impl TurnAnswer {
    /// An answer without fields of its own.
    pub(crate) fn of(run: &str, message: String, next: Action) -> Self {
        Self {
            run_id: run.to_owned(),
            message,
            details: TurnDetails::None {},
            next_action: Some(next),
            report: None,
        }
    }
}

impl TurnOutcome<'_> {
    /// The answer, in the words of a view.
    pub(crate) fn answer(self, view: &'static View) -> Result<TurnAnswer, Fault> {
        let (run, call) = (self.run(), &self.writer.call);
        let detail = if view.tells_what_to_do {
            Detail::Given
        } else {
            Detail::Brief
        };
        let next_action = next_action(view, call, run, detail)?;
        Ok(TurnAnswer {
            run_id: run.run.clone(),
            next_action: Some(next_action),
            report: self.report(),
            message: self.message,
            details: self.details,
        })
    }
}
