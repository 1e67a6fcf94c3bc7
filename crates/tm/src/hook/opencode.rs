//! opencode calls plugins, and no commands: ours hands on what a tool is given, in Claude Code's form, and throws what is
//! denied. It is asked before tools alone.

use std::path::Path;

use serde_json::{Value, json};

use super::{HookInput, claude_code, path_in};
use crate::hook::self_test::Sample;

/// The plugin.
pub const PLUGIN: &str = include_str!("opencode.js");

const WRITING: [&str; 5] = ["write", "edit", "patch", "multiedit", "apply_patch"];
const SHELLS: [&str; 1] = ["bash"];

/// What the plugin said.
pub(super) fn heard(value: &Value) -> HookInput {
    claude_code::read(value, &WRITING, &SHELLS)
}

/// A payload as the plugin sends it; none for what it does not ask about.
pub(super) fn sample(root: &Path, sample: &Sample<'_>) -> Option<Value> {
    let (tool, input) = match sample {
        Sample::SessionStart | Sample::Stop { .. } => return None,
        Sample::Read(file) => ("read", json!({ "filePath": path_in(root, file) })),
        Sample::Write(file) => (
            "write",
            json!({ "filePath": path_in(root, file), "content": "x\n" }),
        ),
        Sample::Edit(file) => (
            "edit",
            json!({ "filePath": path_in(root, file), "oldString": "x", "newString": "y" }),
        ),
        Sample::Command(line) => ("bash", json!({ "command": line, "description": "Run it" })),
    };
    Some(json!({
        "hook_event_name": "PreToolUse",
        "session_id": "ses_dece54c78ffe8JMne3yB69yOsd",
        "cwd": root,
        "tool_name": tool,
        "tool_input": input,
    }))
}
