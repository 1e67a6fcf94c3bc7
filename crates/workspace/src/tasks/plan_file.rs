//! A plan in Markdown: a heading, and a checklist under it.
//!
//! ```markdown
//! # Add a cache
//!
//! - [x] Store answers
//! - [ ] Forget old ones
//!   An answer older than the limit is read again.
//!   depends on: 1
//!   - [ ] the limit can be set
//! ```
//!
//! The outermost items are the subtasks, counted from 1. What is indented below an item belongs to it: text is its
//! description, checkboxes are its acceptance criteria. Fenced code, comments and front matter hold no items.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use indexmap::{IndexMap, IndexSet};
use markup::markdown::{self, indentation, list_sign};

use super::rewrite::{read_text, real_path};
use super::words::{DEPENDS_ON, Marks, after_word, bracketed};
use super::{Place, Rewrite, Splice, Status, StatusChange, Subtask, Task, TaskError, TaskSource};
use crate::convention::branch::slug;

/// A Markdown checklist as one task.
#[derive(Debug, Clone)]
pub struct PlanFile {
    path: PathBuf,
    /// What the file says elsewhere, where it is not to be read here.
    elsewhere: Option<String>,
    /// The task's id and the titles of all its items, as they were when ids were given to them.
    pinned: Option<(String, Vec<String>)>,
}

impl PlanFile {
    /// The plan in this file. Nothing is read yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            elsewhere: None,
            pinned: None,
        }
    }

    /// The same plan, whose ids mean the items that had these titles when the task had this id: whatever is put in,
    /// taken out or moved about meanwhile, no other item is ticked.
    #[must_use]
    pub fn pinned(self, task: String, titles: Vec<String>) -> Self {
        Self {
            pinned: Some((task, titles)),
            ..self
        }
    }

    /// The id of the task.
    fn task_id(&self, plan: &Plan<'_>) -> String {
        match &self.pinned {
            Some((task, _)) => task.clone(),
            None => slug(&plan.title),
        }
    }

    /// The item that an id means: the one at its place or, where titles are pinned, the one of as many with that title
    /// that it was. `None` if it is gone, or if it cannot be told from others.
    fn item<'p, 't>(&self, plan: &'p Plan<'t>, wanted: &str) -> Option<&'p Item<'t>> {
        let number = wanted
            .strip_prefix(self.task_id(plan).as_str())?
            .strip_prefix('.')?;
        let at = number.parse::<usize>().ok()?.checked_sub(1)?;
        let Some((_, titles)) = &self.pinned else {
            return plan.items.get(at);
        };
        let title = titles.get(at)?;
        let same = |other: &&String| *other == title;
        let (before, all) = (
            titles[..at].iter().filter(same).count(),
            titles.iter().filter(same).count(),
        );
        let now: Vec<&Item<'t>> = plan
            .items
            .iter()
            .filter(|item| item.title == *title)
            .collect();
        (now.len() == all).then(|| now[before])
    }

    fn text(&self) -> Result<String, TaskError> {
        match &self.elsewhere {
            Some(text) => Ok(text.clone()),
            None => read_text(&self.path),
        }
    }

    /// Reads the plan's task, whose id is its title as a slug.
    pub fn task(&self) -> Result<Task, TaskError> {
        let text = self.text()?;
        self.read(&text).map(Plan::task)
    }

    fn read<'t>(&self, text: &'t str) -> Result<Plan<'t>, TaskError> {
        let mut plan = Plan::read(text);
        if plan.title.is_empty() {
            plan.title = self
                .path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
        }
        if let Some(opened) = plan.unclosed {
            return Err(TaskError::Malformed {
                place: Place::of(&self.path, text, opened),
                message: "what begins here, code or a comment, is never closed, and hides what looks like an item"
                    .to_owned(),
            });
        }
        if let Some(odd) = plan.odd {
            return Err(TaskError::Malformed {
                place: Place::of(&self.path, text, odd),
                message: "this looks like an item, and is none: write `- [ ] title`, or `- [x] title` where it is done"
                    .to_owned(),
            });
        }
        if let Some(item) = plan.items.iter().find(|item| item.title.is_empty()) {
            return Err(TaskError::Malformed {
                place: Place::of(&self.path, text, item.mark),
                message: "this item has no title".to_owned(),
            });
        }
        if plan.items.is_empty() {
            let (at, message) = match plan.in_code {
                Some(at) => (
                    at,
                    "the plan has no item: what looks like one stands in a code block, whose fences have to go",
                ),
                None => (text.len(), "the plan has no item such as `- [ ] title`"),
            };
            return Err(TaskError::Malformed {
                place: Place::of(&self.path, text, at),
                message: message.to_owned(),
            });
        }
        Ok(plan)
    }

    fn unknown(&self, id: &str, known: Vec<String>) -> TaskError {
        TaskError::UnknownTask {
            id: id.to_owned(),
            source_name: self.describe(),
            known,
        }
    }
}

