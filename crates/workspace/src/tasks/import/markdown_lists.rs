//! What spec-kit and `OpenSpec` have in common: groups under headings, and below each a list with checkboxes.

use std::path::Path;

use super::boxes::CheckboxLine;
use super::{Imported, ImportedTask};
use crate::tasks::Status;

/// A line of a document that is no code.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'t> {
    /// From 1.
    pub(super) number: usize,
    pub(super) text: &'t str,
}

/// The lines of a text, without those of fenced code and of the front matter.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut fence: Option<(char, usize)> = None;
    let mut is_front = text.starts_with("---");
    text.lines().enumerate().filter_map(move |(at, text)| {
        let number = at + 1;
        if is_front {
            is_front = at == 0 || text.trim_end() != "---";
            return None;
        }
        let inner = text.trim_start();
        let sign = inner.chars().next().filter(|c| matches!(c, '`' | '~'));
        let length = sign.map_or(0, |sign| inner.chars().take_while(|c| *c == sign).count());
        match (fence, sign) {
            (None, Some(sign)) if length >= 3 => {
                fence = Some((sign, length));
                None
            }
            (Some((open, least)), Some(sign)) if sign == open && length >= least => {
                fence = None;
                None
            }
            (Some(_), _) => None,
            (None, _) => Some(Line { number, text }),
        }
    })
}

/// The level of a heading, and its text.
pub(super) fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let text = line[level..].strip_prefix(' ')?;
    ((1..=6).contains(&level)).then(|| (level, text.trim()))
}

/// The task of a checkbox.
pub(super) fn task(
    file: &Path,
    line: Line<'_>,
    checkbox: &CheckboxLine<'_>,
    (key, title): (String, String),
) -> ImportedTask {
    let status = if checkbox.is_struck() {
        Status::Cancelled
    } else if checkbox.is_done() {
        Status::Done
    } else {
        Status::Pending
    };
    ImportedTask {
        key,
        title,
        status,
        file: file.to_owned(),
        line: line.number,
        ..ImportedTask::default()
    }
}

/// The lines whose checkboxes have a mark that is not known.
pub(super) fn odd_marks(text: &str) -> Vec<usize> {
    let odd = lines(text).filter(|line| CheckboxLine::read(line.text).is_some_and(|b| b.is_odd()));
    odd.map(|line| line.number).collect()
}

/// Why a task counts as open whose mark is not known.
pub(super) const ODD_MARK: &str =
    "the mark in the box is neither empty nor `x`: the task counts as open";

/// Tells of keys that are there twice, and gives the later ones a number more.
pub(super) fn make_unique(imported: &mut Imported) {
    let mut seen = std::collections::HashSet::new();
    let mut twice = Vec::new();
    let mut tasks = std::mem::take(&mut imported.tasks);
    for task in &mut tasks {
        one_by_one(task, &mut |task| {
            if seen.insert(task.key.clone()) {
                return;
            }
            twice.push((task.file.clone(), task.line, task.key.clone()));
            let own = task.key.clone();
            let mut number = 2;
            while !seen.insert(format!("{own}#{number}")) {
                number += 1;
            }
            task.key = format!("{own}#{number}");
        });
    }
    imported.tasks = tasks;
    for (file, line, key) in twice {
        imported.problem(&file, line, format!("`{key}` is there twice"));
    }
}

fn one_by_one(task: &mut ImportedTask, what: &mut impl FnMut(&mut ImportedTask)) {
    what(task);
    for subtask in &mut task.subtasks {
        one_by_one(subtask, what);
    }
}

/// A group under a heading, its status by what it holds.
pub(super) fn settle(task: &mut ImportedTask) {
    if task.subtasks.is_empty() {
        return;
    }
    let all = |is: fn(&Status) -> bool| task.subtasks.iter().all(|part| is(&part.status));
    task.status = if all(|status| *status == Status::Cancelled) {
        Status::Cancelled
    } else if all(Status::is_finished) {
        Status::Done
    } else {
        Status::Pending
    };
}

/// Whether every file that a text names is a document, and it names one.
pub(super) fn is_of_documents(text: &str) -> bool {
    let words = text.split([' ', '`', '(', ')', ',', ';']);
    let mut files = words
        .map(|word| word.trim_end_matches(['.', ':']))
        .filter(|word| {
            let ending = word.rsplit_once('.').map(|(_, ending)| ending);
            ending.is_some_and(|ending| {
                (1..=5).contains(&ending.len()) && ending.chars().all(char::is_alphabetic)
            })
        })
        .peekable();
    files.peek().is_some() && files.all(is_markdown)
}

/// Whether a file of that name is a document.
pub(super) fn is_markdown(name: &str) -> bool {
    let ending = Path::new(name).extension();
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("md"))
}
