//! Brings tasks of others into the tasks file: new ones get ids, those that came before are found again and brought up to date.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value, json};

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

/// A task or a subtask of the file as it will be, with the keys that it waits for.
struct Placed {
    id: String,
    waits_for: Vec<String>,
}

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
    let Pairing { found, gone, .. } = Pairing::of(&before, imported, root);
    let mut merging = Merging {
        format: imported.format,
        root,
        found,
        placed: HashMap::new(),
    };
    let mut next = list.iter().filter_map(number_of).max().unwrap_or(0) + 1;
    let mut places = Vec::new();
    for task in &imported.tasks {
        let at = merging.found.get(&*task.key).map(|(at, _)| *at);
        if at.is_none() && !all && task.status.0.is_finished() {
            places.push((task, None));
            continue;
        }
        let at = at.unwrap_or_else(|| {
            list.push(json!({ "id": next }));
            next += 1;
            list.len() - 1
        });
        merging.take(list, at, task);
        places.push((task, Some(at)));
    }
    for task in list.iter_mut() {
        resolve(task, &merging.placed);
    }
    let tasks = places.into_iter().map(|(task, at)| {
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

fn subtasks_of(entry: &Value) -> &[Value] {
    let subtasks = entry.get("subtasks").and_then(Value::as_array);
    subtasks.map_or(&[], Vec::as_slice)
}

/// A path below a root, by its name there.
fn relative(root: &Path, file: &Path) -> String {
    file.strip_prefix(root)
        .unwrap_or(file)
        .display()
        .to_string()
}

/// The place of a task in the list, and of a subtask in it.
type Position = (usize, Option<usize>);

/// An entry of the file that came from the source.
#[derive(Clone, Copy)]
struct Known<'f> {
    at: Position,
    key: &'f str,
    title: &'f str,
    is_open: bool,
}

/// Which entries of the file are which tasks of a source. Where numbers are places in a list, the title says it, and the number only where
/// titles are alike, or where an open task got another title: what is done is never taken for a task with another title.
struct Pairing<'a> {
    format: ImportFormat,
    found: HashMap<&'a str, Position>,
    used: HashSet<Position>,
    /// The ids of entries that are in the source no more.
    gone: Vec<String>,
}

