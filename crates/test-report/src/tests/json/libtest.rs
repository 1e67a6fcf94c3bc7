//! The JSON lines of libtest: the harness of Rust itself, and nextest, which writes the same events.
//!
//! Cargo prints its own lines in between. Where both streams were captured, they tell the binaries apart.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::BufRead as _;

use serde::Deserialize;

use crate::limits::{LONGEST_WHOLE, MOST_TESTS};
use crate::source::Source;
use crate::tests::binary::{self, Binary};
use crate::tests::builder::Builder;
use crate::tests::{Outcome, TestFormat, TestReport};
use crate::unreadable::{Kind, Unreadable};

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Event<'a> {
    #[serde(borrow)]
    Suite(SuiteEvent<'a>),
    #[serde(borrow)]
    Test(TestEvent<'a>),
    #[serde(borrow)]
    Bench(BenchEvent<'a>),
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct SuiteEvent<'a> {
    #[serde(borrow)]
    event: Cow<'a, str>,
    test_count: Option<u64>,
    passed: Option<u64>,
    failed: Option<u64>,
    ignored: Option<u64>,
    measured: Option<u64>,
    #[serde(borrow)]
    nextest: Option<Nextest<'a>>,
}

/// What nextest adds where it is asked to.
#[derive(Deserialize)]
struct Nextest<'a> {
    #[serde(borrow, rename = "crate")]
    package: Cow<'a, str>,
    #[serde(borrow)]
    test_binary: Cow<'a, str>,
}

#[derive(Deserialize)]
struct TestEvent<'a> {
    #[serde(borrow)]
    event: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    message: Option<Cow<'a, str>>,
    #[serde(borrow)]
    stdout: Option<Cow<'a, str>>,
    #[serde(borrow)]
    reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct BenchEvent<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

/// Whether this line is one of the events.
pub(super) fn is_event(line: &str) -> bool {
    matches!(
        event(line),
        Some(Event::Suite(_) | Event::Test(_) | Event::Bench(_))
    )
}

fn event(line: &str) -> Option<Event<'_>> {
    // Where the output is not captured, an event may follow what a test printed without a line break.
    let start = if line.starts_with('{') {
        0
    } else {
        line.rfind("{ \"type\": \"")?
    };
    serde_json::from_str(line.get(start..)?.trim_end()).ok()
}

pub(crate) fn read(mut source: Source<'_>) -> Result<TestReport, Unreadable> {
    let mut run = Run::new();
    let mut bytes = Vec::new();
    let mut number = 0;
    loop {
        bytes.clear();
        let longest = LONGEST_WHOLE as u64;
        let length = std::io::Read::take(&mut source, longest).read_until(b'\n', &mut bytes)?;
        if length == 0 {
            return run.finish();
        }
        number += 1;
        if length >= LONGEST_WHOLE {
            let message = "this line is longer than a report may be";
            return Err(Unreadable::new(Kind::TooLarge, message).at_line(number));
        }
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_end_matches(['\r', '\n']);
        let whole = bytes.ends_with(b"\n");
        run.line(line, whole, number)
            .map_err(|error| match error.line {
                Some(_) => error,
                None => error.at_line(number),
            })?;
    }
}

struct Case {
    name: String,
    outcome: Outcome,
    message: Option<String>,
}

/// The tests between the beginning and the end of a suite.
struct Suite {
    line: u64,
    binary: Option<Binary>,
    declared: u64,
    /// The binary, of a suite of nextest.
    whose: Option<String>,
    cases: Vec<Case>,
    measured: u64,
}

/// The tests of one binary with nextest. It writes several suites for it, where tests of it run beside those of others, and
/// they may overlap: only all of them together tell what ran.
#[derive(Default)]
struct Shared {
    open: u64,
    line: u64,
    passed: u64,
    failed: u64,
    ignored: u64,
    seen_passed: u64,
    seen_failed: u64,
    seen_ignored: u64,
}

impl Shared {
    fn declare(&mut self, event: &SuiteEvent<'_>) {
        let add = |sum: &mut u64, number: Option<u64>| {
            *sum = sum.saturating_add(number.unwrap_or(0));
        };
        add(&mut self.passed, event.passed);
        add(&mut self.failed, event.failed);
        add(&mut self.ignored, event.ignored);
    }
}

