//! Both eras of the protocol, and what does not belong to either.

use serde_json::{Value, json};

use crate::served::{Door, Served};
use crate::wire::{STATELESS, Session, Wire, ask, call, initialize, post, stateless};

/// What still has to work after anything else.
fn still_serves(served: &Served) {
    let reply = Wire::to(served.address)
        .send(call(1, "echo", &json!({ "a": 1 })))
        .reply();
    assert_eq!(
        reply.json()["result"]["structuredContent"],
        json!({ "a": 1 })
    );
}

#[test]
fn what_is_no_message_gets_an_error() {
    let served = Served::new();
    let session = Session::begin(served.address);
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let deep_inside = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{deep}}}"#);
    for (body, code) in [
        (" ", -32700),
        ("garbage", -32700),
        ("{\"jsonrpc\":", -32700),
        ("\u{0}\u{1}", -32700),
        (&deep, -32600),
        (&deep_inside, -32600),
        ("[]", -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
        ("7", -32600),
        ("{}", -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
    ] {
        let shown = &body[..body.len().min(60)];
        let reply = session.send(body);
        assert_eq!(reply.status, 400, "{shown}: {reply:?}");
        assert_eq!(reply.refusal(), code, "{shown}: {reply:?}");
        let headers = [("MCP-Protocol-Version", STATELESS)];
        let reply = Wire::to(served.address).send(post(body, &headers)).reply();
        assert_eq!(reply.status, 400, "{shown}: {reply:?}");
        assert_eq!(reply.refusal(), code, "{shown}: {reply:?}");
    }
    still_serves(&served);
    let pong = session.send(r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#);
    assert_eq!(
        pong.json(),
        json!({ "jsonrpc": "2.0", "id": 9, "result": {} })
    );
}

#[test]
fn what_is_no_known_call_gets_an_error() {
    let served = Served::new();
    let session = Session::begin(served.address);
    for (method, params, code) in [
        ("nothing/known", json!({}), -32601),
        ("", json!({}), -32601),
        ("tools/call", json!({ "name": "nothing" }), -32602),
        ("tools/call", json!({ "name": 7 }), -32602),
        ("tools/call", json!({}), -32602),
        (
            "tools/call",
            json!({ "name": "echo", "arguments": "text" }),
            -32602,
        ),
        (
            "tools/call",
            json!({ "name": "echo", "arguments": [1] }),
            -32602,
        ),
        ("resources/read", json!({ "uri": 5 }), -32602),
        ("prompts/get", json!({ "name": "nothing" }), -32602),
        ("completion/complete", json!({ "ref": {} }), -32602),
        // That the client knows of tasks is said nowhere.
        ("tasks/get", json!({ "taskId": "a" }), -32021),
        (
            "tools/call",
            json!({ "name": "echo", "arguments": {}, "requestState": "forged" }),
            -32602,
        ),
    ] {
        let body = json!({ "jsonrpc": "2.0", "id": 5, "method": method, "params": params });
        let with_session = session.send(&body.to_string()).json();
        // Only stateless calls come back with a state.
        if params.get("requestState").is_none() {
            assert_eq!(
                with_session["error"]["code"], code,
                "{body}: {with_session}"
            );
        }
        assert_eq!(with_session["id"], 5, "{with_session}");
        let message = stateless(6, method, params, &[]);
        let without = Wire::to(served.address).send(message).reply().json();
        // The headers repeat the name, and what has none cannot be repeated.
        let codes = [json!(code), json!(-32020)];
        assert!(
            codes.contains(&without["error"]["code"]),
            "{body}: {without}"
        );
        assert_eq!(without["id"], 6, "{without}");
    }
    still_serves(&served);
}

#[test]
fn what_belongs_to_the_other_era_is_unknown() {
    let served = Served::new();
    let session = Session::begin(served.address);
    for method in ["ping", "logging/setLevel", "resources/subscribe"] {
        let reply = Wire::to(served.address)
            .send(stateless(1, method, json!({}), &[]))
            .reply();
        assert_eq!(reply.status, 404, "{method}: {reply:?}");
        assert_eq!(reply.json()["error"]["code"], -32601, "{method}");
    }
    let reply = session.send(
        r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{}}}"#,
    );
    assert_eq!(reply.json()["error"]["code"], -32601);
    let reply = session.send(
        r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"a://b"}}"#,
    );
    assert!(reply.json()["error"]["code"].is_i64(), "{reply:?}");
}

