//! What goes wrong is told in the same words to an agent on MCP and to one on the command line.

use serde_json::{Value, json};

use super::stage::Stage;
use testkit::mcp::Server;

/// One call in both forms, and what it comes to.
struct Case {
    tool: &'static str,
    arguments: Value,
    command: &'static str,
    status: i32,
    code: &'static str,
}

fn case(
    tool: &'static str,
    arguments: Value,
    command: &'static str,
    status: i32,
    code: &'static str,
) -> Case {
    Case {
        tool,
        arguments,
        command,
        status,
        code,
    }
}

/// The numbers of the events differ, and where one of them had a turn before the other.
fn compare(stage: &Stage, server: &mut Server, case: &Case) {
    let words: Vec<&str> = case.command.split(' ').collect();
    let by_hand = stage.tm(case.status, &words);
    let result = server.call(case.tool, &case.arguments);
    let told = &result["structuredContent"];
    assert_eq!(
        without_advice(told),
        without_advice(&by_hand),
        "{}",
        case.command
    );
    for advice in advice(told) {
        let names_a_tool_as_a_command = ["`tm autopilot next", "`tm autopilot re", "--run-id"]
            .iter()
            .any(|words| advice.contains(words));
        assert!(!names_a_tool_as_a_command, "{advice}");
    }
    let is_fault = by_hand.get("error").is_some();
    assert_eq!(result["isError"] == true, is_fault, "{result}");
    let code = if is_fault {
        &told["error"]["code"]
    } else {
        assert_eq!(told["validated"], false, "{told}");
        &told["code"]
    };
    assert_eq!(*code, case.code, "{told}");
    if !is_fault {
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

fn advice(answer: &Value) -> impl Iterator<Item = &str> {
    let told = answer.get("error").unwrap_or(answer);
    ["suggestion", "recovery"]
        .into_iter()
        .filter_map(|key| told.get(key)?.as_str())
}

fn compare_all(stage: &Stage, cases: &[Case]) {
    let mut server = stage.session();
    for case in cases {
        compare(stage, &mut server, case);
    }
    server.end();
}

#[test]
fn without_a_run() {
    compare_all(
        &Stage::new(),
        &[
            case(
                "autopilot_status",
                json!({}),
                "autopilot status",
                4,
                "no_run",
            ),
            case("autopilot_next", json!({}), "autopilot next", 4, "no_run"),
            case("autopilot_pause", json!({}), "autopilot pause", 4, "no_run"),
            case(
                "autopilot_status",
                json!({ "runId": "nothing" }),
                "autopilot status --run-id nothing",
                4,
                "no_run",
            ),
            case(
                "autopilot_start",
                json!({ "taskId": "99" }),
                "autopilot start 99",
                4,
                "unknown_task",
            ),
            case(
                "autopilot_start",
                json!({ "taskId": 1, "tag": "nothing" }),
                "autopilot start 1 --tag nothing",
                4,
                "unknown_tag",
            ),
            case(
                "autopilot_start",
                json!({ "taskId": "1", "options": { "branch": "main" } }),
                "autopilot start 1 --branch main",
                3,
                "on_default_branch",
            ),
        ],
    );
}

#[test]
fn before_red() {
    let stage = Stage::started();
    stage.write("tests/words_test.sh", "false\n");
    compare_all(
        &stage,
        &[
            case(
                "autopilot_start",
                json!({ "taskId": "2" }),
                "autopilot start 2",
                5,
                "run_active",
            ),
            case(
                "autopilot_complete_phase",
                json!({ "results": { "failed": 0, "passed": 1 } }),
                "autopilot complete --results failed:0,passed:1",
                3,
                "red_requires_failing_tests",
            ),
            case(
                "autopilot_complete_phase",
                json!({ "results": "failed:x" }),
                "autopilot complete --results failed:x",
                2,
                "bad_results",
            ),
            case(
                "autopilot_complete_phase",
                json!({ "results": { "failed": 1 }, "phase": "green" }),
                "autopilot complete green --results failed:1",
                5,
                "stale_unit",
            ),
            case(
                "autopilot_complete_phase",
                json!({ "results": { "failed": 1 }, "subtaskId": "1.2" }),
                "autopilot complete red 1.2 --results failed:1",
                5,
                "stale_unit",
            ),
            case(
                "autopilot_complete_phase",
                json!({ "results": { "failed": 1 }, "unitId": "workUnit-9.9-RED" }),
                "autopilot complete --results failed:1 --unit workUnit-9.9-RED",
                5,
                "stale_unit",
            ),
            case(
                "autopilot_complete_phase",
                json!({ "results": { "failed": 1 }, "files": ["src/none.sh"] }),
                "autopilot complete --results failed:1 --files src/none.sh",
                3,
                "file_not_changed",
            ),
            case(
                "autopilot_commit",
                json!({}),
                "autopilot commit",
                5,
                "stale_unit",
            ),
            case(
                "autopilot_finalize",
                json!({ "results": { "failed": 0, "passed": 1 } }),
                "autopilot finalize --results failed:0,passed:1",
                5,
                "stale_unit",
            ),
            case(
                "autopilot_reopen",
                json!({}),
                "autopilot reopen",
                3,
                "cannot_reopen",
            ),
            case(
                "autopilot_rewind",
                json!({ "to": "7.7" }),
                "autopilot rewind 7.7",
                4,
                "unknown_step",
            ),
        ],
    );
}

#[test]
fn at_a_commit_and_when_paused() {
    let stage = Stage::at_commit();
    stage.write(".env", "KEY=1\n");
    let mut server = stage.session();
    compare(
        &stage,
        &mut server,
        &case(
            "autopilot_commit",
            json!({}),
            "autopilot commit",
            3,
            "secret_file",
        ),
    );
    server.tool("autopilot_pause", &json!({}));
    for case in [
        case(
            "autopilot_commit",
            json!({}),
            "autopilot commit",
            5,
            "paused",
        ),
        case(
            "autopilot_skip",
            json!({ "reason": "not now" }),
            "autopilot skip --reason no",
            5,
            "paused",
        ),
    ] {
        compare(&stage, &mut server, &case);
    }
    server.end();
}

/// What the two forms of a run refuse, they refuse alike.
#[test]
fn a_work_unit_is_refused_like_a_phase() {
    let stage = Stage::started();
    let mut server = stage.session();
    let by_unit = server.tool(
        "autopilot_complete_work_unit",
        &json!({
            "workUnitId": "workUnit-1.1-RED",
            "result": { "success": true, "phase": "RED", "testsPassed": 1 },
        }),
    );
    let by_phase = server.tool(
        "autopilot_complete_phase",
        &json!({ "results": { "failed": 0, "passed": 1 } }),
    );
    let (by_unit, by_phase) = (without_advice(&by_unit), without_advice(&by_phase));
    for key in ["validated", "code", "message", "suggestion", "nextAction"] {
        assert_eq!(by_unit[key], by_phase[key], "{key}");
    }
    server.end();
}

/// What is advised is held against what the tools take wherever it is told: here, at every step of a whole run.
#[test]
fn what_is_told_at_each_step_is_what_its_tool_takes() {
    let stage = Stage::at_commit();
    let mut server = stage.session();
    let mut told = Vec::new();
    loop {
        let next = server.tool("autopilot_next", &json!({}));
        let action = next["action"].as_str().unwrap().to_owned();
        if action == "complete" {
            break;
        }
        let (file, failed) = (told.len(), u32::from(action == "red"));
        let results = json!({ "failed": failed, "passed": 1 - failed });
        let (tool, arguments) = match action.as_str() {
            "commit" => ("autopilot_commit", json!({})),
            "finalize" => ("autopilot_finalize", json!({ "results": results })),
            _ => ("autopilot_complete_phase", json!({ "results": results })),
        };
        let instructions = next["instructions"].as_str().unwrap();
        assert!(instructions.contains(tool), "{instructions}");
        assert!(instructions.contains("unitId workUnit"), "{instructions}");
        match action.as_str() {
            "red" => stage.write(&format!("tests/{file}_test.sh"), "false\n"),
            "green" => stage.write(&format!("src/{file}.sh"), "true\n"),
            _ => {}
        }
        server.tool(tool, &arguments);
        told.push(action);
    }
    assert_eq!(told.last().unwrap(), "finalize", "{told:?}");
    server.end();
}
