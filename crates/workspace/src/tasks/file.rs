//! `tasks.json`, in the two shapes in use: lists of tasks under tags, and one list without a tag.

mod parts;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use indexmap::{IndexMap, IndexSet};

use self::parts::Part;
use super::json::{Node, Value};
use super::name::unfit_name;
use super::rewrite::{read_text, real_path};
use super::tag::{DEFAULT_TAG, check_tag, parsed};
use super::{
    Place, Rewrite, Splice, Status, StatusChange, Subtask, Task, TaskError, TaskSource,
    TasksWithStatuses,
};

/// A tag of a `tasks.json`.
#[derive(Debug, Clone)]
pub struct TaskFile {
    path: PathBuf,
    tag: String,
    /// What the file says elsewhere, where it is not to be read here.
    elsewhere: Option<String>,
}

impl TaskFile {
    /// The tasks of a tag of the project at `root`, in `.taskmaster/tasks/tasks.json`. Nothing is read yet.
    pub fn in_project(root: &Path, tag: &str) -> Result<Self, TaskError> {
        Self::at(root.join(super::TASKS_FILE), tag)
    }

    /// The tasks of a tag of this file. Nothing is read yet.
    pub fn at(path: impl Into<PathBuf>, tag: &str) -> Result<Self, TaskError> {
        check_tag(tag)?;
        Ok(Self {
            path: path.into(),
            tag: tag.to_owned(),
            elsewhere: None,
        })
    }

    fn text(&self) -> Result<String, TaskError> {
        match &self.elsewhere {
            Some(text) => Ok(text.clone()),
            None => read_text(&self.path),
        }
    }

    /// The same file, as if it held `text`.
    #[must_use]
    pub fn holding(self, text: &str) -> Self {
        Self {
            elsewhere: Some(text.to_owned()),
            ..self
        }
    }

    /// All tasks of the tag, in the file's order, and their statuses. The file is read once.
    pub fn load_tasks(&self) -> Result<TasksWithStatuses, TaskError> {
        let text = self.text()?;
        let node = parsed(&self.path, &text)?;
        let document = self.document(&text, &node)?;
        let others = document.statuses()?;
        let mut tasks = Vec::with_capacity(document.tasks.len());
        let mut ids = HashSet::new();
        for node in document.tasks {
            let id = document.id(node, "a task")?;
            if !ids.insert(id.clone()) {
                return Err(document.twice(&id));
            }
            tasks.push(document.task(&id, node, &others)?);
        }
        Ok((tasks, others))
    }

    /// The tag.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// The tags that the file has; the older shape has only [`DEFAULT_TAG`].
    pub fn tags(&self) -> Result<Vec<String>, TaskError> {
        let text = self.text()?;
        Ok(tags(&parsed(&self.path, &text)?))
    }

    fn document<'t>(
        &'t self,
        text: &'t str,
        node: &'t Node<'t>,
    ) -> Result<Document<'t>, TaskError> {
        let bad = |node: &Node<'_>, of: &str, expected: &str| TaskError::BadField {
            place: Place::of(&self.path, text, node.span.start),
            of: of.to_owned(),
            problem: format!("{expected} is expected, not {}", node.kind()),
        };
        if !matches!(node.value, Value::Object(_)) {
            return Err(bad(node, "the file", "an object"));
        }
        let of_tag = node.get(&self.tag).and_then(|tag| tag.get("tasks"));
        let of_file = node.get("tasks").filter(|_| self.tag == DEFAULT_TAG);
        let list = match (of_tag, of_file) {
            (Some(list), _) => list,
            (None, Some(list)) if list.elements().is_some() => list,
            _ => {
                return Err(TaskError::UnknownTag {
                    path: self.path.clone(),
                    tag: self.tag.clone(),
                    tags: tags(node),
                });
            }
        };
        let tasks = list
            .elements()
            .ok_or_else(|| bad(list, "`tasks`", "a list"))?;
        Ok(Document {
            path: &self.path,
            text,
            tasks,
        })
    }
}

