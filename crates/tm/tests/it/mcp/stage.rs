//! A home, a repository, and the programs that run in it with nothing else in their environment.

use std::fs;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::process::Output;

use serde_json::{Value, json};
use testkit::sandbox::path_with_binary;
use testkit::{Sandbox, Server};

/// A sandbox whose project has two tasks.
pub struct Stage {
    sandbox: Sandbox,
}

impl Deref for Stage {
    type Target = Sandbox;

    fn deref(&self) -> &Sandbox {
        &self.sandbox
    }
}

impl DerefMut for Stage {
    fn deref_mut(&mut self) -> &mut Sandbox {
        &mut self.sandbox
    }
}

const TASKS: &str = r#"{ "master": { "tasks": [
  { "id": 1, "title": "Count the words", "status": "pending", "subtasks": [
    { "id": 1, "title": "Count by spaces", "status": "pending" },
    { "id": 2, "title": "Count by any white space", "status": "pending", "dependencies": [1] }
  ] },
  { "id": 2, "title": "Count the lines", "status": "pending" }
] } }
"#;

impl Stage {
    /// A repository with two tasks and one commit.
    pub fn new() -> Self {
        let config = r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"]}}"#;
        Self {
            sandbox: Sandbox::repository(&[
                (".taskmaster/tasks/tasks.json", TASKS),
                (".taskmaster/config.json", config),
            ]),
        }
    }

    /// The same, with a run of task 1 under way.
    pub fn started() -> Self {
        Self::at("started", || {
            let stage = Self::new();
            stage.tm(0, &["autopilot", "start", "1"]);
            stage
        })
    }

    fn at(point: &str, come: impl FnOnce() -> Self) -> Self {
        let sandbox = Sandbox::at(&format!("mcp {point}"), || come().sandbox);
        Self { sandbox }
    }

    /// The same, with its first subtask ready to be committed.
    pub fn at_commit() -> Self {
        Self::at("commit", || {
            let stage = Self::started();
            stage.write("tests/words_test.sh", "false\n");
            stage.complete("red", "failed:1,passed:0");
            stage.write("src/words.sh", "true\n");
            stage.complete("green", "failed:0,passed:1");
            stage
        })
    }

    fn complete(&self, phase: &str, results: &str) {
        self.tm(0, &["autopilot", "complete", phase, "--results", results]);
    }

    /// The journal of the only run.
    pub fn journal(&self) -> String {
        String::from_utf8(self.sandbox.journal()).unwrap()
    }

    /// How many commits the run's branch has.
    pub fn commits(&self) -> usize {
        self.git(&["log", "--format=%H", "main..HEAD"])
            .lines()
            .count()
    }

    /// The command line with `--json`, which must come to this exit status, and its answer.
    pub fn tm(&self, status: i32, arguments: &[&str]) -> Value {
        self.json(arguments).json_with(status)
    }

    /// A line in a shell that knows the binary by its name.
    pub fn shell(&self, line: &str) -> Output {
        self.process("sh")
            .env("PATH", path_with_binary())
            .args(["-c", line])
            .output()
            .unwrap()
    }

    /// The run must be whole.
    pub fn verify(&self) {
        assert_eq!(self.tm(0, &["log", "verify"])["whole"], true);
    }

    /// A server with a session of the older era, whose client can do this.
    pub fn serving(&self, options: &[&str], capabilities: &Value) -> Client {
        let mut client = self.server(options);
        client.initialize("2025-11-25", capabilities);
        client
    }

    /// A server that nobody has spoken to yet.
    pub fn server(&self, options: &[&str]) -> Client {
        Client(Some(self.sandbox.server(options)))
    }

    /// The same, whose client can do nothing.
    pub fn session(&self) -> Client {
        self.serving(&[], &json!({}))
    }

    /// The same, whose client can ask a person.
    pub fn asking(&self) -> Client {
        self.serving(&[], &json!({ "elicitation": {} }))
    }

    /// The run that is under way.
    pub fn status(&self) -> Value {
        self.tm(0, &["autopilot", "status"])
    }

    /// Makes each commit wait until the gate is opened.
    pub fn gate_commits(&self) -> Gate {
        let path = self.folder().join("gate");
        let made = self.process("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        self.hook(
            "pre-commit",
            &format!("read -r _ < '{}'\nexit 0", path.display()),
        );
        let hook = self.project().join(".git/hooks/pre-commit");
        Gate { path, hook }
    }
}

/// A client of a server, which must end well when the client goes, with nothing left to say.
pub struct Client(Option<Server>);

impl Client {
    /// The server, which may end otherwise.
    pub fn let_go(mut self) -> Server {
        self.0.take().unwrap()
    }
}

impl Deref for Client {
    type Target = Server;

    fn deref(&self) -> &Server {
        self.0.as_ref().unwrap()
    }
}

impl DerefMut for Client {
    fn deref_mut(&mut self) -> &mut Server {
        self.0.as_mut().unwrap()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(server) = self.0.take().filter(|_| !std::thread::panicking()) {
            server.end();
        }
    }
}

/// What a person says who agrees.
pub fn yes() -> Value {
    json!({ "action": "accept", "content": { "confirm": true } })
}

/// Calls a tool that must fail, and gives its error.
pub fn refused(server: &mut Server, tool: &str, arguments: &Value) -> Value {
    let mut result = server.call(tool, arguments);
    assert_eq!(result["isError"], true, "{tool}: {result}");
    result["structuredContent"]["error"].take()
}

/// Makes a call without waiting for its answer.
pub fn ask(server: &mut Server, tool: &str, arguments: &Value) -> u64 {
    let call = json!({ "name": tool, "arguments": arguments });
    server.ask("tools/call", &call)
}

/// What a call came to.
pub fn answer(server: &mut Server, id: u64) -> Value {
    server.answer(&id.into())["result"]["structuredContent"].take()
}

/// Calls a tool, and answers the question that it leads to: what was asked, and what the call came to.
pub fn asked(
    server: &mut Server,
    (tool, arguments): (&str, &Value),
    reply: &Value,
) -> (String, Value) {
    let id = ask(server, tool, arguments);
    let question = server.hear();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": reply }));
    let told = question["params"]["message"].as_str().unwrap().to_owned();
    (told, answer(server, id))
}

/// Where commits wait.
pub struct Gate {
    path: PathBuf,
    hook: PathBuf,
}

impl Gate {
    /// Waits until a commit has come. It goes on when what this gives is dropped, and later ones do not wait.
    pub fn wait(self) -> fs::File {
        // Opening for writing waits until somebody reads.
        let gate = fs::OpenOptions::new().write(true).open(&self.path).unwrap();
        fs::remove_file(&self.hook).unwrap();
        gate
    }
}
