//! What one test binary prints, from `running 3 tests` to `test result: ok. 3 passed; …`.

use std::collections::{HashMap, HashSet};

use crate::limits::LONGEST_MESSAGE;
use crate::tests::Outcome;
use crate::tests::binary::{self, Binary};
use crate::tests::builder::{Builder, cut};
use crate::unreadable::{Kind, Unreadable};

/// The numbers of a `test result:` line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ResultLine {
    good: bool,
    passed: u64,
    failed: u64,
    ignored: u64,
    measured: u64,
}

impl ResultLine {
    /// Reads `test result: FAILED. 1 passed; 5 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s`.
    pub(super) fn read(line: &str) -> Option<Self> {
        let rest = line.strip_prefix("test result: ")?;
        let (verdict, numbers) = rest.split_once(". ")?;
        let mut numbers = numbers.split("; ").filter_map(|part| {
            let (number, what) = part.split_once(' ')?;
            Some((number.parse::<u64>().ok()?, what))
        });
        let mut next = |wanted: &str| match numbers.next() {
            Some((number, what)) if what == wanted => Some(number),
            _ => None,
        };
        Some(Self {
            good: match verdict {
                "ok" => true,
                "FAILED" => false,
                _ => return None,
            },
            passed: next("passed")?,
            failed: next("failed")?,
            ignored: next("ignored")?,
            measured: next("measured")?,
        })
    }

    fn total(&self) -> u64 {
        [self.passed, self.failed, self.ignored, self.measured]
            .into_iter()
            .fold(0, u64::saturating_add)
    }
}

/// How many result lines with the right numbers may disagree with the list of failed tests, before it is dropped.
const MOST_DOUBTS: u32 = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Passed,
    Failed,
    TooLong,
    Ignored,
    Measured,
}

impl Seen {
    const fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::TooLong)
    }
}

/// How many tests were seen to end how.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    passed: u64,
    failed: u64,
    ignored: u64,
    measured: u64,
}

impl Tally {
    fn count(&mut self, seen: Seen) {
        *match seen {
            Seen::Passed => &mut self.passed,
            Seen::Failed | Seen::TooLong => &mut self.failed,
            Seen::Ignored => &mut self.ignored,
            Seen::Measured => &mut self.measured,
        } += 1;
    }

    fn is(self, said: ResultLine) -> bool {
        (self.passed, self.failed) == (said.passed, said.failed)
            && (self.ignored, self.measured) == (said.ignored, said.measured)
    }
}

struct Case {
    name: String,
    seen: Seen,
    message: Option<String>,
}

/// A test that has begun, and whose own output came before its outcome.
struct StartedTest {
    name: String,
    last: String,
}

/// How it ended.
enum End {
    /// Not yet.
    Open,
    /// With a line that agrees with what was listed.
    Said(ResultLine),
    /// Its process ended before.
    Crashed(Option<String>),
}

/// The tests of one binary.
pub(super) struct Suite {
    pub(super) binary: Option<Binary>,
    pub(super) line: u64,
    declared: u64,
    cases: Vec<Case>,
    /// Of all cases, and of those whose names are names of Rust.
    tally: Tally,
    native: Tally,
    begun: Option<StartedTest>,
    /// How many a line of their own calls failed, where nothing else is listed.
    terse: u64,
    /// Whether all have run, and the output of the failed ones is shown: what is in there is theirs.
    details: bool,
    listing: bool,
    listed: Vec<String>,
    failed: HashSet<String>,
    shown: Option<String>,
    messages: HashMap<String, String>,
    end: End,
    /// A result line that does not agree.
    wrong: Option<(u64, String)>,
    doubts: u32,
}

impl Suite {
    /// Begins with `running 3 tests`.
    pub(super) fn begins(line: &str) -> Option<u64> {
        let (number, what) = line.strip_prefix("running ")?.split_once(' ')?;
        matches!(what, "test" | "tests").then_some(())?;
        number.parse().ok()
    }

