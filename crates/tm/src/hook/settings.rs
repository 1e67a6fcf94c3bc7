//! The hook in a client's settings: what stands where, and whether what stands there can run.

use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};
use text::quote::shell_word;
use workspace::process::find_program;

use super::{Client, opencode};

/// Seconds that a client waits. It takes a few milliseconds; a busy disk may need more.
const TIMEOUT: u32 = 5;

/// The same for clients that count otherwise.
const MILLISECONDS: u32 = TIMEOUT * 1000;

/// What Claude Code calls the events, and those who took its form over.
const EVENTS: [&str; 3] = ["PreToolUse", "Stop", "SessionStart"];

/// The program, as it is called where no path says otherwise.
pub const PROGRAM: &str = "tm";

/// What stands round our command. Some clients take every exit status but 0 for a denial, also that of a shell that finds
/// no `tm`, or whose `tm` was killed; and one hands its payload over as a here-document behind the line, which has to
/// belong to all of it.
const ROUND: (&str, &str) = ("{ ", "; exit 0; }");

/// What stood round it before, in the entries of earlier versions.
const EARLIER: [(&str, &str); 2] = [("", "; exit 0"), ("", "")];

/// Where a client keeps its hooks, and what goes into it.
#[derive(Debug, Clone)]
pub struct Hooks {
    /// The file.
    pub file: &'static str,
    /// Whether a new file says the version of its form.
    pub versioned: bool,
    /// For each event, what goes into its list.
    pub events: Vec<(&'static str, Value)>,
    /// The whole file, where it is a program of the client's own instead of lists.
    pub plugin: Option<&'static str>,
}

/// The hooks of a client.
pub fn of(client: Client) -> Hooks {
    calling(PROGRAM, client)
}

/// The hooks of a client, that call a program as it is written in a shell.
pub fn calling(program: &str, client: Client) -> Hooks {
    match client {
        Client::ClaudeCode => {
            // One string, since readers of this file that know no `args` would call the program alone.
            let handler = json!({
                "type": "command",
                "command": line(program, client),
                "timeout": TIMEOUT,
                ON_FAILURE: "continue",
            });
            grouped(
                ".claude/settings.json",
                EVENTS,
                "Bash|Edit|MultiEdit|NotebookEdit|Write",
                &handler,
            )
        }
        Client::Codex => {
            let handler = json!({
                "type": "command",
                "command": line(program, client),
                "timeout": TIMEOUT,
            });
            grouped(
                ".codex/hooks.json",
                EVENTS,
                "^(Bash|apply_patch|Edit|Write)$",
                &handler,
            )
        }
        Client::Cursor => {
            let handler = json!({ "command": line(program, client), "timeout": TIMEOUT });
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
                plugin: None,
            }
        }
        Client::Gemini => {
            let handler = json!({
                "type": "command",
                "command": line(program, client),
                "timeout": MILLISECONDS,
            });
            grouped(
                ".gemini/settings.json",
                ["BeforeTool", "AfterAgent", "SessionStart"],
                "write_file|replace|run_shell_command",
                &handler,
            )
        }
        Client::Qwen => {
            let handler = json!({
                "type": "command",
                "command": line(program, client),
                "timeout": MILLISECONDS,
            });
            grouped(
                ".qwen/settings.json",
                EVENTS,
                "write_file|edit|notebook_edit|run_shell_command",
                &handler,
            )
        }
        Client::Opencode => Hooks {
            file: ".opencode/plugin/tramline.js",
            versioned: false,
            events: Vec::new(),
            plugin: Some(opencode::PLUGIN),
        },
        Client::Copilot => {
            let handler = json!({
                "type": "command",
                "bash": line(program, client),
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
                plugin: None,
            }
        }
    }
}

/// Says in the settings of Claude Code what becomes of a tool when its hook fails.
pub const ON_FAILURE: &str = "onFailure";

/// The command that a client's shell is to run, of a program as it is written in a shell.
pub fn line(program: &str, client: Client) -> String {
    let (before, behind) = ROUND;
    format!("{before}{program} hook {}{behind}", client.id())
}

/// Whether a handler of ours has the form that no reader of its file takes for something else.
pub fn is_sound(handler: &Value, client: Client, program: &str) -> bool {
    let line = line(program, client);
    handler.get("args").is_none()
        && ["command", "bash"]
            .iter()
            .any(|key| handler.get(key).and_then(Value::as_str) == Some(&line))
}

fn grouped(
    file: &'static str,
    [before_tool, stop, session_start]: [&'static str; 3],
    matcher: &str,
    handler: &Value,
) -> Hooks {
    Hooks {
        file,
        versioned: false,
        events: vec![
            (
                before_tool,
                json!({ "matcher": matcher, "hooks": [handler] }),
            ),
            (stop, json!({ "hooks": [handler] })),
            (session_start, json!({ "hooks": [handler] })),
        ],
        plugin: None,
    }
}

/// The program that a handler calls, as it is written in a shell, if it calls the hook of this client and nothing else. By
/// which path is up to its user.
pub fn program(handler: &Value, client: Client) -> Option<String> {
    let command = ["command", "bash"]
        .iter()
        .find_map(|key| handler.get(key)?.as_str())?;
    let program = match handler.get("args") {
        Some(Value::Array(arguments)) => {
            let words: Vec<&str> = arguments.iter().filter_map(Value::as_str).collect();
            // It is called as it stands there, by no shell.
            let plain = command
                .chars()
                .all(|c| c.is_alphanumeric() || "/._-+~$".contains(c));
            let program = if plain {
                command.to_owned()
            } else {
                shell_word(command)
            };
            (words == ["hook", client.id()]).then_some(program)?
        }
        Some(_) => return None,
        None => [ROUND]
            .into_iter()
            .chain(EARLIER)
            .find_map(|(before, behind)| {
                let line = command.trim().strip_prefix(before.trim())?;
                let line = line.strip_suffix(behind)?.trim_end();
                let line = line.strip_suffix(client.id())?.trim_end();
                let word = line.strip_suffix("hook")?.trim();
                unquoted(word).map(|_| word.to_owned())
            })?,
    };
    let path = unquoted(&program)?;
    (path.rsplit('/').next() == Some(PROGRAM)).then_some(program)
}

/// What a word in a shell stands for, but for its variables; nothing where it is more than one word, or none.
fn unquoted(word: &str) -> Option<String> {
    let mut plain = String::new();
    let mut quote = None;
    let mut chars = word.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None | Some('"'), '\\') => plain.push(chars.next()?),
            // What runs another command, or ends this one, is no path.
            (None | Some('"'), '`') | (_, '\n') => return None,
            (None, c) if c.is_whitespace() || ";|&<>()#*?[]{}=!".contains(c) => return None,
            (_, c) => plain.push(c),
        }
    }
    (quote.is_none() && !plain.is_empty() && !plain.contains("$(")).then_some(plain)
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
    /// The programs that it calls, as they are written in a shell.
    #[serde(skip)]
    pub calls: Vec<String>,
    /// That of them which is not there.
    #[serde(skip)]
    pub missing: Option<String>,
}

