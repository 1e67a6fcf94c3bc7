//! TAP 13 and 14.
//!
//! Lines that are no TAP are passed over, as the protocol wants it; the plan tells whether a result is missing. But what
//! another runner prints at its end is no such line: then TAP is only what one of its tests printed.

mod level;
mod line;
mod yaml;

use std::io::{self, BufRead};

use self::level::{Level, PendingResult};
use self::line::{Directive, Line};
use crate::limits::DEEPEST;
use crate::source::Source;
use crate::tests::builder::Builder;
use crate::tests::{Outcome, TestFormat, TestReport, text};
use crate::unreadable::{Kind, Unreadable};

/// How much of one line is looked at, in bytes.
const LONGEST_LINE: usize = 16 * 1024;

/// How much of the lines that are no TAP is kept, from their end.
const NOISE: usize = 64 * 1024;

pub(crate) fn read(mut source: Source<'_>) -> Result<TestReport, Unreadable> {
    let mut reader = Reader::new();
    let mut line = Vec::new();
    while next_line(&mut source, &mut line)? {
        reader.number += 1;
        let text = String::from_utf8_lossy(&line);
        reader
            .line(text.trim_end_matches(['\n', '\r']))
            .map_err(|error| match error.line {
                Some(_) => error,
                None => error.at_line(reader.number),
            })?;
    }
    reader.finish()
}

/// Reads a line, of which only the beginning is kept when it is very long.
fn next_line(source: &mut Source<'_>, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let mut any = false;
    loop {
        let available = source.fill_buf()?;
        if available.is_empty() {
            return Ok(any);
        }
        any = true;
        let end = available.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(available.len(), |end| end + 1);
        let kept = taken.min(LONGEST_LINE.saturating_sub(line.len()));
        line.extend_from_slice(&available[..kept]);
        source.consume(taken);
        if end.is_some() {
            return Ok(true);
        }
    }
}

/// Whether a report begins like this one. A version line says so; without one, everything at the beginning has to be TAP.
pub(crate) fn detect(head: &[u8]) -> Option<TestFormat> {
    let text = String::from_utf8_lossy(head);
    let mut begun = false;
    let mut results = 0;
    for line in text.lines() {
        if line.trim().is_empty() || (!begun && line.starts_with("> ")) {
            continue;
        }
        match Line::of(line.trim_end()) {
            Some((0, Line::Version)) if !begun => return Some(TestFormat::Tap),
            Some((0, Line::Plan(..) | Line::Bail(_))) => results += 1,
            Some((0, Line::Point(point))) if point.number.is_some() || point.dashed => results += 1,
            Some((_, Line::Comment(_))) => continue,
            _ if begun && line.starts_with("  ") => {}
            _ => return None,
        }
        begun = true;
    }
    (results > 0).then_some(TestFormat::Tap)
}

struct Reader {
    builder: Builder,
    number: u64,
    versions: u64,
    levels: Vec<Level>,
    yaml: Option<usize>,
    bailed: bool,
    declared: Declared,
    noise: String,
}

/// The numbers in the comments at the end of what node writes.
#[derive(Default)]
struct Declared {
    tests: Option<u64>,
    suites: Option<u64>,
    pass: Option<u64>,
    fail: Option<u64>,
    cancelled: Option<u64>,
    skipped: Option<u64>,
    todo: Option<u64>,
}

impl Reader {
    fn new() -> Self {
        Self {
            builder: Builder::new(TestFormat::Tap),
            number: 0,
            versions: 0,
            levels: vec![Level::default()],
            yaml: None,
            bailed: false,
            declared: Declared::default(),
            noise: String::new(),
        }
    }