    pub(super) fn new(declared: u64, binary: Option<Binary>, line: u64) -> Self {
        Self {
            binary,
            line,
            declared,
            cases: Vec::new(),
            tally: Tally::default(),
            native: Tally::default(),
            begun: None,
            terse: 0,
            details: false,
            listing: false,
            listed: Vec::new(),
            failed: HashSet::new(),
            shown: None,
            messages: HashMap::new(),
            end: End::Open,
            wrong: None,
            doubts: 0,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.end, End::Open)
    }

    /// Whether what comes is the output of failed tests.
    pub(super) fn in_details(&self) -> bool {
        self.details
    }

    /// Whether its runner was not content with it.
    pub(super) fn is_bad(&self) -> bool {
        match self.end {
            End::Said(said) => !said.good,
            End::Open | End::Crashed(_) => true,
        }
    }

    /// What is wrong with it where nothing more comes.
    pub(super) fn unfinished(&self) -> Unreadable {
        if let Some((line, what)) = &self.wrong {
            return Unreadable::new(Kind::Contradiction, what.clone()).at_line(*line);
        }
        let message = format!(
            "{} tests began to run here, and how they ended is missing",
            self.declared
        );
        Unreadable::new(Kind::Truncated, message).at_line(self.line)
    }

    /// Ends it without a result. A result line that did not agree is then no output of a test.
    pub(super) fn crash(&mut self) -> Result<(), Unreadable> {
        if self.wrong.is_some() {
            return Err(self.unfinished());
        }
        self.end = End::Crashed(None);
        Ok(())
    }

    /// How its process ended.
    pub(super) fn explain(&mut self, how: &str) {
        if let End::Crashed(why @ None) = &mut self.end {
            *why = Some(how.to_owned());
        }
    }

    /// Takes the next line of an open suite.
    pub(super) fn line(&mut self, line: &str, number: u64) -> Result<(), Unreadable> {
        if let Some(said) = ResultLine::read(line) {
            self.said(said, line, number)?;
            if !self.is_open() {
                return Ok(());
            }
        }
        if matches!(line, "failures:" | "successes:") && self.all_ran() {
            self.details = true;
            self.listing = line == "failures:";
            self.listed.clear();
            self.shown = None;
            return Ok(());
        }
        if self.details {
            self.detail(line);
            return Ok(());
        }
        // One that prints is alone: until its outcome comes, each line is its own.
        let alone = self.begun.as_ref().is_some_and(|b| outcome(b).is_none());
        if let Some((name, seen)) = test_line(line).filter(|_| !alone) {
            self.settle();
            if let Some((seen, message)) = seen {
                self.add(name, seen, message);
            } else {
                let last = line.rsplit_once(" ... ").map_or("", |(_, last)| last);
                let last = last.to_owned();
                self.begun = Some(StartedTest { name, last });
            }
        } else if let Some(name) = line.strip_suffix(" --- FAILED")
            && binary::is_name(name)
        {
            self.failed.insert(name.to_owned());
            self.terse += 1;
        } else if let Some(begun) = &mut self.begun
            && !line.trim().is_empty()
        {
            cut(line, LONGEST_MESSAGE).clone_into(&mut begun.last);
        }
        Ok(())
    }

    /// Whether the outcome of every test is known, so that what was printed is no output of a running one.
    fn all_ran(&mut self) -> bool {
        if self.cases.is_empty() && self.begun.is_none() {
            return true;
        }
        let settled = self.begun.as_ref().is_none_or(|b| outcome(b).is_some());
        let known = self.cases.len() + usize::from(self.begun.is_some());
        let all = settled && known as u64 >= self.declared;
        if all {
            self.settle();
        }
        all
    }

    /// A test that printed something has its outcome at the end of the last line before the next test.
    fn settle(&mut self) {
        if let Some(begun) = self.begun.take()
            && let Some(seen) = outcome(&begun)
        {
            self.add(begun.name, seen, None);
        }
    }

    fn add(&mut self, name: String, seen: Seen, message: Option<String>) {
        self.tally.count(seen);
        if binary::is_name(&name) {
            self.native.count(seen);
        }
        if seen.is_failure() {
            self.failed.insert(name.clone());
        }
        self.cases.push(Case {
            name,
            seen,
            message,
        });
    }

