//! Looking: what is next, and where the run is. Nothing here changes anything.

use machine::RunState;
use machine::state::RunStatus;
use workspace::git::FingerprintRequest;

use crate::capability::git::changes::Changes;
use crate::capability::memory::{Memory, TESTED};
use crate::engine::Engine;
use crate::fault::{Fault, Kind};
use crate::find::Selector;
use crate::generic::on_task::other_step;
use crate::next_step::NextStep;
use crate::running_suite::RunningSuite;
use crate::view::AUTOPILOT;
use crate::view::autopilot::answer::{NextAction, Status};
use crate::view::autopilot::state;

impl Engine {
    /// What is to be done now. Changes nothing.
    pub fn next(&self, run: Option<&str>, check: bool) -> Result<NextAction, Fault> {
        let (dir, loaded) = self.load_meant(&AUTOPILOT, run, Selector::Running)?;
        let run = &loaded.run;
        if run.status == RunStatus::Aborted {
            return Err(Fault::new(
                Kind::Missing,
                "run_aborted",
                format!("the run {} was aborted", run.run),
            )
            .suggest(format!("start a new one: {}", NextStep::start_on_task()))
            .detail("runId", run.run.as_str())
            .recover(NextStep::start_on_task()));
        }
        let is_phase = run.waiting().any(|(token, _)| state::is_phase(&token.role));
        if !is_phase && let Some(fault) = other_step(&dir, run)? {
            return Err(fault);
        }
        let mut action = state::full(run, dir.path())?;
        if check {
            look_at_tree(run, &mut action)?;
        }
        Ok(action)
    }

    /// Where the run is.
    pub fn status(&self, run: Option<&str>) -> Result<Status, Fault> {
        let (dir, loaded) = self.load_meant(&AUTOPILOT, run, Selector::Running)?;
        Ok(Status {
            suite: RunningSuite::of(dir.path()),
            ..state::status(&loaded.run, self.clock.millis())?
        })
    }
}

/// Looks at the tree for the preconditions that need it.
pub(crate) fn look_at_tree(run: &RunState, action: &mut NextAction) -> Result<(), Fault> {
    let memory = Memory::of(run)?;
    let repository = memory.repository();
    let status = repository.status()?;
    let changes = Changes::of(&status, &memory, &repository, &[])?;
    for condition in &mut action.preconditions {
        match condition.id.as_str() {
            "on_branch" => {
                condition.holds = Some(status.branch.as_deref() == Some(&memory.start.branch));
            }
            "tree_clean" | "all_committed" => {
                let names = changes.names();
                condition.holds = Some(names.is_empty());
                if !names.is_empty() {
                    condition.detail = format!("changed: {}", names.join(", "));
                }
            }
            "tree_as_tested" => {
                let tested = match run.waiting().next() {
                    Some((token, _)) => TESTED.read(&token.kept, token.role.of.as_ref())?,
                    None => None,
                };
                if let Some(tested) = tested {
                    let request = FingerprintRequest {
                        exclude: &tested.exclude,
                        ..FingerprintRequest::default()
                    };
                    let now = repository.fingerprint(&status, &request)?;
                    condition.holds = Some(now.tree == tested.work.tree);
                }
            }
            _ => {}
        }
    }
    Ok(())
}
