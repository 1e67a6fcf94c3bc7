//! A run: what comes next in it, the verdicts on its reports, and where it is.

use engine::capability::messages;
use engine::clock::{Clock as _, SystemClock};
use engine::view::GENERIC;
use engine::{Action, ActionKind, AwaitedReport, OpenUnit, Status, TaskStatus, Verb, Verdict};
use serde_json::{Value, json};
use text::counted;

use super::start::preconditions;
use super::{Look, Page};

/// What to do now, with the whole prompt of every open work unit.
pub fn next(next: &Action, look: &Look) -> String {
    let mut page = Page::new(look);
    let units = match (next.units.as_slice(), &next.unit) {
        ([], unit) => unit.as_slice(),
        (units, _) => units,
    };
    if next.action != ActionKind::Work || units.is_empty() {
        page.part_with(
            "next",
            &generic(next),
            &json!({ "phase": next.phase, "steps": steps(next) }),
        );
        return page.finish();
    }
    if units.len() > 1 {
        page.raw(&format!("{} are open.", counted(units.len(), "work unit")));
        page.blank();
    }
    for (at, unit) in units.iter().enumerate() {
        if at > 0 {
            page.blank();
        }
        let beside = json!({
            "headline": headline(next, unit),
            "run": next.run_id,
            "workflow": next.phase.is_none().then_some(&next.workflow),
            "report": unit.report,
        });
        page.part_with("unit", unit, &beside);
        preconditions(&mut page, "Preconditions", &next.preconditions);
        page.part_with("unit_work", unit, &beside);
    }
    page.finish()
}

/// It with all of its fields under their own names, whatever its view.
fn generic(next: &Action) -> Action {
    Action {
        view: &GENERIC,
        ..next.clone()
    }
}

/// A unit by its phase or its name, with its item and its attempt.
fn headline(next: &Action, unit: &OpenUnit) -> String {
    let attempt = match unit.max_attempts {
        Some(most) if unit.attempt > 1 => format!(" (attempt {} of {most})", unit.attempt),
        _ => String::new(),
    };
    format!("{}{attempt}", place(next, unit))
}

/// A unit by its phase or its name, with its item.
fn place(next: &Action, unit: &OpenUnit) -> String {
    let title = unit.title();
    match (&next.phase, unit.key()) {
        (Some(phase), Some(key)) => {
            let title = title.map_or_else(String::new, |title| format!(": {title}"));
            format!("{} {key}{title}", phase.to_uppercase())
        }
        (Some(phase), None) => phase.to_uppercase(),
        (None, Some(key)) => {
            let title = title.map_or_else(String::new, |title| format!(" {title}"));
            format!("{}: {key}{title}", unit.name())
        }
        (None, None) => unit.name().to_owned(),
    }
}

/// A run that is paused: why, where, and the ways out.
pub fn paused(status: &Status, look: &Look) -> String {
    let next = &status.next_action;
    let task = status.task.as_ref();
    let reason = next.paused_reason.as_deref();
    let reason = reason.or(status.paused_reason.as_deref()).unwrap_or("");
    let go_on = match reason {
        MAX_ATTEMPTS => {
            "see what keeps failing, then go on with a fresh set of attempts; or skip it after that"
        }
        INTERRUPTED => "go on: what was begun is finished first",
        _ => "go on",
    };
    let step = |verb: Verb| verb.step().of(&status.run_id);
    let mut ways = vec![(go_on, step(Verb::Resume).to_string())];
    let current = task.and_then(|task| task.current_subtask.as_deref());
    if next.needs_person && current.is_some_and(|subtask| !is_repair(subtask)) {
        ways.push((
            "a test is wrong: go back to RED, which resumes the run too",
            step(Verb::Reopen).and("reason").to_string(),
        ));
    }
    ways.push((
        "end the run; its commits stay",
        step(Verb::Abort).to_string(),
    ));
    let beside = json!({ "pause": pause(reason, task), "ways": ways });
    let mut page = Page::new(look);
    page.part_with("paused", &of_any_view(status), &beside);
    page.finish()
}

fn of_any_view(status: &Status) -> Status {
    Status {
        next_action: generic(&status.next_action),
        ..status.clone()
    }
}