impl<'a> Pairing<'a> {
    fn of(list: &'a [Value], imported: &'a Imported, root: &Path) -> Self {
        let first = imported.tasks.first();
        let file = first
            .map(|task| relative(root, &task.file))
            .unwrap_or_default();
        let is_of = |entry: &Value| source(entry, "format") == Some(imported.format.name());
        let in_file = |entry: &Value| source(entry, "file") == Some(&*file);
        let known = |entry: &'a Value, at| {
            (is_of(entry) && (!imported.format.has_positions() || in_file(entry))).then(|| Known {
                at,
                key: source(entry, "key").unwrap_or_default(),
                title: title_there(entry),
                is_open: !status_of(entry).is_some_and(|status| status.is_finished()),
            })
        };
        let (mut tasks, mut parts) = (Vec::new(), Vec::new());
        for (at, task) in list.iter().enumerate() {
            tasks.extend(known(task, (at, None)));
            for (own, part) in subtasks_of(task).iter().enumerate() {
                parts.extend(known(part, (at, Some(own))));
            }
        }
        let mut pairing = Self {
            format: imported.format,
            found: HashMap::new(),
            used: HashSet::new(),
            gone: Vec::new(),
        };
        let items: Vec<&ImportedTask> = imported.tasks.iter().collect();
        pairing.by_title(&items, &tasks);
        pairing.by_parts(&items, &tasks, &parts);
        pairing.by_key(&items, &tasks);
        let mut below = Vec::new();
        for item in items {
            let own: Vec<&ImportedTask> = leaves(item).into_iter().map(|(leaf, _)| leaf).collect();
            if let Some((at, _)) = pairing.found.get(&*item.key).copied() {
                let mut of_it = parts.clone();
                of_it.retain(|part| part.at.0 == at);
                pairing.by_title(&own, &of_it);
            }
            below.extend(own);
        }
        // What stands in another group by now. What is left of a group that went is not taken for something else.
        let mut left = parts.clone();
        left.retain(|part| pairing.used.contains(&(part.at.0, None)));
        pairing.by_title(&below, &left);
        pairing.by_key(&below, &left);
        let keys: HashSet<&str> = imported
            .tasks
            .iter()
            .flat_map(ImportedTask::all)
            .map(|task| &*task.key)
            .collect();
        let is_there = |known: &Known<'_>| {
            pairing.used.contains(&known.at)
                || !in_file(entry_at(list, known.at))
                || !imported.format.has_positions() && keys.contains(known.key)
        };
        let gone = tasks
            .iter()
            .chain(&parts)
            .filter(|known| first.is_some() && !is_there(known));
        let gone = gone.map(|known| match known.at {
            (at, None) => id_of(&list[at]),
            (at, Some(_)) => format!("{}.{}", id_of(&list[at]), id_of(entry_at(list, known.at))),
        });
        let gone = gone.collect();
        Self { gone, ..pairing }
    }

    fn is_free(&self, item: &ImportedTask, known: &Known<'_>) -> bool {
        !self.found.contains_key(&*item.key) && !self.used.contains(&known.at)
    }

    fn pair(&mut self, item: &'a ImportedTask, known: &Known<'_>) {
        if self.is_free(item, known) {
            self.found.insert(&item.key, known.at);
            self.used.insert(known.at);
        }
    }

    /// Pairs what has the same title: of several by their order, where each has its place and some other number, else by their numbers.
    fn by_title(&mut self, items: &[&'a ImportedTask], entries: &[Known<'a>]) {
        let by_title = self.format.has_positions();
        for item in items.iter().filter(|_| by_title) {
            let is_open = |twin: &&&ImportedTask| !self.found.contains_key(&*twin.key);
            let twins = items
                .iter()
                .filter(|twin| twin.title == item.title)
                .filter(is_open);
            let keys: HashSet<&str> = twins.map(|twin| &*twin.key).collect();
            let alike = entries.iter().filter(|known| known.title == item.title);
            let alike: Vec<_> = alike.filter(|known| self.is_free(item, known)).collect();
            let by_number =
                keys.len() != alike.len() || alike.iter().all(|known| keys.contains(known.key));
            let same = alike
                .iter()
                .find(|known| by_number && known.key == item.key);
            let mut others = alike
                .iter()
                .filter(|known| !by_number || !keys.contains(known.key));
            if let Some(known) = same.or_else(|| others.next()) {
                self.pair(item, known);
            }
        }
    }

    /// Pairs groups whose title differs in the number alone, and those that have parts of the same titles, most of them first.
    fn by_parts(&mut self, items: &[&'a ImportedTask], entries: &[Known<'a>], parts: &[Known<'a>]) {
        let mut alike = Vec::new();
        for item in items.iter().filter(|_| self.format.has_positions()) {
            let leaves = leaves(item);
            let titles: HashSet<&str> = leaves.iter().map(|(leaf, _)| &*leaf.title).collect();
            for known in entries.iter().filter(|known| self.is_free(item, known)) {
                let is_same = without_number(known.title) == without_number(&item.title);
                let shared = parts.iter().filter(|part| part.at.0 == known.at.0);
                let shared = shared.filter(|part| titles.contains(part.title)).count();
                if is_same || shared > 0 {
                    alike.push(((is_same, shared), *item, known));
                }
            }
        }
        alike.sort_by_key(|(likeness, ..)| Reverse(*likeness));
        for (_, item, known) in alike {
            self.pair(item, known);
        }
    }

    /// Pairs what has the same key.
    fn by_key(&mut self, items: &[&'a ImportedTask], entries: &[Known<'a>]) {
        // The number of an issue is never that of another one.
        let is_fixed = matches!(self.format, ImportFormat::Beads | ImportFormat::Github);
        let keys: HashMap<&str, &Known<'_>> = entries
            .iter()
            .rev()
            .map(|known| (known.key, known))
            .collect();
        for item in items {
            let is_group = self.format.has_positions() && !item.subtasks.is_empty();
            let is_same = |known: &&&Known<'_>| {
                // What is done is not lost as another task that is done, too.
                let may_differ = known.is_open || item.status.0.is_finished();
                known.title == item.title || is_fixed || may_differ && !is_group
            };
            if let Some(known) = keys.get(&*item.key).filter(is_same) {
                self.pair(item, known);
            }
        }
    }
}

