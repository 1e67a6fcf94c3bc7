//! Taking a session up again, and ending one.

use machine::trigger::Trigger;
use machine::{Command, Definition, RunState, RunStatus, approval};
use serde_json::{Map, Value};

use crate::call::Input;
use crate::capability::profile::session::iteration;
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::view::session::about::{self, stepped};
use crate::view::session::answer::StepAnswer;
use crate::view::session::request::Reopen;
use crate::view::session::step::refused;
use crate::writer::RunWriter;

/// The setting that says how many iterations a session has, in the section of its workflow.
pub(crate) const MOST_ITERATIONS: &str = "maxIterations";

/// Whether a run is paused so that it only pauses again where it goes on: as one whose reviews keep failing is after its
/// last iteration.
pub(crate) fn is_at_cap(definition: &Definition, run: &RunState) -> bool {
    let pause = run.pause.as_ref();
    // Somebody who pauses it may give any reason.
    let by_rule = pause.filter(|pause| pause.token.is_some());
    by_rule.is_some_and(|pause| definition.pauses_in_route(run.state(), &pause.reason))
}

impl Engine {
    /// Takes a session up again that broke down or paused. A person's wish: the caller has asked one.
    pub fn session_reopen(
        &self,
        session: Option<&str>,
        reopen: &Reopen,
    ) -> Result<StepAnswer, Fault> {
        let (project, dir) = self.session_dir(session)?;
        let mut writer = self.writer_alone(&project, &dir, Input::None)?;
        let reason = Some(reopen.reason.as_str()).filter(|_| reopen.max_iterations.is_none());
        let before = self.taken_before(&writer, Trigger::Reopen, None, reason)?;
        if before.is_some() {
            return stepped(&writer.call, &writer.open.run, true, None);
        }
        let run = &writer.open.run;
        let paused = run.pause.as_ref().map(|pause| pause.reason.as_str());
        let at_cap = is_at_cap(&writer.call.definition, run);
        match run.status {
            RunStatus::Error => {}
            RunStatus::Paused if at_cap => {}
            RunStatus::Paused => {
                return Err(fault!(
                    "not_possible.session_reopen",
                    paused = paused.unwrap_or_default(),
                    run = run.run
                ));
            }
            // A response was taken in, and nothing can be made of it: as where a profile's command dies of it.
            RunStatus::Running if about::can_reopen(&writer.call, run) => {}
            RunStatus::Running => {
                return Err(fault!("not_possible.session_goes_on"));
            }
            _ => {
                return Err(fault!(
                    "run_over.session_reopen",
                    run = run.run,
                    status = crate::view::session::history::status(run.status)
                ));
            }
        }
        if let Some(most) = reopen.max_iterations {
            if !at_cap {
                return Err(fault!("usage.session_reopen"));
            }
            if i64::from(most) <= iteration(&writer.call, run) {
                return Err(fault!(
                    "usage.too_few_iterations",
                    given = most,
                    used = iteration(&writer.call, run),
                    least = iteration(&writer.call, run) + 1
                ));
            }
        }
        let turn = reopen.turn();
        let approval = self.approval_of_turn(&writer.open, &turn)?;
        let held = approval::strong_enough(approval.as_deref(), run.least_approval, "reopen");
        held.map_err(|refusal| refused(&writer.open.run, *refusal))?;
        let command = Command::Reopen {
            item: None,
            reason: reopen.reason.clone(),
            flags: turn.flags,
            approval,
        };
        moved(&mut writer, &command)
    }

    /// Ends a session.
    pub fn session_cancel(&self, session: Option<&str>, reason: &str) -> Result<StepAnswer, Fault> {
        let (project, dir) = self.session_dir(session)?;
        let mut writer = self.writer_to_end(&project, &dir)?;
        let mut flags = Map::new();
        if !reason.trim().is_empty() {
            flags.insert("reason".to_owned(), Value::from(reason.trim()));
        }
        let command = Command::Abort {
            approval: None,
            flags,
        };
        moved(&mut writer, &command)
    }
}

fn moved(writer: &mut RunWriter<'_>, command: &Command) -> Result<StepAnswer, Fault> {
    match writer.command(command)? {
        Ok(_) => stepped(&writer.call, &writer.open.run, true, None),
        Err(refusal) => Err(refused(&writer.open.run, refusal)),
    }
}
