//! Steps: one transition, or nothing.

use std::ops::ControlFlow;
use std::time::Duration;

use journal::layout::RunDir;
use journal::{RunLock, Wait};
use machine::command::Artifact;
use machine::decide::BLOCKED;
use machine::{Command, Event, RunState, Shared};

use crate::call::{Call, Input};
use crate::capability::files::subject::{fault as fault_of, is_whole};
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::next_step::Verb;
use crate::open_run::{self, Forecast, LOCK_WAIT, OpenRun};
use crate::support::HandlerError;
use crate::turn::refused;
use crate::view::SESSION;
use crate::view::session::about::{self, stepped};
use crate::view::session::answer::StepAnswer;
use crate::writer::RunWriter;

/// The lock of those who take steps. A step may have a profile's command at work for long, and in the meantime
/// everything else goes on: only the next step waits.
pub(crate) const STEPS_LOCK: &str = "steps.lock";
/// The longest that a command of a profile may take, and so a step may have to wait for another one.
const LONGEST_STEP: Duration = Duration::from_hours(1);
/// How often a step looks again where somebody else has moved the session in the meantime.
const MOST_LOOKS: u32 = 64;

/// What a session rests on is nowhere but there: nothing that was taken in is handed in again.
pub(crate) fn without_evidence(fault: Fault) -> Fault {
    if fault.code != "evidence_missing" {
        return fault;
    }
    let suggestion = format!(
        "bring the file back from a copy; without one this session cannot go on: what there is of it lies in its folder, and another one is begun with {}",
        Verb::Start
    );
    fault.suggest(suggestion).recover(Verb::Start)
}

impl Engine {
    /// Takes one step, or none where the session waits.
    pub fn session_step(&self, session: Option<&str>) -> Result<StepAnswer, Fault> {
        self.session_step_in(session, None)
    }

    /// The same, if the session stands in this phase still; none where somebody else took it on from there.
    pub fn session_step_in(
        &self,
        session: Option<&str>,
        phase: Option<&str>,
    ) -> Result<StepAnswer, Fault> {
        self.step_in(session, phase).map_err(without_evidence)
    }

    fn step_in(&self, session: Option<&str>, phase: Option<&str>) -> Result<StepAnswer, Fault> {
        let (dir, run) = self.seen(&SESSION, session)?;
        // Where nothing can be done nothing is touched, not even a lock.
        if let ControlFlow::Break(answer) = self.look_before(&dir, run)? {
            self.clear_after_a_death(&dir);
            return Ok(answer);
        }
        let turn = RunLock::acquire_named(
            dir.path(),
            STEPS_LOCK,
            self.wait_at_most(LOCK_WAIT + LONGEST_STEP),
            &self.command,
        )?;
        for _ in 0..MOST_LOOKS {
            let before = match self.look_before(&dir, about::seen(&dir)?)? {
                ControlFlow::Break(answer) => {
                    if turn.is_after_a_death() {
                        let _ = self.settle(&dir, &turn);
                    }
                    return Ok(answer);
                }
                ControlFlow::Continue(before) => before,
            };
            let stands = before.state();
            if phase.is_some_and(|phase| !phase.eq_ignore_ascii_case(stands)) {
                let call = self.call(&dir, &before, Input::None)?;
                return stepped(&call, &before, false, None);
            }
            if let Some(answer) = self.one_step(&dir, &before, &turn)? {
                return Ok(answer);
            }
        }
        Err(fault!("lock_timeout.session_busy", run = dir.id()))
    }

    /// Takes steps until the session waits or is over; `told` hears of each one that was taken. The last answer.
    pub fn session_run(
        &self,
        session: Option<&str>,
        told: &mut dyn FnMut(&StepAnswer),
    ) -> Result<StepAnswer, Fault> {
        let (dir, _) = self.seen(&SESSION, session)?;
        let mut moved = false;
        loop {
            let mut step = self.session_step(Some(dir.id()))?;
            if !step.advanced {
                step.advanced = moved;
                return Ok(step);
            }
            told(&step);
            if step.state.status != "IN_PROGRESS" {
                return Ok(step);
            }
            moved = true;
        }
    }