/// Keys of the file under which tasks lie.
fn tags(node: &Node<'_>) -> Vec<String> {
    let mut tags = IndexSet::new();
    for member in node.members() {
        let tag = if member.node.get("tasks").and_then(Node::elements).is_some() {
            member.key.to_string()
        } else if member.key == "tasks" && member.node.elements().is_some() {
            DEFAULT_TAG.to_owned()
        } else {
            continue;
        };
        tags.insert(tag);
    }
    tags.into_iter().collect()
}

impl TaskSource for TaskFile {
    fn describe(&self) -> String {
        format!("{} (tag `{}`)", self.path.display(), self.tag)
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn as_of(&self, text: String) -> Option<Box<dyn TaskSource>> {
        Some(Box::new(Self {
            elsewhere: Some(text),
            ..self.clone()
        }))
    }

    fn load_task(&self, id: &str) -> Result<Task, TaskError> {
        let text = self.text()?;
        let node = parsed(&self.path, &text)?;
        let document = self.document(&text, &node)?;
        let id = id.trim();
        match document.find(id)? {
            Some(node) => document.task(id, node, &document.statuses()?),
            None => Err(self.unknown(&document, id)),
        }
    }

    fn task_statuses(&self) -> Result<IndexMap<String, Status>, TaskError> {
        let text = self.text()?;
        let node = parsed(&self.path, &text)?;
        let document = self.document(&text, &node)?;
        document.statuses()
    }

    fn rewrite(&self, changes: &[StatusChange]) -> Result<Option<Rewrite>, TaskError> {
        let text = self.text()?;
        let node = parsed(&self.path, &text)?;
        let document = self.document(&text, &node)?;
        // Of two changes for one id the last counts, in the order in which the ids came first.
        let wanted: IndexMap<&str, &str> = changes
            .iter()
            .map(|change| (change.id.as_str(), change.status.as_str()))
            .collect();
        let mut splices = document.splices_above(&wanted)?;
        for (id, status) in wanted {
            if status.trim().is_empty() {
                return Err(TaskError::BadStatus {
                    id: id.to_owned(),
                    status: status.to_owned(),
                    problem: "it is empty",
                });
            }
            match document.target(id)? {
                Target::Node(node) => splices.extend(document.splice(node, status)),
                Target::Implicit => {}
                Target::Unknown => return Err(self.unknown(&document, id)),
            }
        }
        Rewrite::new(real_path(&self.path)?, &text, splices, changes)
    }
}

impl TaskFile {
    fn unknown(&self, document: &Document<'_>, id: &str) -> TaskError {
        if let Some((task, _)) = id.split_once('.')
            && matches!(document.target(id), Ok(Target::Node(_) | Target::Implicit))
        {
            return TaskError::IsSubtask {
                id: id.to_owned(),
                task: task.to_owned(),
            };
        }
        let known = document
            .tasks
            .iter()
            .filter_map(|task| document.id(task, "a task").ok());
        TaskError::UnknownTask {
            id: id.to_owned(),
            source_name: self.describe(),
            known: known.take(20).collect(),
        }
    }
}

/// What an id of a status change points at.
enum Target<'t> {
    Node(&'t Node<'t>),
    /// The implied subtask of a task that has none.
    Implicit,
    Unknown,
}

/// The tasks of one tag, in a text that was read.
struct Document<'t> {
    path: &'t Path,
    text: &'t str,
    tasks: &'t [Node<'t>],
}

impl<'t> Document<'t> {
    fn bad(&self, node: &Node<'_>, of: impl Into<String>, problem: impl Into<String>) -> TaskError {
        TaskError::BadField {
            place: Place::of(self.path, self.text, node.span.start),
            of: of.into(),
            problem: problem.into(),
        }
    }

