//! The answers about sessions of skills: the next skill first, then what it is about, then what to do.

mod tables;

use engine::view::collab::answer::{
    BatchBrief, DocumentProblem, ItemBrief, SessionBrief, SessionState, SkillAnswer, SyncAnswer,
    TaskBrief, UpdateAnswer,
};
use serde_json::Value;
use text::plain::{one_line, visible_len};

use super::session::option;
use super::{BAD, GOOD, Look, NOTE, Page, STRONG, Sign, status_style};
use crate::steps::typed;
use text::counted;

/// How many tasks of a batch are named in a line.
const NAMED: usize = 6;

/// What a completed skill came to.
pub fn completed(answer: &SkillAnswer, named: Option<&str>, look: &Look) -> String {
    let mut page = Page::new(look);
    if answer.validated {
        if let Some(done) = &answer.message {
            page.signed(Sign::Good, done);
        }
        headline(&mut page, "next skill:", answer.next_skill.as_deref());
    } else {
        refusal(
            &mut page,
            answer.code.as_deref(),
            answer.message.as_deref(),
            answer.suggestion.as_deref(),
        );
        problems(&mut page, &answer.problems);
        notes(&mut page, &answer.notes);
        page.blank();
        if answer.next_skill.is_some() {
            headline(&mut page, "expected skill:", answer.next_skill.as_deref());
        }
    }
    if answer.done && answer.validated {
        page.signed(
            Sign::Good,
            &format!("the session {} is over", answer.session),
        );
    }
    if answer.action == "clear" {
        page.field(
            "context",
            "forget it now: one call of `tm collab state` tells all that is needed",
        );
    }
    item(&mut page, answer.item.as_ref());
    batch(&mut page, answer.batch.as_ref());
    page.field("state", &state_words(&answer.display_name, &answer.state));
    page.field("session", &answer.session);
    page.field("unit", answer.unit_id.as_deref().unwrap_or_default());
    if !answer.valid_skills.is_empty() {
        page.blank();
        page.raw("All skills:");
        listed(&mut page, &answer.valid_skills);
    }
    if answer.validated {
        problems(&mut page, &answer.problems);
        notes(&mut page, &answer.notes);
    }
    instructions(&mut page, answer.instructions.as_deref());
    // A session that somebody stopped takes no completions: what is to be done first was said.
    if answer.code.as_deref() != Some("paused") {
        let next = answer.next_skill.as_deref();
        report(
            &mut page,
            next,
            answer.unit_id.as_deref(),
            &answer.session,
            named,
        );
    }
    page.finish()
}

/// All that is needed to go on. `run` is what a paused session is resumed by.
pub fn brief(brief: &SessionBrief, run: Option<&str>, named: Option<&str>, look: &Look) -> String {
    let mut page = Page::new(look);
    let session = &brief.session;
    if brief.done {
        page.signed(Sign::Good, &format!("the session {session} is over"));
    } else if let Some(why) = &brief.paused_reason {
        paused(&mut page, why);
    } else if let Some(status) = &brief.status {
        page.signed(Sign::Bad, &format!("the session {session} is {status}"));
    } else {
        headline(&mut page, "next skill:", brief.skill.as_deref());
    }
    item(&mut page, brief.item.as_ref());
    batch(&mut page, brief.batch.as_ref());
    page.field("state", &state_words(&brief.display_name, &brief.state));
    page.field("phase", &brief.phase);
    page.field("session", session);
    page.field("unit", brief.unit_id.as_deref().unwrap_or_default());
    page.field("documents", &brief.documents);
    if let Some((first, others)) = brief.read.split_first() {
        page.field("read", first);
        for other in others {
            page.raw(&format!("  {:10} {}", "", one_line(other)));
        }
        if let Some(more) = brief.read_more {
            page.raw(&format!("  {:10} and {more} more", ""));
        }
    }
    if brief.paused_reason.is_some() {
        resume(&mut page, run);
        return page.finish();
    }
    if brief.status.is_some() {
        page.blank();
        page.raw("What it did:");
        page.command(&format!("tm runs report {}", typed(session)));
        return page.finish();
    }
    instructions(&mut page, brief.instructions.as_deref());
    if brief.instructions_cut {
        page.blank();
        page.raw("All of it is told with:");
        page.command(&format!(
            "tm collab state --full --session {}",
            typed(session)
        ));
    }
    report(
        &mut page,
        brief.skill.as_deref(),
        brief.unit_id.as_deref(),
        session,
        named,
    );
    page.finish()
}

