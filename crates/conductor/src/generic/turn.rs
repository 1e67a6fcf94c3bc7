//! Turns: pausing, going on, one step back, giving an item up, ending.

use rails::{Command, Refusal, RunState};
use serde_json::Map;

use super::answer::RunMoved;
use crate::tdd::autopilot::no_reason;

use super::look::look_further;
use super::{view, words};
use crate::approval::{Turn, again};
use crate::call::Input;
use crate::conductor::Conductor;
use crate::engine::{self};
use crate::fault::{Fault, Kind};
use crate::find::Meant;
use crate::find::is_over_a_task;
use crate::next_step::Verb;
use crate::review::CAP;
use crate::view::{GENERIC, SESSION};
use crate::writer::RunWriter;

impl Conductor {
    /// Stops taking reports.
    pub fn run_pause(&self, run: Option<&str>, reason: &str) -> Result<RunMoved, Fault> {
        let (_, dir) = self.meant(&GENERIC, run, Meant::Running)?;
        if is_over_a_task(&engine::load(dir.path())?.run) {
            return self.moved_on_task(dir.id(), self.pause(Some(dir.id()), reason)?);
        }
        let reason = if reason.trim().is_empty() {
            "asked for"
        } else {
            reason
        };
        let mut writer = self.writer(&dir, Input::None)?;
        let command = Command::Pause {
            reason: reason.to_owned(),
        };
        moved(&mut writer, &command, |run| {
            let why = run.pause.as_ref().map_or("", |pause| &pause.reason);
            format!("Paused: {why}")
        })
    }

    /// Goes on with a run.
    pub fn run_resume(&self, run: Option<&str>) -> Result<RunMoved, Fault> {
        let (_, dir) = self.meant(&GENERIC, run, Meant::Stopped)?;
        if is_over_a_task(&engine::load(dir.path())?.run) {
            return self.resumed_on_task(dir.id());
        }
        let mut writer = self.writer(&dir, Input::None)?;
        let paused = writer.open.run.pause.as_ref();
        if writer.call.session.is_some() && paused.is_some_and(|pause| pause.reason == CAP) {
            return Err(Fault::new(
                Kind::Refused,
                "needs_person",
                format!(
                    "{} is paused after its last iteration: a person decides how it goes on",
                    dir.id()
                ),
            )
            .suggest("ask the person to give it more of them, or to have the review written again")
            .recover(
                Verb::Reopen
                    .step()
                    .in_view(SESSION.name)
                    .of(dir.id())
                    .and("maxIterations"),
            ));
        }
        let approval = self.approval_of_turn(&writer.open, &Turn::new("resume", ""))?;
        moved(&mut writer, &Command::Resume { approval }, |run| {
            format!("The run goes on: {}", run.run)
        })
    }

    /// One step back, by the present state's own rule.
    pub fn run_reopen(&self, run: Option<&str>, reason: &str) -> Result<RunMoved, Fault> {
        let (project, dir) = self.meant(&GENERIC, run, Meant::Running)?;
        if is_over_a_task(&engine::load(dir.path())?.run) {
            return self.moved_on_task(dir.id(), self.reopen(Some(dir.id()), reason)?);
        }
        let mut writer = self.writer_alone(&project, &dir, Input::None)?;
        if writer.call.session.is_some() {
            return Err(Fault::new(
                Kind::Refused,
                "needs_person",
                format!("{} is a session: a person takes it up again, at a terminal", dir.id()),
            )
            .suggest("ask the person; where a response was not taken in yet, another one can be put into its place")
            .recover(Verb::Reopen.step().in_view(SESSION.name).of(dir.id())));
        }
        let command = Command::Reopen {
            reason: reason.to_owned(),
            flags: Map::new(),
            approval: self.approval_of_turn(&writer.open, &Turn::new("reopen", reason))?,
        };
        let definition = std::sync::Arc::clone(&writer.call.definition);
        moved(&mut writer, &command, |run| {
            let back: Vec<String> = run
                .waiting()
                .map(|(token, _)| words::place(&definition, &token.state, token.key()))
                .collect();
            if back.is_empty() {
                format!("Reopened: {}", words::stands(run, &definition))
            } else {
                format!("Reopened: {}", back.join(", "))
            }
        })
    }

