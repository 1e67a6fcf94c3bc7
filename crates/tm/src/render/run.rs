//! The answers of the generic verbs.

use std::fmt::Write as _;

use engine::{OpenUnit, RunAction, RunRestored, RunStarted, RunStatusAnswer, RunVerdict, Verb};
use serde_json::Value;
use text::plain::one_line;

use super::session::{put_back, signing};
use super::{Look, NOTE, Page, STRONG, Sign, status_style};
use crate::steps::typed;
use text::counted;

/// A run has begun. Warnings are told beside the answer.
pub fn started(started: &RunStarted, look: &Look) -> String {
    let mut page = Page::new(look);
    page.signed(Sign::Good, &format!("run {} has begun", started.run_id));
    page.field("workflow", &started.workflow);
    page.field("branch", started.branch.as_deref().unwrap_or_default());
    what_next(&mut page, &started.next_action);
    page.finish()
}

/// What to do now, with the whole prompt of every open work unit.
pub fn next(next: &RunAction, look: &Look) -> String {
    let mut page = Page::new(look);
    if next.action != "work" {
        page.title(&next.action.to_uppercase());
        page.field("run", &next.run_id);
        page.field("status", next.status.as_deref().unwrap_or_default());
        page.field("gate", next.gate.as_deref().unwrap_or_default());
        for path in &next.look_at {
            page.field("look at", &path.display().to_string());
        }
        page.field("why", next.paused_reason.as_deref().unwrap_or_default());
        page.field("said", next.paused_message.as_deref().unwrap_or_default());
        page.blank();
        command(&mut page, next, None);
        return page.finish();
    }
    let several: Vec<&OpenUnit> = if next.units.is_empty() {
        next.unit.iter().collect()
    } else {
        next.units.iter().collect()
    };
    if several.len() > 1 {
        page.raw(&format!(
            "{} are open.",
            counted(several.len(), "work unit")
        ));
        page.blank();
    }
    for (at, unit) in several.into_iter().enumerate() {
        if at > 0 {
            page.blank();
        }
        one_unit(&mut page, next, unit);
    }
    page.finish()
}

fn one_unit(page: &mut Page<'_>, next: &RunAction, unit: &OpenUnit) {
    page.title(&headline(unit));
    page.field("run", &next.run_id);
    page.field("workflow", &next.workflow);
    page.field("unit", &unit.unit_id);
    if unit.by == "person" {
        page.field("by", "a person");
    }
    page.field("outcomes", &unit.outcomes.join(", "));
    page.field("asked in", unit.prompt.as_deref().unwrap_or_default());
    page.field("waits for", unit.response.as_deref().unwrap_or_default());
    if let Some(instructions) = &unit.instructions {
        page.blank();
        page.body(instructions);
    }
    page.blank();
    command(page, next, Some(unit));
}

/// What a unit is called: its label, or its state, and its item.
fn headline(unit: &OpenUnit) -> String {
    let label = unit.label.as_deref().unwrap_or(&unit.state);
    let attempt = match unit.max_attempts {
        Some(most) if unit.attempt > 1 => format!(" (attempt {} of {most})", unit.attempt),
        _ => String::new(),
    };
    match key(unit) {
        Some(key) => format!("{label}: {key}{attempt}"),
        None => format!("{label}{attempt}"),
    }
}

/// The key of a unit's item, and its title where it has one.
fn key(unit: &OpenUnit) -> Option<String> {
    let fields = unit.item.as_ref()?;
    let key = fields.values().next()?.as_str()?;
    let title = fields
        .get("title")
        .and_then(Value::as_str)
        .filter(|title| !title.is_empty() && *title != key);
    Some(match title {
        Some(title) => format!("{key} {title}"),
        None => key.to_owned(),
    })
}

/// Files were put back.
pub fn restored(restored: &RunRestored, look: &Look) -> String {
    let mut page = Page::new(look);
    put_back(&mut page, &restored.restored, &restored.aside);
    page.command(&Verb::Next.step().of(&restored.run_id).to_string());
    page.finish()
}

/// The verdict on a report.
pub fn verdict(verdict: &RunVerdict, look: &Look) -> String {
    let mut page = Page::new(look);
    if verdict.validated {
        page.signed(Sign::Good, &verdict.message);
    } else {
        super::refusal(&mut page, verdict.code.as_deref(), &verdict.message);
    }
    for (name, value) in &verdict.result {
        match value {
            Value::String(text) => page.field(name, text.lines().next().unwrap_or_default()),
            Value::Array(all) => page.list(all.iter().filter_map(Value::as_str)),
            other => page.field(name, &other.to_string()),
        }
    }
    super::details(&mut page, &verdict.details);
    if let Some(Value::Array(problems)) = verdict.details.get("problems") {
        page.list(
            problems
                .iter()
                .map(problem)
                .collect::<Vec<_>>()
                .iter()
                .map(String::as_str),
        );
    }
    if let Some(warning) = &verdict.warning {
        page.signed(Sign::Warn, warning);
    }
    if let Some(suggestion) = &verdict.suggestion {
        page.wrapped(&look.paint(NOTE, "help:"), suggestion);
    }
    what_next(&mut page, &verdict.next_action);
    if let Some(report) = &verdict.report {
        page.blank();
        page.body(report);
    }
    page.finish()
}

