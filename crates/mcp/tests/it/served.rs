//! A server with tools that do what a test wants to see.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::Duration;

use mcp::http::{self, Options, Switch, Token};
use mcp::{
    About, Ask, Client, Completing, Contents, Hints, Input, Problem, Prompt, PromptText, Resource,
    Server, Stop, Template, Tool, ToolAnswer,
};
use serde_json::{Map, Value, json};

/// The token of all servers that have one.
pub const TOKEN: &str = "0123456789abcdef0123456789abcdef-secret";

pub struct Playground;

impl Server for Playground {
    fn about(&self) -> About {
        About {
            name: "playground".to_owned(),
            version: "1.2.3".to_owned(),
            resources: true,
            ..About::default()
        }
    }

    fn tools(&self) -> Vec<Tool> {
        ["echo", "wait", "ask", "panic"]
            .map(|name| Tool {
                name,
                title: "",
                description: "",
                hints: if name == "wait" {
                    Hints::Adds
                } else {
                    Hints::ReadOnly
                },
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
        match tool {
            "echo" => Ok(ToolAnswer::structured(Value::Object(arguments))),
            "wait" => {
                let door = arguments.get("door").and_then(Value::as_u64).unwrap_or(0);
                let how = wait_at(u16::try_from(door).unwrap(), client).unwrap();
                Ok(ToolAnswer::structured(json!({ "how": how })))
            }
            "ask" => match client.answer("name") {
                Some(answer) => Ok(ToolAnswer::structured(answer["content"].clone())),
                None => Err(Stop::Ask(Ask::one(
                    "name",
                    Input::Form {
                        message: "Your name?".to_owned(),
                        schema: json!({
                            "type": "object",
                            "properties": { "name": { "type": "string" } },
                        }),
                    },
                ))),
            },
            _ => panic!("this tool always does"),
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

    fn mark(&self, _: &str, _: &Client) -> Option<u64> {
        None
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

/// Knocks at a port, and waits there until it is let through or the client is gone.
fn wait_at(door: u16, client: &Client) -> io::Result<&'static str> {
    let mut door = TcpStream::connect(("127.0.0.1", door))?;
    door.set_read_timeout(Some(Duration::from_millis(2)))?;
    loop {
        match door.read(&mut [0]) {
            Ok(_) => return Ok("let through"),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                ) => {}
            Err(error) => return Err(error),
        }
        if client.is_gone() {
            door.write_all(b"gone")?;
            return Ok("gone");
        }
    }
}

/// Where calls of `wait` wait.
pub struct Door(TcpListener);

/// A call that waits there.
pub struct Waiting(TcpStream);

impl Door {
    pub fn new() -> Self {
        Self(TcpListener::bind(("127.0.0.1", 0)).unwrap())
    }

    pub fn port(&self) -> u16 {
        self.0.local_addr().unwrap().port()
    }

    /// The next call that has come here.
    pub fn next(&self) -> Waiting {
        let (stream, _) = self.0.accept().unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        Waiting(stream)
    }
}

impl Waiting {
    pub fn let_through(mut self) {
        self.0.write_all(b"!").unwrap();
    }

    /// Waits until the call says that its client is gone.
    pub fn sees_client_gone(mut self) {
        let mut said = String::new();
        self.0.read_to_string(&mut said).unwrap();
        assert_eq!(said, "gone");
    }
}

/// A server on a thread of this process.
pub struct Served {
    pub address: SocketAddr,
    pub switch: Switch,
    ended: mpsc::Receiver<io::Result<()>>,
}

impl Served {
    pub fn new() -> Self {
        Self::with(Options::default())
    }

    pub fn with(options: Options) -> Self {
        let switch = options.switch.clone();
        let options = Options {
            signals: false,
            ..options
        };
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let (ready, address) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        std::thread::spawn(move || {
            let result = http::serve(Playground, vec![listener], options, |address| {
                ready.send(address).unwrap();
            });
            let _ = end.send(result);
        });
        Self {
            address: address.recv().unwrap(),
            switch,
            ended,
        }
    }

    /// What `serve` came to.
    pub fn end(&self) -> io::Result<()> {
        self.ended.recv_timeout(Duration::from_secs(20)).unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.switch.stop();
        self.switch.stop();
    }
}

/// The server of tests that need a process: started by them, as this test alone.
#[test]
#[ignore = "it serves until it is stopped"]
fn process() {
    tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_writer(io::stderr)
        .init();
    let options = Options {
        token: Some(Token::new(TOKEN).unwrap()),
        ..Options::default()
    };
    let _ = writeln!(io::stderr(), "{options:?}");
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    http::serve(Playground, vec![listener], options, |address| {
        writeln!(io::stdout(), "at {address}").unwrap();
    })
    .unwrap();
}
