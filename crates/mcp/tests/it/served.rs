//! A server on a thread of this process, or in a process of its own, and calls that wait in it.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::Duration;

use mcp::Client;
use mcp::http::{self, Options, Switch, Token};
use serde_json::{Value, json};

use crate::actor::{Actor, Stage};
use crate::wire::{Wire, begin};

/// The token of all servers that have one.
pub const TOKEN: &str = "0123456789abcdef0123456789abcdef-secret";

/// Calls of `wait` knock at the port that they name, and wait there until they are let through or the client is gone.
pub struct Doors;

impl Stage for Doors {
    fn wait(&self, arguments: &Value, client: &Client) -> String {
        let door = u16::try_from(arguments["door"].as_u64().unwrap()).unwrap();
        let mut door = TcpStream::connect(("127.0.0.1", door)).unwrap();
        let look = Duration::from_millis(2);
        door.set_read_timeout(Some(look)).unwrap();
        loop {
            use io::ErrorKind::{TimedOut, WouldBlock};
            match door.read(&mut [0]) {
                Ok(_) => return "let through".to_owned(),
                Err(error) => assert!(matches!(error.kind(), WouldBlock | TimedOut), "{error}"),
            }
            if client.is_gone() {
                door.write_all(b"gone").unwrap();
                return "gone".to_owned();
            }
        }
    }
}

/// A call that waits.
pub struct Waiting(TcpStream);

/// Sends a call that waits: the connection of its answer, and the call.
pub fn wait(address: SocketAddr, message: impl Fn(&Value) -> String) -> (Wire, Waiting) {
    let door = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = door.local_addr().unwrap().port();
    let wire = begin(address, message(&json!({ "door": port })));
    let (stream, _) = door.accept().unwrap();
    let patience = Some(Duration::from_secs(20));
    stream.set_read_timeout(patience).unwrap();
    (wire, Waiting(stream))
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
        Self::with(|_| ())
    }

    pub fn with(set: impl FnOnce(&mut Options)) -> Self {
        let mut options = Options {
            signals: false,
            ..Options::default()
        };
        set(&mut options);
        let switch = options.switch.clone();
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let (ready, address) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        std::thread::spawn(move || {
            let ready = |address| ready.send(address).unwrap();
            let _ = end.send(http::serve(Actor(Doors), vec![listener], options, ready));
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
    let ready = |address| writeln!(io::stdout(), "at {address}").unwrap();
    http::serve(Actor(Doors), vec![listener], options, ready).unwrap();
}
