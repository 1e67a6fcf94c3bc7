//! Items, batches and tasks, a line each.

use engine::view::collab::answer::{BatchState, SessionState, TaskBrief};
use text::plain::{one_line, visible_len};

use super::super::{FAINT, Page, Sign};
use super::{number, standing, style};
use text::counted;

/// The widest column of ids and numbers; longer ones push the rest of their line.
const WIDEST: usize = 28;

/// The work items.
pub fn items(page: &mut Page<'_>, state: &SessionState) {
    if state.work_items.is_empty() {
        return;
    }
    page.blank();
    page.title(&format!(
        "Items: {} of {} documented",
        state.documented_items, state.total_items
    ));
    let column = column(state.work_items.iter().map(|item| number(&item.number)));
    for item in &state.work_items {
        let in_hand = state.current_item.as_ref() == Some(&item.number);
        let after: Vec<String> = item.depends_on.iter().map(number).collect();
        let line = format!(
            "{}  {:<6}  {}  {}",
            padded(&number(&item.number), column),
            one_line(&item.kind),
            status(page, &item.status, 10),
            one_line(&item.title),
        );
        row(page, in_hand, &line, &after);
        if !item.reason.is_empty() {
            page.wrapped("     because:", &item.reason);
        }
    }
}

/// The batches with their tasks. The one in hand is marked.
pub fn batches(page: &mut Page<'_>, batches: &[BatchState], current: Option<u64>) {
    if batches.is_empty() {
        return;
    }
    page.blank();
    page.title(&counted(batches.len(), "batch").replace("batchs", "batches"));
    for (at, batch) in batches.iter().enumerate() {
        let in_hand = current == Some(at as u64);
        let wave = match batch.wave {
            0 => String::new(),
            wave => format!("  wave {wave}"),
        };
        let status = status(page, &batch.status.replace('_', " "), 0);
        row(
            page,
            in_hand,
            &format!("batch {}  {status}{wave}", at + 1),
            &[],
        );
        if !batch.split.is_empty() {
            page.wrapped("     split:", &batch.split);
        }
        lines(page, &batch.tasks, "    ");
    }
}

/// Tasks that were named.
pub fn tasks(page: &mut Page<'_>, tasks: &[TaskBrief]) {
    lines(page, tasks, "");
}

/// How many tasks came to what.
pub fn totals(page: &mut Page<'_>, state: &SessionState) {
    if state.batches.is_empty() {
        return;
    }
    let parts: Vec<String> = [
        (&state.completed_tasks, "completed"),
        (&state.pending_tasks, "to do"),
        (&state.failed_tasks, "skipped"),
        (&state.not_run_tasks, "not run"),
    ]
    .into_iter()
    .filter(|(tasks, _)| !tasks.is_empty())
    .map(|(tasks, what)| format!("{} {what}", tasks.len()))
    .collect();
    page.blank();
    page.raw(&format!("Tasks: {}", parts.join(", ")));
}

fn lines(page: &mut Page<'_>, tasks: &[TaskBrief], indent: &str) {
    let column = column(tasks.iter().map(|task| task.id.clone()));
    for task in tasks {
        let status = status(page, standing(task), 0);
        let line = format!("{indent}{}  {status}", padded(&task.id, column));
        row(page, false, &line, &task.depends_on);
    }
}

/// A line, marked where it is in hand, and what must be done before.
fn row(page: &mut Page<'_>, in_hand: bool, line: &str, after: &[String]) {
    let look = page.look();
    let mark = if in_hand {
        // Two columns also where the sign takes one.
        let sign = look.sign(Sign::Next);
        if look.rich { format!("{sign} ") } else { sign }
    } else {
        "  ".to_owned()
    };
    let after = match after {
        [] => String::new(),
        all => {
            let after = one_line(&format!("after {}", all.join(", ")));
            format!("  {}", look.paint(FAINT, &after))
        }
    };
    page.raw(format!("{mark} {line}{after}").trim_end());
}

fn status(page: &Page<'_>, status: &str, width: usize) -> String {
    let text = format!("{:<width$}", one_line(status));
    page.look().paint(style(status), &text)
}

fn column(texts: impl Iterator<Item = String>) -> usize {
    texts
        .map(|text| visible_len(&one_line(&text)))
        .max()
        .unwrap_or_default()
        .min(WIDEST)
}

fn padded(text: &str, column: usize) -> String {
    let text = one_line(text);
    let missing = column.saturating_sub(visible_len(&text));
    format!("{text}{}", " ".repeat(missing))
}
