//! HTTP by hand.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};

/// The version of the era with sessions.
pub const SESSIONS: &str = "2025-11-25";
/// The version of the era without.
pub const STATELESS: &str = "2026-07-28";

/// Headers of a request.
pub type Headers<'h> = [(&'h str, &'h str)];

/// A connection.
pub struct Wire(BufReader<TcpStream>);

/// An answer.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    head: String,
    pub body: String,
}

/// What the events in a text say.
pub fn events(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("data:"));
    lines.map(str::trim)
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The message in the body, be it JSON or the last event of a stream.
    pub fn json(&self) -> Value {
        let text = events(&self.body).rfind(|data| !data.is_empty());
        let read = serde_json::from_str(text.unwrap_or(&self.body));
        read.unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// What the call came to.
    pub fn result(&self) -> Value {
        self.json()["result"]["structuredContent"].take()
    }

    /// Status, id and code of a refusal, whose form is checked on the way.
    pub fn refusal(&self) -> (u16, Value, i64) {
        let body = self.json();
        assert_eq!(self.header("content-type"), Some("application/json"));
        assert_eq!(self.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(body["jsonrpc"], "2.0", "{body}");
        assert_ne!(body["error"]["message"].as_str().unwrap(), "", "{body}");
        let code = body["error"]["code"].as_i64().unwrap();
        (self.status, body["id"].clone(), code)
    }
}

impl Wire {
    pub fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        // Only so that a broken server fails a test instead of blocking it.
        let patience = Some(Duration::from_secs(20));
        stream.set_read_timeout(patience).unwrap();
        Self(BufReader::new(stream))
    }

    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.0.get_mut().write_all(bytes.as_ref()).unwrap();
        self
    }

    /// Whether the other side still takes something.
    pub fn sends(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.0.get_mut().write_all(bytes.as_ref()).is_ok()
    }

    pub fn hang_up(self) {
        self.0.get_ref().shutdown(Shutdown::Both).unwrap();
    }

    /// The head of the next answer.
    pub fn head(&mut self) -> Reply {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(self.0.read_line(&mut head).unwrap(), 0, "{head}");
        }
        Reply {
            status: head[9..12].parse().unwrap(),
            head,
            body: String::new(),
        }
    }

    /// That the next answer is a stream, which has begun.
    #[track_caller]
    pub fn streams(mut self) -> Self {
        assert_eq!(self.head().status, 200);
        self
    }

    /// The next answer.
    pub fn reply(&mut self) -> Reply {
        let mut reply = self.head();
        if let Some(length) = reply.header("content-length") {
            reply.body = self.take(length.parse().unwrap());
        } else if reply.header("transfer-encoding").is_some() {
            while let Some(chunk) = self.chunk() {
                reply.body.push_str(&chunk);
            }
        }
        reply
    }

    /// A part of a body; nothing at its proper end.
    pub fn chunk(&mut self) -> Option<String> {
        let mut size = String::new();
        self.0.read_line(&mut size).unwrap();
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        let chunk = self.take(size + 2);
        (size > 0).then(|| chunk[..size].to_owned())
    }

    /// Waits for the proper end of a stream.
    pub fn ends(mut self) {
        while self.chunk().is_some() {}
    }

    /// The next message in a stream of events.
    pub fn event(&mut self) -> Value {
        loop {
            let chunk = self.chunk().expect("an event");
            if let Some(data) = events(&chunk).find(|data| !data.is_empty()) {
                return serde_json::from_str(data).unwrap();
            }
        }
    }

    /// Whether the other side closes without a further word.
    pub fn is_closed(&mut self) -> bool {
        match self.0.fill_buf() {
            Ok(left) => left.is_empty(),
            Err(error) => error.kind() == ErrorKind::ConnectionReset,
        }
    }

    fn take(&mut self, length: usize) -> String {
        let mut bytes = vec![0; length];
        self.0.read_exact(&mut bytes).expect("the whole body");
        String::from_utf8(bytes).unwrap()
    }
}

/// Sends a message over a connection of its own.
pub fn begin(address: SocketAddr, message: impl AsRef<[u8]>) -> Wire {
    let mut wire = Wire::to(address);
    wire.send(message);
    wire
}

/// The answer to a message over a connection of its own.
pub fn send(address: SocketAddr, message: impl AsRef<[u8]>) -> Reply {
    begin(address, message).reply()
}

/// The answer to a request without a body.
pub fn ask(address: SocketAddr, method: &str, path: &str, headers: &Headers<'_>) -> Reply {
    send(address, request(method, path, headers, ""))
}

