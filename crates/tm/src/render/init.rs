//! What `tm init` would write, and did.

use text::plain::{many_lines, one_line};

use super::{BAD, GOOD, Look, NOTE, Page, STRONG, Sign};
use crate::commands::init::Answer;
use crate::init::change::{Change, ChangeKind};
use text::counted;

/// The differences, as a terminal shows them.
pub fn changes(changes: &[Change], look: &Look) -> String {
    let mut page = Page::new(look);
    for change in changes {
        for line in change.diff.lines() {
            let line = many_lines(line);
            let line = match line.as_bytes().first() {
                _ if line.starts_with("--- ") || line.starts_with("+++ ") => {
                    look.paint(STRONG, &line)
                }
                Some(b'@') => look.paint(NOTE, &line),
                Some(b'+') => look.paint(GOOD, &line),
                Some(b'-') => look.paint(BAD, &line),
                _ => line,
            };
            page.raw(&line);
        }
        if change.diff.is_empty() {
            page.raw(&format!("{} (empty)", one_line(&change.file)));
        }
    }
    page.finish()
}

/// What came of it.
pub fn done(answer: &Answer, look: &Look) -> String {
    let mut page = Page::new(look);
    if answer.changes.is_empty() {
        page.signed(Sign::Good, "nothing to do: everything is as it should be");
    } else if answer.written {
        page.blank();
        for change in &answer.changes {
            let done = match change.kind {
                ChangeKind::Create => "made",
                ChangeKind::Change => "changed",
                ChangeKind::Remove => "removed",
            };
            page.signed(
                Sign::Good,
                &format!("{}{} {done}", one_line(&answer.below), change.file),
            );
        }
    } else {
        page.blank();
        page.signed(
            Sign::Bullet,
            &format!(
                "{} would be written; nothing was",
                counted(answer.changes.len(), "file")
            ),
        );
    }
    for note in &answer.notes {
        page.signed(Sign::Warn, note);
    }
    if !answer.found.is_empty() {
        let clients: Vec<&str> = answer.found.iter().map(|found| found.client).collect();
        page.blank();
        page.signed(
            Sign::Bullet,
            &format!("in use here, and not set up: {}", clients.join(", ")),
        );
        for found in &answer.found {
            page.command(&found.command);
        }
    }
    page.finish()
}
