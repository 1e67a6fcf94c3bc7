//! What was done of each item and on what evidence: RED, GREEN and COMMIT with their tests, what was refused, what a person let pass.

use std::collections::HashSet;

use engine::Fault;
use maud::{Markup, html};
use serde_json::Value;

use super::{About, class, id_of, level, message, pager, plain, shown, status, time};
use crate::route::encoded;

/// How many items are on a page.
const PAGE: usize = 50;
/// How many tests are named.
const MOST_NAMES: usize = 200;

pub fn page(about: &About<'_>) -> Result<Markup, Fault> {
    let summary = about.engine.run_work(Some(about.id()))?;
    let rows = list(&summary, "subtasks");
    let pages = rows.len().div_ceil(PAGE).max(1);
    // What is worked at is looked for most.
    let at_hand = rows
        .iter()
        .position(|row| !matches!(word(row, "status"), "done" | "failed"));
    let number = about.query.page(pages);
    let number = number.unwrap_or_else(|| at_hand.unwrap_or_default() / PAGE + 1);
    let pager = pager(
        &about.path("work"),
        about.query,
        (number, pages),
        ["Before", "Next"],
    );
    let suite = summary.get("finalSuite").filter(|suite| !suite.is_null());
    let decisions: Vec<&Value> = list(&summary, "steps")
        .iter()
        .filter(|step| matches!(step["what"].as_str(), Some("decision" | "approval")))
        .collect();
    let warned = list(&summary, "warnings");
    let of_rows: HashSet<&str> = rows
        .iter()
        .flat_map(|row| ["red", "green", "refactored"].map(|phase| &row[phase]))
        .chain(suite)
        .filter_map(|phase| phase["unit"].as_str())
        .collect();
    Ok(html! {
        section #work data-live aria-labelledby="work-title" {
            h2 #work-title { "Work" }
            @if rows.is_empty() {
                p.quiet { "This run has no tests by item. What happened is in the " a href=(about.path("timeline")) { "timeline" } "." }
            }
            (pager)
            @for row in rows.iter().skip((number - 1) * PAGE).take(PAGE) { (subtask(about, row, warned)) }
            (pager)
            @if let Some(suite) = suite {
                article.subtask aria-labelledby="suite-title" {
                    h3 #suite-title { "The whole suite" }
                    (phase("suite", "Suite", suite, warned))
                }
            }
            (warnings(warned.iter().filter(|warning| !of_rows.contains(word(warning, "unit")))))
            (refused(&summary))
            (allowed(&summary, &decisions))
        }
    })
}

fn subtask(about: &About<'_>, row: &Value, warned: &[Value]) -> Markup {
    let id = word(row, "id");
    let title = id_of("subtask", id);
    html! {
        article.subtask aria-labelledby=(title) {
            h3 id=(title) { (shown(id)) ": " (shown(word(row, "title"))) " " (status(standing(row))) }
            div.phases {
                @if row["red"].is_object() { (phase(&format!("{title}-red"), "RED", &row["red"], warned)) }
                @if row["green"].is_object() { (phase(&format!("{title}-green"), "GREEN", &row["green"], warned)) }
                @if row["refactored"].is_object() { (phase(&format!("{title}-refactored"), "Refactored", &row["refactored"], warned)) }
                @if let Some(sha) = row["commit"].as_str() {
                    div.phase {
                        h4 { "COMMIT" }
                        p { a href=(about.path(&format!("commits/{sha}"))) { "What it changed: " code { (shown(sha.get(..12).unwrap_or(sha))) } } }
                    }
                }
            }
            @if row["red"].is_object() && row["green"].is_object() {
                p { a href={ (about.path("trees/red..green")) "&item=" (encoded(id)) } { "What came after RED" } }
            }
            @if let Some(coverage) = row["coverage"].as_object() {
                p { "Coverage: " @for (name, value) in coverage { (shown(name)) " " (shown(&plain(value))) " " } }
            }
            @let failed = list(row, "failedAttempts");
            @if !failed.is_empty() {
                p { (text::counted(failed.len(), "attempt")) " did not get there: " (shown(&failed.iter().map(|attempt| word(attempt, "code")).collect::<Vec<_>>().join(", "))) }
            }
            (refusals(list(row, "refused")))
        }
    }
}

/// How an item stands, in the word of the board.
fn standing(row: &Value) -> &str {
    match word(row, "status") {
        "failed" => "given up",
        other => other,
    }
}

