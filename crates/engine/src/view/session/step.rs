//! Steps: one transition, or nothing.

use machine::Event;
use machine::command::Artifact;

use crate::engine::Engine;
use crate::fault::Fault;
use crate::next_step::Verb;
use crate::turn::step::Step;
use crate::view::SESSION;
use crate::view::session::about::stepped;
use crate::view::session::answer::StepAnswer;

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
        let (dir, run) = self.seen(&SESSION, session)?;
        let answer = |step: Step<'_>| {
            let issued = issued(&step);
            stepped(step.call, step.run, step.came_to.is_ok(), issued)
        };
        self.take_step(&dir, run, phase, answer)
            .map_err(without_evidence)
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
}

/// The prompt that a step issued; one that changed nothing wrote one anew that was gone.
fn issued(step: &Step<'_>) -> Option<String> {
    let events = step.came_to.as_ref().ok()?;
    let prompt = step
        .call
        .definition
        .prompt(step.run.state(), &step.run.vars)?;
    let records = |event: &Event| matches!(event, Event::ArtifactRecorded(Artifact { path, .. }) if *path == prompt);
    let is_anew = !step.moved && events.is_empty();
    (is_anew || events.iter().any(records)).then_some(prompt)
}
