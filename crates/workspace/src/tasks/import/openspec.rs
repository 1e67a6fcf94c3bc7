//! `tasks.md` of a change of `OpenSpec`: numbered groups, and in each a list with checkboxes, mostly numbered.

use std::path::Path;

use super::boxes::{CheckboxLine, plain};
use super::markdown_lists::{
    ODD_MARK, heading, is_of_documents, lines, make_unique, odd_marks, settle, task,
};
use super::{ImportFormat, Imported, ImportedTask};

/// Whether a text is of this form: two checkboxes at least have a number such as `1.2`.
pub(super) fn is_it(text: &str) -> bool {
    let numbered = lines(text).filter_map(|line| CheckboxLine::read(line.text));
    numbered
        .filter(|checkbox| {
            numbered_item(checkbox.rest).is_some_and(|(number, _)| number.contains('.'))
        })
        .take(2)
        .count()
        == 2
}

pub(super) fn read(file: &Path, text: &str) -> Imported {
    let mut imported = Imported::new(ImportFormat::Openspec);
    let change = change_of(file);
    let mut groups: Vec<ImportedTask> = Vec::new();
    let mut open = group(file, 1, change.clone(), format!("The change {change}"));
    let mut last: Option<usize> = None;
    let mut bullets = Vec::new();
    for line in lines(text) {
        if let Some((level, name)) = heading(line.text) {
            last = None;
            if level == 2 {
                let name = plain(name);
                let key = match numbered_item(&name) {
                    Some((number, _)) => format!("{change}/{number}"),
                    None => format!("{change}/{name}"),
                };
                let title = numbered_item(&name).map_or(&*name, |(_, rest)| rest);
                let next = group(file, line.number, key, title.to_owned());
                groups.push(std::mem::replace(&mut open, next));
            }
            continue;
        }
        if let Some(checkbox) = CheckboxLine::read(line.text) {
            let is_step = last.is_some_and(|indent| checkbox.indent > indent);
            let numbered = numbered_item(checkbox.rest);
            // A box without a number below a task is a step of it.
            if is_step
                && numbered.is_none()
                && let Some(above) = open.subtasks.last_mut()
            {
                above.acceptance_criteria.push(plain(checkbox.rest));
                continue;
            }
            let title = plain(numbered.map_or(checkbox.rest, |(_, rest)| rest));
            let key = match numbered {
                Some((number, _)) => format!("{change}/{number}"),
                None => format!("{change}/{title}"),
            };
            let mut read = task(file, line, &checkbox, (key, title));
            if is_of_documents(&read.title) {
                "docs".clone_into(&mut read.kind);
            }
            open.subtasks.push(read);
            last = Some(last.map_or(checkbox.indent, |indent| indent.min(checkbox.indent)));
            continue;
        }
        let inner = line.text.trim();
        let indent = line.text.len() - line.text.trim_start().len();
        if inner.is_empty() {
            continue;
        }
        if last.is_some_and(|last| indent > last)
            && let Some(above) = open.subtasks.last_mut()
        {
            if !above.description.is_empty() {
                above.description.push('\n');
            }
            above.description.push_str(inner);
        } else {
            if inner.starts_with("- ") && indent == 0 {
                bullets.push(line.number);
            }
            last = None;
        }
    }
    groups.push(open);
    groups.retain(|group| !group.subtasks.is_empty());
    groups.iter_mut().for_each(settle);
    imported.tasks = groups;
    if imported.tasks.is_empty() {
        imported.problem(file, 0, "no line is a task: `- [ ] 1.1 …`");
    }
    imported.passed_over(file, &odd_marks(text), ODD_MARK);
    imported.passed_over(file, &bullets, "without a checkbox it is no task");
    make_unique(&mut imported);
    imported
}

fn group(file: &Path, line: usize, key: String, title: String) -> ImportedTask {
    ImportedTask {
        key,
        title,
        details: format!(
            "Its change is described in the folder of {}.",
            file.display()
        ),
        file: file.to_owned(),
        line,
        ..ImportedTask::default()
    }
}

/// The id of a change: the folder that its tasks lie in.
fn change_of(file: &Path) -> String {
    let folder = file.parent().and_then(Path::file_name);
    let name = folder.map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| "change".to_owned())
}

/// The number that a text begins with, such as `1.2` or `3`, and what stands behind it.
fn numbered_item(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches(['*', '~']);
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let number = text[..end].trim_end_matches('.');
    let letter = text[end..]
        .bytes()
        .take_while(u8::is_ascii_lowercase)
        .count();
    let end = if letter == 1 { end + 1 } else { end };
    let rest = &text[end..];
    let is_number =
        !number.is_empty() && (rest.is_empty() || rest.starts_with([' ', '*', '~', ':']));
    is_number.then(|| {
        let number = text[..end].trim_end_matches('.');
        (number, rest.trim_start_matches(['*', ' ', '~', ':']))
    })
}
