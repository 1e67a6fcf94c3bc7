//! TRX, of `dotnet test`.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::limits::MOST_TESTS;
use crate::source::Source;
use crate::tests::builder::{Builder, cut};
use crate::tests::{Outcome, TestFormat, TestReport};
use crate::unreadable::{Kind, Unreadable};
use crate::xml::{Event, Tag, Xml, root};

/// How much of a message is kept until the report takes what it wants of it, in bytes.
const LONGEST_KEPT: usize = 8 * 1024;

pub(crate) fn read(source: Source<'_>) -> Result<TestReport, Unreadable> {
    let mut xml = Xml::new(source)?;
    let mut run = Run::default();
    loop {
        let depth = xml.depth();
        match xml.next()? {
            Event::Start(tag) => run.start(tag, depth + 1)?,
            Event::Text(text) => {
                if let Some(kept) = run.reading() {
                    let room = LONGEST_KEPT.saturating_sub(kept.len());
                    kept.push_str(cut(&text.decode(), room));
                }
            }
            Event::End => run.end(depth),
            Event::Comment(_) => {}
            Event::Eof => return run.report(),
        }
    }
}

/// Whether a report begins like this one.
pub(crate) fn detect(head: &[u8]) -> Option<TestFormat> {
    (root(head)? == "TestRun").then_some(TestFormat::Trx)
}

/// Where text is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Message,
    RunInfo,
}

struct Case {
    test: Box<str>,
    name: Box<str>,
    outcome: Outcome,
    word: Box<str>,
    message: String,
    /// How many results it is in.
    within: usize,
    /// Whether it is put together from the results within it.
    has_inner: bool,
}

#[derive(Default)]
struct Run {
    results: Vec<Case>,
    /// Those that have begun and did not end: their place, and depth.
    open: Vec<(usize, usize)>,
    /// The class of each test, by the id that it has in this file.
    classes: HashMap<Box<str>, Box<str>>,
    definition: Option<Box<str>>,
    counters: HashMap<Box<str>, u64>,
    outcome: Option<String>,
    info: String,
    reading: Option<(Reading, usize)>,
    /// Whether the last information of the run is about an error.
    broken: bool,
}

impl Run {
    fn start(&mut self, tag: Tag<'_>, depth: usize) -> Result<(), Unreadable> {
        let name = tag.name();
        if depth == 1 {
            if name == "TestRun" {
                return Ok(());
            }
            return Err(tag.fault(
                Kind::Malformed,
                format!("its root is <{name}>, and no <TestRun>"),
            ));
        }
        match name {
            "UnitTestResult"
            | "TestResult"
            | "TestResultAggregation"
            | "GenericTestResult"
            | "ManualTestResult"
            | "WebTestResult" => self.result(tag, depth)?,
            "Message" if !self.open.is_empty() => self.reading = Some((Reading::Message, depth)),
            "Text" if self.broken => self.reading = Some((Reading::RunInfo, depth)),
            "UnitTest" => self.definition = tag.attribute("id")?.map(|id| (&*id).into()),
            "TestMethod" => {
                if let Some(id) = self.definition.take()
                    && let Some(class) = tag.attribute("className")?
                {
                    // Older files put the assembly behind the class.
                    let class = class.split(',').next().unwrap_or(&class).trim();
                    self.classes.insert(id, class.into());
                }
            }
            "ResultSummary" => {
                self.outcome = tag.attribute("outcome")?.map(Cow::into_owned);
            }
            "Counters" => {
                for attribute in tag.attributes() {
                    let attribute = attribute?;
                    let name = attribute.name;
                    let value = attribute.value();
                    let number = value.trim().parse().map_err(|_| {
                        tag.fault(Kind::Malformed, format!("{name}={value:?} is no count"))
                    })?;
                    self.counters.insert(name.into(), number);
                }
            }
            "RunInfo" => {
                let outcome = tag.attribute("outcome")?;
                self.broken = matches!(outcome.as_deref(), Some("Error" | "Failed" | "Aborted"));
            }
            _ => {}
        }
        Ok(())
    }

