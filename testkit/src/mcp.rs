//! A server on a pipe, spoken to line by line.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use crate::outcome::has_marks;

/// Longer than anything takes here; a test that waits so long has failed.
const LONGEST: Duration = Duration::from_mins(1);

/// A server and the pipe to it.
pub struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Option<JoinHandle<String>>,
    /// Answers that came before somebody asked for them, by id.
    early: BTreeMap<String, Value>,
    next: u64,
    /// What each tool says of its answers; none before the first look.
    schemas: BTreeMap<String, Value>,
}

/// What a server left behind.
#[derive(Debug)]
pub struct Ended {
    /// Its exit status; none if a signal ended it.
    pub status: Option<i32>,
    /// What it said beside its answers.
    pub errors: String,
    /// Messages that nobody asked for.
    pub rest: Vec<Value>,
}

impl Server {
    /// Starts it.
    pub fn spawn(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                assert!(
                    !has_marks(line.as_bytes()),
                    "a step was not spelled: {line}"
                );
                // A test that ended does not listen any more.
                let _ = sender.send(line);
            }
        });
        let mut stderr = child.stderr.take().unwrap();
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).unwrap();
            text
        });
        Self {
            stdin: child.stdin.take(),
            child,
            lines,
            errors: Some(errors),
            early: BTreeMap::new(),
            next: 0,
            schemas: BTreeMap::new(),
        }
    }

    /// Sends bytes as they are.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("the pipe is open");
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    /// Sends one message.
    pub fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    /// Sends a request, and gives its id.
    pub fn ask(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Sends a notification.
    pub fn tell(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The next message, whatever it is. Everything that the server says must be a message.
    pub fn hear(&mut self) -> Value {
        self.hear_or_death().expect("the server is gone")
    }

    /// The same of a server that may be killed: then there is none.
    fn hear_or_death(&mut self) -> Option<Value> {
        match self.lines.recv_timeout(LONGEST) {
            Ok(line) => Some(message(&line)),
            Err(RecvTimeoutError::Timeout) => panic!("the server says nothing"),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    /// The answer to a request, a result or an error.
    pub fn answer(&mut self, id: &Value) -> Value {
        self.answer_or_death(id).expect("the server is gone")
    }

    /// The same of a server that may be killed: then there is none.
    pub fn answer_or_death(&mut self, id: &Value) -> Option<Value> {
        if let Some(early) = self.early.remove(&id.to_string()) {
            return Some(early);
        }
        loop {
            let heard = self.hear_or_death()?;
            if heard.get("method").is_some() {
                continue;
            }
            if heard["id"] == *id {
                return Some(heard);
            }
            let before = self.early.insert(heard["id"].to_string(), heard);
            assert_eq!(before, None, "two answers to one request");
        }
    }

    /// Asks, and gives the result.
    pub fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.ask(method, params);
        let mut answer = self.answer(&id.into());
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].take()
    }

    /// Asks for something that is refused, and gives the error.
    pub fn refused(&mut self, method: &str, params: &Value) -> Value {
        let id = self.ask(method, params);
        let mut answer = self.answer(&id.into());
        assert!(answer.get("result").is_none(), "{method}: {answer}");
        answer["error"].take()
    }

    /// Begins a session of the older era.
    pub fn initialize(&mut self, version: &str, capabilities: &Value) -> Value {
        let result = self.request(
            "initialize",
            &json!({
                "protocolVersion": version,
                "capabilities": capabilities,
                "clientInfo": { "name": "wire", "version": "1" },
            }),
        );
        self.tell("notifications/initialized", &json!({}));
        result
    }

    /// Calls a tool, and gives the whole result.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        self.request("tools/call", &params)
    }

    /// Calls a tool that must not fail, and gives its structured answer.
    pub fn tool(&mut self, tool: &str, arguments: &Value) -> Value {
        let mut result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{tool}: {result}");
        let answer = result["structuredContent"].take();
        self.holds_to_its_schema(tool, &answer);
        answer
    }

    /// Shows that an answer has what the tool's own schema promises of each.
    fn holds_to_its_schema(&mut self, tool: &str, answer: &Value) {
        if self.schemas.is_empty() {
            let listed = self.request("tools/list", &json!({}));
            for tool in listed["tools"].as_array().into_iter().flatten() {
                let name = tool["name"].as_str().unwrap_or_default().to_owned();
                self.schemas.insert(name, tool["outputSchema"].clone());
            }
        }
        let Some(schema) = self.schemas.get(tool) else {
            return;
        };
        for needed in schema["required"].as_array().into_iter().flatten() {
            let there = needed.as_str().and_then(|needed| answer.get(needed));
            assert!(there.is_some(), "{tool} promises {needed}: {answer}");
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let Some(value) = answer.get(name) else {
                continue;
            };
            let is = match property["type"].as_str() {
                Some("string") => value.is_string(),
                Some("boolean") => value.is_boolean(),
                Some("integer") => value.is_i64() || value.is_u64(),
                Some("array") => value.is_array(),
                Some("object") => value.is_object(),
                _ => true,
            };
            assert!(is, "{tool}: {name} is no {property}: {value}");
        }
    }

    /// Shows that the server is there and answers.
    pub fn goes_on(&mut self) {
        let result = self.call("autopilot_status", &json!({}));
        assert!(result["structuredContent"].is_object(), "{result}");
    }

    /// Closes the pipe to it, without waiting.
    pub fn hang_up(&mut self) {
        self.stdin = None;
    }

    /// Kills it.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to stop, as a service manager does.
    pub fn terminate(&self) {
        let id = i32::try_from(self.child.id()).unwrap();
        let process = rustix::process::Pid::from_raw(id).unwrap();
        rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    }

    /// Waits until it ends, with the pipe open or closed as it is.
    pub fn ended(mut self) -> Ended {
        let mut rest: Vec<Value> = self.early.into_values().collect();
        loop {
            match self.lines.recv_timeout(LONGEST) {
                Ok(line) => rest.push(message(&line)),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("the server does not end"),
            }
        }
        let status = self.child.wait().unwrap().code();
        let errors = self.errors.take().unwrap().join().unwrap();
        Ended {
            status,
            errors,
            rest,
        }
    }

    /// Closes the pipe. The server must end well, with nothing left to say.
    pub fn end(mut self) {
        self.hang_up();
        let ended = self.ended();
        assert_eq!(
            (ended.status, ended.errors.as_str(), ended.rest.len()),
            (Some(0), "", 0),
            "{ended:?}"
        );
    }
}

