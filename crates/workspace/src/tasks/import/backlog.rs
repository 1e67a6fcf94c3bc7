//! Task files of Backlog.md: front matter, and sections behind it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde_json::Value;

use super::boxes::{CheckboxLine, plain};
use super::labels::{kind_of_labels, status};
use super::markdown_lists::{heading, is_markdown, lines};
use super::nesting::FlatTask;
use super::{ImportError, ImportFormat, Imported, ImportedTask};
use crate::tasks::Status;

/// The folders that tasks lie in, the living before the done.
const FOLDERS: [&str; 4] = ["tasks", "drafts", "completed", "archive/tasks"];

/// Whether a text is one of a task: its front matter has an id and a title.
pub(super) fn is_it(text: &str) -> bool {
    front_matter(text)
        .is_some_and(|(fields, _)| fields.contains_key("id") && fields.contains_key("title"))
}

pub(super) fn read(path: &Path) -> Result<Imported, ImportError> {
    let mut imported = Imported::new(ImportFormat::Backlog);
    let mut all: Vec<FlatTask> = Vec::new();
    let statuses = Statuses::near(path);
    let mut unknown = BTreeSet::new();
    for file in files(path)? {
        let text = super::text(&file)?;
        match task(&file, &text, &statuses, &mut unknown) {
            Ok(Some(read)) => all.push(read),
            Ok(None) => {
                let message = "it has no front matter with an `id` and a `title`";
                imported.problem(&file, 1, message);
            }
            Err((line, message)) => imported.problem(&file, line, message),
        }
    }
    for word in unknown {
        imported.problem(
            path,
            0,
            format!("the status `{word}` is not known: its tasks count as pending"),
        );
    }
    take_all(all, &mut imported);
    Ok(imported)
}

/// The files of tasks that a path stands for.
fn files(path: &Path) -> Result<Vec<PathBuf>, ImportError> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let own = FOLDERS.map(|folder| path.join(folder));
    let is_whole = own.iter().any(|folder| folder.is_dir());
    let folders = if is_whole {
        own.to_vec()
    } else {
        vec![path.to_owned()]
    };
    let mut files = Vec::new();
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        let entries = fs::read_dir(folder).map_err(|source| ImportError::Io {
            path: folder.clone(),
            source,
        })?;
        let mut inside: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        let is_task = |file: &PathBuf| {
            let name = file
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or_default();
            is_markdown(name) && !name.eq_ignore_ascii_case("readme.md")
        };
        inside.retain(|file| is_task(file) && file.is_file());
        inside.sort();
        files.extend(inside);
    }
    Ok(files)
}

/// The fields of the front matter, and what stands behind it.
fn front_matter(text: &str) -> Option<(BTreeMap<String, Value>, &str)> {
    let (own, rest) = cut(text)?;
    // YAML has no names that begin with `@`, and people write them all the same.
    let quoted: Vec<String> = own
        .lines()
        .map(|line| match line.split_once(": @") {
            Some((key, name)) => format!("{key}: \"@{}\"", name.trim()),
            None => match line.trim_start().strip_prefix("- @") {
                Some(name) => format!("  - \"@{}\"", name.trim()),
                None => line.to_owned(),
            },
        })
        .collect();
    let fields = serde_saphyr::from_str(&quoted.join("\n")).ok()?;
    Some((fields, rest))
}

/// The text between the fences of the front matter, and what stands behind it.
pub(super) fn cut(text: &str) -> Option<(&str, &str)> {
    let body = text.strip_prefix("---")?;
    let first = body.find('\n')? + 1;
    let mut at = first;
    for line in body[first..].split_inclusive('\n') {
        if let Some(rest) = line.strip_prefix("---") {
            // Sometimes what follows stands in the same line.
            let rest_at = at + line.len() - rest.len();
            return Some((&body[first..at], &body[rest_at..]));
        }
        at += line.len();
    }
    None
}

type Read = Result<Option<FlatTask>, (usize, String)>;

fn task(file: &Path, text: &str, statuses: &Statuses, unknown: &mut BTreeSet<String>) -> Read {
    let Some((fields, body)) = front_matter(text) else {
        return match cut(text) {
            Some(_) => Err((2, "its front matter is no YAML".to_owned())),
            None => Ok(None),
        };
    };
    let field = |name: &str| match fields.get(name) {
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let list = |name: &str| -> Vec<String> {
        match fields.get(name) {
            Some(Value::Array(all)) => all
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            Some(Value::String(one)) => vec![one.clone()],
            _ => Vec::new(),
        }
    };
    let (id, title) = (field("id"), field("title"));
    if id.is_empty() || title.is_empty() {
        return Ok(None);
    }
    let (own, labels) = (field("type"), list("labels"));
    let told = std::iter::once(own.as_str()).chain(labels.iter().map(String::as_str));
    let kind = kind_of_labels(told);
    let word = field("status");
    let status = statuses.meaning(&word).unwrap_or_else(|| {
        unknown.insert(word);
        Status::Pending
    });
    let folder = |above: usize| file.ancestors().nth(above).and_then(Path::file_name);
    let status = match status {
        finished if finished.is_finished() => finished,
        _ if folder(1).is_some_and(|name| name == "completed") => Status::Done,
        _ if folder(2).is_some_and(|name| name == "archive") => Status::Cancelled,
        open => open,
    };
    let mut task = ImportedTask {
        key: canonical(&id),
        title,
        kind: kind.to_owned(),
        status,
        dependencies: list("dependencies")
            .iter()
            .map(|id| canonical(id))
            .collect(),
        file: file.to_owned(),
        line: 1,
        ..ImportedTask::default()
    };
    take_sections(&mut task, body);
    let parent = field("parent_task_id");
    let parent = if parent.is_empty() {
        task.key
            .rsplit_once('.')
            .map(|(parent, _)| parent.to_owned())
    } else {
        Some(canonical(&parent))
    };
    Ok(Some((task, parent)))
}

/// An id whose case and leading zeros make no difference: `task-007` and `TASK-7`.
fn canonical(id: &str) -> String {
    let id = id.trim().to_uppercase();
    let parts = id.split_inclusive(['-', '.']);
    parts
        .map(|part| {
            let digits = part.trim_end_matches(['-', '.']);
            if !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit()) {
                let end = &part[digits.len()..];
                format!(
                    "{}{end}",
                    digits.trim_start_matches('0').parse::<u64>().unwrap_or(0)
                )
            } else {
                part.to_owned()
            }
        })
        .collect()
}

