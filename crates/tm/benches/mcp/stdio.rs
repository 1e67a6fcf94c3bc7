//! A client on two pipes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::stage::resident;

/// A process that answers each line with a line.
pub struct Line {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    answer: String,
}

/// A call in a session.
pub fn next_of_session(id: usize) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"autopilot_next","arguments":{{}}}}}}"#
    )
}

/// A call that brings along what it needs.
pub fn next_stateless(id: usize) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"autopilot_next","arguments":{{}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"bench","version":"1"}},"io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    )
}

impl Line {
    pub fn to(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().expect("piped")),
            child,
            answer: String::new(),
        }
    }

    pub fn send(&mut self, text: &str) {
        let mut bytes = Vec::with_capacity(text.len() + 1);
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(b'\n');
        self.input
            .as_mut()
            .expect("open")
            .write_all(&bytes)
            .expect("it reads");
    }

    pub fn exchange(&mut self, text: &str) -> &str {
        self.send(text);
        self.answer.clear();
        self.output.read_line(&mut self.answer).expect("it answers");
        &self.answer
    }

    pub fn initialize(&mut self) {
        let answer = self.exchange(r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#);
        assert!(answer.contains("\"result\""), "{answer}");
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    pub fn list(&mut self) {
        let answer = self.exchange(r#"{"jsonrpc":"2.0","id":"l","method":"tools/list"}"#);
        assert!(answer.contains("autopilot_next"), "{answer}");
    }

    pub fn next(&mut self, id: usize) {
        let answer = self.exchange(&next_of_session(id));
        assert!(answer.contains("workUnit-"), "{answer}");
    }

    pub fn next_stateless(&mut self, id: usize) {
        let answer = self.exchange(&next_stateless(id));
        assert!(answer.contains("workUnit-"), "{answer}");
    }

    pub fn resident(&self) -> u64 {
        resident(self.child.id())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}
