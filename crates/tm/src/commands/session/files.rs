//! Files that come into a session and go out of it.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

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
    put_out(&state, &path, &bytes, output)
}

fn put_out(state: &SessionState, path: &str, bytes: &[u8], output: &mut Output) -> Outcome {
    let changed = is_changed(state, path, bytes);
    if changed {
        output.warning(&render::not_as_recorded(state, path));
    }
    if output.is_json() {
        output.json(&json!({
            "session_id": state.session_id,
            "path": path,
            "bytes": bytes.len(),
            "changed": changed,
            "text": String::from_utf8_lossy(bytes),
        }))?;
    } else if let Ok(text) = std::str::from_utf8(bytes) {
        output.document(text)?;
    } else {
        output.bytes(bytes)?;
    }
    Ok(DONE)
}

/// Whether a file is not what was recorded of it. What was never recorded is not, and neither is a response that is
/// still to be taken in.
fn is_changed(state: &SessionState, path: &str, bytes: &[u8]) -> bool {
    let differs = |recorded: &str| recorded != journal::sha256_hex(bytes);
    let gate = state.next_action.gate.as_ref();
    let waits_at = |name: &str| gate.is_some_and(|gate| gate.gate == name);
    let current = format!("iteration-{}/", state.current_iteration);
    let is_current = !path.contains('/') || path.starts_with(&current);
    let is_code = path.starts_with(&format!("{current}code/"));
    if path == "plan.md" && waits_at("plan") {
        return state.plan_hash.as_deref().is_some_and(differs);
    }
    // Of those that the session looks at itself it is told which are not whole: it also knows what was approved since.
    if path == "plan.md" || is_code || (is_current && path.ends_with("-response.md")) {
        let below = |changed: &String| Path::new(path).starts_with(changed);
        return state.tampered.iter().any(below);
    }
    let recorded = state
        .artifacts
        .iter()
        .rev()
        .find(|artifact| artifact.path == path);
    recorded.is_some_and(|artifact| differs(&artifact.sha256))
}

/// A file of a session, by its path or by what it is: its path in the session's folder, and its content.
fn of_session(state: &SessionState, named: &str) -> Result<Option<(String, Vec<u8>)>, Fault> {
    for path in candidates(state, named) {
        if let Some(real) = inside(&state.folder, &path) {
            let shown = real.display().to_string();
            let unreadable = |error: &io::Error| {
                Fault::environment("io_failed", format!("{shown} could not be read"), error)
                    .suggest("its rights may have been changed: see to it that you can read it")
            };
            let mut bytes = Vec::new();
            File::open(&real)
                .and_then(|mut opened| opened.read_to_end(&mut bytes))
                .map_err(|error| unreadable(&error))?;
            return Ok(Some((within(&state.folder, &real, path), bytes)));
        }
    }
    Ok(None)
}

/// The path of a file in the session's folder, whichever way it was named.
fn within(folder: &Path, real: &Path, named: String) -> String {
    let folder = fs::canonicalize(folder).unwrap_or_default();
    match real.strip_prefix(folder).ok().and_then(Path::to_str) {
        Some(path) => path.to_owned(),
        None => named,
    }
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

/// A regular file in a folder, as it really is; none where there is none, or where it leads out.
fn inside(folder: &Path, path: &str) -> Option<PathBuf> {
    let path = Path::new(path);
    let path = path.strip_prefix(folder).unwrap_or(path);
    let plain = path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    let real = fs::canonicalize(folder.join(path)).ok()?;
    let is_inside = plain && real.starts_with(fs::canonicalize(folder).ok()?);
    (is_inside && real.is_file()).then_some(real)
}