/// What stands in a client's settings in the project at `root`; `None` where the hook does not.
pub fn installed(root: &Path, client: Client) -> Option<Installed> {
    let hooks = of(client);
    let text = std::fs::read_to_string(root.join(hooks.file)).ok()?;
    let found = |ok, message: String, calls: Vec<String>| {
        Some(Installed {
            client: client.id(),
            file: hooks.file,
            ok,
            message,
            calls,
            missing: None,
        })
    };
    let not_there = |program: &str| {
        let message = format!("calls `{program}`, which is not there");
        let mut installed = found(false, message, vec![program.to_owned()])?;
        installed.missing = Some(program.to_owned());
        Some(installed)
    };
    if let Some(plugin) = hooks.plugin {
        // Of one that somebody changed nothing is known but its name.
        return match (text == plugin, is_there(root, PROGRAM)) {
            (false, _) => found(true, "is not as `tm init` writes it".to_owned(), Vec::new()),
            (true, true) => found(true, format!("calls `{PROGRAM}`"), vec![PROGRAM.to_owned()]),
            (true, false) => not_there(PROGRAM),
        };
    }
    let Some(document) = crate::init::hook::read(&text) else {
        // Of a file that nobody can read, only that is told in which our name stands.
        let message = "cannot be read as JSON".to_owned();
        return found(false, message, Vec::new()).filter(|_| text.contains(PROGRAM));
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
            programs,
        );
    }
    for program in &programs {
        if !is_there(root, program) {
            return not_there(program);
        }
    }
    if !missing.is_empty() {
        let message = format!(
            "lacks the hook for {}: run `tm init --client {} --hook`",
            missing.join(", "),
            client.id()
        );
        return found(false, message, programs);
    }
    let of_project = programs.iter().find(|program| is_of_project(root, program));
    let message = match of_project {
        Some(program) => format!(
            "calls `{program}`, a file of this project: whoever changes the project changes what is run"
        ),
        None => format!("calls `{}`", programs[0]),
    };
    found(true, message, programs)
}

