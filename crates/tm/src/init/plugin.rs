//! The plugins of clients, `plugins/`: what in them is said elsewhere in this program is made from it, and held equal to it by a
//! test. `UPDATE_DOCS=1 cargo test -p tm --bins` writes them anew.
//!
//! One folder serves Claude Code, Codex and Copilot CLI: each has a manifest of its own there, which names its own list of servers and
//! of hooks. Gemini CLI finds hooks by their path alone, which is that of Claude Code, and so has a folder of its own.

use std::fs;
use std::path::Path;

use mcp::Content;
use serde_json::{Value, json};

use super::client::Client;
use super::hook::document;
use crate::hook::settings;
use crate::mcp::prompts;

/// What it is, in one line.
const DESCRIPTION: &str = "Rails for coding agents: they do one step at a time, report with evidence, and only what was checked is committed";
const VERSION: &str = env!("CARGO_PKG_VERSION");
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");
const NAME: &str = "tramline";
/// Where the plugin of several clients lies.
const FOLDER: &str = "./plugins/tramline";

/// The rails, each with when an agent should take it.
const SKILLS: [(&str, &str); 3] = [
    (
        "tdd",
        "Use it when a task is to be done test by test with Tramline, or when a run of one is under way.",
    ),
    (
        "review",
        "Use it when something is to be made from a request with Tramline, with a review of the code before it is done.",
    ),
    (
        "collab",
        "Use it when several things are to be built or mended with Tramline in one session, each designed before it is built.",
    ),
];

/// A file below the workspace's folder.
type File = (String, String);

/// Puts what the program says in the place of what a manifest says: how many facts that are. What it names is
/// there, and belongs to its `own` client where there are several.
fn say(manifest: &mut Value, own: &str) -> usize {
    let Value::Object(fields) = manifest else {
        let list = manifest.as_array_mut().into_iter().flatten();
        return list.map(|each| say(each, own)).sum();
    };
    let mut facts = 0;
    for (name, value) in fields {
        let now = match (name.as_str(), value.as_str()) {
            ("version", _) => VERSION.to_owned(),
            ("description" | "shortDescription", _) => DESCRIPTION.to_owned(),
            ("homepage" | "repository" | "url", _) => REPOSITORY.to_owned(),
            ("license", _) => "MIT OR Apache-2.0".to_owned(),
            ("hooks" | "mcpServers", Some(file)) => {
                let lead = if file.starts_with("./") { "./" } else { "" };
                let folder = name.trim_start_matches("mcp").to_lowercase();
                format!("{lead}{folder}/{own}.json")
            }
            ("source" | "path", Some(file)) if file.contains('/') => FOLDER.to_owned(),
            ("skills" | "icon" | "logo", Some(file)) => {
                let folder = workspace_folder().join(FOLDER);
                assert!(folder.join(file).exists(), "{file}");
                file.to_owned()
            }
            _ => {
                facts += say(value, own);
                continue;
            }
        };
        *value = now.into();
        facts += 1;
    }
    facts
}

fn files() -> Vec<File> {
    let mut files: Vec<File> = Vec::new();
    for (path, own, facts) in [
        (".claude-plugin/marketplace.json", "", 5),
        (".agents/plugins/marketplace.json", "", 1),
        ("plugins/tramline/.claude-plugin/plugin.json", "", 7),
        ("plugins/tramline/.codex-plugin/plugin.json", "codex", 11),
        ("plugins/tramline/plugin.json", "copilot", 9),
        ("plugins/gemini/gemini-extension.json", "", 2),
    ] {
        let text = fs::read_to_string(workspace_folder().join(path)).unwrap();
        let mut manifest: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(manifest["name"], NAME, "{path}");
        assert_eq!(say(&mut manifest, own), facts, "{path}");
        if manifest["mcpServers"].is_object() {
            let servers = server(Client::Gemini, "${extensionPath}/bin/tm");
            manifest["mcpServers"] = servers["mcpServers"].clone();
        }
        files.push((path.to_owned(), json_file(&manifest)));
    }
    let claude_code = server(Client::ClaudeCode, "${CLAUDE_PLUGIN_ROOT}/bin/tm");
    let copilot = server(Client::Copilot, "${PLUGIN_ROOT}/bin/tm");
    for (path, content) in [
        (".mcp.json", claude_code),
        ("servers/codex.json", codex_server()),
        ("servers/copilot.json", copilot),
    ] {
        files.push((format!("plugins/tramline/{path}"), json_file(&content)));
    }
    for (path, client, root) in [
        (
            "tramline/hooks/hooks",
            Client::ClaudeCode,
            "CLAUDE_PLUGIN_ROOT",
        ),
        ("tramline/hooks/codex", Client::Codex, "PLUGIN_ROOT"),
        ("tramline/hooks/copilot", Client::Copilot, "PLUGIN_ROOT"),
        ("gemini/hooks/hooks", Client::Gemini, "extensionPath"),
    ] {
        let caller = client.hook_caller().expect("it calls hooks");
        let hooks = settings::calling(&format!("\"${{{root}}}\"/bin/tm"), caller);
        files.push((format!("plugins/{path}.json"), document(&hooks)));
    }
    for (name, text) in skills() {
        for folder in ["tramline", "gemini"] {
            let path = format!("plugins/{folder}/skills/{name}/SKILL.md");
            files.push((path, text.clone()));
        }
    }
    files.extend(gemini_commands());
    files
}

