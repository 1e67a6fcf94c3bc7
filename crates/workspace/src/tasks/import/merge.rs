//! Brings tasks of others into the tasks file: new ones get ids, those that came before are found again and brought up to date.

use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{ImportFormat, Imported, ImportedTask};
use crate::tasks::{DEFAULT_TAG, Status};

/// What became of a task that was brought in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum MergeOutcome {
    /// It is new.
    Added,
    /// It was there, and says something else now.
    Updated,
    /// It was there, and says the same.
    Unchanged,
    /// It is over in its source, and was not there: it is left out.
    Over,
}

/// A tasks file with what was brought in.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MergedTasks {
    /// The whole file.
    #[serde(skip)]
    pub text: String,
    /// What became of each task, by its key, with its id in the file where it has one.
    pub tasks: Vec<(String, Option<String>, MergeOutcome)>,
    /// Tasks of this source that stand in the file, and in the source no more.
    pub gone: Vec<String>,
}

/// A task or a subtask of the file as it will be, with the keys that it waits for.
struct Placed {
    id: String,
    waits_for: Vec<String>,
}

/// Brings what was imported into a tasks file, under a tag; `text` is the file as it is, empty where there is none. Tasks that are over
/// in their source are left out unless `all` are wanted.
pub fn merge(
    text: &str,
    tag: &str,
    imported: &Imported,
    root: &Path,
    all: bool,
) -> Result<MergedTasks, String> {
    let mut file: Value = if text.trim().is_empty() {
        json!({})
    } else {
        serde_json::from_str(text).map_err(|error| format!("the tasks file is no JSON: {error}"))?
    };
    let list = list_of(&mut file, tag)?;
    let mut merging = Merging {
        format: imported.format,
        root,
        placed: HashMap::new(),
        outcomes: Vec::new(),
    };
    let mut next = list.iter().filter_map(number_of).max().unwrap_or(0) + 1;
    for task in &imported.tasks {
        let at = list.iter().position(|known| merging.is(known, task));
        if at.is_none() && !all && task.status.0.is_finished() {
            merging
                .outcomes
                .push((task.key.clone(), None, MergeOutcome::Over));
            continue;
        }
        let at = at.unwrap_or_else(|| {
            list.push(json!({ "id": next }));
            next += 1;
            list.len() - 1
        });
        merging.take(&mut list[at], task);
    }
    let keys = merging.placed;
    for task in list.iter_mut() {
        resolve(task, &keys);
    }
    let known: Vec<&ImportedTask> = imported.tasks.iter().flat_map(ImportedTask::all).collect();
    let gone = list
        .iter()
        .filter(|task| {
            let source = |name: &str| {
                task.pointer(&format!("/source/{name}"))
                    .and_then(Value::as_str)
            };
            let is_of_it = source("format") == Some(imported.format.name())
                && known
                    .first()
                    .is_some_and(|first| source("file") == Some(&*relative(root, &first.file)));
            is_of_it && !known.iter().any(|task| source("key") == Some(&task.key))
        })
        .filter_map(|task| task.get("id").map(shown))
        .collect();
    let mut text = serde_json::to_string_pretty(&file).map_err(|error| error.to_string())?;
    text.push('\n');
    Ok(MergedTasks {
        text,
        tasks: merging.outcomes,
        gone,
    })
}

/// The list of tasks of a tag, made where there is none.
fn list_of<'f>(file: &'f mut Value, tag: &str) -> Result<&'f mut Vec<Value>, String> {
    let no_list = || format!("the tag `{tag}` of the tasks file has no list of tasks");
    let top = file
        .as_object_mut()
        .ok_or("the tasks file holds no object")?;
    let is_untagged = tag == DEFAULT_TAG && top.get("tasks").is_some_and(Value::is_array);
    if is_untagged {
        return top
            .get_mut("tasks")
            .and_then(Value::as_array_mut)
            .ok_or_else(no_list);
    }
    let of_tag = top
        .entry(tag)
        .or_insert_with(|| json!({ "tasks": [], "metadata": {} }));
    of_tag
        .get_mut("tasks")
        .and_then(Value::as_array_mut)
        .ok_or_else(no_list)
}

fn number_of(task: &Value) -> Option<u64> {
    let id = task.get("id")?;
    id.as_u64().or_else(|| id.as_str()?.parse().ok())
}

/// An id as people write it.
fn shown(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

/// A path below a root, by its name there.
fn relative(root: &Path, file: &Path) -> String {
    file.strip_prefix(root)
        .unwrap_or(file)
        .display()
        .to_string()
}

struct Merging<'a> {
    format: ImportFormat,
    root: &'a Path,
    /// By the key of a task or subtask where it stands, as `7` or `7.2`.
    placed: HashMap<String, Placed>,
    outcomes: Vec<(String, Option<String>, MergeOutcome)>,
}

