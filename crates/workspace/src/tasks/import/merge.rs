//! Brings tasks of others into the tasks file: new ones get ids, those that came before are found again and brought up to date.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Value, json};

use super::{ImportFormat, Imported, ImportedTask};
use crate::tasks::{DEFAULT_TAG, Status, TASKS_FILE, TaskFile};

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

/// The place of a task in the list, and of a subtask in it.
type Position = (usize, Option<usize>);

/// Brings what was imported into a tasks file, under a tag; `text` is the file as it is, empty where there is none, and stays as it is
/// where nothing of the tag changes. Tasks that are over in their source are left out unless `all` are wanted.
///
/// # Errors
/// Says why the tasks file cannot be read, as it is or as it would be.
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
    let before = list.clone();
    let Pairing { tasks, parts, gone } = Pairing::of(&before, imported, root);
    let origin = |task: &ImportedTask| {
        json!({
            "format": imported.format.name(),
            "file": relative(root, &task.file),
            "key": task.key,
            "title": task.title,
        })
    };
    let mut outcomes = Vec::new();
    let mut placed: IndexMap<Position, &ImportedTask> = IndexMap::new();
    for task in &imported.tasks {
        let found = tasks.get(&*task.key).map(|(at, _)| *at);
        let is_wanted = all || !task.status.is_finished();
        let at = found.or_else(|| is_wanted.then(|| added(list)));
        outcomes.push((task, at));
        let Some(at) = at else {
            continue;
        };
        fill(&mut list[at], task, &task.description, origin(task));
        placed.insert((at, None), task);
        for (leaf, description) in leaves(task) {
            let found = parts.get(&*leaf.key).copied();
            // One that stands in another group by now stays in the one where it was begun.
            let (of, own) = found.unwrap_or((at, None));
            let subtasks = &mut list[of]["subtasks"];
            if !subtasks.is_array() {
                *subtasks = json!([]);
            }
            let Some(own) = own.or_else(|| subtasks.as_array_mut().map(added)) else {
                continue;
            };
            fill(&mut subtasks[own], leaf, &description, origin(leaf));
            placed.insert((of, Some(own)), leaf);
        }
    }
    set_dependencies(list, &placed);
    let tasks = outcomes.into_iter().map(|(task, at)| {
        let outcome = match at.map(|at| (before.get(at), &list[at])) {
            None => MergeOutcome::Over,
            Some((None, _)) => MergeOutcome::Added,
            Some((Some(was), is)) if was == is => MergeOutcome::Unchanged,
            Some(_) => MergeOutcome::Updated,
        };
        (task.key.clone(), at.map(|at| id_of(&list[at])), outcome)
    });
    let tasks = tasks.collect();
    let mut merged = text.to_owned();
    if *list != before {
        merged = serde_json::to_string_pretty(&file).map_err(|error| error.to_string())?;
        merged.push('\n');
        let readable = |text: &str| {
            TaskFile::at(root.join(TASKS_FILE), tag)?
                .holding(text)
                .load_tasks()
        };
        if let Err(error) = readable(&merged) {
            // What was wrong before has its place in the file as it is.
            let before = Some(text).filter(|text| !text.trim().is_empty());
            let error = before
                .and_then(|text| readable(text).err())
                .unwrap_or(error);
            return Err(error.to_string());
        }
    }
    Ok(MergedTasks {
        text: merged,
        tasks,
        gone,
    })
}

/// The list of tasks of a tag, made where there is none.
fn list_of<'f>(file: &'f mut Value, tag: &str) -> Result<&'f mut Vec<Value>, String> {
    let top = file
        .as_object_mut()
        .ok_or("the tasks file holds no object")?;
    let is_untagged = tag == DEFAULT_TAG && top.get("tasks").is_some_and(Value::is_array);
    let list = if is_untagged {
        top.get_mut("tasks")
    } else {
        let new = || json!({ "tasks": [], "metadata": {} });
        top.entry(tag).or_insert_with(new).get_mut("tasks")
    };
    list.and_then(Value::as_array_mut)
        .ok_or_else(|| format!("the tag `{tag}` of the tasks file has no list of tasks"))
}

/// Adds an entry with the next number to a list; its place there.
fn added(list: &mut Vec<Value>) -> usize {
    let number = |entry: &Value| {
        let id = entry.get("id")?;
        id.as_u64().or_else(|| id.as_str()?.parse().ok())
    };
    let last = list.iter().filter_map(number).max();
    list.push(json!({ "id": last.unwrap_or(0) + 1 }));
    list.len() - 1
}

