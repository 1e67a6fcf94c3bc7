//! Looking: what is next, and where the run is; and a step where there is one to take.

use journal::layout::RunDir;
use rails::RunState;
use rails::state::RunStatus;

use super::answer::{RunAction, RunMoved, RunStatusAnswer};
use super::choose::Meant;
use super::{on_task, view};
use crate::conductor::{Conductor, is_over_a_task, never_began};
use crate::engine;
use crate::fault::{Fault, Kind};

impl Conductor {
    /// What is to be done now. Changes nothing.
    pub fn run_next(&self, run: Option<&str>) -> Result<RunAction, Fault> {
        let (dir, run) = self.seen(run)?;
        if run.status == RunStatus::Aborted {
            return Err(Fault::new(
                Kind::Missing,
                "run_aborted",
                format!("the run {} was aborted", run.run),
            )
            .suggest(format!("start a new one: `tm run start {}`", run.workflow))
            .detail("runId", run.run.as_str())
            .recover(format!("tm run start {}", run.workflow)));
        }
        let definition = engine::pinned(dir.path(), &run)?;
        if is_over_a_task(&run) {
            let action = self.next(Some(dir.id()), false)?;
            return Ok(on_task::action(&run, &definition, action));
        }
        view::full(&run, &definition, dir.path())
    }

    /// Where the run is.
    pub fn run_status(&self, run: Option<&str>) -> Result<RunStatusAnswer, Fault> {
        let (dir, run) = self.seen(run)?;
        let definition = engine::pinned(dir.path(), &run)?;
        let mut status = view::status(&run, &definition, self.clock.millis());
        if is_over_a_task(&run) {
            let own = self.status(Some(dir.id()))?;
            status.next_action = on_task::action(&run, &definition, own.next_action.clone());
            status.context = Some(on_task::own_status(&own)?);
        }
        Ok(status)
    }

    /// Takes exactly one step, or none where the run waits for somebody.
    pub fn run_step(&self, run: Option<&str>) -> Result<RunMoved, Fault> {
        let (dir, run) = self.seen(run)?;
        let definition = engine::pinned(dir.path(), &run)?;
        let interrupted = run.status == RunStatus::Running
            && (run.pending.is_some() || run.waiting().next().is_none());
        if interrupted && is_over_a_task(&run) {
            return self.step_on_task(dir.id(), &definition);
        }
        Err(blocked(&run))
    }

    /// The run that is meant, as it is, without a lock.
    fn seen(&self, run: Option<&str>) -> Result<(RunDir, RunState), Fault> {
        let (_, dir) = self.meant(run, Meant::Running)?;
        let loaded = engine::load(dir.path())?;
        if loaded.head.seq == 0 {
            return Err(never_began(dir.id()));
        }
        Ok((dir, loaded.run))
    }
}

/// Why no step can be taken, and what the run waits for.
fn blocked(run: &RunState) -> Fault {
    let id = &run.run;
    let blocked = |message: String| Fault::new(Kind::Blocked, "blocked", message);
    match run.status {
        RunStatus::Paused => blocked(format!(
            "no step can be taken: the run is paused ({})",
            run.pause.as_ref().map_or("", |pause| pause.reason.as_str())
        ))
        .suggest("go on with it first")
        .recover(format!("tm run resume --run-id {id}")),
        RunStatus::Running => {
            let units: Vec<&str> = run.waiting().map(|(_, unit)| unit.id.as_str()).collect();
            blocked(format!(
                "no step can be taken: the run waits for a report on {}",
                units.join(", ")
            ))
            .suggest("do what is asked for, and report it; that takes the run on by itself")
            .detail("units", units)
            .recover(format!("tm run next --run-id {id}"))
        }
        over => blocked(format!(
            "no step can be taken: the run is over, it is {}",
            over.name()
        ))
        .suggest("see what it did")
        .recover(format!("tm runs report {id}")),
    }
}
