//! Issues of GitHub in JSON: as `gh` prints them, as the REST and GraphQL interfaces give them, and as events bring them.

use std::path::Path;

use serde_json::Value;

use super::boxes::{CheckboxLine, plain};
use super::labels::kind_of_labels;
use super::markdown_lists::{ODD_MARK, heading, lines, odd_marks, settle};
use super::{ImportError, ImportFormat, Imported, ImportedTask};
use crate::tasks::Status;

/// Where lists end that have another page.
const PAGES: [usize; 4] = [30, 50, 100, 1000];

/// The names under which answers of interfaces, and events, hold issues.
const INSIDE: [&str; 8] = [
    "items",
    "nodes",
    "issue",
    "issues",
    "payload",
    "data",
    "repository",
    "event",
];

pub(super) fn read(file: &Path, text: &str) -> Result<Imported, ImportError> {
    let malformed = |problem: String| ImportError::Malformed {
        path: file.to_owned(),
        format: ImportFormat::Github,
        problem,
    };
    let mut imported = Imported::new(ImportFormat::Github);
    let mut found = Vec::new();
    let mut lists = 0;
    // Some programs print one value behind the other.
    for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        let value = value.map_err(|error| malformed(error.to_string()))?;
        lists += usize::from(value.is_array());
        if let Value::Array(all) = &value {
            for (number, one) in (1..).zip(all) {
                if !holds_issues(one) {
                    let message = format!(
                        "entry {number} of the list is passed over: it has no `number` (a number) and `title` (a text)"
                    );
                    imported.problem(file, 0, message);
                }
            }
        }
        collect(value, &mut found);
    }
    let pulls = found
        .iter()
        .filter(|issue| {
            issue
                .get("pull_request")
                .is_some_and(|pull| !pull.is_null())
        })
        .count();
    found.retain(|issue| issue.get("pull_request").is_none_or(Value::is_null));
    if found.is_empty() && pulls == 0 && !matches!(text.trim(), "[]" | "") {
        return Err(malformed(
            "there is no issue in it: nothing has a `number` and a `title`".to_owned(),
        ));
    }
    if pulls > 0 {
        imported.problem(file, 0, format!("{pulls} pull requests are no tasks"));
    }
    if lists == 1 && PAGES.contains(&(found.len() + pulls)) {
        let message = format!(
            "there are exactly {} of them: the list may go on (--limit)",
            found.len() + pulls
        );
        imported.problem(file, 0, message);
    }
    for issue in &found {
        let task = task(file, issue);
        if issue.get("state").is_none() {
            let message = format!(
                "{} does not say whether it is open, and counts as that",
                task.key
            );
            imported.problem(file, 0, message);
        }
        let body = issue.get("body").and_then(Value::as_str);
        if !odd_marks(body.unwrap_or_default()).is_empty() {
            imported.problem(file, 0, format!("{}: {ODD_MARK}", task.key));
        }
        imported.tasks.push(task);
    }
    let mut seen = std::collections::HashSet::new();
    imported.tasks.retain(|task| seen.insert(task.key.clone()));
    Ok(imported)
}

/// The issues in a value: it itself, or those that it holds.
fn collect(value: Value, into: &mut Vec<Value>) {
    match value {
        Value::Array(all) => all.into_iter().for_each(|one| collect(one, into)),
        Value::Object(_) if is_issue(&value) => into.push(value),
        Value::Object(fields) => {
            for (name, value) in fields {
                if INSIDE.contains(&name.as_str()) && !value.is_string() {
                    collect(value, into);
                }
            }
        }
        _ => {}
    }
}

/// Whether a value is an issue, or may hold some.
fn holds_issues(value: &Value) -> bool {
    let mut inside = INSIDE.iter().filter_map(|name| value.get(name));
    is_issue(value)
        || value.is_array()
        || inside.any(|inside| inside.is_object() || inside.is_array())
}

fn is_issue(value: &Value) -> bool {
    value.get("number").is_some_and(Value::is_u64)
        && value.get("title").is_some_and(Value::is_string)
}

/// The elements of a list, or of a connection that holds one.
fn elements(value: Option<&Value>) -> &[Value] {
    let list = value.and_then(|value| value.as_array().or_else(|| value.get("nodes")?.as_array()));
    list.map_or(&[], Vec::as_slice)
}

fn key_of(issue: &Value) -> String {
    let number = issue.get("number").and_then(Value::as_u64).unwrap_or(0);
    format!("#{number}")
}

fn task(file: &Path, issue: &Value) -> ImportedTask {
    let text = |name: &str| issue.get(name).and_then(Value::as_str).unwrap_or_default();
    let labels = elements(issue.get("labels"));
    let labels = labels
        .iter()
        .filter_map(|label| label.as_str().or_else(|| label.get("name")?.as_str()));
    let mut task = ImportedTask {
        key: key_of(issue),
        title: text("title").trim().to_owned(),
        kind: kind_of_labels(labels).to_owned(),
        dependencies: elements(issue.get("blockedBy"))
            .iter()
            .map(key_of)
            .collect(),
        file: file.to_owned(),
        line: 0,
        ..ImportedTask::default()
    };
    take_body(&mut task, &text("body").replace("\r\n", "\n"));
    settle(&mut task);
    task.status = match (text("state").to_lowercase().as_str(), &*reason(issue)) {
        ("closed", "not_planned" | "duplicate") => Status::Cancelled,
        ("closed", _) => Status::Done,
        // What is ticked in it says nothing of the whole.
        _ => Status::Pending,
    };
    task
}

fn reason(issue: &Value) -> String {
    let reason = issue
        .get("stateReason")
        .or_else(|| issue.get("state_reason"));
    reason
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_lowercase()
}

/// Takes the text of an issue: checkboxes below a heading that speaks of acceptance say what has to hold, others are parts of it.
fn take_body(task: &mut ImportedTask, body: &str) {
    let mut is_criteria = false;
    let mut rest: Vec<&str> = Vec::new();
    for line in lines(body) {
        if let Some((_, name)) = heading(line.text) {
            let name = name.to_lowercase();
            is_criteria = name.contains("acceptance") || name.contains("definition of done");
        }
        let Some(checkbox) = CheckboxLine::read(line.text) else {
            continue;
        };
        let title = plain(checkbox.rest);
        if title.is_empty() {
            continue;
        }
        if is_criteria {
            task.acceptance_criteria.push(title);
            continue;
        }
        let key = match title.split_whitespace().next() {
            Some(word) if word.starts_with('#') && word[1..].parse::<u64>().is_ok() => {
                word.to_owned()
            }
            _ => format!("{}/{title}", task.key),
        };
        let part = super::markdown_lists::task(&task.file, line, &checkbox, (key, title));
        task.subtasks.push(ImportedTask { line: 0, ..part });
    }
    for line in body.lines() {
        if CheckboxLine::read(line).is_none() {
            rest.push(line);
        }
    }
    rest.join("\n").trim().clone_into(&mut task.description);
    let mut seen = std::collections::HashSet::new();
    task.subtasks.retain(|part| seen.insert(part.key.clone()));
}
