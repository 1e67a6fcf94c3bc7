//! The fields of the events that people and programs follow.

use machine::event::{AcceptedReport, Domain};
use machine::state::Token;
use machine::{Event, RunState};
use serde_json::{Map, Value, json};

use crate::capability::memory::Memory;
use crate::clock::{millis_of, spoken};
use crate::support::{Emitted, object};

/// The fields of an event of a task; none where it did not come about after all.
pub(crate) fn of_tasks(emitted: Emitted<'_>) -> Option<Map<String, Value>> {
    let Emitted {
        domain,
        before,
        after,
        events,
    } = emitted;
    let item = emitted.item();
    let fields = match domain.name.as_str() {
        "phase:start" => json!({ "phase": "preflight", "status": "ok" }),
        "phase:complete" => {
            json!({ "phase": "preflight", "status": "ok", "checks": { "git": true, "test": true, "tools": true } })
        }
        "tag:switched" => {
            let memory = Memory::of(after).ok()?;
            let from = crate::capability::memory::TAG_BEFORE.text(&after.kept)?;
            json!({ "from": from, "to": memory.start.tag, "branch": memory.start.branch })
        }
        "subtask:start" => {
            json!({ "subtaskId": item, "phase": entered(domain, after, events)? })
        }
        "phase:transition" => {
            let from = emitted
                .report()
                .and_then(|report| report.role.phase.as_deref());
            json!({
                "subtaskId": item,
                "from": from.unwrap_or(&domain.state),
                "to": entered(domain, after, events)?,
            })
        }
        _ => {
            let began = began(before, item);
            let millis = millis_of(&after.updated_at)
                .zip(began)
                .and_then(|(now, began)| u64::try_from(now - began).ok())
                .unwrap_or(0);
            json!({ "subtaskId": item, "duration": spoken(millis), "durationMs": millis })
        }
    };
    Some(object(fields))
}

/// The fields of an event of a report of tests, likewise.
pub(crate) fn of_tests(emitted: Emitted<'_>) -> Option<Map<String, Value>> {
    let report = emitted.report()?;
    let (facts, item) = (&report.facts, emitted.item());
    Some(object(match emitted.domain.name.as_str() {
        "test:generated" => {
            json!({ "subtaskId": item, "files": facts.get("files"), "testCount": facts.get("failing") })
        }
        "code:modified" => {
            json!({ "subtaskId": item, "files": facts.get("files"), "linesChanged": facts.get("linesChanged") })
        }
        _ => {
            let mut waiting = emitted.before.waiting();
            let unit = waiting.find(|(_, unit)| unit.id == report.unit);
            test_run(emitted.domain, report, unit.map(|(_, unit)| unit.attempt))
        }
    }))
}

/// The fields of an event of the repository, likewise.
pub(crate) fn of_git(emitted: Emitted<'_>) -> Option<Map<String, Value>> {
    if emitted.domain.name == "commit:created" {
        return commit(emitted.item(), emitted.report(), emitted.events).map(object);
    }
    let memory = Memory::of(emitted.after).ok()?;
    Some(object(json!({
        "branch": memory.start.branch,
        "tag": memory.start.tag,
        "existed": memory.start.branch_existed,
    })))
}

/// The phase that was entered from the state of the event.
fn entered<'a>(domain: &Domain, after: &'a RunState, events: &'a [Event]) -> Option<&'a str> {
    events.iter().find_map(|event| match event {
        Event::StateEntered {
            token, from, to, ..
        } if *from == domain.state => Some(
            after
                .token(*token)
                .filter(|token| token.state == *to)
                .map_or(to.as_str(), Token::phase),
        ),
        _ => None,
    })
}

/// When a subtask began: noted by the first RED it was asked for, in the token's own memory.
fn began(run: &RunState, item: Option<&str>) -> Option<i64> {
    let key = item?;
    run.tokens
        .iter()
        .find(|token| token.key() == Some(key))
        .and_then(|token| token.opened_at.as_deref())
        .and_then(millis_of)
}

fn test_run(domain: &Domain, report: &AcceptedReport, attempt: Option<u32>) -> Value {
    let number = |name: &str| report.facts.get(name).cloned().unwrap_or(Value::from(0));
    let failing = report
        .facts
        .get("failing")
        .and_then(Value::as_u64)
        .unwrap_or(0);
    let status = match (report.role.shows, failing) {
        (Some(_), 0) => "passing",
        (Some(_), _) => "expected",
        (_, 0) => "success",
        _ => "failed",
    };
    json!({
        "subtaskId": domain.item,
        "phase": report.role.phase.as_ref().unwrap_or(&domain.state),
        "unit": report.unit,
        "attempt": attempt,
        "passed": number("passed"),
        "failed": number("failed"),
        "skipped": number("skipped"),
        "errors": number("errors"),
        "coverage": report.facts.get("coverage"),
        "level": report.level,
        "status": status,
    })
}

fn commit(item: Option<&str>, report: Option<&AcceptedReport>, events: &[Event]) -> Option<Value> {
    let done = events.iter().find_map(|event| match event {
        Event::EffectDone { result, .. } => Some(result),
        _ => None,
    });
    let part = |name: &str| match done {
        Some(result) => result.get(name).cloned(),
        None => report?.facts.get(name).cloned(),
    };
    let sha = part("sha").filter(|sha| sha.as_str().is_some_and(|sha| !sha.is_empty()))?;
    let message = part("message")
        .as_ref()
        .and_then(Value::as_str)
        .and_then(|message| message.lines().next())
        .map(str::to_owned);
    Some(json!({ "subtaskId": item, "sha": sha, "message": message, "files": part("files") }))
}
