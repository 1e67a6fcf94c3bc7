//! What is too much, too large or too slow.

use std::time::Duration;

use serde_json::json;

use crate::served::{Served, wait};
use crate::wire::{
    Headers, Session, Wire, begin, call, health, initialize, listener, post, request, send,
};

/// The head of a message whose body is still to come.
fn head(headers: &Headers<'_>) -> String {
    post("", headers)
}

/// A part of a body, of 400 bytes.
fn part() -> String {
    format!("190\r\n{}\r\n", "x".repeat(400))
}

fn echo(id: u32) -> String {
    call(id, "echo", &json!({ "a": 1 }))
}

/// Makes room, which takes the server a moment to see, for this message.
fn soon(served: &Served, message: &str) -> Wire {
    let mut tries = (0..2000).map(|_| Wire::to(served.address));
    tries
        .find_map(|mut wire| (wire.send(message).head().status == 200).then_some(wire))
        .unwrap()
}

#[test]
fn a_body_that_is_too_large_is_refused() {
    let served = Served::with(|options| options.max_body = 1000);
    let fitting = format!("{:1000}", initialize());
    assert_eq!(send(served.address, post(&fitting, &[])).status, 200);
    let mut wire = begin(served.address, post(&"x".repeat(1001), &[]));
    assert_eq!(wire.reply().refusal().0, 413);
    assert!(wire.is_closed());

    let chunked = head(&[("Transfer-Encoding", "chunked")]);
    let mut wire = begin(served.address, &chunked);
    let reply = wire.send(part().repeat(3)).send("0\r\n\r\n").reply();
    assert_eq!(reply.status, 413);
    // One that never ends, and one that asks first.
    let mut wire = begin(served.address, &chunked);
    for _ in 0..50 {
        wire.sends(part());
    }
    let asks = head(&[("Expect", "100-continue"), ("Content-Length", "5000000000")]);
    assert_eq!(send(served.address, asks).status, 413);
    assert_eq!(health(served.address), 200);
}

#[test]
fn a_head_that_lies_or_is_too_large_does_no_harm() {
    let served = Served::with(|options| options.patience = Duration::from_millis(100));
    let chunked = ("Transfer-Encoding", "chunked");
    for headers in [
        &[("Content-Length", "18446744073709551615")][..],
        &[("Content-Length", "99999999999999999999")],
        &[("Content-Length", "-1")],
        &[("Content-Length", "a")],
        &[("Content-Length", "3"), chunked],
    ] {
        let status = begin(served.address, head(headers)).head().status;
        assert!((400..500).contains(&status), "{status}: {headers:?}");
    }
    let long = "x".repeat(100_000);
    for headers in [&[("X-Long", &*long)][..], &[("X-Many", "1"); 200]] {
        let mut wire = Wire::to(served.address);
        wire.sends(request("GET", "/healthz", headers, ""));
        assert_eq!(wire.head().status, 431);
    }
    assert_eq!(health(served.address), 200);
}

#[test]
fn whoever_sends_too_slowly_or_does_not_read_is_cut_off() {
    let served = Served::with(|options| options.patience = Duration::from_millis(50));
    let mut silent = Wire::to(served.address);
    let mut in_the_head = begin(
        served.address,
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow",
    );
    let mut in_the_body = begin(served.address, head(&[("Content-Length", "10")]) + "123");
    assert_eq!(in_the_body.reply().refusal().0, 408);
    for wire in [&mut in_the_body, &mut silent, &mut in_the_head] {
        assert!(wire.is_closed());
    }
    let message = call(1, "echo", &json!({ "large": "x".repeat(1_000_000) }));
    let mut wire = Wire::to(served.address);
    // More than fits into the buffers on the way, so that sending comes to an end only when the server closes.
    while wire.sends(&message) {}
    served.switch.stop();
    served.end().unwrap();
}

