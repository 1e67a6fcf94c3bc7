//! Real payloads of each client against a real run, answered by this very program as a process: what the client would see.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use engine::Fault;
use engine::fault;
use serde::Serialize;
use serde_json::Value;

use super::{Client, claude_code, codex, copilot, cursor, gemini, opencode, qwen};
use crate::demo::stage::Stage;

/// Something that an agent does, in words that each client has its own payload for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sample<'a> {
    /// It begins.
    SessionStart,
    /// It reads a file.
    Read(&'a str),
    /// It writes a file that is not there yet.
    Write(&'a str),
    /// It changes a file.
    Edit(&'a str),
    /// It runs a command line.
    Command(&'a str),
    /// It ends its turn.
    Stop {
        /// After it was reminded.
        again: bool,
    },
}

impl Sample<'_> {
    /// The event and what is done, for people.
    fn words(self) -> (&'static str, String) {
        match self {
            Self::SessionStart => ("session start", "begin a session".to_owned()),
            Self::Read(file) => ("read", file.to_owned()),
            Self::Write(file) => ("write", file.to_owned()),
            Self::Edit(file) => ("edit", file.to_owned()),
            Self::Command(line) => ("command", line.to_owned()),
            Self::Stop { again: false } => ("stop", "end the turn".to_owned()),
            Self::Stop { again: true } => ("stop", "end the turn, reminded".to_owned()),
        }
    }
}

/// What a client makes of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ClientReading {
    /// The agent goes on.
    Allowed,
    /// It does not.
    Denied,
    /// It is reminded, and goes on working.
    Reminded,
    /// It is told something.
    Told,
    /// Nothing that the client knows.
    Unreadable,
}

/// One payload and its answer.
#[derive(Debug, Clone, Serialize)]
pub struct SelfTestCase {
    /// The client.
    pub client: &'static str,
    /// Where the run was.
    pub phase: &'static str,
    /// What was done.
    pub event: &'static str,
    /// To what.
    pub what: String,
    /// What the client makes of the answer.
    pub seen: ClientReading,
    /// What it should.
    pub expected: ClientReading,
    /// Whether the two are the same.
    pub ok: bool,
    /// What was printed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub answer: String,
}

const TEST: &str = "tests/shout_test.sh";
const NEW_TEST: &str = "tests/more_test.sh";
const SOURCE: &str = "lib/shout.sh";

type Case = (Sample<'static>, ClientReading);

const BEFORE: &[Case] = &[
    (Sample::SessionStart, ClientReading::Told),
    (Sample::Write(SOURCE), ClientReading::Allowed),
    (Sample::Command("git commit -m x"), ClientReading::Allowed),
    (Sample::Stop { again: false }, ClientReading::Allowed),
];

const RED: &[Case] = &[
    (Sample::SessionStart, ClientReading::Told),
    (Sample::Read(SOURCE), ClientReading::Allowed),
    (Sample::Write(TEST), ClientReading::Allowed),
    (Sample::Write(SOURCE), ClientReading::Denied),
    (Sample::Command("sh tests/run.sh"), ClientReading::Allowed),
    (
        Sample::Command("git status && git diff"),
        ClientReading::Allowed,
    ),
    (
        Sample::Command("git add -A && git commit -m x"),
        ClientReading::Denied,
    ),
    (Sample::Command("git push"), ClientReading::Denied),
    (Sample::Command("git switch main"), ClientReading::Denied),
    (Sample::Stop { again: false }, ClientReading::Reminded),
    (Sample::Stop { again: true }, ClientReading::Allowed),
];

const GREEN: &[Case] = &[
    (Sample::SessionStart, ClientReading::Told),
    (Sample::Edit(TEST), ClientReading::Denied),
    (Sample::Write(NEW_TEST), ClientReading::Allowed),
    (Sample::Write(SOURCE), ClientReading::Allowed),
    (Sample::Command("git commit -am x"), ClientReading::Denied),
    (Sample::Command("git reset --hard"), ClientReading::Denied),
    (Sample::Stop { again: false }, ClientReading::Reminded),
];

const COMMIT: &[Case] = &[
    (Sample::SessionStart, ClientReading::Told),
    (Sample::Edit(SOURCE), ClientReading::Denied),
    (Sample::Edit(TEST), ClientReading::Denied),
    (
        Sample::Command("git commit --no-verify -m x"),
        ClientReading::Denied,
    ),
    (Sample::Command("git commit -m x"), ClientReading::Allowed),
    (Sample::Stop { again: false }, ClientReading::Reminded),
];

const PAUSED: &[Case] = &[
    (Sample::SessionStart, ClientReading::Told),
    (Sample::Edit(SOURCE), ClientReading::Allowed),
    (Sample::Command("git switch main"), ClientReading::Allowed),
    (Sample::Stop { again: false }, ClientReading::Allowed),
];

/// Plays it in a throw-away repository.
pub fn run(clients: &[Client]) -> Result<Vec<SelfTestCase>, Fault> {
    let stage = Stage::set()?;
    let report = |phase: &str, results: &str| {
        stage.tm_expecting(
            0,
            &["autopilot", "complete", phase, "1.1", "--results", results],
        )
    };
    let mut tried = Vec::new();
    all(&stage, clients, "no run", BEFORE, &mut tried)?;
    stage.tm_expecting(0, &["autopilot", "start", "1"])?;
    all(&stage, clients, "RED", RED, &mut tried)?;
    stage.write(TEST, "false\n")?;
    report("red", "failed:1,passed:0")?;
    all(&stage, clients, "GREEN", GREEN, &mut tried)?;
    stage.write(SOURCE, "true\n")?;
    report("green", "failed:0,passed:1")?;
    all(&stage, clients, "COMMIT", COMMIT, &mut tried)?;
    stage.tm_expecting(0, &["autopilot", "pause"])?;
    all(&stage, clients, "paused", PAUSED, &mut tried)?;
    tried.sort_by_key(|tried| {
        Client::ALL
            .iter()
            .position(|client| client.id() == tried.client)
    });
    Ok(tried)
}

fn all(
    stage: &Stage,
    clients: &[Client],
    phase: &'static str,
    cases: &[Case],
    tried: &mut Vec<SelfTestCase>,
) -> Result<(), Fault> {
    for client in clients {
        for (sample, expected) in cases {
            let root = stage.repository();
            let Some(payload) = payload(*client, root, sample) else {
                continue;
            };
            let (status, answer) = ask(stage, *client, &payload)?;
            let seen = seen(*client, *sample, status, &answer);
            let (event, what) = sample.words();
            tried.push(SelfTestCase {
                client: client.id(),
                phase,
                event,
                what,
                seen,
                expected: *expected,
                ok: seen == *expected,
                answer: answer.trim_end().to_owned(),
            });
        }
    }
    Ok(())
}

/// The payload of a client; none for what it does not ask about.
fn payload(client: Client, root: &Path, sample: &Sample<'_>) -> Option<Value> {
    Some(match client {
        Client::ClaudeCode => claude_code::sample(root, sample),
        Client::Codex => codex::sample(root, sample),
        Client::Cursor => cursor::sample(root, sample),
        Client::Copilot => copilot::sample(root, sample),
        Client::Gemini => gemini::sample(root, sample),
        Client::Qwen => qwen::sample(root, sample),
        Client::Opencode => return opencode::sample(root, sample),
    })
}

fn ask(stage: &Stage, client: Client, payload: &Value) -> Result<(Option<i32>, String), Fault> {
    let failed = |error: &std::io::Error| {
        Fault::environment(
            "io_failed",
            "this program could not be started again",
            error,
        )
    };
    let program = std::env::current_exe().map_err(|error| failed(&error))?;
    let mut child = stage
        .process(program)
        .args(["hook", client.id()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(&error))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A hook that does not read is seen by what it answers.
        let _ = stdin.write_all(payload.to_string().as_bytes());
    }
    let output = child.wait_with_output().map_err(|error| failed(&error))?;
    let answer = String::from_utf8(output.stdout).map_err(|_| fault!("internal.hook"))?;
    Ok((output.status.code(), answer))
}

/// What the client makes of exit status and standard output, by its own rules.
fn seen(client: Client, sample: Sample<'_>, status: Option<i32>, answer: &str) -> ClientReading {
    if status != Some(0) {
        return ClientReading::Unreadable;
    }
    if answer.trim().is_empty() {
        return ClientReading::Allowed;
    }
    let Ok(answer) = serde_json::from_str::<Value>(answer) else {
        return ClientReading::Unreadable;
    };
    if answer.as_object().is_some_and(serde_json::Map::is_empty) {
        return ClientReading::Allowed;
    }
    let says = |pointer: &str| {
        answer
            .pointer(pointer)
            .and_then(Value::as_str)
            .filter(|text| !text.trim().is_empty())
    };
    let is = |pointer: &str, expected: &str| says(pointer) == Some(expected);
    let (denied, reminded, told) = match client {
        Client::ClaudeCode | Client::Codex | Client::Qwen | Client::Opencode => (
            is("/hookSpecificOutput/hookEventName", "PreToolUse")
                && is("/hookSpecificOutput/permissionDecision", "deny")
                && says("/hookSpecificOutput/permissionDecisionReason").is_some(),
            is("/decision", "block") && says("/reason").is_some(),
            is("/hookSpecificOutput/hookEventName", "SessionStart")
                && says("/hookSpecificOutput/additionalContext").is_some(),
        ),
        Client::Cursor => (
            is("/permission", "deny") && says("/agent_message").is_some(),
            says("/followup_message").is_some(),
            says("/additional_context").is_some(),
        ),
        Client::Gemini => (
            is("/decision", "deny") && says("/reason").is_some(),
            is("/decision", "deny") && says("/reason").is_some(),
            is("/hookSpecificOutput/hookEventName", "SessionStart")
                && says("/hookSpecificOutput/additionalContext").is_some(),
        ),
        Client::Copilot => (
            is("/permissionDecision", "deny") && says("/permissionDecisionReason").is_some(),
            is("/decision", "block") && says("/reason").is_some(),
            says("/additionalContext").is_some(),
        ),
    };
    match sample {
        Sample::SessionStart if told => ClientReading::Told,
        Sample::Stop { .. } if reminded => ClientReading::Reminded,
        Sample::Read(_) | Sample::Write(_) | Sample::Edit(_) | Sample::Command(_) if denied => {
            ClientReading::Denied
        }
        _ => ClientReading::Unreadable,
    }
}
