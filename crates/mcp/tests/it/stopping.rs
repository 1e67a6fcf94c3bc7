//! The end of a server: nothing that was taken on is lost.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::served::{Served, TOKEN, Waiting, wait};
use crate::wire::{SESSIONS, Session, Wire, ask, begin, call, listener, request, send, stateless};

/// A server in a process of its own, with a session.
struct Process {
    child: Child,
    address: SocketAddr,
    session: Session,
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
            let rest = std::thread::spawn(move || io::read_to_string(stdout).unwrap());
            stderr.read_to_string(&mut said).unwrap();
            said + &rest.join().unwrap()
        });
        let right = format!("Bearer {TOKEN}");
        let headers = [("Authorization", &*right)];
        let (session, _) = Session::with(address, SESSIONS, &headers);
        Self {
            child,
            address,
            session,
            said: Some(said),
        }
    }

    /// A call that waits.
    fn wait(&self) -> (Wire, Waiting) {
        wait(self.address, |door| self.session.call(1, "wait", door))
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
        // The test that started it has no terminal, so none is gone, and a hangup takes nothing from anybody.
        process.signal(Signal::HUP);
        let (mut calling, waits) = process.wait();
        let listening = process.session.listen(&[]).streams();
        process.signal(signal);
        // The stream ends as a stream should, which also shows that the signal has arrived.
        listening.ends();
        waits.let_through();
        let reply = calling.reply();
        assert_eq!(reply.json()["id"], 1);
        assert_eq!(reply.result()["text"], "let through");
        let (status, said) = process.end();
        assert!(status.success(), "{status}: {said}");
    }
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let mut process = Process::new();
    let _both = process.wait();
    let listening = process.session.listen(&[]).streams();
    process.signal(Signal::TERM);
    listening.ends();
    process.signal(Signal::TERM);
    let (status, said) = process.end();
    assert!(!status.success(), "{status}");
    assert!(said.contains("calls that got no answer: 1"), "{said}");
}

#[test]
fn the_token_is_in_nothing_that_is_said() {
    let mut process = Process::new();
    let right = format!("Bearer {TOKEN}");
    let wrong = format!("Bearer {TOKEN}x");
    let mut answers = Vec::new();
    for (path, authorization) in [
        ("/mcp", &right),
        ("/mcp", &wrong),
        ("/healthz", &right),
        ("/nothing", &right),
    ] {
        let known = [
            ("Authorization", &**authorization),
            ("Accept", "text/event-stream"),
        ];
        for foreign in [&[][..], &[("Origin", "http://evil.example")]] {
            let headers = [&known, foreign].concat();
            answers.push(ask(process.address, "GET", path, &headers));
        }
    }
    for tool in ["panic", "echo", "nothing"] {
        let params = json!({ "name": tool, "arguments": {} });
        let headers = [("Authorization", &*right)];
        for message in [
            process.session.call(1, tool, &json!({ "tool": tool })),
            stateless(2, "tools/call", params, &headers),
        ] {
            answers.push(send(process.address, message));
        }
    }
    process.signal(Signal::TERM);
    let (status, said) = process.end();
    assert!(status.success(), "{status}");
    for known in ["this tool always does", "DEBUG", "TRACE"] {
        assert!(said.contains(known), "{said}");
    }
    let told = format!("{said}{answers:?}");
    assert!(!told.contains("secret"), "{told}");
}

#[test]
fn a_server_that_stops_takes_on_nothing_new() {
    let served = Served::new();
    let (mut calling, waits) = wait(served.address, |door| call(1, "wait", door));
    let mut idle = begin(served.address, request("GET", "/healthz", &[], ""));
    assert_eq!(idle.reply().status, 200);
    let mut unused = Wire::to(served.address);
    let mut half_way = begin(served.address, "POST /mcp HTTP/1.1\r\nHost: local");
    let mut listening = begin(served.address, listener(2, &[])).streams();
    let first = listening.event();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");

    served.switch.stop();
    let last = listening.event();
    assert!(last["id"] == 2 && last["result"].is_object(), "{last}");
    listening.ends();
    for wire in [&mut idle, &mut unused, &mut half_way] {
        assert!(wire.is_closed());
    }
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
    let mut wire = begin(served.address, session.call(1, "ask", &json!({}))).streams();
    assert_eq!(wire.event()["method"], "elicitation/create");
    served.switch.stop();
    let answer = wire.event();
    assert!(answer["id"] == 1 && answer["error"].is_object(), "{answer}");
    served.end().unwrap();
}

#[test]
fn a_call_that_takes_too_long_is_left_behind() {
    let served = Served::with(|options| options.grace = Duration::from_millis(50));
    let (_calling, waits) = wait(served.address, |door| call(1, "wait", door));
    served.switch.stop();
    let error = served.end().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    // It is told so.
    waits.sees_client_gone();
}

#[test]
fn a_call_whose_client_left_is_finished_first() {
    let served = Served::new();
    let session = Session::begin(served.address);
    let (wire, waits) = wait(served.address, |door| session.call(1, "wait", door));
    wire.hang_up();
    let listening = session.listen(&[]).streams();
    served.switch.stop();
    listening.ends();
    waits.let_through();
    served.end().unwrap();
}
