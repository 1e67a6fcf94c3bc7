//! JSON lines of beads: an issue in each. What is closed for good, or no issue, is passed over.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Map, Value};

use super::labels::status;
use super::{ImportError, ImportFormat, Imported, ImportedTask};

/// An issue, with what it belongs to.
struct Issue {
    task: ImportedTask,
    parent: Option<String>,
    /// When it was changed last, as it was written.
    updated: String,
}

pub(super) fn read(file: &Path, text: &str) -> Result<Imported, ImportError> {
    let mut imported = Imported::new(ImportFormat::Beads);
    let mut issues: Vec<Issue> = Vec::new();
    let mut at_of: HashMap<String, usize> = HashMap::new();
    let mut lines = 0;
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        lines += 1;
        let Ok(Value::Object(fields)) = serde_json::from_str(line) else {
            imported.problem(file, number, "it is no JSON object");
            continue;
        };
        let Some(issue) = issue(file, number, &fields, &mut imported) else {
            continue;
        };
        let Some(&at) = at_of.get(&issue.task.key) else {
            at_of.insert(issue.task.key.clone(), issues.len());
            issues.push(issue);
            continue;
        };
        let key = &issue.task.key;
        let message = format!("`{key}` is there twice: the one that was changed last counts");
        imported.problem(file, number, message);
        if issues[at].updated <= issue.updated {
            issues[at] = issue;
        }
    }
    if issues.is_empty() && lines > 0 && imported.problems.len() >= lines {
        return Err(ImportError::Malformed {
            path: file.to_owned(),
            format: ImportFormat::Beads,
            problem: "no line of it is an issue".to_owned(),
        });
    }
    let issues = issues.into_iter().map(|issue| (issue.task, issue.parent));
    imported.nest(issues.collect());
    Ok(imported)
}

/// The issue of a line; none where it is something else, or gone.
fn issue(
    file: &Path,
    number: usize,
    fields: &Map<String, Value>,
    imported: &mut Imported,
) -> Option<Issue> {
    let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
    if !matches!(text("_type"), "" | "issue") || text("status") == "tombstone" {
        return None;
    }
    let (id, title) = (text("id"), text("title"));
    if id.is_empty() || title.is_empty() {
        imported.problem(file, number, "it has no `id`, or no `title`");
        return None;
    }
    let kind = match text("issue_type").to_lowercase().as_str() {
        "bug" => "fix",
        "chore" => "chore",
        "spike" => "spike",
        _ => "",
    };
    let mut task = ImportedTask {
        key: id.to_owned(),
        title: title.to_owned(),
        description: text("description").to_owned(),
        details: [text("design"), text("notes")]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("\n\n"),
        kind: kind.to_owned(),
        status: status(text("status")).unwrap_or_default(),
        acceptance_criteria: criteria(text("acceptance_criteria")),
        file: file.to_owned(),
        line: number,
        ..ImportedTask::default()
    };
    let mut parent = None;
    let edges = fields.get("dependencies").and_then(Value::as_array);
    for edge in edges.into_iter().flatten() {
        let field = |name: &str| edge.get(name).and_then(Value::as_str).unwrap_or_default();
        let target = field("depends_on_id");
        match field("type") {
            "blocks" | "blocked-by" | "conditional-blocks" | "waits-for" => {
                task.dependencies.push(target.to_owned());
            }
            "parent-child" | "parent" | "child" if parent.is_none() => {
                parent = Some(target.to_owned());
            }
            _ => {}
        }
    }
    // An id such as `bd-1.2` says where it belongs, too.
    let parent = parent.or_else(|| id.rsplit_once('.').map(|(parent, _)| parent.to_owned()));
    Some(Issue {
        task,
        parent: parent.filter(|parent| parent != id),
        updated: text("updated_at").to_owned(),
    })
}

/// One sentence each, without their bullets.
fn criteria(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| {
        let line = line.trim().trim_start_matches(['-', '*', ' ']);
        let line = line
            .strip_prefix("[ ]")
            .or_else(|| line.strip_prefix("[x]"))
            .unwrap_or(line);
        line.trim().to_owned()
    });
    lines.filter(|line| !line.is_empty()).collect()
}
