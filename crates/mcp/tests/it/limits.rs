//! What is too much, too large or too slow.

use std::time::Duration;

use mcp::http::Options;
use serde_json::json;

use crate::served::{Door, Served};
use crate::wire::{MESSAGE, Session, Wire, ask, call, initialize, post, request, stateless};

#[test]
fn a_body_that_is_too_large_is_refused() {
    let served = Served::with(Options {
        max_body: 1000,
        ..Options::default()
    });
    let fitting = format!("{:1000}", initialize());
    let reply = Wire::to(served.address).send(post(&fitting, &[])).reply();
    assert_eq!(reply.status, 200, "{reply:?}");

    let large = "x".repeat(1001);
    let mut wire = Wire::to(served.address);
    let reply = wire.send(post(&large, &[])).reply();
    assert_eq!(reply.status, 413);
    assert!(reply.body.contains("1000 bytes"), "{reply:?}");
    reply.refusal();
    assert!(wire.is_closed());

    let mut head = MESSAGE.to_vec();
    head.push(("Transfer-Encoding", "chunked"));
    let mut wire = Wire::to(served.address);
    wire.send(request("POST", "/mcp", &head, ""));
    for _ in 0..3 {
        wire.send(format!("190\r\n{}\r\n", "x".repeat(400)));
    }
    let reply = wire.send("0\r\n\r\n").reply();
    assert_eq!(reply.status, 413);

    // One that never ends.
    let mut wire = Wire::to(served.address);
    wire.send(request("POST", "/mcp", &head, ""));
    for _ in 0..50 {
        wire.try_send(format!("190\r\n{}\r\n", "x".repeat(400)).as_bytes());
    }
    // One that asks first.
    let mut head = MESSAGE.to_vec();
    head.extend([("Expect", "100-continue"), ("Content-Length", "5000000000")]);
    let reply = Wire::to(served.address)
        .send(request("POST", "/mcp", &head, ""))
        .reply();
    assert_eq!(reply.status, 413);
    assert_eq!(ask(served.address, "GET", "/healthz", &[]).status, 200);
}

#[test]
fn a_length_that_is_a_lie_does_no_harm() {
    let served = Served::with(Options {
        patience: Duration::from_millis(100),
        ..Options::default()
    });
    for length in ["18446744073709551615", "99999999999999999999", "-1", "a"] {
        let mut head = MESSAGE.to_vec();
        head.push(("Content-Length", length));
        let mut wire = Wire::to(served.address);
        let reply = wire.send(request("POST", "/mcp", &head, "")).head();
        assert!((400..500).contains(&reply.status), "{reply:?}");
    }
    let mut head = MESSAGE.to_vec();
    head.extend([("Content-Length", "3"), ("Transfer-Encoding", "chunked")]);
    let mut wire = Wire::to(served.address);
    let reply = wire.send(request("POST", "/mcp", &head, "")).head();
    assert!((400..500).contains(&reply.status), "{reply:?}");
    assert_eq!(ask(served.address, "GET", "/healthz", &[]).status, 200);
}

#[test]
fn whoever_sends_too_slowly_is_cut_off() {
    let served = Served::with(Options {
        patience: Duration::from_millis(50),
        ..Options::default()
    });
    let mut silent = Wire::to(served.address);
    let mut in_the_head = Wire::to(served.address);
    in_the_head.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow");
    let mut in_the_body = Wire::to(served.address);
    let mut head = MESSAGE.to_vec();
    head.push(("Content-Length", "10"));
    in_the_body
        .send(request("POST", "/mcp", &head, ""))
        .send("123");

    let reply = in_the_body.reply();
    assert_eq!(reply.status, 408);
    reply.refusal();
    assert!(in_the_body.is_closed());
    assert!(silent.is_closed());
    assert!(in_the_head.is_closed());
}

#[test]
fn whoever_does_not_read_is_cut_off() {
    let served = Served::with(Options {
        patience: Duration::from_millis(50),
        ..Options::default()
    });
    let large = "x".repeat(1_000_000);
    let mut wire = Wire::to(served.address);
    let message = call(1, "echo", &json!({ "large": large }));
    // More than fits into the buffers on the way, so that sending comes to an end only when the server closes.
    while wire.sends(message.as_bytes()) {}
    served.switch.stop();
    served.end().unwrap();
}

#[test]
fn a_head_that_is_too_large_is_refused() {
    let served = Served::new();
    let long = "x".repeat(100_000);
    let mut wire = Wire::to(served.address);
    wire.try_send(request("GET", "/healthz", &[("X-Long", &long)], "").as_bytes());
    let reply = wire.head();
    assert_eq!(reply.status, 431);
    let mut wire = Wire::to(served.address);
    let many: Vec<_> = (0..200).map(|_| ("X-Many", "1")).collect();
    wire.try_send(request("GET", "/healthz", &many, "").as_bytes());
    assert_eq!(wire.head().status, 431);
}