    /// Gives an item up, or the run, by the present state's own rule.
    pub fn run_skip(
        &self,
        run: Option<&str>,
        item: Option<&str>,
        reason: &str,
    ) -> Result<RunMoved, Fault> {
        if reason.trim().is_empty() {
            return Err(no_reason(Verb::Skip));
        }
        let (project, dir) = self.meant(&GENERIC, run, Meant::Running)?;
        if is_over_a_task(&engine::load(dir.path())?.run) {
            return self.moved_on_task(dir.id(), self.skip(Some(dir.id()), item, reason)?);
        }
        let mut writer = self.writer_alone(&project, &dir, Input::None)?;
        let given_up = item
            .map(str::to_owned)
            .or_else(|| writer.open.run.waiting().next()?.0.key().map(str::to_owned));
        let command = Command::Skip {
            item: item.map(str::to_owned),
            reason: reason.to_owned(),
            keep: Map::new(),
        };
        moved(&mut writer, &command, |_| match given_up {
            Some(key) => format!("Given up: {key}"),
            None => "Given up".to_owned(),
        })
    }

    /// Ends a run. Whatever it left outside its own folder stays.
    pub fn run_abort(&self, run: Option<&str>) -> Result<RunMoved, Fault> {
        let (project, dir) = self.meant(&GENERIC, run, Meant::NotOver)?;
        if is_over_a_task(&engine::load(dir.path())?.run) {
            return self.aborted_on_task(dir.id());
        }
        let mut writer = self.writer_to_end(&project, &dir)?;
        let command = Command::Abort {
            approval: None,
            flags: Map::new(),
        };
        moved(&mut writer, &command, |run| {
            format!("The run was aborted; its journal stays: {}", run.run)
        })
    }
}

fn moved(
    writer: &mut RunWriter<'_>,
    command: &Command,
    message: impl FnOnce(&RunState) -> String,
) -> Result<RunMoved, Fault> {
    if writer.open.run.status.is_over() {
        return Err(over(&writer.open.run));
    }
    let state = writer
        .open
        .run
        .waiting()
        .next()
        .map(|(token, _)| token.state.clone());
    let done = writer.command(command)?;
    let run = &writer.open.run;
    match done {
        Ok(_) => Ok(RunMoved {
            run_id: run.run.clone(),
            message: message(run),
            next_action: look_further(
                &writer.call,
                run,
                view::next_action(run, &writer.call.definition),
            )?,
            report: if run.status.is_over() {
                journal::durable::read_text(&writer.open.dir.join("report.md")).ok()
            } else {
                None
            },
        }),
        Err(refusal) => Err(refused(writer, state.as_deref(), &refusal)),
    }
}

fn refused(writer: &RunWriter<'_>, state: Option<&str>, refusal: &Refusal) -> Fault {
    let run = &writer.open.run;
    let said = words::refusal(run, &writer.call.definition, state, refusal);
    let kind = match refusal.code.as_str() {
        "stale_unit" | "paused" => Kind::Conflict,
        _ => Kind::Refused,
    };
    let mut fault = Fault::new(kind, refusal.code.clone(), said.message).suggest(said.suggestion);
    fault.details.clone_from(&refusal.details);
    fault.recover(match refusal.code.as_str() {
        "needs_person" | "approval_too_weak" => again("run", Some(run), refusal),
        "paused" => Verb::Resume.step().of(&run.run).into(),
        _ => Verb::Next.step().of(&run.run).into(),
    })
}

fn over(run: &RunState) -> Fault {
    Fault::new(
        Kind::Missing,
        "run_over",
        format!("the run {} is over: it is {}", run.run, run.status.name()),
    )
    .suggest("see what it did, or start another one")
    .recover(Verb::Summary.step().of(&run.run))
}
