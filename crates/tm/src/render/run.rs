//! A run: how it begins, what comes next in it, the verdicts on its reports, its turns, and where it is.

use engine::capability::messages;
use engine::clock::{Clock as _, SystemClock};
use engine::report::Meaning;
use engine::turn::answer::TurnAnswer;
use engine::view::GENERIC;
use engine::view::autopilot::StartPlan;
use engine::{Action, ActionKind, OpenUnit, Started, Status, TaskStatus, Verb, Verdict};
use serde_json::{Value, json};

use super::{Look, page, page_with};

/// What a start would do.
pub fn plan(plan: &StartPlan, look: &Look) -> String {
    page("start_plan", plan, look)
}

/// A run has begun. Its warnings are printed beside the answer.
pub fn started(started: &Started, look: &Look) -> String {
    let beside = json!({ "next": told(&started.next_action) });
    page_with("started", started, &beside, look)
}

/// What to do now, with the whole prompt of every open work unit.
pub fn next(next: &Action, look: &Look) -> String {
    let mut told = told(next);
    told["steps"] = json!(steps(next));
    page("next", &json!({ "next": told }), look)
}

/// A turn was taken.
pub fn turned(turned: &TurnAnswer, look: &Look) -> String {
    let beside = json!({ "next": turned.next_action.as_ref().map(told) });
    page_with("turned", turned, &beside, look)
}

/// The verdict on a report, with what it brought about.
pub fn verdict(verdict: &Verdict, look: &Look) -> String {
    // What was refused is not the command to end with.
    let suggestion = verdict.suggestion.as_deref().unwrap_or_default();
    let advised = engine::next_step::steps(if verdict.validated { "" } else { suggestion });
    let advised: Vec<String> = advised.iter().map(ToString::to_string).collect();
    let beside = json!({ "next": told(&verdict.next_action), "advised": advised });
    let verdict = Verdict {
        next_action: generic(&verdict.next_action),
        ..verdict.clone()
    };
    page_with("verdict", &verdict, &beside, look)
}

/// Where a run is.
pub fn status(status: &Status, look: &Look) -> String {
    let suite = status.suite.as_ref();
    let reason = status.paused_reason.as_deref().unwrap_or_default();
    let beside = json!({
        "tests": suite.map(|suite| suite.told(SystemClock.millis())),
        "pause": pause(reason, status.task.as_ref()),
        "next": told(&status.next_action),
    });
    page_with("status", &of_any_view(status), &beside, look)
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
    page_with("paused", &of_any_view(status), &beside, look)
}

/// What comes next as templates see it: all of its fields under their own names, whatever its view, and what they mean in words.
fn told(next: &Action) -> Value {
    let mut told = json!(generic(next));
    let units = match (next.units.as_slice(), &next.unit) {
        _ if next.action != ActionKind::Work => &[],
        ([], unit) => unit.as_slice(),
        (units, _) => units,
    };
    let of_unit = |unit: &OpenUnit| {
        let mut all = json!(unit);
        all["place"] = place(next, unit).into();
        all["headline"] = headline(next, unit).into();
        all["report"] = unit.report.as_str().into();
        all
    };
    let reason = next.paused_reason.as_deref().unwrap_or_default();
    for (name, value) in [
        ("phase", json!(next.phase)),
        ("unit", json!(next.unit.as_ref().map(of_unit))),
        ("units", units.iter().map(of_unit).collect()),
        ("pause", pause(reason, None).into()),
        ("is_suite", (next.report == Some(Meaning::Suite)).into()),
        ("steps", json!(leads_on(next))),
    ] {
        told[name] = value;
    }
    told
}

/// The commands that lead on, where all that is to be done does not stand here: work is asked for first, but for what is made at
/// once.
fn leads_on(next: &Action) -> Vec<String> {
    let is_made_at_once = matches!(next.report, Some(Meaning::Commit | Meaning::Suite));
    match (next.action, &next.phase, &next.unit) {
        (ActionKind::Work, Some(_), Some(_)) if !is_made_at_once => vec![Verb::Next.to_string()],
        (ActionKind::Work, None, _) if !is_made_at_once => {
            vec![Verb::Next.step().of(&next.run_id).to_string()]
        }
        _ => steps(next).to_vec(),
    }
}

/// The steps that lead on, as they are told: the best one, and at a gate both.
fn steps(next: &Action) -> &[String] {
    let most = match next.action {
        ActionKind::Decide => 2,
        _ => 1,
    };
    &next.next_steps[..next.next_steps.len().min(most)]
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
