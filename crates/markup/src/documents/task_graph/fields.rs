//! From values to tasks.

mod finish;

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::documents::quoting::{Bounded, quoted};
use text::counted;

use super::blocks::{YamlBlock, tasks_of};
use super::keys::{Field, KEYS, field};
use super::yaml::{Node, Value};
use super::{MAX_ID_BYTES, MAX_TASKS, Note, Problem, Task, path};

/// Reads the tasks of a document, YAML after YAML.
#[derive(Debug, Default)]
pub(super) struct Reader {
    tasks: Vec<Draft>,
    problems: Bounded<Problem>,
    notes: Bounded<Note>,
    /// Where the first list of tasks stands that is empty.
    empty: Option<u32>,
    /// The places of the tasks whose ids are taken.
    taken: HashMap<String, usize>,
    /// The line and the id of the first template.
    template: Option<(u32, String)>,
    /// Keys that nobody knows: where each was first, how often, and whether it is one of a task.
    unknown: BTreeMap<(bool, String), (u32, usize)>,
    is_full: bool,
    /// How many blocks were begun.
    blocks: usize,
}

/// A task, before it is known which ids there are.
#[derive(Debug)]
struct Draft {
    task: Task,
    /// The number of the block that it stands in.
    block: usize,
    depends_on: Vec<Written>,
}

/// A dependency as it is written.
#[derive(Debug)]
struct Written {
    id: String,
    line: u32,
    /// Whether it stands alone behind its key.
    is_alone: bool,
}

/// The fields of one task, as they are gathered.
#[derive(Debug, Default)]
struct Fields {
    ids: Vec<(String, u32)>,
    has_bad_id: bool,
    files: Vec<String>,
    tests: Vec<String>,
    description: Vec<String>,
    parallel: Option<bool>,
    depends_on: Vec<Written>,
}

/// The text that a value belongs to.
#[derive(Clone, Copy)]
struct Source<'a> {
    text: &'a str,
    before: u32,
}

impl Source<'_> {
    fn line(self, node: &Node) -> u32 {
        self.before.saturating_add(node.line.max(1))
    }
}

impl Reader {
    /// A reader that tells more of a document of which something was told before.
    pub(super) fn new(problems: Bounded<Problem>, notes: Bounded<Note>) -> Self {
        Self {
            problems,
            notes,
            ..Self::default()
        }
    }

    pub(super) fn take(&mut self, found: &YamlBlock) {
        let source = Source {
            text: &found.source,
            before: found.before,
        };
        self.blocks += 1;
        if let Some((line, id)) = placeholder(source, found) {
            self.note(
                line,
                &format!(
                    "{} is no id but a place for one: the block is a template, and is passed over",
                    quoted(&id)
                ),
            );
            self.template.get_or_insert((line, id));
            return;
        }
        for node in &found.nodes {
            let Value::Map(entries) = &node.value else {
                continue;
            };
            for (key, _) in entries {
                if let Some(name) = key.text(source.text)
                    && name.trim() != "tasks"
                    && !name.starts_with("x-")
                    && tasks_of(node).next().is_some()
                {
                    self.not_known(false, &name, source.line(key));
                }
            }
            for tasks in tasks_of(node) {
                self.tasks(source, tasks);
            }
        }
    }

    fn tasks(&mut self, source: Source<'_>, tasks: &Node) {
        let line = source.line(tasks);
        match &tasks.value {
            Value::List(entries) => {
                if entries.is_empty() {
                    self.is_empty(line);
                }
                for entry in entries {
                    self.task(source, entry, None);
                }
            }
            Value::Map(entries) => {
                if let Some((key, _)) = entries
                    .iter()
                    .find(|(key, _)| key.text(source.text).as_deref() == Some("id"))
                {
                    self.problem(
                        "bad_field",
                        source.line(key),
                        "below `tasks` stands a task, and no list of tasks".to_owned(),
                        "put `- ` before `id:`, and indent the other keys of the task as far as `id`",
                    );
                    return;
                }
                if entries.is_empty() {
                    self.is_empty(line);
                }
                for (key, value) in entries {
                    self.task(source, value, Some(key));
                }
            }
            Value::Null => self.problem(
                "tasks_missing",
                line,
                "there is nothing below `tasks:`".to_owned(),
                "write a list of tasks below it, each beginning with `- id:`",
            ),
            Value::Text(_) | Value::Plain(_) => self.problem(
                "bad_field",
                line,
                "`tasks` is a text, and no list of tasks".to_owned(),
                "write a list of tasks below it, each beginning with `- id:`",
            ),
        }
    }

