//! The run report: the states that were gone through, what was reported, and how it ended.

use std::fmt::Write as _;
use std::path::Path;

use journal::{FileJournal, Journal as _, Position};
use project::convention::plain::one_line;
use rails::definition::STATUS;
use rails::event::Reported;
use rails::{Definition, Event, RunState};
use serde_json::{Value, json};

use super::{view, words};
use crate::clock::{millis_of, spoken};
use crate::engine;
use crate::fault::Fault;
use crate::tdd::report::Report;

/// The longest note that a report for people shows, in characters.
const LONGEST_NOTE: usize = 300;

/// Builds the report of the run in `dir` from its journal.
pub(crate) fn build(dir: &Path) -> Result<Report, Fault> {
    let all = FileJournal::open(dir)?.read(&Position::start())?;
    let mut run = RunState::default();
    engine::fold(&mut run, &all.records)?;
    let definition = engine::pinned(dir, &run)?;
    let mut steps = Vec::new();
    for record in &all.records {
        let Ok(event) = Event::from_fields(&record.event, &record.fields) else {
            continue;
        };
        steps.extend(step(&definition, &record.ts, &event));
    }
    let count = |verdict: &str| {
        steps
            .iter()
            .filter(|step| step.get("verdict").and_then(Value::as_str) == Some(verdict))
            .count()
    };
    let began = millis_of(&run.started_at).unwrap_or(0);
    let until = millis_of(run.ended_at.as_deref().unwrap_or(&run.updated_at)).unwrap_or(began);
    let millis = u64::try_from(until - began).unwrap_or(0);
    let json = json!({
        "version": 1,
        "runId": run.run,
        "workflow": run.workflow,
        "title": definition.title,
        "status": run.status.name(),
        "endReason": run.end_reason,
        "state": run.tokens.first().map(|token| token.state.clone()),
        "startTime": run.started_at,
        "endTime": run.ended_at,
        "durationMs": millis,
        "inputs": run.inputs,
        "vars": run.vars,
        "items": view::items(&run, &definition),
        "accepted": count("accepted"),
        "retried": count("retried"),
        "refused": refused(dir),
        "steps": steps,
    });
    let markdown = for_people(&run, &definition, &json, &spoken(millis));
    Ok(Report { json, markdown })
}

