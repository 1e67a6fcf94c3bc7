//! The stories: one for each family, through what each of its verbs answers, also where it refuses.

use serde_json::json;

use super::{line, plays};
use crate::mcp::stage::Stage;
use crate::session::environment::{BUNDLE, FAIL, PASS, PLAN};

const TEST: &[(&str, &str)] = &[("tests/spaces_test.sh", "false\n")];
const CODE: &[(&str, &str)] = &[
    ("tests/spaces_test.sh", "true\n"),
    ("src/spaces.sh", "true\n"),
];

const REVISED: &str = "<<<FILE: README>>>\nIt counts.\n";

#[test]
fn phases_of_a_task() {
    let story = [
        line("autopilot next").or("autopilot_next", json!({})),
        line("autopilot start 9").or("autopilot_start", json!({ "taskId": "9" })),
        line("autopilot start 1 --dry-run")
            .or("autopilot_start", json!({ "taskId": "1", "dryRun": true })),
        line("autopilot start 1").or("autopilot_start", json!({ "taskId": "1" })),
        line("autopilot start 1").or("autopilot_start", json!({ "taskId": "1" })),
        line("autopilot next").or("autopilot_next", json!({})),
        line("autopilot complete red --results failed:1,passed:0").or(
            "autopilot_complete_phase",
            json!({ "phase": "red", "results": { "failed": 1, "passed": 0 } }),
        ),
        line("autopilot complete red --results failed:0,passed:1")
            .after(TEST)
            .or(
                "autopilot_complete_phase",
                json!({ "phase": "red", "results": { "failed": 0, "passed": 1 } }),
            ),
        line("autopilot complete red --results failed:1,passed:0").or(
            "autopilot_complete_phase",
            json!({ "phase": "red", "testResults": { "failed": 1, "passed": 0 } }),
        ),
        line("autopilot complete red --results failed:1,passed:0").or(
            "autopilot_complete_phase",
            json!({ "phase": "red", "results": { "failed": 1, "passed": 0 } }),
        ),
        line("autopilot commit").or("autopilot_commit", json!({})),
        line("autopilot complete green --results failed:1,passed:0").or(
            "autopilot_complete_phase",
            json!({ "phase": "green", "results": { "failed": 1, "passed": 0 } }),
        ),
        line("autopilot reopen --reason 'the test is wrong'")
            .or("autopilot_reopen", json!({ "reason": "the test is wrong" })),
        line("autopilot complete red --results failed:1,passed:0").or(
            "autopilot_complete_phase",
            json!({ "phase": "red", "results": { "failed": 1, "passed": 0 } }),
        ),
        line("autopilot complete green --results failed:0,passed:1")
            .after(CODE)
            .or(
                "autopilot_complete_phase",
                json!({ "phase": "green", "results": { "failed": 0, "passed": 1 } }),
            ),
        line("autopilot complete green --results failed:0,passed:1")
            .after(TEST)
            .or(
                "autopilot_complete_phase",
                json!({ "phase": "green", "results": { "failed": 0, "passed": 1 } }),
            ),
        line("autopilot status").or("autopilot_status", json!({})),
        line("autopilot commit").or("autopilot_commit", json!({})),
        line("autopilot commit 1.1").or("autopilot_commit", json!({ "subtaskId": "1.1" })),
        line("autopilot pause --reason lunch").or("autopilot_pause", json!({ "reason": "lunch" })),
        line("autopilot next").or("autopilot_next", json!({})),
        line("autopilot complete red --results failed:1,passed:0").or(
            "autopilot_complete_phase",
            json!({ "phase": "red", "results": { "failed": 1, "passed": 0 } }),
        ),
        line("autopilot resume").or("autopilot_resume", json!({})),
        line("autopilot rewind").or("autopilot_rewind", json!({})),
        line("autopilot skip --reason 'not wanted'")
            .or("autopilot_skip", json!({ "reason": "not wanted" })),
        line("autopilot adopt --reason 'it moved'")
            .or("autopilot_adopt", json!({ "reason": "it moved" })),
        line("autopilot finalize --results failed:1,passed:0").or(
            "autopilot_finalize",
            json!({ "results": { "failed": 1, "passed": 0 } }),
        ),
        line("autopilot status").or("autopilot_status", json!({})),
        line("autopilot abort").or("autopilot_abort", json!({})),
        line("autopilot next").or("autopilot_next", json!({})),
        line("autopilot submit").or("autopilot_submit", json!({})),
    ];
    plays("autopilot", Stage::new, &story);
}

#[test]
fn units_of_a_task() {
    let unit = |phase: &str, failed: u64, passed: u64| {
        json!({
            "workUnitId": format!("workUnit-1.1-{phase}"),
            "result": { "success": true, "phase": phase, "testsFailed": failed, "testsPassed": passed },
        })
    };
    let story = [
        line("autopilot start 1").or("autopilot_start", json!({ "taskId": "1" })),
        line("autopilot next").or("autopilot_next_work_unit", json!({})),
        line("autopilot status").or("autopilot_get_state", json!({})),
        line("autopilot complete --results failed:1,passed:0")
            .after(TEST)
            .or("autopilot_complete_work_unit", unit("RED", 1, 0)),
        line("autopilot complete --results failed:1,passed:0")
            .or("autopilot_complete_work_unit", unit("GREEN", 1, 0)),
        line("autopilot complete --results failed:0,passed:1")
            .after(&[("src/spaces.sh", "true\n")])
            .or("autopilot_complete_work_unit", unit("GREEN", 0, 1)),
        line("autopilot commit").or(
            "autopilot_complete_work_unit",
            json!({ "workUnitId": "workUnit-1.1-COMMIT", "result": { "success": true, "phase": "COMMIT" } }),
        ),
        line("autopilot status").or("autopilot_get_state", json!({})),
        line("autopilot next").or("autopilot_next_work_unit", json!({})),
        line("runs list"),
        line("runs show"),
    ];
    plays("work_unit", Stage::new, &story);
}