/// The statuses that a project has, in their order; none where its configuration names none.
#[derive(Debug, Default)]
pub(super) struct Statuses(Vec<String>);

impl Statuses {
    /// Those of the project that a file or folder belongs to.
    pub(super) fn near(path: &Path) -> Self {
        const NAMES: [&str; 3] = ["config.yml", "config.yaml", "backlog.config.yml"];
        let folders = path.ancestors().take(5);
        let files = folders.flat_map(|folder| NAMES.map(|name| folder.join(name)));
        let mut own = files.filter_map(|file| {
            let text = fs::read_to_string(file).ok()?;
            let fields: BTreeMap<String, Value> = serde_saphyr::from_str(&text).ok()?;
            serde_json::from_value(fields.get("statuses")?.clone()).ok()
        });
        Self(own.next().unwrap_or_default())
    }

    /// The one that says that a task is done: the last one, where none has a name that does.
    pub(super) fn done(&self) -> &str {
        let mut all = self.0.iter();
        let named = all.find(|word| status(word) == Some(Status::Done));
        named.or(self.0.last()).map_or("Done", String::as_str)
    }

    fn meaning(&self, word: &str) -> Option<Status> {
        let at = |word: &str| self.0.iter().position(|own| own.eq_ignore_ascii_case(word));
        status(word).or_else(|| (at(word)? >= at(self.done())?).then_some(Status::Done))
    }
}

/// Takes the sections that say what is to be done. What stands between the marks of a section belongs to it, headings too.
fn take_sections(task: &mut ImportedTask, body: &str) {
    let mut section = String::new();
    let mut is_marked = false;
    for line in lines(body) {
        let inner = line.text.trim();
        if inner.starts_with("<!--") && inner.contains(":BEGIN") {
            is_marked = true;
            continue;
        }
        if inner.starts_with("<!--") && inner.contains(":END") {
            is_marked = false;
            continue;
        }
        if let Some((2, name)) = heading(line.text).filter(|_| !is_marked) {
            section = name.to_lowercase();
            continue;
        }
        match section.as_str() {
            "acceptance criteria" => {
                if let Some(checkbox) = CheckboxLine::read(line.text) {
                    task.acceptance_criteria
                        .push(without_number(&plain(checkbox.rest)));
                }
            }
            "description" => add(&mut task.description, line.text),
            "implementation plan" => add(&mut task.details, line.text),
            _ => {}
        }
    }
    task.description = task.description.trim().to_owned();
    task.details = task.details.trim().to_owned();
}

/// A criterion without the number that the tool gives it.
fn without_number(text: &str) -> String {
    let numbered = text.strip_prefix('#').and_then(|rest| rest.split_once(' '));
    match numbered {
        Some((number, rest)) if number.parse::<u32>().is_ok() => rest.to_owned(),
        _ => text.to_owned(),
    }
}

fn add(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// Takes each task once, below the one that it belongs to.
fn take_all(all: Vec<FlatTask>, imported: &mut Imported) {
    let mut once: IndexMap<String, FlatTask> = IndexMap::new();
    for (task, parent) in all {
        if once.contains_key(&task.key) {
            let message = format!(
                "`{}` is there twice: the one that was read first counts",
                task.key
            );
            imported.problem(&task.file, task.line, message);
        } else {
            once.insert(task.key.clone(), (task, parent));
        }
    }
    // Where a project has changed the word before its numbers, what waits for a task may still have the old one.
    let keys: HashSet<String> = once.keys().cloned().collect();
    let by_number: HashMap<&str, &String> = keys
        .iter()
        .filter_map(|key| Some((key.split_once('-')?.1, key)))
        .collect();
    for (task, _) in once.values_mut() {
        let mut needed = task.dependencies.iter_mut();
        while let Some(id) = needed.find(|id| !keys.contains(&**id)) {
            let number = id.split_once('-').map(|(_, number)| number);
            if let Some(key) = number.and_then(|number| by_number.get(number)) {
                id.clone_from(key);
            }
        }
    }
    imported.nest(once.into_values().collect());
}
