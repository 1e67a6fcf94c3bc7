//! What goes wrong is told in the same words to an agent on MCP and to one on the command line.

use serde_json::{Value, json};

use super::stage::Stage;
use testkit::mcp::Server;

/// One call in both forms: tool, arguments and the words of the command, all of the autopilot, and what it comes to: the exit
/// status of the command, and the code. The numbers of the events differ, and where one of them had a turn before the other.
fn compare(stage: &Stage, server: &mut Server, case: &Value) {
    let [tool, command, code] = [0, 2, 4].map(|at| case[at].as_str().unwrap());
    let words: Vec<&str> = command.split(' ').collect();
    let status = i32::try_from(case[3].as_i64().unwrap()).unwrap();
    let by_hand = stage.tm(status, &[&["autopilot"], &words[..]].concat());
    let result = server.call(&format!("autopilot_{tool}"), &case[1]);
    let told = &result["structuredContent"];
    assert_eq!(without_advice(told), without_advice(&by_hand), "{command}");
    let is_fault = by_hand.get("error").is_some();
    assert_eq!(result["isError"] == true, is_fault, "{result}");
    if is_fault {
        assert_eq!(told["error"]["code"], code, "{told}");
    } else {
        assert_eq!(told["validated"], false, "{told}");
        assert_eq!(told["code"], code, "{told}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), *told);
    }
}

/// Where something is advised, it is advised in both forms, but in the words of each: tools here, commands there.
fn without_advice(answer: &Value) -> Value {
    let mut answer = answer.clone();
    let told = match answer.get_mut("error") {
        Some(error) => error,
        None => &mut answer,
    };
    for key in ["suggestion", "recovery"] {
        if let Some(advice) = told.get_mut(key) {
            *advice = json!("advised");
        }
    }
    // The same steps, each as a command or as a tool.
    let named = |told: &mut Value| {
        if let Some(steps) = told.get_mut("nextSteps").and_then(Value::as_array_mut) {
            for step in steps {
                *step = step["step"].take();
            }
        }
    };
    named(told);
    if let Some(next) = answer.get_mut("nextAction") {
        named(next);
    }
    answer
}

fn compare_all(stage: &Stage, cases: &Value) {
    let mut server = stage.session();
    for case in cases.as_array().unwrap() {
        compare(stage, &mut server, case);
    }
}

#[test]
fn without_a_run() {
    let cases = json!([
        ["status", {}, "status", 4, "no_run"],
        ["pause", {}, "pause", 4, "no_run"],
        ["status", { "runId": "nothing" }, "status --run-id nothing", 4, "no_run"],
        ["start", { "taskId": "99" }, "start 99", 4, "not_found"],
        ["start", { "taskId": 1, "tag": "nothing" }, "start 1 --tag nothing", 4, "not_found"],
        ["start", { "taskId": "1", "options": { "branch": "main" } },
         "start 1 --branch main", 3, "branch_taken"],
    ]);
    compare_all(&Stage::new(), &cases);
}

#[test]
fn before_red() {
    let stage = Stage::started();
    stage.write("tests/words_test.sh", "false\n");
    let (good, one) = (json!({ "failed": 0, "passed": 1 }), json!({ "failed": 1 }));
    let cases = json!([
        ["start", { "taskId": "2" }, "start 2", 5, "run_active"],
        ["complete_phase", { "results": good },
         "complete --results failed:0,passed:1", 3, "red_requires_failing_tests"],
        ["complete_phase", {}, "complete", 2, "usage"],
        ["complete_phase", { "report": ["nowhere.tap"] }, "complete --report nowhere.tap", 2, "report_missing"],
        ["complete_phase", { "results": "failed:x" },
         "complete --results failed:x", 2, "usage"],
        ["complete_phase", { "results": one, "phase": "green" },
         "complete green --results failed:1", 5, "stale_unit"],
        ["complete_phase", { "results": one, "subtaskId": "1.2" },
         "complete red 1.2 --results failed:1", 5, "stale_unit"],
        ["complete_phase", { "results": one, "unitId": "workUnit-9.9-RED" },
         "complete --results failed:1 --unit workUnit-9.9-RED", 5, "stale_unit"],
        ["complete_phase", { "results": one, "files": ["src/none.sh"] },
         "complete --results failed:1 --files src/none.sh", 3, "nothing_changed"],
        ["commit", {}, "commit", 5, "stale_unit"],
        ["finalize", { "results": good }, "finalize --results failed:0,passed:1", 5, "stale_unit"],
        ["reopen", {}, "reopen", 3, "not_possible"],
        ["rewind", { "to": "7.7" }, "rewind 7.7", 4, "not_found"],
    ]);
    compare_all(&stage, &cases);
}

#[test]
fn at_a_commit_and_when_paused() {
    let stage = Stage::at_commit();
    stage.write(".env", "KEY=1\n");
    compare_all(&stage, &json!([["commit", {}, "commit", 3, "unfit_files"]]));
    stage.tm(0, &["autopilot", "pause"]);
    let cases = json!([
        ["commit", {}, "commit", 5, "paused"],
        ["skip", { "reason": "no" }, "skip --reason no", 5, "paused"],
    ]);
    compare_all(&stage, &cases);
}