impl TaskSource for PlanFile {
    fn describe(&self) -> String {
        self.path.display().to_string()
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
        let task = self.task()?;
        if task.id == id {
            Ok(task)
        } else {
            Err(self.unknown(id, vec![task.id]))
        }
    }

    fn task_statuses(&self) -> Result<IndexMap<String, Status>, TaskError> {
        if let Some((task, titles)) = &self.pinned {
            let text = self.text()?;
            let plan = self.read(&text)?;
            let status = |done: bool| if done { Status::Done } else { Status::Pending };
            let all_done = plan.items.iter().all(|item| item.done);
            let ids = (1..=titles.len()).map(|number| format!("{task}.{number}"));
            let items =
                ids.filter_map(|id| Some((id.clone(), status(self.item(&plan, &id)?.done))));
            return Ok(std::iter::once((task.clone(), status(all_done)))
                .chain(items)
                .collect());
        }
        let task = self.task()?;
        Ok(std::iter::once((task.id, task.status))
            .chain(
                task.subtasks
                    .into_iter()
                    .map(|subtask| (subtask.id, subtask.status)),
            )
            .collect())
    }

    /// Ticks items that become `done` or `completed`, and takes the tick from those that become `pending`. A plan has
    /// no room for other words, nor for the status of the whole.
    fn rewrite(&self, changes: &[StatusChange]) -> Result<Option<Rewrite>, TaskError> {
        let text = self.text()?;
        let plan = self.read(&text)?;
        let id = self.task_id(&plan);
        let wanted: IndexMap<&str, &str> = changes
            .iter()
            .map(|change| (change.id.as_str(), change.status.as_str()))
            .collect();
        let mut splices = Vec::new();
        for (wanted_id, status) in wanted {
            if wanted_id == id {
                continue;
            }
            let Some(item) = self.item(&plan, wanted_id) else {
                return Err(self.unknown(wanted_id, vec![id]));
            };
            let new = match Status::from_text(status) {
                Status::Done | Status::Completed if !item.done => "x",
                Status::Pending if item.done => " ",
                _ => continue,
            };
            let old = text[item.mark..=item.mark].to_owned();
            splices.push(Splice {
                offset: item.mark,
                old,
                new: new.to_owned(),
            });
        }
        Rewrite::new(real_path(&self.path)?, &text, splices, changes)
    }
}

/// One outermost checkbox.
#[derive(Debug, Default)]
struct Item<'t> {
    /// Byte of what stands between the brackets.
    mark: usize,
    /// Columns before the bullet.
    indent: usize,
    done: bool,
    title: String,
    lines: Vec<&'t str>,
    criteria: Vec<String>,
    /// As written; empty where none is.
    marks: Marks,
    /// As written: numbers, or whatever else stands there.
    dependencies: Vec<String>,
}

#[derive(Debug, Default)]
struct Plan<'t> {
    title: String,
    introduction: Vec<&'t str>,
    items: Vec<Item<'t>>,
    /// Where code or a comment begins that nothing closes, and that hides what looks like an item.
    unclosed: Option<usize>,
    /// The first line that looks like an item, and is written otherwise.
    odd: Option<usize>,
    /// The first line in a code block that would be an item.
    in_code: Option<usize>,
}

/// Code or a comment that is open.
struct HiddenBy {
    /// Where the line begins that opens it.
    opened: usize,
    /// Whether something in it looks like an item.
    item: bool,
}