#[test]
fn more_calls_than_allowed_are_told_to_come_again() {
    let served = Served::with(|options| options.max_requests = 2);
    let session = Session::begin(served.address);
    let (mut first, first_waits) = wait(served.address, |door| call(1, "wait", door));
    let (_second, second_waits) = wait(served.address, |door| session.call(2, "wait", door));
    let refused = send(served.address, echo(3));
    assert_eq!(refused.refusal(), (503, json!(3), -32000));
    assert_eq!(refused.header("retry-after"), Some("1"));
    // What ends a call has to get through.
    let noted = session.note("cancelled", &json!({ "requestId": 2 }));
    assert_eq!(noted.status, 202);
    second_waits.sees_client_gone();
    assert_eq!(health(served.address), 200);
    first_waits.let_through();
    assert_eq!(first.reply().result()["text"], "let through");
}

#[test]
fn a_call_whose_client_left_counts_until_it_is_done() {
    let served = Served::with(|options| options.max_requests = 1);
    let session = Session::begin(served.address);
    let (wire, waits) = wait(served.address, |door| session.call(1, "wait", door));
    wire.hang_up();
    assert_eq!(send(served.address, echo(2)).status, 503);
    waits.let_through();
    soon(&served, &echo(2));
}

#[test]
fn there_are_no_more_listeners_than_allowed() {
    let served = Served::with(|options| options.max_streams = 2);
    let session = Session::begin(served.address);
    let first = session.listen(&[]).streams();
    let listen = listener(7, &[]);
    let second = begin(served.address, &listen).streams();
    assert_eq!(session.listen(&[]).reply().status, 503);
    let refused = send(served.address, &listen).refusal();
    assert_eq!(refused, (503, json!(7), -32000));
    // Calls have room of their own, and whoever leaves makes room.
    assert_eq!(send(served.address, echo(1)).status, 200);
    first.hang_up();
    second.hang_up();
    let _both = [soon(&served, &listen), soon(&served, &listen)];
}

#[test]
fn connections_on_which_nothing_is_said_keep_nobody_out() {
    let served = Served::with(|options| (options.max_requests, options.max_streams) = (2, 1));
    let (mut calling, waits) = wait(served.address, |door| call(1, "wait", door));
    let listening = Session::begin(served.address).listen(&[]).streams();
    let healthy = request("GET", "/healthz", &[], "");
    let mut used = begin(served.address, &healthy);
    assert_eq!(used.reply().status, 200);
    // More than there may be connections.
    let mut silent: Vec<Wire> = (0..300).map(|_| Wire::to(served.address)).collect();
    for wire in &mut silent[..100] {
        wire.sends("GET /healthz HTTP/1.1\r\nHost: local");
    }
    assert_eq!(health(served.address), 200);
    assert!(used.is_closed() && silent[0].is_closed());
    let mut youngest = silent.pop().unwrap();
    assert_eq!(youngest.send(&healthy).reply().status, 200);

    // What is under way is not touched.
    waits.let_through();
    assert_eq!(calling.reply().json()["id"], 1);
    served.switch.stop();
    listening.ends();
}

#[test]
fn the_session_that_was_idle_for_longest_makes_room() {
    let served = Served::with(|options| options.max_sessions = 2);
    let lists = |session: &Session| session.ask("tools/list", &json!({}));
    let [first, second] = [(), ()].map(|()| Session::begin(served.address));
    assert_eq!(lists(&first).status, 200);
    let third = Session::begin(served.address);
    assert_eq!(lists(&second).refusal(), (404, json!(4), -32001));
    assert_eq!((lists(&first).status, lists(&third).status), (200, 200));

    // One that is listened to is not idle.
    let _both = [first.listen(&[]).streams(), third.listen(&[]).streams()];
    let refused = send(served.address, post(&initialize(), &[]));
    assert_eq!(refused.status, 503);
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(first.end().status, 204);
    Session::begin(served.address);
    assert_eq!(lists(&third).status, 200);
}
