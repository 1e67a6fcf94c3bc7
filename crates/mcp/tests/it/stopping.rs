//! The end of a server: nothing that was taken on is lost.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use mcp::http::Options;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::served::{Door, Served, TOKEN};
use crate::wire::{Session, Wire, call, request, stateless};

/// A server in a process of its own.
struct Process {
    child: Child,
    address: SocketAddr,
    /// Reads what it says, so that it never waits for a reader.
    said: Option<std::thread::JoinHandle<String>>,
}

impl Process {
    fn new() -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["served::process", "--exact", "--ignored", "--nocapture"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut said = String::new();
        let address = loop {
            let mut line = String::new();
            assert_ne!(stdout.read_line(&mut line).unwrap(), 0, "it did not start");
            said.push_str(&line);
            // The test harness may have written the beginning of the line.
            if let Some((_, address)) = line.trim_end().rsplit_once("at ") {
                break address.parse().unwrap();
            }
        };
        let said = std::thread::spawn(move || {
            let rest = std::thread::spawn(move || {
                let mut rest = String::new();
                stdout.read_to_string(&mut rest).unwrap();
                rest
            });
            stderr.read_to_string(&mut said).unwrap();
            said.push_str(&rest.join().unwrap());
            said
        });
        Self {
            child,
            address,
            said: Some(said),
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// How it ended, and all that it said.
    fn end(&mut self) -> (ExitStatus, String) {
        let said = self.said.take().unwrap().join().unwrap();
        (self.child.wait().unwrap(), said)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_signal_lets_calls_finish() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut process = Process::new();
        let session = Session::with_token(process.address, Some(TOKEN));
        let door = Door::new();
        let mut calling = Wire::to(process.address);
        calling.send(session.call(1, "wait", &json!({ "door": door.port() })));
        let waits = door.next();
        let mut listening = session.listen();
        assert_eq!(listening.head().status, 200);

        process.signal(signal);
        // The stream ends as a stream should, which also shows that the signal has arrived.
        while listening.chunk().is_some() {}
        waits.let_through();
        let reply = calling.reply().json();
        assert_eq!(reply["id"], 1);
        assert_eq!(reply["result"]["structuredContent"]["how"], "let through");
        let (status, _) = process.end();
        assert!(status.success(), "{status}");
    }
}

/// The test that started it has no terminal, so none is gone.
#[test]
fn a_hangup_without_a_terminal_takes_nothing_from_anybody() {
    let mut process = Process::new();
    let session = Session::with_token(process.address, Some(TOKEN));
    let door = Door::new();
    let mut calling = Wire::to(process.address);
    calling.send(session.call(1, "wait", &json!({ "door": door.port() })));
    let waits = door.next();
    process.signal(Signal::HUP);
    waits.let_through();
    let reply = calling.reply().json();
    assert_eq!(reply["result"]["structuredContent"]["how"], "let through");
    process.signal(Signal::HUP);
    let again = Wire::to(process.address)
        .send(session.call(2, "echo", &json!({ "a": 1 })))
        .reply();
    assert_eq!(
        again.json()["result"]["structuredContent"],
        json!({ "a": 1 })
    );
    process.signal(Signal::TERM);
    let (status, said) = process.end();
    assert!(status.success(), "{status}: {said}");
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let mut process = Process::new();
    let session = Session::with_token(process.address, Some(TOKEN));
    let door = Door::new();
    let mut calling = Wire::to(process.address);
    calling.send(session.call(1, "wait", &json!({ "door": door.port() })));
    let _waits = door.next();
    let mut listening = session.listen();
    assert_eq!(listening.head().status, 200);
    process.signal(Signal::TERM);
    while listening.chunk().is_some() {}
    process.signal(Signal::TERM);
    let (status, said) = process.end();
    assert!(!status.success(), "{status}");
    assert!(said.contains("calls that got no answer: 1"), "{said}");
}

#[test]
fn the_token_is_in_nothing_that_is_said() {
    let mut process = Process::new();
    let session = Session::with_token(process.address, Some(TOKEN));
    let right = format!("Bearer {TOKEN}");
    let wrong = format!("Bearer {TOKEN}x");
    let mut answers = Vec::new();
    for (path, authorization) in [
        ("/mcp", right.as_str()),
        ("/mcp", &wrong),
        ("/healthz", &right),
        ("/nothing", &right),
    ] {
        for origin in ["http://evil.example", ""] {
            let mut headers = vec![
                ("Authorization", authorization),
                ("Accept", "text/event-stream"),
            ];
            if !origin.is_empty() {
                headers.push(("Origin", origin));
            }
            let mut wire = Wire::to(process.address);
            wire.send(request("GET", path, &headers, ""));
            answers.push(wire.reply());
        }
    }
    for tool in ["panic", "echo", "nothing"] {
        let reply = Wire::to(process.address)
            .send(session.call(1, tool, &json!({ "tool": tool })))
            .reply();
        answers.push(reply);
        let message = stateless(
            2,
            "tools/call",
            json!({ "name": tool, "arguments": {} }),
            &[("Authorization", &right)],
        );
        let reply = Wire::to(process.address).send(message).reply();
        answers.push(reply);
    }
    process.signal(Signal::TERM);
    let (status, said) = process.end();
    assert!(status.success(), "{status}");
    assert!(said.contains("this tool always does"), "{said}");
    assert!(said.contains("DEBUG") && said.contains("TRACE"), "{said}");
    assert!(!said.contains("secret"), "{said}");
    let answers = format!("{answers:?}");
    assert!(!answers.contains("secret"), "{answers}");
}

#[test]
fn a_server_that_stops_takes_on_nothing_new() {
    let served = Served::new();
    let door = Door::new();
    let mut calling = Wire::to(served.address);
    calling.send(call(1, "wait", &json!({ "door": door.port() })));
    let waits = door.next();
    let mut idle = Wire::to(served.address);
    idle.send(request("GET", "/healthz", &[], ""));
    assert_eq!(idle.reply().status, 200);
    let mut unused = Wire::to(served.address);
    let mut half_way = Wire::to(served.address);
    half_way.send("POST /mcp HTTP/1.1\r\nHost: local");
    let mut listening = Wire::to(served.address);
    listening.send(stateless(
        2,
        "subscriptions/listen",
        json!({ "notifications": {} }),
        &[],
    ));
    assert_eq!(listening.head().status, 200);
    assert_eq!(
        listening.event()["method"],
        "notifications/subscriptions/acknowledged"
    );

    served.switch.stop();
    let last = listening.event();
    assert_eq!(last["id"], 2, "{last}");
    assert!(last["result"].is_object(), "{last}");
    assert!(listening.chunk().is_none());
    assert!(idle.is_closed());
    assert!(unused.is_closed());
    assert!(half_way.is_closed());
    let refused = TcpStream::connect(served.address);
    assert!(refused.is_err(), "{refused:?}");

    waits.let_through();
    assert_eq!(calling.reply().json()["id"], 1);
    served.end().unwrap();
}

#[test]
fn a_question_nobody_can_answer_any_more_is_taken_back() {
    let served = Served::new();
    let session = Session::begin(served.address);
    let mut wire = Wire::to(served.address);
    wire.send(session.call(1, "ask", &json!({})));
    assert_eq!(wire.head().status, 200);
    assert_eq!(wire.event()["method"], "elicitation/create");
    served.switch.stop();
    let answer = wire.event();
    assert_eq!(answer["id"], 1);
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("stopping"),
        "{answer}"
    );
    served.end().unwrap();
}

#[test]
fn a_call_that_takes_too_long_is_left_behind() {
    let served = Served::with(Options {
        grace: Duration::from_millis(50),
        ..Options::default()
    });
    let door = Door::new();
    let mut calling = Wire::to(served.address);
    calling.send(call(1, "wait", &json!({ "door": door.port() })));
    let waits = door.next();
    served.switch.stop();
    let error = served.end().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    assert!(
        error.to_string().contains("calls that got no answer: 1"),
        "{error}"
    );
    // It is told so.
    waits.sees_client_gone();
}

#[test]
fn a_call_whose_client_left_is_finished_first() {
    let served = Served::new();
    let session = Session::begin(served.address);
    let door = Door::new();
    let mut wire = Wire::to(served.address);
    wire.send(session.call(1, "wait", &json!({ "door": door.port() })));
    let waits = door.next();
    wire.hang_up();
    let mut listening = session.listen();
    assert_eq!(listening.head().status, 200);
    served.switch.stop();
    while listening.chunk().is_some() {}
    waits.let_through();
    served.end().unwrap();
}