impl<'t> Plan<'t> {
    fn read(text: &'t str) -> Self {
        let mut plan = Self::default();
        let mut item_open = false;
        let (unwrapped, _) = markdown::unwrapped(text);
        let body = behind_front_matter(unwrapped);
        // Both are parts of the text, which the places of items are of.
        let offset = body.as_ptr() as usize - text.as_ptr() as usize;
        // A comment that begins behind other text, and goes on below it.
        let mut comment: Option<HiddenBy> = None;
        let mut lines = markdown::lines(body, 1);
        let mut hidden = None;
        while let Some(line) = lines.next() {
            if let Some(hidden) = &mut comment {
                hidden.item |= Checkbox::read(line.text).is_some();
                if line.text.contains("-->") {
                    comment = None;
                }
                continue;
            }
            if lines.is_open() {
                let opened = hidden.get_or_insert(HiddenBy {
                    opened: offset + line.start,
                    item: false,
                });
                opened.item |=
                    line.start + offset > opened.opened && Checkbox::read(line.text).is_some();
            } else {
                hidden = None;
            }
            let is_code = match line.place {
                // Not shown to a reader, so it counts as nothing.
                markdown::Place::Comment => continue,
                markdown::Place::Text => false,
                _ => true,
            };
            let start = offset + line.start;
            let text = match begins_comment(line.text).filter(|_| !is_code) {
                Some(at) => {
                    comment = Some(HiddenBy {
                        opened: start + at,
                        item: false,
                    });
                    &line.text[..at]
                }
                None => line.text,
            };
            if is_code && plan.in_code.is_none() && Checkbox::read(text).is_some() {
                plan.in_code = Some(start);
            }
            item_open = plan.take(text, start, is_code, item_open);
        }
        plan.unclosed = comment
            .or(hidden)
            .filter(|hidden| hidden.item)
            .map(|hidden| hidden.opened);
        plan
    }

    /// Takes a line in, and says whether what follows may belong to an item.
    fn take(&mut self, line: &'t str, start: usize, is_code: bool, item_open: bool) -> bool {
        let (indent, _) = indentation(line, 0);
        if item_open
            && let Some(item) = self.items.last_mut()
            && (line.trim().is_empty() || indent > item.indent)
        {
            item.take(line, is_code);
            return true;
        }
        let heading = heading(line).filter(|_| !is_code);
        if !is_code && let Some(checkbox) = Checkbox::read(line) {
            let mark = start + checkbox.mark;
            let mut item = Item {
                mark,
                indent,
                done: checkbox.done,
                ..Item::default()
            };
            item.name(checkbox.title);
            self.items.push(item);
            return true;
        }
        if !is_code && self.odd.is_none() && is_odd_checkbox(line) {
            self.odd = Some(start);
        }
        match heading {
            Some(heading) if self.title.is_empty() => self.title = without_comments(heading),
            None if self.items.is_empty() => self.introduction.push(line),
            _ => {}
        }
        false
    }

    fn task(self) -> Task {
        let id = slug(&self.title);
        let all_done = self.items.iter().all(|item| item.done);
        let subtasks = self
            .items
            .iter()
            .enumerate()
            .map(|(index, item)| item.subtask(&id, index + 1))
            .collect();
        Task {
            title: self.title,
            description: joined(&self.introduction),
            details: String::new(),
            test_strategy: String::new(),
            kind: String::new(),
            refactor: None,
            status: if all_done {
                Status::Done
            } else {
                Status::Pending
            },
            dependencies: Vec::new(),
            subtasks,
            elsewhere: BTreeMap::new(),
            id,
        }
    }
}

impl<'t> Item<'t> {
    /// Takes the title; `(depends on: 1)` and `(kind: docs)` at its end are not part of it.
    fn name(&mut self, title: &str) {
        let title = without_comments(title);
        let mut title = title.as_str();
        loop {
            if let Some((before, list)) = bracketed(title, DEPENDS_ON) {
                self.depend(list);
                title = before;
            } else if let Some(before) = self.marks.take_off(title) {
                title = before;
            } else {
                break;
            }
        }
        title.clone_into(&mut self.title);
    }

    fn take(&mut self, line: &'t str, is_code: bool) {
        if !is_code {
            if let Some(checkbox) = Checkbox::read(line) {
                self.criteria.push(checkbox.title.trim().to_owned());
            }
            let inner = line.trim();
            let unbulleted = inner.strip_prefix(['-', '*', '+']).unwrap_or(inner);
            if self.marks.take_line(unbulleted) {
                return;
            }
            if let Some(list) = after_word(unbulleted, DEPENDS_ON) {
                self.depend(list);
                return;
            }
        }
        self.lines.push(line);
    }

    fn depend(&mut self, list: &str) {
        let words = list
            .split([',', ';', ' ', '\t'])
            .map(|word| word.trim_matches(['#', '.', '`']));
        for word in words {
            let nothing = ["", "and", "none", "nothing"];
            if !nothing
                .iter()
                .any(|skipped| word.eq_ignore_ascii_case(skipped))
            {
                self.dependencies.push(word.to_owned());
            }
        }
    }

