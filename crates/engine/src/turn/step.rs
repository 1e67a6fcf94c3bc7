//! The due step of a run, where it is taken without a report: one transition, or nothing.

use std::ops::ControlFlow;
use std::time::Duration;

use journal::RunLock;
use journal::layout::RunDir;
use machine::decide::BLOCKED;
use machine::state::RunStatus;
use machine::{Command, Definition, Event, Refusal, RunState, Shared};
use serde_json::Value;

use crate::call::{Call, Input};
use crate::capability::files::subject::{fault as fault_of, is_whole};
use crate::capability::reads_long;
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::find::is_over_a_task;
use crate::generic::messages;
use crate::look::{MOST_LOOKS, is_still, seen};
use crate::open_run::{self, Forecast, LOCK_WAIT, OpenRun};
use crate::support::HandlerError;
use crate::turn::answer::TurnAnswer;
use crate::turn::{TurnOutcome, refused};
use crate::view::GENERIC;
use crate::writer::RunWriter;

/// The lock of those who take steps. A step may have a command at work for long, and in the meantime everything else goes
/// on: only the next step waits.
const STEPS_LOCK: &str = "steps.lock";
/// The longest that a command may take, and so a step may have to wait for another one.
const LONGEST_STEP: Duration = Duration::from_hours(1);

/// The run as a step was not taken of it: it waits.
pub(crate) struct BlockedStep<'a> {
    pub(crate) call: Call<'a>,
    pub(crate) run: Shared<RunState>,
    /// What it waits for.
    pub(crate) refusal: Refusal,
}

/// A step that was taken.
pub(crate) struct TakenStep<'a> {
    pub(crate) writer: RunWriter<'a>,
    /// What was journalled of it; nothing where only what another process had begun was brought to its end.
    pub(crate) events: Vec<Event>,
    /// Whether the run is in another state by it.
    pub(crate) moved: bool,
}

/// What can be told of a step without writing anything.
type Outlook<'a> = ControlFlow<BlockedStep<'a>, (Call<'a>, Shared<RunState>, Forecast)>;

impl Engine {
    /// Takes exactly one step, or none where the run waits for somebody.
    pub fn run_step(&self, run: Option<&str>) -> Result<TurnAnswer, Fault> {
        let (dir, run) = self.seen(&GENERIC, run)?;
        let definition = open_run::pinned(dir.path(), &run)?;
        self.unit_is_present(&run, &definition)?;
        match self.take_step(&dir, run, None)? {
            ControlFlow::Break(none) => Err(blocked(&none.run, &none.refusal)),
            ControlFlow::Continue(TakenStep { writer, moved, .. }) => {
                let message = stepped(&writer.open.run, &definition, moved);
                TurnOutcome::new(writer, message).answer(&GENERIC)
            }
        }
    }

    /// Takes the due step of a run; in `phase` alone, where one is named. None where the run waits, or is elsewhere.
    pub(crate) fn take_step(
        &self,
        dir: &RunDir,
        mut run: Shared<RunState>,
        phase: Option<&str>,
    ) -> Result<ControlFlow<BlockedStep<'_>, TakenStep<'_>>, Fault> {
        let mut turn = None;
        for _ in 0..=MOST_LOOKS {
            // Where nothing can be done nothing is touched, not even a lock.
            let (call, before, ahead) = match self.settled_look(dir, run, outlook, |_| true)? {
                ControlFlow::Break(none) => {
                    self.clear_after_a_death(dir, turn);
                    return Ok(ControlFlow::Break(none));
                }
                ControlFlow::Continue(outlook) => outlook,
            };
            if let Some(turn) = &turn {
                if phase.is_some_and(|phase| !phase.eq_ignore_ascii_case(before.state())) {
                    return Ok(ControlFlow::Break(BlockedStep {
                        call,
                        run: before,
                        refusal: Refusal::new(BLOCKED),
                    }));
                }
                if let Some(taken) = self.step_from(dir, call, &before, ahead, turn)? {
                    return Ok(ControlFlow::Continue(taken));
                }
            } else {
                let wait = self.wait_at_most(LOCK_WAIT + LONGEST_STEP);
                turn = Some(RunLock::acquire_named(
                    dir.path(),
                    STEPS_LOCK,
                    wait,
                    &self.command,
                )?);
            }
            run = seen(dir)?;
        }
        Err(fault!("lock_timeout.session_busy", run = dir.id()))
    }

    /// Takes a step of a run, with what its readers say. None where the run is not where it was seen.
    fn step_from<'a>(
        &'a self,
        dir: &RunDir,
        call: Call<'a>,
        before: &RunState,
        ahead: Forecast,
        turn: &RunLock,
    ) -> Result<Option<TakenStep<'a>>, Fault> {
        if let Forecast::Reading { role, token, run } = ahead
            && (reads_long(&role.reader) || (call.session.is_some() && !role.reader.is_empty()))
        {
            match call.reads_ahead(role, token, &run) {
                Ok(()) => {}
                Err(HandlerError::Refused(refusal)) if refusal.code == BLOCKED => return Ok(None),
                Err(_) if !is_still(dir, before) => return Ok(None),
                Err(error) => return Err(fault_of(error)),
            }
        }
        // Who begins and ends runs over tasks does so alone.
        let alone = is_over_a_task(before).then(|| self.stored_or_missing());
        let alone = alone.transpose()?;
        let alone = alone.map(|project| project.lock(self.wait(), &self.command));
        let alone = alone.transpose()?;
        let open = OpenRun::open(dir.path(), self.wait(), &self.command, &*self.clock)?;
        let is_interrupted = open.run.pending.is_some();
        if !is_interrupted && *open.run != *before {
            return Ok(None);
        }
        let mut writer = RunWriter::recovered(open, call, alone, Some(turn))?;
        if is_interrupted && writer.open.run.transitions != before.transitions {
            // What another process began and did not finish is the step that was taken.
            return Ok(Some(TakenStep {
                writer,
                events: Vec::new(),
                moved: true,
            }));
        }
        if *writer.open.run != *before || !reads_what_is_there(&writer.call) {
            return Ok(None);
        }
        match writer.command(&Command::Step)? {
            Ok(events) => {
                let moved = writer.open.run.transitions != before.transitions;
                Ok(Some(TakenStep {
                    writer,
                    events,
                    moved,
                }))
            }
            Err(refusal) if refusal.code == BLOCKED => Ok(None),
            Err(refusal) => {
                let (call, run) = (&writer.call, &writer.open.run);
                let fault = refused(&GENERIC, call, run, &refusal);
                let unit = run.waiting().next().map(|(_, unit)| unit.id.as_str());
                self.note_refused(dir.path(), unit, Some(&fault.code), &fault.message);
                Err(fault)
            }
        }
    }

    /// Clears up behind a process that was killed, where the run waits or is over, so that nobody else would. Who is
    /// still at work has a lock, and clears up by himself.
    fn clear_after_a_death(&self, dir: &RunDir, turn: Option<RunLock>) {
        let signed = |name: &str| RunLock::holder_named(dir.path(), name).is_some();
        let turn = match turn {
            None if signed(journal::lock::FILE_NAME) || signed(STEPS_LOCK) => {
                RunLock::acquire_named(dir.path(), STEPS_LOCK, Duration::ZERO, &self.command).ok()
            }
            turn => turn.filter(RunLock::is_after_a_death),
        };
        if let Some(turn) = turn
            && let Ok(open) = OpenRun::open(
                dir.path(),
                Duration::ZERO.into(),
                &self.command,
                &*self.clock,
            )
            && let Ok(call) = self.call(dir, &open.run, Input::None)
        {
            // The answer is the same if this does not come about.
            let _ = RunWriter::recovered(open, call, None, Some(&turn));
        }
    }
}