#[test]
fn the_way_into_a_session_is_told() {
    let served = Served::new();
    let reply = Wire::to(served.address)
        .send(post(
            r#"{"jsonrpc":"2.0","id":4,"method":"tools/list"}"#,
            &[],
        ))
        .reply();
    assert_eq!((reply.status, &reply.json()["id"]), (400, &json!(4)));
    assert!(reply.body.contains("`initialize`"), "{reply:?}");

    let broken = r#"{"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":5}}"#;
    let reply = Wire::to(served.address).send(post(broken, &[])).reply();
    assert_eq!((reply.status, reply.refusal()), (400, -32602), "{reply:?}");

    let session = Session::begin(served.address);
    let ended = session.end();
    assert_eq!(ended.status, 204);
    assert_eq!(ended.header("content-length"), None);
    let gone = session.send(r#"{"jsonrpc":"2.0","id":4,"method":"tools/list"}"#);
    assert_eq!((gone.status, gone.refusal()), (404, -32001));
    assert_eq!(session.end().status, 404);
    assert_eq!(session.listen().reply().status, 404);
    let nowhere = ask(
        served.address,
        "GET",
        "/mcp",
        &[("Accept", "text/event-stream")],
    );
    assert_eq!(nowhere.status, 400);
    nowhere.refusal();

    let text = [
        ("Content-Type", "text/plain"),
        ("Accept", "application/json, text/event-stream"),
    ];
    let reply = Wire::to(served.address)
        .send(crate::wire::request("POST", "/mcp", &text, &initialize()))
        .reply();
    assert_eq!(reply.status, 415);
    reply.refusal();
    let json_only = [
        ("Content-Type", "application/json"),
        ("Accept", "application/json"),
    ];
    let reply = Wire::to(served.address)
        .send(crate::wire::request(
            "POST",
            "/mcp",
            &json_only,
            &initialize(),
        ))
        .reply();
    assert_eq!(reply.status, 406);
    assert!(
        reply
            .body
            .contains("Accept: application/json, text/event-stream")
    );
}

#[test]
fn a_stateless_call_needs_no_session_and_heeds_none() {
    let served = Served::new();
    let headers = [("Mcp-Session-Id", "nothing")];
    let message = stateless(
        1,
        "tools/call",
        json!({ "name": "echo", "arguments": { "b": 2 } }),
        &headers,
    );
    let reply = Wire::to(served.address).send(message).reply();
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!(reply.header("mcp-session-id"), None);
    assert_eq!(
        reply.json()["result"]["structuredContent"],
        json!({ "b": 2 })
    );
}

#[test]
fn fifty_calls_at_once_get_each_its_own_answer() {
    let served = Served::new();
    let session = Session::begin(served.address);
    let mut wires: Vec<Wire> = (0..50)
        .map(|number| {
            let mut wire = Wire::to(served.address);
            wire.send(session.call(number, "echo", &json!({ "number": number })));
            wire
        })
        .collect();
    for (number, wire) in wires.iter_mut().enumerate() {
        let reply = wire.reply().json();
        assert_eq!(reply["id"], number);
        assert_eq!(reply["result"]["structuredContent"]["number"], number);
    }

    // The same over one connection, without waiting for answers in between.
    let mut wire = Wire::to(served.address);
    let all: String = (0..50)
        .map(|number| call(number, "echo", &json!({ "number": number })))
        .collect();
    wire.send(all);
    for number in 0..50 {
        let reply = wire.reply().json();
        assert_eq!(reply["id"], number);
        assert_eq!(reply["result"]["structuredContent"]["number"], number);
    }
}

#[test]
fn a_stateless_call_is_cancelled_when_its_client_goes() {
    let served = Served::new();
    let door = Door::new();
    let mut wire = Wire::to(served.address);
    wire.send(call(1, "wait", &json!({ "door": door.port() })));
    let waits = door.next();
    wire.hang_up();
    waits.sees_client_gone();
    still_serves(&served);
}

#[test]
fn a_call_in_a_session_is_cancelled_when_the_client_says_so() {
    let served = Served::new();
    let session = Session::begin(served.address);
    let door = Door::new();
    let mut wire = Wire::to(served.address);
    wire.send(session.call(1, "wait", &json!({ "door": door.port() })));
    let waits = door.next();
    session
        .send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    waits.sees_client_gone();

    still_serves(&served);
}

#[test]
fn a_notification_needs_no_header_that_repeats_it() {
    let served = Served::new();
    let body = json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": { "requestId": 1 },
    });
    let sent = |headers: &[(&str, &str)]| {
        let mut all = vec![("MCP-Protocol-Version", STATELESS)];
        all.extend_from_slice(headers);
        Wire::to(served.address)
            .send(post(&body.to_string(), &all))
            .reply()
    };
    assert_eq!(sent(&[]).status, 202);
    assert_eq!(
        sent(&[("Mcp-Method", "notifications/cancelled")]).status,
        202
    );
    // One that says something else is wrong all the same.
    let reply = sent(&[("Mcp-Method", "tools/list")]);
    assert_eq!((reply.status, reply.refusal()), (400, -32020));
    // Calls need it.
    let listed = stateless(1, "tools/list", json!({}), &[]).replace("Mcp-Method", "X-Method");
    let reply = Wire::to(served.address).send(listed).reply();
    assert_eq!((reply.status, reply.refusal()), (400, -32020));
}

