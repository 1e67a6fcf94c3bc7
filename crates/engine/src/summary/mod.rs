//! The summary of a run: what was done, on what evidence, what was decided, and what was refused on the way. One for every
//! workflow: each part is there where the run has something to tell in it.

mod escape;
mod markdown;
mod phase;
mod row;
mod story;
mod tested;
mod timeline;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use journal::{FileJournal, Journal as _, Position};
use machine::event::AcceptedReport;
use machine::state::ItemStatus;
use machine::trigger::Trigger;
use machine::{Definition, Event, RunState, Severity};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::capability::git::effects::{self, rewind::REWIND};
use crate::capability::memory::{self, BASELINE, Memory, TESTED};
use crate::capability::messages;
use crate::clock::millis_of;
use crate::derived::commit_of;
use crate::earlier::Earlier;
use crate::fault::Fault;
use crate::find::is_over_a_task;
use crate::generic;
use crate::open_run::{self, event_of};
use crate::pinning::weaker_policies;
use crate::revision;
use crate::run_cache;
use crate::summary::phase::Phase;
use crate::summary::row::Row;
use crate::summary::story::Story;
use crate::view::autopilot::state;

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
    let (account, head) = account(dir)?;
    Ok(Summary {
        json: account.json(&head),
        markdown: markdown::page(&account, markdown::LONGEST),
    })
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

/// How many summaries a process remembers that answers many calls.
const MOST_REMEMBERED: usize = 8;

/// Summaries as they were made last, each with what the run's files looked like then.
static REMEMBERED: Mutex<Vec<(PathBuf, u64, Summary)>> = Mutex::new(Vec::new());

/// The summary of the run in `dir` as it is now. A process that answers many calls makes it anew only when the run has moved.
pub(crate) fn of_now(dir: &Path) -> Result<Summary, Fault> {
    if !run_cache::is_on() {
        return build(dir);
    }
    let seen = revision::of_run(dir);
    let mut known = REMEMBERED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, _, summary)) = known.iter().find(|(of, at, _)| of == dir && *at == seen) {
        return Ok(summary.clone());
    }
    known.retain(|(of, _, _)| of != dir);
    drop(known);
    let summary = build(dir)?;
    let mut known = REMEMBERED.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() >= MOST_REMEMBERED {
        known.remove(0);
    }
    known.push((dir.to_owned(), seen, summary.clone()));
    Ok(summary)
}

/// The page alone, of at most so many bytes.
pub(crate) fn page_within(dir: &Path, most: usize) -> Result<String, Fault> {
    let (account, _) = account(dir)?;
    Ok(markdown::page(&account, most.min(markdown::LONGEST)))
}

/// Why an item was given up, as it was said last; in words that a page may have.
pub(crate) fn reason_of_skip(dir: &Path, item: &str) -> Result<Option<String>, Fault> {
    let (account, _) = account(dir)?;
    let mut skipped = account.story.skipped.iter().rev();
    let of_item = skipped.find(|skipped| skipped["subtaskId"] == item);
    let reason = of_item.and_then(|skipped| skipped["reason"].as_str());
    Ok(reason.map(escape::inline))
}

