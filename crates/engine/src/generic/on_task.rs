//! Runs over a task in the shape of the generic verbs: `tdd`'s own calls do the work.

use journal::layout::RunDir;
use machine::{Definition, RunState, RunStatus, Shared};
use serde_json::{Map, Value, json};

use crate::call::{Call, Input};
use crate::capability::TASKS;
use crate::engine::Engine;
use crate::fault::{Fault, Kind};
use crate::find::Selector;
use crate::find::is_over_a_task;
use crate::generic::answer::{OpenUnit, RunAction, RunStarted, RunVerdict};
use crate::generic::look::look_further;
use crate::generic::{messages, view};
use crate::library::Source;
use crate::next_step::Verb;
use crate::open_run;
use crate::report::{AnsweredReport, ReportOutcome, is_read_on_branch, joined};
use crate::summary;
use crate::view::GENERIC;
use crate::view::autopilot::answer::{NextAction, Status};
use crate::view::autopilot::request;
use crate::view::autopilot::{last_commit, made};

/// Whether the unit that is open is one of those that `tm autopilot` knows: tests are reported, or a commit. Where none is open
/// the run is paused, over, or in the middle of an effect, which is told the same way.
pub(super) fn is_of_task(run: &RunState) -> bool {
    let mut open = run.waiting();
    is_over_a_task(run)
        && open.next().map_or_else(
            || run.state().is_empty() || run.status != RunStatus::Running || run.pending.is_some(),
            |(token, _)| is_read_on_branch(&token.role),
        )
}

/// That what a run asks for now is none of the steps that `tm autopilot` knows; none where it is one.
pub(crate) fn other_step(dir: &RunDir, run: &RunState) -> Result<Option<Fault>, Fault> {
    if run.status != RunStatus::Running || run.pending.is_some() {
        return Ok(None);
    }
    let open = run.waiting().next();
    // The definition is not read for every answer.
    if open.is_some_and(|(token, _)| is_read_on_branch(&token.role)) {
        return Ok(None);
    }
    let definition = open_run::pinned(dir.path(), run)?;
    let state = match open {
        Some((token, _)) => token.state.as_str(),
        None if definition
            .state(run.state())
            .is_some_and(|state| state.gate.is_some()) =>
        {
            run.state()
        }
        None => return Ok(None),
    };
    let place = messages::place(&definition, state, None);
    Ok(Some(
        Fault::new(
            Kind::Refused,
            "other_step",
            format!("the run stands at `{place}`, which is no step of `tm autopilot`"),
        )
        .suggest(format!(
            "see what is asked for with {}",
            Verb::Next.step().in_view(GENERIC.name)
        ))
        .recover(Verb::Next.step().in_view(GENERIC.name).of(&run.run)),
    ))
}

/// What comes next, with what `tm autopilot` tells under `context`.
fn action(run: &RunState, definition: &Definition, own: NextAction) -> RunAction {
    let mut context = own.context;
    if !own.preconditions.is_empty() {
        let conditions = json!(own.preconditions);
        context
            .get_or_insert_default()
            .insert("preconditions".to_owned(), conditions);
    }
    let unit = own.unit_id.map(|unit_id| OpenUnit {
        unit_id,
        attempt: own.attempt.unwrap_or(1),
        max_attempts: own.max_attempts,
        item: own.subtask.and_then(|subtask| match json!(subtask) {
            Value::Object(fields) => Some(fields),
            _ => None,
        }),
        instructions: own.instructions,
        ..view::asked(definition, run.next().state.as_ref().unwrap_or(&own.action))
    });
    // Of items that go on beside each other, the others in few words.
    let RunAction {
        mut units,
        units_total,
        ..
    } = view::next_action(run, definition);
    if let (Some(unit), Some(same)) = (
        &unit,
        unit.as_ref()
            .and_then(|unit| units.iter_mut().find(|one| one.unit_id == unit.unit_id)),
    ) {
        same.clone_from(unit);
    }
    RunAction {
        action: match own.action.as_str() {
            "paused" | "complete" => own.action,
            _ => "work".to_owned(),
        },
        run_id: run.run.clone(),
        workflow: run.workflow.clone(),
        unit,
        status: own.status,
        units,
        units_total,
        paused_reason: own.paused_reason,
        paused_message: own.paused_message,
        needs_person: own.needs_person,
        context,
        ..RunAction::default()
    }
}

/// What comes next: of a unit that `tm autopilot` knows what that says, else as in any run.
pub(crate) fn action_of_call(
    call: &Call<'_>,
    run: &RunState,
    own: NextAction,
) -> Result<RunAction, Fault> {
    if is_of_task(run) {
        return Ok(action(run, &call.definition, own));
    }
    look_further(call, run, view::next_action(run, &call.definition))
}

