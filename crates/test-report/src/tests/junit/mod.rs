//! `JUnit` XML.

mod case;
mod suite;

use std::collections::HashMap;

use crate::source::Source;
use crate::tests::builder::Builder;
use crate::tests::{Outcome, TestFormat, TestReport};
use crate::unreadable::{Kind, Unreadable};
use crate::xml::{Event, Tag, Xml, root};
use case::Case;
use suite::{Counted, Suite};

pub(crate) fn read(source: Source<'_>) -> Result<TestReport, Unreadable> {
    let mut xml = Xml::new(source)?;
    let mut reader = Reader {
        report: Builder::new(TestFormat::Junit),
        suites: Vec::new(),
        case: None,
        places: HashMap::new(),
        spoken: StrayFailures::default(),
        left: String::new(),
    };
    loop {
        let depth = xml.depth();
        match xml.next()? {
            Event::Start(tag) => reader.start(tag, depth + 1)?,
            Event::Text(text) => {
                if let Some(case) = &mut reader.case {
                    case.text(depth, text);
                }
            }
            Event::End => {
                let line = xml.line();
                reader.end(depth).map_err(|fault| match fault.line {
                    None => fault.at_line(line),
                    Some(_) => fault,
                })?;
            }
            Event::Comment(comment) => reader.spoken.comment(comment),
            Event::Eof => return reader.finish(),
        }
    }
}

/// Whether a report begins like this one.
pub(crate) fn detect(head: &[u8]) -> Option<TestFormat> {
    matches!(root(head)?.as_str(), "testsuites" | "testsuite").then_some(TestFormat::Junit)
}

struct Reader {
    report: Builder,
    /// Those that have begun and did not end, the root among them.
    suites: Vec<Suite>,
    case: Option<Case>,
    /// The places of tests that may have several cases: of pytest one more for each time that it was tried again, which looks as if it
    /// passed, and one more where it failed and its teardown failed as well; of gotestsum one for each time.
    places: HashMap<Box<str>, usize>,
    spoken: StrayFailures,
    /// The memory of the last id, for the next one.
    left: String,
}

/// Failures that a report speaks of besides its cases.
#[derive(Default)]
struct StrayFailures {
    /// Those of suites that declare more than is in them, where their tool counts what it writes no case for.
    beside: u64,
    /// What node writes at the end: it has no case for a test with tests within it, nor for the hooks of a suite.
    failed: u64,
    cancelled: u64,
    /// Suites in which a case fails: node counts those that are tests among what failed.
    parents: u64,
    /// Cases that stand in it as passed, and are still to be written.
    todo: u64,
    by_jest: bool,
}

impl StrayFailures {
    /// ` fail 2 `
    fn comment(&mut self, comment: &str) {
        let Some((name, number)) = comment.trim().split_once(' ') else {
            return;
        };
        let place = match name {
            "fail" => &mut self.failed,
            "cancelled" => &mut self.cancelled,
            _ => return,
        };
        *place = number.parse().unwrap_or(*place);
    }
}

impl Reader {
    fn finish(mut self) -> Result<TestReport, Unreadable> {
        let spoken = &self.spoken;
        let counted = self.report.totals().failures();
        let failed = spoken.failed.saturating_add(spoken.cancelled);
        let explained = counted.saturating_add(spoken.parents);
        let unnamed = spoken.beside.max(failed.saturating_sub(explained));
        if unnamed > 0 {
            self.report.unnamed(Outcome::Error, unnamed);
            self.report.note(format!(
                "it speaks of {unnamed} more failures than it has cases for: of hooks, or of tests with tests within them"
            ));
        }
        if spoken.todo > 0 {
            self.report.note(format!(
                "{} cases stand in it as passed, and are only still to be written",
                spoken.todo
            ));
        }
        if spoken.by_jest {
            let note = "jest-junit leaves out test files that could not be loaded, unless its option reportTestSuiteErrors is set";
            self.report.note(note);
        }
        self.report.finish()
    }