/// The run as its journal tells it, and the hash of the last line.
fn account(dir: &Path) -> Result<(Account, String), Fault> {
    let tail = FileJournal::open(dir)?.read(&Position::start())?;
    let (mut run, mut story) = (RunState::default(), Story::default());
    let (mut pinned, mut earlier) = (None, Earlier::of(&tail.records));
    let mut way_back = Value::Null;
    for record in &tail.records {
        let event = event_of(record)?;
        tell(&mut story, dir, &run, &record.ts, &event);
        run.apply(&record.ts, &event);
        // The first event says which definition it is.
        let definition = match &pinned {
            Some(definition) => definition,
            None => pinned.insert(open_run::pinned(dir, &run)?),
        };
        let mut step = timeline::step(definition, &record.ts, &event);
        if let Event::EffectDone { name, result, .. } = &event
            && name == REWIND
        {
            way_back = result.clone();
        }
        if let Event::RunRewound { to, .. } = event {
            story.go_back(earlier.behind(to));
            for name in ["commits", "keptAs"] {
                if let Some(step) = &mut step {
                    step[name] = way_back[name].clone();
                }
            }
            story.rewound.extend(step.clone());
        }
        story.steps.extend(step);
        earlier.note(record.seq, &story);
    }
    let definition = pinned.ok_or_else(|| Fault::bug("a run without a journal"))?;
    for (key, item) in memory::subtasks(&run) {
        let row = story.rows.entry(key.to_owned()).or_default();
        key.clone_into(&mut row.id);
        item.text("title").clone_into(&mut row.title);
        item.text("kind").clone_into(&mut row.kind);
        row.status = serde_json::to_value(item.status)
            .ok()
            .and_then(|status| status.as_str().map(str::to_owned))
            .unwrap_or_default();
        let sha = memory::commit_of(&run, key);
        if !sha.is_empty() {
            row.commit = Some(sha.to_owned());
        }
    }
    story.baseline = BASELINE
        .value(&run.kept)
        .and_then(Value::as_object)
        .map(|facts| {
            let level = facts.get("level").and_then(Value::as_str);
            Phase::of_facts(facts, level.unwrap_or_default())
        });
    let refused = refusals(dir);
    for refusal in &refused.listed {
        let text = |name: &str| refusal.get(name).and_then(Value::as_str);
        let row = text("unit")
            .and_then(|unit| story.units.get(unit))
            .and_then(|key| story.rows.get_mut(key));
        if let Some(row) = row {
            row.refused.push(json!({
                "at": text("ts"), "code": text("code"), "message": text("message"),
            }));
        }
    }
    let millis = millis_of(run.ended_at.as_deref().unwrap_or(&run.updated_at))
        .zip(millis_of(&run.started_at))
        .and_then(|(end, start)| u64::try_from(end - start).ok())
        .unwrap_or(0);
    let is_over_a_task = is_over_a_task(&run);
    let account = Account {
        task: is_over_a_task.then(|| Memory::of(&run)).transpose()?,
        owed: memory::owed(&run),
        weaker: weaker_policies(&run, &definition),
        run,
        definition,
        story,
        refused,
        millis,
    };
    Ok((account, tail.head.hash))
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
    fn json(&self, head: &str) -> Value {
        let Self { run, story, .. } = self;
        let rows: Vec<Value> = story.rows.values().map(Row::json).collect();
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
            "items": generic::view::items(run, &self.definition),
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
            "skipped": story.skipped,
            "allowed": story.allowed,
            "approvals": story.approvals,
            "pauses": story.pauses,
            "failedEffects": story.failed_effects,
            "warnings": story.warnings,
            "weakerPolicies": self.weaker,
            "evidence": self.evidence(),
            "steps": story.steps,
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
        let progress = state::progress(&self.run);
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
            "redInCleanTree": basis.clean,
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

/// Takes in an event. `run` is as it was before.
fn tell(story: &mut Story, dir: &Path, run: &RunState, at: &str, event: &Event) {
    if let Some(sha) = commit_of(event) {
        story.commits.push(sha.to_owned());
    }
    match event {
        Event::UnitIssued { unit, token, .. } => {
            if let Some(key) = run.token(*token).and_then(|token| token.key()) {
                story.units.insert(unit.clone(), key.to_owned());
            }
        }
        Event::ReportAccepted(report) | Event::ReportRetried(report) => {
            warned(story, report);
            let accepted = matches!(event, Event::ReportAccepted(_));
            match (&report.item, report.reader()) {
                (None, "tests") if report.role.suite.is_some() => {
                    let suite = Phase::of(report, at);
                    if accepted {
                        story.suite = Some(suite);
                    } else {
                        story.failed_suites.push(suite);
                        story.mended_by = None;
                    }
                }
                (item, "tests") => {
                    let item = item.as_deref().unwrap_or_default();
                    tested(story, dir, run, at, report, item, accepted);
                }
                (Some(item), "commit") => {
                    let sha = report.facts.get("sha").and_then(Value::as_str);
                    story.rows.entry(item.clone()).or_default().handed_in =
                        sha.is_some_and(|sha| !sha.is_empty());
                }
                _ => {}
            }
        }
        Event::TokenClosed {
            token, left: false, ..
        } => {
            if let Some(token) = run.token(*token)
                && let Some(key) = token.key()
                && (is_over_a_task(run) || story.rows.contains_key(key))
            {
                let row = story.rows.entry(key.to_owned()).or_default();
                row.duration_ms = millis_of(at)
                    .zip(token.opened_at.as_deref().and_then(millis_of))
                    .and_then(|(end, start)| u64::try_from(end - start).ok())
                    .unwrap_or(0);
            }
        }
        Event::StateEntered {
            item,
            from,
            to,
            cause,
            reason,
            ..
        } if matches!(cause, Trigger::Reopen | Trigger::Skip) => {
            let mut value =
                json!({ "subtaskId": item, "from": from, "to": to, "reason": reason, "at": at });
            let turned = if *cause == Trigger::Skip {
                &mut story.skipped
            } else {
                &mut story.reopened
            };
            // The item that an edge gives up was told before.
            let of_edge = |told: &mut Value| told["at"] == at && told.get("from").is_none();
            if let Some(told) = turned.pop_if(of_edge) {
                value["subtaskId"] = told["subtaskId"].clone();
                value["set"] = told["set"].clone();
                if let Some(kind) = told.get("type") {
                    value["type"] = kind.clone();
                }
            }
            if let Some((key, when, kind)) = story.new_kind.take()
                && (item.as_ref(), when.as_str()) == (Some(&key), at)
            {
                value["type"] = kind;
            }
            turned.push(value);
            if *cause == Trigger::Skip {
                return;
            }
            // What was accepted there before stands no more.
            if let Some(row) = item.as_ref().and_then(|item| story.rows.get_mut(item)) {
                let refactored = row.refactored.take();
                row.tree = None;
                if refactored.is_some_and(|phase| phase.state == *to) {
                    return;
                }
                row.green = None;
                row.red = row.red.take().filter(|red| red.state != *to);
            }
        }
        Event::ItemChanged {
            key,
            fields,
            status: None,
            ..
        } if fields.contains_key("kind") => {
            story.new_kind = Some((key.clone(), at.to_owned(), fields["kind"].clone()));
        }
        Event::ItemChanged {
            set,
            key,
            fields,
            status: Some(status @ (ItemStatus::Open | ItemStatus::Failed)),
            reason,
        } => {
            let told = reason.clone().map(Value::from);
            if let Some(reason) = told.as_ref().or_else(|| fields.get("reason")) {
                let before = run.sets.get(set).and_then(|items| items.get(key));
                let before = before.map_or("", |item| item.text("type"));
                let kind = fields.get("type").and_then(Value::as_str);
                let mut value = json!({ "subtaskId": key, "set": set, "reason": reason, "at": at });
                if let Some(kind) = kind.filter(|kind| *kind != before) {
                    value["type"] = kind.into();
                }
                if *status == ItemStatus::Failed {
                    story.skipped.push(value);
                } else {
                    story.reopened.push(value);
                }
            }
        }
        // That it could not be handed over at once says nothing of what the run made.
        Event::EffectFailed { .. } if is_behind_the_end(run) => {}
        other => stopped(story, at, other),
    }
}

/// Whether what is under way is done with what the run made.
fn is_behind_the_end(run: &RunState) -> bool {
    let pending = run.pending.as_ref();
    pending.is_some_and(|pending| Trigger::AFTER_THE_END.contains(&pending.at.trigger))
}

/// Takes in what did not go by itself.
fn stopped(story: &mut Story, at: &str, event: &Event) {
    match event {
        Event::RefusalAllowed {
            unit,
            code,
            reason,
            approval,
        } => {
            story.allowed.push(json!({
                "unit": unit,
                "code": code,
                "reason": reason,
                "by": approval.actor,
                "strength": approval.strength,
                "how": approval.how,
                "at": at,
            }));
        }
        Event::ApprovalGiven {
            what,
            stopped,
            reason,
            approval,
            ..
        } => {
            story.approvals.push(json!({
                "turn": what,
                "stopped": stopped,
                "reason": reason,
                "by": approval.actor,
                "strength": approval.strength,
                "how": approval.how,
                "at": at,
            }));
        }
        Event::RunPaused {
            reason, message, ..
        } => {
            story
                .pauses
                .push(json!({ "reason": reason, "message": message, "at": at }));
        }
        Event::EffectDone { name, result, .. } => {
            let told = effects::commit::notes(result, "the tasks file");
            story.warnings.extend(
                told.into_iter().map(
                    |message| json!({ "unit": name, "code": "tasks_file", "message": message }),
                ),
            );
            let Some(failed) = result.get("failed") else {
                return;
            };
            story.failed_effects.push(json!({
                "effect": name,
                "code": failed.get("code"),
                "message": failed.get("message"),
                "at": at,
            }));
        }
        Event::EffectFailed {
            name,
            code,
            message,
            ..
        } => {
            story
                .failed_effects
                .push(json!({ "effect": name, "code": code, "message": message, "at": at }));
        }
        _ => {}
    }
}

/// Takes in the test results of a subtask.
fn tested(
    story: &mut Story,
    dir: &Path,
    run: &RunState,
    at: &str,
    report: &AcceptedReport,
    item: &str,
    accepted: bool,
) {
    let mut phase = Phase::of(report, at);
    let row = story.rows.entry(item.to_owned()).or_default();
    if report.role.shows.is_some() {
        if accepted {
            phase.look_up_red(dir, run, report);
            row.red = Some(phase);
        }
        return;
    }
    let held_by = report.role.against.as_ref();
    let is_refactored =
        row.green.is_some() && held_by.is_some() && held_by == row.green_as.as_ref();
    row.reports += u32::from(!is_refactored);
    if !accepted {
        let mut failed = phase.json();
        if let Value::Object(map) = &mut failed {
            map.extend(memory::entry("code", report.code.clone()));
        }
        row.failed_attempts.push(failed);
        return;
    }
    let owed = match &row.red {
        Some(red) => &red.newly_failing[..],
        // A repair is there for what failed in the suite, unless one before it has mended that.
        None => story
            .failed_suites
            .last()
            .filter(|_| story.mended_by.as_ref().is_none_or(|by| by == item))
            .map_or(&[][..], |suite| &suite.failing[..]),
    };
    phase.look_up_green(dir, run, report, owed);
    if row.red.is_none() {
        story.mended_by.get_or_insert_with(|| item.to_owned());
    }
    let tested = TESTED.read(&report.keep, report.role.label.as_ref());
    row.tree = tested.ok().flatten().map(|tested| tested.tree);
    if is_refactored {
        row.refactored = Some(phase);
        return;
    }
    row.green_as.clone_from(&report.role.label);
    row.refactored = None;
    row.green = Some(phase);
}

/// What a report was accepted with a warning for.
fn warned(story: &mut Story, report: &AcceptedReport) {
    for code in &report.warnings {
        let message = messages::message_of(report, code);
        story
            .warnings
            .push(json!({ "unit": report.unit, "code": code, "message": message }));
    }
}

/// What was refused. The file is there for this alone, and may be anything.
fn refusals(dir: &Path) -> Refused {
    const MOST: usize = 1000;
    let mut refused = Refused::default();
    let Ok(file) = std::fs::File::open(dir.join("refusals.jsonl")) else {
        return refused;
    };
    let lines = BufReader::new(file).lines().map_while(Result::ok);
    for refusal in lines.filter_map(|line| serde_json::from_str::<Map<_, _>>(&line).ok()) {
        refused.number += 1;
        if refused.listed.len() < MOST {
            refused.listed.push(Value::Object(refusal));
        }
    }
    refused
}
