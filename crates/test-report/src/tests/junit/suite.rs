use super::case::{Case, NonCase};
use crate::tests::Outcome;
use crate::unreadable::{Kind, Unreadable};
use crate::xml::Tag;

/// A `<testsuite>`, or the `<testsuites>` around them.
pub(super) struct Suite {
    pub(super) depth: usize,
    pub(super) name: Box<str>,
    pub(super) file: Option<Box<str>>,
    /// Whether pytest wrote it, whose `tests` counts also sub-tests, and twice what fails in its teardown.
    pub(super) by_pytest: bool,
    /// Whether Catch2 wrote it, whose numbers are of assertions.
    by_catch: bool,
    /// Whether jest-junit wrote it, whose `tests` counts neither what is still to be written nor what broke around the tests.
    pub(super) by_jest: bool,
    /// The cases in it and in the suites within it.
    pub(super) counted: Counted,
    /// The cases in it alone.
    pub(super) direct: Counted,
    declared: Declared,
    line: u64,
}

/// What a suite says of itself.
#[derive(Default)]
struct Declared {
    tests: Option<u64>,
    failures: Option<u64>,
    errors: Option<u64>,
    skipped: Option<u64>,
    disabled: Option<u64>,
}

/// What is in a suite.
#[derive(Clone, Copy, Default)]
pub(super) struct Counted {
    /// Cases.
    pub(super) tests: u64,
    /// Cases with a failure and without an error.
    failed: u64,
    /// Cases with an error.
    broken: u64,
    /// `<failure>` elements.
    failures: u64,
    /// `<error>` elements.
    errors: u64,
    /// Errors under the name of a class or suite, of what had to be done before its tests.
    preparing: u64,
    /// What was tried again, once for each time.
    reruns: u64,
    /// Cases that were skipped, those that are expected to fail among them.
    skipped: u64,
    /// Of these the ones still to be written that failed.
    todo: u64,
    /// `<failure>` and `<error>` elements of those.
    excused: u64,
    /// Files that jest could not load.
    pub(super) unloaded: u64,
    /// What failed around the tests of jest, and is no test.
    around: u64,
}

/// What a suite says besides its cases.
#[derive(Default)]
pub(super) struct SuiteText {
    /// Failures that no case of it has.
    pub(super) beside: u64,
    /// Cases that it does not count, since they are still to be written.
    pub(super) todo: u64,
}

impl Counted {
    pub(super) fn of(case: &Case) -> Self {
        let outcome = case.outcome();
        let failing = case.failures + case.errors > 0;
        Self {
            tests: 1,
            failed: u64::from(
                case.errors == 0
                    && (case.failures > 0 || outcome == Outcome::Failed && !case.is_skipped()),
            ),
            broken: u64::from(case.errors > 0),
            failures: case.failures,
            errors: case.errors,
            preparing: u64::from(case.errors > 0 && case.is_of_class()),
            reruns: case.reruns,
            skipped: u64::from(case.is_skipped()),
            todo: u64::from(failing && outcome == Outcome::ExpectedFailure),
            excused: if outcome == Outcome::ExpectedFailure {
                case.failures + case.errors
            } else {
                0
            },
            unloaded: u64::from(case.beside == Some(NonCase::Unloaded)),
            around: u64::from(case.beside == Some(NonCase::Around)),
        }
    }

    pub(super) fn add(&mut self, more: &Self) {
        self.tests += more.tests;
        self.failed += more.failed;
        self.broken += more.broken;
        self.failures += more.failures;
        self.errors += more.errors;
        self.preparing += more.preparing;
        self.reruns += more.reruns;
        self.skipped += more.skipped;
        self.todo += more.todo;
        self.excused += more.excused;
        self.unloaded += more.unloaded;
        self.around += more.around;
    }

    /// Whether jest-junit may have counted so. What broke around the tests is not, and what is still to be written is neither
    /// counted nor marked: of this there are passed cases enough.
    fn is_of_jest(&self, said: u64) -> bool {
        let beside = self.unloaded + self.around;
        let not_passed = self.failed + self.broken + self.skipped;
        let tests = self.tests.saturating_sub(beside);
        tests
            .checked_sub(said)
            .is_some_and(|todo| todo == 0 || todo <= self.tests.saturating_sub(not_passed))
    }
}

impl Suite {
    pub(super) fn new(tag: Tag<'_>, depth: usize) -> Result<Self, Unreadable> {
        let mut suite = Self {
            depth,
            name: Box::default(),
            file: None,
            by_pytest: false,
            by_catch: false,
            by_jest: false,
            counted: Counted::default(),
            direct: Counted::default(),
            declared: Declared::default(),
            line: tag.line(),
        };
        let declared = &mut suite.declared;
        let mut timed = false;
        for attribute in tag.attributes() {
            let attribute = attribute?;
            let name = attribute.name;
            let place = match name {
                "name" => {
                    suite.name = (&*attribute.value()).into();
                    continue;
                }
                "file" | "filepath" => {
                    suite.file = Some((&*attribute.value()).into());
                    continue;
                }
                "hostname" => {
                    suite.by_catch = &*attribute.value() == "tbd";
                    continue;
                }
                "timestamp" => {
                    timed = true;
                    continue;
                }
                "tests" => {
                    // Nobody else writes it behind the others.
                    suite.by_jest = timed && declared.errors.is_some();
                    &mut declared.tests
                }
                "failures" => &mut declared.failures,
                "errors" => &mut declared.errors,
                "skipped" | "skips" | "skip" => &mut declared.skipped,
                "disabled" => &mut declared.disabled,
                _ => continue,
            };
            let value = attribute.value();
            if !value.trim().is_empty() {
                let number = value.trim().parse().map_err(|_| {
                    tag.fault(Kind::Malformed, format!("{name}={value:?} is no count"))
                })?;
                *place = Some(number);
            }
        }
        suite.by_pytest = matches!(&*suite.name, "pytest" | "pytest tests");
        suite.by_jest = suite.by_jest && !suite.by_catch || &*suite.name == "jest tests";
        Ok(suite)
    }

