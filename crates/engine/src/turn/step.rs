//! The due step of a run, where it is taken without a report.

use machine::decide::BLOCKED;
use machine::state::RunStatus;
use machine::{Command, Definition, Refusal, RunState};
use serde_json::Value;

use crate::action::next::{Detail, is_of_task, next_action};
use crate::call::Input;
use crate::capability::files::subject::fault as fault_of;
use crate::capability::reads_long;
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::find::Selector;
use crate::generic::messages;
use crate::open_run::{self, Forecast};
use crate::turn::answer::TurnAnswer;
use crate::turn::{self, TurnOutcome};
use crate::view::GENERIC;

impl Engine {
    /// Takes exactly one step, or none where the run waits for somebody.
    pub fn run_step(&self, run: Option<&str>) -> Result<TurnAnswer, Fault> {
        let (dir, run) = self.seen(&GENERIC, run)?;
        let definition = open_run::pinned(dir.path(), &run)?;
        self.unit_is_present(&run, &definition)?;
        if is_of_task(&run) {
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
            return self.step_of_session(&run);
        }
        match open_run::foresee(&definition, &run, &call)? {
            Forecast::Blocked(refusal) => return Err(blocked(&run, &refusal)),
            Forecast::Refused(refusal) => {
                return Err(turn::refused(&GENERIC, &call, &run, &refusal));
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
                    let run = &writer.open.run;
                    let fault = turn::refused(&GENERIC, &writer.call, run, &refusal);
                    let unit = run.waiting().next().map(|(_, unit)| unit.id.as_str());
                    self.note_refused(dir.path(), unit, Some(&fault.code), &fault.message);
                    return Err(fault);
                }
            }
        }
        let moved = writer.open.run.transitions != run.transitions;
        let message = stepped(&writer.open.run, &definition, moved);
        TurnOutcome::new(writer, message).answer(&GENERIC)
    }

    fn step_of_session(&self, before: &RunState) -> Result<TurnAnswer, Fault> {
        let step = self.session_step(Some(&before.run))?;
        let (dir, run) = self.seen(&GENERIC, Some(&before.run))?;
        let call = self.call(&dir, &run, Input::None)?;
        if !step.advanced {
            let refusal = match open_run::foresee(&call.definition, &run, &call)? {
                Forecast::Blocked(refusal) => refusal,
                _ => Refusal::new(BLOCKED),
            };
            return Err(blocked(&run, &refusal));
        }
        let moved = run.transitions != before.transitions;
        let next = next_action(&GENERIC, &call, &run, Detail::Brief)?;
        Ok(TurnAnswer::of(
            dir.id(),
            stepped(&run, &call.definition, moved),
            next,
        ))
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
