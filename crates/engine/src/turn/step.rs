//! The due step of a run, where it is taken without a report: one transition, or nothing.

use std::time::Duration;

use journal::RunLock;
use journal::layout::RunDir;
use machine::decide::BLOCKED;
use machine::state::RunStatus;
use machine::{Command, Definition, Event, Refusal, RunState, Shared};
use serde_json::Value;

use crate::action::next::{Detail, next_action};
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
use crate::summary;
use crate::support::HandlerError;
use crate::turn::answer::TurnAnswer;
use crate::turn::refused;
use crate::view::GENERIC;
use crate::writer::RunWriter;

/// The lock of those who take steps. A step may have a command at work for long, and in the meantime everything else goes
/// on: only the next step waits.
const STEPS_LOCK: &str = "steps.lock";
/// The longest that a command may take, and so a step may have to wait for another one.
const LONGEST_STEP: Duration = Duration::from_hours(1);

/// What a step of a run came to, for whoever answers. The run is held meanwhile, where one was taken.
pub(crate) struct Step<'s> {
    pub(crate) call: &'s Call<'s>,
    pub(crate) run: &'s RunState,
    /// What was journalled of it: nothing where only what another process had begun was brought to its end. Where none was taken, what
    /// the run waits for.
    pub(crate) came_to: Result<Vec<Event>, Refusal>,
    /// Whether the run is in another state by it.
    pub(crate) moved: bool,
}

impl Engine {
    /// Takes exactly one step, or none where the run waits for somebody.
    pub fn run_step(&self, run: Option<&str>) -> Result<TurnAnswer, Fault> {
        let (dir, run) = self.seen(&GENERIC, run)?;
        self.unit_is_present(&run, &*open_run::pinned(dir.path(), &run)?)?;
        self.take_step(&dir, run, None, |step| {
            let (call, run) = (step.call, step.run);
            step.came_to.map_err(|refusal| blocked(run, &refusal))?;
            let message = stepped(run, &call.definition, step.moved);
            let next = next_action(&GENERIC, call, run, Detail::Brief)?;
            Ok(TurnAnswer {
                report: summary::of_end(&call.dir, run),
                ..TurnAnswer::of(&run.run, message, next)
            })
        })
    }

    /// Takes the due step of a run; in `phase` alone, where one is named. None where the run waits, or is elsewhere.
    pub(crate) fn take_step<T>(
        &self,
        dir: &RunDir,
        mut run: Shared<RunState>,
        phase: Option<&str>,
        answer: impl Fn(Step<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let mut turn = None;
        for _ in 0..=MOST_LOOKS {
            let (call, before, ahead) = self.settled_look(dir, run, outlook, |_| true)?;
            let is_meant = |phase: &str| phase.eq_ignore_ascii_case(before.state());
            let waits = match &ahead {
                Forecast::Blocked(refusal) => Some(refusal.clone()),
                _ if turn.is_none() || phase.is_none_or(is_meant) => None,
                _ => Some(Refusal::new(BLOCKED)),
            };
            // Where nothing can be done nothing is touched, not even a lock.
            if let Some(refusal) = waits {
                self.clear_after_a_death(dir, turn);
                return answer(Step {
                    call: &call,
                    run: &before,
                    came_to: Err(refusal),
                    moved: false,
                });
            }
            if let Some(turn) = &turn {
                let taken = self.step_from(dir, (call, &before, ahead), turn, &answer)?;
                if let Some(answer) = taken {
                    return Ok(answer);
                }
            } else {
                let (at, wait) = (dir.path(), self.wait_at_most(LOCK_WAIT + LONGEST_STEP));
                let lock = RunLock::acquire_named(at, STEPS_LOCK, wait, &self.command)?;
                turn = Some(lock);
            }
            run = seen(dir)?;
        }
        Err(fault!("lock_timeout.session_busy", run = dir.id()))
    }

    /// Takes a step of a run, with what its readers say. None where the run is not where it was seen.
    fn step_from<'a, T>(
        &'a self,
        dir: &RunDir,
        (call, before, ahead): (Call<'a>, &RunState, Forecast),
        turn: &RunLock,
        answer: impl Fn(Step<'_>) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
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
        let alone = if is_over_a_task(before) {
            Some(self.stored_or_missing()?.lock(self.wait(), &self.command)?)
        } else {
            None
        };
        let open = OpenRun::open(dir.path(), self.wait(), &self.command, &*self.clock)?;
        let is_interrupted = open.run.pending.is_some();
        if !is_interrupted && *open.run != *before {
            return Ok(None);
        }
        let mut writer = RunWriter::recovered(open, call, alone, Some(turn))?;
        let events = if is_interrupted && writer.open.run.transitions != before.transitions {
            // What another process began and did not finish is the step that was taken.
            Vec::new()
        } else if *writer.open.run != *before || !reads_what_is_there(&writer.call) {
            return Ok(None);
        } else {
            match writer.command(&Command::Step)? {
                Ok(events) => events,
                Err(refusal) if refusal.code == BLOCKED => return Ok(None),
                Err(refusal) => {
                    let (call, run) = (&writer.call, &writer.open.run);
                    let fault = refused(&GENERIC, call, run, &refusal);
                    let unit = run.waiting().next().map(|(_, unit)| unit.id.as_str());
                    self.note_refused(dir.path(), unit, Some(&fault.code), &fault.message);
                    return Err(fault);
                }
            }
        };
        let run = &*writer.open.run;
        let step = Step {
            call: &writer.call,
            run,
            came_to: Ok(events),
            moved: run.transitions != before.transitions,
        };
        answer(step).map(Some)
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

/// What can be told of the next step of a run without writing anything.
fn outlook<'a>(
    call: Call<'a>,
    run: &Shared<RunState>,
) -> Result<(Call<'a>, Shared<RunState>, Forecast), Fault> {
    match open_run::foresee(&call.definition, run, &call)? {
        Forecast::Refused(refusal) => Err(refused(&GENERIC, &call, run, &refusal)),
        ahead => Ok((call, run.clone(), ahead)),
    }
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