/// A session with all of its items and batches.
pub fn state(state: &SessionState, named: Option<&str>, look: &Look) -> String {
    let mut page = Page::new(look);
    let status = look.paint(status_style(&state.status), &one_line(&state.status));
    page.raw(&format!(
        "{}  {}  {status}",
        look.paint(STRONG, &one_line(&state.session)),
        one_line(&state.phase),
    ));
    if let Some(why) = &state.paused_reason {
        paused(&mut page, why);
    }
    if state.skill.is_some() {
        headline(&mut page, "next skill:", state.skill.as_deref());
    }
    page.field("state", &state_words(&state.display_name, &state.state));
    let current = state.current_item.as_ref().map(number);
    let kind = state.current_item_type.as_deref().unwrap_or_default();
    let current = current.map_or_else(String::new, |number| format!("{number} ({kind})"));
    page.field("item", current.trim_end_matches(" ()"));
    if let Some(index) = state.current_batch {
        let of = state.batches.len();
        page.field("batch", &format!("{} of {of}", index.saturating_add(1)));
    }
    page.field("unit", state.unit_id.as_deref().unwrap_or_default());
    page.run(&state.run_id);
    page.field("moved", &state.last_activity);
    page.field("documents", &state.documents);
    if state.has_snapshot {
        page.field("snapshot", "the caller keeps one");
    }
    tables::items(&mut page, state);
    tables::batches(&mut page, &state.batches, state.current_batch);
    tables::totals(&mut page, state);
    if state.paused_reason.is_some() {
        resume(&mut page, Some(&state.run_id));
    }
    if state.skill.is_some() {
        instructions(&mut page, state.instructions.as_deref());
    }
    report(
        &mut page,
        state.skill.as_deref(),
        state.unit_id.as_deref(),
        &state.session,
        named,
    );
    page.finish()
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
    let mut page = Page::new(look);
    if updated.validated {
        let text = match (updated.tasks.len(), updated.fields.len()) {
            (0, 0) => "nothing was to be set".to_owned(),
            _ if updated.fields.contains_key("addedItems") => {
                let added = updated.fields["addedItems"]
                    .as_array()
                    .into_iter()
                    .flatten();
                let added: Vec<String> = added
                    .map(|number| number.to_string().replace('"', ""))
                    .collect();
                let session = &updated.session;
                format!(
                    "on the list of the session {session}: item {}",
                    added.join(", ")
                )
            }
            (0, fields) => format!(
                "{} of the session {} set",
                counted(fields, "field"),
                updated.session
            ),
            (tasks, _) => format!("{} stored", counted(tasks, "task")),
        };
        page.signed(Sign::Good, &text);
    } else {
        refusal(
            &mut page,
            updated.code.as_deref(),
            updated.message.as_deref(),
            updated.suggestion.as_deref(),
        );
    }
    for (name, value) in &updated.fields {
        if let Value::Array(all) = value {
            page.field(
                name,
                &counted(all.len(), "entry").replace("entrys", "entries"),
            );
        } else {
            page.field(name, &number(value));
        }
    }
    tables::tasks(&mut page, &updated.tasks);
    page.field("state", &updated.state);
    page.field("session", &updated.session);
    if updated.validated {
        match updated.remaining {
            Some(0) => {
                page.blank();
                page.raw("No task of the batch is left.");
                report(
                    &mut page,
                    skill,
                    updated.unit_id.as_deref(),
                    &updated.session,
                    named,
                );
            }
            Some(left) => {
                page.blank();
                page.raw(&format!("{} of the batch left.", counted(left, "task")));
            }
            None => {}
        }
    }
    page.finish()
}

/// What became of a task graph.
pub fn synced(synced: &SyncAnswer, named: Option<&str>, look: &Look) -> String {
    let mut page = Page::new(look);
    let of = match &synced.item {
        Some(item) => format!(" of item {}", number(item)),
        None => String::new(),
    };
    if synced.validated {
        page.signed(
            Sign::Good,
            &format!(
                "the task graph{of} is taken in: {}",
                counted(synced.tasks, "task")
            ),
        );
    } else {
        refusal(
            &mut page,
            synced.code.as_deref(),
            synced.message.as_deref(),
            synced.suggestion.as_deref(),
        );
    }
    problems(&mut page, &synced.problems);
    notes(&mut page, &synced.notes);
    tables::batches(&mut page, &synced.batches, None);
    page.field("session", &synced.session);
    if synced.validated {
        page.blank();
        page.command(&format!("tm collab state{}", option(named)));
    }
    page.finish()
}

/// A problem of a document in a line, for those who are told it beside an answer.
pub fn problem_line(problem: &DocumentProblem) -> String {
    format!("{} {}", place(problem), problem.message)
}

/// The skill that is due, before everything else.
fn headline(page: &mut Page<'_>, label: &str, skill: Option<&str>) {
    let Some(skill) = skill else {
        return;
    };
    let look = page.look();
    page.raw(&format!(
        "{} {}",
        look.paint(STRONG, label),
        look.paint(NOTE.bold(), &one_line(skill))
    ));
}

