//! A run: what comes next in it, the verdicts on its reports, and where it is.

use std::fmt::Write as _;

use engine::capability::messages;
use engine::clock::{Clock as _, SystemClock};
use engine::{
    Action, ActionKind, AwaitedReport, OpenUnit, Progress, Status, TaskStatus, Verb, Verdict,
};
use journal::layout::short_name;
use serde_json::{Map, Value};
use text::counted;
use text::plain::one_line;

use super::start::preconditions;
use super::{BAD, FAINT, GOOD, Look, NOTE, Page, STRONG, Sign, WARN, status_style};

/// What to do now, with the whole prompt of every open work unit.
pub fn next(next: &Action, look: &Look) -> String {
    let mut page = Page::new(look);
    let units = match (next.units.as_slice(), &next.unit) {
        ([], unit) => unit.as_slice(),
        (units, _) => units,
    };
    if next.action == ActionKind::Work && !units.is_empty() {
        if units.len() > 1 {
            page.raw(&format!("{} are open.", counted(units.len(), "work unit")));
            page.blank();
        }
        for (at, unit) in units.iter().enumerate() {
            if at > 0 {
                page.blank();
            }
            one_unit(&mut page, next, unit);
        }
        return page.finish();
    }
    page.title(&next.name().to_uppercase());
    page.run(&next.run_id);
    page.field("status", next.status.as_deref().unwrap_or_default());
    let gate = next.gate.as_ref();
    page.field("gate", gate.map_or("", |gate| gate.gate.as_str()));
    let look_at = gate.map_or(&[][..], |gate| gate.look_at.as_slice());
    for path in look_at.iter().chain(&next.changed) {
        page.field("look at", &path.display().to_string());
    }
    page.field("why", next.paused_reason.as_deref().unwrap_or_default());
    page.field("said", next.paused_message.as_deref().unwrap_or_default());
    page.blank();
    commands(&mut page, next);
    page.finish()
}

fn one_unit(page: &mut Page<'_>, next: &Action, unit: &OpenUnit) {
    page.title(&headline(next, unit));
    page.run(&next.run_id);
    if next.phase.is_none() {
        page.field("workflow", &next.workflow);
    }
    page.field("unit", &unit.unit_id);
    if unit.by == "person" {
        page.field("by", "a person");
    }
    page.field("outcomes", &unit.outcomes.join(", "));
    page.field("asked in", unit.prompt.as_deref().unwrap_or_default());
    page.field("waits for", unit.response.as_deref().unwrap_or_default());
    preconditions(page, "Preconditions", &next.preconditions);
    if let Some(instructions) = &unit.instructions {
        page.blank();
        page.body(instructions);
    }
    page.blank();
    page.command(&unit.report);
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
    let mut page = Page::new(look);
    let task = status.task.as_ref();
    let subtask = task.and_then(in_progress).unwrap_or_default();
    page.title(format!("PAUSED {subtask}").trim_end());
    page.run(&status.run_id);
    let next = &status.next_action;
    let reason = next.paused_reason.as_deref();
    let reason = reason.or(status.paused_reason.as_deref()).unwrap_or("");
    page.wrapped(
        &format!("  {}", look.paint(FAINT, "why       ")),
        &pause(reason, task),
    );
    page.field("said", next.paused_message.as_deref().unwrap_or_default());
    if let Some(task) = task {
        page.raw(&format!("  {}", progress_bar(&task.progress, look)));
    }
    page.blank();
    page.title(if next.needs_person {
        "What to do: a person decides it, at a terminal or with --sign KEY"
    } else {
        "What to do"
    });
    let go_on = match reason {
        MAX_ATTEMPTS => {
            "see what keeps failing, then go on with a fresh set of attempts; or skip it after that"
        }
        INTERRUPTED => "go on: what was begun is finished first",
        _ => "go on",
    };
    let mut way_out = |what: &str, verb: Verb| {
        let bullet = format!("  {}", look.sign(Sign::Bullet));
        page.wrapped(&bullet, what);
        let step = verb.step().of(&status.run_id);
        let step = if verb == Verb::Reopen {
            step.and("reason")
        } else {
            step
        };
        page.command(&step.to_string());
    };
    way_out(go_on, Verb::Resume);
    let current = task.and_then(|task| task.current_subtask.as_deref());
    if next.needs_person && current.is_some_and(|subtask| !is_repair(subtask)) {
        way_out(
            "a test is wrong: go back to RED, which resumes the run too",
            Verb::Reopen,
        );
    }
    way_out("end the run; its commits stay", Verb::Abort);
    page.finish()
}

