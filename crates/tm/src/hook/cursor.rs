//! Cursor: `preToolUse` for files, `beforeShellExecution` for commands; a denial is `permission`, with a message for the
//! person and one for the agent. An answer without a decision is an empty object.

use std::path::Path;

use engine::hook::{Action, Decision};
use serde_json::{Value, json};

use super::{Event, HookInput, path_in, payload};
use crate::hook::self_test::Sample;

const WRITING: [&str; 13] = [
    "Write",
    "WriteFile",
    "StrReplace",
    "Edit",
    "EditFile",
    "edit_file",
    "search_replace",
    "MultiEdit",
    "MultiStrReplace",
    "EditNotebook",
    "NotebookEdit",
    "ApplyPatch",
    "Delete",
];
const SHELLS: [&str; 2] = ["Shell", "Bash"];

/// What Cursor said.
pub(super) fn heard(value: &Value) -> HookInput {
    let nothing = Value::Null;
    let input = value.get("tool_input").unwrap_or(&nothing);
    let (event, action) = match payload::text(value, &["hook_event_name"]) {
        Some("preToolUse") => (
            Event::BeforeTool,
            payload::action(
                payload::text(value, &["tool_name"]),
                input,
                &WRITING,
                &SHELLS,
            ),
        ),
        Some("beforeShellExecution") => (Event::BeforeTool, payload::command(value)),
        Some("stop") => (Event::Stop, stop(value)),
        Some("sessionStart") => (Event::SessionStart, Action::SessionStart),
        _ => (Event::Unknown, Action::Other),
    };
    HookInput {
        event,
        action,
        folders: payload::folders(value, input),
        session: payload::text(value, &["conversation_id", "session_id"]).map(str::to_owned),
    }
}

/// A turn that a person broke off, or that failed, is not taken up again.
fn stop(value: &Value) -> Action {
    match payload::text(value, &["status"]) {
        None | Some("completed") => Action::Stop {
            already_reminded: value
                .get("loop_count")
                .and_then(Value::as_u64)
                .is_some_and(|count| count > 0),
        },
        Some(_) => Action::Other,
    }
}

/// What it is answered.
#[allow(
    clippy::unnecessary_wraps,
    reason = "the other clients may be answered by silence"
)]
pub(super) fn reply(heard: &HookInput, decision: &Decision) -> Option<Value> {
    Some(match (heard.event, decision) {
        (Event::BeforeTool, Decision::Deny { reason, .. }) => json!({
            "permission": "deny",
            "user_message": reason,
            "agent_message": reason,
        }),
        (Event::Stop, Decision::Remind { text, .. }) => json!({ "followup_message": text }),
        (Event::SessionStart, Decision::Tell { text }) => json!({ "additional_context": text }),
        _ => json!({}),
    })
}

/// A payload as Cursor sends it.
pub(super) fn sample(root: &Path, sample: &Sample<'_>) -> Value {
    let common = |event: &str, more: Value| {
        let mut payload = json!({
            "conversation_id": "668320d2-2fd8-4888-b33c-2a466fec86e7",
            "generation_id": "490b90b7-a2ce-4c2c-bb76-cb77b125df2f",
            "model": "default",
            "hook_event_name": event,
            "cursor_version": "2.4.0",
            "workspace_roots": [root],
            "user_email": null,
            "transcript_path": null,
        });
        if let (Value::Object(payload), Value::Object(more)) = (&mut payload, more) {
            payload.extend(more);
        }
        payload
    };
    let tool = |name: &str, input: Value| {
        common(
            "preToolUse",
            json!({ "tool_name": name, "tool_input": input, "tool_use_id": "tool_1", "cwd": root }),
        )
    };
    match sample {
        Sample::SessionStart => common(
            "sessionStart",
            json!({ "session_id": "668320d2", "is_background_agent": false, "composer_mode": "agent" }),
        ),
        Sample::Stop { again } => common(
            "stop",
            json!({ "status": "completed", "loop_count": u8::from(*again) }),
        ),
        Sample::Read(file) => tool("Read", json!({ "file_path": path_in(root, file) })),
        Sample::Write(file) => tool(
            "Write",
            json!({ "file_path": path_in(root, file), "contents": "x\n" }),
        ),
        Sample::Edit(file) => tool(
            "StrReplace",
            json!({ "path": path_in(root, file), "old_string": "x", "new_string": "y" }),
        ),
        Sample::Command(line) => common(
            "beforeShellExecution",
            json!({ "command": line, "cwd": root, "sandbox": false }),
        ),
    }
}
