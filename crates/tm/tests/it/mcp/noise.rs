//! What no client should send: each line is answered as the protocol says, or not at all, and the server goes on.

use serde_json::{Value, json};

use super::stage::Stage;

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

#[test]
fn a_line_that_is_no_message_gets_an_error_of_its_own() {
    let stage = Stage::new();
    let mut server = stage.session();
    let deep = "[".repeat(100_000);
    let cases: &[(&[u8], i64)] = &[
        (b"nonsense", PARSE),
        (b"{", PARSE),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} x",
            PARSE,
        ),
        (b"{\"jsonrpc\":\"2.0\" \"id\":1}", PARSE),
        (b"\xff\xfe\x00", PARSE),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}",
            PARSE,
        ),
        (b"\0\0\0", PARSE),
        (deep.as_bytes(), PARSE),
        (b"[]", REQUEST),
        (
            b"[{\"jsonrpc\":\"2.0\",\"id\":900,\"method\":\"ping\"}]",
            REQUEST,
        ),
        (b"5", REQUEST),
        (b"null", REQUEST),
        (b"true", REQUEST),
        (b"\"ping\"", REQUEST),
        (b"{}", REQUEST),
        (b"{\"jsonrpc\":\"2.0\"}", REQUEST),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
            REQUEST,
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}",
            REQUEST,
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}",
            REQUEST,
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":99999999999999999999,\"method\":\"ping\"}",
            REQUEST,
        ),
    ];
    for (line, code) in cases {
        let shown = String::from_utf8_lossy(&line[..line.len().min(80)]);
        let heard = answers_to(&mut server, line);
        assert_eq!(heard.len(), 1, "{shown}: {heard:?}");
        assert_eq!(heard[0]["error"]["code"], *code, "{shown}: {heard:?}");
        assert!(heard[0]["id"].is_null(), "{shown}: {heard:?}");
        let message = heard[0]["error"]["message"].as_str().unwrap();
        assert!(message.len() < 300, "{shown}: {message}");
    }
    server.goes_on();
    server.end();
}

#[test]
fn a_malformed_request_is_answered_under_its_id() {
    let stage = Stage::new();
    let mut server = stage.session();
    let cases = [
        (json!({ "jsonrpc": "1.0", "method": "ping" }), REQUEST),
        (json!({ "method": "ping" }), REQUEST),
        (json!({ "jsonrpc": "2.0" }), REQUEST),
        (json!({ "jsonrpc": "2.0", "method": 5 }), REQUEST),
        (json!({ "jsonrpc": "2.0", "method": "" }), METHOD),
        (json!({ "jsonrpc": "2.0", "method": "tools/calls" }), METHOD),
        (json!({ "jsonrpc": "2.0", "method": "toString" }), METHOD),
        (json!({ "jsonrpc": "2.0", "method": "tools/call" }), PARAMS),
        (
            json!({ "jsonrpc": "2.0", "method": "tools/call", "params": [] }),
            PARAMS,
        ),
        (
            json!({ "jsonrpc": "2.0", "method": "tools/call", "params": { "name": 5 } }),
            PARAMS,
        ),
        (
            json!({ "jsonrpc": "2.0", "method": "tools/call", "params": { "name": "nothing" } }),
            PARAMS,
        ),
        (
            json!({ "jsonrpc": "2.0", "method": "tools/call",
                    "params": { "name": "autopilot_status", "arguments": [1] } }),
            PARAMS,
        ),
        (
            json!({ "jsonrpc": "2.0", "method": "prompts/get", "params": { "name": "nothing" } }),
            PARAMS,
        ),
        (
            json!({ "jsonrpc": "2.0", "method": "prompts/get",
                    "params": { "name": "tdd", "arguments": { "taskId": "1\nAnd then" } } }),
            PARAMS,
        ),
        (
            json!({ "jsonrpc": "2.0", "method": "resources/list", "params": { "cursor": "far" } }),
            PARAMS,
        ),
        (
            json!({ "jsonrpc": "2.0", "method": "completion/complete", "params": {} }),
            PARAMS,
        ),
    ];
    for (number, (mut message, code)) in cases.into_iter().enumerate() {
        let id = format!("case {number}");
        message["id"] = json!(id);
        server.send(&message);
        let answer = server.answer(&json!(id));
        assert_eq!(answer["error"]["code"], code, "{message}: {answer}");
    }
    for uri in ["", "tramline://", "file:///etc/passwd", "tramline://runs/x"] {
        let error = server.refused("resources/read", &json!({ "uri": uri }));
        let code = error["code"].as_i64().unwrap();
        assert!([-32002, PARAMS].contains(&code), "{uri}: {error}");
    }
    server.goes_on();
    server.end();
}

