//! Sessions of the `review` rails.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use engine::fault;
use engine::view::session::answer::{SessionState, StepAnswer};
use engine::view::session::request::Response;
use engine::{ActionKind, Engine, Fault};
use mcp::{Client, Hints};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use text::plain::one_line;

use super::super::place::RunSelector;
use super::decision::{DECIDE, DecisionRequest, deciding};
use super::turn::MOVED;
use super::{Answer, Call, Entry, Property, answer, on_session};
use crate::cli::session::Init;
use crate::steps::Form;

/// The most of a prompt that an answer carries, in bytes.
const LONGEST_PROMPT: u64 = 64 * 1024;
/// How many transitions and files an answer carries that is not about them.
const LISTED: usize = 10;

/// What every answer about a session has.
const STATE: &[Property] = &[
    ("session_id", "string"),
    ("phase", "string"),
    ("status", "string"),
    ("nextAction", "object"),
];

/// The tools of a session.
pub(super) fn entries() -> Vec<Entry> {
    vec![
        Entry {
            name: "session_init",
            title: "Begin a review session",
            description: "Begin a review session: plan, code, review, revisions until a review passes. inputs as the profile names them (generic: request; perhaps context, language, constraints). Then session_step.",
            hints: Hints::Adds,
            output: STATE,
            handler: on_session(init),
        },
        Entry {
            name: "session_step",
            title: "Take a step",
            description: "Take one step of a review session; with response, answer its prompt_text first. advanced: false: it waits, as nextAction says.",
            hints: Hints::Adds,
            output: &[
                ("session_id", "string"),
                ("phase", "string"),
                ("status", "string"),
                ("nextAction", "object"),
                ("advanced", "boolean"),
            ],
            handler: on_session(step),
        },
        deciding(DECIDE, MOVED, on_session(decide)),
        Entry {
            name: "session_status",
            title: "Status of a review session",
            description: "Show phase, what a review session waits for, and what to do next. full: all transitions and files. diff: what changed in the code.",
            hints: Hints::ReadOnly,
            output: STATE,
            handler: on_session(status),
        },
    ]
}

fn init(call: Call<'_>, meant: RunSelector, init: Init) -> Answer {
    let request = init.request()?;
    let engine = call.open_to_begin(&meant)?;
    if let Some(named) = &meant.run {
        return Err(fault!("usage.init", named = one_line(named)).into());
    }
    let state = engine.session_init(&request)?;
    brief(&state, &state)
}

/// What a step is asked for, with what command lines have commands of their own for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Step {
    /// An empty one is refused, and not taken for none.
    #[schemars(extend("x-empty" = true, "x-brief" = "the whole answer to prompt_text"))]
    response: Option<String>,
    #[schemars(extend("x-brief" = "the phase that the response answers"))]
    phase: Option<String>,
    #[schemars(extend("x-brief" = "unitId of nextAction"))]
    unit_id: Option<String>,
    #[serde(default)]
    #[schemars(extend("x-brief" = "replace one that was not read yet"))]
    replace_response: bool,
    #[serde(default)]
    #[schemars(extend("x-brief" = "take all steps that can be taken"))]
    run: bool,
}

fn step(call: Call<'_>, meant: RunSelector, step: Step) -> Answer {
    take_step(&call.open(&meant)?, &meant, step, call.client)
}

fn take_step(engine: &Engine, meant: &RunSelector, wish: Step, client: &Client) -> Answer {
    let Step {
        response,
        phase,
        unit_id: unit,
        replace_response: replace,
        run,
    } = wish;
    let mut session = meant.run.clone();
    if response.is_some() || phase.is_some() {
        let state = engine.session_brief(meant.run())?;
        if let Some(phase) = phase
            .as_deref()
            .filter(|phase| !phase.eq_ignore_ascii_case(&state.phase))
        {
            return Err(elsewhere(phase, &state).into());
        }
        // The same one all the way, whichever is the present one by then.
        session = Some(state.session_id);
    }
    if let Some(response) = response {
        let response = Response {
            bytes: response.as_bytes(),
            replace,
            phase: phase.as_deref(),
            unit: unit.as_deref(),
        };
        let taken = engine.session_respond(session.as_deref(), &response)?;
        session = Some(taken.session_id);
    }
    // The step is the one that was meant, also where another call takes the session on meanwhile.
    let mut moved = false;
    if !run || phase.is_some() {
        let stepped = engine.session_step_in(session.as_deref(), phase.as_deref())?;
        if !run || !stepped.advanced {
            return brief(&stepped, &stepped.state);
        }
        moved = stepped.advanced;
    }
    let mut steps = 0.0;
    let (mut warnings, mut messages) = (Vec::new(), Vec::new());
    let last = engine.session_run(session.as_deref(), &mut |taken| {
        steps += 1.0;
        client.progress(steps, None, taken.state.phase.clone());
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

/// How much is told of a session.
#[derive(Debug, Deserialize, JsonSchema)]
struct Look {
    #[serde(default)]
    #[schemars(extend("x-brief" = "all transitions and files"))]
    full: bool,
    #[serde(default)]
    #[schemars(extend("x-brief" = "files that differ from the last iteration"))]
    diff: bool,
}

fn status(call: Call<'_>, meant: RunSelector, look: Look) -> Answer {
    let engine = call.open(&meant)?;
    let mut state = engine.session_status(meant.run())?;
    if !look.full {
        keep_last(&mut state.phase_history);
        keep_last(&mut state.artifacts);
    }
    let mut answer = with_prompt(&state, &state)?;
    if look.diff {
        answer["diff"] = super::answer(&engine.session_diff(meant.run(), None, None)?)?;
    }
    Ok(answer)
}

fn decide(call: Call<'_>, meant: RunSelector, wish: DecisionRequest) -> Answer {
    call.decide(&meant, Form::Session, wish)
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