    fn start(&mut self, tag: Tag<'_>, depth: usize) -> Result<(), Unreadable> {
        let name = tag.name();
        if let Some(case) = &mut self.case {
            if matches!(name, "testcase" | "testsuite" | "testsuites") {
                let message = format!("a <{name}> begins within a <testcase>");
                return Err(tag.fault(Kind::Malformed, message));
            }
            return case.child(tag, depth);
        }
        match name {
            "testsuites" | "testsuite" => {
                if name == "testsuites" && depth > 1 {
                    let message = "another report begins here: give the report of one run";
                    return Err(tag.fault(Kind::Mixed, message));
                }
                self.suites.push(Suite::new(tag, depth)?);
            }
            _ if depth == 1 => {
                let message = format!("its root is <{name}>, and no <testsuites> or <testsuite>");
                return Err(tag.fault(Kind::Malformed, message));
            }
            "testcase" => {
                let left = std::mem::take(&mut self.left);
                self.case = Some(Case::new(tag, depth, &self.suites, left)?);
            }
            // What kept a whole suite from running.
            "error" | "failure" if self.suites.last().is_some_and(|s| s.depth + 1 == depth) => {
                let mut case = Case::of_suite(&self.suites, depth);
                case.child(tag, depth)?;
                self.case = Some(case);
            }
            "property" => {
                if let Some(suite) = self.suites.last_mut() {
                    for attribute in tag.attributes() {
                        let attribute = attribute?;
                        suite.by_go |=
                            attribute.name == "name" && &*attribute.value() == "go.version";
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, depth: usize) -> Result<(), Unreadable> {
        if let Some(case) = &mut self.case {
            case.child_ends(depth);
            if case.depth == depth
                && let Some(case) = self.case.take()
            {
                return self.take_in(case);
            }
            return Ok(());
        }
        if self.suites.last().is_none_or(|suite| suite.depth != depth) {
            return Ok(());
        }
        let Some(mut suite) = self.suites.pop() else {
            return Ok(());
        };
        if suite.by_pytest {
            suite.counted.tests = self.places.len() as u64;
        }
        if suite.by_go {
            // Another package may have tests of the same names.
            self.places.clear();
        }
        let told = suite.check()?;
        self.spoken.beside = self.spoken.beside.saturating_add(told.beside);
        self.spoken.todo = self.spoken.todo.saturating_add(told.todo);
        self.spoken.by_jest |= suite.by_jest;
        self.spoken.parents += u64::from(depth > 1 && suite.counted.fails());
        if let Some(outer) = self.suites.last_mut() {
            outer.counted.add(&suite.counted);
            outer.direct.suites += 1;
        }
        Ok(())
    }

    fn take_in(&mut self, case: Case) -> Result<(), Unreadable> {
        let counted = Counted::of(&case);
        if let Some(suite) = self.suites.last_mut() {
            // jest-junit writes each file that could not be loaded twice, with two of its messages.
            if counted.unloaded > 0 && suite.direct.unloaded > 0 {
                return Ok(());
            }
            suite.direct.add(&counted);
            suite.counted.add(&counted);
        }
        let outcome = case.outcome();
        let suite = self.suites.last();
        let by_pytest = suite.is_some_and(|suite| suite.by_pytest);
        if by_pytest || suite.is_some_and(|suite| suite.by_go) {
            if let Some(at) = self.places.get(case.id()).copied() {
                let outcome = match (self.report.outcome(at), outcome) {
                    (before, _) if by_pytest && before.is_failure() => return Ok(()),
                    (Outcome::Passed, Outcome::Passed) if by_pytest => Outcome::Flaky,
                    (_, outcome) => outcome,
                };
                self.report.tried_again(at, outcome, case.message());
                return Ok(());
            }
            self.places.insert(case.id().into(), self.report.len());
        }
        self.report
            .test(case.id(), outcome, case.message(), case.file())?;
        self.left = case.into_id();
        Ok(())
    }
}
