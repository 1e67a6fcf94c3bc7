//! Commits that were earned or were not, and bundles.

use engine::proof::source::short;
use engine::proof::story::Purpose;
use engine::proof::{CommitStanding, Verdict, Verified, WrittenBundle};
use journal::layout::short_name;
use text::plain::{cut_at_word, one_line, visible_len};

use super::{FAINT, Look, Page, STRONG, Sign};
use text::counted;

/// What became of the commits of a range.
pub fn verified(verified: &Verified, look: &Look) -> String {
    let mut page = Page::new(look);
    for commit in &verified.commits {
        page.raw(&line(commit, look));
        if let Some(replay) = &commit.replay {
            page.wrapped(
                &format!("    {}", look.paint(FAINT, "run again")),
                &replay.spoken(),
            );
        }
        for problem in &commit.problems {
            page.wrapped(
                &format!("    {}", look.paint(super::BAD, problem.code)),
                &problem.message,
            );
        }
        for remark in &commit.remarks {
            page.wrapped(&format!("    {}", look.paint(super::WARN, "note")), remark);
        }
    }
    if !verified.commits.is_empty() {
        page.blank();
    }
    let sign = if verified.verified {
        Sign::Good
    } else {
        Sign::Bad
    };
    page.signed(sign, &verified.message);
    page.field("range", &verified.range);
    page.field(
        "asked for",
        &format!("{} or more (--require)", verified.require),
    );
    for source in &verified.sources {
        let at = match source.kind {
            "journal" => String::new(),
            _ => format!(", {}", source.at),
        };
        page.field(source.kind, &format!("{}{at}", source.run));
    }
    for damaged in &verified.damaged {
        page.field("damaged", &format!("{}: {}", damaged.run, damaged.damage));
    }
    for told in &verified.settings {
        page.wrapped(&look.paint(super::WARN, "settings"), told);
    }
    if let Some(suggestion) = &verified.suggestion {
        page.wrapped(&look.paint(super::NOTE, "help:"), suggestion);
    }
    page.finish()
}

fn line(commit: &Verdict, look: &Look) -> String {
    let (sign, word) = match commit.standing {
        CommitStanding::Earned => (Sign::Good, "earned"),
        CommitStanding::WithoutTests if commit.problems.is_empty() => (Sign::Good, "without tests"),
        CommitStanding::WithoutTests => (Sign::Bad, "without tests"),
        CommitStanding::Faulty => (Sign::Bad, "faulty"),
        CommitStanding::Unearned => (Sign::Bad, "unearned"),
        CommitStanding::NotProvable => (Sign::Bad, "not provable"),
        CommitStanding::Merge => (Sign::Bullet, "merge"),
    };
    let mut parts = Vec::new();
    if let Some(level) = commit.level {
        parts.push(format!("{level}{}", seen(commit)));
    }
    match (commit.purpose, &commit.subtask) {
        (Some(Purpose::Status), _) => parts.push("status of the task".to_owned()),
        (Some(Purpose::Repair), Some(subtask)) => {
            parts.push(format!("repair {}", one_line(subtask)));
        }
        (_, Some(subtask)) => parts.push(one_line(subtask)),
        _ => {}
    }
    if let Some(unit) = &commit.unit {
        parts.push(one_line(unit));
    }
    if let Some(tip) = &commit.part_of {
        parts.push(format!("with {}", short(tip)));
    }
    if let Some(source) = commit.source {
        parts.push(format!("by its {source}"));
    }
    let mut line = format!(
        "{} {}  {word:<8}  {}",
        look.sign(sign),
        look.paint(STRONG, &short(&commit.sha)),
        parts.join(", ")
    );
    let subject = one_line(&commit.subject);
    let room = look.line.saturating_sub(visible_len(&line) + 2).max(20);
    line.push_str("  ");
    line.push_str(&look.paint(FAINT, cut_at_word(&subject, room)));
    line
}

/// How its GREEN was seen, where that says more than its level.
fn seen(commit: &Verdict) -> String {
    let Some(green) = &commit.green else {
        return String::new();
    };
    let mut told = String::new();
    if let Some(adapter) = &green.adapter {
        told.push_str(" by ");
        told.push_str(&one_line(adapter));
    }
    if matches!(green.named.as_deref(), Some("none" | "some")) {
        told.push_str(" (not every test has a name)");
    }
    if !green.checked.is_empty() {
        let checked: Vec<String> = green.checked.iter().map(|name| one_line(name)).collect();
        told = format!("{told}, nothing new by {}", checked.join(" and "));
    }
    told
}

/// A bundle that was written.
pub fn exported(exported: &WrittenBundle, look: &Look) -> String {
    let mut page = Page::new(look);
    page.signed(
        Sign::Good,
        &format!(
            "{}: {}, {} of evidence",
            short_name(&exported.run_id),
            counted(exported.events, "event"),
            counted(exported.evidence, "piece")
        ),
    );
    if let Some(file) = &exported.file {
        page.field("file", &file.display().to_string());
    }
    page.field("size", &counted(exported.bytes, "byte"));
    page.field("head", &exported.head);
    page.finish()
}
