//! `go test -json`: an event in each line, of tests, of packages and of what could not be built.
//!
//! Go counts a test with subtests as a test of its own, as `go test -v` prints it, and so does this.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::BufRead as _;

use serde::Deserialize;

use crate::limits::{LONGEST_MESSAGE, LONGEST_WHOLE, MOST_TESTS};
use crate::source::Source;
use crate::tests::builder::{Builder, cut};
use crate::tests::{Outcome, TestFormat, TestReport};
use crate::unreadable::{Kind, Unreadable};

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    action: String,
    package: Option<String>,
    test: Option<String>,
    output: Option<String>,
    failed_build: Option<String>,
    import_path: Option<String>,
}

/// What `go test -json` gives in events of what was printed, as `go test` would have printed it; lines that are none stay.
#[must_use]
pub fn printed_in_events(output: &str) -> Cow<'_, str> {
    if !output.lines().any(is_event) {
        return output.into();
    }
    let mut all = String::with_capacity(output.len());
    for line in output.split_inclusive('\n') {
        match Some(line).filter(|line| is_event(line)) {
            None => all.push_str(line),
            Some(event) => {
                let event = serde_json::from_str::<Event>(event).ok();
                all.extend(event.and_then(|event| event.output));
            }
        }
    }
    all.into()
}

/// Whether this line is one of the events.
pub(super) fn is_event(line: &str) -> bool {
    line.starts_with('{')
        && serde_json::from_str::<Event>(line).is_ok_and(|event| {
            event.package.is_some() || event.import_path.is_some() || event.test.is_some()
        })
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
        run.line(&line, number).map_err(|error| match error.line {
            Some(_) => error,
            None => error.at_line(number),
        })?;
    }
}

/// A test that has begun.
#[derive(Default)]
struct StartedTest {
    line: u64,
    output: Output,
}

/// What was printed, as far as it is kept.
#[derive(Default)]
struct Output {
    text: String,
    panic: bool,
    stack: bool,
}

impl Output {
    fn add(&mut self, text: &str) {
        self.panic |= text.starts_with("panic: ");
        self.stack |= text.starts_with("goroutine ") && text.contains('[');
        if !is_frame(text) && self.text.len() < LONGEST_MESSAGE {
            self.text.push_str(cut(text, LONGEST_MESSAGE));
        }
    }

    /// A test that failed, or whose process went down in a panic.
    fn failure(&self) -> Outcome {
        if self.panic && self.stack {
            Outcome::Error
        } else {
            Outcome::Failed
        }
    }
}

#[derive(Default)]
struct Package {
    line: u64,
    begun: HashMap<String, StartedTest>,
    output: Output,
    failed: u64,
    ended: bool,
    /// It failed, and only what failed in it may be run again.
    has_failed: bool,
}

struct Run {
    builder: Builder,
    packages: HashMap<String, Package>,
    begun: usize,
    /// The places of tests that failed, by their ids.
    failed: HashMap<String, usize>,
    /// What was printed by builds, by what was built.
    builds: HashMap<String, String>,
    failed_builds: Vec<String>,
    explained: HashSet<String>,
    /// The last lines that are no events: older versions print there what could not be built.
    printed: String,
}

impl Run {
    fn new() -> Self {
        Self {
            builder: Builder::new(TestFormat::GoJson),
            packages: HashMap::new(),
            begun: 0,
            failed: HashMap::new(),
            builds: HashMap::new(),
            failed_builds: Vec::new(),
            explained: HashSet::new(),
            printed: String::new(),
        }
    }

    fn line(&mut self, whole: &str, number: u64) -> Result<(), Unreadable> {
        let line = whole.trim_end();
        if !line.starts_with('{') {
            return self.printed(line);
        }
        let event: Event = serde_json::from_str(line).map_err(|error| {
            if error.is_eof() && !whole.ends_with('\n') {
                Unreadable::new(Kind::Truncated, "it ends in the middle of an event")
            } else {
                Unreadable::new(Kind::Malformed, format!("this is no event: {error}"))
            }
        })?;
        match &*event.action {
            "build-output" => {
                let (Some(path), Some(output)) = (event.import_path, event.output) else {
                    return Ok(());
                };
                let text = self.builds.entry(path).or_default();
                if text.len() < LONGEST_MESSAGE {
                    text.push_str(cut(&output, LONGEST_MESSAGE));
                }
                Ok(())
            }
            "build-fail" => {
                self.failed_builds.extend(event.import_path);
                Ok(())
            }
            _ => self.of_package(&event, number),
        }
    }

