//! Runs and journals.

use engine::decisions::SignatureState;
use engine::trees::TreeDifference;
use engine::{LogRepaired, LogVerified, RunSummary};
use journal::Record;
use journal::layout::short_name;
use text::plain::{cut_at_word, many_lines, one_line, visible_len};

use super::{FAINT, Look, Page, STRONG, Sign, journal::event, status_style};
use text::counted;

fn status_word(status: &str, look: &Look) -> String {
    let word = format!("{:<9}", one_line(status));
    look.paint(status_style(status), &word)
}

/// A run in one line; its title comes last, cut to the line's length.
fn summary_line(run: &RunSummary, look: &Look) -> String {
    let id = short_name(&one_line(&run.run_id));
    let progress = match (run.task_id.is_empty(), run.total) {
        (true, 0) => one_line(&run.workflow),
        (true, total) => format!(
            "{}, {}/{}",
            one_line(&run.workflow),
            run.completed,
            counted(total, "item")
        ),
        (false, total) => format!(
            "{}/{}, {}",
            run.completed,
            counted(total, "subtask"),
            counted(run.commits, "commit")
        ),
    };
    let mut line = format!(
        "{}  {}  {}",
        status_word(&run.status, look),
        look.paint(STRONG, &id),
        look.paint(FAINT, &progress)
    );
    if let Some(date) = minute(&run.start_time) {
        line.push_str("  ");
        line.push_str(&look.paint(FAINT, &one_line(&date)));
    }
    let title = one_line(run.title());
    // Where the terminal is narrow, the title goes on in the next line rather than away.
    let room = look.line.saturating_sub(visible_len(&line) + 2).max(20);
    let title = cut_at_word(&title, room);
    if !title.is_empty() {
        line.push_str("  ");
        line.push_str(title);
    }
    line
}

/// A time in UTC without its seconds: `2025-10-07 14:33`.
fn minute(time: &str) -> Option<String> {
    let (day, clock) = time.split_once('T')?;
    Some(format!("{day} {}", clock.get(..5)?))
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
pub fn run_summary(run: &RunSummary, look: &Look) -> String {
    let mut page = Page::new(look);
    page.raw(&summary_line(run, look));
    page.field("project", &run.project_root);
    page.field("workflow", &run.workflow);
    let title = if run.task_title.is_empty() {
        String::new()
    } else {
        format!(": {}", run.task_title)
    };
    if !run.task_id.is_empty() {
        page.field("task", &format!("{}{title} (tag {})", run.task_id, run.tag));
    }
    page.field("branch", &run.branch);
    page.field("begun", &run.start_time);
    page.field("ended", run.end_time.as_deref().unwrap_or_default());
    if let Some(problem) = &run.problem {
        page.signed(Sign::Bad, problem);
    }
    page.finish()
}

/// What differs between two trees: which files, what each is to the tests, and the patch.
pub fn tree_difference(difference: &TreeDifference, look: &Look) -> String {
    let mut page = Page::new(look);
    let (from, to) = (&difference.from, &difference.to);
    page.raw(&format!(
        "{} {} .. {} {}, of {}",
        from.name,
        from.tree.short(),
        to.name,
        to.tree.short(),
        one_line(&difference.item)
    ));
    for file in &difference.files {
        let protected = match file.protected {
            Some(protected) if protected != file.change => format!(", its tests: {protected}"),
            _ => String::new(),
        };
        let kind = match &file.classes[..] {
            [] => String::new(),
            classes => format!(" ({})", classes.join(", ")),
        };
        let path = one_line(&file.path);
        page.raw(&format!("  {} {path}{kind}{protected}", file.change));
    }
    page.blank();
    page.raw(many_lines(&difference.patch).trim_end());
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
                "{}: {}, the chain is whole",
                short_name(&verified.run_id),
                counted(verified.events, "event")
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
        page.signed(
            Sign::Bad,
            &format!("{}{line}: {damage}", short_name(&verified.run_id)),
        );
        let before = counted(verified.events, "event");
        page.field("whole", &format!("{before} before it"));
        // Of nothing nothing can be kept.
        if verified.events > 0 {
            page.command(&format!("tm log repair {}", short_name(&verified.run_id)));
        } else {
            page.raw("  bring activity.jsonl back from a copy");
        }
    }
    for problem in &verified.evidence {
        page.signed(
            Sign::Bad,
            &format!(
                "the evidence {} that event {} names is {}: bring it back from a copy",
                problem.sha256, problem.event, problem.state
            ),
        );
    }
    for file in &verified.files {
        page.signed(
            Sign::Warn,
            &format!(
                "{} is {} since event {} recorded it",
                file.path,
                if file.state == "missing" {
                    "gone"
                } else {
                    "changed"
                },
                file.event
            ),
        );
    }
    if !verified.files.is_empty() {
        page.raw("  The run goes by what it keeps as evidence, and not by these.");
    }
    for decision in &verified.decisions {
        let (sign, worth) = match decision.signature {
            SignatureState::Good => (Sign::Good, "its signature is good".to_owned()),
            SignatureState::Unsigned => (Sign::Bullet, "unsigned".to_owned()),
            SignatureState::Unchecked => (
                Sign::Warn,
                format!(
                    "its signature could not be checked: {}",
                    decision.problem.as_deref().unwrap_or_default()
                ),
            ),
            SignatureState::Bad => (Sign::Bad, decision.problem.clone().unwrap_or_default()),
        };
        let key = decision.key.iter().map(|key| format!(", {key}"));
        page.signed(
            sign,
            &format!(
                "event {}: {} by {} ({}{}); {worth}",
                decision.seq,
                decision.what,
                decision.actor,
                decision.strength.name(),
                key.collect::<String>()
            ),
        );
    }
    for lacking in &verified.missing {
        page.signed(
            Sign::Bad,
            &format!("event {}: {}", lacking.seq, lacking.message),
        );
    }
    if verified.torn_bytes > 0 {
        let bytes = counted(verified.torn_bytes, "byte");
        page.signed(
            Sign::Warn,
            &if verified.torn_was_whole {
                format!(
                    "the end of the last entry is missing, of which {bytes} are left and which was complete once: a cut of the \
                     power took it, or somebody did; the next command cuts the rest off, and what it told of is asked for again"
                )
            } else {
                format!(
                    "at the end is what a crash left of an unfinished append ({bytes}); the next command cuts it off"
                )
            },
        );
    }
    page.field("head", &verified.head);
    page.finish()
}

/// What was done about a damaged journal.
pub fn log_repaired(repaired: &LogRepaired, look: &Look) -> String {
    let mut page = Page::new(look);
    if let Some(folder) = &repaired.given_up {
        let what = "given up: nothing of its journal could be kept";
        page.signed(
            Sign::Good,
            &format!("{}: {what}", short_name(&repaired.run_id)),
        );
        page.field("folder", folder);
    } else if repaired.repaired {
        page.signed(
            Sign::Good,
            &format!(
                "{}: {} kept, {} ({}) lost",
                short_name(&repaired.run_id),
                counted(repaired.kept_events, "event"),
                counted(repaired.lost_events, "event"),
                counted(repaired.lost_bytes, "byte")
            ),
        );
        page.field("old file", repaired.old_file.as_deref().unwrap_or_default());
    } else {
        page.signed(
            Sign::Good,
            &format!(
                "{}: nothing to mend in {}",
                short_name(&repaired.run_id),
                counted(repaired.kept_events, "event")
            ),
        );
    }
    page.finish()
}
