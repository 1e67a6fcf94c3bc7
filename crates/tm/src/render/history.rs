//! Runs and journals.

use conductor::{LogRepaired, LogVerified, RunSummary};
use journal::Record;
use project::convention::plain::one_line;
use serde_json::Value;

use super::{BAD, FAINT, GOOD, Look, NOTE, Page, STRONG, Sign, WARN, journal::event};

fn status_word(status: &str, look: &Look) -> String {
    let style = match status {
        "running" => NOTE,
        "completed" => GOOD,
        "paused" => WARN,
        _ => BAD,
    };
    look.paint(style, &format!("{:<9}", one_line(status)))
}

fn summary_line(run: &RunSummary, look: &Look) -> String {
    format!(
        "{}  {}  {}",
        status_word(&run.status, look),
        look.paint(STRONG, &one_line(&run.run_id)),
        look.paint(
            FAINT,
            &format!(
                "{}/{} subtasks, {} commits",
                run.completed, run.total, run.commits
            )
        ),
    )
}

/// A list of runs.
pub fn runs(runs: &[RunSummary], look: &Look) -> String {
    let mut page = Page::new(look);
    if runs.is_empty() {
        page.raw("There are no runs here.");
    }
    let mut project = None;
    let several = runs
        .iter()
        .any(|run| run.project_root != runs[0].project_root);
    for run in runs {
        if several && project != Some(&run.project_root) {
            page.title(&run.project_root);
            project = Some(&run.project_root);
        }
        page.raw(&summary_line(run, look));
        if let Some(problem) = &run.problem {
            let sign = format!("  {}", look.sign(Sign::Bad));
            page.wrapped(&sign, problem);
        }
    }
    page.finish()
}

/// Runs to choose from, each with a number from 1.
pub fn chosen(runs: &[RunSummary], look: &Look) -> String {
    let mut page = Page::new(look);
    for (number, run) in (1..).zip(runs) {
        page.raw(&format!("{number:>3}  {}", summary_line(run, look)));
    }
    page.finish()
}

/// One run in a few lines.
pub fn run(run: &RunSummary, look: &Look) -> String {
    let mut page = Page::new(look);
    page.raw(&summary_line(run, look));
    page.field("project", &run.project_root);
    page.field("workflow", &run.workflow);
    page.field("task", &format!("{} (tag {})", run.task_id, run.tag));
    page.field("branch", &run.branch);
    page.field("begun", &run.start_time);
    page.field("ended", run.end_time.as_deref().unwrap_or_default());
    if let Some(problem) = &run.problem {
        page.signed(Sign::Bad, problem);
    }
    page.finish()
}

/// A whole journal, a line an event.
pub fn log(records: &[Record], look: &Look) -> String {
    records.iter().map(|record| event(record, look)).collect()
}

/// What was found in a journal.
pub fn log_verified(verified: &LogVerified, look: &Look) -> String {
    let mut page = Page::new(look);
    if verified.whole {
        page.signed(
            Sign::Good,
            &format!(
                "{}: {} events, the chain is whole",
                verified.run_id, verified.events
            ),
        );
    } else {
        let line = verified
            .line
            .map_or_else(String::new, |line| format!(", line {line}"));
        let damage = verified
            .damage
            .as_deref()
            .unwrap_or("the journal is damaged");
        page.signed(Sign::Bad, &format!("{}{line}: {damage}", verified.run_id));
        page.field("whole", &format!("{} events before it", verified.events));
        page.command(&format!("tm log repair {}", verified.run_id));
    }
    if verified.torn_bytes > 0 {
        page.signed(
            Sign::Warn,
            &format!(
                "the last {} bytes are what a crash left of an unfinished append; the next command cuts them off",
                verified.torn_bytes
            ),
        );
    }
    page.field("head", &verified.head);
    page.finish()
}

/// What was done about a damaged journal.
pub fn log_repaired(repaired: &LogRepaired, look: &Look) -> String {
    let mut page = Page::new(look);
    if repaired.repaired {
        page.signed(
            Sign::Good,
            &format!(
                "{}: {} events kept, {} events ({} bytes) lost",
                repaired.run_id, repaired.kept_events, repaired.lost_events, repaired.lost_bytes
            ),
        );
        page.field("old file", repaired.old_file.as_deref().unwrap_or_default());
    } else {
        page.signed(
            Sign::Good,
            &format!(
                "{}: nothing to mend in {} events",
                repaired.run_id, repaired.kept_events
            ),
        );
    }
    page.finish()
}

/// A run as it was after some event.
pub fn replay(state: &Value, look: &Look) -> String {
    let mut page = Page::new(look);
    // A JSON value with text keys: writing it as text cannot fail.
    page.body(&serde_json::to_string_pretty(state).unwrap_or_default());
    page.finish()
}