    /// Holds what it says of itself against what is in it: tools count with the suites within it or without them.
    pub(super) fn check(&self) -> Result<SuiteText, Unreadable> {
        let agrees = |agree: fn(&Self, &Counted) -> bool| {
            agree(self, &self.counted) || agree(self, &self.direct)
        };
        let (declared, counted) = (&self.declared, &self.counted);
        if !agrees(Self::tests_agree) {
            self.disagree("tests", declared.tests, counted.tests)?;
        }
        let mut told = SuiteText::default();
        if self.by_catch {
            // A test that was expected to fail and did not is a failure more, and nothing in its case says so.
            let said = self.assertions_failed();
            let failed = counted.failures + counted.errors - counted.excused;
            let Some(beside) = said.checked_sub(failed) else {
                self.disagree("failures and errors", Some(said), failed)?;
                return Ok(told);
            };
            told.beside = beside;
        } else if !agrees(Self::failures_agree) {
            let said = declared.failures.unwrap_or(0);
            let said = said.saturating_add(declared.errors.unwrap_or(0));
            let failed = counted.failed + counted.broken;
            self.disagree("failures and errors", Some(said), failed)?;
        }
        if !agrees(Self::skipped_agree) {
            let said = declared.skipped.or(declared.disabled);
            self.disagree("skipped tests", said, counted.skipped)?;
        }
        if self.by_jest && self.direct.tests > 0 {
            let beside = self.direct.unloaded + self.direct.around;
            let tests = self.direct.tests.saturating_sub(beside);
            told.todo = tests.saturating_sub(declared.tests.unwrap_or(tests));
        }
        Ok(told)
    }

    /// The failed assertions of Catch2, which takes thrown exceptions from them, also where those are excused: then more than
    /// there are.
    fn assertions_failed(&self) -> u64 {
        let (failures, errors) = (self.declared.failures, self.declared.errors);
        failures.unwrap_or(0).wrapping_add(errors.unwrap_or(0))
    }

    fn tests_agree(&self, counted: &Counted) -> bool {
        let Some(said) = self.declared.tests else {
            return true;
        };
        // Surefire counts what it tried again, and nose2 neither sub-tests nor what failed before a test.
        said == counted.tests
            || said == counted.tests + counted.reruns
            || self.by_pytest && said > counted.tests
            || &*self.name == "nose2-junit" && said < counted.tests
            // Ant leaves out what broke in front of the tests of a class.
            || said < counted.tests && said + counted.preparing == counted.tests
            || self.by_jest && counted.is_of_jest(said)
            || self.by_catch
    }

    /// Tools count elements or cases, and some call everything a failure. What is still to be written counts or not.
    fn failures_agree(&self, counted: &Counted) -> bool {
        let said = match (self.declared.failures, self.declared.errors) {
            (None, None) => return true,
            (None, Some(errors)) => return errors == counted.broken || errors == counted.errors,
            (Some(failures), None)
                if failures == counted.failed || failures == counted.failures =>
            {
                return true;
            }
            (failures, errors) => failures.unwrap_or(0).saturating_add(errors.unwrap_or(0)),
        };
        let cases = counted.failed + counted.broken;
        let elements = counted.failures + counted.errors;
        [
            cases,
            cases.saturating_sub(counted.todo),
            cases.saturating_sub(counted.around),
            elements,
            elements + counted.reruns,
            counted.failures + counted.broken,
            counted.failed + counted.errors,
        ]
        .contains(&said)
    }

    fn skipped_agree(&self, counted: &Counted) -> bool {
        let (skipped, disabled) = (self.declared.skipped, self.declared.disabled);
        let both = skipped.unwrap_or(0).saturating_add(disabled.unwrap_or(0));
        match skipped {
            // Some know skipped tests only in their cases.
            None => disabled.unwrap_or(0) <= counted.skipped,
            Some(skipped) => [skipped, both].contains(&counted.skipped),
        }
    }

    fn disagree(&self, what: &str, said: Option<u64>, counted: u64) -> Result<(), Unreadable> {
        let said = said.unwrap_or(0);
        let suite = if self.name.is_empty() {
            "a suite".to_owned()
        } else {
            format!("the suite {:?}", self.name)
        };
        let message = format!("{suite} declares {said} {what}, and {counted} are in it");
        Err(Unreadable::new(Kind::Contradiction, message).at_line(self.line))
    }
}