/// A report of tests: numbers, level, tests by name.
fn phase(id: &str, name: &str, phase: &Value, warned: &[Value]) -> Markup {
    let names = |field: &str| {
        list(phase, field)
            .iter()
            .filter_map(Value::as_str)
            .collect::<Vec<&str>>()
    };
    let (new, failing) = (names("newlyFailing"), names("failingTests"));
    let is_old = |test: &&str| !new.contains(test);
    let (old, failing) = if new.is_empty() {
        (names("knownFailing"), failing)
    } else {
        (failing.into_iter().filter(is_old).collect(), Vec::new())
    };
    // Those of before are among the failing of a report that shows failing tests, and of no other.
    let among = if new.is_empty() { 0 } else { old.len() as u64 };
    let lists = [
        ("newlyFailing", "Fail now and did not before", &new),
        ("failingTests", "Fail", &failing),
        ("knownFailing", "Fail as before", &old),
        ("nowPassing", "Pass now", &names("nowPassing")),
    ];
    html! {
        div.phase.(class(name)) {
            h4 { (name) " " (level(word(phase, "level"))) }
            p { (number(phase, "passed")) " passed, " (number(phase, "failed").saturating_sub(among)) " failing" @if !old.is_empty() { ", " (old.len()) " failing as before" } @if number(phase, "errors") > 0 { ", " (number(phase, "errors")) " could not be compiled or collected" } @if number(phase, "skipped") > 0 { ", " (number(phase, "skipped")) " skipped" } }
            @if let Some(verified) = phase["verified"].as_object() {
                p.quiet { "Run by Tramline: " code { (shown(verified.get("command").and_then(Value::as_str).unwrap_or_default())) } }
            }
            @if let Some(reason) = phase["offBench"].as_str() { p.quiet { "Run in the working tree, not on the bench: " (reason) } }
            p.quiet { (time(word(phase, "at"))) }
            @for warning in warned.iter().filter(|warning| word(warning, "unit") == word(phase, "unit")) {
                p.attention { (message(word(warning, "message"))) }
            }
            @for (field, label, tests) in lists {
                @if !tests.is_empty() {
                    details id={ (id) "-" (field) } {
                        summary { (label) " (" (tests.len()) ")" }
                        ul.tests { @for test in tests.iter().take(MOST_NAMES) { li { code { (shown(test)) } } } }
                        @if tests.len() > MOST_NAMES { p.quiet { "and " (tests.len() - MOST_NAMES) " more" } }
                    }
                }
            }
        }
    }
}

fn refusals(refused: &[Value]) -> Markup {
    html! {
        @if !refused.is_empty() {
            ul.refused {
                @for same in refused.chunk_by(|a, b| word(a, "message") == word(b, "message")) {
                    @let (first, last) = (&same[0], &same[same.len() - 1]);
                    li {
                        "Refused "
                        @if same.len() > 1 { (same.len()) " times, " @if time_of(first).get(..19) != time_of(last).get(..19) { (time(time_of(first))) " to " } }
                        (time(time_of(last))) ": " (shown(word(last, "message"))) " " code { (shown(word(last, "code"))) }
                    }
                }
            }
        }
    }
}

/// What was accepted all the same, with what is to be said of it.
fn warnings<'a>(warnings: impl Iterator<Item = &'a Value>) -> Markup {
    let mut warnings = warnings.peekable();
    html! {
        @if warnings.peek().is_some() {
            h3 { "Accepted with a warning" }
            ul { @for warning in warnings { li { code { (shown(word(warning, "unit"))) } ": " (shown(word(warning, "message"))) " " code { (shown(word(warning, "code"))) } } } }
        }
    }
}

/// What was refused of no item.
fn refused(summary: &Value) -> Markup {
    let of_rows: Vec<&str> = list(summary, "subtasks")
        .iter()
        .flat_map(|row| list(row, "refused"))
        .map(time_of)
        .collect();
    let others: Vec<Value> = list(summary, "refused")
        .iter()
        .filter(|refusal| !of_rows.contains(&time_of(refusal)))
        .cloned()
        .collect();
    html! {
        @if !others.is_empty() {
            h3 { "Refused besides" }
            (refusals(&others))
        }
    }
}

/// What persons decided.
fn allowed(summary: &Value, decisions: &[&Value]) -> Markup {
    let allowed = list(summary, "allowed");
    html! {
        @if !decisions.is_empty() || !allowed.is_empty() {
            h3 { "Decided by persons" }
            ul {
                @for decision in decisions {
                    li {
                        (time(word(decision, "at"))) ": "
                        @match decision["gate"].as_str() {
                            Some(gate) => { (shown(word(decision, "choice"))) " at the gate " (shown(gate)) },
                            None => { (shown(word(decision, "turn"))) " after " (shown(word(decision, "stopped"))) },
                        }
                        " by " (shown(word(decision, "actor"))) ", by way of " (shown(word(decision, "how"))) " (strength " em { (shown(word(decision, "strength"))) } "). "
                        (shown(word(decision, "feedback"))) (shown(word(decision, "reason")))
                    }
                }
                @for one in allowed {
                    li { (time(word(one, "at"))) ": let " code { (shown(word(one, "code"))) } " pass, by " (shown(word(one, "by"))) " (" (shown(word(one, "strength"))) "): " (shown(word(one, "reason"))) }
                }
            }
        }
    }
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

fn word<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or_default()
}

/// Refusals say it in one of two words.
fn time_of(refusal: &Value) -> &str {
    refusal["at"]
        .as_str()
        .unwrap_or_else(|| word(refusal, "ts"))
}