    /// A line of the output of failed tests, or of their list.
    fn detail(&mut self, line: &str) {
        if let Some(name) = line
            .strip_prefix("---- ")
            .and_then(|rest| rest.strip_suffix(" stdout ----"))
            && self.is_failed(name)
        {
            self.shown = Some(name.to_owned());
            self.listing = false;
        } else if let Some(name) = &self.shown {
            let message = self.messages.entry(name.clone()).or_default();
            if message.len() < LONGEST_MESSAGE {
                message.push_str(cut(line, LONGEST_MESSAGE));
                message.push('\n');
            }
        } else if self.listing
            && let Some(name) = line.strip_prefix("    ").filter(|name| !name.is_empty())
        {
            self.listed.push(name.to_owned());
        } else if self.listing && !line.is_empty() {
            self.listing = false;
        }
    }

    fn is_failed(&self, name: &str) -> bool {
        // Old harnesses print an `F` for it, without a name.
        self.failed.contains(name) || self.cases.is_empty() && self.failed.is_empty()
    }

    /// Takes a result line where it agrees with what was listed. Otherwise it may be the output of a test.
    fn said(&mut self, said: ResultLine, line: &str, number: u64) -> Result<(), Unreadable> {
        let unsettled = self.begun.as_ref().is_some_and(|b| outcome(b).is_none());
        let coherent = said.total() == self.declared && said.good == (said.failed == 0);
        if coherent && !unsettled {
            if self.cases.is_empty() && self.begun.is_none() {
                if self.agrees_tersely(said) {
                    self.end = End::Said(said);
                    return Ok(());
                }
            } else if self.agrees(said) {
                return Ok(());
            }
        }
        let message = format!(
            "{line:?} is not what is listed: {} tests were to run, {} are listed, and {} of them failed",
            self.declared,
            self.cases.len(),
            self.tally.failed.max(self.terse)
        );
        self.wrong = Some((number, message));
        if self.doubts > MOST_DOUBTS {
            return Err(self.unfinished());
        }
        Ok(())
    }

    fn agrees_tersely(&self, said: ResultLine) -> bool {
        said.failed == self.listed.len() as u64
            && self.terse <= said.failed
            && (said.failed > 0 || !self.details)
    }

    /// Ends it where the numbers and the names of the failed tests agree.
    fn agrees(&mut self, said: ResultLine) -> bool {
        let (mut tally, mut native) = (self.tally, self.native);
        if let Some(seen) = self.begun.as_ref().and_then(outcome) {
            tally.count(seen);
            native.count(seen);
        }
        // A library that tests with files prints lines of the same form for them.
        let only_native = !tally.is(said);
        if only_native && !native.is(said) {
            return false;
        }
        self.settle();
        let mut failed: Vec<&str> = self
            .cases
            .iter()
            .filter(|case| case.seen.is_failure())
            .map(|case| &*case.name)
            .filter(|name| !only_native || binary::is_name(name))
            .collect();
        let mut listed: Vec<&str> = self.listed.iter().map(String::as_str).collect();
        failed.sort_unstable();
        listed.sort_unstable();
        if failed != listed {
            self.doubts += 1;
            return false;
        }
        if only_native {
            self.cases.retain(|case| binary::is_name(&case.name));
        }
        self.end = End::Said(said);
        true
    }

