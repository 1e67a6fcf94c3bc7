//! The beginning of a run: its plan, and where it stands then.

use engine::view::autopilot::StartPlan;
use engine::{Precondition, Started};
use serde_json::json;

use super::run::what_next;
use super::{Look, Page};

/// What a start would do.
pub fn plan(plan: &StartPlan, look: &Look) -> String {
    let mut page = Page::new(look);
    page.part("start_plan", plan);
    preconditions(&mut page, "Checks", &plan.checks);
    page.part("planned_subtasks", plan);
    page.finish()
}

pub(super) fn preconditions(page: &mut Page<'_>, title: &str, conditions: &[Precondition]) {
    if !conditions.is_empty() {
        page.part_with("preconditions", &conditions, &json!({ "title": title }));
    }
}

/// A run has begun. Its warnings are printed beside the answer.
pub fn started(started: &Started, look: &Look) -> String {
    let mut page = Page::new(look);
    page.part("started", started);
    what_next(&mut page, &started.next_action);
    page.finish()
}