#[test]
fn more_calls_than_allowed_are_told_to_come_again() {
    let served = Served::with(Options {
        max_requests: 2,
        ..Options::default()
    });
    let door = Door::new();
    let arguments = json!({ "door": door.port() });
    let session = Session::begin(served.address);
    let mut first = Wire::to(served.address);
    first.send(call(1, "wait", &arguments));
    let first_waits = door.next();
    let mut second = Wire::to(served.address);
    second.send(session.call(2, "wait", &arguments));
    let second_waits = door.next();

    let refused = Wire::to(served.address)
        .send(call(3, "echo", &json!({})))
        .reply();
    assert_eq!(refused.status, 503);
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(refused.json()["id"], 3);
    refused.refusal();
    // What ends a call has to get through.
    let noted = session
        .send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#);
    assert_eq!(noted.status, 202);
    second_waits.sees_client_gone();
    assert_eq!(ask(served.address, "GET", "/healthz", &[]).status, 200);

    first_waits.let_through();
    let reply = first.reply();
    assert_eq!(
        reply.json()["result"]["structuredContent"]["how"],
        "let through"
    );
}

#[test]
fn a_call_whose_client_left_counts_until_it_is_done() {
    let served = Served::with(Options {
        max_requests: 1,
        ..Options::default()
    });
    let door = Door::new();
    let session = Session::begin(served.address);
    let mut wire = Wire::to(served.address);
    wire.send(session.call(1, "wait", &json!({ "door": door.port() })));
    let waits = door.next();
    wire.hang_up();
    let refused = Wire::to(served.address)
        .send(call(2, "echo", &json!({})))
        .reply();
    assert_eq!(refused.status, 503);
    waits.let_through();
    // It cannot be seen from outside when the call has let go; soon it has.
    let done = (0..2000).any(|_| {
        let reply = Wire::to(served.address)
            .send(call(2, "echo", &json!({})))
            .reply();
        reply.status == 200
    });
    assert!(done);
}

#[test]
fn there_are_no_more_listeners_than_allowed() {
    let served = Served::with(Options {
        max_streams: 2,
        ..Options::default()
    });
    let session = Session::begin(served.address);
    let mut first = session.listen();
    assert_eq!(first.head().status, 200);
    let mut second = Wire::to(served.address);
    let listen = stateless(
        7,
        "subscriptions/listen",
        json!({ "notifications": {} }),
        &[],
    );
    assert_eq!(second.send(&listen).head().status, 200);
    assert_eq!(
        second.event()["method"],
        "notifications/subscriptions/acknowledged"
    );
    let mut third = session.listen();
    assert_eq!(third.reply().status, 503);
    let refused = Wire::to(served.address).send(&listen).reply();
    assert_eq!((refused.status, &refused.json()["id"]), (503, &json!(7)));
    // Calls have room of their own.
    let reply = Wire::to(served.address)
        .send(call(1, "echo", &json!({ "a": 1 })))
        .reply();
    assert_eq!(reply.status, 200);

    // Whoever leaves makes room, which takes the server a moment to see.
    first.hang_up();
    second.hang_up();
    let heard: Vec<Wire> = (0..2)
        .map(|_| {
            (0..2000)
                .find_map(|_| {
                    let mut wire = Wire::to(served.address);
                    (wire.send(&listen).head().status == 200).then_some(wire)
                })
                .unwrap()
        })
        .collect();
    assert_eq!(heard.len(), 2);
}

#[test]
fn connections_on_which_nothing_is_said_keep_nobody_out() {
    let served = Served::with(Options {
        max_requests: 2,
        max_streams: 1,
        ..Options::default()
    });
    let door = Door::new();
    let mut calling = Wire::to(served.address);
    calling.send(call(1, "wait", &json!({ "door": door.port() })));
    let waits = door.next();
    let mut listening = Session::begin(served.address).listen();
    assert_eq!(listening.head().status, 200);
    let mut used = Wire::to(served.address);
    used.send(request("GET", "/healthz", &[], ""));
    assert_eq!(used.reply().status, 200);
    // More than there may be connections.
    let mut silent: Vec<Wire> = (0..300).map(|_| Wire::to(served.address)).collect();
    for wire in &mut silent[..100] {
        wire.try_send(b"GET /healthz HTTP/1.1\r\nHost: local");
    }
    assert_eq!(ask(served.address, "GET", "/healthz", &[]).status, 200);
    assert!(used.is_closed());
    assert!(silent[0].is_closed());
    // The youngest stays.
    let mut youngest = silent.pop().unwrap();
    youngest.send(request("GET", "/healthz", &[], ""));
    assert_eq!(youngest.reply().status, 200);

    // What is under way is not touched.
    waits.let_through();
    assert_eq!(calling.reply().json()["id"], 1);
    served.switch.stop();
    while listening.chunk().is_some() {}
}

#[test]
fn the_session_that_was_idle_for_longest_makes_room() {
    let served = Served::with(Options {
        max_sessions: 2,
        ..Options::default()
    });
    let listed = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let first = Session::begin(served.address);
    let second = Session::begin(served.address);
    assert_eq!(first.send(listed).status, 200);
    let third = Session::begin(served.address);
    let gone = second.send(listed);
    assert_eq!(gone.status, 404);
    assert_eq!(gone.refusal(), -32001);
    assert!(gone.body.contains("initialize"), "{gone:?}");
    assert_eq!(first.send(listed).status, 200);
    assert_eq!(third.send(listed).status, 200);

    // One that is listened to is not idle.
    let (mut one, mut other) = (first.listen(), third.listen());
    assert_eq!((one.head().status, other.head().status), (200, 200));
    let refused = Wire::to(served.address)
        .send(post(&initialize(), &[]))
        .reply();
    assert_eq!(refused.status, 503);
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(first.end().status, 204);
    Session::begin(served.address);
    assert_eq!(third.send(listed).status, 200);
}