    /// Gives its tests to a report, under the name of the binary where that is told.
    pub(super) fn give(&self, named: bool, builder: &mut Builder) -> Result<(), Unreadable> {
        let binary = self.binary.as_ref().filter(|_| named);
        if let (End::Said(said), true) = (&self.end, self.cases.is_empty()) {
            let names: Vec<&str> = self.listed.iter().map(String::as_str).collect();
            for (name, (id, file)) in names.iter().zip(binary::ids(binary, &names)) {
                let message = self.messages.get(*name).map(String::as_str);
                builder.test(&id, failure(message), message, file.as_deref())?;
            }
            builder.unnamed(Outcome::Passed, said.passed.saturating_add(said.measured));
            builder.unnamed(Outcome::Skipped, said.ignored);
            return Ok(());
        }
        let names: Vec<&str> = self.cases.iter().map(|case| &*case.name).collect();
        for (case, (id, file)) in self.cases.iter().zip(binary::ids(binary, &names)) {
            let shown = self.messages.get(&case.name).map(String::as_str);
            let message = case.message.as_deref().or(shown);
            let outcome = match case.seen {
                Seen::Passed | Seen::Measured => Outcome::Passed,
                Seen::Ignored => Outcome::Skipped,
                Seen::TooLong => Outcome::Error,
                Seen::Failed => failure(message),
            };
            builder.test(&id, outcome, message, file.as_deref())?;
        }
        if let End::Crashed(why) = &self.end {
            let why = why
                .as_deref()
                .unwrap_or("the process ended before its tests did");
            let mut known = self.cases.len() as u64;
            // Only with one thread the harness names a test before it runs it.
            if let Some(begun) = &self.begun {
                let id = binary::ids(binary, &[&begun.name]).pop();
                let id = id.map_or_else(|| begun.name.clone(), |(id, _)| id);
                builder.test(&id, Outcome::Error, Some(why), None)?;
                known += 1;
            }
            if self.begun.is_none() || known < self.declared {
                let id = binary.map_or("test binary", |binary| &binary.name);
                builder.test(id, Outcome::NotCollected, Some(why), None)?;
            }
        }
        Ok(())
    }
}

/// A documentation test that is no code was never run.
fn failure(message: Option<&str>) -> Outcome {
    let compiled = message.is_none_or(|text| !text.contains("\nCouldn't compile the test."));
    if compiled {
        Outcome::Failed
    } else {
        Outcome::NotCollected
    }
}

fn outcome(begun: &StartedTest) -> Option<Seen> {
    let last = begun.last.trim_end();
    if last.ends_with("ok") {
        Some(Seen::Passed)
    } else if last.ends_with("FAILED") {
        Some(Seen::Failed)
    } else {
        None
    }
}

type TestEnd = (Seen, Option<String>);

/// Reads `test cart::adds ... ok`. Without an outcome, the test has only begun, and prints something.
fn test_line(line: &str) -> Option<(String, Option<TestEnd>)> {
    if let Some(rest) = line.strip_prefix("test ")
        && let Some((name, rest)) = rest.split_once(" ... ")
    {
        let told = parse_outcome(rest);
        let name = plain_name(name);
        return (told.is_some() || binary::is_name(name)).then(|| (name.to_owned(), told));
    }
    // With the output not captured and several threads, another test's line may stand in front of it.
    let (_, rest) = line.rsplit_once("test ")?;
    let (name, rest) = rest.split_once(" ... ")?;
    let name = plain_name(name);
    let told = parse_outcome(rest).filter(|_| binary::is_name(name))?;
    Some((name.to_owned(), Some(told)))
}

/// The name without what is said of its kind.
fn plain_name(name: &str) -> &str {
    [" - should panic", " - compile fail", " - compile"]
        .iter()
        .find_map(|kind| name.strip_suffix(kind))
        .unwrap_or(name)
}

fn parse_outcome(rest: &str) -> Option<TestEnd> {
    let rest = rest.trim_end();
    if let Some(reason) = rest.strip_prefix("ignored, ") {
        return Some((Seen::Ignored, Some(reason.to_owned())));
    }
    let (word, more) = rest.split_once(' ').unwrap_or((rest, ""));
    let seen = match word {
        "ok" if more.is_empty() || more.starts_with('<') => Seen::Passed,
        "FAILED" if more.is_empty() || more.starts_with('<') => Seen::Failed,
        "FAILED" if more.starts_with("(time limit exceeded") => Seen::TooLong,
        "ignored" if more.is_empty() => Seen::Ignored,
        "bench:" => Seen::Measured,
        _ => return None,
    };
    Some((seen, None))
}
