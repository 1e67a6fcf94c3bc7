//! The work-unit form of a `tdd` run.

use conductor::tdd::work_unit::WorkUnitResult;
use mcp::Hints;
use serde_json::json;

use super::evidence::{evidence, placed};
use super::{Answer, Call, Entry, answer};

/// The tools of the work-unit form.
pub(super) fn entries() -> Vec<Entry> {
    let text = json!({ "type": "string" });
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    let count = json!({ "type": "integer" });
    vec![
        Entry {
            name: "autopilot_next_work_unit",
            title: "Next work unit",
            description: "Like autopilot_next, as a work unit to be answered with autopilot_complete_work_unit. over: true when there is none left.",
            hints: Hints::ReadOnly,
            input: json!({}),
            needed: &[],
            output: json!({
                "over": { "type": "boolean" }, "id": text, "phase": text, "subtaskId": text,
                "action": text, "context": { "type": "object" }, "instructions": text,
            }),
            call: next,
        },
        Entry {
            name: "autopilot_complete_work_unit",
            title: "Report a work unit",
            description: "Report a work unit; COMMIT without commitSha makes the commit. report or verify: instead of its numbers.",
            hints: Hints::Idempotent,
            input: json!({
                "workUnitId": text,
                "report": text,
                "verify": { "type": "boolean" },
                "result": {
                    "type": "object",
                    "properties": {
                        "success": { "type": "boolean" },
                        "phase": { "type": "string", "enum": ["RED", "GREEN", "COMMIT", "FINALIZE"] },
                        "testsCreated": texts,
                        "testsFailed": count,
                        "testsPassed": count,
                        "filesModified": texts,
                        "commitSha": text,
                        "error": text,
                        "logs": text,
                    },
                    "required": ["success", "phase"],
                },
            }),
            needed: &["workUnitId", "result"],
            output: json!({
                "validated": { "type": "boolean" }, "code": text, "message": text,
                "suggestion": text, "commitSha": text, "nextAction": { "type": "object" },
            }),
            call: complete,
        },
        Entry {
            name: "autopilot_get_state",
            title: "State of the run",
            description: "Like autopilot_status, with the checkpoint.",
            hints: Hints::ReadOnly,
            input: json!({}),
            needed: &[],
            output: json!({
                "runId": text, "status": text, "currentPhase": text, "currentSubtask": text,
                "checkpoint": { "type": "object" },
            }),
            call: state,
        },
    ]
}

fn next(call: Call<'_>) -> Answer {
    let (conductor, meant) = call.open()?;
    answer(&conductor.next_work_unit(meant.run())?)
}

fn complete(mut call: Call<'_>) -> Answer {
    let unit = call.arguments.needed_text("workUnitId")?;
    let mut given = call.arguments.object("result")?;
    let mut result = WorkUnitResult {
        success: given.needed_flag("success")?,
        phase: given.needed_text("phase")?,
        tests_created: given.texts("testsCreated")?,
        tests_failed: given.count("testsFailed")?,
        tests_passed: given.count("testsPassed")?,
        files_modified: given.texts("filesModified")?,
        coverage: given.form("coverage")?,
        commit_sha: given.text("commitSha")?,
        error: given.text("error")?,
        logs: given.text("logs")?,
        evidence: evidence(&mut call.arguments, None, None)?,
    };
    // Executors count their attempts; here they are counted by the run.
    given.count("attempts")?;
    given.end()?;
    let places = call.places;
    let (conductor, meant) = call.open()?;
    result.evidence = placed(places, &conductor, result.evidence)?;
    answer(&conductor.complete_work_unit(meant.run(), &unit, &result)?)
}

fn state(call: Call<'_>) -> Answer {
    let (conductor, meant) = call.open()?;
    answer(&conductor.work_unit_state(meant.run())?)
}