impl Merging<'_> {
    /// Whether an entry of the file is that task.
    fn is(&self, known: &Value, task: &ImportedTask) -> bool {
        let source = |name: &str| {
            known
                .pointer(&format!("/source/{name}"))
                .and_then(Value::as_str)
        };
        let is_by_file = matches!(self.format, ImportFormat::SpecKit | ImportFormat::Openspec);
        source("format") == Some(self.format.name())
            && source("key") == Some(&task.key)
            && (!is_by_file || source("file") == Some(&*relative(self.root, &task.file)))
    }

    fn take(&mut self, entry: &mut Value, task: &ImportedTask) {
        let before = entry.clone();
        let id = entry.get("id").map(shown).unwrap_or_default();
        self.fill(entry, task, &task.description);
        self.placed.insert(
            task.key.clone(),
            Placed {
                id: id.clone(),
                waits_for: task.dependencies.clone(),
            },
        );
        let leaves = leaves(task);
        if !leaves.is_empty() {
            let mut subtasks = entry
                .get("subtasks")
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default();
            let mut next = subtasks.iter().filter_map(number_of).max().unwrap_or(0) + 1;
            for (leaf, description) in leaves {
                let at = subtasks.iter().position(|known| self.is(known, leaf));
                let at = at.unwrap_or_else(|| {
                    subtasks.push(json!({ "id": next }));
                    next += 1;
                    subtasks.len() - 1
                });
                self.fill(&mut subtasks[at], leaf, &description);
                let own = subtasks[at].get("id").map(shown).unwrap_or_default();
                self.placed.insert(
                    leaf.key.clone(),
                    Placed {
                        id: format!("{id}.{own}"),
                        waits_for: leaf.dependencies.clone(),
                    },
                );
            }
            entry["subtasks"] = subtasks.into();
        }
        let outcome = if before.get("title").is_none() {
            MergeOutcome::Added
        } else if before == *entry {
            MergeOutcome::Unchanged
        } else {
            MergeOutcome::Updated
        };
        self.outcomes.push((task.key.clone(), Some(id), outcome));
    }

    /// Writes what the source says of a task. What is over here stays as it is.
    fn fill(&self, entry: &mut Value, task: &ImportedTask, description: &str) {
        let status = entry
            .get("status")
            .and_then(Value::as_str)
            .map(Status::from_text);
        if status.as_ref().is_some_and(Status::is_finished) {
            return;
        }
        let Some(fields) = entry.as_object_mut() else {
            return;
        };
        let mut put = |name: &str, value: Value, is_empty: bool| {
            if is_empty {
                fields.shift_remove(name);
            } else {
                fields.insert(name.to_owned(), value);
            }
        };
        put("title", task.title.clone().into(), false);
        put("description", description.into(), description.is_empty());
        put(
            "details",
            task.details.clone().into(),
            task.details.is_empty(),
        );
        put("kind", task.kind.clone().into(), task.kind.is_empty());
        let criteria = &task.acceptance_criteria;
        put("acceptanceCriteria", json!(criteria), criteria.is_empty());
        // What was begun here was begun, whatever the source knows of it.
        let status = match status {
            Some(here) if !task.status.0.is_finished() && here != Status::Pending => here,
            _ => task.status.0.clone(),
        };
        put("status", status.as_str().into(), false);
        let source = json!({
            "format": self.format.name(),
            "file": relative(self.root, &task.file),
            "key": task.key,
        });
        put("source", source, false);
    }
}

/// What is to be done of a task that has parts: those that have none themselves, each with what it is about.
fn leaves(task: &ImportedTask) -> Vec<(&ImportedTask, String)> {
    let mut all = Vec::new();
    for part in &task.subtasks {
        if part.subtasks.is_empty() {
            all.push((part, part.description.clone()));
        } else {
            for (leaf, description) in leaves(part) {
                let of = format!("Part of: {}", part.title);
                let told = [of.as_str(), part.description.as_str(), description.as_str()];
                let told: Vec<&str> = told.into_iter().filter(|text| !text.is_empty()).collect();
                all.push((leaf, told.join("\n\n")));
            }
        }
    }
    all
}

/// Writes the ids of what a task and its subtasks wait for in the place of keys. What is not in the file is over, or gone.
fn resolve(task: &mut Value, placed: &HashMap<String, Placed>) {
    let key = |entry: &Value| {
        entry
            .pointer("/source/key")
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let of_task = |id: &str| id.split('.').next().unwrap_or(id).to_owned();
    let Some(own) = key(task).and_then(|key| placed.get(&key)) else {
        return;
    };
    let mut needed: Vec<String> = Vec::new();
    let mut add = |id: String| {
        if id != own.id && !needed.contains(&id) {
            needed.push(id);
        }
    };
    for wanted in own.waits_for.iter().filter_map(|key| placed.get(key)) {
        add(of_task(&wanted.id));
    }
    let subtasks = task.get_mut("subtasks").and_then(Value::as_array_mut);
    for subtask in subtasks.into_iter().flatten() {
        let Some(part) = key(subtask).and_then(|key| placed.get(&key)) else {
            continue;
        };
        let mut within: Vec<Value> = Vec::new();
        for wanted in part.waits_for.iter().filter_map(|key| placed.get(key)) {
            match wanted.id.split_once('.') {
                Some((other, number)) if other == own.id => {
                    within.push(
                        number
                            .parse::<u64>()
                            .map_or_else(|_| number.into(), Value::from),
                    );
                }
                // What another task has to bring first is waited for as a whole.
                _ => add(of_task(&wanted.id)),
            }
        }
        set_dependencies(subtask, within);
    }
    let needed = needed.into_iter().map(|id| {
        id.parse::<u64>()
            .map_or_else(|_| Value::from(id.clone()), Value::from)
    });
    set_dependencies(task, needed.collect());
}

fn set_dependencies(entry: &mut Value, needed: Vec<Value>) {
    let Some(fields) = entry.as_object_mut() else {
        return;
    };
    let fields: &mut Map<String, Value> = fields;
    fields.insert("dependencies".to_owned(), needed.into());
}