/// The title of a phase without its number.
fn without_number(title: &str) -> &str {
    let numbered = title
        .strip_prefix("Phase ")
        .and_then(|rest| rest.split_once(':'));
    numbered.map_or(title, |(_, rest)| rest.trim())
}

fn entry_at(list: &[Value], (at, own): Position) -> &Value {
    own.map_or(&list[at], |own| &subtasks_of(&list[at])[own])
}

fn status_of(entry: &Value) -> Option<Status> {
    let status = entry.get("status").and_then(Value::as_str);
    status.map(Status::from_text)
}

struct Merging<'a> {
    format: ImportFormat,
    root: &'a Path,
    /// Where the tasks of the source stand in the file already, by their keys.
    found: HashMap<&'a str, Position>,
    /// By the key of a task or subtask where it stands, as `7` or `7.2`.
    placed: HashMap<String, Placed>,
}

impl Merging<'_> {
    fn take(&mut self, list: &mut [Value], at: usize, task: &ImportedTask) {
        self.fill(&mut list[at], task, &task.description);
        self.place(task, id_of(&list[at]));
        for (leaf, description) in leaves(task) {
            let found = self.found.get(&*leaf.key).copied();
            // One that stands in another group by now stays in the one where it was begun.
            let (of, own) = match found {
                Some((of, Some(own))) => (of, own),
                _ => (at, subtasks_of(&list[at]).len()),
            };
            let id = id_of(&list[of]);
            if !list[of]["subtasks"].is_array() {
                list[of]["subtasks"] = json!([]);
            }
            let Some(subtasks) = list[of]["subtasks"].as_array_mut() else {
                continue;
            };
            if own == subtasks.len() {
                let last = subtasks.iter().filter_map(number_of).max();
                subtasks.push(json!({ "id": last.unwrap_or(0) + 1 }));
            }
            self.fill(&mut subtasks[own], leaf, &description);
            self.place(leaf, format!("{id}.{}", id_of(&subtasks[own])));
        }
    }

    fn place(&mut self, task: &ImportedTask, id: String) {
        let waits_for = task.dependencies.clone();
        let placed = Placed { id, waits_for };
        self.placed.insert(task.key.clone(), placed);
    }

    /// Writes what the source says of a task. What is over here stays as it is, apart from what it is called there.
    fn fill(&self, entry: &mut Value, task: &ImportedTask, description: &str) {
        let status = status_of(entry);
        let Some(fields) = entry.as_object_mut() else {
            return;
        };
        let source = json!({
            "format": self.format.name(),
            "file": relative(self.root, &task.file),
            "key": task.key,
            "title": task.title,
        });
        if status.as_ref().is_some_and(Status::is_finished) {
            fields.insert("source".to_owned(), source);
            return;
        }
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
    // One that is in the source no more may have the key that another one has now.
    let place = |entry: &Value, id: String| {
        let placed = source(entry, "key").and_then(|key| placed.get(key));
        placed.filter(|placed| placed.id == id)
    };
    let of_task = |id: &str| id.split('.').next().unwrap_or(id).to_owned();
    let Some(own) = place(task, id_of(task)) else {
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
        let Some(part) = place(subtask, format!("{}.{}", own.id, id_of(subtask))) else {
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
