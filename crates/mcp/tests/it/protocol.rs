//! Both eras of the protocol, and what does not belong to either. What is a message is shown beside the reader of messages.

use serde_json::{Value, json};

use crate::served::{Served, wait};
use crate::wire::{
    Headers, STATELESS, Session, begin, call, events, initialize, post, request, send, stateless,
};

/// A server and a session in it.
fn stage() -> (Served, Session) {
    let served = Served::new();
    let session = Session::begin(served.address);
    (served, session)
}

/// What still has to work after anything else.
fn still_serves(served: &Served) {
    let echoed = send(served.address, call(1, "echo", &json!({ "a": 1 })));
    assert_eq!(echoed.result(), json!({ "a": 1 }));
}

#[test]
fn what_is_no_message_gets_an_error() {
    let (served, session) = stage();
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{deep}}}"#);
    for (body, code) in [
        ("garbage", -32700),
        ("{}", -32600),
        (&deep, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
    ] {
        let shown = &body[..body.len().min(60)];
        let stateless = post(body, &[("MCP-Protocol-Version", STATELESS)]);
        for reply in [session.send(body), send(served.address, stateless)] {
            let (status, _, told) = reply.refusal();
            assert_eq!((status, told), (400, code), "{shown}");
        }
    }
    still_serves(&served);
    let pong = session.ask("ping", &json!({})).json();
    assert_eq!(pong, json!({ "jsonrpc": "2.0", "id": 4, "result": {} }));
}

#[test]
fn what_is_no_known_call_gets_an_error() {
    let (served, session) = stage();
    for (method, params, code) in [
        ("nothing/known", json!({}), -32601),
        ("", json!({}), -32601),
        ("tools/call", json!({ "name": "nothing" }), -32602),
        ("tools/call", json!({ "name": 7 }), -32602),
        ("tools/call", json!({}), -32602),
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
    ] {
        let told = session.ask(method, &params).json();
        assert_eq!(
            (&told["id"], &told["error"]["code"]),
            (&json!(4), &json!(code))
        );
        let told = send(served.address, stateless(6, method, params, &[])).json();
        // The headers repeat the name, and what has none cannot be repeated.
        let known = [code, -32020].map(|code| json!(code));
        assert!(
            told["id"] == 6 && known.contains(&told["error"]["code"]),
            "{method}: {told}"
        );
    }
    let forged = json!({ "name": "echo", "arguments": {}, "requestState": "forged" });
    let refused = send(served.address, stateless(6, "tools/call", forged, &[]));
    assert_eq!(refused.json()["error"]["code"], -32602);
    still_serves(&served);
}

#[test]
fn what_belongs_to_the_other_era_is_unknown() {
    let (served, session) = stage();
    for method in ["ping", "logging/setLevel", "resources/subscribe"] {
        let reply = send(served.address, stateless(1, method, json!({}), &[]));
        assert_eq!(reply.refusal(), (404, json!(1), -32601), "{method}");
    }
    let reply = session.ask("subscriptions/listen", &json!({ "notifications": {} }));
    assert_eq!(reply.json()["error"]["code"], -32601);
    let reply = session.ask("resources/subscribe", &json!({ "uri": "a://b" }));
    assert!(reply.json()["error"]["code"].is_i64(), "{reply:?}");
}

#[test]
fn the_way_into_a_session_is_told() {
    let (served, session) = stage();
    let list = r#"{"jsonrpc":"2.0","id":4,"method":"tools/list"}"#;
    let broken = r#"{"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":5}}"#;
    for (body, code) in [(list, -32000), (broken, -32602)] {
        let refused = send(served.address, post(body, &[])).refusal();
        assert_eq!(refused, (400, json!(4), code), "{body}");
    }
    let ended = session.end();
    assert_eq!((ended.status, ended.header("content-length")), (204, None));
    let gone = (404, json!(4), -32001);
    assert_eq!(session.send(list).refusal(), gone);
    assert_eq!(session.end().status, 404);
    assert_eq!(session.listen(&[]).reply().status, 404);

    let (json, events) = ("application/json", "text/event-stream");
    let both = &*format!("{json}, {events}");
    for (method, kind, accept, status) in [
        ("GET", json, events, 400),
        ("POST", "text/plain", both, 415),
        ("POST", json, json, 406),
    ] {
        let headers = [("Content-Type", kind), ("Accept", accept)];
        let body = if method == "GET" { "" } else { &*initialize() };
        let refused = send(served.address, request(method, "/mcp", &headers, body));
        assert_eq!(refused.refusal().0, status, "{method} {kind} {accept}");
    }
}