    /// An id as it was written, number or string.
    fn written_id(&self, node: &Node<'_>, of: &str) -> Result<String, TaskError> {
        let problem = match &node.value {
            Value::Number(number) => return Ok((*number).to_owned()),
            Value::Text(text) if !text.trim().is_empty() => return Ok(text.trim().to_owned()),
            Value::Text(_) => "an id may not be empty".to_owned(),
            _ => format!("an id is a number or a string, not {}", node.kind()),
        };
        Err(self.bad(node, of, problem))
    }

    fn id(&self, node: &Node<'_>, of: &str) -> Result<String, TaskError> {
        if !matches!(node.value, Value::Object(_)) {
            return Err(self.bad(
                node,
                of,
                format!("an object is expected, not {}", node.kind()),
            ));
        }
        match node.get("id") {
            Some(id) => self.written_id(id, &format!("{of}, `id`")),
            None => Err(self.bad(node, of, "it has no `id`")),
        }
    }

    /// The dotted id of a subtask, whether the file gives it dotted or not.
    fn subtask_id(&self, node: &Node<'_>, task: &str) -> Result<String, TaskError> {
        let own = self.id(node, &format!("a subtask of task {task}"))?;
        let dotted = own
            .strip_prefix(task)
            .is_some_and(|rest| rest.len() > 1 && rest.starts_with('.'));
        Ok(if dotted { own } else { format!("{task}.{own}") })
    }

    fn twice(&self, id: &str) -> TaskError {
        TaskError::DuplicateId {
            id: id.to_owned(),
            of: self.path.display().to_string(),
        }
    }

    /// The status of every task and subtask.
    fn statuses(&self) -> Result<IndexMap<String, Status>, TaskError> {
        let mut statuses = IndexMap::new();
        for task in self.tasks {
            let id = self.id(task, "a task")?;
            statuses.insert(id.clone(), self.status(task, &format!("task {id}"))?);
            for part in self.parts(task, &id)? {
                let status = self.status(part.node, &format!("subtask {}", part.id))?;
                statuses.insert(part.id, status);
            }
        }
        Ok(statuses)
    }

    fn find(&self, id: &str) -> Result<Option<&'t Node<'t>>, TaskError> {
        let mut found = None;
        for task in self.tasks {
            if self.id(task, "a task")? == id && found.replace(task).is_some() {
                return Err(self.twice(id));
            }
        }
        Ok(found)
    }

