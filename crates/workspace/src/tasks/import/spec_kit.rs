//! `tasks.md` of spec-kit: phases, and in each a list of tasks with ids such as `T001`.
//!
//! The template has `- [ ] T001 [P] [US1] text`. Real files set ids in bold, glue tags to them, number them `T009a`, `T-001` or
//! `SETUP-001`, and write dependencies in prose.

use std::path::Path;

use super::boxes::{CheckboxLine, plain};
use super::markdown_lists::{
    Line, ODD_MARK, heading, is_of_documents, lines, make_unique, odd_marks, settle, task,
};
use super::{ImportFormat, Imported, ImportedTask};

/// Whether a text is of this form: two lines at least have such an id.
pub(super) fn is_it(text: &str) -> bool {
    let tasks = lines(text).filter_map(|line| CheckboxLine::read(line.text));
    tasks
        .filter(|checkbox| identified(checkbox.rest).is_some())
        .take(2)
        .count()
        == 2
}

pub(super) fn read(file: &Path, text: &str) -> Imported {
    let mut imported = Imported::new(ImportFormat::SpecKit);
    let mut phases: Vec<ImportedTask> = Vec::new();
    // What comes before the first phase belongs to the whole.
    let mut open = group(file, 1, "tasks", &title_of(text));
    let mut last_indent = None;
    let mut without_id = Vec::new();
    for line in lines(text) {
        if let Some((level, name)) = heading(line.text) {
            last_indent = None;
            if level <= 3 && is_phase(name) {
                let next = group(file, line.number, &phase_key(name), &plain(name));
                phases.push(std::mem::replace(&mut open, next));
            }
            continue;
        }
        let checkbox = CheckboxLine::read(line.text);
        if let Some(checkbox) = checkbox
            && let Some((id, rest)) = identified(checkbox.rest)
        {
            last_indent = Some(checkbox.indent);
            open.subtasks
                .push(read_task(file, line, &checkbox, id, rest));
            continue;
        }
        let indent = line.text.len() - line.text.trim_start().len();
        let below = last_indent.is_some_and(|last| indent > last);
        match (open.subtasks.last_mut(), checkbox) {
            (Some(task), _) if below && !line.text.trim().is_empty() => {
                add_line(&mut task.description, line.text);
            }
            (_, Some(_)) => without_id.push(line.number),
            _ if line.text.trim().is_empty() => {}
            _ => {
                last_indent = None;
                if let Some(purpose) = purpose(line.text) {
                    add_line(&mut open.description, purpose);
                }
            }
        }
    }
    phases.push(open);
    phases.retain(|phase| !phase.subtasks.is_empty());
    // A phase waits for the one before it.
    for at in 1..phases.len() {
        let before = phases[at - 1].key.clone();
        phases[at].dependencies.push(before);
    }
    phases.iter_mut().for_each(settle);
    imported.tasks = phases;
    imported.passed_over(
        file,
        &without_id,
        "without an id such as `T001` it is no task",
    );
    imported.passed_over(file, &odd_marks(text), ODD_MARK);
    if imported.tasks.is_empty() {
        imported.problem(
            file,
            0,
            "no line is a task with an id such as `- [ ] T001 …`",
        );
    }
    make_unique(&mut imported);
    imported
}

fn group(file: &Path, line: usize, key: &str, title: &str) -> ImportedTask {
    ImportedTask {
        key: key.to_owned(),
        title: title.to_owned(),
        file: file.to_owned(),
        line,
        ..ImportedTask::default()
    }
}

/// The title of the document, without the word that all have.
fn title_of(text: &str) -> String {
    let first = lines(text).find_map(|line| heading(line.text).filter(|(level, _)| *level == 1));
    let title = first.map_or("Tasks", |(_, title)| title);
    plain(title.strip_prefix("Tasks:").unwrap_or(title))
}