fn refusal(page: &mut Page<'_>, code: Option<&str>, message: Option<&str>, help: Option<&str>) {
    super::refusal(page, code, message.unwrap_or_default());
    if let Some(help) = help.filter(|help| !help.is_empty()) {
        page.wrapped(&page.look().paint(NOTE, "help:"), help);
    }
}

fn paused(page: &mut Page<'_>, why: &str) {
    let lead = page.look().paint(STRONG, "paused:");
    page.wrapped(&lead, why);
}

/// The command that lets a paused session go on. That is a person's decision.
fn resume(page: &mut Page<'_>, run: Option<&str>) {
    if let Some(run) = run {
        page.blank();
        page.raw("It goes on with:");
        page.command(&format!("tm run resume --run-id {}", typed(run)));
    }
}

/// Document and line, as editors and terminals know to follow them.
fn place(problem: &DocumentProblem) -> String {
    match problem.line {
        0 => format!("{}:", one_line(&problem.document)),
        line => format!("{}:{line}:", one_line(&problem.document)),
    }
}

fn problems(page: &mut Page<'_>, problems: &[DocumentProblem]) {
    let look = page.look();
    for problem in problems {
        page.wrapped(&look.paint(STRONG, &place(problem)), &problem.message);
        if !problem.suggestion.is_empty() {
            page.block_wrapped(&problem.suggestion);
        }
    }
}

/// Names by commas, none of them cut at its hyphens.
fn listed(page: &mut Page<'_>, names: &[String]) {
    let width = page.look().width;
    let mut line = String::new();
    for (at, name) in names.iter().enumerate() {
        let comma = if at + 1 < names.len() { "," } else { "" };
        let word = format!("{}{comma}", one_line(name));
        if !line.is_empty() && visible_len(&line) + visible_len(&word) + 3 > width {
            page.raw(&format!("  {line}"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    page.raw(&format!("  {line}"));
}

fn notes(page: &mut Page<'_>, notes: &[String]) {
    for note in notes {
        page.signed(Sign::Warn, note);
    }
}

fn instructions(page: &mut Page<'_>, text: Option<&str>) {
    if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
        page.blank();
        page.body(text.trim_end());
    }
}

/// The command that says that the skill is finished.
fn report(
    page: &mut Page<'_>,
    skill: Option<&str>,
    unit: Option<&str>,
    session: &str,
    named: Option<&str>,
) {
    let Some(skill) = skill else {
        return;
    };
    page.blank();
    page.raw("When it is finished:");
    page.command(&format!(
        "tm collab complete-skill {}{}{}",
        typed(skill),
        unit.map_or_else(String::new, |unit| format!(" --unit-id {}", typed(unit))),
        option(named.map(|_| session))
    ));
}

fn item(page: &mut Page<'_>, item: Option<&ItemBrief>) {
    if let Some(item) = item {
        let text = format!("{} {} ({})", number(&item.number), item.title, item.kind);
        page.field("item", &text);
    }
}

fn batch(page: &mut Page<'_>, batch: Option<&BatchBrief>) {
    let Some(batch) = batch else {
        return;
    };
    page.field(
        "batch",
        &format!("{} of {}", batch.index.saturating_add(1), batch.of),
    );
    let shown = batch.tasks.len().min(NAMED);
    let all = batch.tasks_total.unwrap_or(batch.tasks.len() as u64);
    let mut tasks: Vec<String> = batch.tasks[..shown].iter().map(in_a_word).collect();
    let more = all.saturating_sub(shown as u64);
    if more > 0 {
        tasks.push(format!("and {more} more"));
    }
    page.field("tasks", &tasks.join(", "));
}

/// A task that is to be done still is its id; any other says what it came to.
fn in_a_word(task: &TaskBrief) -> String {
    match standing(task) {
        "pending" => task.id.clone(),
        other => format!("{} ({other})", task.id),
    }
}

/// What a task came to, in the words of people.
fn standing(task: &TaskBrief) -> &str {
    match (task.status.as_str(), task.outcome.as_deref()) {
        _ if task.not_run => "not run",
        ("failed", Some(_)) => "skipped",
        ("in_progress", _) => "in progress",
        (status, _) => status,
    }
}

fn state_words(display_name: &str, state: &str) -> String {
    if display_name.is_empty() {
        state.to_owned()
    } else {
        format!("{display_name} ({state})")
    }
}

/// A number of an item, which may be a text, or any value of a field.
fn number(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The style of a task, an item or a batch by its status.
fn style(status: &str) -> anstyle::Style {
    match status {
        "completed" | "complete" | "documented" => GOOD,
        "in_progress" | "in progress" => NOTE,
        "failed" | "skipped" => BAD,
        _ => super::FAINT,
    }
}

#[cfg(test)]
mod tests;
