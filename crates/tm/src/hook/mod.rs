//! The hook protocols of coding agents: what a client says of an agent's next step, and how it is answered.
//!
//! | module | what it holds |
//! |---|---|
//! | [`claude_code`], [`codex`], [`cursor`], [`copilot`], [`gemini`], [`qwen`], [`opencode`] | each client's payloads and answers |
//! | [`payload`] | what stands in all of them |
//! | [`reminded`] | who was reminded already |
//! | [`settings`] | the hook in a client's settings: put in, taken out, looked at |
//! | [`self_test`] | real payloads against a real run |
//!
//! Whatever happens, the agent is not held up by accident: what cannot be read or told lets it work, and says so on
//! standard error.

pub mod claude_code;
pub mod codex;
pub mod copilot;
pub mod cursor;
pub mod gemini;
pub mod opencode;
mod payload;
pub mod qwen;
mod reminded;
pub mod self_test;
pub mod settings;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use engine::hook::{self, Action, Decision, ToolCall};
use serde_json::Value;
use workspace::config::{Environment, session_folders};

use crate::steps;

/// More than that is no payload. What is written to a file stands in it whole.
pub const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// A client that calls hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Client {
    /// Claude Code
    ClaudeCode,
    /// Codex
    Codex,
    /// Cursor
    Cursor,
    /// GitHub Copilot CLI, and Visual Studio Code
    Copilot,
    /// Gemini CLI
    Gemini,
    /// Qwen Code
    Qwen,
    /// opencode
    Opencode,
}

impl Client {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Cursor,
        Self::Copilot,
        Self::Gemini,
        Self::Qwen,
        Self::Opencode,
    ];

    /// What it is called at the command line.
    pub fn id(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Copilot => "copilot",
            Self::Gemini => "gemini",
            Self::Qwen => "qwen",
            Self::Opencode => "opencode",
        }
    }
}

/// How a client wants to be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// Before a tool is used.
    BeforeTool,
    /// Before the agent ends its turn.
    Stop,
    /// When it begins.
    SessionStart,
    /// Something that is not asked about.
    Unknown,
}

/// What a client said.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HookInput {
    event: Event,
    action: Action,
    /// The agent's folder first, then others in which its project may be.
    folders: Vec<PathBuf>,
    session: Option<String>,
}

/// What the client is answered: the exit status is 0 in any case.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// Standard output; nothing is an answer as well.
    pub out: Option<Value>,
    /// A line on standard error.
    pub aside: Option<String>,
}

/// Where the hook runs.
#[derive(Debug, Clone)]
pub struct Place {
    /// Its folder.
    pub cwd: PathBuf,
    /// Folders that the client names in the environment.
    pub named: Vec<PathBuf>,
    /// What says where runs are kept.
    pub environment: Environment,
}

/// Answers a client.
pub fn answer(client: Client, input: &[u8], place: &Place) -> Reply {
    let aside = |text: String| Reply {
        out: None,
        aside: Some(text),
    };
    let payload: Value = match serde_json::from_slice(input) {
        Ok(payload @ Value::Object(_)) => payload,
        Ok(_) => return aside("what came over standard input is no JSON object".to_owned()),
        Err(error) => {
            return aside(format!(
                "what came over standard input is no JSON object: {error}"
            ));
        }
    };
    let mut heard = match client {
        Client::ClaudeCode => claude_code::heard(&payload),
        Client::Codex => codex::heard(&payload),
        Client::Cursor => cursor::heard(&payload),
        Client::Copilot => copilot::heard(&payload),
        Client::Gemini => gemini::heard(&payload),
        Client::Qwen => qwen::heard(&payload),
        Client::Opencode => opencode::heard(&payload),
    };
    heard.folders.extend(place.named.iter().cloned());
    heard.folders = session_folders(heard.folders, &place.cwd);
    let decision = with_tools(decide(&heard, &place.environment));
    let aside = match &decision {
        Decision::Allow { note: Some(note) } => Some(note.clone()),
        Decision::Tell { text } if heard.event == Event::BeforeTool => Some(text.clone()),
        _ => None,
    };
    let out = match client {
        Client::ClaudeCode => claude_code::reply_with_context(&heard, &decision),
        Client::Codex => codex::reply(&heard, &decision),
        Client::Cursor => cursor::reply(&heard, &decision),
        Client::Copilot => copilot::reply(&payload, &heard, &decision),
        Client::Gemini => gemini::reply(&heard, &decision),
        Client::Qwen | Client::Opencode => claude_code::reply(&heard, &decision),
    };
    Reply { out, aside }
}

fn decide(heard: &HookInput, environment: &Environment) -> Decision {
    let decision = hook::judge(&ToolCall {
        folders: &heard.folders,
        environment,
        action: &heard.action,
    });
    let first_time = |what: &str| {
        let session = heard.session.as_deref().unwrap_or_default();
        reminded::first_time(environment, session, what)
    };
    match &decision {
        // It is true of many steps in a row.
        Decision::Tell { text } if heard.event == Event::BeforeTool && !first_time(text) => {
            Decision::ALLOW
        }
        // The payloads of some clients, of older versions and of other readers of a client's settings do not say whether
        // the agent was reminded before. Reminded at every stop, it would never come to an end.
        Decision::Remind { unit, .. } if !first_time(unit) => Decision::ALLOW,
        _ => decision,
    }
}

/// A decision whose text names the tools of the steps in it, too: whoever reads it may have only those, or only a shell.
fn with_tools(decision: Decision) -> Decision {
    let told = |text: String| {
        let tools = steps::tools_of(&text);
        if tools.is_empty() {
            return text;
        }
        format!("{text} As MCP tools: `{}`.", tools.join("`, `"))
    };
    match decision {
        Decision::Deny { code, reason } => Decision::Deny {
            code,
            reason: told(reason),
        },
        Decision::Remind { unit, text } => Decision::Remind {
            unit,
            text: told(text),
        },
        Decision::Tell { text } => Decision::Tell { text: told(text) },
        allowed @ Decision::Allow { .. } => allowed,
    }
}

/// A path that a test payload names, from the root of its project.
fn path_in(root: &Path, file: &str) -> String {
    root.join(file).to_string_lossy().into_owned()
}
