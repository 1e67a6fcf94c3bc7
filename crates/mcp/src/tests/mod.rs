//! A server as one client with a session sees it, over a pipe, and with a clock that waits for nobody.

mod actor;
mod asking;
mod following;
mod stopping;
mod tasks;
mod waiting;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::adapter::Adapter;
use crate::{
    About, Ask, Client, Completing, Contents, Hints, Input, Problem, Prompt, PromptText, Resource,
    Server, Stop, Template, Tool, ToolAnswer,
};
use actor::{Actor, Stage};

/// What a test sees of the server, and does to it.
#[derive(Debug, Default)]
pub struct Scene {
    /// Whether calls of `wait` are let through.
    open: Mutex<bool>,
    opens: Condvar,
    /// The calls of `wait` that came through, by their `name`.
    through: Mutex<Vec<String>>,
    /// The marks of resources.
    marks: Mutex<BTreeMap<String, u64>>,
    looks: AtomicUsize,
}

impl Scene {
    fn let_through(&self) {
        *self.open.lock().unwrap() = true;
        self.opens.notify_all();
    }

    fn change(&self, uri: &str) {
        let mut marks = self.marks.lock().unwrap();
        *marks.entry(uri.to_owned()).or_default() += 1;
    }

    fn looks(&self) -> usize {
        self.looks.load(Ordering::Relaxed)
    }
}

impl Stage for Arc<Scene> {
    fn wait(&self, arguments: &Value, _: &Client) -> String {
        let mut open = self.open.lock().unwrap();
        while !*open {
            open = self.opens.wait(open).unwrap();
        }
        let name = arguments["name"].as_str().unwrap().to_owned();
        self.through.lock().unwrap().push(name.clone());
        name
    }

    fn mark(&self, uri: &str, client: &Client) -> Option<u64> {
        let told = client.roots();
        if uri.contains("rooted") && told.is_err() {
            return None;
        }
        self.looks.fetch_add(1, Ordering::Relaxed);
        assert!(!uri.contains("panic"), "this mark always does");
        self.marks.lock().unwrap().get(uri).copied()
    }
}

/// A server, to which clients can connect.
pub struct TestServer {
    pub scene: Arc<Scene>,
    adapter: Adapter<Actor<Arc<Scene>>>,
}

/// A client that is connected.
pub struct TestClient {
    read: BufReader<ReadHalf<DuplexStream>>,
    write: WriteHalf<DuplexStream>,
    /// What came while something else was waited for.
    heard: VecDeque<Value>,
    last: u64,
    /// Tells the server to stop.
    pub stop: CancellationToken,
    pub served: JoinHandle<std::io::Result<()>>,
}

/// What a stateless client says of itself with each request.
fn meta(can: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": can,
    })
}

impl TestServer {
    pub fn new() -> Self {
        let scene = Arc::<Scene>::default();
        let adapter = Adapter::new(Actor(Arc::clone(&scene)));
        Self { scene, adapter }
    }

    /// A client with a session that can do this.
    pub async fn guest(&self, can: Value) -> TestClient {
        let mut guest = self.stranger();
        let client = json!({ "name": "t", "version": "1" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": can, "clientInfo": client });
        guest.ask("initialize", params).await;
        guest.note("initialized", json!({})).await;
        guest
    }

    /// A client that has begun nothing.
    pub fn stranger(&self) -> TestClient {
        let (ours, theirs) = tokio::io::duplex(4096);
        let (read, write) = tokio::io::split(theirs);
        let stop = CancellationToken::new();
        let served = tokio::spawn({
            let (adapter, stop) = (self.adapter.another(), stop.clone());
            let mut again = false;
            crate::stdio::serve_lines(adapter, read, write, async move || {
                if std::mem::replace(&mut again, true) {
                    std::future::pending::<()>().await;
                }
                stop.cancelled().await;
            })
        });
        let (read, write) = tokio::io::split(ours);
        TestClient {
            read: BufReader::new(read),
            write,
            heard: VecDeque::new(),
            last: 0,
            stop,
            served,
        }
    }
}

impl TestClient {
    pub async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.write.write_all(line.as_bytes()).await.unwrap();
    }

    pub async fn note(&mut self, what: &str, params: Value) {
        let method = format!("notifications/{what}");
        self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params }))
            .await;
    }

    /// Sends a request, and does not wait for its answer.
    pub async fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let id = self.last;
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await;
        id
    }

    pub async fn call(&mut self, tool: &str, name: &str) -> u64 {
        let params = json!({ "name": tool, "arguments": { "name": name } });
        self.begin("tools/call", params).await
    }

    /// The next message for which this holds; `None` where the connection ends before it.
    pub async fn next(&mut self, wanted: impl Fn(&Value) -> bool) -> Option<Value> {
        if let Some(at) = self.heard.iter().position(&wanted) {
            return self.heard.remove(at);
        }
        loop {
            let mut line = String::new();
            if self.read.read_line(&mut line).await.unwrap() == 0 {
                return None;
            }
            let message: Value = serde_json::from_str(&line).unwrap();
            if wanted(&message) {
                return Some(message);
            }
            self.heard.push_back(message);
        }
    }

    pub async fn answer(&mut self, id: u64) -> Value {
        self.next(|message| message["id"] == id && message.get("method").is_none())
            .await
            .expect("an answer")
    }

    pub async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.answer(id).await
    }

    /// The question of the server that comes next.
    pub async fn question(&mut self, method: &str) -> Value {
        self.next(|message| message["method"] == method && message.get("id").is_some())
            .await
            .expect("a question")
    }

    pub async fn reply(&mut self, question: &Value, result: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }))
            .await;
    }

    /// The text that a call of a tool came to.
    pub async fn text(&mut self, call: u64) -> String {
        let answer = self.answer(call).await;
        answer["result"]["structuredContent"]["text"]
            .as_str()
            .unwrap_or_else(|| panic!("{answer}"))
            .to_owned()
    }

    /// Closes the client's end of the pipe to the server.
    pub async fn say_no_more(&mut self) {
        self.write.shutdown().await.unwrap();
    }

    /// Waits until the server has ended well.
    pub async fn ends(&mut self) {
        (&mut self.served).await.unwrap().unwrap();
    }
}
