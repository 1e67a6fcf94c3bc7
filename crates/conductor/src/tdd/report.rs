//! The run report: what was done, on what evidence, and what was refused on the way.

use std::fmt::Write as _;
use std::path::Path;

use indexmap::IndexMap;
use journal::{FileJournal, Journal as _, Position};
use project::convention::plain::one_line;
use rails::event::Reported;
use rails::{Event, RunState};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::derived::{commit_of, event_of};
use super::memory::{self, Memory};
use super::{texts, view};
use crate::clock::{millis_of, spoken};
use crate::fault::Fault;

/// A run report in both its forms.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// For programs.
    pub json: Value,
    /// For people, in Markdown.
    pub markdown: String,
}

#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    id: String,
    title: String,
    status: String,
    red: Option<Value>,
    green: Option<Value>,
    /// GREEN reports until one was accepted, over all attempts and reopenings.
    reports: u32,
    coverage: Option<Value>,
    commit: Option<String>,
    duration_ms: u64,
    level: String,
}

#[derive(Debug, Clone, Default)]
struct Story {
    rows: IndexMap<String, Row>,
    commits: Vec<String>,
    suite: Option<Value>,
    failed_suites: Vec<Value>,
    reopened: Vec<Value>,
    skipped: Vec<Value>,
    allowed: Vec<Value>,
    pauses: Vec<Value>,
    failed_effects: Vec<Value>,
    warnings: Vec<Value>,
}

/// Builds the report of the run in `dir` from its journal.
pub fn build(dir: &Path) -> Result<Report, Fault> {
    let tail = FileJournal::open(dir)?.read(&Position::start())?;
    let mut run = RunState::default();
    let mut story = Story::default();
    for record in &tail.records {
        let event = event_of(record)?;
        tell(&mut story, &run, &record.ts, &event);
        run.apply(&record.ts, &event);
    }
    for (key, item) in memory::subtasks(&run) {
        let row = story.rows.entry(key.to_owned()).or_default();
        key.clone_into(&mut row.id);
        item.text("title").clone_into(&mut row.title);
        row.status = serde_json::to_value(item.status)
            .ok()
            .and_then(|status| status.as_str().map(str::to_owned))
            .unwrap_or_default();
        let sha = item.text("sha");
        if !sha.is_empty() {
            row.commit = Some(sha.to_owned());
        }
    }
    let refused = refusals(dir);
    let memory = Memory::of(&run)?;
    let owed = memory::owed(&run);
    let millis = millis_of(run.ended_at.as_deref().unwrap_or(&run.updated_at))
        .zip(millis_of(&run.started_at))
        .and_then(|(end, start)| u64::try_from(end - start).ok())
        .unwrap_or(0);
    let rows: Vec<&Row> = story.rows.values().collect();
    let progress = view::progress(&run);
    let json = json!({
        "version": 1,
        "runId": run.run,
        "workflow": run.workflow,
        "taskId": memory.start.task_id,
        "taskTitle": memory.start.task_title,
        "tag": memory.start.tag,
        "branch": memory.start.branch,
        "status": run.status.name(),
        "endReason": run.end_reason,
        "startTime": run.started_at,
        "endTime": run.ended_at,
        "durationMs": millis,
        "subtasks": rows,
        "totals": {
            "subtasks": progress.total,
            "completed": progress.completed.len(),
            "failed": progress.failed.len(),
            "notRun": progress.remaining.len(),
            "commits": story.commits.len(),
            "refused": refused.len(),
        },
        "notRun": progress.remaining,
        "leftOut": memory.start.left_out,
        "doneBefore": memory.start.skipped,
        "testCommand": memory.start.test_command,
        "commits": story.commits,
        "finalSuite": story.suite,
        "failedSuites": story.failed_suites,
        "refused": refused,
        "reopened": story.reopened,
        "skipped": story.skipped,
        "allowed": story.allowed,
        "pauses": story.pauses,
        "failedEffects": story.failed_effects,
        "warnings": story.warnings,
        "owedStatuses": owed,
        "evidence": "All test results of this run are claimed: they are the numbers that the executor reported.",
        "journalHead": tail.head.hash,
    });
    let markdown = markdown(&run, &memory, &story, &refused, &owed, millis);
    Ok(Report { json, markdown })
}

fn counts(facts: &Map<String, Value>) -> Value {
    let mut map = Map::new();
    for name in ["passed", "failed", "skipped", "errors"] {
        map.insert(
            name.to_owned(),
            facts.get(name).cloned().unwrap_or(Value::from(0)),
        );
    }
    Value::Object(map)
}

