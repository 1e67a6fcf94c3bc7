//! What cargo prints: one part for each test binary, what could not be compiled, and which binaries failed.
//!
//! What the tests themselves print stands in between, captured or not, and may look like anything. So a result line counts
//! only where it agrees with the tests that were listed before it.

mod suite;

use std::collections::HashSet;

use self::suite::{ResultLine, Suite};
use crate::limits::LONGEST_MESSAGE;
use crate::tests::binary::{self, Binary};
use crate::tests::builder::{Builder, cut};
use crate::tests::{Outcome, TestFormat, TestReport};
use crate::unreadable::{Kind, Unreadable};

pub(crate) fn read(text: &str) -> Result<TestReport, Unreadable> {
    let mut run = Run::default();
    for (line, number) in text.lines().zip(1..) {
        run.line(line, number)?;
    }
    let last = text.lines().last().unwrap_or_default();
    if !text.ends_with('\n') && !last.trim().is_empty() && !may_be_last(last) {
        let message = "it ends in the middle of a line";
        let line = text.lines().count() as u64;
        return Err(Unreadable::new(Kind::Truncated, message).at_line(line));
    }
    run.finish()
}

/// Whether this is a whole line that may be the last, where its line break was trimmed.
fn may_be_last(line: &str) -> bool {
    ResultLine::read(line).is_some()
        || ["error: ", "    `-", "note: ", "test result: "]
            .iter()
            .any(|known| line.starts_with(known))
        || line.contains("process didn't exit successfully: ")
}

/// How sure it is that this was printed by it: the number of lines that nobody else prints. 0 is no.
pub(crate) fn signs(text: &str) -> usize {
    let is_sign = |line: &&str| {
        Suite::begins(line).is_some()
            || ResultLine::read(line).is_some()
            || binary::announced(line).is_some()
            || binary::uncompiled(line).is_some()
            || line.starts_with("error[E") && line.contains("]: ")
            || line.contains("error: test failed, to rerun ")
    };
    text.lines().filter(is_sign).count()
}

/// A binary that was announced.
struct TestBinary {
    binary: Binary,
    line: u64,
    /// How many suites there were before.
    before: usize,
    /// Whether anything was printed after it.
    printed: bool,
}

/// Cargo says that a binary failed.
struct Failed {
    line: u64,
    /// How many binaries and suites there were before.
    announced: usize,
    suites: usize,
    why: Option<String>,
    what: String,
}

#[derive(Default)]
struct Run {
    announced: Vec<TestBinary>,
    suites: Vec<Suite>,
    failed: Vec<Failed>,
    uncompiled: Vec<(String, String)>,
    /// What the compiler said of errors since the last crate.
    errors: String,
}

impl Run {
    fn line(&mut self, line: &str, number: u64) -> Result<(), Unreadable> {
        let open = self.suites.last_mut().filter(|suite| suite.is_open());
        if let Some(suite) = open {
            let begins = Suite::begins(line).filter(|_| !suite.in_details());
            if let Some(declared) = begins {
                suite.crash()?;
                self.begin(declared, number);
                return Ok(());
            }
            suite.line(line, number)?;
            if !suite.in_details() && rerun(line).is_some() {
                suite.crash()?;
            } else {
                return Ok(());
            }
        } else if let Some(declared) = Suite::begins(line) {
            self.begin(declared, number);
            return Ok(());
        }
        self.between(line, number)
    }

    fn begin(&mut self, declared: u64, number: u64) {
        if let Some(announced) = self.announced.last_mut() {
            announced.printed = true;
        }
        let binary = self.announced.last().map(|last| last.binary.clone());
        self.suites.push(Suite::new(declared, binary, number));
    }