#[test]
fn a_stateless_call_needs_no_session_and_heeds_none() {
    let served = Served::new();
    let params = json!({ "name": "echo", "arguments": { "b": 2 } });
    let headers = [("Mcp-Session-Id", "nothing")];
    let reply = send(served.address, stateless(1, "tools/call", params, &headers));
    assert_eq!((reply.status, reply.result()), (200, json!({ "b": 2 })));
    let headers = ["content-type", "mcp-session-id"].map(|name| reply.header(name));
    assert_eq!(headers, [Some("application/json"), None]);
}

#[test]
fn fifty_calls_at_once_get_each_its_own_answer() {
    let (served, session) = stage();
    let mut wires: Vec<_> = (0..50)
        .map(|id| {
            begin(
                served.address,
                session.call(id, "echo", &json!({ "n": id })),
            )
        })
        .collect();
    // The same over one connection, without waiting for answers in between.
    let all = (0..50).map(|id| call(id, "echo", &json!({ "n": id })));
    let mut wire = begin(served.address, all.collect::<String>());
    for (id, own) in wires.iter_mut().enumerate() {
        for reply in [own.reply(), wire.reply()] {
            let told = (reply.json()["id"].clone(), reply.result());
            assert_eq!(told, (json!(id), json!({ "n": id })));
        }
    }
}

#[test]
fn a_call_is_cancelled_when_its_client_goes_or_says_so() {
    let (served, session) = stage();
    let (wire, waits) = wait(served.address, |door| call(1, "wait", door));
    wire.hang_up();
    waits.sees_client_gone();
    let (_wire, waits) = wait(served.address, |door| session.call(1, "wait", door));
    session.note("cancelled", &json!({ "requestId": 1 }));
    waits.sees_client_gone();
    still_serves(&served);
}

#[test]
fn a_notification_needs_no_header_that_repeats_it() {
    let served = Served::new();
    let body = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let sent = |headers: &Headers<'_>| {
        let headers = [&[("MCP-Protocol-Version", STATELESS)], headers].concat();
        send(served.address, post(body, &headers))
    };
    assert_eq!(sent(&[]).status, 202);
    let repeated = [("Mcp-Method", "notifications/cancelled")];
    assert_eq!(sent(&repeated).status, 202);
    // One that says something else is wrong all the same, and calls need it.
    let listed = stateless(1, "tools/list", json!({}), &[]).replace("Mcp-Method", "X-Method");
    for reply in [
        sent(&[("Mcp-Method", "tools/list")]),
        send(served.address, listed),
    ] {
        let (status, _, code) = reply.refusal();
        assert_eq!((status, code), (400, -32020));
    }
}

#[test]
fn a_client_that_lost_its_connection_gets_its_answer_all_the_same() {
    let (served, session) = stage();
    let (wire, waits) = wait(served.address, |door| session.call(1, "wait", door));
    let mut wire = wire.streams();
    let primed = wire.chunk().unwrap();
    let mut lines = primed.lines();
    let last = lines.find_map(|line| line.strip_prefix("id:")).unwrap();
    wire.hang_up();
    let mut again = session.listen(&[("Last-Event-ID", last.trim())]).streams();
    waits.let_through();
    let answer = again.event();
    let text = &answer["result"]["structuredContent"]["text"];
    assert_eq!((&answer["id"], text), (&json!(1), &json!("let through")));
}

#[test]
fn a_question_is_asked_in_the_stream_of_the_call() {
    let (served, session) = stage();
    let mut wire = begin(served.address, session.call(1, "ask", &json!({}))).streams();
    let question = wire.event();
    assert_eq!(question["method"], "elicitation/create");
    let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer });
    assert_eq!(session.send(&answer.to_string()).status, 202);
    let result = wire.event();
    assert_eq!(result["result"]["structuredContent"]["text"], "Ada");
}

#[test]
fn a_panic_in_a_tool_is_an_error_of_that_call_only() {
    let (served, session) = stage();
    let none = json!({});
    for message in [call(1, "panic", &none), session.call(2, "panic", &none)] {
        let told = send(served.address, message).json();
        let both = (&told["error"]["code"], &told["result"]);
        assert_eq!(both, (&json!(-32603), &Value::Null));
    }
    still_serves(&served);
    assert_eq!(session.ask("ping", &none).status, 200);
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
        let (session, begun) = Session::with(served.address, version, &[]);
        let called = send(served.address, session.call(1, "echo", &json!({})));
        for reply in [begun, called] {
            let has_empty = events(&reply.body).any(str::is_empty);
            assert_eq!(has_empty, primed, "{version}: {reply:?}");
            assert!(reply.json()["result"].is_object(), "{version}: {reply:?}");
        }
        let mut listening = session.listen(&[]).streams();
        if primed {
            let first = listening.chunk().unwrap();
            assert!(first.starts_with("data: \n"), "{first}");
        }
        session.end();
        // The stream ends with nothing in it for an older client.
        assert_eq!(listening.chunk(), None, "{version}");
    }
}
