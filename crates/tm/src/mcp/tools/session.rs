//! Sessions of the `review` rails.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use engine::Fault;
use engine::fault;
use engine::view::session::answer::{SessionState, StepAnswer};
use engine::view::session::request::Response;
use serde_json::{Value, json};
use text::plain::one_line;

use super::{Answer, Call};
use crate::calls::Arguments;
use crate::commands::call::Driver as _;

/// The most of a prompt that an answer carries, in bytes.
const LONGEST_PROMPT: u64 = 64 * 1024;
/// How many transitions and files an answer carries; their numbers are told, too.
pub(super) const LISTED: usize = 10;
/// How many one carries that is about something else.
pub(super) const LAST: usize = 3;

impl Call<'_> {
    pub(super) fn take_step(mut self, arguments: &Arguments) -> Answer {
        let engine = self.open(false)?;
        let [response, phase, unit] =
            ["response", "phase", "unit"].map(|name| arguments.text(name));
        let run = arguments.is("steps");
        let mut session = self.meant.run.clone();
        if response.is_some() || phase.is_some() {
            let state = engine.session_brief(self.meant.run.as_deref())?;
            if let Some(phase) = phase.filter(|phase| !phase.eq_ignore_ascii_case(&state.phase)) {
                return Err(elsewhere(phase, &state).into());
            }
            // The same one all the way, whichever is the present one by then.
            session = Some(state.summary.session_id);
        }
        if let Some(response) = response {
            let response = Response {
                bytes: response.as_bytes(),
                replace: arguments.is("replace"),
                phase,
                unit,
            };
            let taken = engine.session_respond(session.as_deref(), &response)?;
            session = Some(taken.session_id);
        }
        // The step is the one that was meant, also where another call takes the session on meanwhile.
        let mut moved = false;
        if !run || phase.is_some() {
            let stepped = engine.session_step_in(session.as_deref(), phase)?;
            if !run || !stepped.advanced {
                return Ok(told(json!(stepped), LAST));
            }
            moved = stepped.advanced;
        }
        let mut steps = 0.0;
        let (mut warnings, mut messages) = (Vec::new(), Vec::new());
        let last = engine.session_run(session.as_deref(), &mut |taken| {
            steps += 1.0;
            self.client.progress(steps, None, taken.state.phase.clone());
            warnings.extend(taken.warnings.iter().cloned());
            messages.extend(taken.messages.iter().cloned());
        })?;
        // What was said on the way counts as much as what was said at the end of it.
        let stepped = StepAnswer {
            warnings,
            messages,
            advanced: moved || last.advanced,
            ..last
        };
        Ok(told(json!(stepped), LAST))
    }
}

/// The fault of a response to a prompt that is not the present one.
fn elsewhere(phase: &str, state: &SessionState) -> Fault {
    fault!(
        "changed_since.elsewhere",
        run = state.session_id,
        phase = state.phase,
        asked = one_line(phase)
    )
    .detail("phase", state.phase.as_str())
}

/// Refuses a name for a session that begins.
pub(super) fn has_no_name(session: Option<&str>) -> Result<(), Fault> {
    match session {
        Some(named) => Err(fault!("usage.init", named = one_line(named))),
        None => Ok(()),
    }
}

/// An answer about a session as a model is told it: with the prompt that waits, and of its lists the last entries. A
/// prompt that is too long for an answer is read from its file.
pub(super) fn told(mut answer: Value, most: usize) -> Value {
    for list in ["phase_history", "artifacts"] {
        if let Some(list) = answer.get_mut(list).and_then(Value::as_array_mut) {
            list.drain(..list.len().saturating_sub(most));
        }
    }
    let next = &answer["nextAction"];
    if next["action"] == "work"
        && let (Some(prompt), Some(folder)) = (next["prompt"].as_str(), answer["folder"].as_str())
        && let Some(text) = prompt_text(&Path::new(folder).join(prompt))
    {
        answer["prompt_text"] = text.into();
    }
    answer
}

/// A prompt, if an answer can carry it.
fn prompt_text(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let mut file = File::open(path).ok()?.take(LONGEST_PROMPT + 1);
    file.read_to_end(&mut bytes).ok()?;
    let fits = bytes.len() as u64 <= LONGEST_PROMPT;
    fits.then(|| String::from_utf8_lossy(&bytes).into_owned())
}