    fn of_package(&mut self, event: &Event, number: u64) -> Result<(), Unreadable> {
        let name = event.package.clone().unwrap_or_default();
        let known = self.packages.len();
        let package = self
            .packages
            .entry(name.clone())
            .or_insert_with(|| Package {
                line: number,
                ..Package::default()
            });
        if known >= MOST_TESTS {
            let message = format!("it names more than {MOST_TESTS} packages");
            return Err(Unreadable::new(Kind::TooLarge, message));
        }
        let test = event.test.as_deref();
        // gotestsum runs again what failed.
        let runs_again = package.has_failed
            && test.is_none_or(|test| {
                let root = test.split('/').next().unwrap_or(test);
                self.failed.contains_key(&format!("{name}/{root}"))
            });
        let goes_on = matches!(&*event.action, "start" | "run" | "pass" | "fail" | "skip");
        if goes_on && runs_again {
            package.ended = false;
        } else if goes_on && (package.ended || package.has_failed) {
            let message = format!("{name} goes on after its end: give the report of one run");
            return Err(Unreadable::new(Kind::Mixed, message));
        }
        match (&*event.action, test) {
            ("run", Some(test)) => {
                self.begun += 1;
                if self.begun > MOST_TESTS {
                    let message = format!("more than {MOST_TESTS} tests have begun");
                    return Err(Unreadable::new(Kind::TooLarge, message));
                }
                let begun = StartedTest {
                    line: number,
                    ..StartedTest::default()
                };
                if package.begun.insert(test.to_owned(), begun).is_some() {
                    let message = format!("{test} begins again before it has ended");
                    return Err(Unreadable::new(Kind::Malformed, message));
                }
                Ok(())
            }
            ("output", test) => {
                let text = event.output.as_deref().unwrap_or_default();
                match test {
                    Some(test) => {
                        if let Some(begun) = package.begun.get_mut(test) {
                            begun.output.add(text);
                        }
                    }
                    None => package.output.add(text),
                }
                Ok(())
            }
            ("pass" | "bench" | "fail" | "skip", Some(test)) => {
                let begun = package.begun.remove(test).unwrap_or_default();
                let outcome = match &*event.action {
                    "skip" => Outcome::Skipped,
                    "fail" => begun.output.failure(),
                    _ => Outcome::Passed,
                };
                package.failed += u64::from(outcome.is_failure());
                let message = (!outcome.is_success()).then_some(&*begun.output.text);
                let id = format!("{name}/{test}");
                let again = self.failed.get(&id).filter(|_| package.has_failed);
                if let Some(at) = again {
                    self.builder.tried_again(*at, outcome, message);
                    return Ok(());
                }
                if outcome.is_failure() {
                    self.failed.insert(id.clone(), self.builder.len());
                } else if package.has_failed {
                    return Ok(());
                }
                self.builder.test(&id, outcome, message, None)
            }
            ("pass" | "fail" | "skip", None) => {
                let mut ended = std::mem::take(package);
                package.line = ended.line;
                package.ended = true;
                package.has_failed = ended.has_failed || event.action == "fail";
                self.end(&name, &mut ended, event)
            }
            _ => Ok(()),
        }
    }

    fn end(&mut self, name: &str, package: &mut Package, event: &Event) -> Result<(), Unreadable> {
        let mut begun: Vec<(String, StartedTest)> = package.begun.drain().collect();
        begun.sort_unstable_by_key(|(_, begun)| begun.line);
        if event.action != "fail" {
            if package.failed > 0 {
                let message = format!(
                    "{name} is said to have passed, with {} failed tests in it",
                    package.failed
                );
                return Err(Unreadable::new(Kind::Contradiction, message));
            }
            // Benchmarks have no result of their own; nor has a test, in older versions, that printed half a line.
            for (test, _) in begun {
                let id = format!("{name}/{test}");
                self.builder.test(&id, Outcome::Passed, None, None)?;
            }
            return Ok(());
        }
        let built = event.failed_build.as_deref();
        let text = &package.output.text;
        if built.is_some() || text.contains(" [build failed]") || text.contains(" [setup failed]") {
            let build = built.and_then(|path| self.builds.get(path));
            self.explained.extend(built.map(str::to_owned));
            let message = build.cloned().unwrap_or_else(|| {
                let printed = std::mem::take(&mut self.printed);
                if printed.is_empty() {
                    text.clone()
                } else {
                    printed
                }
            });
            return self.not_built(name, &message);
        }
        let unexplained = package.failed == 0 && begun.is_empty();
        for (test, begun) in begun {
            let mut message = begun.output.text;
            if message.is_empty() {
                message.clone_from(text);
            }
            let id = format!("{name}/{test}");
            self.builder
                .test(&id, Outcome::Error, Some(&message), None)?;
        }
        if unexplained {
            self.not_built(name, text)?;
        }
        Ok(())
    }

    fn not_built(&mut self, name: &str, message: &str) -> Result<(), Unreadable> {
        self.builder
            .test(name, Outcome::NotCollected, Some(message), None)
    }

    /// A line that is no event.
    fn printed(&mut self, line: &str) -> Result<(), Unreadable> {
        let unbuilt = line
            .strip_prefix("FAIL\t")
            .and_then(|rest| rest.split_once(' '))
            .filter(|(_, why)| matches!(*why, "[build failed]" | "[setup failed]"));
        if let Some((name, _)) = unbuilt {
            let message = std::mem::take(&mut self.printed);
            return self.not_built(name, &message);
        }
        if line.starts_with("# ") && !self.printed.contains("# ") {
            self.printed.clear();
        }
        if !line.is_empty() && self.printed.len() < LONGEST_MESSAGE {
            self.printed.push_str(cut(line, LONGEST_MESSAGE));
            self.printed.push('\n');
        }
        Ok(())
    }

    fn finish(mut self) -> Result<TestReport, Unreadable> {
        let open = self.packages.iter().filter(|(_, package)| !package.ended);
        if let Some((name, package)) = open.min_by_key(|(_, package)| package.line) {
            let message = format!("{name} has begun, and how it ended is missing");
            return Err(Unreadable::new(Kind::Truncated, message).at_line(package.line));
        }
        for path in std::mem::take(&mut self.failed_builds) {
            if self.explained.insert(path.clone()) {
                let message = self.builds.get(&path).cloned().unwrap_or_default();
                let name = path.split(' ').next().unwrap_or(&path);
                self.not_built(name, &message)?;
            }
        }
        self.builder.finish()
    }
}

/// What the harness prints around the output of tests.
fn is_frame(text: &str) -> bool {
    let text = text.trim_start();
    ["=== RUN ", "=== PAUSE ", "=== CONT ", "=== NAME "]
        .iter()
        .chain(&["--- FAIL: ", "--- PASS: ", "--- SKIP: "])
        .any(|frame| text.starts_with(frame))
}