    fn line(&mut self, text: &str) -> Result<(), Unreadable> {
        if let Some(indent) = self.yaml {
            if line::indent(text) == indent && text.trim() == "..." {
                self.yaml = None;
            } else if let Some(waiting) = self.waiting() {
                waiting.yaml.line(text);
            }
            return Ok(());
        }
        if self.bailed {
            return Ok(());
        }
        if text.trim() == "---" {
            let indent = line::indent(text);
            let depth = self.levels.len() - 1;
            if let Some(waiting) = self.waiting()
                && indent > 4 * depth
            {
                waiting.yaml.begin();
                self.yaml = Some(indent);
                return Ok(());
            }
        }
        let Some((indent, parsed)) = Line::of(text) else {
            self.noise(text);
            return Ok(());
        };
        let depth = indent / 4;
        match parsed {
            Line::Version if indent == 0 => {
                self.versions += 1;
                if self.versions > 1 || self.levels[0].begun() {
                    return Err(Unreadable::new(Kind::Mixed, "a second report begins"));
                }
            }
            Line::Version => {}
            Line::Comment(comment) => self.comment(depth, comment),
            Line::Bail(reason) => self.bail(reason)?,
            Line::Close if self.levels.len() == depth + 2 => self.close_block()?,
            Line::Plan(last) if indent % 4 == 0 && depth <= self.levels.len() => {
                self.enter(depth)?;
                self.level().planned(last)?;
            }
            Line::Point(point)
                if indent % 4 == 0
                    && depth <= self.levels.len()
                    && (depth == 0 || point.number.is_some() || point.dashed) =>
            {
                self.point(depth, point)?;
            }
            _ => self.noise(text),
        }
        Ok(())
    }

