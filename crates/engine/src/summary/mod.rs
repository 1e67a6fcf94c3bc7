//! The summary of a run: what was done, on what evidence, what was decided, and what was refused on the way. One for every
//! workflow: each part is there where the run has something to tell in it.

mod chronicle;
mod escape;
mod markdown;
mod phase;
mod row;
mod story;
mod tested;
mod timeline;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use machine::{Definition, Event, RunState, Severity};
use serde::Serialize;
use serde_json::{Value, json};

use crate::action::status;
use crate::capability::memory::{ADOPTED, Memory};
use crate::fault::Fault;
use crate::projection::{self, Projections};
use crate::summary::chronicle::Chronicle;
use crate::summary::phase::Phase;
use crate::summary::row::Row;
use crate::summary::story::Story;

/// A summary in both its forms.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// For programs.
    pub json: Value,
    /// For people, in Markdown.
    pub markdown: String,
}

/// A run as its journal tells it.
#[derive(Debug)]
struct Account {
    run: RunState,
    definition: Arc<Definition>,
    /// What it knows of its task, where it is over one.
    task: Option<Memory>,
    story: Story,
    refused: Refused,
    owed: Vec<String>,
    /// The policies that let more pass than they do where nothing is set.
    weaker: BTreeMap<String, Severity>,
    millis: u64,
}

/// What was refused, as far as it is listed, and how much it was.
#[derive(Debug, Default)]
struct Refused {
    listed: Vec<Value>,
    number: usize,
}

/// Makes the summary of the run in `dir` from its journal.
pub(crate) fn build(dir: &Path) -> Result<Summary, Fault> {
    Summary::of(&projection::whole(dir)?)
}

impl Summary {
    fn of(chronicle: &Chronicle) -> Result<Self, Fault> {
        let account = chronicle.account()?;
        Ok(Self {
            json: account.json(&chronicle.head, |_| true),
            markdown: markdown::page(&account, markdown::LONGEST),
        })
    }
}

/// What an event means, for programs and in a line of Markdown; nothing where others beside it say it.
pub(crate) fn told(
    definition: &Definition,
    at: &str,
    event: &Event,
) -> (Option<Value>, Option<String>) {
    let step = timeline::step(definition, at, event);
    let line = step.as_ref().and_then(timeline::line);
    (step, line)
}

/// What was refused, in a line of Markdown.
pub(crate) fn refusal(unit: &str, code: &str, message: &str) -> String {
    let [unit, code, message] = [unit, code, message].map(escape::inline);
    format!("**{unit}** refused: {message} ({code})")
}

/// The runs whose pages were asked for last.
static CHRONICLES: Projections<Chronicle> = Projections::of_at_most(8);

/// The summary of the run in `dir` as it is now.
pub(crate) fn of_now(dir: &Path, patience: Option<Duration>) -> Result<Summary, Fault> {
    CHRONICLES.of(dir, patience, |chronicle| Summary::of(chronicle))
}

/// The same for people alone.
pub(crate) fn page_of_now(dir: &Path, patience: Option<Duration>) -> Result<String, Fault> {
    CHRONICLES.of(dir, patience, |chronicle| {
        Ok(markdown::page(&chronicle.account()?, markdown::LONGEST))
    })
}

/// The same for programs alone, and of all that happened only what a person decided: a long run has many steps.
pub(crate) fn work_of_now(dir: &Path, patience: Option<Duration>) -> Result<Value, Fault> {
    let is_decided = |step: &Value| matches!(step["what"].as_str(), Some("decision" | "approval"));
    CHRONICLES.of(dir, patience, |chronicle| {
        Ok(chronicle.account()?.json(&chronicle.head, is_decided))
    })
}

/// The page alone, of at most so many bytes.
pub(crate) fn page_within(dir: &Path, most: usize) -> Result<String, Fault> {
    let account = projection::whole::<Chronicle>(dir)?.account()?;
    Ok(markdown::page(&account, most.min(markdown::LONGEST)))
}

/// Why an item was given up, as it was said last; in words that a page may have.
pub(crate) fn reason_of_skip(dir: &Path, item: &str) -> Result<Option<String>, Fault> {
    let account = projection::whole::<Chronicle>(dir)?.account()?;
    let mut skipped = account.story.skipped.iter().rev();
    let of_item = skipped.find(|skipped| skipped["subtaskId"] == item);
    let reason = of_item.and_then(|skipped| skipped["reason"].as_str());
    Ok(reason.map(escape::inline))
}

