//! The turns of a run over a task, in the shapes of `tm autopilot`; and its end, which may clear up.

use journal::layout::ProjectDir;
use machine::Command;
use machine::state::RunStatus;
use machine::{Refusal, approval};
use serde_json::{Map, Value};

use crate::approval::Turn;
use crate::call::Input;
use crate::capability::git::effects;
use crate::capability::memory::Memory;
use crate::capability::tests::evidence::work::kept_under;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::find::Selector;
use crate::find::{RunHead, over_tasks, several_runs};
use crate::hook::place::{self, Head};
use crate::runs::RunSummary;
use crate::turn::{TurnOutcome, over, refused};
use crate::view::AUTOPILOT;
use crate::view::autopilot::answer::{Aborted, Resumed, TransitionAnswer};
use crate::view::autopilot::{request, state};
use crate::writer::RunWriter;

impl From<TurnOutcome<'_>> for TransitionAnswer {
    fn from(turned: TurnOutcome<'_>) -> Self {
        let run = turned.run();
        Self {
            run_id: run.run.clone(),
            next_action: state::told(run, &turned.writer.open.dir),
            report: turned.report(),
            message: turned.message,
        }
    }
}

impl Engine {
    /// One phase back for the present subtask, or to the beginning of one of another kind; at the end, into a repair.
    pub fn reopen(&self, run: Option<&str>, turn: &Turn<'_>) -> Result<TransitionAnswer, Fault> {
        Ok(self.turn_back(&AUTOPILOT, run, turn)?.into())
    }

    /// Gives the present subtask up.
    pub fn skip(
        &self,
        run: Option<&str>,
        subtask: Option<&str>,
        reason: &str,
    ) -> Result<TransitionAnswer, Fault> {
        Ok(self.turn_to_skip(&AUTOPILOT, run, subtask, reason)?.into())
    }

    /// Lets one policy refusal pass for the present unit. Only for a person.
    pub fn allow(
        &self,
        run: Option<&str>,
        code: &str,
        reason: &str,
    ) -> Result<TransitionAnswer, Fault> {
        Ok(self.turn_to_allow(&AUTOPILOT, run, code, reason)?.into())
    }

    /// Stops taking reports.
    pub fn pause(&self, run: Option<&str>, reason: &str) -> Result<TransitionAnswer, Fault> {
        Ok(self.turn_to_pause(&AUTOPILOT, run, reason)?.into())
    }

    /// Runs that somebody could go on with.
    pub fn resumable(&self) -> Result<Vec<RunSummary>, Fault> {
        let Some(project) = self.stored()? else {
            return Ok(Vec::new());
        };
        let going = self.going_on(&project)?;
        let summary = |run: &RunHead| crate::runs::summary(&run.dir, &project);
        Ok(going.iter().map(summary).collect())
    }

    fn going_on(&self, project: &ProjectDir) -> Result<Vec<RunHead>, Fault> {
        let mut all = over_tasks(project)?;
        all.retain(RunHead::goes_on);
        if let Some(tag) = &self.tag {
            all.retain(|run| crate::runs::summary(&run.dir, project).tag == *tag);
        }
        Ok(all)
    }

    /// The one run that `resume` without an id means.
    fn only_resumable(&self) -> Result<String, Fault> {
        let candidates = match self.stored()? {
            Some(project) => self.going_on(&project)?,
            None => Vec::new(),
        };
        match candidates.as_slice() {
            // The answer then says which run it would have been, and why not.
            [] => {
                let (dir, _) = self.load_meant(&AUTOPILOT, None, Selector::Running)?;
                Ok(dir.id().to_owned())
            }
            [one] => Ok(one.dir.id().to_owned()),
            several => Err(several_runs(
                &several.iter().collect::<Vec<_>>(),
                &AUTOPILOT,
            )),
        }
    }

    /// Goes on with a run.
    pub fn resume(&self, run: Option<&str>) -> Result<Resumed, Fault> {
        let chosen = match run {
            Some(id) => id.to_owned(),
            None => self.only_resumable()?,
        };
        let (project, dir) = self.meant(&AUTOPILOT, Some(&chosen), Selector::Running)?;
        let turned = self.turn_to_resume(&AUTOPILOT, &project, &dir)?;
        let run = turned.run();
        Ok(Resumed {
            resumed: true,
            run_id: run.run.clone(),
            next_action: state::told(run, &turned.writer.open.dir),
        })
    }

