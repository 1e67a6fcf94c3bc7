//! A client on one HTTP connection that stays open.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::stage::{Stage, resident};
use crate::stdio::next_stateless;

/// A server on HTTP.
pub struct Served {
    child: Child,
    address: String,
    token: String,
}

/// A connection to it.
pub struct Connection<'a> {
    served: &'a Served,
    stream: BufReader<TcpStream>,
}

impl Served {
    pub fn new(stage: &Stage) -> Self {
        let token_file = stage.store.join("bench-token");
        let mut child = stage
            .tm(&[
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--tools",
                "autopilot",
                "--json",
            ])
            .arg("--token-file")
            .arg(&token_file)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped"))
            .read_line(&mut line)
            .expect("it says where it listens");
        let said: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        let url = said["url"].as_str().expect("a URL");
        let address = url
            .trim_start_matches("http://")
            .trim_end_matches("/mcp")
            .to_owned();
        Self {
            child,
            address,
            token: std::fs::read_to_string(token_file)
                .expect("a token")
                .trim()
                .to_owned(),
        }
    }

    pub fn connect(&self) -> Connection<'_> {
        let stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_nodelay(true).expect("a socket");
        Connection {
            served: self,
            stream: BufReader::new(stream),
        }
    }

    /// Asks for a path on a connection of its own, which ends with the answer.
    pub fn get(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
            self.address, self.token
        );
        stream.write_all(request.as_bytes()).expect("it reads");
        stream
    }

    /// A page as it was answered, and how long that took.
    pub fn page(&self, path: &str) -> (String, Duration) {
        let began = Instant::now();
        let mut answer = String::new();
        self.get(path)
            .read_to_string(&mut answer)
            .expect("it answers");
        let took = began.elapsed();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        (answer, took)
    }

    pub fn resident(&self) -> u64 {
        resident(self.child.id())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Connection<'_> {
    pub fn next(&mut self, id: usize) {
        let body = next_stateless(id);
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: autopilot_next\r\nContent-Length: {}\r\n\r\n{body}",
            self.served.address,
            self.served.token,
            body.len()
        );
        self.stream
            .get_mut()
            .write_all(request.as_bytes())
            .expect("it reads");
        let answer = self.answer();
        assert!(answer.contains("workUnit-"), "{answer}");
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("it answers");
        line.trim_end().to_owned()
    }

    /// The body of an answer, sent whole or in chunks.
    fn answer(&mut self) -> String {
        let mut length = None;
        let mut head = self.line();
        head.push('\n');
        loop {
            let line = self.line();
            if line.is_empty() {
                break;
            }
            let lower = line.to_ascii_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse::<usize>().ok();
            }
            head.push_str(&line);
            head.push('\n');
        }
        let mut body = Vec::new();
        if let Some(length) = length {
            body.resize(length, 0);
            self.stream.read_exact(&mut body).expect("the body");
        } else {
            loop {
                let size = self.line();
                let size = usize::from_str_radix(&size, 16)
                    .unwrap_or_else(|_| panic!("no chunk: {size:?} after {head}"));
                let from = body.len();
                body.resize(from + size, 0);
                self.stream.read_exact(&mut body[from..]).expect("a chunk");
                self.line();
                if size == 0 {
                    break;
                }
            }
        }
        head + &String::from_utf8_lossy(&body)
    }
}