    /// Takes a step of a session, with what its readers say. None where the session is not where it was seen.
    fn one_step(
        &self,
        dir: &RunDir,
        before: &RunState,
        turn: &RunLock,
    ) -> Result<Option<StepAnswer>, Fault> {
        let call = self.call(dir, before, Input::None)?;
        if let Forecast::Reading { role, token, run } =
            open_run::foresee(&call.definition, before, &call)?
            && !role.reader.is_empty()
        {
            match call.reads_ahead(role, token, &run) {
                Ok(()) => {}
                Err(HandlerError::Refused(refusal)) if refusal.code == BLOCKED => return Ok(None),
                Err(_) if !about::is_still(dir, before) => return Ok(None),
                Err(error) => return Err(fault_of(error)),
            }
        }
        let open = OpenRun::open(dir.path(), self.wait(), &self.command, &*self.clock)?;
        if open.run.pending.is_none() && *open.run != *before {
            return Ok(None);
        }
        let mut writer = RunWriter::recovered(open, call, None, Some(turn))?;
        if writer.open.run.transitions != before.transitions {
            // What another process began and did not finish is the step that was taken.
            return stepped(&writer.call, &writer.open.run, true, None).map(Some);
        }
        if *writer.open.run != *before || !reads_what_is_there(&writer, before) {
            return Ok(None);
        }
        Self::step_in_hand(&mut writer)
    }

    /// Clears up behind a process that was killed, where the session waits or is over, so that nobody else would. Who is
    /// still at work has a lock, and clears up by himself.
    fn clear_after_a_death(&self, dir: &RunDir) {
        let signed = |name: &str| RunLock::holder_named(dir.path(), name).is_some();
        if (signed(journal::lock::FILE_NAME) || signed(STEPS_LOCK))
            && let Ok(turn) =
                RunLock::acquire_named(dir.path(), STEPS_LOCK, Duration::ZERO, &self.command)
        {
            // The answer is the same if this does not come about.
            let _ = self.settle(dir, &turn);
        }
    }

    fn settle(&self, dir: &RunDir, turn: &RunLock) -> Result<(), Fault> {
        let open = OpenRun::open(
            dir.path(),
            Wait::at_most(Duration::ZERO),
            &self.command,
            &*self.clock,
        )?;
        let call = self.call(dir, &open.run, Input::None)?;
        RunWriter::recovered(open, call, None, Some(turn)).map(|_| ())
    }

    fn step_in_hand(writer: &mut RunWriter<'_>) -> Result<Option<StepAnswer>, Fault> {
        match writer.command(&Command::Step)? {
            Ok(events) => {
                let issued = issued(&writer.call, &writer.open.run, &events);
                stepped(&writer.call, &writer.open.run, true, issued).map(Some)
            }
            Err(refusal) if refusal.code == BLOCKED => Ok(None),
            Err(refusal) => {
                let (call, run) = (&writer.call, &writer.open.run);
                Err(refused(&SESSION, call, run, &refusal))
            }
        }
    }

    /// What can be told of the next step without writing anything: the answer where there is nothing to do, else the session as
    /// the step finds it.
    fn look_before(
        &self,
        dir: &RunDir,
        run: Shared<RunState>,
    ) -> Result<ControlFlow<StepAnswer, RunState>, Fault> {
        about::settled_look(dir, run, |run| {
            let call = self.call(dir, run, Input::None)?;
            match open_run::foresee(&call.definition, run, &call)? {
                Forecast::Blocked(_) => stepped(&call, run, false, None).map(ControlFlow::Break),
                Forecast::Refused(refusal) => Err(refused(&SESSION, &call, run, &refusal)),
                Forecast::Reading { .. } | Forecast::Goes => Ok(ControlFlow::Continue(run.clone())),
            }
        })
    }
}

/// Whether what was read before the run was opened is what stands there now: somebody may have put another response into
/// its place in the meantime, and was told that it is there.
fn reads_what_is_there(writer: &RunWriter<'_>, before: &RunState) -> bool {
    let read = writer.call.read_ahead();
    let Some(hash) = read.and_then(|ahead| ahead.reading.evidence.first().cloned()) else {
        return true;
    };
    let state = before.state();
    match writer.call.definition.response(state, &before.vars) {
        Some(path) => is_whole(&writer.call.dir.join(path), &hash),
        None => true,
    }
}

/// The prompt that these events issued; a step without any wrote one anew that was gone.
fn issued(call: &Call<'_>, run: &RunState, events: &[Event]) -> Option<String> {
    let prompt = call.definition.prompt(run.state(), &run.vars)?;
    if events.is_empty() {
        return Some(prompt);
    }
    events.iter().find_map(|event| match event {
        Event::ArtifactRecorded(Artifact { path, .. }) if *path == prompt => Some(path.clone()),
        _ => None,
    })
}
