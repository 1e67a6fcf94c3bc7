//! A task that was given on the command line.

use std::path::Path;

use indexmap::IndexMap;

use super::words::Marks;
use super::{Rewrite, Status, StatusChange, Subtask, Task, TaskError, TaskSource};
use crate::convention::branch::slug;

/// A title, and perhaps titles of subtasks. There is no file, so nothing is ever written.
#[derive(Debug, Clone)]
pub struct InlineTask {
    title: String,
    marks: Marks,
    /// Titles, each with what is said of it beside.
    subtasks: Vec<(String, Marks)>,
}

impl InlineTask {
    /// A task of this title, behind which may stand more of it in brackets, such as its kind; without subtasks it is one piece of work.
    pub fn new(title: &str, subtasks: &[String]) -> Result<Self, TaskError> {
        let clean = |text: &str, of: String| {
            let text = text.trim();
            if text.is_empty() {
                Err(TaskError::NoTitle { of })
            } else {
                Ok(text.to_owned())
            }
        };
        let named = |text: &str, of: String| {
            let mut marks = Marks::default();
            let mut title = text;
            while let Some(before) = marks.take_off(title) {
                title = before;
            }
            Ok((clean(title, of)?, marks))
        };
        let (title, marks) = named(title, "the task".to_owned())?;
        Ok(Self {
            title,
            marks,
            subtasks: subtasks
                .iter()
                .enumerate()
                .map(|(index, text)| named(text, format!("subtask {}", index + 1)))
                .collect::<Result<_, _>>()?,
        })
    }

    /// The task's id: its title as a slug.
    pub fn id(&self) -> String {
        slug(&self.title)
    }

    /// The task.
    pub fn task(&self) -> Task {
        let id = self.id();
        Task {
            subtasks: self
                .subtasks
                .iter()
                .enumerate()
                .map(|(index, (title, marks))| Subtask {
                    id: format!("{id}.{}", index + 1),
                    title: title.clone(),
                    kind: marks.kind.clone(),
                    refactor: marks.refactor,
                    description: String::new(),
                    details: String::new(),
                    test_strategy: String::new(),
                    dependencies: Vec::new(),
                    status: Status::Pending,
                    acceptance_criteria: Vec::new(),
                    implicit: false,
                })
                .collect(),
            id,
            title: self.title.clone(),
            kind: self.marks.kind.clone(),
            refactor: self.marks.refactor,
            description: String::new(),
            details: String::new(),
            test_strategy: String::new(),
            status: Status::Pending,
            dependencies: Vec::new(),
            elsewhere: std::collections::BTreeMap::new(),
        }
        .with_implicit_subtask()
    }
}

impl TaskSource for InlineTask {
    fn describe(&self) -> String {
        "the command line".to_owned()
    }

    fn path(&self) -> Option<&Path> {
        None
    }

    fn load_task(&self, id: &str) -> Result<Task, TaskError> {
        if id != self.id() {
            return Err(TaskError::UnknownTask {
                id: id.to_owned(),
                source_name: self.describe(),
                known: vec![self.id()],
            });
        }
        Ok(self.task())
    }

    fn task_statuses(&self) -> Result<IndexMap<String, Status>, TaskError> {
        let task = self.task();
        let subtasks = task
            .subtasks
            .into_iter()
            .filter(|subtask| !subtask.implicit);
        Ok(std::iter::once((task.id, task.status))
            .chain(subtasks.map(|subtask| (subtask.id, subtask.status)))
            .collect())
    }

    fn rewrite(&self, _changes: &[StatusChange]) -> Result<Option<Rewrite>, TaskError> {
        Ok(None)
    }
}