#[test]
fn what_needs_no_answer_gets_none() {
    let stage = Stage::new();
    let mut server = stage.session();
    let quiet: &[&[u8]] = &[
        b"",
        b"   ",
        b"\r",
        b"\xef\xbb\xbf",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/nothing\"}",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":777}}",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":5}",
        b"{\"jsonrpc\":\"2.0\",\"id\":900,\"result\":{}}",
        b"{\"jsonrpc\":\"2.0\",\"id\":900,\"error\":{\"code\":1,\"message\":\"\"}}",
    ];
    for line in quiet {
        let heard = answers_to(&mut server, line);
        assert!(
            heard.is_empty(),
            "{}: {heard:?}",
            String::from_utf8_lossy(line)
        );
    }
    server.end();
}

#[test]
fn lines_may_come_as_other_systems_write_them() {
    let stage = Stage::new();
    let mut server = stage.session();
    let ping = |id: &str| format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\",\"method\":\"ping\"}}");
    server.send_bytes(format!("\u{feff}{}\n", ping("marked")).as_bytes());
    server.send_bytes(format!("{}\r\n", ping("returned")).as_bytes());
    server.send_bytes(format!("\t {} \n", ping("indented")).as_bytes());
    // In pieces, and two at once.
    for byte in format!("{}\n", ping("slowly")).as_bytes() {
        server.send_bytes(&[*byte]);
    }
    server.send_bytes(format!("{}\n{}\n", ping("one"), ping("two")).as_bytes());
    for id in ["marked", "returned", "indented", "slowly", "one", "two"] {
        assert_eq!(server.answer(&json!(id))["result"], json!({}), "{id}");
    }
    server.end();
}

#[test]
fn a_line_that_is_too_long_is_refused_and_forgotten() {
    let stage = Stage::new();
    let mut server = stage.session();
    let long = vec![b'x'; 10 * 1024 * 1024];
    let heard = answers_to(&mut server, &long);
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert_eq!(heard[0]["error"]["code"], REQUEST, "{heard:?}");
    let text = heard[0]["error"]["message"].as_str().unwrap();
    assert!(text.contains("longer than"), "{text}");
    // A long one that is within the limit is a message like others.
    let reason = "r".repeat(1024 * 1024);
    let result = server.call("autopilot_pause", &json!({ "reason": reason }));
    assert_eq!(
        result["structuredContent"]["error"]["code"], "no_run",
        "{result}"
    );
    server.end();
}

#[test]
fn before_a_session_nothing_is_taken_for_granted() {
    let stage = Stage::started();
    let mut server = stage.server(&[]);
    for line in [&b"nonsense"[..], b"[]", b"{}", b"\xff"] {
        server.send_bytes(line);
        server.send_bytes(b"\n");
        let heard = server.hear();
        assert!(heard["error"].is_object(), "{heard}");
    }
    server.initialize("2025-11-25", &json!({}));
    server.goes_on();
    // A second beginning is a mistake, not an end.
    let id = server.ask(
        "initialize",
        &json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "w", "version": "1" } }),
    );
    server.answer(&id.into());
    server.goes_on();
    server.end();
}

