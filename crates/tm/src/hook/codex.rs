//! Codex: payloads in the form of Claude Code's; files are written by `apply_patch`, whose text names them.

use std::path::Path;

use engine::hook::Decision;
use serde_json::{Value, json};

use super::{HookInput, claude_code};
use crate::hook::self_test::Sample;

const WRITING: [&str; 5] = ["apply_patch", "Edit", "Write", "MultiEdit", "NotebookEdit"];
const SHELLS: [&str; 6] = [
    "Bash",
    "shell",
    "local_shell",
    "shell_command",
    "exec_command",
    "unified_exec",
];

/// What Codex said.
pub(super) fn heard(value: &Value) -> HookInput {
    claude_code::read(value, &WRITING, &SHELLS)
}

/// What it is answered. The form under `hookSpecificOutput` is understood by every version, the older `decision` on a tool is not.
pub(super) fn reply(heard: &HookInput, decision: &Decision) -> Option<Value> {
    claude_code::reply(heard, decision)
}

/// A payload as Codex sends it.
pub(super) fn sample(root: &Path, sample: &Sample<'_>) -> Value {
    let common = |event: &str, more: Value| {
        let mut payload = json!({
            "session_id": "0199a213-81c0-7800-8aa1-bbab2a035a53",
            "turn_id": "1",
            "transcript_path": null,
            "cwd": root,
            "hook_event_name": event,
            "model": "gpt-5-codex",
            "permission_mode": "default",
        });
        if let (Value::Object(payload), Value::Object(more)) = (&mut payload, more) {
            payload.extend(more);
        }
        payload
    };
    let tool = |name: &str, line: String| {
        common(
            "PreToolUse",
            json!({ "tool_name": name, "tool_use_id": "call_1", "tool_input": { "command": line } }),
        )
    };
    match sample {
        Sample::SessionStart => common("SessionStart", json!({ "source": "startup" })),
        Sample::Stop { again } => common(
            "Stop",
            json!({ "stop_hook_active": again, "last_assistant_message": "Done." }),
        ),
        Sample::Read(file) => tool("Bash", format!("sed -n 1,200p {file}")),
        Sample::Write(file) => tool(
            "apply_patch",
            format!("*** Begin Patch\n*** Add File: {file}\n+x\n*** End Patch\n"),
        ),
        Sample::Edit(file) => tool(
            "apply_patch",
            format!("*** Begin Patch\n*** Update File: {file}\n@@\n-x\n+y\n*** End Patch\n"),
        ),
        Sample::Command(line) => tool("Bash", (*line).to_owned()),
    }
}
