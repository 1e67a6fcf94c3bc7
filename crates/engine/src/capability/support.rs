//! The engine's side of a call: each reader and effect is its capability's.

use machine::command::Present;
use machine::decide::PromptRequest;
use machine::event::Domain;
use machine::state::Pending;
use machine::{Event, Reading, Role, RunState};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::call::{Call, Form};
use crate::capability::files::subject;
use crate::capability::git::read;
use crate::capability::{of_event, of_reader, steps_of};
use crate::derived;
use crate::fault::Fault;
use crate::find::is_over_a_task;
use crate::generic::{context, files};
use crate::next_step;
use crate::report::is_read_on_branch;
use crate::support::{EffectRequest, EffectState, Emitted, HandlerError, Outcome, Support};
use crate::view::autopilot::instructions;

/// What is kept of what a unit is told.
fn to_json(told: &impl Serialize) -> Result<Vec<u8>, Fault> {
    serde_json::to_vec(told).map_err(|error| Fault::bug(error.to_string()))
}

impl Support for Call<'_> {
    fn read(&self, role: &Role, run: &RunState, token: u32) -> Result<Reading, HandlerError> {
        if role.reader.is_empty() {
            return files::take_in(self, run, token).map(|(reading, _)| reading);
        }
        if let Some(reading) = self.take_ahead(role, token) {
            return Ok(reading);
        }
        let mut reading = of_reader(&role.reader)?.read(self, role, run, token)?;
        if !is_over_a_task(run) || !is_read_on_branch(role) {
            let state = run.token(token).map_or("", |token| token.state.as_str());
            let found = read::of_any_report(self, run, state)?;
            reading.findings.extend(found);
        }
        Ok(reading)
    }

    fn prepare(&self, asked: &EffectRequest<'_>, run: &RunState) -> Result<Value, HandlerError> {
        (steps_of(asked.effect)?.prepare)(self, asked, run)
    }

    fn perform(&self, run: &RunState, pending: &Pending) -> Result<Outcome, Fault> {
        let outcome = (steps_of(&pending.name)?.perform)(self, run, pending);
        self.tree_changes();
        outcome
    }

    fn look(&self, run: &RunState, pending: &Pending) -> Result<EffectState, Fault> {
        (steps_of(&pending.name)?.look)(self, run, pending)
    }

    fn present(&self, run: &RunState, token: u32) -> Result<Present, Fault> {
        files::present(self, run, token)
    }

    fn subject(&self, gate: &str, run: &RunState, token: u32) -> Result<String, HandlerError> {
        subject::hash(self, gate, run, token)
    }

    fn context(
        &self,
        asked: &PromptRequest,
        run: &RunState,
        broken: Option<&Fault>,
    ) -> Result<Vec<u8>, Fault> {
        let token = asked.token;
        let state = run.token(token).map_or("", |token| token.state.as_str());
        if let Some(bytes) = files::standing_prompt(self, run, state)? {
            return Ok(bytes);
        }
        let prompt = self.definition.prompt(state, &run.vars);
        let asks = self.definition.asked(state).is_some();
        let is_text = Form::of(&self.definition, state) == Form::Text;
        // A file says which run it is of, for nobody knows who reads it.
        let text = |text: String| match prompt {
            Some(_) => next_step::in_a_file(&text, &run.run).into_bytes(),
            None => text.into_bytes(),
        };
        let bytes = match (&self.session, &self.skills) {
            (_, _) if is_over_a_task(run) && !asks => {
                let unit = instructions::build(self, asked, run, broken)?;
                if is_text {
                    text(unit.instructions)
                } else {
                    to_json(&unit)?
                }
            }
            (Some(session), _) if asks && broken.is_none() => session.prompt(self, run, token)?,
            (_, Some(skills)) if !asks => {
                let frame = skills.frame(self, asked, run, broken)?;
                if is_text {
                    text(frame.instructions)
                } else {
                    to_json(&frame)?
                }
            }
            _ if let Some(fault) = broken => text(instructions::without_template(fault)),
            _ => text(context::build(self, asked, run, Map::new().into())?),
        };
        if asked.again
            && let Some(path) = prompt
        {
            // Nothing else comes of it: where it cannot be written, nothing is to be journalled either.
            files::put_if_absent(&files::place(&self.dir, &path)?, &bytes)?;
        }
        Ok(bytes)
    }

    fn tells_in_journal(&self, state: &str) -> bool {
        Form::of(&self.definition, state) == Form::Frame
    }

    fn payload(
        &self,
        domain: &Domain,
        before: &RunState,
        after: &RunState,
        events: &[Event],
    ) -> Option<Map<String, Value>> {
        let emitted = Emitted {
            domain,
            before,
            after,
            events,
        };
        match of_event(&domain.name) {
            Some(capability) => capability.fields(self, emitted),
            None => Some(emitted.plain()),
        }
    }

    fn place(&self, run: &RunState, appended: &[Event]) -> Result<(), Fault> {
        files::place_prompts(self, run, appended)
    }

    fn derive(&self, run: &RunState, appended: &[Event]) {
        derived::write(self, run, appended);
    }
}
