//! HTTP by hand.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};

/// The version of the era with sessions.
pub const SESSIONS: &str = "2025-11-25";
/// The version of the era without.
pub const STATELESS: &str = "2026-07-28";

/// A connection.
pub struct Wire {
    stream: TcpStream,
    read: Vec<u8>,
}

/// An answer.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    head: String,
    pub body: String,
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
        let text = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data:"))
            .map(str::trim)
            .rfind(|data| !data.is_empty())
            .unwrap_or(&self.body);
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The code of a refusal, whose form is checked on the way.
    pub fn refusal(&self) -> i64 {
        assert_eq!(self.header("content-type"), Some("application/json"));
        let body = self.json();
        assert_eq!(body["jsonrpc"], "2.0", "{body}");
        assert!(
            body["error"]["message"]
                .as_str()
                .is_some_and(|text| !text.is_empty()),
            "{body}"
        );
        body["error"]["code"].as_i64().unwrap()
    }
}

impl Wire {
    pub fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        // Only so that a broken server fails a test instead of blocking it.
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        Self {
            stream,
            read: Vec::new(),
        }
    }

    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.stream.write_all(bytes.as_ref()).unwrap();
        self
    }

    /// Sends what the other side may not want to read any more.
    pub fn try_send(&mut self, bytes: &[u8]) -> &mut Self {
        let _ = self.stream.write_all(bytes);
        self
    }

    /// Whether the other side still takes something.
    pub fn sends(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    pub fn hang_up(self) {
        self.stream.shutdown(Shutdown::Both).unwrap();
    }

    /// The head of the next answer.
    pub fn head(&mut self) -> Reply {
        let end = self.read_until(b"\r\n\r\n").expect("a head");
        let head = String::from_utf8(self.read.drain(..end).collect()).unwrap();
        Reply {
            status: head[9..12].parse().unwrap(),
            head,
            body: String::new(),
        }
    }

    /// The next answer.
    pub fn reply(&mut self) -> Reply {
        let mut reply = self.head();
        if let Some(length) = reply.header("content-length") {
            let length = length.parse().unwrap();
            while self.read.len() < length {
                assert!(self.more(), "the body broke off: {reply:?}");
            }
            reply.body = String::from_utf8(self.read.drain(..length).collect()).unwrap();
        } else if reply.header("transfer-encoding").is_some() {
            while let Some(chunk) = self.chunk() {
                reply.body.push_str(&chunk);
            }
        }
        reply
    }

    /// A part of a body; nothing at its proper end.
    pub fn chunk(&mut self) -> Option<String> {
        let end = self.read_until(b"\r\n").expect("the size of a chunk");
        let size: String = String::from_utf8(self.read.drain(..end).collect()).unwrap();
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        while self.read.len() < size + 2 {
            assert!(self.more(), "a chunk broke off");
        }
        let chunk: Vec<u8> = self.read.drain(..size + 2).collect();
        (size > 0).then(|| String::from_utf8(chunk[..size].to_vec()).unwrap())
    }

    /// The next message in a stream of events.
    pub fn event(&mut self) -> Value {
        loop {
            let chunk = self.chunk().expect("an event");
            let data = chunk
                .lines()
                .filter_map(|line| line.strip_prefix("data:"))
                .map(str::trim)
                .find(|data| !data.is_empty());
            if let Some(data) = data {
                return serde_json::from_str(data).unwrap();
            }
        }
    }

    /// Whether the other side closes without a further word.
    pub fn is_closed(&mut self) -> bool {
        self.read.is_empty() && !self.more()
    }

    fn read_until(&mut self, mark: &[u8]) -> Option<usize> {
        loop {
            let found = self.read.windows(mark.len()).position(|part| part == mark);
            if let Some(at) = found {
                return Some(at + mark.len());
            }
            if !self.more() {
                return None;
            }
        }
    }

    fn more(&mut self) -> bool {
        let mut bytes = [0; 4096];
        match self.stream.read(&mut bytes) {
            Ok(0) => false,
            Ok(count) => {
                self.read.extend_from_slice(&bytes[..count]);
                true
            }
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => false,
            Err(error) => panic!("nothing came: {error}"),
        }
    }
}

