//! A session as it is, for every answer; and which session a call means.

use std::path::Path;

use machine::decide::gate_mode;
use machine::definition::Issue;
use machine::trigger::Trigger;
use machine::{Definition, RunState, RunStatus, Shared};
use serde_json::{Map, Value};

use crate::action::next::next_or_step;
use crate::action::{Action, ActionKind};
use crate::call::{Call, Input};
use crate::capability::files::subject::{
    CODE, PLAN, PLAN_FILE, changed_code, is_whole, whole_plan,
};
use crate::capability::profile::memory::{PROFILE, SENT_BACK, plan_hash};
use crate::capability::profile::read::phase_of;
use crate::capability::profile::session::{code_path, iteration, values};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::find::{RunHead, standing};
use crate::generic::files::{self, ResponseText};
use crate::next_step::Verb;
use crate::open_run;
use crate::view::SESSION;
use crate::view::session::answer::{
    SessionState, SessionSummary, SessionWork, StepAhead, StepAnswer,
};
use crate::view::session::history::{self, History};
use crate::view::session::turn::{MOST_ITERATIONS, is_at_cap};

impl Engine {
    /// The session, with all of its history and artifacts.
    pub fn session_status(&self, session: Option<&str>) -> Result<SessionState, Fault> {
        let (dir, run) = self.seen(&SESSION, session)?;
        let look = |call: Call<'_>, run: &Shared<RunState>| {
            let history = history::checked(&call.dir, &call.definition)?;
            Ok(state(&call, run, history))
        };
        // Journal and files may be ahead of what was seen, by whoever is at work on it now.
        self.settled_look(&dir, run, look, |state| {
            let told = state.phase_history.len() as u64;
            told == state.phase_history_total && !seems_changed(state)
        })
    }

    /// The session, with the last entries of its history and artifacts: at a cost that does not grow with it.
    pub fn session_brief(&self, session: Option<&str>) -> Result<SessionState, Fault> {
        let (dir, run) = self.seen(&SESSION, session)?;
        let call = self.call(&dir, &run, Input::None)?;
        let history = history::last(dir.path(), &call.definition)?;
        Ok(state(&call, &run, history))
    }

    /// The sessions of this project, the newest first.
    pub fn session_list(&self) -> Result<Vec<SessionSummary>, Fault> {
        let Some(project) = self.stored()? else {
            return Ok(Vec::new());
        };
        let mut all = Vec::new();
        for RunHead { dir, loaded, .. } in standing(&project, Some(&SESSION))? {
            let loaded = loaded.map_or_else(|| open_run::load(dir.path()), Ok);
            all.push(match loaded {
                Ok(loaded) => {
                    let definition = open_run::pinned(dir.path(), &loaded.run).ok();
                    summary(&loaded.run, definition.as_deref())
                }
                Err(_) => SessionSummary {
                    session_id: dir.id().to_owned(),
                    status: "damaged".to_owned(),
                    ..SessionSummary::default()
                },
            });
        }
        Ok(all)
    }
}

/// Whether somebody seems to have changed files of a session by hand.
fn seems_changed(state: &SessionState) -> bool {
    let named = state.artifacts.iter().any(|file| file.problem.is_some());
    named || !state.tampered.is_empty() || state.next_action.action == ActionKind::Restore
}

/// What a list has of a session.
fn summary(run: &RunState, definition: Option<&Definition>) -> SessionSummary {
    let pinned = PROFILE.read(&run.kept).ok().flatten();
    let stands = run.tokens.first();
    let iteration = definition.and_then(|known| known.round(&run.vars));
    SessionSummary {
        session_id: run.run.clone(),
        profile: pinned.map(|pinned| pinned.name).unwrap_or_default(),
        phase: run.state().to_owned(),
        status: history::status(run.status).to_owned(),
        current_iteration: iteration.unwrap_or(0),
        created_at: run.started_at.clone(),
        updated_at: stands.map_or_else(String::new, |token| token.entered_at.clone()),
    }
}

/// A session as it is, with this much of its history.
pub(crate) fn state(call: &Call<'_>, run: &RunState, history: History) -> SessionState {
    let over = run.status.is_over();
    let (next_action, tampered) = next_or_step(&SESSION, call, run);
    SessionState {
        summary: summary(run, Some(&call.definition)),
        max_iterations: call
            .definition
            .value_for(MOST_ITERATIONS, &run.vars)
            .and_then(Value::as_i64)
            .unwrap_or(0),
        gates: gates(call, run),
        phase_history: history.entries,
        phase_history_total: run.transitions,
        artifacts: history.artifacts,
        artifacts_total: run.artifacts,
        inputs: values(call, run).cloned().unwrap_or_default(),
        plan_hash: plan_hash(run).map(str::to_owned),
        can_reopen: can_reopen(call, run),
        last_error: if over {
            run.end_reason.clone()
        } else {
            taken_up_after(call, run)
        },
        next_action,
        tampered,
        folder: call.dir.clone(),
        work: work(call, run),
    }
}

/// Why the answer could not be used that the present one comes in the place of.
fn taken_up_after(call: &Call<'_>, run: &RunState) -> Option<String> {
    let last = SENT_BACK.read(&run.kept).ok().flatten()?.pop()?;
    let is_here = last.state == run.state() && last.iteration == iteration(call, run);
    last.error.filter(|_| is_here)
}