/// Whether this is a subtask that the run opened itself, to mend the suite: it has no RED.
fn is_repair(subtask: &str) -> bool {
    subtask
        .rsplit('.')
        .next()
        .is_some_and(|last| last.starts_with("fix-"))
}

/// Reasons for a pause that the rails themselves give.
const MAX_ATTEMPTS: &str = "max_attempts_reached";
const INTERRUPTED: &str = "interrupted";

/// The reason for a pause in words.
fn pause(reason: &str, task: Option<&TaskStatus>) -> String {
    match reason {
        "" => "nobody said why".to_owned(),
        MAX_ATTEMPTS => match task {
            Some(task) if task.max_attempts > 0 => {
                let phase = task.current_phase.as_deref().unwrap_or("green");
                let attempts = match task.max_attempts {
                    1 => "the only attempt".to_owned(),
                    all => format!("all {all} attempts"),
                };
                format!("{attempts} at {} failed", phase.to_uppercase())
            }
            _ => "the attempts are used up".to_owned(),
        },
        INTERRUPTED => "a command was interrupted on its way to the next step".to_owned(),
        // A code of what failed, or what a person said.
        other => match messages::text(other) {
            Some(text) => format!("{} ({other})", text.message),
            None => other.to_owned(),
        },
    }
}

/// The verdict on a report, with what it brought about.
pub fn verdict(verdict: &Verdict, look: &Look) -> String {
    let mut page = Page::new(look);
    let generic = Verdict {
        next_action: generic(&verdict.next_action),
        ..verdict.clone()
    };
    page.part("verdict", &generic);
    super::details(&mut page, &verdict.details);
    page.part("verdict_reasons", &generic);
    let advised = verdict.suggestion.as_deref().map(engine::next_step::steps);
    match advised.as_deref() {
        // What was refused is not the command to end with.
        Some(advised @ [_, ..]) if !verdict.validated => {
            where_it_stands(&mut page, &verdict.next_action);
            for step in advised {
                page.command(&step.to_string());
            }
        }
        _ => what_next(&mut page, &verdict.next_action),
    }
    if let Some(report) = &verdict.report {
        page.blank();
        page.body(report);
    }
    page.finish()
}

/// Where a run is.
pub fn status(status: &Status, look: &Look) -> String {
    let mut page = Page::new(look);
    let suite = status.suite.as_ref();
    let reason = status.paused_reason.as_deref().unwrap_or_default();
    let beside = json!({
        "tests": suite.map(|suite| suite.told(SystemClock.millis())),
        "pause": pause(reason, status.task.as_ref()),
    });
    page.part_with("status", &of_any_view(status), &beside);
    what_next(&mut page, &status.next_action);
    page.finish()
}

/// One line on what comes next, and the command for it.
pub fn what_next(page: &mut Page<'_>, next: &Action) {
    where_it_stands(page, next);
    let is_made_at_once = matches!(
        next.report,
        Some(AwaitedReport::Commit | AwaitedReport::Suite)
    );
    match (next.action, &next.phase, &next.unit) {
        (ActionKind::Work, Some(_), Some(_)) if !is_made_at_once => {
            page.command(&Verb::Next.to_string());
        }
        (ActionKind::Work, None, _) if !is_made_at_once => {
            page.command(&Verb::Next.step().of(&next.run_id).to_string());
        }
        _ => steps(next).iter().for_each(|step| page.command(step)),
    }
}

fn where_it_stands(page: &mut Page<'_>, next: &Action) {
    let unit: Option<Value> = next.unit.as_ref().map(|unit| {
        json!({
            "place": place(next, unit),
            "headline": headline(next, unit),
            "attempt": unit.attempt,
            "maxAttempts": unit.max_attempts,
        })
    });
    let beside = json!({
        "phase": next.phase,
        "unit": unit,
        "is_suite": next.report == Some(AwaitedReport::Suite),
        "pause": pause(next.paused_reason.as_deref().unwrap_or_default(), None),
    });
    page.part_with("where_it_stands", &generic(next), &beside);
}

/// The steps that lead on, as they are told: the best one, and at a gate both.
fn steps(next: &Action) -> &[String] {
    let most = match next.action {
        ActionKind::Decide => 2,
        _ => 1,
    };
    &next.next_steps[..next.next_steps.len().min(most)]
}
