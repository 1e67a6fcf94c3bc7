//! GitHub Copilot CLI: payloads do not name their event, and `toolArgs` is JSON in a string. The same settings are read
//! by Visual Studio Code, whose payloads have the form of Claude Code's, and are answered in that form.

use std::path::Path;

use engine::hook::{Action, Decision};
use serde_json::{Value, json};

use super::{Event, HookInput, claude_code, path_in, payload};
use crate::hook::self_test::Sample;

const WRITING: [&str; 17] = [
    "create",
    "edit",
    "write",
    "multiedit",
    "str_replace",
    "insert",
    "apply_patch",
    "create_file",
    "createFile",
    "editFiles",
    "replace_string_in_file",
    "multi_replace_string_in_file",
    "insert_edit_into_file",
    "edit_notebook_file",
    "NotebookEdit",
    "str_replace_editor",
    "delete",
];
const SHELLS: [&str; 5] = [
    "bash",
    "shell",
    "local_shell",
    "run_in_terminal",
    "runInTerminal",
];

/// The editor that also reads.
const EDITOR: &str = "str_replace_editor";

/// What Copilot said.
pub(super) fn heard(value: &Value) -> HookInput {
    if value.get("hook_event_name").is_some() {
        return claude_code::read(value, &WRITING, &SHELLS);
    }
    let arguments = arguments(value);
    let (event, action) = if let Some(tool) = payload::text(value, &["toolName"]) {
        if value.get("toolResult").is_some() || value.get("error").is_some() {
            (Event::Unknown, Action::Other)
        } else if tool == EDITOR && arguments.get("command").and_then(Value::as_str) == Some("view")
        {
            (Event::BeforeTool, Action::Other)
        } else {
            let action = payload::action(Some(tool), &arguments, &WRITING, &SHELLS);
            (Event::BeforeTool, action)
        }
    } else if value.get("stopReason").is_some() && value.get("agentName").is_none() {
        let already_reminded = ["stop_hook_active", "stopHookActive"]
            .iter()
            .any(|key| value.get(key) == Some(&Value::Bool(true)));
        (Event::Stop, Action::Stop { already_reminded })
    } else if matches!(
        payload::text(value, &["source"]),
        Some("new" | "resume" | "startup" | "clear")
    ) {
        (Event::SessionStart, Action::SessionStart)
    } else {
        (Event::Unknown, Action::Other)
    };
    HookInput {
        event,
        action,
        folders: payload::folders(value, &arguments),
        session: payload::text(value, &["sessionId"]).map(str::to_owned),
    }
}

/// The arguments of a tool: JSON in a string, a patch as it is, or an object.
fn arguments(value: &Value) -> Value {
    match value.get("toolArgs") {
        Some(Value::String(text)) => {
            serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()))
        }
        Some(other) => other.clone(),
        None => Value::Null,
    }
}

/// What it is answered.
pub(super) fn reply(value: &Value, heard: &HookInput, decision: &Decision) -> Option<Value> {
    if value.get("hook_event_name").is_some() {
        return claude_code::reply(heard, decision);
    }
    match (heard.event, decision) {
        (Event::BeforeTool, Decision::Deny { reason, .. }) => Some(json!({
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        })),
        (Event::Stop, Decision::Remind { text, .. }) => {
            Some(json!({ "decision": "block", "reason": text }))
        }
        (Event::SessionStart, Decision::Tell { text }) => {
            Some(json!({ "additionalContext": text }))
        }
        _ => None,
    }
}

/// A payload as Copilot sends it.
pub(super) fn sample(root: &Path, sample: &Sample<'_>) -> Value {
    let common = |more: Value| {
        let mut payload = json!({
            "sessionId": "01HW2X3Y4Z5A6B7C8D9E0F1G2H",
            "timestamp": 1_704_614_600_000_u64,
            "cwd": root,
        });
        if let (Value::Object(payload), Value::Object(more)) = (&mut payload, more) {
            payload.extend(more);
        }
        payload
    };
    let tool = |name: &str, arguments: &Value| {
        common(json!({ "toolName": name, "toolArgs": arguments.to_string() }))
    };
    match sample {
        Sample::SessionStart => common(json!({ "source": "new", "initialPrompt": "Go on" })),
        Sample::Stop { .. } => {
            common(json!({ "transcriptPath": "/dev/null", "stopReason": "end_turn" }))
        }
        Sample::Read(file) => tool("view", &json!({ "path": path_in(root, file) })),
        Sample::Write(file) => tool(
            "create",
            &json!({ "path": path_in(root, file), "file_text": "x\n" }),
        ),
        Sample::Edit(file) => tool(
            "edit",
            &json!({ "path": path_in(root, file), "old_str": "x", "new_str": "y" }),
        ),
        Sample::Command(line) => tool("bash", &json!({ "command": line, "description": "Run it" })),
    }
}
