//! Writes into the sources of tasks that these are done, where a source has a place for that: a checkbox, or a status in front matter. No
//! other byte of them is changed. Where there is none, the command that does it is told.

use std::fs;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;

use super::backlog::Statuses;
use super::boxes::CheckboxLine;
use super::merge::{source, status_of, title_there};
use super::{ImportFormat, Imported, ImportedTask};
use crate::tasks::{Rewrite, Splice, Status, TaskError};

/// What is to be written back.
#[derive(Debug, Clone, Default, Serialize)]
pub struct WriteBack {
    /// The changes of files.
    pub rewrites: Vec<Rewrite>,
    /// The keys of the tasks that they are for.
    pub written: Vec<String>,
    /// Commands that do it where it is for another program to do.
    pub commands: Vec<String>,
    /// What cannot be written, and why.
    pub problems: Vec<String>,
}

impl WriteBack {
    /// Tells the command that closes a task where it is kept. Ids are words of others, and people copy what they are told into a shell:
    /// what is not made of letters, digits and a few signs is told as a problem alone.
    fn close(&mut self, command: &str, key: &str, id: &str) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if id.starts_with(|c: char| c.is_ascii_alphanumeric()) && id.chars().all(is_plain) {
            self.commands.push(format!("{command} {id}"));
        } else {
            self.problems.push(format!(
                "`{key}` is a part of another task, and is ticked there by hand"
            ));
        }
    }
}

/// A task of the tasks file, as its source has it.
struct Entry {
    key: String,
    title: String,
    is_done: bool,
}

/// What is to be written back for the tasks of a tag; `text` is the tasks file, in the project at `root`.
pub fn write_back(text: &str, tag: &str, root: &Path) -> Result<WriteBack, TaskError> {
    let file: Value = serde_json::from_str(text).unwrap_or_default();
    let of_tag = file.get(tag).and_then(|tag| tag.get("tasks"));
    let list = of_tag
        .or_else(|| file.get("tasks"))
        .and_then(Value::as_array);
    let mut files: IndexMap<(PathBuf, &'static str), Vec<Entry>> = IndexMap::new();
    let mut told = WriteBack::default();
    for entry in list.into_iter().flatten() {
        let subtasks = entry.get("subtasks").and_then(Value::as_array);
        for entry in std::iter::once(entry).chain(subtasks.into_iter().flatten()) {
            let (Some(format), Some(file), Some(key)) = (
                source(entry, "format"),
                source(entry, "file"),
                source(entry, "key"),
            ) else {
                continue;
            };
            let is_done = matches!(status_of(entry), Some(Status::Done | Status::Completed));
            match ImportFormat::of_name(format) {
                Some(ImportFormat::Beads) if is_done => told.close("bd close", key, key),
                Some(ImportFormat::Github) if is_done => {
                    told.close("gh issue close", key, key.trim_start_matches('#'));
                }
                Some(ImportFormat::Beads | ImportFormat::Github) | None => {}
                Some(format) => {
                    let at = (root.join(file), format.name());
                    files.entry(at).or_default().push(Entry {
                        key: key.to_owned(),
                        title: title_there(entry).to_owned(),
                        is_done,
                    });
                }
            }
        }
    }
    files.retain(|_, entries| entries.iter().any(|entry| entry.is_done));
    files.sort_keys();
    for ((file, format), entries) in files {
        let Some(format) = ImportFormat::of_name(format) else {
            continue;
        };
        match super::read(&file, Some(format)) {
            Ok(imported) => in_file(&file, &imported, &entries, &mut told)?,
            Err(error) => told.problems.push(error.to_string()),
        }
    }
    Ok(told)
}

fn in_file(
    file: &Path,
    imported: &Imported,
    entries: &[Entry],
    told: &mut WriteBack,
) -> Result<(), TaskError> {
    let Ok(text) = fs::read_to_string(file) else {
        told.problems
            .push(format!("{} is no text in UTF-8", file.display()));
        return Ok(());
    };
    let mut splices = Vec::new();
    let all = imported.tasks.iter().flat_map(ImportedTask::all);
    // A group has no place of its own.
    let all = all.filter(|task| task.subtasks.is_empty());
    let (known, others): (Vec<_>, Vec<_>) = all.partition(|task| {
        let mut entries = entries.iter();
        entries.any(|entry| entry.key == task.key && entry.title == task.title)
    });
    let is_open = |task: &ImportedTask| !task.status.is_finished();
    for Entry { key, title, .. } in entries.iter().filter(|entry| entry.is_done) {
        let mut others = others.iter();
        if others.any(|task| task.key == *key || task.title == *title && is_open(task)) {
            told.problems.push(format!(
                "`{key}` of {} may be another task than `{title}` by now, and is not marked as done: import the file again first",
                file.display()
            ));
            continue;
        }
        let is_it = |task: &&&ImportedTask| task.key == *key && task.title == *title;
        let Some(task) = known.iter().find(|task| is_it(task) && is_open(task)) else {
            continue;
        };
        let splice = match imported.format {
            ImportFormat::Backlog => status_line(&text, Statuses::near(file).done()),
            _ => box_of(&text, task.line),
        };
        match splice {
            Some(splice) => {
                splices.push(splice);
                told.written.push(key.clone());
            }
            None => told
                .problems
                .push(format!("`{key}` has no place for it in {}", file.display())),
        }
    }
    let real = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    told.rewrites
        .extend(Rewrite::new(real, &text, splices, &[])?);
    Ok(())
}

/// What is put into the checkbox of a line: the sign that the file has in others.
fn box_of(text: &str, line: usize) -> Option<Splice> {
    let mut offset = 0;
    for (number, own) in (1..).zip(text.split_inclusive('\n')) {
        if number == line {
            let line = own.trim_start_matches('\u{feff}');
            offset += own.len() - line.len();
            let checkbox = CheckboxLine::read(line.trim_end_matches(['\r', '\n']))?;
            let capitals = text.matches("[X]").count() > text.matches("[x]").count();
            return Some(Splice {
                offset: offset + checkbox.mark_at,
                old: checkbox.mark.to_owned(),
                new: if capitals { "X" } else { "x" }.to_owned(),
            });
        }
        offset += own.len();
    }
    None
}

/// The status in the front matter of a file of Backlog.md, which becomes this word.
fn status_line(text: &str, done: &str) -> Option<Splice> {
    let (own, _) = super::backlog::cut(text.trim_start_matches('\u{feff}'))?;
    let begin = own.as_ptr() as usize - text.as_ptr() as usize;
    let mut offset = begin;
    for line in own.split_inclusive('\n') {
        if let Some(value) = line.strip_prefix("status:") {
            let trimmed = value.trim();
            let at = offset + (line.len() - value.len()) + (value.len() - value.trim_start().len());
            let quote = trimmed.chars().next().filter(|c| matches!(c, '\'' | '"'));
            let is_plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
            let new = match quote {
                _ if !done.chars().all(is_plain) => Value::from(done).to_string(),
                Some(quote) => format!("{quote}{done}{quote}"),
                None => done.to_owned(),
            };
            return Some(Splice {
                offset: at,
                old: trimmed.to_owned(),
                new,
            });
        }
        offset += line.len();
    }
    None
}
