//! The work-unit form of a `tdd` run: the same run, asked and answered in other shapes.
//!
//! Phases are upper-case here, and a unit tells of its phase under a key of its own. What is decided is decided by
//! the calls of the phase form.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::action::{Action, ActionKind, AwaitedReport, Precondition};
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::find::Selector;
use crate::next_step::Verb;
use crate::report::{Meaning, Report, answered};
use crate::verdict::Verdict;
use crate::view::AUTOPILOT;
use crate::view::autopilot::request;

/// The most that is kept of what an executor says beside its numbers, in bytes of each text.
const LONGEST_WORDS: usize = 16 * 1024;

/// The answer of `next_work_unit`: a unit, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum NextWorkUnit {
    /// This is to be done now.
    Unit(Box<WorkUnit>),
    /// Nothing is to be done now.
    None(NoWorkUnit),
}

/// What is to be done now, with all that is needed to do it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkUnit {
    /// Always false: the run goes on.
    pub over: bool,
    /// The run.
    pub run_id: String,
    /// The unit, to name in the result.
    pub id: String,
    /// `RED`, `GREEN`, `COMMIT` or `FINALIZE`.
    pub phase: String,
    /// The subtask; absent where the whole task is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subtask_id: Option<String>,
    /// What to do, in a sentence.
    pub action: String,
    /// Which attempt this is, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// How many there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
    /// What is known for it. The phase has a key of its own: `redPhase`, `greenPhase`, `commitPhase`.
    pub context: Map<String, Value>,
    /// What must hold before the work begins.
    pub preconditions: Vec<Precondition>,
    /// The whole prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

/// Why there is no unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NoWorkUnit {
    /// Whether the run is over. If not, it is paused.
    pub over: bool,
    /// The run.
    pub run_id: String,
    /// `paused`, `completed`, `failed` or `aborted`.
    pub status: String,
    /// Why it is paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_reason: Option<String>,
    /// What that means.
    pub message: String,
}

/// Where a run is, as `get_state` tells it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkUnitState {
    /// The run.
    pub run_id: String,
    /// The task.
    pub task_id: String,
    /// `running`, `paused`, `completed`, `failed` or `aborted`.
    pub status: String,
    /// `RED`, `GREEN`, `COMMIT` or `FINALIZE`; absent once the run is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_phase: Option<String>,
    /// The subtask in hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_subtask: Option<String>,
    /// Subtasks done.
    pub completed_subtasks: Vec<String>,
    /// Subtasks skipped.
    pub failed_subtasks: Vec<String>,
    /// When it began, UTC.
    pub start_time: String,
    /// When it last moved, UTC.
    pub last_update_time: String,
    /// Where it would be gone on with.
    pub checkpoint: Checkpoint,
}

/// Where a run would be gone on with.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Checkpoint {
    /// The subtask.
    pub subtask_id: Option<String>,
    /// The phase.
    pub phase: Option<String>,
    /// Which attempt, from 1.
    pub attempt_number: Option<u32>,
}

/// What an executor reports of a unit.
#[derive(Debug, Clone, Default)]
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
    pub evidence: request::Evidence,
}