fn json_file(content: &Value) -> String {
    format!("{content:#}\n")
}

/// The entry of the server in a client's list, with the program that the plugin brings.
fn server(client: Client, program: &str) -> Value {
    let entry = client.servers().entry.json_line();
    let mut entry: Value = serde_json::from_str(&entry).expect("an entry is JSON");
    entry["command"] = program.into();
    json!({ "mcpServers": { NAME: entry } })
}

/// Codex starts a plugin's server in the folder of the session, and tells it nothing of where the plugin lies.
fn codex_server() -> Value {
    const FIND: &str = r#"for tm in "${CODEX_HOME:-$HOME/.codex}"/plugins/cache/*/tramline/*/bin/tm; do [ -x "$tm" ] && exec "$tm" "$@"; done; exec tm "$@""#;
    let mut servers = server(Client::Codex, "sh");
    let entry = &mut servers["mcpServers"][NAME];
    let own = entry["args"].as_array().cloned().unwrap_or_default();
    let line = [json!("-c"), json!(FIND), json!("tm")];
    entry["args"] = line.into_iter().chain(own).collect();
    if let Some(variables) = entry["env_vars"].as_array_mut() {
        variables.push("CODEX_HOME".into());
    }
    servers
}

/// The skills: the prompts that lead from start to end.
fn skills() -> Vec<(&'static str, String)> {
    let prompts = prompts::list(&[]);
    let skill = |(name, when): (&'static str, &str)| {
        let what = prompts.iter().find(|prompt| prompt.name == name);
        let what = what.expect("each rail has a prompt").description;
        let prompt = prompts::whole(name, |_| None);
        let Some(Ok(prompt)) = prompt else {
            panic!("{name} needs no argument")
        };
        let [(_, Content::Text(text))] = &prompt.messages[..] else {
            panic!("{name} is one text")
        };
        let text = format!("---\nname: {name}\ndescription: {what}. {when}\n---\n\n{text}");
        (name, text.trim_end().to_owned() + "\n")
    };
    SKILLS.map(skill).into()
}

/// The commands of the other plugin, in the form of Gemini CLI.
fn gemini_commands() -> Vec<File> {
    let folder = workspace_folder().join("plugins/tramline/commands");
    let mut files = Vec::new();
    for command in fs::read_dir(folder).unwrap() {
        let path = command.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let head = text.strip_prefix("---\ndescription: ");
        let (description, prompt) = head.and_then(|head| head.split_once("\n---\n")).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let prompt = prompt.trim();
        let path = format!("plugins/gemini/commands/{NAME}/{name}.toml");
        let text = format!("description = {description:?}\nprompt = \"\"\"\n{prompt}\n\"\"\"\n");
        files.push((path, text));
    }
    files
}

fn workspace_folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_plugins_are_what_the_program_says() {
    for (path, now) in files() {
        let file = workspace_folder().join(&path);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, &now).unwrap();
        }
        let written = fs::read_to_string(&file).unwrap_or_default();
        assert!(
            written == now,
            "{path} is not what the program says: run UPDATE_DOCS=1 cargo test -p tm --bins"
        );
    }
}