/// The page of a run that is over, as it was written at its end, without what can be unfolded; none while it goes on. Whoever ends
/// a run gets it in their answer, and has no use for each test by its name.
pub(crate) fn of_end(dir: &Path, run: &RunState) -> Option<String> {
    if !run.status.is_over() {
        return None;
    }
    let whole = journal::durable::read_text(&dir.join("report.md")).ok()?;
    let (mut page, mut folded) = (String::new(), false);
    for line in whole.lines() {
        match line {
            "<details>" => folded = true,
            "</details>" => folded = false,
            _ if folded => {}
            // Where something was left out two breaks follow each other.
            "" if page.ends_with("\n\n") => {}
            line => {
                page.push_str(line);
                page.push('\n');
            }
        }
    }
    Some(page)
}

impl Account {
    /// For programs. `wanted` says which of all that happened are told.
    fn json(&self, head: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let Self { run, story, .. } = self;
        let rows: Vec<Value> = story.rows.values().map(Row::json).collect();
        let steps: Vec<&Value> = story.steps.iter().filter(|step| wanted(step)).collect();
        let mut json = json!({
            "version": 1,
            "runId": run.run,
            "workflow": run.workflow,
            "title": self.definition.title,
            "status": run.status.name(),
            "endReason": run.end_reason,
            "state": run.tokens.first().map(|token| token.state.clone()),
            "startTime": run.started_at,
            "endTime": run.ended_at,
            "durationMs": self.millis,
            "inputs": run.inputs,
            "vars": run.vars,
            "items": status::items(run, &self.definition),
            "totals": {
                "commits": story.commits.len(),
                "accepted": story.verdicts("accepted"),
                "retried": story.verdicts("retried"),
                "refused": self.refused.number,
            },
            "subtasks": rows,
            "commits": story.commits,
            "finalSuite": story.suite.as_ref().map(Phase::json),
            "failedSuites": story.failed_suites.iter().map(Phase::json).collect::<Vec<_>>(),
            "refused": self.refused.listed,
            "reopened": story.reopened,
            "rewound": story.rewound,
            "adopted": ADOPTED.value(&run.kept),
            "skipped": story.skipped,
            "allowed": story.allowed,
            "approvals": story.approvals,
            "pauses": story.pauses,
            "failedEffects": story.failed_effects,
            "warnings": story.warnings,
            "weakerPolicies": self.weaker,
            "evidence": self.evidence(),
            "steps": steps,
            "journalHead": head,
        });
        if let Some(memory) = &self.task {
            self.put_task(&mut json, memory);
        }
        json
    }

    /// What there is to tell of the task that the run is over.
    fn put_task(&self, json: &mut Value, memory: &Memory) {
        let start = &memory.start;
        let progress = status::progress(&self.run);
        let of_task = json!({
            "taskId": start.task_id,
            "taskTitle": start.task_title,
            "tag": start.tag,
            "branch": start.branch,
            "startCommit": start.head,
            "notRun": progress.remaining,
            "leftOut": start.left_out,
            "doneBefore": start.skipped,
            "testCommand": start.test_command,
            "owedStatuses": self.owed,
        });
        let totals = json!({
            "subtasks": progress.total,
            "completed": progress.completed.len(),
            "failed": progress.failed.len(),
            "notRun": progress.remaining.len(),
        });
        put_all(&mut json["totals"], totals);
        put_all(json, of_task);
    }

    /// What the test results rest on.
    fn evidence(&self) -> Value {
        let basis = self.story.basis();
        let mut evidence = json!({
            "summary": basis.spoken(&str::to_owned),
            "red": basis.red.json(),
            "green": basis.green.json(),
            "suite": basis.suite.json(),
            "baseline": self.story.baseline.as_ref().map(Phase::json),
        });
        put_all(&mut evidence, basis.total().json());
        evidence
    }
}

/// Puts all members of an object into another one.
fn put_all(into: &mut Value, of: Value) {
    if let (Value::Object(into), Value::Object(of)) = (into, of) {
        into.extend(of);
    }
}