#[test]
fn a_review() {
    let story = [
        line("session status").or("session_status", json!({})),
        line("session init -i request=Greet --name greet").or(
            "session_init",
            json!({ "inputs": { "request": "Greet" }, "name": "greet" }),
        ),
        line("session step").or("session_step", json!({})),
        line("session step").or("session_step", json!({})),
        line("session respond -").reads(PLAN).or(
            "session_step",
            json!({ "phase": "PLANNING", "response": PLAN }),
        ),
        line("session run").or("session_step", json!({ "run": true })),
        line("session respond - --run").reads(BUNDLE).or(
            "session_step",
            json!({ "phase": "GENERATING", "response": BUNDLE, "run": true }),
        ),
        line("session respond - --run").reads(FAIL).or(
            "session_step",
            json!({ "phase": "REVIEWING", "response": FAIL, "run": true }),
        ),
        line("session status").or("session_status", json!({})),
        line("session respond - --run").reads("no bundle").or(
            "session_step",
            json!({ "phase": "REVISING", "response": "no bundle", "run": true }),
        ),
        line("session respond - --run").reads(REVISED).or(
            "session_step",
            json!({ "phase": "REVISING", "response": REVISED, "run": true }),
        ),
        line("session respond - --run").reads(PASS).or(
            "session_step",
            json!({ "phase": "REVIEWING", "response": PASS, "run": true }),
        ),
        line("session show"),
        line("session diff"),
        line("session list"),
        line("session profiles"),
        line("session approve").or("session_decide", json!({ "decision": "approve" })),
        line("session cancel --reason enough"),
    ];
    plays("session", Stage::new, &story);
}

#[test]
fn skills() {
    let items = json!([{ "number": 1, "title": "Mend it", "type": "bugfix" }, { "number": 2, "title": "Write it", "type": "task" }]);
    let skill = |name: &str| json!({ "skill": name });
    let story = [
        line("collab state").or("get_session_state", json!({})),
        line("collab complete-skill collab-start").or("complete_skill", skill("collab-start")),
        line("collab update --work-items @items.json")
            .after(&[(
                "items.json",
                r#"[{"number":1,"title":"Mend it","type":"bugfix"},{"number":2,"title":"Write it","type":"task"}]"#,
            )])
            .or("update_session_state", json!({ "workItems": items })),
        line("collab complete-skill gather-session-goals")
            .or("complete_skill", skill("gather-session-goals")),
        line("collab complete-skill executing-plans")
            .or("complete_skill", skill("executing-plans")),
        line("collab state").or("get_session_state", json!({})),
        line("collab state --full").or("get_session_state", json!({ "full": true })),
        line("collab complete-skill collab-clear").or("complete_skill", skill("collab-clear")),
        line("collab state").or("get_session_state", json!({})),
        line("collab task item-1=completed").or(
            "update_task_status",
            json!({ "taskId": "item-1", "status": "completed" }),
        ),
        line("collab graph").or("get_task_graph", json!({})),
        line("collab reopen --reason 'another cause'")
            .or("reopen_work", json!({ "reason": "another cause" })),
        line("collab skip --item 2 --reason 'nobody needs it'")
            .or("skip_work", json!({ "item": "2", "reason": "nobody needs it" })),
        line("collab add 'A late one' --type bugfix").or(
            "update_session_state",
            json!({ "addItems": [{ "title": "A late one", "type": "bugfix" }] }),
        ),
        line("collab complete-skill nonsense").or("complete_skill", skill("nonsense")),
        line("collab state --full").or("get_session_state", json!({ "full": true })),
    ];
    plays("collab", Stage::new, &story);
}

const LETTER: &str = include_str!("letter.yaml");

#[test]
fn any_workflow() {
    let stage = || {
        let stage = Stage::new();
        stage.write(".taskmaster/workflows/letter.yaml", LETTER);
        stage
    };
    let story = [
        line("run next").or("run_next", json!({})),
        line("run start nothing").or("run_start", json!({ "workflow": "nothing" })),
        line("run start letter").or("run_start", json!({ "workflow": "letter" })),
        line("run next").or("run_next", json!({})),
        line("run report").or("run_report", json!({})),
        line("run report --outcome begun").or("run_report", json!({ "outcome": "begun" })),
        line("run step").or("run_step", json!({})),
        line("run reopen --reason again").or("run_reopen", json!({ "reason": "again" })),
        line("run report --outcome begun").or("run_report", json!({ "outcome": "begun" })),
        line("run pause --reason lunch").or("run_pause", json!({ "reason": "lunch" })),
        line("run status").or("run_status", json!({})),
        line("run resume").or("run_resume", json!({})),
        line("run report --outcome written --note 'two pages'").or(
            "run_report",
            json!({ "outcome": "written", "note": "two pages" }),
        ),
        line("run next").or("run_next", json!({})),
        line("run approve").or("run_decide", json!({ "decision": "approve" })),
        line("run rewind").or("run_rewind", json!({})),
        line("run adopt --reason moved").or("run_adopt", json!({ "reason": "moved" })),
        line("run skip --reason late").or("run_skip", json!({ "reason": "late" })),
        line("run restore"),
        line("run submit").or("run_submit", json!({})),
        line("run feedback").or("run_feedback", json!({})),
        line("run abort").or("run_abort", json!({})),
        line("run status").or("run_status", json!({})),
        line("runs list"),
    ];
    plays("run", stage, &story);
}