/// What a request of the stateless era carries.
pub fn envelope(version: &str, capabilities: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": { "name": "wire", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

/// Puts the error of a failed tool, which is prose in its text, where the structured answer of another one is.
pub fn with_error_read(result: &mut Value) {
    if result["isError"] != true {
        return;
    }
    assert!(
        result.get("structuredContent").is_none(),
        "clients hold it to the schema: {result}"
    );
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    // As Gemini CLI does, which then checks it against the schema and hides it.
    let taken_for_answer = serde_json::from_str::<Value>(text);
    assert!(taken_for_answer.is_err(), "no prose: {result}");
    let error = read_error(text).unwrap_or_else(|| panic!("no error: {result}"));
    result["structuredContent"] = json!({ "error": error });
}

/// Reads the prose of an error back into its fields.
fn read_error(text: &str) -> Option<Value> {
    let mut fields: Vec<(&str, String)> = Vec::new();
    let (code, rest) = text.strip_prefix("error[")?.split_once("]: ")?;
    let mut lines = rest.split('\n');
    fields.push(("message", lines.next()?.to_owned()));
    for line in lines {
        if let Some(more) = line.strip_prefix("  ") {
            let (_, text) = fields.last_mut()?;
            text.push('\n');
            text.push_str(more);
        } else {
            let (key, value) = line.split_once(": ")?;
            fields.push((key, value.to_owned()));
        }
    }
    let mut error = json!({ "code": code });
    for (key, value) in fields {
        let (key, value) = match key {
            "help" => ("suggestion", value.into()),
            "message" | "recovery" => (key, value.into()),
            _ => (key, serde_json::from_str(&value).ok()?),
        };
        error[key] = value;
    }
    Some(error)
}

/// A line of the server must be one message of the protocol.
fn message(line: &str) -> Value {
    let mut value: Value =
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
    assert_eq!(value["jsonrpc"], "2.0", "{line}");
    let kinds = ["method", "result", "error"];
    let is = kinds
        .iter()
        .filter(|kind| value.get(kind).is_some())
        .count();
    assert_eq!(is, 1, "{line}");
    if let Some(result) = value.get_mut("result") {
        with_error_read(result);
    }
    value
}
