//! Taking a session up again, and ending one.

use machine::trigger::Trigger;
use machine::{Command, Definition, RunState, RunStatus, approval};
use serde_json::{Map, Value};

use crate::call::Input;
use crate::capability::profile::session::iteration;
use crate::engine::Engine;
use crate::fault::{Fault, Kind};
use crate::next_step::{Verb, argument};
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
                return Err(Fault::new(
                    Kind::Refused,
                    "not_stopped",
                    format!(
                        "the session is paused ({}), which `reopen` does not end",
                        paused.unwrap_or_default()
                    ),
                )
                .suggest(format!("go on with it by {resume}", resume = Verb::Resume))
                .recover(Verb::Resume.step().of(&run.run)));
            }
            // A response was taken in, and nothing can be made of it: as where a profile's command dies of it.
            RunStatus::Running if about::can_reopen(&writer.call, run) => {}
            RunStatus::Running => {
                return Err(Fault::new(
                    Kind::Refused,
                    "not_stopped",
                    "the session goes on: there is nothing to take up again",
                )
                .suggest("a session is reopened when it stands in ERROR, or is paused at its last iteration")
                .recover(Verb::Status));
            }
            _ => {
                return Err(Fault::new(
                    Kind::Refused,
                    "run_over",
                    format!(
                        "the session {} is over for good: it is {}",
                        run.run,
                        crate::view::session::history::status(run.status)
                    ),
                )
                .suggest(format!(
                    "begin another one with {start}",
                    start = Verb::Start
                )));
            }
        }
        if let Some(most) = reopen.max_iterations {
            if !at_cap {
                return Err(Fault::new(
                    Kind::Usage,
                    "usage",
                    "a higher number of iterations helps only a session that is paused at its last one",
                )
                .suggest(concat!("leave ", argument!("maxIterations"), " out")));
            }
            if i64::from(most) <= iteration(&writer.call, run) {
                return Err(Fault::new(
                    Kind::Usage,
                    "usage",
                    format!(
                        "{most} is not more than the {} iterations that there were",
                        iteration(&writer.call, run)
                    ),
                )
                .suggest(format!("give {} or more", iteration(&writer.call, run) + 1)));
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