/// The subtask and the phase in progress.
fn in_progress(task: &TaskStatus) -> Option<String> {
    let subtask = task.current_subtask.as_deref()?;
    let phase = task.current_phase.as_deref().unwrap_or("").to_uppercase();
    Some(format!("{subtask} {phase}").trim_end().to_owned())
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
    match &verdict.result {
        _ if !verdict.validated => {
            super::refusal(&mut page, verdict.code.as_deref(), &verdict.message);
        }
        made if made.contains_key("files") => commit(&mut page, made),
        made => {
            page.signed(Sign::Good, &verdict.message);
            page.field("commit", text_of(made, "commitSha"));
        }
    }
    super::details(&mut page, &verdict.details);
    if let Some(Value::Array(problems)) = verdict.details.get("problems") {
        let problems: Vec<String> = problems.iter().map(problem).collect();
        page.list(problems.iter().map(String::as_str));
    }
    if let Some(warning) = &verdict.warning {
        page.signed(Sign::Warn, warning);
    }
    if let Some(suggestion) = &verdict.suggestion {
        page.wrapped(&look.paint(NOTE, "help:"), suggestion);
    }
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

fn text_of<'m>(fields: &'m Map<String, Value>, name: &str) -> &'m str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A commit was made, or handed in.
fn commit(page: &mut Page<'_>, made: &Map<String, Value>) {
    let look = page.look();
    let subject = text_of(made, "message").lines().next();
    let sha = one_line(text_of(made, "commitSha"));
    let short = look.paint(WARN, sha.get(..10).unwrap_or(&sha));
    let before = if made.contains_key("alreadyCommitted") {
        " already committed:"
    } else {
        ""
    };
    page.wrapped(
        &format!("{}{before} {short}", look.sign(Sign::Good)),
        subject.unwrap_or_default(),
    );
    let files = made.get("files").and_then(Value::as_array);
    page.list(files.into_iter().flatten().filter_map(Value::as_str));
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
pub fn status(status: &Status, look: &Look) -> String {
    let mut page = Page::new(look);
    let style = status_style(&status.status);
    let id = look.paint(STRONG, &short_name(&one_line(&status.run_id)));
    let word = look.paint(style, &one_line(&status.status));
    page.raw(&format!("{id}  {word}"));
    match &status.task {
        Some(task) => of_task(&mut page, task),
        None => of_definition(&mut page, status),
    }
    if let Some(suite) = &status.suite {
        page.field("tests", &suite.told(SystemClock.millis()));
    }
    page.field(
        "begun",
        &format!("{} ({})", status.start_time, status.duration),
    );
    page.field("last moved", &status.last_updated);
    if let Some(reason) = &status.paused_reason {
        page.field("paused", &pause(reason, status.task.as_ref()));
    }
    page.field("ended", status.end_reason.as_deref().unwrap_or_default());
    what_next(&mut page, &status.next_action);
    page.finish()
}

fn of_task(page: &mut Page<'_>, task: &TaskStatus) {
    let look = page.look();
    page.raw(&format!("  {}", progress_bar(&task.progress, look)));
    page.field("task", &format!("{} (tag {})", task.task_id, task.tag));
    page.field("branch", &task.branch);
    if let Some(place) = in_progress(task) {
        let attempt = task.attempt_number.filter(|&attempt| attempt > 1);
        let attempt = attempt.map_or_else(String::new, |attempt| {
            format!(", attempt {attempt} of {}", task.max_attempts)
        });
        page.field("now", &format!("{place}{attempt}"));
    } else if let Some(phase) = &task.current_phase {
        page.field("now", phase);
    }
    page.field("failed", &task.progress.failed.join(", "));
    page.field("to come", &task.progress.remaining.join(", "));
    page.field("commits", &task.commits.to_string());
}

fn of_definition(page: &mut Page<'_>, status: &Status) {
    let workflow = format!("{}: {}", status.workflow, status.title);
    page.field("workflow", &workflow);
    for at in &status.states {
        let label = at.label.as_deref().unwrap_or(&at.state);
        let item = at.item.as_ref();
        let of = item.map_or_else(String::new, |item| format!(" of {item}"));
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
        let pairs = values.iter().map(|(name, value)| match value {
            Value::String(text) => format!("{name}={text}"),
            other => format!("{name}={other}"),
        });
        page.field(title, &pairs.collect::<Vec<_>>().join(", "));
    }
}

/// One line that shows how far a run is.
fn progress_bar(progress: &Progress, look: &Look) -> String {
    const LONGEST: usize = 30;
    let cells = look.width.saturating_sub(30).clamp(5, LONGEST);
    let total = progress.total.max(1);
    let done = progress.completed.len().min(total) * cells / total;
    let failed = (progress.failed.len().min(total) * cells / total).min(cells - done);
    let (full, bad, empty) = if look.rich {
        ("█", "▒", "░")
    } else {
        ("#", "x", ".")
    };
    format!(
        "[{}{}{}] {}% ({} of {})",
        look.paint(GOOD, &full.repeat(done)),
        look.paint(BAD, &bad.repeat(failed)),
        look.paint(FAINT, &empty.repeat(cells - done - failed)),
        progress.percentage,
        progress.completed.len(),
        counted(progress.total, "subtask"),
    )
}

/// One line on what comes next, and the command for it.
pub fn what_next(page: &mut Page<'_>, next: &Action) {
    where_it_stands(page, next);
    match (next.action, next.report) {
        (_, Some(AwaitedReport::Commit | AwaitedReport::Suite)) => commands(page, next),
        (ActionKind::Work, _) if next.phase.is_some() && next.unit.is_some() => {
            page.command(&Verb::Next.to_string());
        }
        (ActionKind::Work, _) if next.phase.is_none() => {
            page.command(&Verb::Next.step().of(&next.run_id).to_string());
        }
        _ => commands(page, next),
    }
}

fn where_it_stands(page: &mut Page<'_>, next: &Action) {
    let text = match (next.action, &next.unit) {
        (ActionKind::Work, Some(unit)) => work(next, unit),
        (ActionKind::Work, None) => match &next.phase {
            Some(state) => state.clone(),
            None => "The run goes on by itself.".to_owned(),
        },
        (ActionKind::Step, _) => "A step can be taken.".to_owned(),
        (ActionKind::Restore, _) => {
            "What was recorded was changed by hand, and is put back first.".to_owned()
        }
        (ActionKind::Decide, _) => match &next.gate {
            Some(gate) => format!("The gate {} waits for a person's decision.", gate.gate),
            None => "A person has to decide.".to_owned(),
        },
        (ActionKind::Paused, _) => match &next.paused_reason {
            Some(reason) if next.needs_person => {
                let reason = pause(reason, None);
                format!("The run is paused ({reason}), and a person has it go on.")
            }
            Some(reason) => format!("The run is paused: {}.", pause(reason, None)),
            None => "The run is paused.".to_owned(),
        },
        (ActionKind::Complete, _) => match &next.status {
            Some(status) => format!("The run is over: {status}."),
            None => "The run is over.".to_owned(),
        },
    };
    let lead = page.look().paint(STRONG, "next:");
    page.wrapped(&lead, &text);
}

/// What is to be done of a unit, in a sentence or two.
fn work(next: &Action, unit: &OpenUnit) -> String {
    if next.phase.is_none() {
        return match next.units_total {
            Some(several) if several > 1 => {
                format!("{}, and {} more.", headline(next, unit), several - 1)
            }
            _ => format!("{}.", headline(next, unit)),
        };
    }
    let attempt = match unit.max_attempts {
        Some(most) if unit.attempt > 1 => format!(", attempt {} of {most}", unit.attempt),
        _ => String::new(),
    };
    let what = match next.phase.as_deref() {
        Some("red") => " Write tests that fail.",
        Some("green") => " Make them pass.",
        _ if next.report == Some(AwaitedReport::Suite) => " Run the whole suite.",
        _ => "",
    };
    format!("{}{attempt}.{what}", place(next, unit))
}

/// The command that leads on; at a gate both.
fn commands(page: &mut Page<'_>, next: &Action) {
    let most = match next.action {
        ActionKind::Decide => 2,
        _ => 1,
    };
    for step in next.next_steps.iter().take(most) {
        page.command(step);
    }
}