    /// Reads one task; `name` is its key where the tasks are a map.
    fn task(&mut self, source: Source<'_>, node: &Node, name: Option<&Node>) {
        let line = source.line(name.unwrap_or(node));
        if self.tasks.len() >= MAX_TASKS {
            if !self.is_full {
                self.is_full = true;
                self.problem(
                    "too_large",
                    line,
                    format!("there are more than {MAX_TASKS} tasks"),
                    "make larger tasks of them, or several items",
                );
            }
            return;
        }
        let entries = match &node.value {
            Value::Map(entries) => entries.as_slice(),
            Value::Null if name.is_some() => &[],
            Value::Null => {
                self.without_id(line, "write the task's id: `- id: types`");
                return;
            }
            Value::List(_) | Value::Text(_) | Value::Plain(_) => {
                self.problem(
                    "bad_field",
                    line,
                    format!("{} stands where a task is to be", node.what()),
                    "write each task as a map with an id: `- id: types`",
                );
                return;
            }
        };
        let told = self.problems.times();
        let mut fields = Fields::default();
        if let Some(key) = name {
            self.id(source, key, &mut fields);
        }
        for (key, value) in entries {
            self.field(source, key, value, &mut fields);
        }
        let mut ids = fields.ids.into_iter();
        let Some((id, _)) = ids.next() else {
            if !fields.has_bad_id {
                self.without_id(line, &instead_of_id(source, entries));
            }
            return;
        };
        for problem in self.problems.after(told) {
            problem.tasks = vec![id.clone()];
        }
        if let Some((other, line)) = ids.find(|(other, _)| *other != id) {
            self.problem_of(
                "bad_field",
                line,
                format!(
                    "the task has two ids: {} and {}",
                    quoted(&id),
                    quoted(&other)
                ),
                "keep one of the two",
                vec![id.clone()],
            );
        }
        let task = Task {
            id: id.clone(),
            files: once(fields.files),
            tests: once(fields.tests),
            description: once(fields.description).join("\n"),
            // Who waits for others has to wait, and not to be alone: so it is meant beside dependencies.
            parallel: fields.parallel.unwrap_or(true) || !fields.depends_on.is_empty(),
            depends_on: Vec::new(),
            line,
        };
        let draft = Draft {
            task,
            block: self.blocks,
            depends_on: fields.depends_on,
        };
        if let Some(first) = self.taken.get(&id) {
            return self.again(*first, draft);
        }
        self.taken.insert(id, self.tasks.len());
        self.tasks.push(draft);
    }

    /// A task whose id is taken: it is the same one, as where a graph is repeated, or another.
    fn again(&mut self, first: usize, draft: Draft) {
        let known = &mut self.tasks[first];
        let (id, line) = (draft.task.id.clone(), draft.task.line);
        let at = known.task.line;
        let same = |one: &[String], other: &[String]| {
            one.iter().collect::<HashSet<_>>() == other.iter().collect::<HashSet<_>>()
        };
        let (one, other) = (&known.task, &draft.task);
        let says_something =
            !one.files.is_empty() || !one.tests.is_empty() || !one.description.is_empty();
        let agree = one.description == other.description
            || one.description.is_empty()
            || other.description.is_empty();
        // Within one list it is a slip, whatever they say.
        if known.block != draft.block
            && says_something
            && agree
            && same(&one.files, &other.files)
            && same(&one.tests, &other.tests)
        {
            if known.task.description.is_empty() {
                known.task.description = draft.task.description;
            }
            known.task.parallel &= draft.task.parallel;
            known.depends_on.extend(draft.depends_on);
            self.note(
                line,
                &format!(
                    "{} stands in line {at} already: both are read as one task",
                    quoted(&id)
                ),
            );
            return;
        }
        let message = format!(
            "{} is the id of two tasks; the first one is in line {at}",
            quoted(&id)
        );
        self.problem_of(
            "duplicate_id",
            line,
            message,
            "take one out if they are the same task; else give one of them another id, and see who depends on it",
            vec![id],
        );
    }

