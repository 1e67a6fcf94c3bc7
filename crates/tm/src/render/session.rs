//! The answers about sessions of prompts and responses: where one stands, what was told of a step, and what to do now.

use std::path::Path;

use engine::Action;
use engine::view::session::answer::{RespondAnswer, SessionState, SessionSummary, StepAhead};
use journal::layout::short_name;
use serde::Serialize;
use serde_json::{Value, json};
use workspace::profile::Phase;

use super::{Look, page_with};
use crate::steps::typed;

/// The words behind a command that name a session.
pub fn option(session: &str) -> String {
    format!(" --session {}", typed(&short_name(session)))
}

/// A page of an answer about this session, with its words for what was asked for.
pub fn page(name: &str, answer: &impl Serialize, state: &SessionState, look: &Look) -> String {
    let beside = json!({
        "asked": state.work.asked.map(response),
        "answered": state.work.answered.map(response),
        "ahead": ahead(state.work.ahead),
        "closed": gates(state),
        "files": files(state),
    });
    page_with(name, answer, &beside, look)
}

/// What a response is called.
fn response(asked: Phase) -> &'static str {
    match asked {
        Phase::Planning => "the plan",
        Phase::Generation => "the code",
        Phase::Review => "the review",
        Phase::Revision => "the revised code",
    }
}

/// What the next step of a session does that waits for nothing.
fn ahead(step: StepAhead) -> String {
    let does = |verb: &str, asked| format!("The next step {verb} {}.", response(asked));
    match step {
        StepAhead::TakesIn(asked) => format!("The next step takes {} in.", response(asked)),
        StepAhead::AsksFor(asked) => does("asks for", asked),
        StepAhead::ActsOn(asked) => does("acts on", asked),
        StepAhead::GoesOnTo(asked) => does("goes on to", asked),
        StepAhead::Settles => {
            "A step was interrupted: the next one brings it to its end first.".to_owned()
        }
        StepAhead::Other => "The next step can be taken.".to_owned(),
    }
}

/// At which gates of a session a person is waited for.
fn gates(state: &SessionState) -> String {
    let closed = state.gates.iter();
    let closed = closed.filter(|(_, mode)| mode.as_str() != Some("auto"));
    let closed: Vec<&String> = closed.map(|(gate, _)| gate).collect();
    match closed.len() {
        0 => "none waits for a person".to_owned(),
        1 => format!("{} waits for a person", closed[0]),
        _ => format!("{} wait for a person", text::listed(closed.iter())),
    }
}

/// The files that were recorded, as they stand now. Of one that was written several times the last is what it is.
fn files(state: &SessionState) -> Vec<Value> {
    let files = state.artifacts.iter().enumerate();
    let files = files.filter(|(at, file)| {
        let mut later = state.artifacts[at + 1..].iter();
        !file.sha256.is_empty() && later.all(|other| other.path != file.path)
    });
    let files = files.map(|(_, file)| {
        let state = match file.problem.as_deref() {
            Some("changed") => "changed since",
            _ if state.folder.join(&file.path).is_file() => "",
            _ => "not there",
        };
        json!({ "sha256": file.sha256, "path": file.path, "state": state, "phase": file.phase })
    });
    files.collect()
}

/// What may help next after an id was printed.
pub fn begun(state: &SessionState) -> String {
    format!(
        "a session of the profile {} has begun; of its gates {}; its first step asks for the plan:\n`tm session step{}`",
        state.profile,
        gates(state),
        option(&state.session_id)
    )
}

/// A list of sessions, one a line: all that there are, or those of them that were asked for.
pub fn list(sessions: &[SessionSummary], is_chosen: bool, look: &Look) -> String {
    let ids = sessions.iter().map(|session| session.session_id.as_str());
    let names: Vec<&str> = ids
        .clone()
        .map(|id| engine::session_name(id).unwrap_or_default())
        .collect();
    let widths = ids
        .zip(&names)
        .map(|(id, name)| short_name(id).len() + 1 + name.len());
    let beside = json!({ "names": names, "widest": widths.max(), "chosen": is_chosen });
    page_with("sessions", &sessions, &beside, look)
}

/// The words on a file that is not what was recorded of it.
pub fn not_as_recorded(state: &SessionState, path: &str) -> String {
    let told = format!("{path} was changed since it was recorded");
    let next: &Action = &state.next_action;
    let mut changed = state.tampered.iter();
    if next.changed.is_some() && changed.any(|changed| Path::new(path).starts_with(changed)) {
        let session = option(&state.session_id);
        format!("{told}; `tm session restore{session}` puts back what was")
    } else {
        told
    }
}

/// A response was put into its place; where that leaves the session, which the response alone does not make go on.
pub fn responded(responded: &RespondAnswer, state: &SessionState, look: &Look) -> String {
    let mut all = json!(state);
    for (name, value) in json!(responded).as_object().into_iter().flatten() {
        all[name] = value.clone();
    }
    page("session_responded", &all, state, look)
}