/// What is wrong with a document: where, and what.
fn problem(told: &Value) -> String {
    let text = |name: &str| told.get(name).and_then(Value::as_str).unwrap_or_default();
    let line = told.get("line").and_then(Value::as_u64).unwrap_or(0);
    match line {
        0 => format!("{}: {}", text("document"), text("message")),
        line => format!("{}:{line}: {}", text("document"), text("message")),
    }
}

/// Where a run is.
pub fn status(status: &RunStatusAnswer, look: &Look) -> String {
    let mut page = Page::new(look);
    let style = status_style(&status.status);
    let id = look.paint(STRONG, &one_line(&status.run_id));
    let word = look.paint(style, &one_line(&status.status));
    page.raw(&format!("{id}  {word}"));
    page.field(
        "workflow",
        &format!("{}: {}", status.workflow, status.title),
    );
    for at in &status.states {
        let label = at.label.as_deref().unwrap_or(&at.state);
        let of = at
            .item
            .as_ref()
            .map_or_else(String::new, |item| format!(" of {item}"));
        page.field("at", &format!("{label}{of}"));
    }
    for (name, far) in &status.items {
        let number = |part: &str| far.get(part).and_then(Value::as_u64).unwrap_or(0);
        let mut text = format!("{} of {} done", number("done"), number("total"));
        for (part, said) in [
            ("active", "in hand"),
            ("failed", "skipped"),
            ("blocked", "blocked"),
        ] {
            if number(part) > 0 {
                let _ = write!(text, ", {} {said}", number(part));
            }
        }
        page.field(name, &text);
    }
    for (title, values) in [("inputs", &status.inputs), ("values", &status.vars)] {
        let told: Vec<String> = values
            .iter()
            .map(|(name, value)| match value {
                Value::String(text) => format!("{name}={text}"),
                other => format!("{name}={other}"),
            })
            .collect();
        page.field(title, &told.join(", "));
    }
    page.field(
        "begun",
        &format!("{} ({})", status.start_time, status.duration),
    );
    page.field("last moved", &status.last_updated);
    page.field(
        "paused",
        status.paused_reason.as_deref().unwrap_or_default(),
    );
    page.field("ended", status.end_reason.as_deref().unwrap_or_default());
    what_next(&mut page, &status.next_action);
    page.finish()
}

/// One line on what comes next, and the command for it.
pub(super) fn what_next(page: &mut Page<'_>, next: &RunAction) {
    let look = page.look();
    let text = match (next.action.as_str(), &next.unit) {
        ("work", Some(unit)) => match next.units_total {
            Some(several) if several > 1 => {
                format!("{}, and {} more.", headline(unit), several - 1)
            }
            _ => format!("{}.", headline(unit)),
        },
        ("work", None) => "The run goes on by itself.".to_owned(),
        ("step", _) => "A step can be taken.".to_owned(),
        ("restore", _) => {
            "What was recorded was changed by hand, and is put back first.".to_owned()
        }
        ("decide", _) => match &next.gate {
            Some(gate) => format!("The gate {gate} waits for a person's decision."),
            None => "A person has to decide.".to_owned(),
        },
        ("paused", _) => match &next.paused_reason {
            Some(reason) if next.needs_person => {
                format!("The run is paused ({reason}), and a person has it go on.")
            }
            Some(reason) => format!("The run is paused: {reason}."),
            None => "The run is paused.".to_owned(),
        },
        _ => match &next.status {
            Some(status) => format!("The run is over: {status}."),
            None => "The run is over.".to_owned(),
        },
    };
    page.wrapped(&look.paint(STRONG, "next:"), &text);
    if next.action == "work" {
        page.command(&format!("tm run next --run-id {}", next.run_id));
    } else {
        command(page, next, None);
    }
}

/// The command that answers.
fn command(page: &mut Page<'_>, next: &RunAction, unit: Option<&OpenUnit>) {
    let run = &next.run_id;
    match (next.action.as_str(), unit) {
        ("step", _) => page.command(&format!("tm run step --run-id {run}")),
        ("restore", _) => page.command(&format!("tm run restore --run-id {run}")),
        ("decide", _) => {
            let sign = signing(next.strength);
            page.command(&format!("tm run approve --run-id {run}{sign}"));
            if next.can_reject {
                page.command(&format!(
                    "tm run reject --feedback TEXT --run-id {run}{sign}"
                ));
            }
        }
        // It is not reported, but written where the run looks for it.
        (
            "work",
            Some(OpenUnit {
                response: Some(_), ..
            }),
        ) => {
            page.command(&format!("tm run step --run-id {run}"));
        }
        ("work", Some(unit)) => {
            let brings = match unit.expects.as_deref() {
                Some("outcome") => match unit.outcomes.first() {
                    Some(outcome) => format!(" --outcome {}", typed(outcome)),
                    None => " --outcome WORD".to_owned(),
                },
                Some("tests") => " --results passed:N,failed:N".to_owned(),
                _ => String::new(),
            };
            let id = typed(&unit.unit_id);
            page.command(&format!("tm run report --run-id {run} --unit {id}{brings}"));
        }
        ("work", None) => page.command(&format!("tm run next --run-id {run}")),
        ("paused", _) => page.command(&format!("tm run resume --run-id {run}")),
        _ => page.command(&format!("tm runs report {run}")),
    }
}