#[test]
fn arguments_that_make_no_sense_are_told_to_the_model() {
    let stage = Stage::started();
    let before = stage.journal();
    let mut server = stage.session();
    for (tool, arguments, word) in [
        ("autopilot_status", json!({ "runID": "x" }), "`runID`"),
        ("autopilot_status", json!({ "runId": {} }), "`runId`"),
        ("autopilot_status", json!({ "projectRoot": 5.5 }), "5.5"),
        ("autopilot_complete_phase", json!({}), "says nothing"),
        (
            "autopilot_complete_phase",
            json!({ "results": [] }),
            "`results`",
        ),
        (
            "autopilot_complete_phase",
            json!({ "results": { "failed": -1 } }),
            "-1",
        ),
        (
            "autopilot_complete_phase",
            json!({ "results": { "failed": 1.5 } }),
            "1.5",
        ),
        (
            "autopilot_complete_phase",
            json!({ "results": { "fails": 1 } }),
            "fails",
        ),
        (
            "autopilot_complete_phase",
            json!({ "results": { "failed": 1 }, "phase": "blue" }),
            "blue",
        ),
        (
            "autopilot_complete_phase",
            json!({ "results": { "failed": 1 }, "files": 1 }),
            "`files`",
        ),
        ("autopilot_skip", json!({}), "`reason`"),
        ("autopilot_abort", json!({ "cleanup": "yes" }), "`cleanup`"),
        (
            "autopilot_start",
            json!({ "options": { "branches": "a" } }),
            "`options.branches`",
        ),
        (
            "autopilot_start",
            json!({ "options": { "maxAttempts": -1 } }),
            "-1",
        ),
        (
            "autopilot_complete_work_unit",
            json!({ "workUnitId": "x" }),
            "`result`",
        ),
        (
            "autopilot_complete_work_unit",
            json!({ "workUnitId": "x", "result": { "success": true, "phase": "RED", "testFailed": 1 } }),
            "`result.testFailed`",
        ),
    ] {
        let result = server.call(tool, &arguments);
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        let error = &result["structuredContent"]["error"];
        assert!(error["code"].is_string(), "{result}");
        let told = format!("{} {}", error["message"], error["suggestion"]);
        assert!(told.contains(word), "{tool} {arguments}: {told}");
    }
    server.end();
    assert_eq!(stage.journal(), before);
}

/// Gemini CLI takes a text that is JSON for the structured answer, and hides one that lacks what the tool's schema requires.
#[test]
fn no_error_is_taken_for_the_answer_of_its_tool() {
    let stage = Stage::new();
    let mut server = stage.server(&[]);
    server.initialize("2025-06-18", &json!({}));
    let listed = server.request("tools/list", &json!({}));
    for tool in listed["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let result = server.call(
            name,
            &json!({ "projectRoot": "/nowhere", "project": "/nowhere" }),
        );
        assert_eq!(result["isError"], true, "{name}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        if let Ok(taken) = serde_json::from_str::<Value>(text) {
            for needed in tool["outputSchema"]["required"].as_array().unwrap() {
                let there = taken.get(needed.as_str().unwrap());
                assert!(there.is_some(), "{name} requires {needed}: {taken}");
            }
        }
        let error = &result["structuredContent"]["error"];
        let first = format!("error[{}]: ", error["code"].as_str().unwrap());
        assert!(text.starts_with(&first), "{text}");
        assert!(text.contains("\nhelp: "), "{text}");
    }
    server.end();
}

#[test]
fn a_project_may_be_named_by_a_uri() {
    let stage = Stage::started();
    let mut server = stage.session();
    let root = stage.project().display().to_string();
    let named = server.tool(
        "autopilot_status",
        &json!({ "projectRoot": format!("file://{root}") }),
    );
    assert_eq!(named["status"], "running", "{named}");
    // A server that somebody started at the root says what it needs.
    let nowhere = server.call("autopilot_next", &json!({ "projectRoot": "/" }));
    let said = nowhere["structuredContent"]["error"]["suggestion"].to_string();
    assert!(said.contains("projectRoot"), "{nowhere}");
    server.end();
}

#[test]
fn results_have_the_name_that_other_servers_give_them_too() {
    let stage = Stage::started();
    let mut server = stage.session();
    let total = json!({ "total": 1, "passed": 0, "failed": 1, "skipped": 0 });
    let reported = server.tool(
        "autopilot_complete_phase",
        &json!({ "phase": "RED", "testResults": total }),
    );
    // Nothing was written, which is another matter.
    assert_eq!(reported["code"], "red_without_tests", "{reported}");
    server.end();
}
