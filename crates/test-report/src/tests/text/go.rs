//! What `go test` prints: a line for each package, and before it its tests, all of them with `-v`, else only those that failed.

use std::collections::{HashMap, HashSet};

use crate::limits::LONGEST_MESSAGE;
use crate::tests::builder::{Builder, cut};
use crate::tests::{Outcome, TestFormat, TestReport};
use crate::unreadable::{Kind, Unreadable};

pub(crate) fn read(text: &str) -> Result<TestReport, Unreadable> {
    let mut run = Run {
        builder: Builder::new(TestFormat::GoText),
        verbose: text.lines().any(|line| line.starts_with(RUN)),
        of_package: Tests::default(),
        builds: HashMap::new(),
        building: None,
        counted: HashSet::new(),
        closed: false,
        passed_packages: 0,
        bad_packages: 0,
    };
    for (line, number) in text.lines().zip(1..) {
        run.line(line, number).map_err(|error| match error.line {
            Some(_) => error,
            None => error.at_line(number),
        })?;
    }
    run.finish()
}

/// How sure it is that this was printed by it: the number of lines that nobody else prints. 0 is no.
pub(crate) fn signs(text: &str) -> usize {
    let is_sign = |line: &&str| {
        End::read(line).is_some()
            || line.starts_with(RUN)
            || line.starts_with("--- ") && result(line).is_some()
    };
    text.lines().filter(is_sign).count()
}

const RUN: &str = "=== RUN   ";

/// The line that ends a package.
enum End<'a> {
    Passed { package: &'a str, ran: bool },
    Failed { package: &'a str },
    NotBuilt { package: &'a str },
    NoTests,
}

impl<'a> End<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let mut fields = line.split('\t');
        let (verdict, package) = (fields.next()?, fields.next()?);
        let rest = fields.next();
        match (verdict, rest) {
            ("FAIL", None) => {
                let (package, why) = package.split_once(' ')?;
                let not_built = matches!(why, "[build failed]" | "[setup failed]");
                not_built.then_some(Self::NotBuilt { package })
            }
            _ if package.is_empty() || package.contains(' ') => None,
            ("ok  ", Some(how)) if how == "(cached)" || is_time(how) => Some(Self::Passed {
                package,
                ran: !line.ends_with("[no tests to run]"),
            }),
            ("FAIL", Some(how)) if is_time(how) => Some(Self::Failed { package }),
            ("?   ", Some("[no test files]")) => Some(Self::NoTests),
            // With `-cover`, a package without tests.
            ("", Some(_)) if line.ends_with("% of statements") => Some(Self::NoTests),
            _ => None,
        }
    }
}

fn is_time(text: &str) -> bool {
    let text = text.split(' ').next().unwrap_or(text);
    text.strip_suffix('s')
        .is_some_and(|number| number.parse::<f64>().is_ok())
}

/// A result such as `--- FAIL: TestTotals (0.00s)`, which may follow output that ended without a line break.
fn result(line: &str) -> Option<(&str, Outcome)> {
    let at = line.rfind("--- ")?;
    let (verdict, rest) = line.get(at + 4..)?.split_once(": ")?;
    let outcome = match verdict {
        "PASS" | "BENCH" => Outcome::Passed,
        "FAIL" => Outcome::Failed,
        "SKIP" => Outcome::Skipped,
        _ => return None,
    };
    let (name, time) = rest.strip_suffix(')')?.rsplit_once(" (")?;
    (is_time(time) && !name.contains(' ')).then_some((name, outcome))
}

/// The tests of the package whose line is still to come.
#[derive(Default)]
struct Tests {
    /// Begun, and with `-v` without a result yet: with their places in the order.
    begun: HashMap<String, usize>,
    /// How often one began.
    begins: usize,
    ended: Vec<(String, Outcome)>,
    /// What they printed, and whose output comes now.
    output: HashMap<String, String>,
    current: Option<String>,
    /// The line of the first thing that was printed of it.
    line: Option<u64>,
    /// What was printed by no test.
    other: String,
}

struct Run {
    builder: Builder,
    verbose: bool,
    of_package: Tests,
    /// What the compiler said, by package.
    builds: HashMap<String, String>,
    building: Option<String>,
    counted: HashSet<String>,
    /// Whether the line came that ends a run in which something failed.
    closed: bool,
    passed_packages: u64,
    bad_packages: u64,
}

impl Run {
    fn line(&mut self, line: &str, number: u64) -> Result<(), Unreadable> {
        if let Some(end) = End::read(line) {
            return self.end(&end, line);
        }
        if let Some(rest) = line.strip_prefix("# ") {
            let package = rest.split([' ', '[']).find(|part| !part.is_empty());
            let package = package.map(|p| p.trim_end_matches(']').trim_end_matches(".test"));
            if let Some(package) = package.filter(|_| self.of_package.line.is_none()) {
                self.building = Some(package.to_owned());
                return Ok(());
            }
        }
        // Where the compiler had its say is not marked: the first line of a test ends it.
        if line.starts_with("=== ") || line.starts_with("panic: ") || result(line).is_some() {
            self.building = None;
        }
        if let Some(package) = &self.building {
            let text = self.builds.entry(package.clone()).or_default();
            keep(text, line);
            return Ok(());
        }
        let blank = line.trim().is_empty();
        if line == "FAIL" && self.of_package.line.is_none() && self.bad_packages > 0 {
            self.closed = true;
            return Ok(());
        }
        if !blank && !self.closed {
            self.of_package.line.get_or_insert(number);
        }
        if matches!(line, "PASS" | "FAIL") || line.starts_with("exit status ") {
            self.of_package.current = None;
        } else {
            self.of_test(line);
        }
        Ok(())
    }