struct Run {
    builder: Builder,
    binary: Option<Binary>,
    suite: Option<Suite>,
    /// Begun and not ended, in the order of their beginning: of one suite, or with nextest of all.
    begun: HashMap<String, u64>,
    shared: BTreeMap<String, Shared>,
    suites: u64,
    announced: bool,
    uncompiled: HashSet<String>,
    /// Whether cargo said that a binary failed, of which no failed test is known.
    crashed: bool,
    bad: bool,
}

impl Run {
    fn new() -> Self {
        Self {
            builder: Builder::new(TestFormat::LibtestJson),
            binary: None,
            suite: None,
            begun: HashMap::new(),
            shared: BTreeMap::new(),
            suites: 0,
            announced: false,
            uncompiled: HashSet::new(),
            crashed: false,
            bad: false,
        }
    }

    fn line(&mut self, line: &str, whole: bool, number: u64) -> Result<(), Unreadable> {
        match event(line) {
            Some(Event::Suite(event)) if event.event == "started" => self.begin(&event, number),
            Some(Event::Suite(event)) => self.end(&event),
            Some(Event::Test(event)) => self.test(&event, number),
            Some(Event::Bench(event)) => {
                self.begun.remove(&*event.name);
                let suite = self.suite.as_mut().ok_or_else(outside)?;
                suite.measured += 1;
                suite.cases.push(Case {
                    name: event.name.into_owned(),
                    outcome: Outcome::Passed,
                    message: None,
                });
                Ok(())
            }
            Some(Event::Other) => Ok(()),
            None if line.starts_with("{ \"type\": \"") || line.starts_with("{\"type\":\"") => {
                let (kind, message) = if whole {
                    (Kind::Malformed, "this is no event")
                } else {
                    (Kind::Truncated, "it ends in the middle of an event")
                };
                Err(Unreadable::new(kind, message))
            }
            None if !whole && line.starts_with('{') => {
                let message = "it ends in the middle of an event";
                Err(Unreadable::new(Kind::Truncated, message))
            }
            None => self.printed(line),
        }
    }

    /// A line of cargo, or of a test.
    fn printed(&mut self, line: &str) -> Result<(), Unreadable> {
        if let Some(target) = binary::uncompiled(line).filter(|_| self.suite.is_none()) {
            if self.uncompiled.insert(target.clone()) {
                let outcome = Outcome::NotCollected;
                self.builder
                    .test(&target, outcome, Some(line.trim()), None)?;
            }
        } else if let Some(binary) = binary::announced(line).filter(|_| self.suite.is_none()) {
            self.announced = true;
            self.bad = false;
            self.binary = Some(binary);
        } else if line.starts_with("error: ") && line.contains("test failed, to rerun ") {
            self.crashed = self.suite.is_some() || !self.bad;
            if self.suite.is_none() && self.crashed && self.announced {
                let id = self.binary.as_ref().map_or("test binary", |b| &b.name);
                let why = "it ended with a failure of which no test tells";
                self.builder
                    .test(id, Outcome::NotCollected, Some(why), None)?;
                self.crashed = false;
            }
        } else if self.crashed
            && let Some((_, how)) = line.split_once("process didn't exit successfully: ")
        {
            self.crash(how)?;
        }
        Ok(())
    }

    fn begin(&mut self, event: &SuiteEvent<'_>, number: u64) -> Result<(), Unreadable> {
        if let Some(of) = &event.nextest {
            let whose = format!("{}::{}", of.package, of.test_binary);
            let shared = self.shared.entry(whose).or_default();
            shared.open += 1;
            shared.line = number;
            return Ok(());
        }
        self.crash("the process ended before its tests did")?;
        let missing = || Unreadable::new(Kind::Malformed, "the suite has no `test_count`");
        self.suites += 1;
        self.suite = Some(Suite {
            line: number,
            binary: self.binary.clone(),
            declared: event.test_count.ok_or_else(missing)?,
            whose: None,
            cases: Vec::new(),
            measured: 0,
        });
        Ok(())
    }

