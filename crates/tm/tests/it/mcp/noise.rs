//! What no client should send: each line is answered as the protocol says, or not at all, and the server goes on.

use serde_json::{Value, json};

use super::stage::{Stage, refused};

const PARSE: i64 = -32700;
const REQUEST: i64 = -32600;
const METHOD: i64 = -32601;
const PARAMS: i64 = -32602;

/// Sends a line, and then a request: what comes before its answer is the answer to the line.
fn answers_to(server: &mut testkit::Server, line: &[u8]) -> Vec<Value> {
    server.send_bytes(line);
    server.send_bytes(b"\n");
    let id = server.ask("ping", &json!({}));
    let mut heard = Vec::new();
    loop {
        let one = server.hear();
        if one["id"] == id {
            assert_eq!(one["result"], json!({}));
            return heard;
        }
        heard.push(one);
    }
}

/// A request of which the id is written so.
fn ping(id: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}")
}

#[test]
fn a_line_that_is_no_message_gets_an_error_of_its_own_or_none() {
    let stage = Stage::new();
    let mut server = stage.server(&[]);
    // Before a session nothing is taken for granted.
    server.send_bytes(b"nonsense\n");
    assert_eq!(server.hear()["error"]["code"], PARSE);
    for _ in 0..2 {
        // A second beginning is a mistake, not an end.
        let about = json!({ "name": "w", "version": "1" });
        let begin =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about });
        let id = server.ask("initialize", &begin);
        server.answer(&id.into());
    }
    server.tell("notifications/initialized", &json!({}));
    let deep = "[".repeat(100_000);
    let long = "x".repeat(10 * 1024 * 1024);
    let (more, batch) = (ping("1") + " x", format!("[{}]", ping("900")));
    let (of_null, of_object) = (ping("null"), ping("{}"));
    let taken_back = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":5}"#;
    let answer = r#"{"jsonrpc":"2.0","id":900,"result":{}}"#;
    for (line, code) in [
        (&b"nonsense"[..], Some(PARSE)),
        (more.as_bytes(), Some(PARSE)),
        (b"\0\0\0", Some(PARSE)),
        (deep.as_bytes(), Some(PARSE)),
        (b"\xff\xfe\x00", Some(PARSE)),
        (b"{\"id\":\"\xff\"}", Some(PARSE)),
        (batch.as_bytes(), Some(REQUEST)),
        (b"5", Some(REQUEST)),
        (b"{}", Some(REQUEST)),
        (of_null.as_bytes(), Some(REQUEST)),
        (of_object.as_bytes(), Some(REQUEST)),
        (long.as_bytes(), Some(REQUEST)),
        (b"", None),
        (b" \r", None),
        (b"\xef\xbb\xbf", None),
        (
            b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}",
            None,
        ),
        (taken_back.as_bytes(), None),
        (answer.as_bytes(), None),
    ] {
        let shown = String::from_utf8_lossy(&line[..line.len().min(80)]);
        let heard = answers_to(&mut server, line);
        let told = heard.iter().map(|one| (&one["error"]["code"], &one["id"]));
        let code = code.map(Value::from);
        let expected = code.iter().map(|code| (code, &Value::Null));
        assert!(told.eq(expected), "{shown}: {heard:?}");
        assert!(json!(heard).to_string().len() < 500, "{shown}");
    }
    // A long one that is within the limit is a message like others.
    let reason = json!({ "reason": "r".repeat(1024 * 1024) });
    let fault = refused(&mut server, "autopilot_pause", &reason);
    assert_eq!(fault["code"], "too_large");
}

/// What else makes no request is shown in `crates/mcp/tests/it/protocol.rs`.
#[test]
fn a_malformed_request_is_answered_under_its_id() {
    let stage = Stage::new();
    let mut server = stage.session();
    let mut asked = |mut message: Value| {
        message["id"] = json!("odd");
        server.send(&message);
        server.answer(&json!("odd"))["error"]["code"].take()
    };
    for message in [
        json!({ "jsonrpc": "1.0", "method": "ping" }),
        json!({ "method": "ping" }),
        json!({ "jsonrpc": "2.0" }),
    ] {
        assert_eq!(asked(message.clone()), REQUEST, "{message}");
    }
    let two_lines = json!({ "name": "tdd", "arguments": { "taskId": "1\nAnd then" } });
    for (method, params, code) in [
        (json!(5), json!({}), REQUEST),
        (json!("toString"), json!({}), METHOD),
        (json!("tools/call"), json!({ "name": "nothing" }), PARAMS),
        (json!("prompts/get"), two_lines, PARAMS),
    ] {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        assert_eq!(asked(message), code, "{method} {params}");
    }
    for uri in ["", "tramline://", "file:///etc/passwd", "tramline://runs/x"] {
        let error = server.refused("resources/read", &json!({ "uri": uri }));
        let code = error["code"].as_i64().unwrap();
        assert!([-32002, PARAMS].contains(&code), "{uri}: {error}");
    }
    server.goes_on();
}

#[test]
fn lines_may_come_as_other_systems_write_them() {
    let stage = Stage::new();
    let mut server = stage.session();
    // With a mark, returned, indented, and two at once.
    let [mark, returned, indented, one, two] = ["1", "2", "3", "4", "5"].map(ping);
    let lines = format!("\u{feff}{mark}\n{returned}\r\n\t {indented} \n{one}\n{two}\n");
    server.send_bytes(lines.as_bytes());
    // In pieces.
    for byte in format!("{}\n", ping("6")).as_bytes() {
        server.send_bytes(&[*byte]);
    }
    for id in 1..=6 {
        assert_eq!(server.answer(&json!(id))["result"], json!({}), "{id}");
    }
}

/// Gemini CLI takes a text that is JSON for the structured answer, and hides one that lacks what the tool's schema requires:
/// each error has to be prose, which whoever reads it here checks.
#[test]
fn no_error_is_taken_for_the_answer_of_its_tool() {
    let stage = Stage::new();
    let mut server = stage.server(&[]);
    server.initialize("2025-06-18", &json!({}));
    let listed = server.request("tools/list", &json!({}));
    let nowhere = json!({ "projectRoot": "/nowhere", "project": "/nowhere" });
    for tool in listed["tools"].as_array().unwrap() {
        let error = refused(&mut server, tool["name"].as_str().unwrap(), &nowhere);
        for field in ["code", "message", "suggestion"] {
            assert!(error[field].is_string(), "{tool}: {error}");
        }
    }
}
