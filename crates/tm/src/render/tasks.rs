//! The tasks of a project, for people.

use engine::tasks::{ImportAnswer, TaskList};
use text::counted;
use text::plain::one_line;
use workspace::tasks::import::{MergeOutcome, WriteBack};
use workspace::tasks::{CUT_CIRCLE, Task};

use super::{Look, Page, STRONG, Sign};

/// As many problems of an import are listed.
const LISTED: usize = 20;

/// The tasks of a tag.
pub fn list(list: &TaskList, look: &Look) -> String {
    let mut page = Page::new(look);
    if list.tasks.is_empty() {
        page.signed(
            Sign::Good,
            &format!(
                "nothing is left to do under the tag {}",
                one_line(&list.tag)
            ),
        );
        return page.finish();
    }
    for task in &list.tasks {
        let mut told = format!("{}  {}", task.status, one_line(&task.title));
        if task.subtasks > 0 {
            told = format!(
                "{told} ({} of {} done)",
                task.done,
                counted(task.subtasks, "subtask")
            );
        }
        if !task.waits_for.is_empty() {
            told = format!("{told}, waits for {}", one_line(&task.waits_for.join(", ")));
        } else if let Some(blocked) = &task.blocked {
            told = format!("{told}, cannot begin: {}", one_line(blocked));
        }
        page.wrapped(&look.paint(STRONG, &one_line(&task.id)), &told);
    }
    circle(&mut page, list);
    page.finish()
}

/// A task with its subtasks.
pub fn task(task: &Task, look: &Look) -> String {
    let mut page = Page::new(look);
    page.title(&format!("{} {}", task.id, task.title));
    page.field("status", task.status.as_str());
    if !task.dependencies.is_empty() {
        page.field("needs", &task.dependencies.join(", "));
    }
    for (name, text) in [
        ("", &task.description),
        ("Details", &task.details),
        ("Test strategy", &task.test_strategy),
    ] {
        if text.is_empty() {
            continue;
        }
        page.blank();
        if !name.is_empty() {
            page.title(name);
        }
        page.block_wrapped(text);
    }
    let parts: Vec<_> = task.subtasks.iter().filter(|part| !part.implicit).collect();
    if !parts.is_empty() {
        page.blank();
    }
    for part in parts {
        let mut told = format!("{}  {}", part.status, one_line(&part.title));
        if !part.kind.is_empty() {
            told = format!("{told} ({})", one_line(&part.kind));
        }
        if !part.dependencies.is_empty() {
            told = format!("{told}, after {}", one_line(&part.dependencies.join(", ")));
        }
        page.wrapped(&look.paint(STRONG, &one_line(&part.id)), &told);
    }
    page.finish()
}

/// The task that is next.
pub fn next(list: &TaskList, look: &Look) -> String {
    let mut page = Page::new(look);
    match list.next() {
        None => page.signed(
            Sign::Good,
            "no task can begin now: all are done, left out, or wait for others",
        ),
        Some(task) => {
            let id = one_line(&task.id);
            page.title(&format!("{id} {}", one_line(&task.title)));
            page.command(&format!("tm autopilot start {id}"));
        }
    }
    circle(&mut page, list);
    page.finish()
}

/// The tasks that wait for each other, and how that ends.
fn circle(page: &mut Page<'_>, list: &TaskList) {
    if let Some(circle) = &list.circle {
        let text = format!(
            "tasks wait for each other: {}: {CUT_CIRCLE}",
            circle.join(" -> ")
        );
        page.signed(Sign::Warn, &one_line(&text));
    }
}

/// What was brought in.
pub fn imported(answer: &ImportAnswer, look: &Look) -> String {
    let mut page = Page::new(look);
    let number = |outcome| {
        answer
            .tasks
            .iter()
            .filter(|task| task.outcome == outcome)
            .count()
    };
    let would = if answer.dry_run { "would be " } else { "" };
    let mut told = vec![format!(
        "{} {would}added",
        counted(number(MergeOutcome::Added), "task")
    )];
    for (outcome, word) in [
        (MergeOutcome::Updated, "updated"),
        (MergeOutcome::Unchanged, "unchanged"),
        (MergeOutcome::Over, "done there, and left out (--all)"),
    ] {
        match number(outcome) {
            0 => {}
            many => told.push(format!("{many} {word}")),
        }
    }
    page.signed(Sign::Good, &told.join(", "));
    for task in &answer.tasks {
        let Some(id) = &task.id else {
            continue;
        };
        let mut line = one_line(&task.title);
        if task.subtasks > 0 {
            line = format!("{line} ({})", counted(task.subtasks, "subtask"));
        }
        page.wrapped(&look.paint(STRONG, &one_line(id)), &line);
    }
    if !answer.gone.is_empty() {
        let ids = one_line(&answer.gone.join(", "));
        page.signed(
            Sign::Warn,
            &format!("no longer in their source, and left as they are: {ids}"),
        );
    }
    for problem in answer.problems.iter().take(LISTED) {
        let line = if problem.line > 0 {
            format!(":{}", problem.line)
        } else {
            String::new()
        };
        page.signed(
            Sign::Warn,
            &format!("{}{line}: {}", problem.file.display(), problem.message),
        );
    }
    let more = answer.problems.len().saturating_sub(LISTED);
    if more > 0 {
        page.signed(
            Sign::Warn,
            &format!("and {} more (--json)", counted(more, "problem")),
        );
    }
    if !answer.dry_run {
        page.command("tm tasks next");
    }
    page.finish()
}

/// What was written back.
pub fn written_back(told: &WriteBack, dry_run: bool, look: &Look) -> String {
    let mut page = Page::new(look);
    let would = if dry_run { "would be " } else { "" };
    if told.written.is_empty() && told.commands.is_empty() {
        page.signed(Sign::Good, "nothing is to be written back");
    } else {
        let files = counted(told.rewrites.len(), "file");
        page.signed(
            Sign::Good,
            &format!(
                "{} {would}marked as done in {files}",
                counted(told.written.len(), "task")
            ),
        );
    }
    for rewrite in &told.rewrites {
        page.field("file", &rewrite.path.display().to_string());
    }
    for command in &told.commands {
        page.command(command);
    }
    for problem in &told.problems {
        page.signed(Sign::Warn, problem);
    }
    page.finish()
}