    /// A line that no test printed.
    fn between(&mut self, line: &str, number: u64) -> Result<(), Unreadable> {
        if let Some(binary) = binary::announced(line) {
            self.announced.push(TestBinary {
                binary,
                line: number,
                before: self.suites.len(),
                printed: false,
            });
            return Ok(());
        }
        if let Some(announced) = self.announced.last_mut() {
            announced.printed |= !line.trim().is_empty();
        }
        if ResultLine::read(line).is_some() {
            let (kind, message) = match self.suites.last() {
                Some(_) => (Kind::Contradiction, "a second result follows the first"),
                None => (
                    Kind::Truncated,
                    "the tests of this result are missing: the beginning was cut off",
                ),
            };
            return Err(Unreadable::new(kind, message).at_line(number));
        }
        if let Some(what) = rerun(line) {
            self.failed.push(Failed {
                line: number,
                announced: self.announced.len(),
                suites: self.suites.len(),
                why: None,
                what: what.to_owned(),
            });
        } else if let Some((_, how)) = line.split_once("process didn't exit successfully: ") {
            if let Some(failed) = self.failed.last_mut() {
                failed.why.get_or_insert_with(|| how.to_owned());
            }
            if let Some(suite) = self.suites.last_mut() {
                suite.explain(how);
            }
        } else if let Some(target) = binary::uncompiled(line) {
            let errors = std::mem::take(&mut self.errors);
            self.uncompiled.push((target, format!("{errors}{line}")));
        } else if self.errors.len() < LONGEST_MESSAGE
            && (line.starts_with("error") || !self.errors.is_empty())
        {
            self.errors.push_str(cut(line, LONGEST_MESSAGE));
            self.errors.push('\n');
        }
        Ok(())
    }

    fn finish(self) -> Result<TestReport, Unreadable> {
        let mut builder = Builder::new(TestFormat::CargoText);
        if let Some(open) = self.suites.last().filter(|suite| suite.is_open()) {
            return Err(open.unfinished());
        }
        let apart = self.streams_are_apart();
        let silent = self.suites.is_empty() && self.announced.len() > 1;
        if let Some(last) = self.announced.last()
            && !apart
            && (silent || !last.printed)
        {
            let message = format!(
                "{} began to run, and nothing of it follows",
                last.binary.name
            );
            return Err(Unreadable::new(Kind::Truncated, message).at_line(last.line));
        }
        if self.errors.starts_with("error[") && self.uncompiled.is_empty() && self.suites.is_empty()
        {
            let message = "the compiler found errors, and what became of the tests is missing";
            return Err(Unreadable::new(Kind::Truncated, message));
        }
        for suite in &self.suites {
            suite.give(!apart, &mut builder)?;
        }
        self.failed_otherwise(apart, &mut builder)?;
        let mut known = HashSet::new();
        for (target, message) in &self.uncompiled {
            if known.insert(target) {
                builder.test(target, Outcome::NotCollected, Some(message), None)?;
            }
        }
        if self.suites.len() > 1 && (apart || self.announced.is_empty()) {
            builder.note(
                "which binary a test is in is not told: cargo writes that on its other stream",
            );
        }
        builder.finish()
    }

    /// Whether both streams were captured one after the other, so that no line tells which binary a suite is of.
    fn streams_are_apart(&self) -> bool {
        let (Some(first), Some(last)) = (self.announced.first(), self.announced.last()) else {
            return false;
        };
        let suites = self.suites.len();
        suites > 0 && (last.before == 0 && self.announced.len() > 1 || first.before == suites)
    }

    /// Binaries that failed although no test of theirs did, such as one that is no harness of tests.
    fn failed_otherwise(&self, apart: bool, builder: &mut Builder) -> Result<(), Unreadable> {
        let mut unexplained = self.suites.iter().filter(|suite| suite.is_bad()).count();
        for failed in &self.failed {
            let announced = failed
                .announced
                .checked_sub(1)
                .and_then(|last| self.announced.get(last))
                .filter(|_| !apart);
            let explained = if apart {
                let any = unexplained > 0;
                unexplained = unexplained.saturating_sub(1);
                any
            } else {
                let from = announced.map_or(failed.suites.saturating_sub(1), |a| a.before);
                let of_it = self.suites.get(from..failed.suites).unwrap_or_default();
                of_it.iter().any(Suite::is_bad)
            };
            if explained {
                continue;
            }
            let id = announced.map_or(failed.what.as_str(), |a| a.binary.name.as_str());
            let why = failed
                .why
                .as_deref()
                .unwrap_or("it ended with a failure of which no test tells");
            builder.test(id, Outcome::NotCollected, Some(why), None)?;
            builder.note(format!(
                "{id} failed without a failed test (line {})",
                failed.line
            ));
        }
        Ok(())
    }
}

/// What cargo says to run again after a failure.
fn rerun(line: &str) -> Option<&str> {
    let at = [
        "error: test failed",
        "error: doctest failed",
        "error: bench failed",
    ]
    .iter()
    .find_map(|said| line.split_once(said))?;
    let (_, what) = at.1.split_once(", to rerun ")?;
    let what = what.trim_start_matches("pass ").trim_start_matches("with ");
    Some(what.trim_matches(['`', '\'']))
}
