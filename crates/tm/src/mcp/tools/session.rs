//! Sessions of the `review` rails.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use engine::fault;
use engine::view::session::answer::{SessionState, StepAnswer};
use engine::view::session::request::Response;
use engine::{ActionKind, Fault};
use serde::Serialize;
use serde_json::Value;
use text::plain::one_line;

use super::{Answer, Call, answer};
use crate::calls::Arguments;

/// The most of a prompt that an answer carries, in bytes.
const LONGEST_PROMPT: u64 = 64 * 1024;
/// How many transitions and files an answer carries that is not about them.
const LISTED: usize = 10;

impl Call<'_> {
    pub(super) fn on_session(self, arguments: Arguments) -> Answer {
        match self.entry.call.name.as_str() {
            "init" => self.begin_session(arguments),
            "step" => self.take_step(&arguments),
            "status" => self.session_status(&arguments),
            other => Err(Fault::bug(format!("no tool makes the call `{other}`")).into()),
        }
    }

    fn begin_session(self, arguments: Arguments) -> Answer {
        let request = arguments.session()?;
        let engine = self.open_to_begin()?;
        if let Some(named) = self.run() {
            return Err(fault!("usage.init", named = one_line(named)).into());
        }
        let state = engine.session_init(&request)?;
        brief(&state, &state)
    }

    fn take_step(self, arguments: &Arguments) -> Answer {
        let engine = self.open()?;
        let [response, phase, unit] =
            ["response", "phase", "unit"].map(|name| arguments.text(name));
        let run = arguments.is("steps");
        let mut session = self.meant.run.clone();
        if response.is_some() || phase.is_some() {
            let state = engine.session_brief(self.run())?;
            if let Some(phase) = phase.filter(|phase| !phase.eq_ignore_ascii_case(&state.phase)) {
                return Err(elsewhere(phase, &state).into());
            }
            // The same one all the way, whichever is the present one by then.
            session = Some(state.session_id);
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
                return brief(&stepped, &stepped.state);
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
        brief(&stepped, &stepped.state)
    }

    fn session_status(self, arguments: &Arguments) -> Answer {
        let engine = self.open()?;
        let mut state = engine.session_status(self.run())?;
        if !arguments.is("full") {
            keep_last(&mut state.phase_history);
            keep_last(&mut state.artifacts);
        }
        let mut answer = with_prompt(&state, &state)?;
        if arguments.is("diff") {
            answer["diff"] = super::answer(&engine.session_diff(self.run(), None, None)?)?;
        }
        Ok(answer)
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

fn keep_last<T>(list: &mut Vec<T>) {
    list.drain(..list.len().saturating_sub(LISTED));
}

/// An answer about something that was done: only the last that happened.
fn brief<T: Serialize>(value: &T, state: &SessionState) -> Answer {
    /// So much stands in the answer to a step; the number of all is told, too.
    const LAST: usize = 3;
    let mut answer = with_prompt(value, state)?;
    for list in ["phase_history", "artifacts"] {
        if let Some(list) = answer.get_mut(list).and_then(Value::as_array_mut) {
            list.drain(..list.len().saturating_sub(LAST));
        }
    }
    Ok(answer)
}

/// An answer with the prompt that waits. One that is too long for it is read from its file.
fn with_prompt<T: Serialize>(value: &T, state: &SessionState) -> Answer {
    let mut answer = answer(value)?;
    let next = &state.next_action;
    let unit = next
        .unit
        .as_ref()
        .filter(|_| next.action == ActionKind::Work);
    if let Some(prompt) = unit.and_then(|unit| unit.prompt.as_deref())
        && let Some(text) = prompt_text(&state.folder.join(prompt))
    {
        answer["prompt_text"] = text.into();
    }
    Ok(answer)
}

/// A prompt, if an answer can carry it.
fn prompt_text(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let mut file = File::open(path).ok()?.take(LONGEST_PROMPT + 1);
    file.read_to_end(&mut bytes).ok()?;
    let fits = bytes.len() as u64 <= LONGEST_PROMPT;
    fits.then(|| String::from_utf8_lossy(&bytes).into_owned())
}
