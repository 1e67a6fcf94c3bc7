//! The work-unit form of a `tdd` run.

use engine::view::autopilot::request;
use engine::view::autopilot::work_unit::WorkUnitResult;
use mcp::Hints;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::place::RunSelector;
use super::evidence::{once, placed};
use super::{Answer, Call, Entry, answer, on_run};
use crate::cli::autopilot::{Status, TestReports};

/// The tools of the work-unit form.
pub(super) fn entries() -> Vec<Entry> {
    vec![
        Entry {
            name: "autopilot_next_work_unit",
            title: "Next work unit",
            description: "The work-unit form of autopilot_next. over: true: none is left.",
            hints: Hints::ReadOnly,
            output: &[("over", "boolean")],
            handler: on_run(next),
        },
        Entry {
            name: "autopilot_complete_work_unit",
            title: "Report a work unit",
            description: "The work-unit form of the reports. COMMIT without commitSha makes the commit. report or verify count instead of its numbers.",
            hints: Hints::Idempotent,
            output: &[
                ("validated", "boolean"),
                ("message", "string"),
                ("nextAction", "object"),
            ],
            handler: on_run(complete),
        },
        Entry {
            name: "autopilot_get_state",
            title: "State of the run",
            description: "The work-unit form of autopilot_status, with the checkpoint.",
            hints: Hints::ReadOnly,
            output: &[("runId", "string"), ("status", "string")],
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
    #[schemars(extend("x-brief" = "nothing changed since GREEN"))]
    unchanged: bool,
    #[schemars(extend("x-brief" = "commit message"))]
    message: Option<String>,
    #[serde(flatten)]
    reports: TestReports,
    #[schemars(extend("x-brief" = "the outcome"))]
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
    #[schemars(extend("x-brief" = "paths"))]
    files_modified: Vec<String>,
    #[schemars(extend("type" = "number", "x-form" = true, "x-brief" = "lines, percent"))]
    coverage: Option<String>,
    #[schemars(extend("x-brief" = "of COMMIT, if already made"))]
    commit_sha: Option<String>,
    #[schemars(extend("x-brief" = "why it failed"))]
    error: Option<String>,
    #[schemars(extend("x-brief" = "output"))]
    logs: Option<String>,
    /// Executors count their attempts; here they are counted by the run.
    #[serde(rename = "attempts")]
    #[schemars(extend("x-brief" = "ignored"))]
    _attempts: Option<u64>,
}

fn next(call: Call<'_>, meant: RunSelector, _: Status) -> Answer {
    answer(&call.open(&meant)?.next_work_unit(meant.run())?)
}

fn complete(call: Call<'_>, meant: RunSelector, completed: Completed) -> Answer {
    let result = completed.result;
    let evidence = request::Evidence {
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