fn tell(story: &mut Story, run: &RunState, at: &str, event: &Event) {
    if let Some(sha) = commit_of(event) {
        story.commits.push(sha.to_owned());
    }
    match event {
        Event::ReportAccepted(report) | Event::ReportRetried(report) => {
            let accepted = matches!(event, Event::ReportAccepted(_));
            warned(story, report);
            match &report.item {
                Some(item) if report.reader == "tests" => {
                    let row = story.rows.entry(item.clone()).or_default();
                    report.level.clone_into(&mut row.level);
                    if report.state == "green" {
                        row.reports += 1;
                        if accepted {
                            row.green = Some(counts(&report.facts));
                            row.coverage = report.facts.get("coverage").cloned();
                        }
                    } else if accepted {
                        row.red = Some(counts(&report.facts));
                    }
                }
                None if report.reader == "tests" => {
                    if accepted {
                        let mut suite = counts(&report.facts);
                        if let (Value::Object(map), Some(coverage)) =
                            (&mut suite, report.facts.get("coverage"))
                        {
                            map.insert("coverage".to_owned(), coverage.clone());
                        }
                        story.suite = Some(suite);
                    } else {
                        story.failed_suites.push(counts(&report.facts));
                    }
                }
                _ => {}
            }
        }
        Event::TokenClosed {
            token, left: false, ..
        } => {
            if let Some(token) = run.token(*token)
                && let Some(key) = token.key()
            {
                let row = story.rows.entry(key.to_owned()).or_default();
                row.duration_ms = millis_of(at)
                    .zip(token.opened_at.as_deref().and_then(millis_of))
                    .and_then(|(end, start)| u64::try_from(end - start).ok())
                    .unwrap_or(0);
            }
        }
        Event::StateEntered {
            token,
            from,
            to,
            cause,
            reason,
            ..
        } if cause == "reopen" || cause == "skip" => {
            let item = run.token(*token).and_then(|token| token.key());
            let value =
                json!({ "subtaskId": item, "from": from, "to": to, "reason": reason, "at": at });
            if cause == "reopen" {
                story.reopened.push(value);
            } else {
                story.skipped.push(value);
            }
        }
        Event::RefusalAllowed {
            unit,
            code,
            reason,
            actor,
        } => {
            story.allowed.push(
                json!({ "unit": unit, "code": code, "reason": reason, "by": actor, "at": at }),
            );
        }
        Event::RunPaused {
            reason, message, ..
        } => {
            story
                .pauses
                .push(json!({ "reason": reason, "message": message, "at": at }));
        }
        Event::EffectDone { name, result, .. } if result.get("failed").is_some() => {
            let failed = &result["failed"];
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

/// What a report was accepted with a warning for.
fn warned(story: &mut Story, report: &Reported) {
    for code in &report.warnings {
        let message = report
            .findings
            .iter()
            .find(|finding| finding.policy == *code)
            .map_or_else(
                || texts::message(code, &report.facts),
                |finding| finding.message.clone(),
            );
        story
            .warnings
            .push(json!({ "unit": report.unit, "code": code, "message": message }));
    }
}

fn refusals(dir: &Path) -> Vec<Value> {
    const MOST: usize = 1000;
    std::fs::read_to_string(dir.join("refusals.jsonl"))
        .unwrap_or_default()
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .take(MOST)
        .collect()
}

/// Text of others in a table cell or a list: one line, nothing that Markdown or HTML would act on.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for c in one_line(text).chars() {
        if matches!(
            c,
            '|' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '\\' | '#' | '!'
        ) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn tests(value: Option<&Value>) -> String {
    let Some(value) = value else {
        return "–".to_owned();
    };
    let number = |name: &str| value.get(name).and_then(Value::as_u64).unwrap_or(0);
    let failing = number("failed") + number("errors");
    match failing {
        0 => format!("{} passed", number("passed")),
        failing => format!("{failing} failed, {} passed", number("passed")),
    }
}

fn coverage(value: Option<&Value>) -> String {
    value
        .and_then(|coverage| coverage.get("lines"))
        .and_then(Value::as_f64)
        .map_or_else(|| "–".to_owned(), |lines| format!("{lines}%"))
}

fn markdown(
    run: &RunState,
    memory: &Memory,
    story: &Story,
    refused: &[Value],
    owed: &[String],
    millis: u64,
) -> String {
    let mut out = String::new();
    let start = &memory.start;
    let _ = writeln!(
        out,
        "# Task {}: {}\n",
        cell(&start.task_id),
        cell(&start.task_title)
    );
    let progress = view::progress(run);
    let _ = writeln!(
        out,
        "**{}** · {} of {} done · {} on `{}` · {}\n",
        run.status.name(),
        progress.completed.len(),
        texts::counted(progress.total as u64, "subtask"),
        texts::counted(story.commits.len() as u64, "commit"),
        start.branch,
        spoken(millis)
    );
    if let Some(reason) = &run.end_reason {
        let _ = writeln!(out, "Ended because: {}\n", cell(reason));
    }
    let _ = writeln!(
        out,
        "| Subtask | RED | GREEN | GREEN reports | Coverage | Time | Commit |"
    );
    let _ = writeln!(out, "|---|---|---|---|---|---|---|");
    for row in story.rows.values() {
        let commit = match (&row.commit, row.status.as_str()) {
            (Some(sha), _) => format!("`{}`", sha.get(..10).unwrap_or(sha)),
            (None, "failed") => "given up".to_owned(),
            (None, "open") => "not run".to_owned(),
            (None, _) => "–".to_owned(),
        };
        let _ = writeln!(
            out,
            "| {} {} | {} | {} | {} | {} | {} | {} |",
            cell(&row.id),
            cell(&row.title),
            tests(row.red.as_ref()),
            tests(row.green.as_ref()),
            row.reports,
            coverage(row.coverage.as_ref()),
            spoken(row.duration_ms),
            commit
        );
    }
    out.push('\n');
    if let Some(suite) = &story.suite {
        let _ = writeln!(
            out,
            "Final suite: {}; coverage {}.\n",
            tests(Some(suite)),
            coverage(suite.get("coverage"))
        );
    }
    sections(&mut out, run, memory, story, refused, owed);
    let _ = writeln!(
        out,
        "Evidence: all test results are **claimed** – the numbers are those that the executor reported; the test command is {}.\n\nRun `{}`, begun {}.",
        code_span(&start.test_command),
        run.run,
        run.started_at
    );
    out
}

/// What did not go straight.
fn sections(
    out: &mut String,
    run: &RunState,
    memory: &Memory,
    story: &Story,
    refused: &[Value],
    owed: &[String],
) {
    let start = &memory.start;
    let progress = view::progress(run);
    section(out, "Suites that failed", &story.failed_suites, |value| {
        format!("{}; a repair was opened", tests(Some(value)))
    });
    section(out, "Refused on the way", refused, |value| {
        format!(
            "{}: {} – {}",
            code(value, "unit"),
            code(value, "code"),
            text(value, "message")
        )
    });
    section(out, "Reopened", &story.reopened, |value| {
        format!(
            "{} from {} to {}: {}",
            text(value, "subtaskId"),
            text(value, "from"),
            text(value, "to"),
            text(value, "reason")
        )
    });
    section(out, "Given up", &story.skipped, |value| {
        format!(
            "{} in {}: {}",
            text(value, "subtaskId"),
            text(value, "from"),
            text(value, "reason")
        )
    });
    section(out, "Let pass by a person", &story.allowed, |value| {
        format!(
            "{} for {} by {}: {}",
            code(value, "code"),
            code(value, "unit"),
            text(value, "by"),
            text(value, "reason")
        )
    });
    section(out, "Warnings", &story.warnings, |value| {
        format!("{}: {}", code(value, "unit"), text(value, "message"))
    });
    section(out, "Pauses", &story.pauses, |value| {
        format!("{} at {}", text(value, "reason"), text(value, "at"))
    });
    section(out, "Effects that failed", &story.failed_effects, |value| {
        format!(
            "{}: {} – {}",
            code(value, "effect"),
            code(value, "code"),
            text(value, "message")
        )
    });
    let not_run: Vec<Value> = progress
        .remaining
        .iter()
        .cloned()
        .chain(start.left_out.iter().cloned())
        .map(Value::from)
        .collect();
    section(out, "Not run", &not_run, |value| {
        cell(value.as_str().unwrap_or_default())
    });
    if !start.skipped.is_empty() {
        let _ = writeln!(
            out,
            "Done before the run: {}.\n",
            cell(&start.skipped.join(", "))
        );
    }
    if !owed.is_empty() {
        let _ = writeln!(
            out,
            "Done, but not yet written into the task file: {}.\n",
            cell(&owed.join(", "))
        );
    }
}

fn text(value: &Value, name: &str) -> String {
    const LONGEST: usize = 300;
    match value.get(name) {
        Some(Value::String(text)) => {
            let line = cell(text);
            project::convention::plain::cut_at_word(&line, LONGEST).to_owned()
        }
        Some(Value::Null) | None => "–".to_owned(),
        Some(other) => other.to_string(),
    }
}

/// A code, in a code span.
fn code(value: &Value, name: &str) -> String {
    code_span(value.get(name).and_then(Value::as_str).unwrap_or("–"))
}

fn code_span(text: &str) -> String {
    format!("`{}`", one_line(text).replace('`', "'"))
}

fn section(out: &mut String, title: &str, rows: &[Value], line: impl Fn(&Value) -> String) {
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(out, "## {title}\n");
    for row in rows {
        let _ = writeln!(out, "- {}", line(row));
    }
    out.push('\n');
}