/// The id of a task or subtask, as people write it.
fn id_of(entry: &Value) -> String {
    let id = entry.get("id").unwrap_or_default();
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

/// What an entry of the file says of the source that it came from.
pub(super) fn source<'f>(entry: &'f Value, name: &str) -> Option<&'f str> {
    entry.get("source")?.get(name)?.as_str()
}

/// What an entry is called in its source, as far as the file knows it.
pub(super) fn title_there(entry: &Value) -> &str {
    let own = || entry.get("title").and_then(Value::as_str);
    source(entry, "title").or_else(own).unwrap_or_default()
}

/// How far an entry is; none where it does not say.
pub(super) fn status_of(entry: &Value) -> Option<Status> {
    let status = entry.get("status").and_then(Value::as_str);
    status.map(Status::from_text)
}

/// A path below a root, by its name there.
fn relative(root: &Path, file: &Path) -> String {
    file.strip_prefix(root)
        .unwrap_or(file)
        .display()
        .to_string()
}

/// An entry of the file that came from the source.
struct Known<'f> {
    at: Position,
    /// Its id, as people write it.
    id: String,
    key: &'f str,
    title: &'f str,
    is_open: bool,
    /// Whether it came from the very file that is read.
    is_in_file: bool,
}

/// Which entries of the file are which tasks of a source, by the keys of these.
///
/// Where keys are places in a list, a task is its title, a subtask its group and its title, the n-th the n-th of several; a group is its
/// title without the number, or the one that has most of its parts. Else it is the key that counts. What is done is never taken for something
/// with another title, unless ids are given once and for all.
#[derive(Default)]
struct Pairing<'a> {
    tasks: HashMap<&'a str, Position>,
    parts: HashMap<&'a str, Position>,
    /// The ids of entries that are in the source no more.
    gone: Vec<String>,
}

impl<'a> Pairing<'a> {
    fn of(list: &'a [Value], imported: &'a Imported, root: &Path) -> Self {
        let Some(first) = imported.tasks.first() else {
            return Self::default();
        };
        let format = imported.format;
        let file = relative(root, &first.file);
        let known = |entry: &'a Value, at, id| {
            let is_in_file = source(entry, "file") == Some(&*file);
            let is_of = source(entry, "format") == Some(format.name());
            (is_of && (is_in_file || !format.has_positions())).then(|| Known {
                at,
                id,
                key: source(entry, "key").unwrap_or_default(),
                title: title_there(entry),
                is_open: !status_of(entry).is_some_and(|status| status.is_finished()),
                is_in_file,
            })
        };
        let (mut old_tasks, mut old_parts) = (Vec::new(), Vec::new());
        for (at, task) in list.iter().enumerate() {
            let id = id_of(task);
            let parts = task.get("subtasks").and_then(Value::as_array);
            for (own, part) in parts.into_iter().flatten().enumerate() {
                let id = format!("{id}.{}", id_of(part));
                old_parts.extend(known(part, (at, Some(own)), id));
            }
            old_tasks.extend(known(task, (at, None), id));
        }
        let is_same_key = |item: &ImportedTask, known: &Known<'_>| {
            // The number of an issue is never that of another one.
            let is_fixed = matches!(format, ImportFormat::Beads | ImportFormat::Github);
            item.key == known.key && (is_fixed || known.is_open || item.title == known.title)
        };

        let mut tasks = HashMap::new();
        let mut items: Vec<&ImportedTask> = imported.tasks.iter().collect();
        if format.has_positions() {
            pair(&mut items, &mut old_tasks, &mut tasks, |item, known| {
                without_number(&item.title) == without_number(known.title)
            });
            pair(&mut items, &mut old_tasks, &mut tasks, |item, known| {
                let own = old_parts.iter().filter(|part| part.at.0 == known.at.0);
                let own: HashSet<&str> = own.map(|part| part.title).collect();
                let shared = item
                    .subtasks
                    .iter()
                    .filter(|leaf| own.contains(&*leaf.title));
                shared.count() * 2 > item.subtasks.len()
            });
        } else {
            pair(&mut items, &mut old_tasks, &mut tasks, is_same_key);
        }

        // What is left of a group that went is not taken for something else.
        let groups: HashSet<usize> = tasks.values().map(|(at, _)| *at).collect();
        let (mut old_parts, left): (Vec<_>, Vec<_>) = old_parts
            .into_iter()
            .partition(|part| groups.contains(&part.at.0));
        let mut parts = HashMap::new();
        let mut below = Vec::new();
        for task in &imported.tasks {
            let mut own = leaves(task).into_iter().map(|(leaf, _)| leaf).collect();
            if let Some((group, _)) = tasks.get(&*task.key)
                && format.has_positions()
            {
                pair(&mut own, &mut old_parts, &mut parts, |leaf, known| {
                    known.at.0 == *group && leaf.title == known.title
                });
            }
            below.append(&mut own);
        }
        if format.has_positions() {
            // It may stand in another group by now.
            pair(&mut below, &mut old_parts, &mut parts, |leaf, known| {
                leaf.title == known.title
            });
        }
        pair(&mut below, &mut old_parts, &mut parts, is_same_key);

        let gone = old_tasks.into_iter().chain(old_parts).chain(left);
        let gone = gone.filter(|known| known.is_in_file);
        Self {
            tasks,
            parts,
            gone: gone.map(|known| known.id).collect(),
        }
    }
}