    fn level(&mut self) -> &mut Level {
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    /// The result of which more may follow.
    fn waiting(&mut self) -> Option<&mut PendingResult> {
        self.level().waiting.as_mut()
    }

    fn noise(&mut self, text: &str) {
        if text.trim().is_empty() {
            self.noise.push('\n');
            return;
        }
        self.noise.push_str(text);
        self.noise.push('\n');
        if self.noise.len() > 2 * NOISE {
            let from = self.noise.ceil_char_boundary(self.noise.len() - NOISE);
            self.noise.drain(..from);
        }
    }

    /// Makes the level of this depth the innermost one. A level may be begun, but not left without the line of its parent.
    fn enter(&mut self, depth: usize) -> Result<(), Unreadable> {
        if depth + 1 < self.levels.len() {
            let message =
                "the results of a subtest are not followed by the one of the subtest itself";
            return Err(Unreadable::new(Kind::Malformed, message));
        }
        if depth == self.levels.len() {
            if depth > DEEPEST {
                let message = format!("subtests are nested deeper than {DEEPEST}");
                return Err(Unreadable::new(Kind::TooLarge, message));
            }
            self.settle()?;
            self.levels.push(Level::default());
        }
        Ok(())
    }

    fn point(&mut self, depth: usize, point: line::Point) -> Result<(), Unreadable> {
        let mut children = None;
        if self.levels.len() == depth + 2 && self.levels[depth + 1].parent.is_none() {
            self.settle()?;
            children = self.levels.pop();
        }
        self.enter(depth)?;
        self.settle()?;
        let children = children.map(Level::complete).transpose()?;
        let opens = point.opens;
        let level = self.level();
        level.number(&point)?;
        let waiting = PendingResult::new(point, children);
        if opens {
            self.levels.push(Level::within(waiting));
            if self.levels.len() > DEEPEST {
                let message = format!("subtests are nested deeper than {DEEPEST}");
                return Err(Unreadable::new(Kind::TooLarge, message));
            }
        } else {
            level.waiting = Some(waiting);
        }
        Ok(())
    }

    /// The end of subtests that stand in braces after their parent.
    fn close_block(&mut self) -> Result<(), Unreadable> {
        self.settle()?;
        let Some(mut level) = self.levels.pop() else {
            return Ok(());
        };
        let Some(mut parent) = level.parent.take() else {
            self.levels.push(level);
            return Ok(());
        };
        parent.children = Some(level.complete()?);
        self.level().waiting = Some(parent);
        Ok(())
    }

    /// Nothing more follows of the last result of the innermost level: its cases are known.
    fn settle(&mut self) -> Result<(), Unreadable> {
        let Some(waiting) = self.level().waiting.take() else {
            return Ok(());
        };
        let outermost = self.levels.len() == 1;
        let builder = &mut self.builder;
        let last = self.levels.len() - 1;
        let level = &mut self.levels[last];
        waiting.settle(level, |case| {
            if !outermost {
                return Ok(Some(case));
            }
            builder.test(
                &case.id,
                case.outcome,
                case.message.as_deref(),
                case.file.as_deref(),
            )?;
            Ok(None)
        })
    }

    fn comment(&mut self, depth: usize, comment: &str) {
        if depth + 1 == self.levels.len()
            && let Some(waiting) = self.waiting()
        {
            waiting.comment(comment);
        }
        if depth > 0 || self.levels.len() > 1 || !self.levels[0].is_planned() {
            return;
        }
        let Some((what, number)) = comment.trim().split_once(' ') else {
            return;
        };
        let Ok(number) = number.parse() else {
            return;
        };
        let declared = match what {
            "tests" => &mut self.declared.tests,
            "suites" => &mut self.declared.suites,
            "pass" => &mut self.declared.pass,
            "fail" => &mut self.declared.fail,
            "cancelled" => &mut self.declared.cancelled,
            "skipped" => &mut self.declared.skipped,
            "todo" => &mut self.declared.todo,
            _ => return,
        };
        *declared = Some(number);
    }

    /// The runner gave up. What the open levels have so far still counts.
    fn bail(&mut self, reason: &str) -> Result<(), Unreadable> {
        self.bailed = true;
        let mut below: Vec<level::Case> = Vec::new();
        loop {
            self.settle()?;
            if self.levels.len() == 1 {
                break;
            }
            let Some(mut level) = self.levels.pop() else {
                break;
            };
            level.cases.append(&mut below);
            below = match &level.parent {
                Some(parent) => level::within(&parent.name(), level.cases),
                None => level.cases,
            };
        }
        for case in below {
            self.builder
                .test(&case.id, case.outcome, case.message.as_deref(), None)?;
        }
        self.builder
            .test("Bail out!", Outcome::NotCollected, Some(reason), None)
    }

    fn finish(mut self) -> Result<TestReport, Unreadable> {
        if self.yaml.is_some() {
            let message = "it ends within the details of a result";
            return Err(Unreadable::new(Kind::Truncated, message).at_line(self.number));
        }
        if let Some(other) = text::printed_by(&self.noise) {
            let message =
                format!("the end of what {other} prints stands in it: give the report of one run");
            return Err(Unreadable::new(Kind::Mixed, message));
        }
        if !self.bailed {
            if self.levels.len() > 1 {
                let message = "it ends within a subtest";
                return Err(Unreadable::new(Kind::Truncated, message).at_line(self.number));
            }
            self.settle()?;
            let Some(level) = self.levels.pop() else {
                return self.builder.finish();
            };
            let tally = level.tally;
            let is_outside = level.outside > 0;
            level.complete()?;
            // Tests that an error kept from ending are counted as failed, and have no result.
            if !is_outside {
                self.declared.agree(&tally)?;
            }
        }
        self.builder.finish()
    }
}

impl Declared {
    /// Holds the comments at the end against the results. Only node's are known well enough to hold all of them.
    fn agree(&self, tally: &level::Tally) -> Result<(), Unreadable> {
        if let (Some(tests), Some(suites), Some(pass), Some(fail), Some(cancelled)) = (
            self.tests,
            self.suites,
            self.pass,
            self.fail,
            self.cancelled,
        ) {
            Builder::agree("tests", tests, tally.tests)?;
            Builder::agree("suites", suites, tally.suites)?;
            Builder::agree("passed tests", pass, tally.passed)?;
            let failed = fail.saturating_add(cancelled);
            Builder::agree("failed tests", failed, tally.failed)?;
            Builder::agree("skipped tests", self.skipped.unwrap_or(0), tally.skipped)?;
            return Builder::agree("tests to do", self.todo.unwrap_or(0), tally.todo);
        }
        match (self.tests, self.fail) {
            (Some(_), Some(fail)) if fail > tally.all_failed => {
                Builder::agree("failed tests", fail, tally.all_failed)
            }
            _ => Ok(()),
        }
    }
}

/// What a result says by itself, without its details.
fn stated(ok: bool, directive: Option<Directive>) -> Option<Outcome> {
    match (ok, directive) {
        (true, None) => Some(Outcome::Passed),
        (true, Some(_)) => Some(Outcome::Skipped),
        (false, Some(Directive::Todo)) => Some(Outcome::ExpectedFailure),
        (false, _) => None,
    }
}