    fn subtask(&self, task: &str, number: usize) -> Subtask {
        let mut dependencies = IndexSet::new();
        for dependency in &self.dependencies {
            let own = dependency
                .strip_prefix(task)
                .is_some_and(|rest| rest.starts_with('.'));
            let dotted = if own {
                dependency.clone()
            } else {
                format!("{task}.{dependency}")
            };
            dependencies.insert(dotted);
        }
        Subtask {
            id: format!("{task}.{number}"),
            title: self.title.clone(),
            description: joined(&self.lines),
            details: String::new(),
            test_strategy: String::new(),
            kind: self.marks.kind.clone(),
            refactor: self.marks.refactor,
            dependencies: dependencies.into_iter().collect(),
            status: if self.done {
                Status::Done
            } else {
                Status::Pending
            },
            acceptance_criteria: self
                .criteria
                .iter()
                .filter(|c| !c.is_empty())
                .cloned()
                .collect(),
            implicit: false,
        }
    }
}

/// A line such as `- [ ] title`.
struct Checkbox<'t> {
    /// Byte of the line between the brackets.
    mark: usize,
    done: bool,
    title: &'t str,
}

impl<'t> Checkbox<'t> {
    fn read(line: &'t str) -> Option<Self> {
        let rest = line.trim_start();
        let after_bullet = &rest[list_sign(rest)?..];
        let bracket = after_bullet.trim_start_matches([' ', '\t']);
        let inside = bracket.strip_prefix('[')?;
        let done = match inside.bytes().next()? {
            b' ' => false,
            b'x' | b'X' => true,
            _ => return None,
        };
        let title = inside[1..].strip_prefix(']')?;
        if !title.is_empty() && !title.starts_with([' ', '\t']) {
            return None;
        }
        Some(Self {
            mark: line.len() - inside.len(),
            done,
            title,
        })
    }
}

/// Whether a line is meant as an item, as far as one can tell, and would be passed over: `- [] title`, `-[ ] title`, `- [-] title`,
/// `- [ x ] title`, `- [ ]title`.
fn is_odd_checkbox(line: &str) -> bool {
    let Some(rest) = line.trim_start().strip_prefix(['-', '*', '+']) else {
        return false;
    };
    let Some((mark, title)) = rest
        .trim_start_matches([' ', '\t'])
        .strip_prefix('[')
        .and_then(|inside| inside.split_once(']'))
    else {
        return false;
    };
    let is_mark = |c: char| !c.is_alphanumeric() || matches!(c, 'x' | 'X');
    let is_letter = mark.chars().count() == 1 && !mark.contains(char::is_numeric) && mark != "P";
    // Behind a link's text stands its address; `[]byte` is a type.
    mark.chars().count() <= 3
        && (mark.chars().all(is_mark) || is_letter && title.starts_with([' ', '\t']))
        && !title.starts_with(['(', '[', ':'])
        && (!mark.is_empty() || title.starts_with([' ', '\t']))
}

/// Where a comment begins behind other text that does not end in the line.
fn begins_comment(line: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(open) = line[at..].find("<!--") {
        let open = at + open;
        match line[open..].find("-->") {
            Some(end) => at = open + end + 3,
            None => return Some(open),
        }
    }
    None
}

/// A text without the comments in it, and the blanks around it.
fn without_comments(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("<!--") {
        kept.push_str(before.trim_end());
        rest = behind.split_once("-->").map_or("", |(_, behind)| behind);
        if !kept.is_empty() && !rest.trim().is_empty() {
            kept.push(' ');
            rest = rest.trim_start();
        }
    }
    kept.push_str(rest);
    kept.trim().to_owned()
}

/// The text of a heading.
fn heading(line: &str) -> Option<&str> {
    let line = line.trim();
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    if !(1..=6).contains(&level) || !text.starts_with([' ', '\t']) {
        return None;
    }
    let text = text.trim();
    let unclosed = text.trim_end_matches('#');
    let closed = unclosed.len() < text.len() && unclosed.ends_with([' ', '\t']);
    let text = if closed { unclosed.trim_end() } else { text };
    Some(text).filter(|text| !text.is_empty())
}

/// The text without what stands at its beginning between two lines `---`.
fn behind_front_matter(text: &str) -> &str {
    let mut body = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let is_rule = line.trim() == "---";
        if number == 0 && !(is_rule && line.starts_with("---")) {
            return text;
        }
        body += line.len();
        if number > 0 && is_rule {
            break;
        }
    }
    &text[body..]
}

/// Lines without what they are indented by in common, and without empty ones around them.
fn joined(lines: &[&str]) -> String {
    let common = lines
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start_matches([' ', '\t']).len())
        .min()
        .unwrap_or(0);
    let lines: Vec<&str> = lines
        .iter()
        .map(|line| line.get(common..).unwrap_or("").trim_end())
        .collect();
    lines.join("\n").trim_matches('\n').to_owned()
}
