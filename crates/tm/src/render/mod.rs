//! Answers as a person reads them. Nothing here prints.
//!
//! What comes from tasks, files, commits or other programs may hold anything; it passes through [`Page`], which lets no
//! control character and no escape sequence of it reach the terminal.

mod gate;
mod journal;
mod page;
mod run;
pub mod session;
mod template;

use ::journal::Record;
use anstyle::{AnsiColor, Style};
use engine::{Fault, RunSummary};
use serde_json::json;

use crate::init::change::Change;
use crate::steps::{Caller, Form};
use text::plain::{many_lines, one_line};

pub use gate::gate;
pub use journal::event;
pub use page::Page;
pub use run::{next, paused, plan, started, status, turned, verdict};
pub use template::{page, page_with};

/// How text for people is to look.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Whether colour and symbols can be shown.
    pub rich: bool,
    /// Columns to fill.
    pub width: usize,
    /// Columns that one line of a list may take: those of the terminal; as good as no limit where there is none.
    pub line: usize,
    /// Who reads it: the steps that texts name are spelled for them.
    pub caller: &'static Caller,
}

pub const GOOD: Style = AnsiColor::Green.on_default();
pub const BAD: Style = AnsiColor::Red.on_default();
pub const WARN: Style = AnsiColor::Yellow.on_default();
pub const NOTE: Style = AnsiColor::Cyan.on_default();
pub const STRONG: Style = Style::new().bold();
pub const FAINT: Style = Style::new().dimmed();

/// A sign at the beginning of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// It is as it should be.
    Good,
    /// It is not.
    Bad,
    /// It deserves a look.
    Warn,
    /// It is being done, or comes next.
    Next,
    /// It is one of several.
    Bullet,
}

impl Look {
    /// That of a text that is no terminal's.
    pub const PLAIN: Self = Self {
        rich: false,
        width: 80,
        line: 80,
        caller: &Caller::at_a_shell(Form::RUN, None),
    };

    /// `text` in a style, where colour can be shown.
    pub fn paint(&self, style: Style, text: &str) -> String {
        if self.rich {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }

    /// A sign: a coloured symbol, or plain characters.
    pub fn sign(&self, sign: Sign) -> String {
        let (style, symbol, plain) = match sign {
            Sign::Good => (GOOD, "✓", "ok"),
            Sign::Bad => (BAD, "✗", "x"),
            Sign::Warn => (WARN, "!", "!"),
            Sign::Next => (NOTE, "→", "->"),
            Sign::Bullet => (FAINT, "•", "-"),
        };
        self.paint(style, if self.rich { symbol } else { plain })
    }
}

/// Why a command failed, and what to do.
pub fn fault(fault: &Fault, look: &Look) -> String {
    let mut page = Page::new(look);
    page.wrapped(&look.paint(BAD, "error:"), &fault.message);
    page.part("details", &json!({ "details": fault.details }));
    if !fault.suggestion.is_empty() {
        page.wrapped(&look.paint(NOTE, "help:"), &fault.suggestion);
    }
    if !fault.recovery.is_empty() {
        page.command(&fault.recovery);
    }
    page.finish()
}

/// One run in a few lines.
pub fn run_summary(run: &RunSummary, look: &Look) -> String {
    page("runs", &[run], look) + &page("run", run, look)
}

/// A whole journal, a line an event.
pub fn log(records: &[Record], look: &Look) -> String {
    records.iter().map(|record| event(record, look)).collect()
}

/// The differences of files that would be written, as a terminal shows them.
pub fn differences(changes: &[Change], look: &Look) -> String {
    let mut page = Page::new(look);
    for change in changes {
        for line in change.diff.lines().map(many_lines) {
            let style = match line.as_bytes().first() {
                _ if line.starts_with("--- ") || line.starts_with("+++ ") => STRONG,
                Some(b'@') => NOTE,
                Some(b'+') => GOOD,
                Some(b'-') => BAD,
                _ => Style::new(),
            };
            page.raw(&look.paint(style, &line));
        }
        if change.diff.is_empty() {
            page.raw(&format!("{} (empty)", one_line(&change.file)));
        }
    }
    page.finish()
}

/// The style of a status, of whatever it is: a run, a session, an item, a task.
fn status_style(status: &str) -> Style {
    match status.to_lowercase().replace('_', " ").as_str() {
        "running" | "in progress" => NOTE,
        "completed" | "complete" | "documented" | "success" => GOOD,
        "paused" | "cancelled" => WARN,
        "pending" | "not run" => FAINT,
        _ => BAD,
    }
}

/// A text with its lines kept, and without anything that a terminal would act on.
pub fn plain(text: &str) -> String {
    let end = if text.ends_with([' ', '\n']) {
        &text[text.len() - 1..]
    } else {
        ""
    };
    format!("{}{end}", many_lines(text).trim_end())
}

/// Something that somebody should be told beside the answer.
pub fn warning(text: &str, look: &Look) -> String {
    let mut page = Page::new(look);
    page.wrapped(&look.paint(WARN, "warning:"), text);
    page.finish()
}

/// What may help next.
pub fn hint(text: &str, look: &Look) -> String {
    let mut page = Page::new(look);
    page.wrapped(&look.paint(FAINT, "hint:"), text);
    page.finish()
}
