//! Qwen Code: Claude Code's form, with tools of other names. It says of the very first stop that a hook has held it up
//! already, so who was reminded is known from what was answered alone.

use std::path::Path;

use engine::hook::Action;
use serde_json::{Value, json};

use super::{HookInput, claude_code, path_in};
use crate::hook::self_test::Sample;

const WRITING: [&str; 4] = ["write_file", "edit", "replace", "notebook_edit"];
const SHELLS: [&str; 1] = ["run_shell_command"];

/// What Qwen said.
pub(super) fn heard(value: &Value) -> HookInput {
    let mut heard = claude_code::read(value, &WRITING, &SHELLS);
    if let Action::Stop { already_reminded } = &mut heard.action {
        *already_reminded = false;
    }
    heard
}

/// A payload as Qwen sends it.
pub(super) fn sample(root: &Path, sample: &Sample<'_>) -> Value {
    let common = |event: &str, more: Value| {
        let mut payload = json!({
            "session_id": "0c9f6a6e-4a3e-4a77-8f0f-7b1f2f2c9d11",
            "transcript_path": "/dev/null",
            "cwd": root,
            "hook_event_name": event,
            "timestamp": "2026-11-25T14:28:40.000Z",
        });
        if let (Value::Object(payload), Value::Object(more)) = (&mut payload, more) {
            payload.extend(more);
        }
        payload
    };
    let tool = |name: &str, input: Value| {
        common(
            "PreToolUse",
            json!({ "permission_mode": "default", "tool_name": name, "tool_input": input }),
        )
    };
    match sample {
        Sample::SessionStart => common("SessionStart", json!({ "source": "startup" })),
        Sample::Stop { .. } => common(
            "Stop",
            json!({ "stop_hook_active": true, "last_assistant_message": "done" }),
        ),
        Sample::Read(file) => tool("read_file", json!({ "file_path": path_in(root, file) })),
        Sample::Write(file) => tool(
            "write_file",
            json!({ "file_path": path_in(root, file), "content": "x\n" }),
        ),
        Sample::Edit(file) => tool(
            "edit",
            json!({ "file_path": path_in(root, file), "old_string": "x", "new_string": "y" }),
        ),
        Sample::Command(line) => tool(
            "run_shell_command",
            json!({ "command": line, "is_background": false }),
        ),
    }
}
