//! Claude Code: `hook_event_name`, `tool_name`, `tool_input`; a denial is JSON under `hookSpecificOutput`, and nothing at
//! all lets the tool through, past none of the user's own questions.

use std::path::Path;

use engine::hook::{Action, Decision};
use serde_json::{Value, json};

use super::{Event, HookInput, path_in, payload};
use crate::hook::self_test::Sample;

const WRITING: [&str; 4] = ["Write", "Edit", "MultiEdit", "NotebookEdit"];
const SHELLS: [&str; 1] = ["Bash"];

/// What Claude Code said.
pub(super) fn heard(value: &Value) -> HookInput {
    read(value, &WRITING, &SHELLS)
}

/// What Claude Code calls what it asks about.
pub(super) const EVENTS: EventNames = EventNames {
    before_tool: "PreToolUse",
    stop: "Stop",
};

/// What a client calls what it asks about; a session's start has the same name in all.
#[derive(Debug, Clone, Copy)]
pub(super) struct EventNames {
    pub(super) before_tool: &'static str,
    pub(super) stop: &'static str,
}

/// A payload of the form that several clients share.
pub(super) fn read(value: &Value, writing: &[&str], shells: &[&str]) -> HookInput {
    read_events(value, EVENTS, writing, shells)
}

/// The same, where events have names of their own.
pub(super) fn read_events(
    value: &Value,
    names: EventNames,
    writing: &[&str],
    shells: &[&str],
) -> HookInput {
    let nothing = Value::Null;
    let input = value.get("tool_input").unwrap_or(&nothing);
    let (event, action) = match payload::text(value, &["hook_event_name"]) {
        Some(event) if event == names.before_tool => {
            let tool = payload::text(value, &["tool_name"]);
            (
                Event::BeforeTool,
                tool.map_or(Action::Other, |tool| {
                    payload::action(Some(tool), input, writing, shells)
                }),
            )
        }
        Some(event) if event == names.stop => {
            let already_reminded = value.get("stop_hook_active") == Some(&Value::Bool(true));
            (Event::Stop, Action::Stop { already_reminded })
        }
        Some("SessionStart") => (Event::SessionStart, Action::SessionStart),
        _ => (Event::Unknown, Action::Other),
    };
    HookInput {
        event,
        action,
        folders: payload::folders(value, input),
        session: payload::text(value, &["session_id"]).map(str::to_owned),
    }
}

/// What it is answered.
pub(super) fn reply(heard: &HookInput, decision: &Decision) -> Option<Value> {
    match (heard.event, decision) {
        (Event::BeforeTool, Decision::Deny { reason, .. }) => Some(json!({
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": reason,
            }
        })),
        (Event::Stop, Decision::Remind { text, .. }) => {
            Some(json!({ "decision": "block", "reason": text }))
        }
        (Event::SessionStart, Decision::Tell { text }) => Some(json!({
            "hookSpecificOutput": {
                "hookEventName": "SessionStart",
                "additionalContext": text,
            }
        })),
        _ => None,
    }
}

/// The answer of a client that hands its agent a text beside a tool that it may use.
pub(super) fn reply_with_context(heard: &HookInput, decision: &Decision) -> Option<Value> {
    match (heard.event, decision) {
        (Event::BeforeTool, Decision::Tell { text }) => Some(json!({
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "additionalContext": text,
            }
        })),
        _ => reply(heard, decision),
    }
}

/// A payload as Claude Code sends it.
pub(super) fn sample(root: &Path, sample: &Sample<'_>) -> Value {
    let tool = |name: &str, input: Value| {
        json!({
            "session_id": "5b1a43d5-1f0e-4a0f-9f0e-3d2f2f1c7a10",
            "transcript_path": "/dev/null",
            "cwd": root,
            "permission_mode": "default",
            "hook_event_name": "PreToolUse",
            "tool_name": name,
            "tool_input": input,
            "tool_use_id": "toolu_01TTtest",
        })
    };
    match sample {
        Sample::SessionStart => json!({
            "session_id": "5b1a43d5-1f0e-4a0f-9f0e-3d2f2f1c7a10",
            "transcript_path": "/dev/null",
            "cwd": root,
            "hook_event_name": "SessionStart",
            "source": "startup",
        }),
        Sample::Stop { again } => json!({
            "session_id": "5b1a43d5-1f0e-4a0f-9f0e-3d2f2f1c7a10",
            "transcript_path": "/dev/null",
            "cwd": root,
            "permission_mode": "default",
            "hook_event_name": "Stop",
            "stop_hook_active": again,
        }),
        Sample::Read(file) => tool("Read", json!({ "file_path": path_in(root, file) })),
        Sample::Write(file) => tool(
            "Write",
            json!({ "file_path": path_in(root, file), "content": "x\n" }),
        ),
        Sample::Edit(file) => tool(
            "Edit",
            json!({ "file_path": path_in(root, file), "old_string": "x", "new_string": "y", "replace_all": false }),
        ),
        Sample::Command(line) => tool("Bash", json!({ "command": line, "description": "Run it" })),
    }
}
