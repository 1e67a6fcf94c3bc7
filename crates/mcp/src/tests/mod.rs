//! A server as one client with a session sees it, over a pipe, and with a clock that waits for nobody.

mod asking;
mod following;
mod stopping;
mod tasks;
mod waiting;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use serde_json::{Map, Value, json};
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
    fn wait(&self) {
        let mut open = self.open.lock().unwrap();
        while !*open {
            open = self.opens.wait(open).unwrap();
        }
    }

    fn let_through(&self) {
        *self.open.lock().unwrap() = true;
        self.opens.notify_all();
    }

    fn through(&self) -> Vec<String> {
        self.through.lock().unwrap().clone()
    }

    fn change(&self, uri: &str) {
        *self
            .marks
            .lock()
            .unwrap()
            .entry(uri.to_owned())
            .or_default() += 1;
    }

    fn looks(&self) -> usize {
        self.looks.load(Ordering::Relaxed)
    }
}

struct Actor(Arc<Scene>);

impl Server for Actor {
    fn about(&self) -> About {
        About {
            name: "actor".to_owned(),
            resources: true,
            ..About::default()
        }
    }

    fn tools(&self) -> Vec<Tool> {
        [
            ("wait", Hints::Adds),
            ("ask", Hints::Adds),
            ("ask twice", Hints::Adds),
            ("tasks only", Hints::Adds),
            ("where", Hints::ReadOnly),
        ]
        .map(|(name, hints)| Tool {
            name,
            title: "",
            description: "",
            hints,
            input: json!({ "type": "object" }),
            output: None,
            meta: None,
        })
        .to_vec()
    }

    fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        client: &Client,
    ) -> Result<ToolAnswer, Stop> {
        let text = |text: &str| Ok(ToolAnswer::structured(json!({ "text": text })));
        match tool {
            "wait" => {
                self.0.wait();
                let name = arguments["name"].as_str().unwrap();
                self.0.through.lock().unwrap().push(name.to_owned());
                text(name)
            }
            "ask" if client.answer("name").is_none() => {
                if arguments["name"] == "late" {
                    self.0.wait();
                }
                Err(Stop::Ask(Ask::one(
                    "name",
                    Input::Form {
                        message: "Your name?".to_owned(),
                        schema: json!({ "type": "object", "properties": {} }),
                    },
                )))
            }
            "ask twice" => {
                let questions = ["first", "second"];
                if questions.iter().all(|name| client.answer(name).is_some()) {
                    return text("both");
                }
                self.0.wait();
                let form = Input::Form {
                    message: "Go on?".to_owned(),
                    schema: json!({ "type": "object", "properties": {} }),
                };
                let inputs = questions.map(|name| (name.to_owned(), form.clone()));
                Err(Stop::Ask(Ask {
                    inputs: inputs.into(),
                    keep: None,
                }))
            }
            "tasks only" if !client.can().tasks => Err(Problem::NeedsTasks.into()),
            "where" => match client.roots() {
                Ok(roots) => text(&format!("{roots:?}")),
                Err(untold) => text(&untold.to_string()),
            },
            _ => text("done"),
        }
    }

    fn resources(&self, _: &Client) -> Result<Vec<Resource>, Stop> {
        Ok(Vec::new())
    }

    fn templates(&self) -> Vec<Template> {
        Vec::new()
    }

    fn read(&self, uri: &str, _: &Client) -> Result<Vec<Contents>, Stop> {
        Err(Problem::NoResource(uri.to_owned()).into())
    }

    fn mark(&self, uri: &str, client: &Client) -> Option<u64> {
        let told = client.roots();
        if uri.contains("rooted") && told.is_err() {
            return None;
        }
        self.0.looks.fetch_add(1, Ordering::Relaxed);
        assert!(!uri.contains("panic"), "this mark always does");
        self.0.marks.lock().unwrap().get(uri).copied()
    }

    fn prompts(&self) -> Vec<Prompt> {
        Vec::new()
    }

    fn prompt(&self, name: &str, _: Map<String, Value>, _: &Client) -> Result<PromptText, Stop> {
        Err(Problem::Invalid(name.to_owned()).into())
    }

    fn complete(&self, _: &Completing, _: &Client) -> Result<Vec<String>, Stop> {
        Ok(Vec::new())
    }
}

/// A server, to which clients can connect.
pub struct TestServer {
    pub scene: Arc<Scene>,
    adapter: Adapter<Actor>,
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

impl TestServer {
    pub fn new() -> Self {
        let scene = Arc::<Scene>::default();
        let adapter = Adapter::new(Actor(Arc::clone(&scene)));
        Self { scene, adapter }
    }

    /// A client with a session that can do this.
    pub async fn guest(&self, can: Value) -> TestClient {
        let mut guest = self.stranger();
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": can,
            "clientInfo": { "name": "t", "version": "1" },
        });
        guest.ask("initialize", params).await;
        guest
            .send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
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
}
