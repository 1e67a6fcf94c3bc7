//! The work-unit form of a `tdd` run.

use engine::view::autopilot::request;
use engine::view::autopilot::work_unit::WorkUnitResult;
use mcp::Hints;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::place::RunSelector;
use super::evidence::{once, placed};
use super::{Answer, Call, Entry, answer, on_run};
use crate::cli::autopilot::{Status, TestReports};

/// The tools of the work-unit form.
pub(super) fn entries() -> Vec<Entry> {
    let text = json!({ "type": "string" });
    vec![
        Entry {
            name: "autopilot_next_work_unit",
            title: "Next work unit",
            description: "Like autopilot_next, for autopilot_complete_work_unit. over: true: none is left.",
            hints: Hints::ReadOnly,
            output: json!({
                "over": { "type": "boolean" }, "id": text, "phase": text, "subtaskId": text,
                "action": text, "context": { "type": "object" }, "instructions": text,
            }),
            always: &["over"],
            handler: on_run(next),
        },
        Entry {
            name: "autopilot_complete_work_unit",
            title: "Report a work unit",
            description: "Report a work unit; COMMIT without commitSha makes the commit. report or verify: not its numbers.",
            hints: Hints::Idempotent,
            output: json!({
                "validated": { "type": "boolean" }, "code": text, "message": text,
                "suggestion": text, "commitSha": text, "alreadyCommitted": { "type": "boolean" },
                "nextAction": { "type": "object" },
            }),
            always: &["validated", "message", "nextAction"],
            handler: on_run(complete),
        },
        Entry {
            name: "autopilot_get_state",
            title: "State of the run",
            description: "Like autopilot_status, with the checkpoint.",
            hints: Hints::ReadOnly,
            output: json!({
                "runId": text, "status": text, "currentPhase": text, "currentSubtask": text,
                "checkpoint": { "type": "object" },
            }),
            always: &["runId", "status"],
            handler: on_run(state),
        },
    ]
}

/// What an executor says of a work unit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Completed {
    #[schemars(extend("x-brief" = "of the unit"))]
    work_unit_id: String,
    #[serde(default)]
    #[schemars(extend("x-brief" = "snapshots"))]
    updated: Vec<String>,
    #[serde(default)]
    #[schemars(extend("x-brief" = "nothing was, since GREEN"))]
    unchanged: bool,
    #[schemars(extend("x-brief" = "of the commit"))]
    message: Option<String>,
    #[serde(flatten)]
    reports: TestReports,
    #[schemars(extend("x-brief" = "what came of it"))]
    result: UnitResult,
}

/// What came of it, in its own numbers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct UnitResult {
    #[schemars(extend("x-brief" = "whether it is done"))]
    success: bool,
    #[schemars(extend("enum" = ["RED", "GREEN", "CHORE", "REFACTOR", "TESTS", "DOCS", "COMMIT", "FINALIZE"], "x-brief" = "of the unit"))]
    phase: String,
    #[serde(default)]
    #[schemars(extend("x-brief" = "their files"))]
    tests_created: Vec<String>,
    #[schemars(extend("x-brief" = "how many"))]
    tests_failed: Option<u64>,
    #[schemars(extend("x-brief" = "how many"))]
    tests_passed: Option<u64>,
    #[schemars(extend("x-brief" = "how many"))]
    skipped: Option<u64>,
    #[schemars(extend("x-brief" = "how many"))]
    errors: Option<u64>,
    #[serde(default)]
    #[schemars(extend("x-brief" = "by paths"))]
    files_modified: Vec<String>,
    #[schemars(extend("type" = "number", "x-form" = true, "x-brief" = "lines, percent"))]
    coverage: Option<String>,
    #[schemars(extend("x-brief" = "of COMMIT, if made"))]
    commit_sha: Option<String>,
    #[schemars(extend("x-brief" = "why it is not done"))]
    error: Option<String>,
    #[schemars(extend("x-brief" = "what was printed"))]
    logs: Option<String>,
    /// Executors count their attempts; here they are counted by the run.
    #[serde(rename = "attempts")]
    #[schemars(extend("x-brief" = "not looked at"))]
    _attempts: Option<u64>,
}

fn next(call: Call<'_>, meant: RunSelector, _: Status) -> Answer {
    answer(&call.open(&meant)?.next_work_unit(meant.run())?)
}

fn complete(call: Call<'_>, meant: RunSelector, completed: Completed) -> Answer {
    let result = completed.result;
    let evidence = request::Evidence {
        updated: completed.updated,
        unchanged: completed.unchanged,
        ..completed.reports.request()
    };
    once(&evidence)?;
    let engine = call.open(&meant)?;
    let result = WorkUnitResult {
        success: result.success,
        phase: result.phase,
        tests_created: result.tests_created,
        tests_failed: result.tests_failed,
        tests_passed: result.tests_passed,
        skipped: result.skipped,
        errors: result.errors,
        files_modified: result.files_modified,
        coverage: result.coverage,
        commit_sha: result.commit_sha,
        message: completed.message,
        error: result.error,
        logs: result.logs,
        evidence: placed(call.places, &engine, evidence)?,
    };
    let unit = &completed.work_unit_id;
    answer(&engine.complete_work_unit(meant.run(), unit, &result)?)
}

fn state(call: Call<'_>, meant: RunSelector, _: Status) -> Answer {
    answer(&call.open(&meant)?.work_unit_state(meant.run())?)
}
