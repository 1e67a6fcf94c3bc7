//! Gemini CLI: payloads in the form of Claude Code's, under names of its own; a denial and a reminder are `decision` with a
//! reason.

use std::path::Path;

use engine::hook::Decision;
use serde_json::{Value, json};

use super::claude_code::{self, EventNames};
use super::{Event, HookInput, path_in};
use crate::hook::self_test::Sample;

const EVENTS: EventNames = EventNames {
    before_tool: "BeforeTool",
    stop: "AfterAgent",
};
const WRITING: [&str; 4] = ["write_file", "replace", "edit", "MultiEdit"];
const SHELLS: [&str; 1] = ["run_shell_command"];

/// What Gemini said.
pub(super) fn heard(value: &Value) -> HookInput {
    claude_code::read_events(value, EVENTS, &WRITING, &SHELLS)
}

/// What it is answered.
pub(super) fn reply(heard: &HookInput, decision: &Decision) -> Option<Value> {
    match (heard.event, decision) {
        (Event::BeforeTool, Decision::Deny { reason, .. }) => {
            Some(json!({ "decision": "deny", "reason": reason }))
        }
        (Event::Stop, Decision::Remind { text, .. }) => {
            Some(json!({ "decision": "deny", "reason": text }))
        }
        _ => claude_code::reply(heard, decision),
    }
}

/// A payload as Gemini sends it.
pub(super) fn sample(root: &Path, sample: &Sample<'_>) -> Value {
    let common = |event: &str, more: Value| {
        let mut payload = json!({
            "session_id": "f47cabb2-dce6-47c0-b04c-9d4d49a34ea8",
            "transcript_path": "/dev/null",
            "cwd": root,
            "hook_event_name": event,
            "timestamp": "2026-11-25T14:28:30.930Z",
        });
        if let (Value::Object(payload), Value::Object(more)) = (&mut payload, more) {
            payload.extend(more);
        }
        payload
    };
    let tool = |name: &str, input: Value| {
        common(
            "BeforeTool",
            json!({ "tool_name": name, "tool_input": input }),
        )
    };
    match sample {
        Sample::SessionStart => common("SessionStart", json!({ "source": "startup" })),
        Sample::Stop { again } => common(
            "AfterAgent",
            json!({ "prompt": "do it", "prompt_response": "done", "stop_hook_active": again }),
        ),
        Sample::Read(file) => tool("read_file", json!({ "file_path": path_in(root, file) })),
        Sample::Write(file) => tool(
            "write_file",
            json!({ "file_path": path_in(root, file), "content": "x\n" }),
        ),
        Sample::Edit(file) => tool(
            "replace",
            json!({ "file_path": path_in(root, file), "old_string": "x", "new_string": "y" }),
        ),
        Sample::Command(line) => tool(
            "run_shell_command",
            json!({ "command": line, "description": "Run it" }),
        ),
    }
}