/// One thing that happened, as the report tells it.
fn step(definition: &Definition, at: &str, event: &Event) -> Option<Value> {
    let reported = |report: &Reported, verdict: &str| {
        let mut step = json!({
            "at": at,
            "what": "report",
            "verdict": verdict,
            "unitId": report.unit,
            "state": report.state,
            "label": words::place(definition, &report.state, None),
            "item": report.item,
            "code": report.code,
            "level": report.level,
            "warnings": report.warnings,
        });
        if let Value::Object(map) = &mut step {
            for (name, value) in &report.facts {
                map.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        step
    };
    Some(match event {
        Event::ReportAccepted(report) => reported(report, "accepted"),
        Event::ReportRetried(report) => reported(report, "retried"),
        Event::StateEntered {
            item,
            from,
            to,
            cause,
            reason,
            iteration,
            outcome,
            ..
        } => {
            let mut step = json!({
                "at": at,
                "what": "state",
                "item": item,
                "from": from,
                "to": to,
                "cause": cause,
                "reason": reason,
            });
            if let Some(iteration) = iteration {
                step["iteration"] = json!(iteration);
            }
            if let Some(outcome) = outcome {
                step["outcome"] = json!(outcome);
            }
            step
        }
        Event::DecisionMade {
            gate,
            iteration,
            hash,
            choice,
            feedback,
            approval,
            ..
        } => json!({
            "at": at,
            "what": "decision",
            "gate": gate,
            "iteration": iteration,
            "choice": choice,
            "hash": hash,
            "feedback": feedback,
            "strength": approval.strength,
            "actor": approval.actor,
            "how": approval.how,
        }),
        Event::ApprovalGiven {
            what,
            state,
            stopped,
            reason,
            approval,
            ..
        } => json!({
            "at": at,
            "what": "approval",
            "turn": what,
            "state": state,
            "stopped": stopped,
            "reason": reason,
            "strength": approval.strength,
            "actor": approval.actor,
            "how": approval.how,
        }),
        Event::TokenClosed {
            item, done, left, ..
        } => json!({
            "at": at,
            "what": "item",
            "item": item,
            "status": if *left { "left" } else if *done { "done" } else { "failed" },
        }),
        Event::Domain(domain) if domain.name == "batch:complete" => {
            let mut step = json!({ "at": at, "what": "batch" });
            if let Value::Object(map) = &mut step {
                map.extend(domain.fields.clone());
            }
            step
        }
        Event::RunPaused { reason, .. } => json!({ "at": at, "what": "paused", "reason": reason }),
        Event::RunResumed { .. } => json!({ "at": at, "what": "resumed" }),
        // That an item ended is told by the state it came to.
        _ => return None,
    })
}

/// How many reports were refused; best effort.
fn refused(dir: &Path) -> usize {
    journal::durable::read_text(&dir.join("refusals.jsonl")).map_or(0, |text| text.lines().count())
}

fn for_people(run: &RunState, definition: &Definition, json: &Value, took: &str) -> String {
    let mut page = String::new();
    let number = |name: &str| json.get(name).and_then(Value::as_u64).unwrap_or(0);
    let _ = writeln!(page, "# {}\n", one_line(&definition.title));
    let _ = writeln!(page, "- run: `{}`", run.run);
    let _ = writeln!(page, "- workflow: `{}`", run.workflow);
    let why = run
        .end_reason
        .as_ref()
        .map_or_else(String::new, |why| format!(" ({})", one_line(why)));
    let _ = writeln!(page, "- status: {}{why}", run.status.name());
    let _ = writeln!(page, "- begun: {}, took {took}", run.started_at);
    let _ = writeln!(
        page,
        "- reports: {} accepted, {} sent back, {} refused",
        number("accepted"),
        number("retried"),
        number("refused")
    );
    for (title, values) in [("Inputs", &run.inputs), ("Values", &run.vars)] {
        if values.is_empty() {
            continue;
        }
        let _ = writeln!(page, "\n## {title}\n");
        for (name, value) in values {
            let _ = writeln!(page, "- {name}: {}", cell(value));
        }
    }
    for (name, set) in &run.sets {
        let _ = writeln!(page, "\n## Items of `{name}`\n");
        let barred = run.barred(definition, name);
        for ((key, item), barred) in set.iter().zip(barred) {
            let title = match one_line(item.text("title")) {
                title if title.is_empty() => title,
                title => format!(" ({})", short(&title)),
            };
            let status = match item.text(STATUS) {
                _ if barred => "not run".to_owned(),
                "" => cell(&serde_json::to_value(item.status).unwrap_or_default()),
                named => named.replace('_', " "),
            };
            let _ = writeln!(page, "- {}{title}: {status}", one_line(key));
        }
    }
    let _ = writeln!(page, "\n## What happened\n");
    for step in json
        .get("steps")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        if let Some(line) = line(step) {
            let _ = writeln!(page, "- {line}");
        }
    }
    let _ = writeln!(
        page,
        "\nWhat reports say is claimed by whoever reported; nothing of it was measured."
    );
    page
}

/// One line of what happened; none for what another line says.
fn line(step: &Value) -> Option<String> {
    let text = |name: &str| {
        step.get(name)
            .and_then(Value::as_str)
            .map(one_line)
            .unwrap_or_default()
    };
    let at = text("at");
    let reason = match text("reason") {
        reason if reason.is_empty() => reason,
        reason => format!(": {reason}"),
    };
    let item = match text("item") {
        item if item.is_empty() => item,
        item => format!(" of {item}"),
    };
    Some(match text("what").as_str() {
        "report" => {
            let verdict = match text("code") {
                code if code.is_empty() => "accepted".to_owned(),
                code => format!("not accepted (`{code}`)"),
            };
            let mut line = format!("{at} — **{}**{item}: {verdict}", text("label"));
            if let Some(passed) = step.get("passed").and_then(Value::as_u64) {
                let failing = step.get("failing").and_then(Value::as_u64).unwrap_or(0);
                let _ = write!(line, ", {passed} passed, {failing} failing");
            }
            for part in [text("outcome"), short(&text("note"))] {
                if !part.is_empty() {
                    let _ = write!(line, " — {part}");
                }
            }
            line
        }
        "state" => {
            let (from, to) = (text("from"), text("to"));
            match text("cause").as_str() {
                "start" => format!("{at} — began at {to}"),
                "report" if text("outcome").is_empty() && step.get("iteration").is_none() => {
                    return None;
                }
                cause => {
                    let mut line = format!("{at} — {from} → {to}{item} ({cause}{reason})");
                    if !text("outcome").is_empty() {
                        let _ = write!(line, " — {}", text("outcome"));
                    }
                    if let Some(iteration) = step.get("iteration").and_then(Value::as_i64)
                        && iteration > 0
                    {
                        let _ = write!(line, ", iteration {iteration}");
                    }
                    line
                }
            }
        }
        "decision" => {
            let said = match short(&text("feedback")) {
                feedback if feedback.is_empty() => feedback,
                feedback => format!(": {feedback}"),
            };
            let hash: String = text("hash").chars().take(12).collect();
            let verb = if text("choice") == "approve" {
                "approved"
            } else {
                "rejected"
            };
            format!(
                "{at} — **{}** {verb} by {} ({}, `{hash}`){said}",
                text("gate"),
                text("actor"),
                by_way_of(&text("strength"), &text("how"))
            )
        }
        "approval" => {
            let said = match short(&text("reason")) {
                reason if reason.is_empty() => reason,
                reason => format!(": {reason}"),
            };
            format!(
                "{at} — {} after {} by {} ({}){said}",
                text("turn"),
                text("stopped"),
                text("actor"),
                by_way_of(&text("strength"), &text("how"))
            )
        }
        "batch" => {
            let tasks = step.get("tasks").and_then(Value::as_array);
            let told = |task: &Value| {
                let part = |name: &str| task.get(name).and_then(Value::as_str).map(one_line);
                let id = part("id").unwrap_or_default();
                match part("status").as_deref() {
                    Some("completed") => id,
                    _ if task.get("notRun").is_some() => format!("{id} (not run)"),
                    Some(other) => format!("{id} ({other})"),
                    None => id,
                }
            };
            let tasks: Vec<String> = tasks.into_iter().flatten().map(told).collect();
            let shown = short(&tasks.join(", "));
            format!("{at} — **{}**: {}: {shown}", text("batch"), text("outcome"))
        }
        "paused" => format!("{at} — paused{reason}"),
        "resumed" => format!("{at} — resumed"),
        // That an item ended is told by the state it came to.
        _ => return None,
    })
}

fn short(note: &str) -> String {
    if note.chars().count() <= LONGEST_NOTE {
        return note.to_owned();
    }
    let cut: String = note.chars().take(LONGEST_NOTE).collect();
    format!("{}…", cut.trim_end())
}

fn cell(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => "–".to_owned(),
        Value::String(text) => short(&one_line(text)),
        other => short(&one_line(&other.to_string())),
    }
}

/// What stands behind a decision, and by which way it came where that says more.
pub(crate) fn by_way_of(strength: &str, how: &str) -> String {
    if how == strength {
        strength.to_owned()
    } else {
        format!("{strength}, {how}")
    }
}
