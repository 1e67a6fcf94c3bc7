//! The files of a session, as they are shown.

use std::fs;

use engine::view::session::answer::SessionState;
use engine::{Engine, Fault, Kind, Verb};
use journal::layout::short_name;
use serde_json::json;
use text::plain::one_line;

use super::{DONE, Outcome};
use crate::output::Output;
use crate::render::session as render;

/// Prints one file of a session.
pub fn print(engine: &Engine, session: Option<&str>, file: &str, output: &mut Output) -> Outcome {
    let state = engine.session_status(session)?;
    let (path, bytes) = of_session(&state, file)?.ok_or_else(|| not_there(&state, file))?;
    let mut recorded = state.artifacts.iter().rev();
    let recorded = recorded.find(|artifact| artifact.path == path);
    let changed = recorded.is_some_and(|artifact| artifact.problem.is_some());
    if changed {
        output.warning(&render::not_as_recorded(&state, &path));
    }
    if output.is_json() {
        output.json(&json!({
            "session_id": state.session_id,
            "path": path,
            "bytes": bytes.len(),
            "changed": changed,
            "text": String::from_utf8_lossy(&bytes),
        }))?;
    } else if let Ok(text) = std::str::from_utf8(&bytes) {
        output.document(text)?;
    } else {
        output.bytes(&bytes)?;
    }
    Ok(DONE)
}

/// A file of a session, by its path or by what it is: its path in the session's folder, and its content.
fn of_session(state: &SessionState, named: &str) -> Result<Option<(String, Vec<u8>)>, Fault> {
    let folder = fs::canonicalize(&state.folder).unwrap_or_default();
    for path in candidates(state, named) {
        // As it really is: a link may lead out.
        let real = fs::canonicalize(folder.join(path)).unwrap_or_default();
        let Ok(inside) = real.strip_prefix(&folder) else {
            continue;
        };
        if real.is_file() {
            let bytes = fs::read(&real).map_err(|error| {
                let shown = real.display();
                Fault::environment("io_failed", format!("{shown} could not be read"), &error)
                    .suggest("its rights may have been changed: see to it that you can read it")
            })?;
            return Ok(Some((inside.to_string_lossy().into_owned(), bytes)));
        }
    }
    Ok(None)
}

fn not_there(state: &SessionState, named: &str) -> Fault {
    let fault = |message: String| {
        Fault::new(Kind::Missing, "not_found", message)
            .detail("session_id", state.session_id.as_str())
    };
    let (id, phase) = (&state.session_id, &state.phase);
    let name = short_name(id);
    if matches!(named, "plan" | "prompt" | "response") {
        let yet = match state.status.as_str() {
            "IN_PROGRESS" => " yet",
            _ => "",
        };
        return fault(format!(
            "the session {name} has no {named}{yet}: it stands in {phase}"
        ))
        .suggest(format!("{} says what comes next", Verb::Status))
        .recover(Verb::Status.step().of(id));
    }
    let known: Vec<&str> = state
        .artifacts
        .iter()
        .map(|artifact| artifact.path.as_str())
        .collect();
    fault(format!(
        "the session {name} has no file {}",
        one_line(named)
    ))
    .suggest(
        "name one of its files; without a name they are listed, and `--session` names a session",
    )
    .expected(known)
    .recover(format!("tm session show{}", render::option(id)))
}

/// The paths that a name can mean, the likeliest first.
fn candidates(state: &SessionState, named: &str) -> Vec<String> {
    let iteration = format!("iteration-{}", state.current_iteration);
    let asked = state.next_action.unit.as_ref();
    let prompt = asked.and_then(|unit| unit.prompt.as_deref());
    let response = asked.and_then(|unit| unit.response.as_deref());
    // Of a phase that waits for nothing, those that were written last.
    let newest = |ending: &str| {
        state
            .artifacts
            .iter()
            .rev()
            .map(|artifact| &artifact.path)
            .find(|path| path.ends_with(ending))
            .cloned()
    };
    let found = match named {
        "plan" => Some("plan.md".to_owned()),
        "prompt" => prompt.map(str::to_owned).or_else(|| newest("-prompt.md")),
        "response" => response
            .filter(|path| state.folder.join(path).is_file())
            .map(str::to_owned)
            .or_else(|| newest("-response.md")),
        _ => None,
    };
    let named = named.strip_prefix("./").unwrap_or(named);
    found
        .into_iter()
        .chain([named.to_owned(), format!("{iteration}/{named}")])
        .collect()
}