    fn result(&mut self, tag: Tag<'_>, depth: usize) -> Result<(), Unreadable> {
        if self.results.len() == MOST_TESTS {
            let message = format!("it names more than {MOST_TESTS} tests");
            return Err(tag.fault(Kind::TooLarge, message));
        }
        let (mut test, mut name, mut word) = (None, None, None);
        for attribute in tag.attributes() {
            let attribute = attribute?;
            match attribute.name {
                "testId" => test = Some(attribute.value()),
                "testName" => name = Some(attribute.value()),
                "outcome" => word = Some(attribute.value()),
                _ => {}
            }
        }
        let Some(name) = name else {
            return Err(tag.fault(Kind::Malformed, "a result has no testName"));
        };
        // The schema's default.
        let word = word.as_deref().unwrap_or("Failed");
        let outcome = match word {
            "Passed" | "Completed" | "Warning" | "PassedButRunAborted" => Outcome::Passed,
            "Failed" => Outcome::Failed,
            "Error" | "Timeout" | "Aborted" | "Disconnected" | "InProgress" => Outcome::Error,
            "NotRunnable" => Outcome::NotCollected,
            "NotExecuted" | "Inconclusive" | "Pending" | "Skipped" => Outcome::Skipped,
            _ => {
                let message = format!("the outcome of {name} is {word:?}, which is not known");
                return Err(tag.fault(Kind::Malformed, message));
            }
        };
        if let Some((outer, _)) = self.open.last() {
            self.results[*outer].has_inner = true;
        }
        let within = self.open.len();
        self.open.push((self.results.len(), depth));
        self.results.push(Case {
            test: test.as_deref().unwrap_or_default().into(),
            name: (&*name).into(),
            outcome,
            word: word.into(),
            message: String::new(),
            within,
            has_inner: false,
        });
        Ok(())
    }

    fn reading(&mut self) -> Option<&mut String> {
        match self.reading? {
            (Reading::Message, _) => {
                let (place, _) = self.open.last()?;
                self.results.get_mut(*place).map(|case| &mut case.message)
            }
            (Reading::RunInfo, _) => Some(&mut self.info),
        }
    }

    fn end(&mut self, depth: usize) {
        if self.reading.is_some_and(|(_, reading)| reading == depth) {
            self.reading = None;
        }
        if self.open.last().is_some_and(|(_, open)| *open == depth) {
            self.open.pop();
        }
    }

    fn report(self) -> Result<TestReport, Unreadable> {
        self.check()?;
        let mut report = Builder::new(TestFormat::Trx);
        for case in self.results.iter().filter(|case| !case.has_inner) {
            let class = self.classes.get(&case.test).map_or("", |class| class);
            let message = Some(case.message.as_str());
            if class.is_empty() || case.name.starts_with(class) {
                report.test(&case.name, case.outcome, message, None)?;
            } else {
                let id = format!("{class}.{}", case.name);
                report.test(&id, case.outcome, message, None)?;
            }
        }
        let content = [
            "Completed",
            "Passed",
            "Warning",
            "NotExecuted",
            "Inconclusive",
        ];
        if let Some(outcome) = self.outcome.as_deref()
            && !content.contains(&outcome)
            && report.totals().failures() == 0
        {
            let info = self.info.trim();
            let message = if info.is_empty() {
                format!("the outcome of the run is {outcome:?}")
            } else {
                info.to_owned()
            };
            report.test("test run", Outcome::Error, Some(&message), None)?;
        }
        report.finish()
    }

    /// Holds the counters against the results: those on the outside, those on the inside, or both, as its writer counts.
    fn check(&self) -> Result<(), Unreadable> {
        let Some(total) = self.counters.get("total") else {
            let message = "it ends without the counters of its summary";
            return Err(Unreadable::new(Kind::Truncated, message));
        };
        let ways: [fn(&Case) -> bool; 3] =
            [|_| true, |case| case.within == 0, |case| !case.has_inner];
        let count = |way: fn(&Case) -> bool, words: &[&str]| {
            let counted = self
                .results
                .iter()
                .filter(|case| way(case) && (words.is_empty() || words.contains(&&*case.word)));
            counted.count() as u64
        };
        let declared = |names: &[&str]| {
            let numbers = names.iter().filter_map(|name| self.counters.get(*name));
            numbers.fold(0_u64, |sum, number| sum.saturating_add(*number))
        };
        let broken = ["Failed", "Error", "Timeout", "Aborted", "Disconnected"];
        let failed = declared(&["failed", "error", "timeout", "aborted", "disconnected"]);
        if !ways.iter().any(|way| count(*way, &[]) == *total) {
            return Builder::agree("tests", *total, count(ways[2], &[]));
        }
        if !ways.iter().any(|way| count(*way, &broken) == failed) {
            return Builder::agree("failures and errors", failed, count(ways[2], &broken));
        }
        let passed = declared(&["passed"]);
        if !ways.iter().any(|way| count(*way, &["Passed"]) == passed) {
            return Builder::agree("passed tests", passed, count(ways[2], &["Passed"]));
        }
        Ok(())
    }
}
