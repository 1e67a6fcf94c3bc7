//! Looking: what is next, and where the run is; and a step where there is one to take.

use journal::layout::RunDir;
use machine::decide::BLOCKED;
use machine::state::RunStatus;
use machine::{Command, Definition, Refusal, RunState, Shared};
use serde_json::Value;

use crate::generic::answer::{RunAction, RunStatusAnswer};

use crate::call::{Call, Input};
use crate::capability::TASKS;
use crate::capability::files::subject::{TAMPERED, fault as fault_of};
use crate::capability::reads_long;
use crate::clock::stamp;
use crate::engine::Engine;
use crate::fault::{Fault, Kind};
use crate::find::Selector;
use crate::find::is_over_a_task;
use crate::generic::gate::described;
use crate::generic::{messages, on_task, view};
use crate::integrity::never_began;
use crate::next_step::{NextStep, Verb};
use crate::open_run::{self, Forecast};
use crate::refusals;
use crate::turn::answer::TurnAnswer;
use crate::turn::{self, TurnOutcome};
use crate::view::GENERIC;

impl Engine {
    /// What is to be done now. Changes nothing.
    pub fn run_next(&self, run: Option<&str>) -> Result<RunAction, Fault> {
        let (dir, run) = self.seen(run)?;
        if run.status == RunStatus::Aborted {
            let definition = open_run::pinned(dir.path(), &run)?;
            let begin = begin(&run, &definition);
            return Err(Fault::new(
                Kind::Missing,
                "run_aborted",
                format!("the run {} was aborted", run.run),
            )
            .suggest(format!("start a new one: {begin}"))
            .detail("runId", run.run.as_str())
            .recover(begin));
        }
        let definition = open_run::pinned(dir.path(), &run)?;
        if on_task::is_of_task(&run) {
            let action = self.next(Some(dir.id()), false)?;
            return self.action_on_task(&dir, &run, action);
        }
        let call = self.call(&dir, &run, Input::None)?;
        look_further(&call, &run, view::full(&run, &definition, dir.path())?)
    }

    /// Where the run is.
    pub fn run_status(&self, run: Option<&str>) -> Result<RunStatusAnswer, Fault> {
        let (dir, run) = self.seen(run)?;
        self.status_of(&dir, &run)
    }

    /// The same of a run that was loaded already.
    pub(crate) fn status_of(&self, dir: &RunDir, run: &RunState) -> Result<RunStatusAnswer, Fault> {
        let definition = open_run::pinned(dir.path(), run)?;
        let mut status = view::status(run, &definition, self.clock.millis());
        if is_over_a_task(run) {
            let own = self.status(Some(dir.id()))?;
            status.next_action = self.action_on_task(dir, run, own.next_action.clone())?;
            status.context = Some(on_task::own_status(&own)?);
        } else {
            let call = self.call(dir, run, Input::None)?;
            // Where it is can be told also where its folder cannot be looked into.
            if let Ok(action) = look_further(&call, run, status.next_action.clone()) {
                status.next_action = action;
            }
        }
        Ok(status)
    }

    /// Takes exactly one step, or none where the run waits for somebody.
    pub fn run_step(&self, run: Option<&str>) -> Result<TurnAnswer, Fault> {
        let (dir, run) = self.seen(run)?;
        let definition = open_run::pinned(dir.path(), &run)?;
        self.unit_is_present(&run, &definition)?;
        if on_task::is_of_task(&run) {
            let interrupted = run.status == RunStatus::Running
                && (run.pending.is_some() || run.waiting().next().is_none());
            return if interrupted {
                // Settling what an interrupted call left is the step that it can take by itself.
                let (project, dir) = self.meant(&GENERIC, Some(dir.id()), Selector::Running)?;
                let settled = self.goes_on(&GENERIC, &project, &dir)?;
                let message = "What was interrupted is settled".to_owned();
                TurnOutcome { message, ..settled }.answer(&GENERIC)
            } else {
                Err(blocked(&run, &Refusal::new(BLOCKED)))
            };
        }
        let call = self.call(&dir, &run, Input::None)?;
        if call.session.is_some() {
            return self.step_of_session(dir.id());
        }
        match open_run::foresee(&definition, &run, &call)? {
            Forecast::Blocked(refusal) => return Err(blocked(&run, &refusal)),
            Forecast::Refused(refusal) => {
                return Err(turn::refused(&GENERIC, &call, &run, None, &refusal));
            }
            Forecast::Reading { role, token, run } if reads_long(&role.reader) => {
                call.reads_ahead(role, token, &run).map_err(fault_of)?;
            }
            Forecast::Reading { .. } | Forecast::Goes => {}
        }
        let project = self.stored_or_missing()?;
        let mut writer = self.writer_alone(&project, &dir, Input::None)?;
        if writer.open.run.transitions == run.transitions {
            writer.call.was_read(call.read_ahead());
            match writer.command(&Command::Step)? {
                Ok(_) => {}
                Err(refusal) if refusal.code == BLOCKED => {
                    return Err(blocked(&writer.open.run, &refusal));
                }
                Err(refusal) => {
                    let fault =
                        turn::refused(&GENERIC, &writer.call, &writer.open.run, None, &refusal);
                    let now = stamp(self.clock.millis());
                    let unit = writer
                        .open
                        .run
                        .waiting()
                        .next()
                        .map(|(_, unit)| unit.id.as_str());
                    refusals::note(dir.path(), &now, unit, Some(&fault.code), &fault.message);
                    return Err(fault);
                }
            }
        }
        let moved = writer.open.run.transitions != run.transitions;
        let message = stepped(&writer.open.run, &definition, moved);
        TurnOutcome::new(writer, message).answer(&GENERIC)
    }

