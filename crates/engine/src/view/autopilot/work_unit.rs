//! The work-unit form of a `tdd` run: the same run, asked and answered in other shapes.
//!
//! Phases are upper-case here, and a unit tells of its phase under a key of its own. What is decided is decided by
//! the calls of the phase form.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::action::{Action, ActionKind};
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::find::Selector;
use crate::refusal;
use crate::report::{Meaning, Report, answered};
use crate::support::object;
use crate::verdict::Verdict;
use crate::view::AUTOPILOT;
use crate::view::autopilot::request;

/// The most that is kept of what an executor says beside its numbers, in bytes of each text.
const LONGEST_WORDS: usize = 16 * 1024;

/// What is known for units of every phase.
const COMMON: [&str; 6] = [
    "projectRoot",
    "branch",
    "tag",
    "taskId",
    "taskTitle",
    "testCommand",
];

/// Phases: what to do in a sentence, and what is known for them, under a key of their own.
const PHASES: [(&str, &str, &str, &[&str]); 3] = [
    (
        "red",
        "Write failing tests",
        "redPhase",
        &[
            "testFile",
            "testFramework",
            "acceptanceCriteria",
            "testPattern",
            "existingTests",
        ],
    ),
    (
        "green",
        "Implement the least code that makes the tests pass",
        "greenPhase",
        &[
            "testFile",
            "implementationHints",
            "expectedFiles",
            "redFiles",
        ],
    ),
    (
        "commit",
        "Commit the work",
        "commitPhase",
        &["commitMessage", "filesToCommit"],
    ),
];

/// What an executor reports of a unit.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkUnitResult {
    /// Whether it did what the unit asked for.
    pub success: bool,
    /// The phase of the unit.
    pub phase: String,
    /// Test files that were written.
    pub tests_created: Vec<String>,
    /// Tests that failed; 0 if not said.
    pub tests_failed: Option<u64>,
    /// Tests that passed; 0 if not said.
    pub tests_passed: Option<u64>,
    /// Tests that were skipped; 0 if not said.
    pub skipped: Option<u64>,
    /// What could not be compiled or collected; 0 if not said.
    pub errors: Option<u64>,
    /// Files that were changed.
    pub files_modified: Vec<String>,
    /// Coverage, as in the phase form.
    pub coverage: Option<String>,
    /// A commit that the executor made.
    pub commit_sha: Option<String>,
    /// The subject of the commit that is to be made; of several lines, its whole message.
    pub message: Option<String>,
    /// What went wrong, in its words.
    pub error: Option<String>,
    /// Output that may help.
    pub logs: Option<String>,
    /// What stands for the numbers: reports, or a run of the tests. Its results and coverage are not looked at.
    #[serde(skip)]
    pub evidence: request::Evidence,
}

impl Engine {
    /// The present unit in the work-unit form, or why there is none. Changes nothing.
    pub fn next_work_unit(&self, run: Option<&str>) -> Result<Map<String, Value>, Fault> {
        let next = match self.next(&AUTOPILOT, run, false) {
            Err(fault) if fault.code == "run_over" => {
                return Ok(object(json!({
                    "over": true,
                    "runId": fault.details.get("runId"),
                    "status": "aborted",
                    "message": "The run was aborted; there is nothing more to do in it.",
                })));
            }
            next => next?,
        };
        Ok(object(match next.action {
            ActionKind::Paused => json!({
                "over": false,
                "runId": next.run_id,
                "status": "paused",
                "pausedReason": next.paused_reason,
                "message": "The run is paused; it takes no results until it is resumed.",
            }),
            ActionKind::Complete => json!({
                "over": true,
                "runId": next.run_id,
                "status": next.status.unwrap_or_default(),
                "message": "The run is over; there is nothing more to do in it.",
            }),
            _ => unit(next),
        }))
    }

    /// Reports the result of a unit.
    pub fn complete_work_unit(
        &self,
        run: Option<&str>,
        unit: &str,
        result: &WorkUnitResult,
    ) -> Result<Verdict, Fault> {
        let phase = result.phase.to_lowercase();
        let next = self.status(&AUTOPILOT, run)?.next_action;
        let is_present = next.unit_id() == Some(unit);
        let asked = next.phase.clone().unwrap_or_default();
        // How it is reported is a name for the phase, too.
        let reported_as = match next.report {
            Some(Meaning::Commit) => Some("commit"),
            Some(Meaning::Suite) => Some("finalize"),
            _ => None,
        };
        if is_present && asked != phase && reported_as != Some(phase.as_str()) {
            let asked = asked.to_uppercase();

            return Err(fault!(
                "usage.complete_work_unit",
                unit,
                asked,
                phase = result.phase
            )
            .expected(asked));
        }
        let report = if is_present {
            next.report
        } else {
            let (_, dir, seen) = self.load_in_project(&AUTOPILOT, run, Selector::Running)?;
            match (answered(dir.path(), &seen.run, unit)?, phase.as_str()) {
                (Some(before), _) => Meaning::of(&before.role),
                (None, "commit") => Some(Meaning::Commit),
                (None, "finalize") => Some(Meaning::Suite),
                (None, _) => Some(Meaning::Tests),
            }
        };
        // Where tests are to pass, failing ones use up an attempt.
        let may_fail = report == Some(Meaning::Tests) && phase != "red";
        if is_present && !result.success && !may_fail {
            let phase = reported_as.unwrap_or(&phase);
            return Ok(not_done(unit, phase, result, next));
        }
        let meaning = report.unwrap_or(Meaning::Tests);
        let report = match meaning {
            Meaning::Commit => commit(unit, result),
            _ => tested(unit, &phase, result),
        };
        self.record_report(&AUTOPILOT, run, &report, meaning)
    }

