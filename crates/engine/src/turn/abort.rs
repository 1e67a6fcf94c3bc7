//! The end of a run, which may clear up; and which run is meant to go on.

use journal::layout::{ProjectDir, short_name};
use machine::{Command, Refusal, approval};
use serde_json::{Map, Value};

use crate::approval::Turn;
use crate::capability::git::effects;
use crate::capability::memory::{Memory, StartFacts};
use crate::capability::tests::evidence::work::kept_under;
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::find::{RunHead, Selector, is_over_a_task, over_tasks, several_runs};
use crate::hook::place::{self, Head};
use crate::runs::RunSummary;
use crate::turn::answer::{TurnAnswer, TurnDetails};
use crate::turn::{Asked, TurnOutcome, over, refused, turned};
use crate::view::AUTOPILOT;
use crate::writer::RunWriter;

impl Engine {
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
    pub(super) fn only_resumable(&self) -> Result<String, Fault> {
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

    /// Ends a run. Of one over a task, branch and folder may go, too; whatever else it worked on stays.
    pub(super) fn turn_to_abort(&self, asked: &Asked<'_>) -> Result<TurnAnswer, Fault> {
        Ok(TurnAnswer {
            // The answer names where the report is read; it is not repeated whole.
            report: None,
            ..self.abort(asked)?
        })
    }

    fn abort(&self, asked: &Asked<'_>) -> Result<TurnAnswer, Fault> {
        let Asked { view, turn, .. } = *asked;
        let writer = self.writer_to_end(&asked.project, &asked.dir)?;
        let run = &writer.open.run;
        if !run.status.is_called_off() {
            if run.status.is_over() {
                return Err(over(run));
            }
            self.unit_is_present(run, &writer.call.definition)?;
        }
        if is_over_a_task(run) {
            return self.abort_task(asked, writer);
        }
        if turn.is_set("cleanup") {
            return Err(fault!("usage.turn_to_abort", run = run.run));
        }
        let command = Command::Abort {
            approval: self.approval_of_turn(&writer.open, turn)?,
            flags: reason(turn),
        };
        let aborted = turned(view, writer, &command, |run| {
            let (name, status) = (short_name(&run.run), run.status.name());
            format!("The {} is {status}; its journal stays: {name}", view.noun)
        });
        aborted?.answer(view)
    }

    fn abort_task(
        &self,
        asked: &Asked<'_>,
        mut writer: RunWriter<'_>,
    ) -> Result<TurnAnswer, Fault> {
        let Asked { view, turn, .. } = *asked;
        let is_cleanup = turn.is_set("cleanup");
        let memory = Memory::of(&writer.open.run)?;
        let approval = self.approval_of_turn(&writer.open, turn)?;
        // What is deleted is gone: a person's to decide, as what is let pass.
        let least = writer.open.run.least_approval;
        let held = approval::strong_enough(approval.as_deref(), least, "clean-up");
        let weak = held.err().filter(|_| is_cleanup).map(|weak| *weak);
        let command = Command::Abort {
            approval,
            flags: turn.flags.clone(),
        };
        let refusal = if weak.is_some() {
            // Nobody is asked for what would be refused.
            writer.weigh(&command)?.err().or(weak)
        } else if writer.open.run.status.is_over() && is_cleanup {
            // Aborted before, and perhaps killed while it cleared up: only that is left to do.
            clear_branch(&writer, &turn.flags)?
        } else {
            writer.command(&command)?.err()
        };
        if let Some(refusal) = refusal {
            let (call, run) = (&writer.call, &writer.open.run);
            return Err(refused(view, call, run, &refusal));
        }
        let (start, branch) = (&memory.start, memory.start.branch.clone());
        let details = TurnDetails::Aborted {
            aborted: true,
            branch: branch.clone(),
            cleaned_up: is_cleanup,
        };
        if is_cleanup {
            let run_id = writer.open.run.run.clone();
            clear_folder(&memory, asked, writer, &run_id)?;
            return Ok(TurnAnswer {
                run_id,
                message: format!(
                    "The run was aborted; branch `{branch}` and its folder are cleared up"
                ),
                details,
                next_action: None,
                report: None,
            });
        }
        let back = way_back(start);
        let message =
            format!("The run was aborted; branch `{branch}` and all files stay as they are{back}");
        let outcome = TurnOutcome::new(writer, message);
        TurnOutcome { details, ..outcome }.answer(view)
    }
}

/// What is kept of an end: why, where that is said.
fn reason(turn: &Turn<'_>) -> Map<String, Value> {
    let reason = turn.reason.trim();
    let said = (!reason.is_empty()).then(|| ("reason".to_owned(), reason.into()));
    said.into_iter().collect()
}

/// The way back to where a run over a task was begun, where its branch is checked out.
fn way_back(start: &StartFacts) -> String {
    let from = start.from_branch.as_ref();
    match place::head(&start.git_dir) {
        Head::Branch(here) if here == start.branch && from != Some(&here) => {
            let from = from.map_or("a detached HEAD".to_owned(), |from| format!("`{from}`"));
            format!("; it was begun from {from}: {}", start.way_back())
        }
        _ => String::new(),
    }
}

/// Deletes what a run over a task has here beside its branch.
fn clear_folder(
    memory: &Memory,
    Asked { project, dir, .. }: &Asked<'_>,
    writer: RunWriter<'_>,
    run_id: &str,
) -> Result<(), Fault> {
    // The project stays locked; its run has nobody left who could wait for it.
    let _project_lock = writer.release();
    memory.repository().forget_references(&kept_under(run_id))?;
    project.keep_number(dir)?;
    std::fs::remove_dir_all(dir.path()).map_err(|error| {
        Fault::environment(
            "io_failed",
            format!("{} could not be deleted", dir.path().display()),
            &error,
        )
    })?;
    if let Some(tag) = project.find_tag(&memory.start.tag)? {
        let pointer = crate::find::read_json(&tag.current_run_path());
        if pointer.is_some_and(|pointer| pointer.get("runId") == Some(&Value::from(run_id))) {
            let _ = std::fs::remove_file(tag.current_run_path());
        }
    }
    Ok(())
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