    fn step_of_session(&self, id: &str) -> Result<TurnAnswer, Fault> {
        let (_, before) = self.seen(Some(id))?;
        let step = self.session_step(Some(id))?;
        let (dir, run) = self.seen(Some(id))?;
        let call = self.call(&dir, &run, Input::None)?;
        if run.status.is_over() && !step.advanced {
            return Err(blocked(&run, &Refusal::new(BLOCKED)));
        }
        if !step.advanced {
            return match open_run::foresee(&call.definition, &run, &call)? {
                Forecast::Blocked(refusal) => Err(blocked(&run, &refusal)),
                _ => Err(blocked(&run, &Refusal::new(BLOCKED))),
            };
        }
        let moved = run.transitions != before.transitions;
        let next = look_further(&call, &run, view::next_action(&run, &call.definition))?;
        Ok(TurnAnswer::of(
            dir.id(),
            stepped(&run, &call.definition, moved),
            next,
        ))
    }

    /// The run that is meant, as it is, without a lock.
    pub(super) fn seen(&self, run: Option<&str>) -> Result<(RunDir, Shared<RunState>), Fault> {
        let (_, dir) = self.meant(&GENERIC, run, Selector::Running)?;
        let loaded = open_run::load(dir.path())?;
        if loaded.head.seq == 0 {
            return Err(never_began(&dir));
        }
        Ok((dir, loaded.run))
    }
}

/// What a step came to: a transition, a pause, or a prompt alone.
fn stepped(run: &RunState, definition: &Definition, moved: bool) -> String {
    if run.status == RunStatus::Paused {
        let why = run.pause.as_ref().map_or("", |pause| {
            pause.message.as_deref().unwrap_or(&pause.reason)
        });
        return format!("The run is paused: {why}");
    }
    let stands = messages::stands(run, definition);
    if moved {
        format!("One step on: {stands}")
    } else {
        format!("The prompt is written: {stands}")
    }
}

/// What comes next, with what only a look at the run's folder tells: a gate that is closed, a step that can be taken.
pub(crate) fn look_further(
    call: &Call<'_>,
    run: &RunState,
    mut action: RunAction,
) -> Result<RunAction, Fault> {
    if run.status != RunStatus::Running {
        return Ok(action);
    }
    match open_run::foresee(&call.definition, run, call)? {
        Forecast::Blocked(refusal) => {
            if let Some(gate) = refusal.details.get("gate").and_then(Value::as_str) {
                "decide".clone_into(&mut action.action);
                let hash = refusal.details.get("hash").and_then(Value::as_str);
                if let (Some(hash), Some(token)) = (hash, run.tokens.first()) {
                    let closed = described(call, run, gate.to_owned(), hash.to_owned(), token);
                    action.strength = Some(closed.strength);
                    action.can_reject = closed.can_reject;
                    action.look_at = closed.look_at;
                    action.hash = Some(closed.hash);
                }
                action.gate = Some(gate.to_owned());
            }
        }
        // What was changed behind the run's back keeps it from any step until it is put back.
        Forecast::Refused(refusal) if refusal.code == TAMPERED => {
            "restore".clone_into(&mut action.action);
            let path = refusal.details.get("path").and_then(Value::as_str);
            action.look_at = path.map(|path| call.dir.join(path)).into_iter().collect();
        }
        // Where another rule stands against it, the step says so.
        Forecast::Goes | Forecast::Reading { .. } | Forecast::Refused(_) => {
            "step".clone_into(&mut action.action);
        }
    }
    Ok(action)
}

/// Why no step can be taken, and what the run waits for.
pub(super) fn blocked(run: &RunState, refusal: &Refusal) -> Fault {
    let told = |name: &str| refusal.details.get(name).and_then(Value::as_str);
    if let Some(gate) = told("gate") {
        return Fault::new(
            Kind::Blocked,
            "blocked",
            format!("no step can be taken: the gate `{gate}` is closed"),
        )
        .suggest("a person looks at what stands before it, and decides")
        .detail("gate", gate)
        .recover(Verb::Approve.step().of(&run.run));
    }
    if let Some(path) = told("path") {
        return Fault::new(
            Kind::Blocked,
            "blocked",
            format!("no step can be taken: the run waits for {path}"),
        )
        .suggest("write it into the run's folder, then take the step")
        .detail("path", path)
        .recover(Verb::Next.step().of(&run.run));
    }
    let id = &run.run;
    let blocked = |message: String| Fault::new(Kind::Blocked, "blocked", message);
    match run.status {
        RunStatus::Paused => blocked(format!(
            "no step can be taken: the run is paused ({})",
            run.pause.as_ref().map_or("", |pause| pause.reason.as_str())
        ))
        .suggest("go on with it first")
        .recover(Verb::Resume.step().of(id)),
        RunStatus::Running => {
            let units: Vec<&str> = run.waiting().map(|(_, unit)| unit.id.as_str()).collect();
            blocked(format!(
                "no step can be taken: the run waits for a report on {}",
                units.join(", ")
            ))
            .suggest("do what is asked for, and report it; that takes the run on by itself")
            .detail("units", units)
            .recover(Verb::Next.step().of(id))
        }
        over => blocked(format!(
            "no step can be taken: the run is over, it is {}",
            over.name()
        ))
        .suggest("see what it did")
        .recover(Verb::Summary.step().of(id)),
    }
}

/// That another run of the same workflow is begun; over a task, of the one that is named then.
fn begin(run: &RunState, definition: &Definition) -> NextStep {
    let start = Verb::Start.step().in_view(GENERIC.name);
    let start = start.with("workflow", &run.workflow);
    match definition.bound_input(TASKS, "id") {
        Some(id) => start.with("input", format!("{id}=ID")),
        None => start,
    }
}
