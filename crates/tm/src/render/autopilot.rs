//! The answers about a run.

use engine::capability::messages;
use engine::clock::{Clock as _, SystemClock};
use engine::view::autopilot::answer::{
    AwaitedReport, CommitAnswer, Committed, Finalized, NextAction, Precondition, Progress,
    StartPlan, Started, Status, Verdict,
};
use text::plain::one_line;

use super::{BAD, FAINT, GOOD, Look, NOTE, Page, STRONG, Sign, WARN, status_style};
use text::counted;

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
    named_list(&mut page, "Done already", &plan.skipped);
    named_list(&mut page, "Left out", &plan.left_out);
    for warning in &plan.warnings {
        page.signed(Sign::Warn, warning);
    }
    page.finish()
}

fn named_list(page: &mut Page<'_>, title: &str, entries: &[String]) {
    if !entries.is_empty() {
        page.title(title);
        page.list(entries.iter().map(String::as_str));
    }
}

fn preconditions(page: &mut Page<'_>, title: &str, conditions: &[Precondition]) {
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

/// A run has begun. Warnings are told beside the answer.
pub fn started(started: &Started, look: &Look) -> String {
    let mut page = Page::new(look);
    page.signed(Sign::Good, &format!("run {} has begun", started.run_id));
    page.field("branch", &started.branch);
    if let Some(before) = &started.baseline {
        page.field(
            "tests before",
            &format!("{} passing, {} failing", before.passed, before.failing()),
        );
    }
    what_next(&mut page, &started.next_action);
    page.finish()
}

/// What to do now, with the whole prompt.
pub fn next(next: &NextAction, look: &Look) -> String {
    let mut page = Page::new(look);
    headline(&mut page, next);
    page.field("run", &next.run_id);
    if let Some(unit) = &next.unit_id {
        page.field("unit", unit);
    }
    if let Some(status) = &next.status {
        page.field("status", status);
    }
    preconditions(&mut page, "Preconditions", &next.preconditions);
    if let Some(instructions) = &next.instructions {
        page.blank();
        page.body(instructions);
    }
    page.blank();
    report_command(&mut page, next);
    page.finish()
}

/// A run that is paused: why, where, and the ways out.
pub fn paused(status: &Status, look: &Look) -> String {
    let mut page = Page::new(look);
    let place = place(status).unwrap_or_default();
    page.title(format!("PAUSED {place}").trim_end());
    page.field("run", &status.run_id);
    let reason = status.next_action.paused_reason.as_deref();
    let reason = reason.or(status.paused_reason.as_deref()).unwrap_or("");
    page.wrapped(
        &format!("  {}", look.paint(FAINT, "why       ")),
        &pause(reason, Some(status)),
    );
    let said = status.next_action.paused_message.as_deref();
    page.field("said", said.unwrap_or_default());
    page.raw(&format!("  {}", progress_bar(&status.progress, look)));
    page.blank();
    page.title(if status.next_action.needs_person {
        "What to do: a person decides it, at a terminal or with --sign KEY"
    } else {
        "What to do"
    });
    let run = &status.run_id;
    let resume = format!("tm autopilot resume --run-id {run}");
    let subtask = status.current_subtask.as_deref().unwrap_or_default();
    let go_on = match reason {
        MAX_ATTEMPTS => {
            "see what keeps failing, then go on with a fresh set of attempts; or skip it after that"
        }
        INTERRUPTED => "go on: what was begun is finished first",
        _ => "go on",
    };
    way_out(&mut page, go_on, &resume);
    if status.next_action.needs_person && !is_repair(subtask) {
        way_out(
            &mut page,
            "a test is wrong: go back to RED, which resumes the run too",
            &format!("tm autopilot reopen --run-id {run} --reason TEXT"),
        );
    }
    way_out(
        &mut page,
        "end the run; its commits stay",
        &format!("tm autopilot abort --run-id {run}"),
    );
    page.finish()
}

fn way_out(page: &mut Page<'_>, what: &str, command: &str) {
    let bullet = format!("  {}", page.look().sign(Sign::Bullet));
    page.wrapped(&bullet, what);
    page.command(command);
}

/// The subtask and phase in hand.
fn place(status: &Status) -> Option<String> {
    let subtask = status.current_subtask.as_deref()?;
    let phase = status.current_phase.as_deref().unwrap_or("").to_uppercase();
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
fn pause(reason: &str, status: Option<&Status>) -> String {
    match reason {
        "" => "nobody said why".to_owned(),
        MAX_ATTEMPTS => match status {
            Some(status) if status.max_attempts > 0 => {
                let phase = status.current_phase.as_deref().unwrap_or("green");
                let attempts = match status.max_attempts {
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
            Some(text) => format!("{} ({other})", text.meaning),
            None => other.to_owned(),
        },
    }
}

/// The verdict on a report.
pub fn verdict(verdict: &Verdict, look: &Look) -> String {
    let mut page = Page::new(look);
    verdict_lines(&mut page, verdict);
    page.finish()
}

fn verdict_lines(page: &mut Page<'_>, verdict: &Verdict) {
    let look = page.look();
    if verdict.validated {
        page.signed(Sign::Good, &verdict.message);
    } else {
        super::refusal(page, verdict.code.as_deref(), &verdict.message);
    }
    super::details(page, &verdict.details);
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
            where_it_stands(page, &verdict.next_action);
            for step in advised {
                page.command(&step.to_string());
            }
        }
        _ => what_next(page, &verdict.next_action),
    }
}

/// What `commit` came to.
pub fn commit_answer(answer: &CommitAnswer, look: &Look) -> String {
    match answer {
        CommitAnswer::Committed(made) => committed(made, look),
        CommitAnswer::Refused(refused) => verdict(refused, look),
    }
}

/// A commit was made.
fn committed(committed: &Committed, look: &Look) -> String {
    let mut page = Page::new(look);
    let subject = committed.message.lines().next().unwrap_or_default();
    let sha = one_line(&committed.commit_sha);
    let short = look.paint(WARN, sha.get(..10).unwrap_or(&sha));
    let before = if committed.already_committed {
        " already committed:"
    } else {
        ""
    };
    page.wrapped(
        &format!("{}{before} {short}", look.sign(Sign::Good)),
        subject,
    );
    page.list(committed.files.iter().map(String::as_str));
    if let Some(warning) = &committed.warning {
        page.signed(Sign::Warn, warning);
    }
    what_next(&mut page, &committed.next_action);
    page.finish()
}

/// The verdict on the whole suite, and the report of the run once it is over.
pub fn finalized(finalized: &Finalized, look: &Look) -> String {
    let mut page = Page::new(look);
    verdict_lines(&mut page, &finalized.verdict);
    if let Some(report) = &finalized.report {
        page.blank();
        page.body(report);
    }
    page.finish()
}

/// Where a run is.
pub fn status(status: &Status, look: &Look) -> String {
    let mut page = Page::new(look);
    let style = status_style(&status.status);
    let word = look.paint(style, &one_line(&status.status));
    let id = look.paint(STRONG, &one_line(&status.run_id));
    page.raw(&format!("{id}  {word}"));
    page.raw(&format!("  {}", progress_bar(&status.progress, look)));
    page.field("task", &format!("{} (tag {})", status.task_id, status.tag));
    page.field("branch", &status.branch);
    if let Some(place) = place(status) {
        let attempt = status.attempt_number.filter(|&attempt| attempt > 1);
        let attempt = attempt.map_or_else(String::new, |attempt| {
            format!(", attempt {attempt} of {}", status.max_attempts)
        });
        page.field("now", &format!("{place}{attempt}"));
    } else if let Some(phase) = &status.current_phase {
        page.field("now", phase);
    }
    if let Some(suite) = &status.suite {
        page.field("tests", &suite.told(SystemClock.millis()));
    }
    page.field("failed", &status.progress.failed.join(", "));
    page.field("to come", &status.progress.remaining.join(", "));
    page.field("commits", &status.commits.to_string());
    page.field(
        "begun",
        &format!("{} ({})", status.start_time, status.duration),
    );
    page.field("last moved", &status.last_updated);
    if let Some(reason) = &status.paused_reason {
        page.field("paused", &pause(reason, Some(status)));
    }
    what_next(&mut page, &status.next_action);
    page.finish()
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

fn headline(page: &mut Page<'_>, next: &NextAction) {
    let attempt = match (next.attempt, next.max_attempts) {
        (Some(attempt), Some(most)) if attempt > 1 => format!(" (attempt {attempt} of {most})"),
        _ => String::new(),
    };
    let action = next.action.to_uppercase();
    let title = match &next.subtask {
        Some(subtask) => format!("{action} {}: {}{attempt}", subtask.id, subtask.title),
        None => format!("{action}{attempt}"),
    };
    page.title(&title);
}

/// One line on what comes next, and the command for it.
pub(super) fn what_next(page: &mut Page<'_>, next: &NextAction) {
    where_it_stands(page, next);
    match next.report {
        Some(AwaitedReport::Tests) => page.command("tm autopilot next"),
        _ => report_command(page, next),
    }
}

fn where_it_stands(page: &mut Page<'_>, next: &NextAction) {
    let look = page.look();
    let subtask = next.subtask.as_ref();
    let of = subtask.map_or_else(String::new, |subtask| {
        format!(" {}: {}", subtask.id, subtask.title)
    });
    let attempt = match (next.attempt, next.max_attempts) {
        (Some(attempt), Some(most)) if attempt > 1 => format!(", attempt {attempt} of {most}"),
        _ => String::new(),
    };
    let text = match next.action.as_str() {
        "red" => format!("RED{of}{attempt}. Write tests that fail."),
        "green" => format!("GREEN{of}{attempt}. Make them pass."),
        "commit" => format!("COMMIT{of}."),
        "finalize" => "FINALIZE. Run the whole suite.".to_owned(),
        "paused" => match &next.paused_reason {
            Some(reason) => format!("The run is paused: {}.", pause(reason, None)),
            None => "The run is paused.".to_owned(),
        },
        "complete" => match &next.status {
            Some(status) => format!("The run is over: {status}."),
            None => "The run is over.".to_owned(),
        },
        other if next.unit_id.is_some() => format!("{}{of}{attempt}.", other.to_uppercase()),
        other => other.to_owned(),
    };
    page.wrapped(&look.paint(STRONG, "next:"), &text);
}

/// The command that answers a work unit.
fn report_command(page: &mut Page<'_>, next: &NextAction) {
    for step in next.next_steps.iter().take(1) {
        page.command(step);
    }
}