/// What `tdd` says of where the run is, without what comes next: that has a place of its own.
pub(super) fn own_status(own: &Status) -> Result<Map<String, Value>, Fault> {
    match serde_json::to_value(own) {
        Ok(Value::Object(mut map)) => {
            map.shift_remove("nextAction");
            Ok(map)
        }
        Ok(_) => Ok(Map::new()),
        Err(error) => Err(Fault::bug(error.to_string())),
    }
}

impl Engine {
    /// What comes next in a run over a task: of a unit that `tm autopilot` knows what that says, else as in any run.
    pub(super) fn action_on_task(
        &self,
        dir: &RunDir,
        run: &RunState,
        own: NextAction,
    ) -> Result<RunAction, Fault> {
        action_of_call(&self.call(dir, run, Input::None)?, run, own)
    }

    pub(super) fn start_on_task(
        &self,
        definition: Definition,
        source: Source,
        mut inputs: Map<String, Value>,
    ) -> Result<RunStarted, Fault> {
        let bound = |parameter| definition.bound_input(TASKS, parameter).unwrap_or_default();
        let (id, most) = (bound("id"), bound("attempts"));
        let task = inputs.shift_remove(id);
        let Some(task) = task
            .as_ref()
            .and_then(Value::as_str)
            .filter(|id| !id.is_empty())
        else {
            return Err(Fault::new(
                Kind::Usage,
                "usage",
                format!(
                    "a run of `{}` is over a task, and none is named",
                    definition.id.value
                ),
            )
            .suggest(format!(
                "name it in its input `{id}`: {}",
                Verb::Start
                    .step()
                    .with("workflow", definition.id.value.as_str())
                    .with("input", format!("{id}=ID"))
            )));
        };
        let attempts = match inputs.shift_remove(most) {
            None => None,
            Some(given) => Some(
                given
                    .as_u64()
                    .and_then(|n| u32::try_from(n).ok())
                    .ok_or_else(|| {
                        Fault::new(
                            Kind::Usage,
                            "usage",
                            format!("the input `{most}` is {given}, but must be 1 or more"),
                        )
                        .suggest("leave it out for the number in the settings")
                    })?,
            ),
        };
        let start = request::Start {
            task_id: Some(task.to_owned()),
            max_attempts: attempts,
            ..request::Start::default()
        };
        let started = self.start_workflow(definition, source, &start, inputs, None)?;
        let (dir, run) = self.on_disk(&started.run_id)?;
        Ok(RunStarted {
            run_id: started.run_id,
            workflow: run.workflow.clone(),
            branch: Some(started.branch),
            warnings: started.warnings,
            next_action: self.action_on_task(&dir, &run, started.next_action)?,
        })
    }

    /// The verdict on a report that is held against the task's branch.
    pub(super) fn verdict_on_task(
        &self,
        answered: &AnsweredReport<'_>,
    ) -> Result<RunVerdict, Fault> {
        let own = self.verdict_on_branch(answered)?;
        let writer = &answered.writer;
        let (run, dir) = (&writer.open.run, &writer.open.dir);
        let mut result = Map::new();
        let mut verdict = RunVerdict {
            validated: own.validated,
            code: own.code,
            message: own.message,
            warning: own.warning,
            suggestion: own.suggestion,
            details: own.details,
            result: Map::new(),
            next_action: match &answered.outcome {
                ReportOutcome::Repeated(before) if let Some(next) = &before.answer.next => {
                    view::recorded(run, &writer.call.definition, next)
                }
                _ => action_of_call(&writer.call, run, own.next_action)?,
            },
            report: None,
        };
        let commits = answered
            .role
            .as_ref()
            .is_some_and(|role| role.reader == "commit");
        if let Some(report) = answered
            .outcome
            .report()
            .filter(|_| verdict.validated && commits)
        {
            let made = made(answered, report)?;
            let short: String = made.commit_sha.chars().take(7).collect();
            verdict.message = format!("Committed as {short}");
            verdict.warning = joined(verdict.warning, made.warning);
            result.insert("commitSha".to_owned(), json!(made.commit_sha));
            result.insert("message".to_owned(), json!(made.message));
            result.insert("files".to_owned(), json!(made.files));
        } else if verdict.validated && run.status.is_over() {
            if let Some(sha) = last_commit(run)? {
                result.insert("commitSha".to_owned(), sha.into());
            }
            verdict.report = summary::of_end(dir, run);
        }
        verdict.result = result;
        Ok(verdict)
    }

    fn on_disk(&self, id: &str) -> Result<(RunDir, Shared<RunState>), Fault> {
        let (dir, loaded) = self.load_meant(&GENERIC, Some(id), Selector::Running)?;
        Ok((dir, loaded.run))
    }
}
