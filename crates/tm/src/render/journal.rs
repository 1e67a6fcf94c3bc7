//! One event of a journal in one line.

use journal::Record;
use serde_json::Value;
use text::plain::{cut_at_word, one_line, visible_len};

use super::{BAD, FAINT, GOOD, Look, NOTE, WARN};

/// An event in one line: when, what, and what belongs to it.
pub fn event(record: &Record, look: &Look) -> String {
    let time = one_line(record.ts.get(11..19).unwrap_or(&record.ts));
    let name = one_line(&record.event);
    let style = match name.as_str() {
        "error" | "effect:failed" => BAD,
        "report:retried" | "run:paused" | "run:rewound" | "refusal:allowed" | "approval:given" => {
            WARN
        }
        "commit:created" | "subtask:complete" | "run:ended" => GOOD,
        _ => NOTE,
    };
    let head = format!("{:>5}  {time}  {name:<16}", record.seq);
    let room = look.line.saturating_sub(visible_len(&head) + 5).max(20);
    let details = one_line(&details(record));
    let shown = cut_at_word(&details, room);
    let more = match (shown.len() < details.len(), look.rich) {
        (false, _) => "",
        (true, true) => " …",
        (true, false) => " ...",
    };
    let line = format!(
        "{}  {}  {} {shown}{more}",
        look.paint(FAINT, &format!("{:>5}", record.seq)),
        look.paint(FAINT, &time),
        look.paint(style, &format!("{name:<16}")),
    );
    format!("{}\n", line.trim_end())
}

/// What matters of an event to people.
fn details(record: &Record) -> String {
    let text = |key: &str| record.fields.get(key).map(shown).unwrap_or_default();
    match record.event.as_str() {
        "run:created" => format!("{} of {}", text("run"), text("workflow")),
        "items:loaded" => format!("{}: {}", text("set"), count(record, "items")),
        "branch:created" => text("branch"),
        "tag:switched" | "phase:transition" => format!("{} to {}", text("from"), text("to")),
        "state:entered" => {
            let (from, reason) = (text("from"), text("reason"));
            let from = if from.is_empty() {
                String::new()
            } else {
                format!("{from} to ")
            };
            let why = if reason.is_empty() {
                String::new()
            } else {
                format!(": {reason}")
            };
            format!("{from}{} ({}){why}", text("to"), text("cause"))
        }
        "unit:issued" | "report:accepted" => text("unit"),
        "report:retried" => format!("{} {}", text("unit"), text("code")),
        "effect:intended" | "effect:done" => text("name"),
        "effect:failed" => format!("{} {}: {}", text("name"), text("code"), text("message")),
        "commit:created" => {
            let sha = text("sha");
            let message = text("message");
            let subject = message.lines().next().unwrap_or_default();
            format!("{} {subject}", sha.get(..10).unwrap_or(&sha))
        }
        "refusal:allowed" => format!("{} {}: {}", text("code"), by(record), text("reason")),
        "decision:made" => format!("{} {} {}", text("gate"), text("choice"), by(record)),
        "approval:given" => format!("{} after {} {}", text("what"), text("stopped"), by(record)),
        "run:paused" => text("reason"),
        "run:rewound" => format!("to {} {}", text("to"), text("reason")),
        "run:ended" => format!("{} {}", text("status"), text("reason")),
        _ => scalars(record),
    }
}

/// Whose word it is, and how much stands behind it.
fn by(record: &Record) -> String {
    let approval = record.fields.get("approval");
    let text = |key| {
        approval
            .and_then(|approval| approval.get(key))
            .and_then(Value::as_str)
    };
    format!(
        "by {} ({})",
        text("actor").unwrap_or_default(),
        text("strength").unwrap_or_default()
    )
}

fn count(record: &Record, key: &str) -> usize {
    record
        .fields
        .get(key)
        .and_then(Value::as_array)
        .map_or(0, Vec::len)
}

/// The short fields of an event, by name.
fn scalars(record: &Record) -> String {
    let mut parts = Vec::new();
    for (key, value) in &record.fields {
        match value {
            Value::Object(_) | Value::Null => {}
            Value::Array(entries) => {
                let entries: Vec<String> = entries.iter().take(5).map(shown).collect();
                parts.push(format!("{key}={}", entries.join(",")));
            }
            scalar => parts.push(format!("{key}={}", shown(scalar))),
        }
    }
    parts.join(" ")
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::page::tests::PLAIN;
    use super::*;

    fn told(name: &str, fields: &Value) -> String {
        let record = Record {
            ts: "2025-10-07T14:33:00.000Z".to_owned(),
            seq: 7,
            prev: String::new(),
            k: 1,
            n: 1,
            v: None,
            event: name.to_owned(),
            fields: fields.as_object().unwrap().clone(),
            seal: None,
            offset: 0,
            len: 0,
        };
        event(&record, &PLAIN)
    }

    #[test]
    fn an_event_is_one_line() {
        let text = [
            (
                "commit:created",
                r#"{"sha": "a1b2c3d4e5f60718", "message": "feat: do it\n\nmore"}"#,
            ),
            (
                "test:run",
                r#"{"subtaskId": "1.1", "phase": "red", "passed": 0, "failed": 3}"#,
            ),
            ("phase:transition", r#"{"from": "red", "to": "green"}"#),
            ("run:resumed", "{}"),
        ]
        .map(|(event, fields)| told(event, &serde_json::from_str(fields).unwrap()));
        let expected = "    7  14:33:00  commit:created   a1b2c3d4e5 feat: do it
    7  14:33:00  test:run         subtaskId=1.1 phase=red passed=0 failed=3
    7  14:33:00  phase:transition red to green
    7  14:33:00  run:resumed
";
        assert_eq!(text.concat(), expected);
    }

    #[test]
    fn a_long_event_is_cut_and_a_hostile_one_made_plain() {
        let long = serde_json::json!({ "reason": "word ".repeat(100) });
        let line = told("run:paused", &long);
        assert!(
            line.trim_end().ends_with("...") && line.len() < 90,
            "{line}"
        );
        let hostile = serde_json::json!({ "a": "\u{1b}]0;t\u{7}b\nc" });
        let line = told("x:\u{1b}[2Jy", &hostile);
        assert_eq!(line.matches(['\n', '\u{1b}']).collect::<String>(), "\n");
    }
}