    fn test(&mut self, event: &TestEvent<'_>, number: u64) -> Result<(), Unreadable> {
        let (name, tries) = tries(&event.name);
        let shared = match (whose(name), &mut self.suite) {
            (Some(whose), Some(suite)) => {
                suite.whose.get_or_insert_with(|| whose.to_owned());
                Some(self.shared.entry(whose.to_owned()).or_default())
            }
            (Some(whose), None) => Some(self.shared.get_mut(whose).ok_or_else(outside)?),
            (None, Some(_)) => None,
            (None, None) => return Err(outside()),
        };
        if event.event == "started" {
            if self.begun.len() >= MOST_TESTS {
                let message = format!("more than {MOST_TESTS} tests have begun");
                return Err(Unreadable::new(Kind::TooLarge, message));
            }
            self.begun.insert(name.to_owned(), number);
            return Ok(());
        }
        let slow = event.reason.is_some();
        let stdout = event.stdout.as_deref();
        let outcome = match &*event.event {
            "ok" if tries > 1 => Outcome::Flaky,
            "ok" => Outcome::Passed,
            "ignored" => Outcome::Skipped,
            "failed" if slow => Outcome::Error,
            "failed" if stdout.is_some_and(|t| t.contains("\nCouldn't compile the test.")) => {
                Outcome::NotCollected
            }
            "failed" => Outcome::Failed,
            // The harness only says that it still waits for it.
            "timeout" => return Ok(()),
            other => {
                let message = format!("a test cannot end with {other:?}");
                return Err(Unreadable::new(Kind::Malformed, message));
            }
        };
        self.begun.remove(name);
        let message = match outcome {
            Outcome::Passed | Outcome::Flaky => None,
            _ => match (&event.message, stdout) {
                (Some(message), Some(stdout)) => Some(format!("{message}\n{stdout}")),
                (Some(text), None) => Some(text.clone().into_owned()),
                (None, text) => text.or(event.reason.as_deref()).map(str::to_owned),
            },
        };
        if let Some(shared) = shared {
            *match outcome {
                Outcome::Skipped => &mut shared.seen_ignored,
                _ if outcome.is_failure() => &mut shared.seen_failed,
                _ => &mut shared.seen_passed,
            } += 1;
            return self.builder.test(name, outcome, message.as_deref(), None);
        }
        let suite = self.suite.as_mut().ok_or_else(outside)?;
        suite.cases.push(Case {
            name: name.to_owned(),
            outcome,
            message,
        });
        Ok(())
    }

    fn end(&mut self, event: &SuiteEvent<'_>) -> Result<(), Unreadable> {
        let missing = || Unreadable::new(Kind::Malformed, "the end of the suite has no numbers");
        let failed = event.failed.ok_or_else(missing)?;
        let passed = event.passed.ok_or_else(missing)?;
        let ignored = event.ignored.ok_or_else(missing)?;
        if (event.event == "ok") != (failed == 0) {
            let message = format!("the suite is {:?} with {failed} failed tests", event.event);
            return Err(Unreadable::new(Kind::Contradiction, message));
        }
        if let Some(of) = &event.nextest {
            let whose = format!("{}::{}", of.package, of.test_binary);
            let shared = self.shared.get_mut(&whose).ok_or_else(outside)?;
            shared.open = shared.open.checked_sub(1).ok_or_else(outside)?;
            shared.declare(event);
            return Ok(());
        }
        let suite = self.suite.take().ok_or_else(outside)?;
        if let Some(whose) = suite.whose {
            self.shared.entry(whose).or_default().declare(event);
            return Ok(());
        }
        let count = |wanted: fn(Outcome) -> bool| {
            let of = suite.cases.iter().filter(|case| wanted(case.outcome));
            of.count() as u64
        };
        let skipped = count(|outcome| outcome == Outcome::Skipped);
        let ran = count(Outcome::is_success).saturating_sub(suite.measured);
        Builder::agree("passed tests", passed, ran)?;
        Builder::agree("failed tests", failed, count(Outcome::is_failure))?;
        Builder::agree("benchmarks", event.measured.unwrap_or(0), suite.measured)?;
        Builder::agree("ignored tests", ignored, skipped)?;
        Builder::agree("tests", suite.declared, suite.cases.len() as u64)?;
        if let Some(name) = self.begun.keys().next() {
            let message = format!("{name} has begun, and how it ended is missing");
            return Err(Unreadable::new(Kind::Contradiction, message));
        }
        self.bad |= failed > 0;
        self.give(&suite)
    }