/// A request with a body of its own.
pub fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> String {
    let mut lines = vec![format!("{method} {path} HTTP/1.1")];
    let has_host = headers
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case("host"));
    if !has_host {
        lines.push("Host: localhost".to_owned());
    }
    for (name, value) in headers {
        lines.push(format!("{name}: {value}"));
    }
    if !body.is_empty() {
        lines.push(format!("Content-Length: {}", body.len()));
    }
    format!("{}\r\n\r\n{body}", lines.join("\r\n"))
}

/// The headers of every message.
pub const MESSAGE: [(&str, &str); 2] = [
    ("Content-Type", "application/json"),
    ("Accept", "application/json, text/event-stream"),
];

/// One request over a connection of its own.
pub fn ask(address: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
    Wire::to(address)
        .send(request(method, path, headers, ""))
        .reply()
}

/// A message as it is, with further headers.
pub fn post(body: &str, headers: &[(&str, &str)]) -> String {
    let mut all = MESSAGE.to_vec();
    all.extend_from_slice(headers);
    request("POST", "/mcp", &all, body)
}

/// A stateless call.
pub fn stateless(id: u32, method: &str, mut params: Value, headers: &[(&str, &str)]) -> String {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(STATELESS);
    params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({ "name": "t", "version": "1" });
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    let name = params["name"].as_str().map(str::to_owned);
    let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let mut all = vec![("MCP-Protocol-Version", STATELESS), ("Mcp-Method", method)];
    if let Some(name) = &name {
        all.push(("Mcp-Name", name));
    }
    all.extend_from_slice(headers);
    post(&body.to_string(), &all)
}

/// A stateless call of a tool.
pub fn call(id: u32, tool: &str, arguments: &Value) -> String {
    stateless(
        id,
        "tools/call",
        json!({ "name": tool, "arguments": arguments }),
        &[],
    )
}

/// A session.
pub struct Session {
    address: SocketAddr,
    pub id: String,
    token: Option<String>,
    version: &'static str,
}

impl Session {
    pub fn begin(address: SocketAddr) -> Self {
        Self::with_token(address, None)
    }

    pub fn with_token(address: SocketAddr, token: Option<&str>) -> Self {
        Self::of_version(address, token, SESSIONS).0
    }

    /// A session of that version, and the answer that began it.
    pub fn of_version(
        address: SocketAddr,
        token: Option<&str>,
        version: &'static str,
    ) -> (Self, Reply) {
        let token = token.map(|token| format!("Bearer {token}"));
        let headers: Vec<_> = token
            .iter()
            .map(|token| ("Authorization", token.as_str()))
            .collect();
        let reply = Wire::to(address)
            .send(post(&initialize().replace(SESSIONS, version), &headers))
            .reply();
        assert_eq!(reply.status, 200, "{reply:?}");
        let session = Self {
            address,
            id: reply.header("mcp-session-id").unwrap().to_owned(),
            token,
            version,
        };
        let noted = session.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert_eq!(noted.status, 202, "{noted:?}");
        (session, reply)
    }

    /// A message of this session.
    pub fn message(&self, body: &str) -> String {
        post(body, &self.headers())
    }

    pub fn call(&self, id: u32, tool: &str, arguments: &Value) -> String {
        let params = json!({
            "name": tool,
            "arguments": arguments,
            "_meta": { "progressToken": id },
        });
        self.message(
            &json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
                .to_string(),
        )
    }

    pub fn send(&self, body: &str) -> Reply {
        Wire::to(self.address).send(self.message(body)).reply()
    }

    /// Begins to listen.
    pub fn listen(&self) -> Wire {
        let mut headers = self.headers();
        headers.push(("Accept", "text/event-stream"));
        let mut wire = Wire::to(self.address);
        wire.send(request("GET", "/mcp", &headers, ""));
        wire
    }

    pub fn end(&self) -> Reply {
        ask(self.address, "DELETE", "/mcp", &self.headers())
    }

    fn headers(&self) -> Vec<(&str, &str)> {
        let mut headers = vec![
            ("Mcp-Session-Id", self.id.as_str()),
            ("MCP-Protocol-Version", self.version),
        ];
        if let Some(token) = &self.token {
            headers.push(("Authorization", token));
        }
        headers
    }
}

/// The message that begins a session.
pub fn initialize() -> String {
    json!({
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": SESSIONS,
            "capabilities": { "elicitation": {} },
            "clientInfo": { "name": "t", "version": "1" },
        },
    })
    .to_string()
}
