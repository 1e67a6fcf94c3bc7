//! What stands for numbers: reports and runs of the tests, over MCP.

use serde_json::{Value, json};

use super::stage::Stage;
use testkit::mcp::Server;

const RUNNER: &str = r#"echo "TAP version 13"
echo "1..2"
echo "ok 1 - old"
if test -f src/words.sh; then echo "ok 2 - words"; else echo "not ok 2 - words"; fi
"#;

fn stage() -> Stage {
    let stage = Stage::new();
    stage.write("run.sh", RUNNER);
    stage.git(&["add", "--all"]);
    stage.git(&["commit", "--quiet", "--message", "Tests"]);
    stage
}

fn told(server: &mut Server, tool: &str, arguments: &Value) -> Value {
    server.call(tool, arguments)["structuredContent"].clone()
}

#[test]
fn a_report_and_a_run_stand_for_numbers() {
    let stage = stage();
    let mut server = stage.server(&[]);
    server.initialize("2025-11-25", &json!({}));
    stage.write("../before.tap", "TAP version 13\n1..1\nok 1 - old\n");
    let started = told(
        &mut server,
        "autopilot_start",
        &json!({ "taskId": "1", "baselineReport": "../before.tap" }),
    );
    assert_eq!(started["nextAction"]["action"], "red", "{started}");
    stage.write("tests/words_test.sh", "test -f src/words.sh\n");
    stage.write(
        "out.tap",
        "TAP version 13\n1..2\nok 1 - old\nnot ok 2 - words\n",
    );
    let red = told(
        &mut server,
        "autopilot_complete_phase",
        &json!({ "phase": "red", "report": "out.tap", "format": "tap" }),
    );
    assert_eq!(red["validated"], true, "{red}");
    stage.write("src/words.sh", "true\n");
    let unit = &told(&mut server, "autopilot_next_work_unit", &json!({}))["id"];
    let green = told(
        &mut server,
        "autopilot_complete_work_unit",
        &json!({
            "workUnitId": unit,
            "verify": true,
            "result": { "success": true, "phase": "GREEN", "testsFailed": 5 },
        }),
    );
    assert_eq!(green["validated"], true, "{green}");
    let journal = stage.journal();
    for level in ["\"level\":\"reported\"", "\"level\":\"verified\""] {
        assert!(journal.contains(level), "{level}: {journal}");
    }
    server.end();
}

#[test]
fn a_wrong_call_is_told_in_words_of_tools() {
    let stage = Stage::started();
    let mut server = stage.server(&[]);
    server.initialize("2025-11-25", &json!({}));
    let results = json!({ "failed": 1, "passed": 0 });
    for (arguments, code) in [
        (json!({}), "no_results"),
        (json!({ "results": results, "report": "a" }), "given_twice"),
        (json!({ "results": results, "verify": true }), "given_twice"),
        (
            json!({ "report": "a", "coverage": 9, "coverageReport": "b" }),
            "given_twice",
        ),
        (json!({ "report": ["nowhere.tap"] }), "report_missing"),
        (json!({ "report": "[\"run.sh\", \"b\"]" }), "report_missing"),
        (json!({ "report": "README", "format": "xml" }), "bad_format"),
        (json!({ "report": 5 }), "bad_arguments"),
        (json!({ "report": { "path": "a" } }), "bad_arguments"),
        (json!({ "verify": "yes" }), "bad_arguments"),
    ] {
        let error = &told(&mut server, "autopilot_complete_phase", &arguments)["error"];
        assert_eq!(error["code"], code, "{arguments}: {error}");
        let suggestion = error["suggestion"].as_str().unwrap();
        assert!(!suggestion.contains("--"), "{arguments}: {suggestion}");
    }
    server.end();
}

#[test]
fn other_calls_are_answered_while_the_tests_run() {
    let stage = Stage::new();
    stage.write(
        "run.sh",
        "read line <../gate\necho \"1..1\"\necho \"not ok 1 - words\"\n",
    );
    stage.git(&["add", "--all"]);
    stage.git(&["commit", "--quiet", "--message", "Tests"]);
    let gate = stage.project().join("../gate");
    let made = stage.process("mkfifo").arg(&gate).status().unwrap();
    assert!(made.success());
    stage.tm(0, &["autopilot", "start", "1"]);
    stage.write("tests/words_test.sh", "false\n");
    let mut server = stage.session();
    let verified = server.ask(
        "tools/call",
        &json!({
            "name": "autopilot_complete_phase",
            "arguments": { "verify": true, "format": "tap" },
        }),
    );
    // The tests are under way as soon as somebody reads the gate.
    let open = std::fs::File::options().write(true).open(&gate).unwrap();
    let status = server.tool("autopilot_status", &json!({}));
    assert_eq!(status["currentPhase"], "red", "{status}");
    let paused = server.tool(
        "autopilot_pause",
        &json!({ "reason": "nobody waits for the tests" }),
    );
    assert_eq!(paused["nextAction"]["action"], "paused", "{paused}");
    server.tool("autopilot_resume", &json!({}));
    drop(open);
    let answer = server.answer(&verified.into());
    let told = &answer["result"]["structuredContent"];
    assert_eq!(told["validated"], true, "{answer}");
    server.end();
}

#[test]
fn a_suite_tells_that_it_runs_where_somebody_wants_to_know() {
    let stage = stage();
    stage.tm(0, &["autopilot", "start", "1"]);
    stage.write("tests/words_test.sh", "test -f src/words.sh\n");
    let mut server = stage.session();
    let arguments = json!({ "phase": "red", "verify": true });
    let id = server.ask(
        "tools/call",
        &json!({
            "name": "autopilot_complete_phase",
            "arguments": arguments,
            "_meta": { "progressToken": "suite" },
        }),
    );
    let mut told = Vec::new();
    let answer = loop {
        let message = server.hear();
        if message["id"] == id {
            break message;
        }
        assert_eq!(message["method"], "notifications/progress", "{message}");
        assert_eq!(message["params"]["progressToken"], "suite", "{message}");
        told.push(message["params"].clone());
    };
    assert!(
        answer["result"]["structuredContent"]["validated"].is_boolean(),
        "{answer}"
    );
    let words = |one: &Value| one["message"].as_str().unwrap_or_default().to_owned();
    assert!(
        told.iter().any(|one| words(one).contains("test command")),
        "{told:?}"
    );
    let numbers: Vec<f64> = told
        .iter()
        .map(|one| one["progress"].as_f64().unwrap())
        .collect();
    assert!(
        numbers.windows(2).all(|pair| pair[0] < pair[1]),
        "each is more than the one before (Model Context Protocol, \"Progress\"): {numbers:?}"
    );
    server.end();
}