/// Whether a program, as it is written in a shell, lies in the project.
fn is_of_project(root: &Path, program: &str) -> bool {
    let path = unquoted(program).unwrap_or_default();
    let relative = path.contains('/') && !path.starts_with(['/', '~', '$']);
    relative || path.contains("CLAUDE_PROJECT_DIR") || Path::new(&path).starts_with(root)
}

/// Whether a program can be called by that name, as it is written in a shell, from the project's root. One with a variable
/// in its path is taken to be.
pub fn is_there(root: &Path, program: &str) -> bool {
    let Some(program) = unquoted(program) else {
        return false;
    };
    let of_project = ["$CLAUDE_PROJECT_DIR/", "${CLAUDE_PROJECT_DIR}/"];
    let program = of_project
        .iter()
        .find_map(|folder| program.strip_prefix(folder).map(|rest| format!("./{rest}")))
        .unwrap_or(program);
    program.contains(['$', '~']) || find_program(&program, root).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handler_is_told_by_what_it_calls() {
        let quoted = "\"$CLAUDE_PROJECT_DIR\"/bin/tm";
        for (line, expected) in [
            ("tm hook codex", Some("tm")),
            ("tm hook codex; exit 0", Some("tm")),
            ("tm hook codex && rm -rf x", None),
            ("{ tm hook codex; exit 0; }", Some("tm")),
            (" \"/opt/x y/tm\"  hook codex ", Some("\"/opt/x y/tm\"")),
            (&format!("{quoted} hook codex"), Some(quoted)),
            ("'/opt/my\"q/tm' hook codex", Some("'/opt/my\"q/tm'")),
            // More than a program is somebody's own, and stays as it is.
            ("env A=1 /opt/tm hook codex", None),
            ("A=1 /opt/tm hook codex", None),
            ("cd \"$X\" && ./bin/tm hook codex", None),
            ("echo x >> f; /opt/tm hook codex", None),
            ("timeout 3 /opt/tm hook codex", None),
            ("\"$(cat f)/tm\" hook codex", None),
            ("\"/opt/tm hook codex", None),
            ("tm hook cursor", None),
            ("atm hook codex", None),
        ] {
            let found = program(&json!({ "command": line }), Client::Codex);
            assert_eq!(found.as_deref(), expected, "{line}");
        }
        let with = |program: &str, args: Value| json!({"command": program, "args": args});
        for (handler, expected) in [
            (with("tm", json!(["hook", "codex"])), Some("tm")),
            (
                with("/opt/x y/tm", json!(["hook", "codex"])),
                Some("'/opt/x y/tm'"),
            ),
            (with("tm", json!(["hook"])), None),
            (with("tm", json!(7)), None),
            (json!({"bash": "$HOME/tm hook codex"}), Some("$HOME/tm")),
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

    /// What a client makes of the line: its payload behind it as a here-document, or on its standard input.
    #[test]
    fn the_payload_reaches_the_program_whatever_becomes_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("with \"quotes\" and $/tm");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let got = folder.path().join("got");
        let script = format!("#!/bin/sh\ncat > '{}'\nexit 2\n", got.display());
        std::fs::write(&path, script).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, mode).unwrap();
        let handler = json!({"command": path, "args": ["hook", "cursor"]});
        let program = program(&handler, Client::Cursor).unwrap();
        assert!(is_there(folder.path(), &program));
        let line = line(&program, Client::Cursor);
        let ran = std::process::Command::new("sh")
            .args(["-c", &format!("{line} <<'EOF'\npayload\nEOF\n")])
            .status()
            .unwrap();
        assert_eq!(ran.code(), Some(0));
        assert_eq!(std::fs::read_to_string(got).unwrap(), "payload\n");
    }
}
