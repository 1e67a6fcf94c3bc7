//! What stands for numbers: reports and runs of the tests, over MCP.

use std::fs::File;

use serde_json::{Value, json};

use super::stage::{Stage, answer, ask, refused};

const RUNNER: &str = r#"echo "TAP version 13"
echo "ok 1 - old"
if ! test -f tests/words_test.sh; then echo 1..1; exit; fi
if test -f src/words.sh; then echo "ok 2 - words"; else echo "not ok 2 - words"; fi
echo 1..2
"#;

/// A project whose tests are run by this script.
fn stage(runner: &str) -> Stage {
    let stage = Stage::new();
    stage.write("run.sh", runner);
    stage.commit_all("Tests");
    stage
}

#[test]
fn a_report_and_a_run_stand_for_numbers() {
    let stage = stage(RUNNER);
    let mut server = stage.session();
    let arguments = json!({ "taskId": "1", "verify": true });
    let started = server.tool("autopilot_start", &arguments);
    assert_eq!(started["nextAction"]["action"], "red", "{started}");
    for (wrong, code) in [
        (json!({ "results": "failed:1", "report": "a" }), "usage"),
        (json!({ "results": "failed:1", "verify": true }), "usage"),
        (json!({ "report": "README", "format": "xml" }), "usage"),
    ] {
        let fault = refused(&mut server, "autopilot_complete_phase", &wrong);
        assert_eq!(fault["code"], code, "{wrong}");
    }
    // Numbers by another name, and a phase in other letters, are understood; nothing is there yet.
    let total = json!({ "total": 1, "passed": 0, "failed": 1, "skipped": 0 });
    let arguments = json!({ "phase": "RED", "testResults": total });
    let early = server.tool("autopilot_complete_phase", &arguments);
    assert_eq!(early["code"], "red_without_tests", "{early}");
    stage.write("tests/words_test.sh", "test -f src/words.sh\n");
    let report = "TAP version 13\n1..2\nok 1 - old\nnot ok 2 - words\n";
    stage.write("out.tap", report);
    let arguments = json!({ "phase": "red", "report": "out.tap", "format": "tap" });
    let red = server.tool("autopilot_complete_phase", &arguments);
    assert_eq!(red["validated"], true, "{red}");
    stage.write("src/words.sh", "true\n");
    let unit = server.tool("autopilot_next_work_unit", &json!({}))["id"].take();
    let arguments = json!({
        "workUnitId": unit,
        "verify": true,
        "result": { "success": true, "phase": "GREEN", "testsFailed": 5 },
    });
    let green = server.tool("autopilot_complete_work_unit", &arguments);
    assert_eq!(green["validated"], true, "{green}");
    let journal = stage.journal();
    for level in ["\"level\":\"reported\"", "\"level\":\"verified\""] {
        assert!(journal.contains(level), "{level}: {journal}");
    }
}

#[test]
fn other_calls_are_answered_while_the_tests_run() {
    let stage = stage("");
    let gate = stage.folder().join("gate");
    let at = gate.display();
    let suite = format!(
        "[ ! -p {at} ] || {{ read line <{at}; rm {at}; }}\necho ok 1 - other\n[ -f tests/words_test.sh ] && echo not ok 2 - words && echo 1..2 || echo 1..1\n"
    );
    stage.write("run.sh", suite);
    stage.commit_all("A gate");
    let made = stage.process("mkfifo").arg(&gate).status().unwrap();
    assert!(made.success());
    stage.tm(0, &["autopilot", "start", "1"]);
    stage.write("tests/words_test.sh", "false\n");
    let mut server = stage.session();
    let arguments = json!({ "verify": true, "format": "tap" });
    let verified = ask(&mut server, "autopilot_complete_phase", &arguments);
    // The tests are under way as soon as somebody reads the gate.
    let open = File::options().write(true).open(&gate).unwrap();
    let status = server.tool("autopilot_status", &json!({}));
    assert_eq!(status["currentPhase"], "red", "{status}");
    let reason = json!({ "reason": "nobody waits for the tests" });
    let paused = server.tool("autopilot_pause", &reason);
    assert_eq!(paused["nextAction"]["action"], "paused", "{paused}");
    server.tool("autopilot_resume", &json!({}));
    drop(open);
    assert_eq!(answer(&mut server, verified)["validated"], true);
}

#[test]
fn a_suite_tells_that_it_runs_where_somebody_wants_to_know() {
    let stage = stage(RUNNER);
    stage.tm(0, &["autopilot", "start", "1"]);
    stage.write("tests/words_test.sh", "test -f src/words.sh\n");
    let mut server = stage.session();
    let call = json!({
        "name": "autopilot_complete_phase",
        "arguments": { "phase": "red", "verify": true },
        "_meta": { "progressToken": "suite" },
    });
    let id = server.ask("tools/call", &call);
    let mut told: Vec<Value> = Vec::new();
    loop {
        let mut message = server.hear();
        if message["id"] == id {
            break;
        }
        assert_eq!(message["method"], "notifications/progress", "{message}");
        told.push(message["params"].take());
    }
    let of_suite = |one: &Value| one["progressToken"] == "suite";
    assert!(!told.is_empty() && told.iter().all(of_suite), "{told:?}");
    let progress = |one: &Value| one["progress"].as_f64().unwrap();
    assert!(
        told.is_sorted_by(|one, next| progress(one) < progress(next)),
        "each is more than the one before (Model Context Protocol, \"Progress\"): {told:?}"
    );
}
