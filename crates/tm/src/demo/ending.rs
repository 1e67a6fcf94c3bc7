//! What must be true when it is over.

use engine::Fault;
use serde_json::Value;

use super::stage::{Stage, unexpected};
use super::story::PlayedRun;
use super::teller::Narrator;

/// What the run came to.
#[derive(Debug)]
pub struct Ending {
    /// The run.
    pub run_id: String,
    /// Its branch.
    pub branch: String,
    /// Commits on the branch that are not on main.
    pub commits: usize,
}

/// Lines of the report that are shown.
const REPORT_LINES: usize = 14;

/// Looks into everything that the run has left behind.
pub fn check(
    stage: &Stage,
    played: &PlayedRun,
    teller: &mut Narrator<'_>,
) -> Result<Ending, Fault> {
    teller.chapter("What is there now")?;
    let log = stage.git(&["log", "--reverse", "--format=%h %s", "main..HEAD"])?;
    teller.aside("git log main..HEAD")?;
    teller.lines(&log)?;
    let commits = log.lines().count();
    for id in &played.subtasks {
        let of_subtask = log
            .lines()
            .filter(|line| line.contains(&format!("(task {id})")))
            .count();
        if of_subtask != 1 {
            return Err(unexpected(format!(
                "subtask {id} has {of_subtask} commits instead of one"
            )));
        }
    }
    if played.subtasks != ["1.1", "1.3", "1.2"] {
        return Err(unexpected(format!(
            "the subtasks were done in another order: {:?}",
            played.subtasks
        )));
    }

    let tasks = stage.read(".taskmaster/tasks/tasks.json")?;
    let tasks: Value = serde_json::from_str(&tasks)
        .map_err(|error| unexpected(format!("tasks.json cannot be read any more: {error}")))?;
    let status = |pointer: &str| {
        tasks
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or("missing")
    };
    let task = status("/master/tasks/0/status");
    let subtasks = [0, 1, 2].map(|at| status(&format!("/master/tasks/0/subtasks/{at}/status")));
    if task != "review" || subtasks != ["done"; 3] {
        return Err(unexpected(format!(
            "the task is {task}, its subtasks are {subtasks:?}"
        )));
    }
    teller.good("tasks.json: the task is in review, its three subtasks are done")?;

    let changes = stage.git(&["status", "--porcelain"])?;
    if !changes.is_empty() {
        return Err(unexpected(format!(
            "the working tree is not clean: {changes}"
        )));
    }
    teller.good("the working tree is clean")?;

    let verified = stage.tm_expecting(0, &["log", "verify", &played.run_id])?;
    if verified.answer.get("whole") != Some(&Value::Bool(true)) {
        return Err(unexpected(format!(
            "the journal is not whole: {}",
            verified.answer
        )));
    }
    let events = verified
        .answer
        .get("events")
        .and_then(Value::as_u64)
        .unwrap_or_default();
    teller.called(&verified, &format!("{events} events, the chain is whole"))?;

    let run = stage.tm_expecting(0, &["autopilot", "status", "--run-id", &played.run_id])?;
    if run.text("/status") != "completed" {
        return Err(unexpected(format!(
            "the run is not completed: {}",
            run.answer
        )));
    }
    teller.called(&run, "completed")?;

    if played.report.is_empty() {
        return Err(unexpected("there is no report"));
    }
    teller.aside("The beginning of the report:")?;
    let beginning: Vec<&str> = played.report.lines().take(REPORT_LINES).collect();
    teller.lines(&beginning.join("\n"))?;
    Ok(Ending {
        run_id: played.run_id.clone(),
        branch: played.branch.clone(),
        commits,
    })
}
