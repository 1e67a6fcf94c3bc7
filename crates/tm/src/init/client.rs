//! The clients that can be set up: where each keeps its servers and its instructions, and by what it is recognized.

use clap::ValueEnum;

use super::entry::{Entry, Field};

/// A program that an agent runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Client {
    /// Claude Code: .mcp.json, CLAUDE.md
    ClaudeCode,
    /// Cursor: .cursor/mcp.json, .cursor/rules/tramline.mdc
    Cursor,
    /// Codex: .codex/config.toml, AGENTS.md
    Codex,
    /// Visual Studio Code: .vscode/mcp.json, .github/copilot-instructions.md
    Vscode,
    /// Gemini CLI: .gemini/settings.json, GEMINI.md
    Gemini,
    /// GitHub Copilot CLI: .github/mcp.json, .github/copilot-instructions.md
    Copilot,
    /// opencode: opencode.json, AGENTS.md
    Opencode,
    /// Qwen Code: .qwen/settings.json, QWEN.md
    Qwen,
    /// Cline: AGENTS.md, and the server in your own settings, with --user
    Cline,
    /// Zed: .zed/settings.json, AGENTS.md
    Zed,
}

/// How a client's settings are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON, with comments if the file has any. The servers are in the first of these sections that is there, else in the
    /// last.
    Json(&'static [&'static [&'static str]]),
    /// TOML; the servers are in the table of that name.
    Toml(&'static str),
}

/// Where a client keeps its servers.
#[derive(Debug, Clone, Copy)]
pub struct Servers {
    /// The files that it reads: ours goes into the first that is there, else into the first of all. None where it reads none
    /// of a project.
    pub files: &'static [&'static str],
    /// How they are written.
    pub format: Format,
    /// What goes into one.
    pub entry: Entry,
    /// What a new file holds besides: what the client itself writes into one that lacks it, and so would change it at its first
    /// start.
    pub head: &'static str,
}

/// Where a client reads instructions.
#[derive(Debug, Clone, Copy)]
pub struct Instructions {
    /// The file that is made if none is there.
    pub file: &'static str,
    /// Files that the client reads instead of it, the first that is there.
    pub before: &'static [&'static str],
    /// What a new file begins with.
    pub head: &'static str,
}

impl Instructions {
    /// All files that may have them.
    pub fn files(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.before.iter().copied().chain([self.file])
    }
}

/// The tools that the instructions beside it speak of.
const ARGUMENTS: &[&str] = &["mcp", "--tools", "autopilot,review,collab"];
const PLAIN: Entry = Entry(&[
    ("command", Field::Program),
    ("args", Field::Arguments(ARGUMENTS)),
]);
/// An hour, in milliseconds: how long a call may take. It runs the test suite, more than once, and each run may take
/// `autopilot.testTimeout`. Where the client ends the call first, its agent sees no advice.
const CALL_LIMIT: Field = Field::Default("3600000");
/// Gemini CLI and Qwen Code end a call after ten minutes.
const TIMED: Entry = Entry(&[
    ("command", Field::Program),
    ("args", Field::Arguments(ARGUMENTS)),
    ("timeout", CALL_LIMIT),
]);
/// Codex hands a server a short list of variables, and these besides: where runs are, and what commits are made with.
const CODEX: Entry = Entry(&[
    ("command", Field::Program),
    ("args", Field::Arguments(ARGUMENTS)),
    (
        "env_vars",
        Field::Holds(&[
            "TRAMLINE_HOME",
            "TASKMASTER_TAG",
            "GIT_AUTHOR_NAME",
            "GIT_AUTHOR_EMAIL",
            "GIT_COMMITTER_NAME",
            "GIT_COMMITTER_EMAIL",
            "SSH_AUTH_SOCK",
        ]),
    ),
    // In seconds, and five minutes if left out.
    ("tool_timeout_sec", Field::Default("3600")),
]);
const STDIO: Entry = Entry(&[
    ("type", Field::Text("stdio")),
    ("command", Field::Program),
    ("args", Field::Arguments(ARGUMENTS)),
]);
const LOCAL: Entry = Entry(&[
    ("type", Field::Text("local")),
    ("command", Field::Program),
    ("args", Field::Arguments(ARGUMENTS)),
    ("tools", Field::Default("[\"*\"]")),
]);
const OPENCODE: Entry = Entry(&[
    ("type", Field::Text("local")),
    ("command", Field::CommandLine(ARGUMENTS)),
    ("enabled", Field::Default("true")),
    // Its SDK ends a call after a minute otherwise.
    ("timeout", CALL_LIMIT),
]);