    fn give(&mut self, suite: &Suite) -> Result<(), Unreadable> {
        let names: Vec<&str> = suite.cases.iter().map(|case| &*case.name).collect();
        let ids = binary::ids(suite.binary.as_ref(), &names);
        for (case, (id, file)) in suite.cases.iter().zip(ids) {
            let message = case.message.as_deref();
            self.builder
                .test(&id, case.outcome, message, file.as_deref())?;
        }
        Ok(())
    }

    /// Ends a suite whose process ended before it said so. Each of its tests that had begun may be why.
    fn crash(&mut self, how: &str) -> Result<(), Unreadable> {
        let Some(suite) = self.suite.take() else {
            return Ok(());
        };
        self.crashed = false;
        self.bad = true;
        self.give(&suite)?;
        let mut begun: Vec<(String, u64)> = self.begun.drain().collect();
        begun.sort_unstable_by_key(|(_, line)| *line);
        let names: Vec<&str> = begun.iter().map(|(name, _)| &**name).collect();
        for (id, file) in binary::ids(suite.binary.as_ref(), &names) {
            self.builder
                .test(&id, Outcome::Error, Some(how), file.as_deref())?;
        }
        if begun.is_empty() {
            let id = suite.binary.as_ref().map_or("test binary", |b| &b.name);
            self.builder
                .test(id, Outcome::NotCollected, Some(how), None)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<TestReport, Unreadable> {
        if let Some(suite) = &self.suite {
            let message = format!(
                "{} tests began to run here, and how they ended is missing",
                suite.declared
            );
            return Err(Unreadable::new(Kind::Truncated, message).at_line(suite.line));
        }
        let open = self.shared.iter().find(|(_, shared)| shared.open > 0);
        if let Some((whose, shared)) = open {
            let message = format!("{whose} has begun, and how it ended is missing");
            return Err(Unreadable::new(Kind::Truncated, message).at_line(shared.line));
        }
        for shared in self.shared.values() {
            Builder::agree("passed tests", shared.passed, shared.seen_passed)?;
            Builder::agree("failed tests", shared.failed, shared.seen_failed)?;
        }
        self.left_over()?;
        if self.suites > 1 && !self.announced && self.shared.is_empty() {
            self.builder.note(
                "which binary a test is in is not told: cargo writes that on its other stream",
            );
        }
        self.builder.finish()
    }

    /// nextest ends a suite without a word on those of its ignored tests that come after the others.
    fn left_over(&mut self) -> Result<(), Unreadable> {
        let mut left: Vec<(String, u64)> = self.begun.drain().collect();
        left.sort_unstable_by_key(|(_, line)| *line);
        for (name, line) in left {
            let known = whose(&name).and_then(|whose| self.shared.get_mut(whose));
            let Some(known) = known.filter(|known| known.seen_ignored < known.ignored) else {
                let message = format!("{name} has begun, and how it ended is missing");
                return Err(Unreadable::new(Kind::Truncated, message).at_line(line));
            };
            known.seen_ignored += 1;
            self.builder.test(&name, Outcome::Skipped, None, None)?;
        }
        Ok(())
    }
}

fn outside() -> Unreadable {
    let message = "this event is outside of a suite: the beginning was cut off";
    Unreadable::new(Kind::Truncated, message)
}

/// Which binary a test of nextest is in, by a name such as `shop::api$cart::adds`. A program and a library of one name are not
/// told apart.
fn whose(name: &str) -> Option<&str> {
    let (whose, _) = name.split_once('$')?;
    (whose.contains("::") && !whose.contains(' ')).then_some(whose)
}

/// nextest adds to the name the number of the try that counts: `shop::api$cart::adds#2`.
fn tries(name: &str) -> (&str, u64) {
    let split = name.rsplit_once('#').filter(|_| whose(name).is_some());
    let tries = split.and_then(|(name, tries)| Some((name, tries.parse().ok()?)));
    tries.unwrap_or((name, 1))
}