    /// Ends a run.
    pub fn abort(&self, run: Option<&str>, abort: request::Abort) -> Result<Aborted, Fault> {
        let (project, dir) = self.meant(&AUTOPILOT, run, Selector::Running)?;
        let mut writer = self.writer_alone(&project, &dir, Input::None)?;
        let ended = writer.open.run.status;
        if ended != RunStatus::Aborted {
            if ended.is_over() {
                return Err(over(&writer.open.run));
            }
            self.unit_is_present(&writer.open.run, &writer.call.definition)?;
        }
        let memory = Memory::of(&writer.open.run)?;
        let approval = self.approval_of_turn(&writer.open, &abort.turn())?;
        // What is deleted is gone: a person's to decide, as what is let pass.
        let least = writer.open.run.least_approval;
        let held = approval::strong_enough(approval.as_deref(), least, "clean-up");
        let weak = held.err().filter(|_| abort.cleanup);
        let weak = weak.map(|weak| weak.detail("runId", dir.id()));
        let command = Command::Abort {
            approval,
            flags: abort.turn().flags,
        };
        let refusal = if weak.is_some() {
            // Nobody is asked for what would be refused.
            writer.weigh(&command)?.err().or(weak)
        } else if ended.is_over() && abort.cleanup {
            // Aborted before, and perhaps killed while it cleared up: only that is left to do.
            clear_branch(&writer, &abort.turn().flags)?
        } else {
            writer.command(&command)?.err()
        };
        if let Some(refusal) = refusal {
            let (call, run) = (&writer.call, &writer.open.run);
            return Err(refused(&AUTOPILOT, call, run, None, &refusal));
        }
        let run_id = writer.open.run.run.clone();
        if abort.cleanup {
            // The project stays locked; its run has nobody left who could wait for it.
            let _project_lock = writer.release();
            memory
                .repository()
                .forget_references(&kept_under(&run_id))?;
            std::fs::remove_dir_all(dir.path()).map_err(|error| {
                Fault::environment(
                    "storage",
                    format!("{} could not be deleted", dir.path().display()),
                    &error,
                )
            })?;
            if let Some(tag) = project.find_tag(&memory.start.tag)? {
                let points_here =
                    crate::find::read_json(&tag.current_run_path()).is_some_and(|pointer| {
                        pointer.get("runId") == Some(&Value::from(run_id.as_str()))
                    });
                if points_here {
                    let _ = std::fs::remove_file(tag.current_run_path());
                }
            }
        }
        Ok(Aborted {
            message: if abort.cleanup {
                format!(
                    "The run was aborted; branch `{}` and its folder are cleared up",
                    memory.start.branch
                )
            } else {
                let start = &memory.start;
                let branch = &start.branch;
                let from = start.from_branch.as_ref();
                let back = match place::head(&start.git_dir) {
                    Head::Branch(here) if here == *branch && from != Some(&here) => {
                        let from =
                            from.map_or("a detached HEAD".to_owned(), |from| format!("`{from}`"));
                        format!("; it was begun from {from}: {}", start.way_back())
                    }
                    _ => String::new(),
                };
                format!(
                    "The run was aborted; branch `{branch}` and all files stay as they are{back}"
                )
            },
            run_id,
            aborted: true,
            branch: memory.start.branch,
            cleaned_up: abort.cleanup,
        })
    }
}

/// Deletes the branch of a run that was aborted before; or says why it is not.
fn clear_branch(
    writer: &RunWriter<'_>,
    flags: &Map<String, Value>,
) -> Result<Option<Refusal>, Fault> {
    use crate::capability::git::effects::delete;
    use crate::support::{HandlerError, Outcome};
    delete::settle(&writer.call, &writer.open.run)?;
    let what = match delete::planned(&writer.open.run, flags) {
        Err(HandlerError::Refused(refusal)) => return Ok(Some(refusal)),
        Err(HandlerError::Fault(fault)) => return Err(fault),
        Ok(what) => what,
    };
    match delete::carry_out(&writer.call, &writer.open.run, &what)? {
        Outcome::Done { .. } => Ok(None),
        Outcome::Failed {
            code,
            message,
            suggestion,
            keep: _,
        } => Err(effects::fault(code, message, suggestion)),
    }
}
