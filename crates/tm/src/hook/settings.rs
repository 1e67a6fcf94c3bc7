//! The hook in a client's settings: what stands where, and whether what stands there can run.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};

use super::Client;

/// Seconds that a client waits. It takes a few milliseconds; a busy disk may need more.
const TIMEOUT: u32 = 5;

/// The program.
const PROGRAM: &str = "tm";

/// What comes behind our command. Some clients take every exit status but 0 for a denial, also that of a shell that finds
/// no `tm`, or whose `tm` was killed.
const AND_LET_WORK: &str = "; exit 0";

/// Where a client keeps its hooks, and what goes into it.
#[derive(Debug, Clone)]
pub struct Hooks {
    /// The file.
    pub file: &'static str,
    /// Whether a new file says the version of its form.
    pub versioned: bool,
    /// For each event, what goes into its list.
    pub events: Vec<(&'static str, Value)>,
}

/// The hooks of a client.
pub fn of(client: Client) -> Hooks {
    match client {
        Client::ClaudeCode => {
            // One string, since readers of this file that know no `args` would call the program alone.
            let handler = json!({
                "type": "command",
                "command": line(PROGRAM, client),
                "timeout": TIMEOUT,
                ON_FAILURE: "continue",
            });
            grouped(
                ".claude/settings.json",
                "Bash|Edit|MultiEdit|NotebookEdit|Write",
                &handler,
            )
        }
        Client::Codex => {
            let handler = json!({
                "type": "command",
                "command": line(PROGRAM, client),
                "timeout": TIMEOUT,
            });
            grouped(
                ".codex/hooks.json",
                "^(Bash|apply_patch|Edit|Write)$",
                &handler,
            )
        }
        Client::Cursor => {
            let handler = json!({ "command": line(PROGRAM, client), "timeout": TIMEOUT });
            let mut writing = handler.clone();
            writing["matcher"] =
                "Write|StrReplace|Edit|MultiEdit|EditNotebook|ApplyPatch|Delete".into();
            Hooks {
                file: ".cursor/hooks.json",
                versioned: true,
                events: vec![
                    ("preToolUse", writing),
                    ("beforeShellExecution", handler.clone()),
                    ("stop", handler.clone()),
                    ("sessionStart", handler),
                ],
            }
        }
        Client::Copilot => {
            let handler = json!({
                "type": "command",
                "bash": line(PROGRAM, client),
                "timeoutSec": TIMEOUT,
            });
            Hooks {
                file: ".github/hooks/tramline.json",
                versioned: true,
                events: vec![
                    ("preToolUse", handler.clone()),
                    ("agentStop", handler.clone()),
                    ("sessionStart", handler),
                ],
            }
        }
    }
}

/// Says in the settings of Claude Code what becomes of a tool when its hook fails.
pub const ON_FAILURE: &str = "onFailure";

/// The command that a client's shell is to run, of a program by whatever path.
pub fn line(program: &str, client: Client) -> String {
    let quote = if program.contains(char::is_whitespace) {
        "\""
    } else {
        ""
    };
    format!("{quote}{program}{quote} hook {}{AND_LET_WORK}", client.id())
}

/// Whether a handler of ours has the form that no reader of its file takes for something else.
pub fn is_sound(handler: &Value, client: Client, program: &str) -> bool {
    let line = line(program, client);
    handler.get("args").is_none()
        && ["command", "bash"]
            .iter()
            .any(|key| handler.get(key).and_then(Value::as_str) == Some(&line))
}

fn grouped(file: &'static str, matcher: &str, handler: &Value) -> Hooks {
    Hooks {
        file,
        versioned: false,
        events: vec![
            (
                "PreToolUse",
                json!({ "matcher": matcher, "hooks": [handler] }),
            ),
            ("Stop", json!({ "hooks": [handler] })),
            ("SessionStart", json!({ "hooks": [handler] })),
        ],
    }
}

/// The program that a handler calls, if it calls the hook of this client. By which path is up to its user.
pub fn program(handler: &Value, client: Client) -> Option<String> {
    let command = ["command", "bash"]
        .iter()
        .find_map(|key| handler.get(key)?.as_str())?;
    let program = match handler.get("args") {
        Some(Value::Array(arguments)) => {
            let words: Vec<&str> = arguments.iter().filter_map(Value::as_str).collect();
            (words == ["hook", client.id()]).then_some(command)?
        }
        Some(_) => return None,
        None => command
            .trim()
            .trim_end_matches(AND_LET_WORK)
            .trim_end()
            .strip_suffix(client.id())?
            .trim_end()
            .strip_suffix("hook")?
            .trim_end(),
    };
    let program = program.trim_matches(['"', '\'']);
    (program.rsplit('/').next() == Some(PROGRAM)).then(|| program.to_owned())
}

/// The handlers of an event's entry that call the hook of this client, each with the program that it calls.
pub fn calls(entry: &Value, client: Client) -> Vec<(&Value, String)> {
    let inside = entry.get("hooks").and_then(Value::as_array);
    [entry]
        .into_iter()
        .chain(inside.into_iter().flatten())
        .filter_map(|handler| Some((handler, program(handler, client)?)))
        .collect()
}

/// The hook as it was found in a client's settings.
#[derive(Debug, Clone, Serialize)]
pub struct Installed {
    /// The client.
    pub client: &'static str,
    /// The file.
    pub file: &'static str,
    /// Whether it can run, for every event.
    pub ok: bool,
    /// What was found.
    pub message: String,
}

/// What stands in a client's settings in the project at `root`; `None` where the hook does not.
pub fn installed(root: &Path, client: Client) -> Option<Installed> {
    let hooks = of(client);
    let text = std::fs::read_to_string(root.join(hooks.file)).ok()?;
    let found = |ok, message: String| {
        Some(Installed {
            client: client.id(),
            file: hooks.file,
            ok,
            message,
        })
    };
    let Some(document) = crate::init::hook::read(&text) else {
        // Of a file that nobody can read, only that is told in which our name stands.
        return text.contains(PROGRAM).then(|| Installed {
            client: client.id(),
            file: hooks.file,
            ok: false,
            message: "cannot be read as JSON".to_owned(),
        });
    };
    let mut misread = false;
    let mut missing = Vec::new();
    let mut programs = Vec::new();
    for (event, _) in &hooks.events {
        let entries = document
            .get("hooks")
            .and_then(|hooks| hooks.get(event)?.as_array());
        let calls: Vec<_> = entries
            .into_iter()
            .flatten()
            .flat_map(|entry| calls(entry, client))
            .collect();
        if calls.is_empty() {
            missing.push(*event);
        }
        for (handler, program) in calls {
            misread |= !is_sound(handler, client, &program);
            programs.push(program);
        }
    }
    if programs.is_empty() {
        return None;
    }
    if misread {
        return found(
            false,
            format!(
                "stands in a form that other clients misread: run `tm init --client {} --hook`",
                client.id()
            ),
        );
    }
    for program in &programs {
        if !is_there(root, program) {
            return found(false, format!("calls `{program}`, which is not there"));
        }
    }
    if missing.is_empty() {
        found(true, format!("calls `{}`", programs[0]))
    } else {
        found(
            false,
            format!(
                "lacks the hook for {}: run `tm init --client {} --hook`",
                missing.join(", "),
                client.id()
            ),
        )
    }
}

/// Whether a program can be called by that name, from the project's root. One with a variable in its path is taken to be.
pub fn is_there(root: &Path, program: &str) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let is_program = |path: PathBuf| {
        std::fs::metadata(path)
            .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    if program.contains(['$', '~']) {
        return true;
    }
    if program.contains('/') {
        return is_program(root.join(program));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| is_program(folder.join(program)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handler_is_told_by_what_it_calls() {
        for (handler, expected) in [
            (
                json!({"command": "tm", "args": ["hook", "codex"]}),
                Some("tm"),
            ),
            (json!({"command": "tm hook codex"}), Some("tm")),
            (json!({"command": "tm hook codex; exit 0"}), Some("tm")),
            (json!({"command": "tm hook codex && rm -rf x"}), None),
            (
                json!({"command": " \"/opt/x y/tm\"  hook codex "}),
                Some("/opt/x y/tm"),
            ),
            (
                json!({"bash": "$HOME/bin/tm hook codex"}),
                Some("$HOME/bin/tm"),
            ),
            (json!({"command": "tm hook cursor"}), None),
            (json!({"command": "atm hook codex"}), None),
            (json!({"command": "tm", "args": ["hook"]}), None),
            (json!({"command": "tm", "args": 7}), None),
            (json!({"command": 7}), None),
            (json!([]), None),
        ] {
            let found = program(&handler, Client::Codex);
            assert_eq!(found.as_deref(), expected, "{handler}");
        }
        for client in Client::ALL {
            for (event, entry) in of(client).events {
                let calls = calls(&entry, client);
                assert_eq!(calls.len(), 1, "{event}");
                assert!(is_sound(calls[0].0, client, "tm"), "{event}");
            }
        }
    }
}