    fn of_test(&mut self, line: &str) {
        let tests = &mut self.of_package;
        if let Some((_, name)) = line.split_once(RUN).filter(|_| self.verbose) {
            let name = name.trim_end();
            tests.current = Some(name.to_owned());
            let place = tests.begins;
            tests.begins += 1;
            tests.begun.entry(name.to_owned()).or_insert(place);
            return;
        }
        let goes_on = ["=== CONT  ", "=== NAME  ", "=== PAUSE "]
            .iter()
            .find_map(|frame| line.strip_prefix(frame));
        if let Some(name) = goes_on {
            tests.current = Some(name.trim_end().to_owned());
            return;
        }
        if let Some((name, outcome)) = result(line)
            // With `-v` every test is announced: what was not, a test printed.
            && (!self.verbose || tests.begun.remove(name).is_some())
        {
            tests.current = (outcome != Outcome::Passed).then(|| name.to_owned());
            tests.ended.push((name.to_owned(), outcome));
            return;
        }
        let text = match &tests.current {
            Some(name) => tests.output.entry(name.clone()).or_default(),
            None => &mut tests.other,
        };
        keep(text, line);
    }

    fn end(&mut self, end: &End<'_>, line: &str) -> Result<(), Unreadable> {
        // While tests run, such a line is the output of one of them.
        let running = self.verbose && !self.of_package.begun.is_empty();
        if running && !matches!(end, End::Failed { .. }) {
            self.of_test(line);
            return Ok(());
        }
        self.building = None;
        let mut tests = std::mem::take(&mut self.of_package);
        let name = match end {
            End::NoTests => return Ok(()),
            End::Passed { package, .. } | End::Failed { package } | End::NotBuilt { package } => {
                *package
            }
        };
        if self.closed || !self.counted.insert(name.to_owned()) {
            let message = format!("{name} is there after its end: give the report of one run");
            return Err(Unreadable::new(Kind::Mixed, message));
        }
        match end {
            End::Passed { ran, .. } => self.passed(name, *ran, &tests),
            End::NotBuilt { .. } => {
                self.bad_packages += 1;
                let message = self.builds.get(name).map(String::as_str);
                self.builder
                    .test(name, Outcome::NotCollected, message, None)
            }
            _ => self.failed(name, &mut tests),
        }
    }

    fn passed(&mut self, package: &str, ran: bool, tests: &Tests) -> Result<(), Unreadable> {
        let failed = |(_, outcome): &&(String, Outcome)| *outcome == Outcome::Failed;
        if let Some((test, _)) = tests.ended.iter().find(failed) {
            let message = format!("{package} is said to have passed, and {test} to have failed");
            return Err(Unreadable::new(Kind::Contradiction, message));
        }
        self.give(package, tests)?;
        if !self.verbose && ran {
            self.passed_packages += 1;
            self.builder.test(package, Outcome::Passed, None, None)?;
        }
        Ok(())
    }

    fn failed(&mut self, package: &str, tests: &mut Tests) -> Result<(), Unreadable> {
        self.bad_packages += 1;
        self.give(package, tests)?;
        let mut begun: Vec<(String, usize)> = tests.begun.drain().collect();
        begun.sort_unstable_by_key(|(_, place)| *place);
        let named = !begun.is_empty() || tests.ended.iter().any(|(_, o)| *o == Outcome::Failed);
        for (test, _) in begun {
            let message = tests.output.get(&test).unwrap_or(&tests.other);
            let id = format!("{package}/{test}");
            self.builder
                .test(&id, Outcome::Error, Some(message), None)?;
        }
        if !named {
            let id = package;
            self.builder
                .test(id, Outcome::NotCollected, Some(&tests.other), None)?;
        }
        Ok(())
    }

    fn give(&mut self, package: &str, tests: &Tests) -> Result<(), Unreadable> {
        for (test, outcome) in &tests.ended {
            let message = tests.output.get(test).map(String::as_str);
            let message = message.filter(|_| *outcome != Outcome::Passed);
            let outcome = match message {
                Some(text) if *outcome == Outcome::Failed && is_panic(text) => Outcome::Error,
                _ => *outcome,
            };
            let id = format!("{package}/{test}");
            self.builder.test(&id, outcome, message, None)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<TestReport, Unreadable> {
        if let Some(line) = self.of_package.line {
            let message = "what was printed here is of a package whose result is missing";
            return Err(Unreadable::new(Kind::Truncated, message).at_line(line));
        }
        if self.building.is_some() {
            let message = "a package could not be built, and what became of the others is missing";
            return Err(Unreadable::new(Kind::Truncated, message));
        }
        if self.passed_packages > 0 {
            self.builder.note(
                "without -v, go does not list the tests that passed: a package that passed counts as one test",
            );
        }
        self.builder.finish()
    }
}

fn is_panic(text: &str) -> bool {
    let panics = |line: &str| line.starts_with("panic: ");
    let stack = |line: &str| line.starts_with("goroutine ") && line.contains('[');
    text.lines().any(panics) && text.lines().any(stack)
}

fn keep(text: &mut String, line: &str) {
    if text.len() < LONGEST_MESSAGE {
        text.push_str(cut(line, LONGEST_MESSAGE));
        text.push('\n');
    }
}