    /// Where a run is, in the work-unit form.
    pub fn work_unit_state(&self, run: Option<&str>) -> Result<Map<String, Value>, Fault> {
        let status = self.status(&AUTOPILOT, run)?;
        let task = status.task.unwrap_or_default();
        let phase = task.current_phase.map(|phase| phase.to_uppercase());
        Ok(object(json!({
            "runId": status.run_id,
            "taskId": task.task_id,
            "status": status.status,
            "currentPhase": phase,
            "currentSubtask": task.current_subtask,
            "completedSubtasks": task.progress.completed,
            "failedSubtasks": task.progress.failed,
            "startTime": status.start_time,
            "lastUpdateTime": status.last_updated,
            "checkpoint": {
                "subtaskId": task.current_subtask,
                "phase": phase,
                "attemptNumber": task.attempt_number,
            },
        })))
    }
}

/// The report of a commit, which is made where the result names none.
fn commit(unit: &str, result: &WorkUnitResult) -> Report {
    Report {
        files: match &result.commit_sha {
            Some(_) => Vec::new(),
            None => files(result),
        },
        message: result.message.clone(),
        sha: result.commit_sha.clone(),
        unit: Some(unit.to_owned()),
        ..Report::default()
    }
}

fn files(result: &WorkUnitResult) -> Vec<String> {
    let mut files = result.tests_created.clone();
    for file in &result.files_modified {
        if !files.contains(file) {
            files.push(file.clone());
        }
    }
    files
}

/// The report of tests.
fn tested(unit: &str, phase: &str, result: &WorkUnitResult) -> Report {
    let failed = result.tests_failed.unwrap_or(0);
    // A failed attempt in which no number is given is one in which something failed.
    let failed = if result.success {
        failed
    } else {
        failed.max(1)
    };
    let passed = result.tests_passed.unwrap_or(0);
    let mut said = Map::new();
    for (name, text) in [("error", &result.error), ("logs", &result.logs)] {
        if let Some(text) = text {
            said.insert(name.to_owned(), Value::from(ending(text)));
        }
    }
    let given = &result.evidence;
    let (skipped, errors) = (result.skipped.unwrap_or(0), result.errors.unwrap_or(0));
    let claimed = (!given.is_given()).then(|| {
        json!({ "passed": passed, "failed": failed, "skipped": skipped, "errors": errors })
            .to_string()
    });
    Report {
        state: Some(phase.to_owned()),
        evidence: request::Evidence {
            results: claimed,
            coverage: result.coverage.clone(),
            ..given.clone()
        },
        files: files(result),
        unit: Some(unit.to_owned()),
        said,
        ..Report::default()
    }
}

/// The end of a long text: there stands what matters of an output.
fn ending(text: &str) -> &str {
    let mut from = text.len().saturating_sub(LONGEST_WORDS);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

/// The verdict on a unit that the executor says it did not do. Nothing moves.
fn not_done(unit: &str, phase: &str, result: &WorkUnitResult, next_action: Action) -> Verdict {
    let why = result.error.as_deref();
    let why = why.map_or_else(String::new, |error| format!(": {}", ending(error)));
    let refusal = match phase {
        "red" => refusal!("unit_not_done.red", unit, why),
        "commit" => refusal!("unit_not_done.commit", unit, why),
        _ => refusal!("unit_not_done.suite", unit, why),
    };
    Verdict {
        validated: false,
        code: Some(refusal.code),
        message: refusal.message.unwrap_or_default(),
        warning: None,
        suggestion: refusal.suggestion,
        details: Map::new(),
        result: Map::new(),
        next_action,
        report: None,
    }
}

/// The unit that comes next, with all that is needed to do it. What is known for its phase stands under a key of that.
fn unit(next: Action) -> Value {
    let known = next.context.unwrap_or_default();
    let open = next.unit.unwrap_or_default();
    let id = open.key();
    let of = id.map_or_else(String::new, |id| format!(" for subtask {id}"));
    let take = |keys: &[&str]| -> Map<String, Value> {
        let keys = keys.iter();
        keys.filter_map(|key| Some(((*key).to_owned(), known.get(*key)?.clone())))
            .collect()
    };
    let mut context = take(&COMMON);
    if let Some(subtask) = &open.item {
        for (name, field) in [
            ("subtaskTitle", "title"),
            ("subtaskDescription", "description"),
            ("dependencies", "dependencies"),
        ] {
            context.insert(name.to_owned(), json!(subtask.get(field)));
        }
    }
    let phase = next.phase.unwrap_or_default();
    let of_phase = PHASES.iter().find(|(name, ..)| *name == phase);
    let action = match of_phase {
        Some((_, action, key, own)) => {
            context.insert((*key).to_owned(), Value::Object(take(own)));
            format!("{action}{of}")
        }
        None if next.report == Some(Meaning::Suite) => {
            "Run the full test suite and report it".to_owned()
        }
        None => format!("Do the work{of}: {phase}"),
    };
    // Attempts are counted where there is a unit.
    let attempt = Some(open.attempt).filter(|_| !open.unit_id.is_empty());
    json!({
        "over": false,
        "runId": next.run_id,
        "id": open.unit_id,
        "phase": phase.to_uppercase(),
        "subtaskId": id,
        "action": action,
        "attempt": attempt,
        "maxAttempts": open.max_attempts,
        "context": context,
        "preconditions": next.preconditions,
        "instructions": open.instructions,
    })
}
