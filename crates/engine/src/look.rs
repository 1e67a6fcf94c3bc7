//! Looking: what is next in a run, and where it is. Nothing here changes anything.

use journal::layout::RunDir;
use machine::state::RunStatus;
use machine::{Definition, RunState, Shared};
use workspace::git::FingerprintRequest;

use crate::action::Action;
use crate::action::next::{Detail, is_phase, next_action, of_run, other_step};
use crate::action::status::Status;
use crate::call::{Call, Input};
use crate::capability::TASKS;
use crate::capability::git::changes::Changes;
use crate::capability::memory::{Memory, TESTED};
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::find::Selector;
use crate::integrity::never_began;
use crate::next_step::{NextStep, Verb};
use crate::open_run;
use crate::running_suite::RunningSuite;
use crate::view::{GENERIC, View};

impl Engine {
    /// What comes next in a run, with all that is needed to do it. With `check` the tree is looked at for the preconditions that
    /// need it.
    ///
    /// # Errors
    /// `run_aborted`; in the view of tasks `other_step` where something else is asked for.
    pub fn next(
        &self,
        view: &'static View,
        run: Option<&str>,
        check: bool,
    ) -> Result<Action, Fault> {
        let (dir, loaded) = self.load_meant(view, run, Selector::Running)?;
        let run = &loaded.run;
        if run.status == RunStatus::Aborted {
            let begin = begin_again(view, &dir, run)?;
            let fault = fault!("run_over.aborted", run = run.run, begin);
            return Err(fault.detail("runId", run.run.as_str()));
        }
        if view.is_of_tasks
            && !run.waiting().any(|(token, _)| is_phase(&token.role))
            && let Some(fault) = other_step(dir.path(), run)?
        {
            return Err(fault);
        }
        let mut action = if view.is_of_tasks {
            of_run(view, run, None, dir.path(), Detail::Whole)?
        } else {
            let call = self.call(&dir, run, Input::None)?;
            next_action(view, &call, run, Detail::Whole)?
        };
        if check {
            check_preconditions(run, &mut action)?;
        }
        Ok(action)
    }

    /// Where a run is.
    pub fn status(&self, view: &'static View, run: Option<&str>) -> Result<Status, Fault> {
        let (dir, loaded) = self.load_meant(view, run, Selector::Running)?;
        self.status_of(view, &dir, &loaded.run)
    }

    /// Where a run is that was loaded already.
    pub(crate) fn status_of(
        &self,
        view: &'static View,
        dir: &RunDir,
        run: &RunState,
    ) -> Result<Status, Fault> {
        let now = self.clock.millis();
        let of_run = |definition| of_run(view, run, definition, dir.path(), Detail::Brief);
        let mut status = if view.is_of_tasks {
            Status::of(run, None, now, of_run(None)?)?
        } else {
            let call = self.call(dir, run, Input::None)?;
            let definition = Some(&*call.definition);
            // Where it is can be said also where its folder cannot be looked into.
            let next = next_action(view, &call, run, Detail::Brief);
            let next = next.or_else(|_| of_run(definition))?;
            Status::of(run, definition, now, next)?
        };
        status.suite = RunningSuite::of(dir.path());
        Ok(status)
    }

    /// Looks at a run without a lock, as it was seen first. Where the look finds something wrong, or nothing `settled`, while
    /// somebody is at work on the run, it was half of that work that was seen, and it is looked at again.
    pub(crate) fn settled_look<'a, T>(
        &'a self,
        dir: &RunDir,
        mut run: Shared<RunState>,
        look: impl Fn(Call<'a>, &Shared<RunState>) -> Result<T, Fault>,
        settled: impl Fn(&T) -> bool,
    ) -> Result<T, Fault> {
        let mut looks = 1;
        loop {
            let call = self.call(dir, &run, Input::None);
            let looked = call.and_then(|call| look(call, &run));
            if looked.as_ref().is_ok_and(&settled) || looks == MOST_LOOKS || is_still(dir, &run) {
                return looked;
            }
            run = seen(dir)?;
            looks += 1;
        }
    }

    /// The run that is meant, as it is, without a lock.
    pub(crate) fn seen(
        &self,
        view: &'static View,
        run: Option<&str>,
    ) -> Result<(RunDir, Shared<RunState>), Fault> {
        let (dir, loaded) = self.load_meant(view, run, Selector::Running)?;
        Ok((dir, loaded.run))
    }
}

/// How often a look is repeated at a run that somebody changes meanwhile.
pub(crate) const MOST_LOOKS: u32 = 64;

/// Loads a run, without a lock.
pub(crate) fn seen(dir: &RunDir) -> Result<Shared<RunState>, Fault> {
    let loaded = open_run::load(dir.path())?;
    if loaded.head.seq == 0 {
        return Err(never_began(dir));
    }
    Ok(loaded.run)
}

/// Whether a run is still what it was.
pub(crate) fn is_still(dir: &RunDir, run: &RunState) -> bool {
    open_run::load(dir.path()).is_ok_and(|loaded| *loaded.run == *run)
}

/// The step that begins another run like this one.
fn begin_again(view: &'static View, dir: &RunDir, run: &RunState) -> Result<NextStep, Fault> {
    if view.is_of_tasks {
        return Ok(NextStep::start_on_task());
    }
    let definition: &Definition = &*open_run::pinned(dir.path(), run)?;
    let start = Verb::Start.step().in_view(GENERIC.name);
    let start = start.with("workflow", &run.workflow);
    Ok(match definition.bound_input(TASKS, "id") {
        Some(id) => start.with("input", format!("{id}=ID")),
        None => start,
    })
}

/// Looks at the tree for the preconditions that need it.
fn check_preconditions(run: &RunState, action: &mut Action) -> Result<(), Fault> {
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
