//! What happened in a run, one thing after the other.

use std::fmt::Write as _;

use machine::event::AcceptedReport;
use machine::{Approval, Definition, Event};
use serde_json::{Value, json};

use crate::capability::command;
use crate::capability::profile::memory::{PROCESSED, Processed};
use crate::generic::messages;
use crate::summary::escape::inline;
use crate::summary::markdown::{coded, hash};

/// One thing that happened, as programs are told it.
pub fn step(definition: &Definition, at: &str, event: &Event) -> Option<Value> {
    let reported = |report: &AcceptedReport, verdict: &str| {
        let mut step = json!({
            "at": at,
            "what": "report",
            "verdict": verdict,
            "unitId": report.unit,
            "state": report.state,
            "label": messages::place(definition, &report.state, None),
            "item": report.item,
            "code": report.code,
            "reader": report.role.reader,
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
            keep,
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
            if let Ok(Some(processed)) = PROCESSED.read(keep) {
                step["said"] = said(&processed).into();
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
        // One that a command was run for says which.
        Event::EffectDone { result, .. } => json!({
            "at": at,
            "what": "command",
            "run": result.get("run")?,
            "line": result.get("line")?,
            "output": result.get("output"),
        }),
        Event::RunPaused { reason, .. } => json!({ "at": at, "what": "paused", "reason": reason }),
        Event::RunResumed { .. } => json!({ "at": at, "what": "resumed" }),
        Event::RunRewound {
            to, state, reason, ..
        } => {
            let place = state.tokens.last().map(|token| {
                let key = token.key();
                messages::place(definition, &token.state, key)
            });
            json!({ "at": at, "what": "rewound", "event": to, "label": place, "reason": reason })
        }
        _ => return None,
    })
}

/// Whether the table of items and their tests tells it: a report of tests or of a commit, or a way between their states.
pub fn is_in_the_table(step: &Value, has_row: impl Fn(&str) -> bool) -> bool {
    let of_row = step["item"].as_str().is_some_and(has_row);
    match step["what"].as_str() {
        Some("report") => matches!(step["reader"].as_str(), Some("tests" | "commit")),
        Some("state" | "item") => of_row,
        _ => false,
    }
}

/// What a profile said of a response: why it did not go well, what there was to say besides, and its own numbers.
fn said(processed: &Processed) -> String {
    let reason = Some(&processed.reason).filter(|reason| !reason.is_empty());
    let numbers = processed.metadata.iter();
    let numbers = numbers.map(|(name, value)| format!("{name} {value}"));
    let all = reason
        .into_iter()
        .chain(&processed.messages)
        .cloned()
        .chain(numbers);
    all.collect::<Vec<_>>().join("; ")
}

/// Whether it belongs to no other part of a summary.
pub fn is_told_only_here(step: &Value) -> bool {
    match step["what"].as_str() {
        Some("decision" | "batch" | "command") => true,
        Some("report") => !matches!(step["reader"].as_str(), Some("tests" | "commit")),
        _ => false,
    }
}

/// Whether there is a line for it.
pub fn has_line(step: &Value) -> bool {
    let text = |name: &str| step.get(name).and_then(Value::as_str).unwrap_or_default();
    match text("what") {
        // The report says it.
        "state" => {
            text("cause") != "report"
                || !text("outcome").is_empty()
                || step.get("iteration").is_some()
        }
        // That an item ended is told by the state it came to.
        "item" => false,
        _ => true,
    }
}

/// One line of what happened; none for what another line says.
pub fn line(step: &Value) -> Option<String> {
    if !has_line(step) {
        return None;
    }
    let text = |name: &str| {
        step.get(name)
            .and_then(Value::as_str)
            .map(inline)
            .unwrap_or_default()
    };
    let at = text("at");
    let reason = match text("reason") {
        // The decision before it says why.
        _ if text("cause") == "reject" => String::new(),
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
                _ => format!("not accepted ({})", coded(step, "code")),
            };
            let mut line = format!("{at} — **{}**{item}: {verdict}", text("label"));
            if let Some(passed) = step.get("passed").and_then(Value::as_u64) {
                let failing = step.get("failing").and_then(Value::as_u64).unwrap_or(0);
                let _ = write!(line, ", {passed} passed, {failing} failing");
            }
            if step.get("line").is_some() {
                let _ = write!(line, ": {} {}", coded(step, "line"), ended(step));
            }
            for part in [text("outcome"), text("note")] {
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
                cause => {
                    let mut line = format!("{at} — {from} → {to}{item} ({cause}{reason})");
                    if !text("outcome").is_empty() {
                        let _ = write!(line, " — {}", text("outcome"));
                    }
                    if !text("said").is_empty() {
                        let _ = write!(line, ": {}", text("said"));
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
            let said = match text("feedback") {
                feedback if feedback.is_empty() => feedback,
                feedback => format!(": {feedback}"),
            };
            let verb = if text("choice") == "approve" {
                "approved"
            } else {
                "rejected"
            };
            format!(
                "{at} — **{}** {verb} by {} ({}, {}){said}",
                text("gate"),
                text("actor"),
                by_way_of(&text("strength"), &text("how")),
                hash(step["hash"].as_str().unwrap_or_default())
            )
        }
        "approval" => {
            let said = match text("reason") {
                reason if reason.is_empty() => reason,
                reason => format!(": {reason}"),
            };
            format!(
                "{at} — {} by {} ({}){said}",
                turn_after(step, &text("stopped")),
                text("actor"),
                by_way_of(&text("strength"), &text("how"))
            )
        }
        "command" => format!(
            "{at} — **{}** was run: {}",
            text("run"),
            coded(step, "line")
        ),
        "batch" => {
            let tasks = step.get("tasks").and_then(Value::as_array);
            let told = |task: &Value| {
                let part = |name: &str| task.get(name).and_then(Value::as_str).map(inline);
                let id = part("id").unwrap_or_default();
                match part("status").as_deref() {
                    Some("completed") => id,
                    _ if task.get("notRun").is_some() => format!("{id} (not run)"),
                    Some(other) => format!("{id} ({other})"),
                    None => id,
                }
            };
            let tasks: Vec<String> = tasks.into_iter().flatten().map(told).collect();
            let shown = tasks.join(", ");
            format!("{at} — **{}**: {}: {shown}", text("batch"), text("outcome"))
        }
        "paused" => format!("{at} — paused{reason}"),
        "resumed" => format!("{at} — resumed"),
        "rewound" => format!("{at} — taken back to {}{reason}", text("label")),
        // That an item ended is told by the state it came to.
        _ => return None,
    })
}

/// What a person had a run do, and after what it had stopped, where it had.
pub fn turn_after(step: &Value, stopped: &str) -> String {
    let turn = step["turn"].as_str().unwrap_or_default();
    if Approval::OF_ANYBODY.contains(&turn) {
        inline(turn)
    } else {
        format!("{} after {stopped}", inline(turn))
    }
}

/// How a command ended that a report rests on.
fn ended(step: &Value) -> String {
    let how = step["how"].as_str().unwrap_or_default();
    command::manner(how, step["status"].as_i64().unwrap_or_default())
}

/// What stands behind a decision, and by which way it came where that says more.
pub fn by_way_of(strength: &str, how: &str) -> String {
    if how == strength {
        strength.to_owned()
    } else {
        format!("{strength}, {how}")
    }
}