/// Pairs each item with the first entry that is the same. Both leave their lists.
fn pair<'a>(
    items: &mut Vec<&'a ImportedTask>,
    entries: &mut Vec<Known<'_>>,
    found: &mut HashMap<&'a str, Position>,
    is_same: impl Fn(&ImportedTask, &Known<'_>) -> bool,
) {
    items.retain(|item| {
        let at = entries.iter().position(|known| is_same(item, known));
        if let Some(at) = at {
            found.insert(&item.key, entries.remove(at).at);
        }
        at.is_none()
    });
}

/// The title of a phase without its number.
fn without_number(title: &str) -> &str {
    let numbered = title.strip_prefix("Phase ");
    let numbered = numbered.and_then(|rest| rest.split_once(':'));
    numbered.map_or(title, |(_, rest)| rest.trim())
}

/// Writes what the source says of a task. What is over here stays as it is, apart from what it is called there.
fn fill(entry: &mut Value, task: &ImportedTask, description: &str, source: Value) {
    let status = status_of(entry);
    let Some(fields) = entry.as_object_mut() else {
        return;
    };
    if status.as_ref().is_some_and(Status::is_finished) {
        fields.insert("source".to_owned(), source);
        return;
    }
    // What was begun here was begun, whatever the source knows of it.
    let status = match status {
        Some(here) if !task.status.is_finished() && here != Status::Pending => here,
        _ => task.status.clone(),
    };
    let told: [(&str, Value); 7] = [
        ("title", task.title.as_str().into()),
        ("description", description.into()),
        ("details", task.details.as_str().into()),
        ("kind", task.kind.as_str().into()),
        ("acceptanceCriteria", json!(task.acceptance_criteria)),
        ("status", status.as_str().into()),
        ("source", source),
    ];
    for (name, value) in told {
        if value == "" || value == json!([]) {
            fields.shift_remove(name);
        } else {
            fields.insert(name.to_owned(), value);
        }
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

/// Writes what each of these waits for. What is not in the file is over, or gone.
fn set_dependencies(list: &mut [Value], placed: &IndexMap<Position, &ImportedTask>) {
    let at_of: HashMap<&str, Position> =
        placed.iter().map(|(at, task)| (&*task.key, *at)).collect();
    let mut needed: IndexMap<Position, Vec<Value>> =
        placed.keys().map(|at| (*at, Vec::new())).collect();
    for (&(at, own), task) in placed {
        let wanted = task.dependencies.iter().filter_map(|key| at_of.get(&**key));
        for &(other, part) in wanted {
            let (waits, id) = match part {
                // What another task has to bring first is waited for as a whole.
                _ if other != at => ((at, None), &list[other]["id"]),
                Some(part) if own.is_some_and(|own| own != part) => {
                    ((at, own), &list[at]["subtasks"][part]["id"])
                }
                _ => continue,
            };
            let all = needed.entry(waits).or_default();
            if !all.contains(id) {
                all.push(id.clone());
            }
        }
    }
    for ((at, own), needed) in needed {
        let entry = match own {
            Some(own) => &mut list[at]["subtasks"][own],
            None => &mut list[at],
        };
        entry["dependencies"] = needed.into();
    }
}
