//! What Maven prints of its tests: the lines of Surefire and Failsafe, and of the compiler in front of them.

use std::collections::{BTreeSet, HashSet};

use crate::tests::builder::Builder;
use crate::tests::{Outcome, TestFormat, TestReport};
use crate::unreadable::{Kind, Unreadable};

pub(crate) fn read(text: &str) -> Result<TestReport, Unreadable> {
    let mut told = ClassSummary::default();
    for (index, line) in text.lines().enumerate() {
        told.line(line)
            .map_err(|fault| fault.at_line(index as u64 + 1))?;
    }
    told.report()
}

/// How sure it is that this was printed by it: the number of lines that nobody else prints. 0 is no.
pub(crate) fn signs(text: &str) -> usize {
    text.lines()
        .map(unmarked)
        .filter(|line| {
            *line == "Scanning for projects..."
                || matches!(*line, "BUILD SUCCESS" | "BUILD FAILURE")
                || numbers(line).is_some()
        })
        .count()
}

/// The numbers of a class, a module, or all of it.
#[derive(Clone, Copy, Default)]
struct Numbers {
    tests: u64,
    failures: u64,
    errors: u64,
    skipped: u64,
    flakes: u64,
}

impl Numbers {
    fn add(&mut self, more: Self) {
        self.tests = self.tests.saturating_add(more.tests);
        self.failures = self.failures.saturating_add(more.failures);
        self.errors = self.errors.saturating_add(more.errors);
        self.skipped = self.skipped.saturating_add(more.skipped);
        self.flakes = self.flakes.saturating_add(more.flakes);
    }
}

/// `Tests run: 13, Failures: 4, Errors: 3, Skipped: 2, Flakes: 1`, and whether it is of one class.
fn numbers(line: &str) -> Option<(Numbers, bool)> {
    let mut parts = line.split(", ");
    let mut number = |name: &str| parts.next()?.strip_prefix(name)?.trim().parse().ok();
    let mut numbers = Numbers {
        tests: number("Tests run:")?,
        failures: number("Failures:")?,
        errors: number("Errors:")?,
        skipped: number("Skipped:")?,
        flakes: 0,
    };
    let rest = parts.next();
    if let Some(flakes) = rest.and_then(|rest| rest.strip_prefix("Flakes:")) {
        numbers.flakes = flakes.trim().parse().ok()?;
    }
    let of_class = rest.is_some_and(|rest| rest.starts_with("Time elapsed:"));
    Some((numbers, of_class))
}

/// A line without its level.
fn unmarked(line: &str) -> &str {
    ["[INFO]", "[WARNING]", "[ERROR]"]
        .iter()
        .find_map(|level| line.strip_prefix(level))
        .unwrap_or(line)
        .trim()
}

#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // each a fact of its own
struct ClassSummary {
    begun: bool,
    ended: bool,
    failed: bool,
    /// Why it did not succeed.
    reason: Option<String>,
    /// Behind `Results:`, and in front of its numbers.
    in_results: bool,
    in_flakes: bool,
    /// The classes of a module, until its numbers.
    classes: Numbers,
    total: Numbers,
    modules: u64,
    failures: Vec<(String, Outcome)>,
    failing: HashSet<String>,
    flakes: BTreeSet<String>,
    compiling: bool,
    uncompiled: BTreeSet<String>,
}

impl ClassSummary {
    fn line(&mut self, line: &str) -> Result<(), Unreadable> {
        let plain = unmarked(line);
        match plain {
            "Scanning for projects..." if line != plain => {
                if self.begun {
                    let message = "another build begins here: give the report of one run";
                    return Err(Unreadable::new(Kind::Mixed, message));
                }
                self.begun = true;
            }
            "BUILD SUCCESS" | "BUILD FAILURE" if line != plain => {
                if self.ended {
                    let message = "another build ends here: give the report of one run";
                    return Err(Unreadable::new(Kind::Mixed, message));
                }
                self.ended = true;
                self.failed |= plain == "BUILD FAILURE";
            }
            "COMPILATION ERROR :" => self.compiling = true,
            "Results:" | "Results :" => self.in_results = true,
            "Flakes:" if self.in_results => {
                self.in_flakes = true;
                return Ok(());
            }
            "Failures:" | "Errors:" if self.in_results => self.in_flakes = false,
            _ => {}
        }
        if self.reason.is_none() && plain.starts_with("Failed to execute goal") {
            self.reason = Some(plain.to_owned());
            self.failed = true;
        }
        if let Some((numbers, of_class)) = numbers(plain) {
            // With -q the heading is left out.
            self.in_results |= !self.begun && !of_class && line.starts_with("[ERROR] ");
            return self.numbers(numbers, of_class);
        }
        if self.compiling && line.starts_with("[ERROR] ") {
            let place = plain
                .split(":[")
                .next()
                .filter(|place| place.len() < plain.len());
            if let Some(place) = place {
                // The folder of the project is not the same everywhere.
                let from = place.rfind("/src/").map_or(0, |at| at + 1);
                self.uncompiled.insert(place[from..].to_owned());
            }
        }
        if self.in_flakes {
            let marked = line.starts_with("[WARNING] ") && !line.starts_with("[WARNING]  ");
            if marked && let Some(id) = identified(plain) {
                self.flakes.insert(id);
            }
        } else if let Some((named, _)) = plain.split_once("Time elapsed:") {
            let outcome = match plain.rsplit_once("<<< ") {
                Some((_, "FAILURE!")) => Outcome::Failed,
                Some((_, "ERROR!")) => Outcome::Error,
                _ => return Ok(()),
            };
            let named = named.trim_end().trim_end_matches("--").trim_end();
            if let Some(id) = identified(named)
                && self.failing.insert(id.clone())
            {
                self.failures.push((id, outcome));
            }
        }
        Ok(())
    }

