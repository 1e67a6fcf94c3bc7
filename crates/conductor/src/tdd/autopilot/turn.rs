//! Turns: one step back, giving up, letting pass, pausing, going on, ending.

use journal::layout::ProjectDir;

use super::super::effects;
use super::begin::running;
use super::{moved, no_reason, over, refused};
use crate::writer::RunWriter;
use rails::approval;
use rails::state::{RunStatus, Token};
use rails::{Command, RunState};
use serde_json::{Map, Value};

use super::super::answer::{Aborted, Moved, Resumed};
use super::super::changes::Changes;
use super::super::memory::{self, DIRTY, DirtyFile, Memory};
use super::super::{request, view};
use crate::approval::{Statement, Turn, present_unit};
use crate::call::Input;
use crate::conductor::Conductor;
use crate::engine::Done;
use crate::fault::{Fault, Kind};
use crate::find::Meant;
use crate::find::{Standing, over_tasks};
use crate::next_step::{Verb, argument};
use crate::report::is_read_on_branch;
use crate::runs::RunSummary;
use crate::view::AUTOPILOT;

impl Conductor {
    /// One phase back for the present subtask; at the end, into a repair.
    pub fn reopen(&self, run: Option<&str>, reason: &str) -> Result<Moved, Fault> {
        let (project, dir) = self.meant(&AUTOPILOT, run, Meant::Running)?;
        let mut writer = self.writer_alone(&project, &dir, Input::None)?;
        is_where_it_was(&writer)?;
        if writer.open.run.status == RunStatus::Paused {
            // It ends the pause, so it needs what a resume needs.
            self.may_go_on(&writer, &project)?;
        }
        let from = view::phase(&writer.open.run).unwrap_or_default().to_owned();
        let command = Command::Reopen {
            reason: reason.to_owned(),
            flags: Map::new(),
            approval: self.approval_of_turn(&writer.open, &Turn::new("reopen", reason))?,
        };
        moved(&mut writer, &command, |run| {
            let next = view::next_action(run);
            let of = next
                .subtask
                .map_or_else(String::new, |subtask| format!(" of {}", subtask.id));
            format!("Reopened: from {from} back to {}{of}", next.action)
        })
    }

    /// Gives the present subtask up.
    pub fn skip(
        &self,
        run: Option<&str>,
        subtask: Option<&str>,
        reason: &str,
    ) -> Result<Moved, Fault> {
        if reason.trim().is_empty() {
            return Err(no_reason(Verb::Skip));
        }
        let (project, dir) = self.meant(&AUTOPILOT, run, Meant::Running)?;
        let mut writer = self.writer_alone(&project, &dir, Input::None)?;
        if subtask.is_none() {
            is_where_it_was(&writer)?;
        }
        let present = view::progress(&writer.open.run).current;
        let keep = if writer.open.run.status == RunStatus::Running {
            left_behind(&writer.open.run)?
        } else {
            Map::new()
        };
        let command = Command::Skip {
            item: subtask.map(str::to_owned),
            reason: reason.to_owned(),
            keep,
        };
        moved(&mut writer, &command, |_| match present {
            Some(id) => format!("Given up: {id}; with that the run ends as failed"),
            None => "The run was given up".to_owned(),
        })
    }

    /// Lets one policy refusal pass for the present unit. Only for a person.
    pub fn allow(&self, run: Option<&str>, code: &str, reason: &str) -> Result<Moved, Fault> {
        if reason.trim().is_empty() {
            return Err(no_reason(Verb::Allow));
        }
        let (_, dir) = self.meant(&AUTOPILOT, run, Meant::Running)?;
        let mut writer = self.writer(&dir, Input::None)?;
        is_where_it_was(&writer)?;
        let run = &writer.open.run;
        let unit = present_unit(run);
        let statement = Statement::on_refusal(&run.run, unit, code, reason, writer.open.last());
        let command = Command::Allow {
            code: code.to_owned(),
            reason: reason.to_owned(),
            approval: self.approval(&statement)?,
        };
        moved(&mut writer, &command, |_| {
            format!("`{code}` will be let pass for this unit; report again")
        })
    }

    /// Stops taking reports.
    pub fn pause(&self, run: Option<&str>, reason: &str) -> Result<Moved, Fault> {
        let (_, dir) = self.meant(&AUTOPILOT, run, Meant::Running)?;
        let mut writer = self.writer(&dir, Input::None)?;
        let reason = if reason.trim().is_empty() {
            "asked for"
        } else {
            reason
        };
        moved(
            &mut writer,
            &Command::Pause {
                reason: reason.to_owned(),
            },
            |run| {
                format!(
                    "Paused: {}",
                    run.pause.as_ref().map_or("", |pause| &pause.reason)
                )
            },
        )
    }