/// What can be told of the next step of a run.
fn outlook<'a>(call: Call<'a>, run: &Shared<RunState>) -> Result<Outlook<'a>, Fault> {
    let run = run.clone();
    Ok(match open_run::foresee(&call.definition, &run, &call)? {
        Forecast::Blocked(refusal) => ControlFlow::Break(BlockedStep { call, run, refusal }),
        Forecast::Refused(refusal) => return Err(refused(&GENERIC, &call, &run, &refusal)),
        ahead => ControlFlow::Continue((call, run, ahead)),
    })
}

/// Whether the response that was read before the run was opened is what stands there now: somebody may have put another one
/// into its place in the meantime, and was told that it is there.
fn reads_what_is_there(call: &Call<'_>) -> bool {
    call.read_ahead().is_none_or(|ahead| {
        let mut taken = ahead.reading.artifacts.iter();
        taken.all(|taken| is_whole(&call.dir.join(&taken.path), &taken.sha256))
    })
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

/// Why no step can be taken, and what the run waits for.
pub(crate) fn blocked(run: &RunState, refusal: &Refusal) -> Fault {
    let told = |name: &str| refusal.details.get(name).and_then(Value::as_str);
    if let Some(gate) = told("gate") {
        return fault!("blocked.at_gate", gate, run = run.run).detail("gate", gate);
    }
    if let Some(path) = told("path") {
        return fault!("blocked.for_file", path, run = run.run).detail("path", path);
    }
    match run.status {
        RunStatus::Paused => {
            let reason = run.pause.as_ref().map_or("", |pause| pause.reason.as_str());
            fault!("blocked.paused", reason, run = run.run)
        }
        RunStatus::Running => {
            let units: Vec<&str> = run.waiting().map(|(_, unit)| unit.id.as_str()).collect();
            let fault = fault!(
                "blocked.for_report",
                units = units.join(", "),
                run = run.run
            );
            fault.detail("units", units)
        }
        over => fault!("blocked.over", status = over.name(), run = run.run),
    }
}