    fn field(&mut self, source: Source<'_>, key: &Node, value: &Node, fields: &mut Fields) {
        let line = source.line(key);
        let Some(name) = key.text(source.text) else {
            self.problem(
                "bad_field",
                line,
                format!("{} is no name of a field", key.what()),
                "fields have names such as `files`",
            );
            return;
        };
        let Some((field, is_known)) = field(name.trim()) else {
            self.not_known(true, &name, line);
            return;
        };
        if !is_known {
            let usual = KEYS[field as usize];
            self.note(line, &format!("{} is read as `{usual}`", quoted(&name)));
        }
        match field {
            Field::Id => self.id(source, value, fields),
            Field::Files => self.paths(source, &name, value, &mut fields.files),
            Field::Tests => self.paths(source, &name, value, &mut fields.tests),
            Field::Description => {
                let texts = self.texts(source, &name, value);
                let lines: Vec<String> = texts
                    .into_iter()
                    .map(|text| text.id.trim().to_owned())
                    .filter(|text| !text.is_empty())
                    .collect();
                if !lines.is_empty() {
                    fields.description.push(lines.join("\n"));
                }
            }
            Field::Parallel => match truth(source, value) {
                Some(read) => {
                    // Written in two ways that disagree, the careful one counts.
                    fields.parallel = Some(fields.parallel.unwrap_or(true) && read);
                }
                None if matches!(value.value, Value::Null) => {}
                None => self.problem(
                    "bad_field",
                    source.line(value),
                    format!(
                        "`parallel` is {}, and neither true nor false",
                        value
                            .text(source.text)
                            .map_or_else(|| value.what().to_owned(), |text| quoted(&text))
                    ),
                    "write `parallel: true` or `parallel: false`",
                ),
            },
            Field::DependsOn => {
                let texts = self.texts(source, &name, value);
                fields
                    .depends_on
                    .extend(texts.into_iter().filter(|text| !text.id.is_empty()));
            }
        }
    }

    fn id(&mut self, source: Source<'_>, value: &Node, fields: &mut Fields) {
        let line = source.line(value);
        let Some(text) = value.text(source.text) else {
            if !matches!(value.value, Value::Null) {
                fields.has_bad_id = true;
                self.problem(
                    "bad_field",
                    line,
                    format!("an id is one word, and this is {}", value.what()),
                    "write a short name: `id: types`",
                );
            }
            return;
        };
        let id = text.trim();
        let wrong = if id.is_empty() {
            Some("the id is empty".to_owned())
        } else if id.chars().any(char::is_control) {
            Some(format!(
                "the id {} has control characters or several lines in it",
                quoted(id)
            ))
        } else if id.len() > MAX_ID_BYTES {
            Some(format!(
                "the id {} has {}; at most {MAX_ID_BYTES} are allowed",
                quoted(id),
                counted(id.len(), "byte")
            ))
        } else {
            None
        };
        match wrong {
            Some(message) => {
                fields.has_bad_id = true;
                self.problem(
                    "bad_field",
                    line,
                    message,
                    "write a short name: `id: types`",
                );
            }
            None => fields.ids.push((id.to_owned(), line)),
        }
    }

    fn paths(&mut self, source: Source<'_>, name: &str, value: &Node, paths: &mut Vec<String>) {
        for text in self.texts(source, name, value) {
            let several = text.is_alone && text.id.contains(", ");
            if several {
                self.note(
                    text.line,
                    &format!("{} is read as several paths", quoted(&text.id)),
                );
            }
            let parts: Vec<&str> = if several {
                text.id.split(", ").collect()
            } else {
                vec![&text.id]
            };
            for part in parts {
                let path = path::normal(part);
                if path.chars().any(char::is_control) {
                    self.problem(
                        "bad_field",
                        text.line,
                        format!(
                            "the path {} has control characters or several lines in it",
                            quoted(part)
                        ),
                        "write each path as an entry of its own: `- src/a.rs`",
                    );
                } else if !path.is_empty() {
                    paths.push(path);
                }
            }
        }
    }

