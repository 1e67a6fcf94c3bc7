//! The answers about sessions of skills: the next skill first, then what it is about, then what to do.

use engine::view::collab::answer::{
    DocumentProblem, SessionBrief, SessionState, SkillAnswer, SyncAnswer, UpdateAnswer,
};
use serde::Serialize;
use serde_json::{Value, json};
use text::plain::one_line;

use super::session::option;
use super::{Look, Page};

/// The parts of a page, one below the other.
fn parts(names: &[&str], answer: &impl Serialize, beside: &Value, look: &Look) -> String {
    let mut page = Page::new(look);
    for name in names {
        page.part_with(name, answer, beside);
    }
    page.finish()
}

/// What a completed skill came to.
pub fn completed(answer: &SkillAnswer, named: Option<&str>, look: &Look) -> String {
    let beside = json!({ "option": option(named.map(|_| answer.session.as_str())) });
    let names: &[&str] = if answer.verdict.validated {
        &[
            "skill_completed",
            "skill_work",
            "valid_skills",
            "skill_problems",
            "skill_next",
        ]
    } else {
        &[
            "skill_refused",
            "skill_problems",
            "skill_completed",
            "skill_work",
            "valid_skills",
            "skill_next",
        ]
    };
    parts(names, answer, &beside, look)
}

/// All that is needed to go on. `run` is what a paused session is resumed by.
pub fn brief(brief: &SessionBrief, run: Option<&str>, named: Option<&str>, look: &Look) -> String {
    let beside = json!({ "run": run, "option": option(named.map(|_| brief.session.as_str())) });
    let names: &[&str] = if brief.status.is_some() || brief.paused_reason.is_some() {
        &["skill_brief", "skill_work", "skill_documents"]
    } else {
        &["skill_brief", "skill_work", "skill_documents", "skill_next"]
    };
    parts(names, brief, &beside, look)
}

/// A session with all of its items and batches.
pub fn state(state: &SessionState, named: Option<&str>, look: &Look) -> String {
    let beside = json!({ "option": option(named.map(|_| state.session.as_str())) });
    let paused = json!({ "pausedReason": state.paused_reason, "run": state.run_id });
    let mut page = parts(&["skills_state", "batches"], state, &beside, look);
    page += &parts(&["skill_documents"], &paused, &Value::Null, look);
    if state.skill.is_some() {
        page += &parts(&["skill_next"], state, &beside, look);
    }
    page
}

/// What became of fields.
pub fn updated(updated: &UpdateAnswer, look: &Look) -> String {
    stored(updated, None, None, look)
}

/// What became of tasks. `skill` is the one that is due.
pub fn stored(
    updated: &UpdateAnswer,
    skill: Option<&str>,
    named: Option<&str>,
    look: &Look,
) -> String {
    let first = if updated.verdict.validated {
        "skills_set"
    } else {
        "skill_refused"
    };
    let names = [first, "skills_fields", "named_tasks", "tasks_left"];
    let mut page = parts(&names, updated, &Value::Null, look);
    if updated.verdict.validated && updated.remaining == Some(0) {
        let option = option(named.map(|_| updated.session.as_str()));
        let next = json!({ "skill": skill, "unitId": updated.unit_id, "option": option });
        page += &parts(&["skill_next"], &next, &Value::Null, look);
    }
    page
}

/// What became of a task graph.
pub fn synced(synced: &SyncAnswer, named: Option<&str>, look: &Look) -> String {
    let first = if synced.verdict.validated {
        "graph_taken"
    } else {
        "skill_refused"
    };
    let names = [first, "skill_problems", "batches"];
    let mut page = Page::new(look);
    for name in names {
        page.part(name, synced);
    }
    page.field("session", &synced.session);
    if synced.verdict.validated {
        page.blank();
        page.command(&format!("tm collab state{}", option(named)));
    }
    page.finish()
}

/// A problem of a document in a line, for those who are told it beside an answer.
pub fn problem_line(problem: &DocumentProblem) -> String {
    let document = one_line(&problem.document);
    match problem.line {
        0 => format!("{document}: {}", problem.message),
        line => format!("{document}:{line}: {}", problem.message),
    }
}

#[cfg(test)]
mod tests;