impl Engine {
    /// The present unit in the work-unit form. Changes nothing.
    pub fn next_work_unit(&self, run: Option<&str>) -> Result<NextWorkUnit, Fault> {
        let none = |over, run_id, status: &str, paused_reason, message: &str| {
            Ok(NextWorkUnit::None(NoWorkUnit {
                over,
                run_id,
                status: status.to_owned(),
                paused_reason,
                message: message.to_owned(),
            }))
        };
        let next = match self.next(&AUTOPILOT, run, false) {
            Err(fault) if fault.code == "run_over" => {
                let run = fault.details.get("runId").and_then(Value::as_str);
                let message = "The run was aborted; there is nothing more to do in it.";
                return none(
                    true,
                    run.unwrap_or_default().to_owned(),
                    "aborted",
                    None,
                    message,
                );
            }
            other => other?,
        };
        match next.action {
            ActionKind::Paused => {
                let message = "The run is paused; it takes no results until it is resumed.";
                none(false, next.run_id, "paused", next.paused_reason, message)
            }
            ActionKind::Complete => {
                let status = next.status.unwrap_or_default();
                let message = "The run is over; there is nothing more to do in it.";
                none(true, next.run_id, &status, None, message)
            }
            _ => Ok(NextWorkUnit::Unit(Box::new(unit(next)))),
        }
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
            Some(AwaitedReport::Commit) => Some("commit"),
            Some(AwaitedReport::Suite) => Some("finalize"),
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
                (Some(before), _) => AwaitedReport::of(&before.role),
                (None, "commit") => Some(AwaitedReport::Commit),
                (None, "finalize") => Some(AwaitedReport::Suite),
                (None, _) => Some(AwaitedReport::Tests),
            }
        };
        // Where tests are to pass, failing ones use up an attempt.
        let may_fail = report == Some(AwaitedReport::Tests) && phase != "red";
        if is_present && !result.success && !may_fail {
            let phase = reported_as.unwrap_or(&phase);
            return Ok(not_done(unit, phase, result, next));
        }
        let (meaning, report) = match report {
            Some(AwaitedReport::Commit) => (Meaning::Commit, commit(unit, result)),
            Some(AwaitedReport::Suite) => (Meaning::Suite, tested(unit, &phase, result)),
            _ => (Meaning::Tests, tested(unit, &phase, result)),
        };
        self.record_report(&AUTOPILOT, run, &report, meaning)
    }

    /// Where a run is, in the work-unit form.
    pub fn work_unit_state(&self, run: Option<&str>) -> Result<WorkUnitState, Fault> {
        let status = self.status(&AUTOPILOT, run)?;
        let task = status.task.unwrap_or_default();
        let phase = task.current_phase.map(|phase| phase.to_uppercase());
        Ok(WorkUnitState {
            run_id: status.run_id,
            task_id: task.task_id,
            status: status.status,
            current_phase: phase.clone(),
            current_subtask: task.current_subtask.clone(),
            completed_subtasks: task.progress.completed,
            failed_subtasks: task.progress.failed,
            start_time: status.start_time,
            last_update_time: status.last_updated,
            checkpoint: Checkpoint {
                subtask_id: task.current_subtask,
                phase,
                attempt_number: task.attempt_number,
            },
        })
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
    let suggestion = match phase {
        "red" => format!(
            "write the failing tests, then report again; a subtask that makes no sense is skipped with {}",
            Verb::Skip.step().and("reason")
        ),
        "commit" => format!(
            "mend what keeps the commit from being made, or go one phase back with {}",
            Verb::Reopen
        ),
        _ => "run the whole suite and report its numbers with `success: true`, also if tests fail: failing tests open a repair".to_owned(),
    };
    Verdict {
        validated: false,
        code: Some("unit_not_done".to_owned()),
        message: format!("{unit} is reported as not done{why}"),
        warning: None,
        suggestion: Some(suggestion),
        details: Map::new(),
        result: Map::new(),
        next_action,
        report: None,
    }
}

fn unit(next: Action) -> WorkUnit {
    let known = next.context.unwrap_or_default();
    let open = next.unit.unwrap_or_default();
    let subtask = open.item.as_ref();
    let id = open.key().map(str::to_owned);
    let of = id
        .as_ref()
        .map_or_else(String::new, |id| format!(" for subtask {id}"));
    let take = |keys: &[&str]| -> Map<String, Value> {
        keys.iter()
            .filter_map(|key| Some(((*key).to_owned(), known.get(*key)?.clone())))
            .collect()
    };
    let mut context = take(&[
        "projectRoot",
        "branch",
        "tag",
        "taskId",
        "taskTitle",
        "testCommand",
    ]);
    if let Some(subtask) = &subtask {
        for (name, field) in [
            ("subtaskTitle", "title"),
            ("subtaskDescription", "description"),
            ("dependencies", "dependencies"),
        ] {
            context.insert(name.to_owned(), json!(subtask.get(field)));
        }
    }
    let phase = next.phase.unwrap_or_default();
    let (action, own) = match phase.as_str() {
        "red" => (
            format!("Write failing tests{of}"),
            Some((
                "redPhase",
                take(&[
                    "testFile",
                    "testFramework",
                    "acceptanceCriteria",
                    "testPattern",
                    "existingTests",
                ]),
            )),
        ),
        "green" => (
            format!("Implement the least code that makes the tests pass{of}"),
            Some((
                "greenPhase",
                take(&[
                    "testFile",
                    "implementationHints",
                    "expectedFiles",
                    "redFiles",
                ]),
            )),
        ),
        "commit" => (
            format!("Commit the work{of}"),
            Some(("commitPhase", take(&["commitMessage", "filesToCommit"]))),
        ),
        _ if next.report == Some(AwaitedReport::Suite) => {
            ("Run the full test suite and report it".to_owned(), None)
        }
        phase => (format!("Do the work{of}: {phase}"), None),
    };
    if let Some((key, own)) = own {
        context.insert(key.to_owned(), Value::Object(own));
    }
    // Attempts are counted where there is a unit.
    let attempt = Some(open.attempt).filter(|_| !open.unit_id.is_empty());
    WorkUnit {
        over: false,
        run_id: next.run_id,
        id: open.unit_id,
        phase: phase.to_uppercase(),
        subtask_id: id,
        action,
        attempt,
        max_attempts: open.max_attempts,
        context,
        preconditions: next.preconditions,
        instructions: open.instructions,
    }
}