    /// Runs that somebody could go on with.
    pub fn resumable(&self) -> Result<Vec<RunSummary>, Fault> {
        let Some(project) = self.stored()? else {
            return Ok(Vec::new());
        };
        let mut all = Vec::new();
        for run in over_tasks(&project)?.into_iter().filter(Standing::goes_on) {
            all.push(crate::runs::summary(&run.dir, &project));
        }
        if let Some(tag) = &self.tag {
            all.retain(|summary| summary.tag == *tag);
        }
        Ok(all)
    }

    /// The one run that `resume` without an id means.
    fn only_resumable(&self) -> Result<String, Fault> {
        let candidates = self.resumable()?;
        match candidates.as_slice() {
            // The answer then says which run it would have been, and why not.
            [] => Ok(self
                .load_meant(&AUTOPILOT, None, Meant::Running)?
                .0
                .id()
                .to_owned()),
            [one] => Ok(one.run_id.clone()),
            several => {
                let ids: Vec<&str> = several.iter().map(|one| one.run_id.as_str()).collect();
                Err(Fault::new(
                    Kind::Usage,
                    "several_runs",
                    format!("several runs could be resumed: {}", ids.join(", ")),
                )
                .suggest(concat!("name one with ", argument!("run")))
                .detail("runs", ids))
            }
        }
    }

    /// Goes on with a run.
    pub fn resume(&self, run: Option<&str>) -> Result<Resumed, Fault> {
        let chosen = match run {
            Some(id) => id.to_owned(),
            None => self.only_resumable()?,
        };
        let (project, dir) = self.meant(&AUTOPILOT, Some(&chosen), Meant::Running)?;
        {
            let loaded = crate::engine::load(dir.path())?;
            if loaded.run.status.is_over() {
                // Whoever ended it may have been killed before the report was written, which this makes good.
                let _ = self.writer(&dir, Input::None);
                return Err(over(&loaded.run));
            }
        }
        let mut writer = self.writer_alone(&project, &dir, Input::None)?;
        if writer.open.run.status.is_over() {
            // What was interrupted was the end, and that has come about now.
            let run = &writer.open.run;
            return Ok(Resumed {
                resumed: true,
                run_id: run.run.clone(),
                next_action: view::next_action(run),
            });
        }
        self.may_go_on(&writer, &project)?;
        let approval = self.approval_of_turn(&writer.open, &Turn::new("resume", ""))?;
        match writer.done(&Command::Resume { approval })? {
            Done::Moved(_) => {
                let run = &writer.open.run;
                Ok(Resumed {
                    resumed: true,
                    run_id: run.run.clone(),
                    next_action: view::next_action(run),
                })
            }
            Done::Refused(refusal) => Err(refused(Some(&writer.open.run), &refusal)),
            Done::EffectFailed {
                code,
                message,
                suggestion,
                ..
            } => Err(effects::fault(code, message, suggestion)),
        }
    }

    /// Refuses to go on with a run whose branch is not there, or beside another one. To be asked under
    /// the lock of the project.
    fn may_go_on(&self, writer: &RunWriter<'_>, project: &ProjectDir) -> Result<(), Fault> {
        head_is_there(&writer.open.run)?;
        match running(project)? {
            Some(other) if other.id() == writer.open.run.run => Ok(()),
            _ => self.refuse_second(project),
        }
    }