/// The status of the server's health.
pub fn health(address: SocketAddr) -> u16 {
    ask(address, "GET", "/healthz", &[]).status
}

/// A request with a body of its own.
pub fn request(method: &str, path: &str, headers: &Headers<'_>, body: &str) -> String {
    let mut text = format!("{method} {path} HTTP/1.1\r\n");
    let length = body.len().to_string();
    let mut all = headers.to_vec();
    if !headers.iter().any(|(name, _)| *name == "Host") {
        all.push(("Host", "localhost"));
    }
    if !body.is_empty() {
        all.push(("Content-Length", &length));
    }
    for (name, value) in all {
        text.extend([name, ": ", value, "\r\n"]);
    }
    text + "\r\n" + body
}

/// The head of a message with further headers, and its body as it is.
pub fn post(body: &str, headers: &Headers<'_>) -> String {
    let message = [
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    request("POST", "/mcp", &[&message, headers].concat(), body)
}

/// A stateless call.
pub fn stateless(id: u32, method: &str, mut params: Value, headers: &Headers<'_>) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let mut all = vec![("MCP-Protocol-Version", STATELESS), ("Mcp-Method", method)];
    if let Some(name) = params["name"].as_str() {
        all.push(("Mcp-Name", name));
    }
    all.extend_from_slice(headers);
    post(&body.to_string(), &all)
}

/// A stateless call of a tool.
pub fn call(id: u32, tool: &str, arguments: &Value) -> String {
    let params = json!({ "name": tool, "arguments": arguments });
    stateless(id, "tools/call", params, &[])
}

/// A stateless listener.
pub fn listener(id: u32, headers: &Headers<'_>) -> String {
    let params = json!({ "notifications": {} });
    stateless(id, "subscriptions/listen", params, headers)
}

/// A session.
pub struct Session {
    address: SocketAddr,
    headers: Vec<(&'static str, String)>,
}

impl Session {
    pub fn begin(address: SocketAddr) -> Self {
        Self::with(address, SESSIONS, &[]).0
    }

    /// A session of that version, whose messages have these headers, and the answer that began it.
    pub fn with(
        address: SocketAddr,
        version: &str,
        headers: &[(&'static str, &str)],
    ) -> (Self, Reply) {
        let message = initialize().replace(SESSIONS, version);
        let reply = send(address, post(&message, headers));
        assert_eq!(reply.status, 200, "{reply:?}");
        let id = reply.header("mcp-session-id").unwrap();
        let own = [("Mcp-Session-Id", id), ("MCP-Protocol-Version", version)];
        let all = own.iter().chain(headers);
        let session = Self {
            address,
            headers: all
                .map(|(name, text)| (*name, (*text).to_owned()))
                .collect(),
        };
        let noted = session.note("initialized", &json!({}));
        assert_eq!(noted.status, 202, "{noted:?}");
        (session, reply)
    }

    /// The headers of this session, and further ones.
    fn headers<'h>(&'h self, more: &Headers<'h>) -> Vec<(&'h str, &'h str)> {
        let own = self.headers.iter().map(|(name, text)| (*name, &**text));
        own.chain(more.iter().copied()).collect()
    }

    pub fn call(&self, id: u32, tool: &str, arguments: &Value) -> String {
        let meta = json!({ "progressToken": id });
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        self.message(id, "tools/call", &params)
    }

    /// A request of this session.
    pub fn message(&self, id: u32, method: &str, params: &Value) -> String {
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        post(&body.to_string(), &self.headers(&[]))
    }

    /// The answer to a request of this session.
    pub fn ask(&self, method: &str, params: &Value) -> Reply {
        send(self.address, self.message(4, method, params))
    }

    /// The answer to a notification of this session.
    pub fn note(&self, what: &str, params: &Value) -> Reply {
        let method = format!("notifications/{what}");
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string())
    }

    pub fn send(&self, body: &str) -> Reply {
        send(self.address, post(body, &self.headers(&[])))
    }

    /// Begins to listen.
    pub fn listen(&self, more: &Headers<'_>) -> Wire {
        let mut headers = self.headers(more);
        headers.push(("Accept", "text/event-stream"));
        begin(self.address, request("GET", "/mcp", &headers, ""))
    }

    pub fn end(&self) -> Reply {
        ask(self.address, "DELETE", "/mcp", &self.headers(&[]))
    }
}

/// The message that begins a session.
pub fn initialize() -> String {
    let params = json!({
        "protocolVersion": SESSIONS,
        "capabilities": { "elicitation": {} },
        "clientInfo": { "name": "t", "version": "1" },
    });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string()
}
