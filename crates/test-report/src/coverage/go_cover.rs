//! The cover profile of `go test -coverprofile`.

use std::collections::HashMap;

use super::lines::{each_line, is_reached, number};
use super::once::{Distinct, Mergeable};
use super::{Coverage, CoverageFormat, FileCoverage, LineHits, Metric, sum};
use crate::source::Source;
use crate::unreadable::{Kind, Unreadable};

/// Whether a report begins like this one.
pub(super) fn detect(head: &[u8]) -> bool {
    let line = head.trim_ascii_start().split(|&byte| byte == b'\n').next();
    line.is_some_and(|line| mode(line.trim_ascii()).is_some())
}

fn mode(line: &[u8]) -> Option<&[u8]> {
    let mode = line.strip_prefix(b"mode: ")?;
    matches!(mode, b"set" | b"count" | b"atomic").then_some(mode)
}

/// A stretch of statements that run together.
#[derive(Debug, Clone, Copy)]
struct Block {
    from: (u32, u32),
    to: (u32, u32),
    statements: u32,
    reached: bool,
    /// Whether it was told with different numbers of statements.
    at_odds: bool,
}

impl Mergeable for Block {
    type Place = ((u32, u32), (u32, u32));

    fn place(&self) -> Self::Place {
        (self.from, self.to)
    }

    fn absorb(&mut self, other: Self) {
        self.at_odds |= other.at_odds || self.statements != other.statements;
        self.reached |= other.reached;
    }
}

/// Reads a profile.
pub(super) fn read(source: Source<'_>) -> Result<Coverage, Unreadable> {
    let mut profile = Profile::default();
    each_line(source, |line| {
        if profile.begun {
            if let Some(taken) = profile.block(line.text) {
                return taken;
            }
            if line.ended && line.text.starts_with(b"mode:") {
                let message = "a second profile begins here; `go tool cover` refuses that as well";
                return Err(Unreadable::new(Kind::Mixed, message).at_line(line.number));
            }
            return Err(line.fault("it is no block of a profile: `file.go:1.2,3.4 5 6`"));
        }
        if mode(line.text).is_none() {
            return Err(line.fault("a profile begins with `mode: set`, `count` or `atomic`"));
        }
        profile.begun = true;
        Ok(())
    })?;
    profile.finish()
}

#[derive(Default)]
struct Profile {
    begun: bool,
    /// The file of the line before: blocks of one stand together.
    last: usize,
    names: HashMap<Box<str>, usize>,
    files: Vec<(Box<str>, Distinct<Block>)>,
}

impl Profile {
    /// Takes in one line. `None` where it is no block.
    fn block(&mut self, line: &[u8]) -> Option<Result<(), Unreadable>> {
        let (rest, count) = split_last(line, b' ')?;
        let (rest, statements) = split_last(rest, b' ')?;
        let (path, place) = split_last(rest, b':')?;
        let comma = place.iter().position(|&byte| byte == b',')?;
        let block = Block {
            from: point(&place[..comma])?,
            to: point(&place[comma + 1..])?,
            statements: u32::try_from(number(statements)?).ok()?,
            // Only digits: a count that was cut is still one.
            reached: count.iter().all(u8::is_ascii_digit) && is_reached(count)?,
            at_odds: false,
        };
        if path.is_empty() || !count.iter().all(u8::is_ascii_digit) {
            return None;
        }
        Some(self.file(path).map(|file| self.files[file].1.add(block)))
    }

    fn file(&mut self, path: &[u8]) -> Result<usize, Unreadable> {
        if let Some((last, _)) = self.files.get(self.last)
            && last.as_bytes() == path
        {
            return Ok(self.last);
        }
        let path = String::from_utf8_lossy(path);
        self.last = if let Some(&known) = self.names.get(&*path) {
            known
        } else {
            sum::fits(self.files.len())?;
            let path: Box<str> = path.into();
            self.names.insert(path.clone(), self.files.len());
            self.files.push((path, Distinct::new()));
            self.files.len() - 1
        };
        Ok(self.last)
    }

    fn finish(self) -> Result<Coverage, Unreadable> {
        let mut statements = Metric::default();
        let mut files = Vec::with_capacity(self.files.len());
        for (path, mut blocks) in self.files {
            let mut lines = Metric::default();
            for block in blocks.settle() {
                if block.at_odds {
                    let (line, column) = block.from;
                    let message = format!(
                        "the block of {path} that begins at {line}.{column} has different numbers of statements"
                    );
                    return Err(Unreadable::new(Kind::Contradiction, message));
                }
                lines.total = lines.total.saturating_add(block.statements.into());
                if block.reached {
                    lines.covered = lines.covered.saturating_add(block.statements.into());
                }
            }
            statements = statements.and(lines);
            let blocks = blocks.settle().iter();
            let blocks = blocks.filter(|block| block.statements > 0);
            let hits = blocks.map(|block| (block.from.0, block.to.0, block.reached));
            files.push(FileCoverage {
                path,
                lines,
                hits: LineHits::of_stretches(hits),
            });
        }
        let mut coverage = Coverage::of(CoverageFormat::GoCover);
        coverage.lines = Some(statements);
        coverage.statements = Some(statements);
        coverage.files = files;
        coverage
            .notes
            .push("a Go profile knows statements, not lines: lines are statements here".to_owned());
        coverage.finish()
    }
}

fn split_last(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let place = text.iter().rposition(|&byte| byte == at)?;
    Some((&text[..place], &text[place + 1..]))
}

/// `12.3`: a line and a column.
fn point(text: &[u8]) -> Option<(u32, u32)> {
    let dot = text.iter().position(|&byte| byte == b'.')?;
    let part = |digits| u32::try_from(number(digits)?).ok();
    Some((part(&text[..dot])?, part(&text[dot + 1..])?))
}