    /// Ends a run.
    pub fn abort(&self, run: Option<&str>, abort: request::Abort) -> Result<Aborted, Fault> {
        let (project, dir) = self.meant(&AUTOPILOT, run, Meant::Running)?;
        let mut writer = self.writer_alone(&project, &dir, Input::None)?;
        let ended = writer.open.run.status;
        if ended.is_over() && !(abort.cleanup && ended == RunStatus::Aborted) {
            return Err(over(&writer.open.run));
        }
        let memory = Memory::of(&writer.open.run)?;
        let flags = abort.turn().flags;
        // What is deleted is gone: a person's to decide, as what is let pass.
        let approval = if abort.cleanup {
            let given = self.approval_of_turn(&writer.open, &abort.turn())?;
            let least = writer.open.run.least_approval;
            let held = approval::strong_enough(given.as_deref(), least, "clean-up").map(drop);
            held.map_err(|refusal| refused(Some(&writer.open.run), &refusal))?;
            given
        } else {
            None
        };
        let done = if ended.is_over() {
            // Aborted before, and perhaps killed while it cleared up: only that is left to do.
            clear_branch(&writer, &flags)?
        } else {
            writer.done(&Command::Abort { approval, flags })?
        };
        match done {
            Done::Moved(_) => {}
            Done::Refused(refusal) => {
                return Err(refused(Some(&writer.open.run), &refusal));
            }
            Done::EffectFailed {
                code,
                message,
                suggestion,
                ..
            } => {
                return Err(effects::fault(code, message, suggestion));
            }
        }
        let run_id = writer.open.run.run.clone();
        if abort.cleanup {
            // The project stays locked; its run has nobody left who could wait for it.
            let _project_lock = writer.release();
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
                format!(
                    "The run was aborted; branch `{}` and all files stay as they are",
                    memory.start.branch
                )
            },
            run_id,
            aborted: true,
            branch: memory.start.branch,
            cleaned_up: abort.cleanup,
        })
    }
}

/// Refuses a step aside that names no subtask when the one it was meant for was completed on the way here.
fn is_where_it_was(writer: &RunWriter<'_>) -> Result<(), Fault> {
    if !writer.open.moved_on {
        return Ok(());
    }
    let next = view::next_action(&writer.open.run);
    Err(Fault::new(
        Kind::Conflict,
        "stale_unit",
        format!(
            "an interrupted step was found to be done, and the run has moved on to {}{}",
            next.action,
            next.subtask
                .map_or_else(String::new, |subtask| format!(" of {}", subtask.id))
        ),
    )
    .suggest(format!(
        "look with {next}, and repeat this if it is meant for what is present now",
        next = Verb::Next
    ))
    .recover(Verb::Next))
}

/// Deletes the branch of a run that was aborted before.
fn clear_branch(writer: &RunWriter<'_>, flags: &Map<String, Value>) -> Result<Done, Fault> {
    use super::super::effects::delete;
    use crate::support::{No, Outcome};
    delete::settle(&writer.call, &writer.open.run)?;
    match delete::prepare(&writer.call, &writer.open.run, flags) {
        Err(No::Refused(refusal)) => Ok(Done::Refused(refusal)),
        Err(No::Fault(fault)) => Err(fault),
        Ok(what) => match delete::carry_out(&writer.call, &writer.open.run, &what)? {
            Outcome::Done { .. } => Ok(Done::Moved(Vec::new())),
            Outcome::Failed {
                code,
                message,
                suggestion,
            } => Ok(Done::EffectFailed {
                code,
                message,
                suggestion,
                events: Vec::new(),
            }),
        },
    }
}

/// What a subtask that is given up leaves in the tree counts as dirty before from then on.
pub(super) fn left_behind(run: &RunState) -> Result<Map<String, Value>, Fault> {
    let mut memory = Memory::of(run)?;
    let repository = memory.repository();
    let status = repository.status()?;
    let changes = Changes::of(&status, &memory, &repository, &[])?;
    let paths = changes.paths();
    for (path, content) in repository.hash_files(&paths)? {
        // What was the user's before the run stays the user's.
        if memory.dirty.get(&path).is_some_and(|before| !before.left) {
            continue;
        }
        memory.dirty.insert(
            path,
            DirtyFile {
                content: content.map(|id| id.as_str().to_owned()),
                left: true,
            },
        );
    }
    let dirty =
        serde_json::to_value(&memory.dirty).map_err(|error| Fault::bug(error.to_string()))?;
    Ok(memory::entry(DIRTY, dirty))
}

pub(super) fn head_is_there(run: &RunState) -> Result<(), Fault> {
    let memory = Memory::of(run)?;
    let reads = |(token, _): (&Token, _)| is_read_on_branch(&token.role);
    if run.pending.is_some() || !run.waiting().any(reads) {
        // The branch may not be there yet, and going on makes it.
        return Ok(());
    }
    let head = memory.repository().head()?;
    let branch = &memory.start.branch;
    if head.branch.as_deref() == Some(branch) {
        return Ok(());
    }
    let command = format!("git switch {branch}");
    Err(Fault::new(
        Kind::Refused,
        "wrong_branch",
        format!(
            "HEAD is {}; the run works on `{branch}`",
            head.branch
                .map_or_else(|| "detached".to_owned(), |name| format!("on `{name}`"))
        ),
    )
    .suggest(format!("run `{command}`, then resume"))
    .recover(command))
}
