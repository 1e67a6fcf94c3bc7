//! Documents: `NAME.md` or `NAME.yaml`, and `NAME.json`.

use markup::documents::{design, task_graph};
use serde_json::{Value, json};

use crate::corpus::compare;

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

fn pretty(read: &Value) -> String {
    serde_json::to_string_pretty(read).expect("JSON") + "\n"
}

fn note(line: u32, message: &str) -> Value {
    json!({ "line": line, "message": message })
}

/// What is read of a task graph, in which something is wrong or nothing.
fn graph(bytes: &[u8], is_good: bool) -> String {
    let read = task_graph::read(text(bytes));
    let tasks = read.tasks.iter().map(|task| {
        json!({
            "id": task.id,
            "line": task.line,
            "files": task.files,
            "tests": task.tests,
            "description": task.description,
            "parallel": task.parallel,
            "depends_on": task.depends_on,
        })
    });
    let problems = task_graph::check(&read);
    assert_eq!(problems.is_empty(), is_good, "{problems:?}");
    let problems = problems.iter().map(|problem| {
        json!({
            "code": problem.code,
            "line": problem.line,
            "message": problem.message,
            "suggestion": problem.suggestion,
            "tasks": problem.tasks,
        })
    });
    let (tasks, problems): (Vec<_>, Vec<_>) = (tasks.collect(), problems.collect());
    let notes = read.notes.iter();
    let notes: Vec<_> = notes.map(|one| note(one.line, &one.message)).collect();
    pretty(&json!({ "tasks": tasks, "problems": problems, "notes": notes }))
}

#[test]
fn task_graphs() {
    compare("task_graph/good", "json", 40, |bytes| graph(bytes, true));
    compare("task_graph/bad", "json", 30, |bytes| graph(bytes, false));
}

#[test]
fn designs() {
    compare("design", "json", 25, |bytes| {
        let read = design::read(text(bytes));
        let items = read.items.iter().map(|item| {
            json!({
                "number": item.number,
                "line": item.line,
                "title": item.title,
                "type": item.kind.map(design::Kind::name),
                "status": item.status.name(),
                "depends_on": item.depends_on,
            })
        });
        let problems = read.problems.iter().map(|problem| {
            json!({
                "line": problem.line,
                "message": problem.message,
                "suggestion": problem.suggestion,
            })
        });
        let (items, problems): (Vec<_>, Vec<_>) = (items.collect(), problems.collect());
        let notes = read.notes.iter();
        let notes: Vec<_> = notes.map(|one| note(one.line, &one.message)).collect();
        pretty(&json!({ "items": items, "problems": problems, "notes": notes }))
    });
}