    /// A text, or the texts of a list; lists within it, as aliases bring them in, are part of it.
    fn texts(&mut self, source: Source<'_>, name: &str, value: &Node) -> Vec<Written> {
        let mut texts = Vec::new();
        let mut open = vec![(value, true)];
        while let Some((node, is_alone)) = open.pop() {
            let line = source.line(node);
            match &node.value {
                Value::Null => {
                    if !is_alone {
                        self.note(line, &format!("an entry of `{name}` is empty"));
                    }
                }
                Value::List(entries) => {
                    open.extend(entries.iter().rev().map(|entry| (entry, false)));
                }
                Value::Map(_) => self.problem(
                    "bad_field",
                    line,
                    format!(
                        "{} takes a text or a list of texts, and not a map",
                        quoted(name)
                    ),
                    "write `- text`, in quotes where the text has a colon in it",
                ),
                Value::Text(_) | Value::Plain(_) => {
                    if let Some(text) = node.text(source.text) {
                        texts.push(Written {
                            id: text.trim().to_owned(),
                            line,
                            is_alone,
                        });
                    }
                }
            }
        }
        texts
    }

    /// A list of tasks is empty: that is wrong where there is no other one.
    fn is_empty(&mut self, line: u32) {
        self.empty.get_or_insert(line);
    }

    fn without_id(&mut self, line: u32, suggestion: &str) {
        self.problem(
            "task_without_id",
            line,
            "the task has no id".to_owned(),
            suggestion,
        );
    }

    fn not_known(&mut self, of_task: bool, name: &str, line: u32) {
        self.unknown
            .entry((of_task, name.trim().to_owned()))
            .or_insert((line, 0))
            .1 += 1;
    }

    fn note(&mut self, line: u32, message: &str) {
        self.notes.tell(line, || Note {
            line,
            message: message.to_owned(),
        });
    }

    fn problem(&mut self, code: &'static str, line: u32, message: String, suggestion: &str) {
        self.problem_of(code, line, message, suggestion, Vec::new());
    }

    fn problem_of(
        &mut self,
        code: &'static str,
        line: u32,
        message: String,
        suggestion: &str,
        tasks: Vec<String>,
    ) {
        self.problems.tell(line, || Problem {
            code,
            line,
            message,
            suggestion: suggestion.to_owned(),
            tasks,
        });
    }
}

/// The id of a task in a block that only says where one is to stand, such as `<unique-task-id>`; with its line.
fn placeholder(source: Source<'_>, block: &YamlBlock) -> Option<(u32, String)> {
    let is_place = |id: &str| {
        let id = id.trim();
        [('<', '>'), ('{', '}')]
            .iter()
            .any(|(open, close)| id.len() > 2 && id.starts_with(*open) && id.ends_with(*close))
    };
    let entries = block.nodes.iter().flat_map(tasks_of);
    entries
        .flat_map(|tasks| match &tasks.value {
            Value::List(entries) => entries.as_slice(),
            _ => &[],
        })
        .find_map(|task| {
            let Value::Map(fields) = &task.value else {
                return None;
            };
            let (_, id) = fields.iter().find(|(key, _)| {
                key.text(source.text)
                    .is_some_and(|name| name.trim() == "id")
            })?;
            let text = id.text(source.text)?;
            is_place(&text).then(|| (source.line(id), text.trim().to_owned()))
        })
}

/// What to write for the id that a task does not have.
fn instead_of_id(source: Source<'_>, entries: &[(Node, Node)]) -> String {
    for (key, value) in entries {
        let Some(name) = key.text(source.text) else {
            continue;
        };
        let name = name.trim();
        if ["name", "title", "task", "key"].contains(&name) {
            return format!("write `id:` for `{name}:`, or give it an id besides");
        }
        // `- types:` with the fields below it.
        if field(name).is_none() && matches!(value.value, Value::Map(_) | Value::Null) {
            return format!("write `- id: {}`", quoted(name).trim_matches('`'));
        }
    }
    "write the task's id: `- id: types`".to_owned()
}

fn truth(source: Source<'_>, value: &Node) -> Option<bool> {
    let text = value.text(source.text)?;
    match text.trim().to_lowercase().as_str() {
        "true" | "yes" | "y" | "on" => Some(true),
        "false" | "no" | "n" | "off" => Some(false),
        _ => None,
    }
}

/// Each of the texts once, where it stands first.
fn once(texts: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    texts
        .into_iter()
        .filter(|text| seen.insert(text.clone()))
        .collect()
}