    fn target(&self, id: &str) -> Result<Target<'t>, TaskError> {
        if let Some(task) = self.find(id)? {
            return Ok(Target::Node(task));
        }
        // An id may itself have dots, so every way to part it is tried.
        for (dot, _) in id.match_indices('.') {
            let task_id = &id[..dot];
            let Some(task) = self.find(task_id)? else {
                continue;
            };
            let subtasks = self.subtasks(task, task_id)?;
            if subtasks.is_empty() && &id[dot..] == ".1" {
                return Ok(Target::Implicit);
            }
            let mut found = None;
            for part in self.parts(task, task_id)? {
                if part.id == id && found.replace(part.node).is_some() {
                    return Err(TaskError::DuplicateId {
                        id: id.to_owned(),
                        of: format!("task {task_id}"),
                    });
                }
            }
            if let Some(subtask) = found {
                return Ok(Target::Node(subtask));
            }
        }
        Ok(Target::Unknown)
    }

    fn list(&self, node: &'t Node<'t>, key: &str, of: &str) -> Result<&'t [Node<'t>], TaskError> {
        match node.get(key) {
            None => Ok(&[]),
            Some(value) => match (&value.value, value.elements()) {
                (Value::Null, _) => Ok(&[]),
                (_, Some(elements)) => Ok(elements),
                _ => Err(self.bad(
                    value,
                    format!("{of}, `{key}`"),
                    format!("a list is expected, not {}", value.kind()),
                )),
            },
        }
    }

    fn subtasks(&self, task: &'t Node<'t>, id: &str) -> Result<&'t [Node<'t>], TaskError> {
        self.list(task, "subtasks", &format!("task {id}"))
    }

    fn status(&self, node: &Node<'_>, of: &str) -> Result<Status, TaskError> {
        match node.get("status").map(|status| (&status.value, status)) {
            None | Some((Value::Null, _)) => Ok(Status::Pending),
            Some((Value::Text(text), _)) if text.trim().is_empty() => Ok(Status::Pending),
            Some((Value::Text(text), _)) => Ok(Status::from_text(text)),
            Some((_, status)) => Err(self.bad(
                status,
                format!("{of}, `status`"),
                format!("a string is expected, not {}", status.kind()),
            )),
        }
    }

    /// A text; tools that write a list of lines, a number or nothing mean a text too.
    fn words(&self, node: &Node<'_>, key: &str, of: &str) -> Result<String, TaskError> {
        match node.get(key) {
            None => Ok(String::new()),
            Some(value) => self.lines(value, key, of).map(|lines| lines.join("\n")),
        }
    }

    fn yes_or_no(&self, node: &Node<'_>, key: &str, of: &str) -> Result<Option<bool>, TaskError> {
        let Some(value) = node.get(key) else {
            return Ok(None);
        };
        match &value.value {
            Value::Null => Ok(None),
            Value::Bool(answer) => Ok(Some(*answer)),
            _ => Err(self.bad(
                value,
                format!("{of}, `{key}`"),
                format!("true or false is expected, not {}", value.kind()),
            )),
        }
    }

    fn lines(&self, value: &Node<'_>, key: &str, of: &str) -> Result<Vec<String>, TaskError> {
        match &value.value {
            Value::Null => Ok(Vec::new()),
            Value::Text(text) => Ok(vec![text.to_string()]),
            Value::Number(text) => Ok(vec![(*text).to_owned()]),
            Value::Bool(flag) => Ok(vec![flag.to_string()]),
            Value::Array(elements) => {
                let mut lines = Vec::new();
                for element in elements {
                    match &element.value {
                        Value::Text(text) => lines.push(text.to_string()),
                        Value::Number(text) => lines.push((*text).to_owned()),
                        _ => {
                            let problem = format!("a string is expected, not {}", element.kind());
                            return Err(self.bad(element, format!("{of}, `{key}`"), problem));
                        }
                    }
                }
                Ok(lines)
            }
            Value::Object(_) => {
                let problem = format!("a string is expected, not {}", value.kind());
                Err(self.bad(value, format!("{of}, `{key}`"), problem))
            }
        }
    }

    fn title(&self, node: &Node<'_>, of: &str) -> Result<String, TaskError> {
        let title = self.words(node, "title", of)?;
        if title.trim().is_empty() {
            return Err(self.bad(node, of, "it has no `title`"));
        }
        Ok(title)
    }

    fn task(
        &self,
        id: &str,
        node: &'t Node<'t>,
        statuses: &IndexMap<String, Status>,
    ) -> Result<Task, TaskError> {
        check_id("task id", id)?;
        let of = format!("task {id}");
        let parts = self.parts(node, id)?;
        let siblings: HashSet<&str> = parts.iter().map(|part| part.id.as_str()).collect();
        let run = parts.iter().filter(|part| part.is_run);
        let subtasks: Vec<Subtask> = run
            .map(|part| self.subtask(part, &parts, statuses))
            .collect::<Result<_, _>>()?;
        let needed = subtasks.iter().flat_map(|subtask| &subtask.dependencies);
        let foreign = needed.filter(|needed| !siblings.contains(needed.as_str()));
        let elsewhere = foreign
            .filter_map(|needed| Some((needed.clone(), statuses.get(needed)?.clone())))
            .collect();
        let dependencies = self
            .list(node, "dependencies", &of)?
            .iter()
            .map(|dependency| self.written_id(dependency, &format!("{of}, `dependencies`")))
            .collect::<Result<_, _>>()?;
        let task = Task {
            id: id.to_owned(),
            title: self.title(node, &of)?,
            description: self.words(node, "description", &of)?,
            details: self.words(node, "details", &of)?,
            test_strategy: self.words(node, "testStrategy", &of)?,
            kind: self.words(node, "kind", &of)?,
            refactor: self.yes_or_no(node, "refactor", &of)?,
            status: self.status(node, &of)?,
            dependencies,
            subtasks,
            elsewhere,
        };
        let mut task = task.with_implicit_subtask();
        if let [only] = task.subtasks.as_mut_slice()
            && only.implicit
            && let Some(criteria) = node.get("acceptanceCriteria")
        {
            only.acceptance_criteria =
                criteria_of(&self.lines(criteria, "acceptanceCriteria", &of)?);
        }
        Ok(task)
    }

    fn subtask(
        &self,
        part: &Part<'t>,
        all: &[Part<'t>],
        statuses: &IndexMap<String, Status>,
    ) -> Result<Subtask, TaskError> {
        let (id, node) = (part.id.as_str(), part.node);
        check_id("subtask id", id)?;
        let of = format!("subtask {id}");
        let needed = self.needed(part, all, statuses)?;
        let dependencies: IndexSet<String> = needed.into_iter().collect();
        let criteria = match node.get("acceptanceCriteria") {
            Some(criteria) => criteria_of(&self.lines(criteria, "acceptanceCriteria", &of)?),
            None => Vec::new(),
        };
        Ok(Subtask {
            id: id.to_owned(),
            title: self.title(node, &of)?,
            description: self.words(node, "description", &of)?,
            details: self.words(node, "details", &of)?,
            test_strategy: self.words(node, "testStrategy", &of)?,
            kind: self.words(node, "kind", &of)?,
            refactor: self.yes_or_no(node, "refactor", &of)?,
            dependencies: dependencies.into_iter().collect(),
            status: self.status(node, &of)?,
            acceptance_criteria: criteria,
            implicit: false,
        })
    }

    /// The change that gives a task or subtask this status; `None` where it has it.
    fn splice(&self, node: &Node<'_>, status: &str) -> Option<Splice> {
        let new = serde_json::Value::from(status).to_string();
        if let Some(value) = node.get("status") {
            if value.text() == Some(status) {
                return None;
            }
            let old = self.text[value.span.clone()].to_owned();
            return Some(Splice {
                offset: value.span.start,
                old,
                new,
            });
        }
        // A new last member, with the blanks that the file has around its last one.
        let members = node.members();
        let last = members.last()?;
        let gap_start = match members
            .len()
            .checked_sub(2)
            .and_then(|index| members.get(index))
        {
            Some(before) => self.text[before.node.span.end..last.key_span.start]
                .find(',')
                .map_or(last.key_span.start, |comma| {
                    before.node.span.end + comma + 1
                }),
            None => node.span.start + 1,
        };
        let colon = &self.text[last.key_span.end..last.node.span.start];
        let mut gap = &self.text[gap_start..last.key_span.start];
        if members.len() == 1 && !gap.contains('\n') {
            gap = if colon.ends_with(' ') { " " } else { "" };
        }
        Some(Splice {
            offset: last.node.span.end,
            old: String::new(),
            new: format!(",{gap}\"status\"{colon}{new}"),
        })
    }
}

/// Criteria one by one: the lines of a text, without bullets.
fn criteria_of(lines: &[String]) -> Vec<String> {
    lines
        .iter()
        .flat_map(|line| line.lines())
        .map(|line| line.trim().trim_start_matches(['-', '*', '•']).trim())
        .filter(|line| !line.is_empty())
        .map(ToOwned::to_owned)
        .collect()
}

fn check_id(kind: &'static str, id: &str) -> Result<(), TaskError> {
    match unfit_name(id) {
        None => Ok(()),
        Some(problem) => Err(TaskError::BadName {
            kind,
            name: id.to_owned(),
            problem,
        }),
    }
}