#[test]
fn a_client_that_lost_its_connection_gets_its_answer_all_the_same() {
    let served = Served::new();
    let session = Session::begin(served.address);
    let door = Door::new();
    let mut wire = Wire::to(served.address);
    wire.send(session.call(1, "wait", &json!({ "door": door.port() })));
    assert_eq!(wire.head().status, 200);
    let primed = wire.chunk().unwrap();
    let last = primed
        .lines()
        .find_map(|line| line.strip_prefix("id:"))
        .unwrap()
        .trim()
        .to_owned();
    let waits = door.next();
    wire.hang_up();

    let mut again = Wire::to(served.address);
    again.send(crate::wire::request(
        "GET",
        "/mcp",
        &[
            ("Accept", "text/event-stream"),
            ("Mcp-Session-Id", &session.id),
            ("Last-Event-ID", &last),
        ],
        "",
    ));
    assert_eq!(again.head().status, 200);
    waits.let_through();
    let answer = again.event();
    assert_eq!(answer["id"], 1);
    assert_eq!(answer["result"]["structuredContent"]["how"], "let through");
}

#[test]
fn a_question_is_asked_in_the_stream_of_the_call() {
    let served = Served::new();
    let session = Session::begin(served.address);
    let mut wire = Wire::to(served.address);
    wire.send(session.call(1, "ask", &json!({})));
    assert_eq!(wire.head().status, 200);
    let question = wire.event();
    assert_eq!(question["method"], "elicitation/create");
    let answer = json!({
        "jsonrpc": "2.0",
        "id": question["id"],
        "result": { "action": "accept", "content": { "name": "Ada" } },
    });
    assert_eq!(session.send(&answer.to_string()).status, 202);
    let result = wire.event();
    assert_eq!(
        result["result"]["structuredContent"],
        json!({ "name": "Ada" })
    );
}

#[test]
fn a_panic_in_a_tool_is_an_error_of_that_call_only() {
    let served = Served::new();
    let session = Session::begin(served.address);
    let reply = Wire::to(served.address)
        .send(call(1, "panic", &json!({})))
        .reply();
    assert_eq!(reply.json()["error"]["code"], -32603, "{reply:?}");
    assert_eq!(reply.json()["result"], Value::Null);
    let body = session.call(2, "panic", &json!({}));
    let reply = Wire::to(served.address).send(body).reply();
    assert_eq!(reply.json()["error"]["code"], -32603, "{reply:?}");
    still_serves(&served);
    assert_eq!(
        session
            .send(r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#)
            .status,
        200
    );
}

/// From 2025-11-25 on a stream begins with an event that has no data, by which a client may resume it. Older clients take
/// each event for a message.
#[test]
fn an_event_without_data_goes_only_to_clients_that_know_it() {
    let served = Served::new();
    for (version, primed) in [
        ("2025-03-26", false),
        ("2025-06-18", false),
        ("2025-11-25", true),
    ] {
        let (session, begun) = Session::of_version(served.address, None, version);
        let called = Wire::to(served.address)
            .send(session.call(1, "echo", &json!({ "a": 1 })))
            .reply();
        for reply in [begun, called] {
            let has_empty = reply
                .body
                .lines()
                .filter_map(|line| line.strip_prefix("data:"))
                .any(|data| data.trim().is_empty());
            assert_eq!(has_empty, primed, "{version}: {reply:?}");
            assert!(reply.json()["result"].is_object(), "{version}: {reply:?}");
        }
        let mut listening = session.listen();
        assert_eq!(listening.head().status, 200);
        if primed {
            let first = listening.chunk().unwrap();
            assert!(first.starts_with("data: \n"), "{first}");
        }
        session.end();
        // The stream ends with nothing in it for an older client.
        assert_eq!(listening.chunk(), None, "{version}");
    }
}