/// What of the profile a session is at.
fn work(call: &Call<'_>, run: &RunState) -> SessionWork {
    let definition = &call.definition;
    let state = run.state();
    let asked = phase_of(definition, state);
    let from = run
        .tokens
        .first()
        .and_then(|token| token.came_from.as_deref());
    let answered = from.and_then(|from| phase_of(definition, from));
    let is_there = || {
        let response = definition.response(state, &run.vars);
        response.is_some_and(|path| call.dir.join(path).is_file())
    };
    let reads = definition.state(state).and_then(|state| state.reader());
    let ahead = match (asked, answered) {
        _ if run.pending.is_some() => StepAhead::Settles,
        (Some(asked), _) if is_there() => StepAhead::TakesIn(asked),
        (Some(asked), _) => StepAhead::AsksFor(asked),
        (None, Some(answered)) if reads.is_some() => StepAhead::ActsOn(answered),
        (None, _) => leads_to(definition, state).unwrap_or_default(),
    };
    SessionWork {
        asked,
        answered,
        ahead,
    }
}

/// What is asked for in the state that a route leads to by its first edge.
fn leads_to(definition: &Definition, state: &str) -> Option<StepAhead> {
    let to = definition
        .edges(state, Trigger::Route)
        .first()?
        .to
        .as_ref()?;
    let asked = phase_of(definition, &to.value)?;
    let work = definition.state(&to.value)?.work.as_ref()?;
    Some(match work.value.issue {
        Issue::Entry => StepAhead::AsksFor(asked),
        Issue::Step => StepAhead::GoesOnTo(asked),
    })
}

/// Whether a person may take the session up again: it broke down, or paused at its last iteration, or stands behind a
/// response that was taken in, of which perhaps nothing can be made.
pub(crate) fn can_reopen(call: &Call<'_>, run: &RunState) -> bool {
    match run.status {
        RunStatus::Error => true,
        RunStatus::Paused => is_at_cap(&call.definition, run),
        RunStatus::Running => run
            .tokens
            .first()
            .and_then(|token| call.definition.state(&token.state))
            .is_some_and(|state| state.work.is_none() && state.expects.is_some()),
        _ => false,
    }
}

/// Who decides at each gate.
fn gates(call: &Call<'_>, run: &RunState) -> Map<String, Value> {
    let gates = call.definition.gates.keys();
    gates
        .filter_map(|gate| {
            let mode = gate_mode(&call.definition, run, gate)?;
            Some((gate.to_owned(), mode.name().into()))
        })
        .collect()
}

/// Files of the session that are not what was recorded: the plan, the code in hand, and responses that were taken in.
pub(crate) fn tampered(call: &Call<'_>, run: &RunState, next: &Action) -> Vec<String> {
    let mut all = Vec::new();
    // Somebody may mend a plan or code, and approve just that.
    let before_gate = |subject: &str| {
        let gate = next.gate.as_ref();
        gate.is_some_and(|gate| call.definition.over(&gate.gate) == Some(subject))
    };
    let mends_plan = before_gate(PLAN) && call.dir.join(PLAN_FILE).is_file();
    if whole_plan(call, run).is_err() && !mends_plan {
        all.push(PLAN_FILE.to_owned());
    }
    if !before_gate(CODE) {
        all.extend(changed_code(call, run));
    }
    let responses = changed_responses(call, run);
    all.extend(responses.into_iter().map(|taken| taken.path));
    all
}

/// Responses that were taken in, and are gone or stand otherwise in their places now.
pub(crate) fn changed_responses(call: &Call<'_>, run: &RunState) -> Vec<ResponseText> {
    let current = format!("iteration-{}/", iteration(call, run));
    let state = run.state();
    // After a step back another response comes in the place of the one that was taken in.
    let awaited = call.definition.response(state, &run.vars);
    call.definition
        .all_states()
        .filter_map(|(_, name, _)| files::taken(run, name))
        // Earlier iterations are history.
        .filter(|taken| {
            let is_present = !taken.path.contains('/') || taken.path.starts_with(&current);
            is_present || call.session.is_none()
        })
        .filter(|taken| awaited.as_ref() != Some(&taken.path))
        .filter(|taken| !is_whole(&call.dir.join(&taken.path), &taken.sha256))
        .collect()
}

/// An answer to a call that may have moved the session.
pub(crate) fn stepped(
    call: &Call<'_>,
    run: &RunState,
    advanced: bool,
    issued: Option<String>,
) -> Result<StepAnswer, Fault> {
    let told = call
        .session
        .as_ref()
        .map(crate::capability::profile::session::Session::told)
        .unwrap_or_default();
    let history = history::last(&call.dir, &call.definition)?;
    Ok(StepAnswer {
        advanced,
        issued,
        warnings: told.warnings,
        messages: told.messages,
        state: state(call, run, history),
    })
}

/// What comes next where somebody changed files of a session: nothing is made of such a plan and code, whatever else would.
pub(crate) fn put_back_first(
    call: &Call<'_>,
    run: &RunState,
    changed: &[String],
    next: Action,
) -> Action {
    let code = code_path(iteration(call, run));
    let is_work = |path: &&String| *path == PLAN_FILE || Path::new(path).starts_with(&code);
    let is_used = !run.status.is_over() || run.status == RunStatus::Completed;
    match changed.iter().find(is_work) {
        Some(path) if is_used => Action {
            action: ActionKind::Restore,
            changed: Some(call.dir.join(path)),
            next_steps: vec![Verb::Restore.step().of(&run.run).into()],
            ..Action::new(next.view, &run.run, &run.workflow)
        },
        _ => next,
    }
}