/// Whether a heading begins a phase: it has a number.
fn is_phase(name: &str) -> bool {
    let rest = plain(name);
    let rest = rest.strip_prefix("Phase ");
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn phase_key(name: &str) -> String {
    let name = plain(name);
    let number = name.strip_prefix("Phase ").unwrap_or(&name);
    let end = number.find(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    format!(
        "phase-{}",
        number[..end.unwrap_or(number.len())].trim_end_matches('.')
    )
}

/// The goal or the purpose of a phase.
fn purpose(line: &str) -> Option<&str> {
    let begins = ["**Purpose**", "**Goal**", "**Independent Test**"];
    let line = line.trim();
    begins
        .iter()
        .any(|word| line.starts_with(word))
        .then_some(line)
}

fn add_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line.trim());
}

fn read_task(
    file: &Path,
    line: Line<'_>,
    checkbox: &CheckboxLine<'_>,
    id: &str,
    rest: &str,
) -> ImportedTask {
    let (tags, text) = tags(rest);
    let title = plain(text.trim_start_matches(['—', '–', ':', '-', ' ']));
    let mut read = task(file, line, checkbox, (id.to_owned(), title));
    if read.title.is_empty() {
        id.clone_into(&mut read.title);
    }
    read.dependencies = dependencies(text);
    if is_of_documents(&read.title) {
        "docs".clone_into(&mut read.kind);
    }
    if !tags.is_empty() {
        read.details = format!("Marked: {}", tags.join(", "));
    }
    read
}

/// The id that a task begins with, such as `T001`, `T009a`, `T-HF01` or `SETUP-001`, in bold or brackets or not, and what stands
/// behind it.
pub(super) fn identified(text: &str) -> Option<(&str, &str)> {
    let inner = text.trim_start_matches(['*', '_', '~', '`', '[']);
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    let end = inner.find(|c| !is_part(c)).unwrap_or(inner.len());
    let id = inner[..end].trim_end_matches(['.', '-']);
    let letters = id.bytes().take_while(u8::is_ascii_uppercase).count();
    let behind = &id[letters..];
    let digits = behind.trim_start_matches(|c: char| c == '-' || c.is_ascii_uppercase());
    let number = digits.bytes().take_while(u8::is_ascii_digit).count();
    let is_id = if id.starts_with('T') && letters <= 4 {
        number >= 2
    } else {
        letters >= 2 && behind.starts_with('-') && number >= 3
    };
    is_id.then(|| {
        let rest = &inner[id.len()..];
        (
            id,
            rest.trim_start_matches(['*', '_', '~', '`', ']', ':', '.'])
                .trim_start(),
        )
    })
}

/// The tags in brackets that a text begins with, and what stands behind them.
fn tags(mut text: &str) -> (Vec<&str>, &str) {
    let mut tags = Vec::new();
    while let Some(inside) = text.trim_start_matches('*').trim_start().strip_prefix('[')
        && let Some((tag, rest)) = inside.split_once(']')
        && !rest.starts_with('(')
    {
        tags.push(tag);
        text = rest;
    }
    (tags, text)
}

/// What a text says in brackets that it depends on, with ranges such as `T001-T003`.
fn dependencies(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = ["(depends on ", "(requires ", "(after ", "(needs "];
    let found = words
        .iter()
        .find_map(|word| Some((lower.find(word)?, word.len())));
    // The lower case of other scripts may have another length.
    let Some((at, length)) = found.filter(|_| lower.len() == text.len()) else {
        return Vec::new();
    };
    let inside = &text[at + length..];
    let inside = inside.split(')').next().unwrap_or(inside);
    let mut all = Vec::new();
    for part in inside.split([',', ';', ' ', '+', '&']) {
        match part.split_once(['-', '–']) {
            Some((first, last)) if number(first).is_some() && number(last).is_some() => {
                let (from, to) = (number(first).unwrap_or(0), number(last).unwrap_or(0));
                let width = first.len() - 1;
                // A range that is none is not meant.
                if from <= to && to - from < 200 {
                    all.extend((from..=to).map(|number| format!("T{number:0width$}")));
                }
            }
            _ => all.extend(identified(part).map(|(id, _)| id.to_owned())),
        }
    }
    all
}

fn number(id: &str) -> Option<u32> {
    id.strip_prefix('T')?.parse().ok()
}
