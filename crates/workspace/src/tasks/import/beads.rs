//! JSON lines of beads: an issue in each. What is closed for good, or no issue, is passed over.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use serde_json::{Map, Value};

use super::{ImportError, ImportFormat, Imported, ImportedStatus, ImportedTask};
use crate::tasks::Status;

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
    imported.tasks = below_their_parents(issues, &mut imported.problems, file);
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
        status: status(text("status")),
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

fn status(word: &str) -> ImportedStatus {
    ImportedStatus(match word.to_lowercase().as_str() {
        "closed" | "completed" | "complete" | "done" => Status::Done,
        "in_progress" | "hooked" => Status::InProgress,
        "pending_review" => Status::Review,
        "deferred" | "pinned" => Status::Deferred,
        "cancelled" | "canceled" => Status::Cancelled,
        "blocked" => Status::Blocked,
        _ => Status::Pending,
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

/// Each issue as a part of the one that it belongs to. Who would be a part of itself stands alone.
fn below_their_parents(
    issues: Vec<Issue>,
    problems: &mut Vec<super::ImportProblem>,
    file: &Path,
) -> Vec<ImportedTask> {
    let known: HashSet<String> = issues.iter().map(|issue| issue.task.key.clone()).collect();
    let parents: HashMap<String, String> = issues
        .iter()
        .filter_map(|issue| {
            let parent = issue
                .parent
                .clone()
                .filter(|parent| known.contains(parent))?;
            Some((issue.task.key.clone(), parent))
        })
        .collect();
    let is_in_a_circle = |key: &str| {
        let mut seen = HashSet::from([key]);
        let mut at = key;
        while let Some(parent) = parents.get(at) {
            if !seen.insert(parent) {
                return true;
            }
            at = parent;
        }
        false
    };
    let mut roots: Vec<String> = Vec::new();
    let mut children: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut tasks: HashMap<String, ImportedTask> = HashMap::new();
    for mut issue in issues {
        let key = issue.task.key.clone();
        issue.task.dependencies.retain(|needed| {
            let is_there = known.contains(needed);
            if !is_there {
                problems.push(super::ImportProblem {
                    file: file.to_owned(),
                    line: issue.task.line,
                    message: format!("`{key}` waits for `{needed}`, which is not there"),
                });
            }
            is_there
        });
        match parents.get(&key).filter(|_| !is_in_a_circle(&key)) {
            Some(parent) => children
                .entry(parent.clone())
                .or_default()
                .push(key.clone()),
            None => roots.push(key.clone()),
        }
        tasks.insert(key, issue.task);
    }
    let mut all = Vec::new();
    for root in roots {
        all.extend(with_children(&root, &mut tasks, &children));
    }
    all
}

fn with_children(
    key: &str,
    tasks: &mut HashMap<String, ImportedTask>,
    children: &BTreeMap<String, Vec<String>>,
) -> Option<ImportedTask> {
    let mut task = tasks.remove(key)?;
    for child in children.get(key).into_iter().flatten() {
        task.subtasks.extend(with_children(child, tasks, children));
    }
    Some(task)
}