const OPENCODE_HEAD: &str = "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n";

const QWEN_HEAD: &str = "{\n  \"$version\": 4\n}\n";

const MCP_SERVERS: Format = Format::Json(&[&["mcpServers"]]);

const MDC_HEAD: &str = "\
---
description: Tramline keeps test-driven work in order
alwaysApply: true
---

";

impl Client {
    /// All of them. Zed comes last: what it reads depends on the files that others make.
    pub const ALL: [Self; 10] = [
        Self::ClaudeCode,
        Self::Cursor,
        Self::Codex,
        Self::Vscode,
        Self::Gemini,
        Self::Copilot,
        Self::Opencode,
        Self::Qwen,
        Self::Cline,
        Self::Zed,
    ];

    /// What it is called at the command line.
    pub fn id(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Cursor => "cursor",
            Self::Codex => "codex",
            Self::Vscode => "vscode",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::Opencode => "opencode",
            Self::Qwen => "qwen",
            Self::Cline => "cline",
            Self::Zed => "zed",
        }
    }

    /// Where it keeps its servers.
    pub fn servers(self) -> Servers {
        let (files, format, entry): (&[&str], Format, Entry) = match self {
            Self::ClaudeCode => (&[".mcp.json"], MCP_SERVERS, PLAIN),
            Self::Cursor => (&[".cursor/mcp.json"], MCP_SERVERS, PLAIN),
            Self::Codex => (&[".codex/config.toml"], Format::Toml("mcp_servers"), CODEX),
            Self::Vscode => (&[".vscode/mcp.json"], Format::Json(&[&["servers"]]), STDIO),
            Self::Gemini => (&[".gemini/settings.json"], MCP_SERVERS, TIMED),
            Self::Qwen => (&[".qwen/settings.json"], MCP_SERVERS, TIMED),
            Self::Cline => (&[], MCP_SERVERS, PLAIN),
            Self::Copilot => (&[".github/mcp.json"], MCP_SERVERS, LOCAL),
            Self::Opencode => (
                &["opencode.json", "opencode.jsonc"],
                Format::Json(&[&["mcp", "servers"], &["mcp"]]),
                OPENCODE,
            ),
            Self::Zed => (
                &[".zed/settings.json"],
                Format::Json(&[&["context_servers"]]),
                PLAIN,
            ),
        };
        let head = match self {
            Self::Opencode => OPENCODE_HEAD,
            Self::Qwen => QWEN_HEAD,
            _ => "",
        };
        Servers {
            files,
            format,
            entry,
            head,
        }
    }

    /// Where its user keeps servers for all projects, below the home folder; none where that is another place on each system.
    pub fn user_servers(self) -> Option<Servers> {
        let files: &[&str] = match self {
            Self::ClaudeCode => &[".claude.json"],
            Self::Copilot => &[".copilot/mcp-config.json"],
            Self::Opencode => &[
                ".config/opencode/opencode.json",
                ".config/opencode/opencode.jsonc",
            ],
            Self::Cline => &[".cline/data/settings/cline_mcp_settings.json"],
            Self::Zed => &[".config/zed/settings.json"],
            // These have the same files there as in a project.
            Self::Cursor | Self::Codex | Self::Gemini | Self::Qwen => self.servers().files,
            Self::Vscode => return None,
        };
        Some(Servers {
            files,
            ..self.servers()
        })
    }

    /// The variable by which its user may have moved their settings elsewhere, and the folder or file below the home folder
    /// that it stands for.
    pub fn user_folder(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::ClaudeCode => Some(("CLAUDE_CONFIG_DIR", "")),
            Self::Codex => Some(("CODEX_HOME", ".codex")),
            Self::Copilot => Some(("COPILOT_HOME", ".copilot")),
            Self::Cline => Some((
                "CLINE_MCP_SETTINGS_PATH",
                ".cline/data/settings/cline_mcp_settings.json",
            )),
            Self::Gemini => Some(("GEMINI_CLI_HOME", "")),
            Self::Opencode | Self::Zed => Some(("XDG_CONFIG_HOME", ".config")),
            Self::Cursor | Self::Qwen | Self::Vscode => None,
        }
    }

    /// Where it reads instructions.
    pub fn instructions(self) -> Instructions {
        let (file, before, head): (&str, &[&str], &str) = match self {
            Self::ClaudeCode => ("CLAUDE.md", &[], ""),
            Self::Cursor => (".cursor/rules/tramline.mdc", &[], MDC_HEAD),
            Self::Codex => ("AGENTS.md", &["AGENTS.override.md"], ""),
            Self::Opencode | Self::Cline => ("AGENTS.md", &[], ""),
            Self::Vscode | Self::Copilot => (".github/copilot-instructions.md", &[], ""),
            Self::Gemini => ("GEMINI.md", &[], ""),
            Self::Qwen => ("QWEN.md", &[], ""),
            Self::Zed => (
                "AGENTS.md",
                &[
                    ".rules",
                    ".cursorrules",
                    ".windsurfrules",
                    ".clinerules",
                    ".github/copilot-instructions.md",
                    "AGENT.md",
                ],
                "",
            ),
        };
        Instructions { file, before, head }
    }

    /// Files and folders of which one at least is there where it is in use.
    pub fn signs(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode => &[".mcp.json", ".claude", "CLAUDE.md"],
            Self::Cursor => &[".cursor", ".cursorrules"],
            Self::Codex => &[".codex", "AGENTS.override.md"],
            Self::Vscode => &[".vscode"],
            Self::Gemini => &[".gemini", "GEMINI.md"],
            Self::Qwen => &[".qwen", "QWEN.md"],
            Self::Copilot => &[".github/mcp.json", ".github/copilot-instructions.md"],
            Self::Opencode => &["opencode.json", "opencode.jsonc", ".opencode"],
            // Its servers are no part of a project: nothing in one says that they are missing.
            Self::Cline => &[],
            Self::Zed => &[".zed"],
        }
    }

    /// The client whose hooks it calls; none where it has none, or none that could be answered.
    pub fn hook_caller(self) -> Option<crate::hook::Client> {
        use crate::hook::Client as Caller;
        match self {
            Self::ClaudeCode => Some(Caller::ClaudeCode),
            Self::Cursor => Some(Caller::Cursor),
            Self::Codex => Some(Caller::Codex),
            // Both call what stands in .github/hooks.
            Self::Copilot | Self::Vscode => Some(Caller::Copilot),
            Self::Gemini => Some(Caller::Gemini),
            Self::Qwen => Some(Caller::Qwen),
            Self::Opencode => Some(Caller::Opencode),
            Self::Cline | Self::Zed => None,
        }
    }

    /// What its user has to do or know before it calls the hook.
    pub fn hook_note(self) -> Option<&'static str> {
        match self {
            Self::Codex => Some(
                "Codex runs a project's hooks only when they were looked at and trusted: `/hooks` in it",
            ),
            Self::ClaudeCode => Some(
                "Claude Code calls new hooks from its next session on; before 1.0.62 it passes over the whole file, with the permissions in it",
            ),
            _ => None,
        }
    }

    /// What its user has to do or know before it starts the server; nothing where it asks by itself.
    pub fn note(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some(
                "Claude Code asks once whether the servers of .mcp.json may be started, and starts none before",
            ),
            Self::Codex => Some(
                "Codex reads .codex/config.toml only in a project that it was told to trust. Its sandbox lets no command write where runs are kept: the agent is to call the tools",
            ),
            Self::Gemini => Some(
                "Gemini CLI starts the server and calls the hook only in a folder that it was told to trust; with `--skip-trust` it does neither",
            ),
            Self::Cline => Some(
                "Cline reads no servers of a project: `tm init --user --client cline` puts this one into your own settings",
            ),
            Self::Zed => Some("Zed starts the server once the project is trusted"),
            Self::Copilot => Some(
                "Copilot CLI reads .github/mcp.json and .github/hooks once the folder is trusted",
            ),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_calls_each_client_by_its_id() {
        for client in Client::ALL {
            let name = client.to_possible_value().unwrap();
            assert_eq!(name.get_name(), client.id());
            let help = name.get_help().unwrap().to_string();
            if let Some(file) = client.servers().files.first() {
                assert!(help.contains(file), "{help}");
            }
            assert!(help.contains(client.instructions().file), "{help}");
        }
        assert_eq!(Client::value_variants(), Client::ALL);
    }
}