    fn numbers(&mut self, numbers: Numbers, of_class: bool) -> Result<(), Unreadable> {
        if of_class {
            self.classes.add(numbers);
        } else if self.in_results {
            self.in_results = false;
            self.in_flakes = false;
            let classes = std::mem::take(&mut self.classes);
            let bad = numbers.failures.saturating_add(numbers.errors);
            let of_classes = classes.failures.saturating_add(classes.errors);
            // What was tried again is in the numbers of its class each time.
            if bad > of_classes || bad == 0 && of_classes > 0 && numbers.flakes == 0 {
                let message = format!(
                    "it declares {bad} failures and errors, and {of_classes} are in its classes"
                );
                return Err(Unreadable::new(Kind::Contradiction, message));
            }
            self.total.add(numbers);
            self.modules += 1;
        }
        Ok(())
    }

    fn report(self) -> Result<TestReport, Unreadable> {
        if !self.ended && self.reason.is_none() || self.in_results || self.classes.tests > 0 {
            let message = "it ends before the build does; leave out -q, which hides how it ends";
            return Err(Unreadable::new(Kind::Truncated, message));
        }
        let mut report = Builder::new(TestFormat::MavenText);
        let total = self.total;
        let apart = [total.failures, total.errors, total.skipped, total.flakes]
            .into_iter()
            .fold(0, u64::saturating_add);
        let Some(passed) = total.tests.checked_sub(apart) else {
            let message = format!(
                "it declares {} tests, and {apart} of them not passed",
                total.tests
            );
            return Err(Unreadable::new(Kind::Contradiction, message));
        };
        let mut left = [
            (Outcome::Failed, total.failures),
            (Outcome::Error, total.errors),
            (Outcome::Flaky, total.flakes),
        ];
        let failures = self
            .failures
            .iter()
            .filter(|(id, _)| !self.flakes.contains(id));
        let flakes = self.flakes.iter().map(|id| (id, Outcome::Flaky));
        for (id, outcome) in failures.map(|(id, outcome)| (id, *outcome)).chain(flakes) {
            if let Some((_, left)) = left
                .iter_mut()
                .find(|(of, left)| *of == outcome && *left > 0)
            {
                *left -= 1;
                report.test(id, outcome, None, None)?;
            }
        }
        for (outcome, left) in left {
            report.unnamed(outcome, left);
        }
        report.unnamed(Outcome::Passed, passed);
        report.unnamed(Outcome::Skipped, total.skipped);
        for file in &self.uncompiled {
            report.test(
                file,
                Outcome::NotCollected,
                self.reason.as_deref(),
                Some(file),
            )?;
        }
        if self.failed && report.totals().failures() == 0 {
            let reason = self.reason.as_deref().unwrap_or("the build failed");
            report.test("build", Outcome::NotCollected, Some(reason), None)?;
        }
        report.finish()
    }
}

/// The id of `adds(shop.CartTest)`, `shop.CartTest.adds`, or `shop.CartTest.adds(shop.CartTest)`.
fn identified(named: &str) -> Option<String> {
    let named = named.trim();
    if named.is_empty() {
        return None;
    }
    let Some((name, class)) = named
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once('('))
    else {
        return Some(named.to_owned());
    };
    if name
        .strip_prefix(class)
        .is_some_and(|rest| rest.starts_with('.'))
    {
        return Some(name.to_owned());
    }
    Some(format!("{class}.{name}"))
}
