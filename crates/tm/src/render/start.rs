//! The beginning of a run: its plan, and where it stands then.

use engine::view::autopilot::{PlannedSubtask, StartPlan};
use engine::{Precondition, Started};
use journal::layout::short_name;
use text::plain::one_line;

use super::run::what_next;
use super::{FAINT, Look, Page, STRONG, Sign};

/// What a start would do.
pub fn plan(plan: &StartPlan, look: &Look) -> String {
    let mut page = Page::new(look);
    page.title(&format!("Task {}: {}", plan.task_id, plan.task_title));
    let state = if plan.branch_exists {
        "is there"
    } else {
        "new"
    };
    let from = plan.from_branch.as_deref().unwrap_or("a detached HEAD");
    page.field("branch", &format!("{} ({state}, from {from})", plan.branch));
    page.field("tag", &plan.tag);
    page.field("source", &plan.source);
    let framework = if plan.test_framework.is_empty() {
        String::new()
    } else {
        format!(" ({})", plan.test_framework)
    };
    page.field("tests", &format!("{}{framework}", plan.test_command));
    page.field("attempts", &format!("{} at GREEN", plan.max_attempts));
    preconditions(&mut page, "Checks", &plan.checks);
    page.blank();
    page.title("Subtasks");
    for subtask in &plan.subtasks {
        planned(&mut page, subtask);
    }
    named_list(&mut page, "Done already", &plan.skipped);
    named_list(&mut page, "Left out", &plan.left_out);
    for warning in &plan.warnings {
        page.signed(Sign::Warn, warning);
    }
    page.finish()
}

fn planned(page: &mut Page<'_>, subtask: &PlannedSubtask) {
    let look = page.look();
    let id = look.paint(STRONG, &one_line(&subtask.id));
    let needs = if subtask.dependencies.is_empty() {
        String::new()
    } else {
        let needs = format!("(after {})", one_line(&subtask.dependencies.join(", ")));
        format!(" {}", look.paint(FAINT, &needs))
    };
    page.raw(&format!("  {id}  {}{needs}", one_line(&subtask.title)));
    let message = one_line(&subtask.commit_message);
    if !message.is_empty() {
        page.raw(&format!("       {}", look.paint(FAINT, &message)));
    }
}

fn named_list(page: &mut Page<'_>, title: &str, entries: &[String]) {
    if !entries.is_empty() {
        page.title(title);
        page.list(entries.iter().map(String::as_str));
    }
}

pub(super) fn preconditions(page: &mut Page<'_>, title: &str, conditions: &[Precondition]) {
    if conditions.is_empty() {
        return;
    }
    page.blank();
    page.title(title);
    for condition in conditions {
        let sign = match condition.holds {
            Some(true) => Sign::Good,
            Some(false) => Sign::Bad,
            None => Sign::Bullet,
        };
        let text = if condition.detail.is_empty() {
            condition.id.clone()
        } else {
            format!("{}: {}", condition.id, condition.detail)
        };
        let sign = format!("  {}", page.look().sign(sign));
        page.wrapped(&sign, &text);
    }
}

/// A run has begun. Its warnings are printed beside the answer.
pub fn started(started: &Started, look: &Look) -> String {
    let mut page = Page::new(look);
    page.signed(
        Sign::Good,
        &format!("run {} has begun", short_name(&started.run_id)),
    );
    match &started.branch {
        Some(branch) => page.field("branch", branch),
        None => page.field("workflow", &started.workflow),
    }
    if let Some(before) = &started.baseline {
        let before = format!("{} passing, {} failing", before.passed, before.failing());
        page.field("tests before", &before);
    }
    what_next(&mut page, &started.next_action);
    page.finish()
}
