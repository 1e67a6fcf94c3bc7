//! Documents as they come, each with what is read from it: `NAME.md` or `NAME.yaml`, and `NAME.json`.
//!
//! With `UPDATE_CORPUS=1` the tests write what they read instead of comparing it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use markup::documents::{design, task_graph};
use serde_json::{Value, json};

fn cases(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/corpus")
        .join(folder);
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the corpus")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending != "json"))
        .collect();
    found.sort();
    found
}

/// Compares field by field, and gives back what was read.
fn compare(folder: &str, at_least: usize, read: impl Fn(&str) -> Value) -> Vec<(PathBuf, Value)> {
    let cases = cases(folder);
    assert!(cases.len() >= at_least, "only {} cases", cases.len());
    let mut wrong = String::new();
    let mut all = Vec::new();
    for case in cases {
        let got = read(&fs::read_to_string(&case).expect("a case"));
        let beside = case.with_extension("json");
        if std::env::var_os("UPDATE_CORPUS").is_some() {
            let text = serde_json::to_string_pretty(&got).expect("JSON");
            fs::write(&beside, text + "\n").expect("written");
        } else {
            let expected = fs::read_to_string(&beside).unwrap_or_default();
            let expected: Value = serde_json::from_str(&expected).unwrap_or_default();
            differences(&got, &expected, "", &mut |place, got, expected| {
                let name = case.file_name().unwrap_or_default().display();
                writeln!(wrong, "{name}{place}: {got} instead of {expected}").expect("memory");
            });
        }
        all.push((case, got));
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    all
}

fn differences(
    got: &Value,
    expected: &Value,
    place: &str,
    tell: &mut impl FnMut(&str, &Value, &Value),
) {
    match (got, expected) {
        (Value::Object(got), Value::Object(expected)) => {
            for (key, value) in got {
                let expected = expected.get(key).unwrap_or(&Value::Null);
                differences(value, expected, &format!("{place}.{key}"), tell);
            }
            for (key, value) in expected {
                if !got.contains_key(key) {
                    tell(&format!("{place}.{key}"), &Value::Null, value);
                }
            }
        }
        (Value::Array(got), Value::Array(expected)) => {
            for at in 0..got.len().max(expected.len()) {
                let of = |list: &[Value]| list.get(at).cloned().unwrap_or_default();
                differences(&of(got), &of(expected), &format!("{place}[{at}]"), tell);
            }
        }
        (got, expected) if got == expected => {}
        (got, expected) => tell(place, got, expected),
    }
}

fn graph(text: &str) -> Value {
    let read = task_graph::read(text);
    let tasks: Vec<Value> = read
        .tasks
        .iter()
        .map(|task| {
            json!({
                "id": task.id,
                "line": task.line,
                "files": task.files,
                "tests": task.tests,
                "description": task.description,
                "parallel": task.parallel,
                "depends_on": task.depends_on,
            })
        })
        .collect();
    let problems: Vec<Value> = task_graph::check(&read)
        .iter()
        .map(|problem| {
            json!({
                "code": problem.code,
                "line": problem.line,
                "message": problem.message,
                "suggestion": problem.suggestion,
                "tasks": problem.tasks,
            })
        })
        .collect();
    let notes: Vec<Value> = read
        .notes
        .iter()
        .map(|note| json!({ "line": note.line, "message": note.message }))
        .collect();
    json!({ "tasks": tasks, "problems": problems, "notes": notes })
}

fn is_empty(value: &Value) -> bool {
    value.as_array().is_none_or(Vec::is_empty)
}

#[test]
fn good_task_graphs() {
    for (case, read) in compare("task_graph/good", 40, graph) {
        assert!(is_empty(&read["problems"]), "{}", case.display());
    }
}

#[test]
fn bad_task_graphs() {
    for (case, read) in compare("task_graph/bad", 30, graph) {
        assert!(!is_empty(&read["problems"]), "{}", case.display());
    }
}

#[test]
fn designs() {
    compare("design", 25, |text| {
        let read = design::read(text);
        let items: Vec<Value> = read
            .items
            .iter()
            .map(|item| {
                json!({
                    "number": item.number,
                    "line": item.line,
                    "title": item.title,
                    "type": item.kind.map(design::Kind::name),
                    "status": item.status.name(),
                    "depends_on": item.depends_on,
                })
            })
            .collect();
        let problems: Vec<Value> = read
            .problems
            .iter()
            .map(|problem| {
                json!({
                    "line": problem.line,
                    "message": problem.message,
                    "suggestion": problem.suggestion,
                })
            })
            .collect();
        let notes: Vec<Value> = read
            .notes
            .iter()
            .map(|note| json!({ "line": note.line, "message": note.message }))
            .collect();
        json!({ "items": items, "problems": problems, "notes": notes })
    });
}
