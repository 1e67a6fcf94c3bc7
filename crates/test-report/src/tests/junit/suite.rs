use super::case::{Case, NonCase};
use crate::tests::Outcome;
use crate::unreadable::{Kind, Unreadable};
use crate::xml::Tag;

/// A `<testsuite>`, or the `<testsuites>` around them.
#[allow(clippy::struct_excessive_bools)] // each a fact of its own
pub(super) struct Suite {
    pub(super) depth: usize,
    pub(super) name: Box<str>,
    pub(super) file: Option<Box<str>>,
    /// Whether gotestsum wrote it, which writes a case more for each time that a test was tried again.
    pub(super) by_go: bool,
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
    /// What was tried again, once for each time.
    reruns: u64,
    /// Suites that stand in it by themselves, which node counts as its tests.
    pub(super) suites: u64,
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
        Self {
            tests: 1,
            failed: u64::from(
                case.errors == 0
                    && (case.failures > 0 || outcome == Outcome::Failed && !case.is_skipped()),
            ),
            broken: u64::from(case.errors > 0),
            failures: case.failures,
            errors: case.errors,
            reruns: case.reruns,
            suites: 0,
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
        self.reruns += more.reruns;
        self.excused += more.excused;
        self.unloaded += more.unloaded;
        self.around += more.around;
    }
}

impl Counted {
    /// Whether something in it failed that was not expected to.
    pub(super) fn fails(&self) -> bool {
        self.failures + self.errors > self.excused
    }
}

impl Suite {
    pub(super) fn new(tag: Tag<'_>, depth: usize) -> Result<Self, Unreadable> {
        let mut suite = Self {
            depth,
            name: Box::default(),
            file: None,
            by_go: false,
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

    /// Checks that nothing is missing of what it declares: tools count in many ways, and what its cases say counts.
    pub(super) fn check(&self) -> Result<SuiteText, Unreadable> {
        let (declared, counted) = (&self.declared, &self.counted);
        let mut told = SuiteText::default();
        // The numbers of Catch2 are of assertions, those of pytest of subtests as well.
        let most = (counted.tests + counted.reruns).max(self.direct.tests + self.direct.suites);
        if let Some(said) = declared.tests
            && said > most
            && !self.by_catch
            && !self.by_pytest
        {
            self.disagree("tests", said, counted.tests)?;
        }
        let (failures, errors) = (declared.failures, declared.errors);
        if self.by_catch {
            // A test that was expected to fail and did not is a failure more, and nothing in its case says so. Thrown exceptions are
            // taken from the failures, also where those are excused: then more than there are.
            let said = failures.unwrap_or(0).wrapping_add(errors.unwrap_or(0));
            let failed = counted.failures + counted.errors - counted.excused;
            told.beside = said.saturating_sub(failed);
        } else {
            // Mocha says the same number twice.
            let errors = errors.filter(|_| failures != errors).unwrap_or(0);
            let said = failures.unwrap_or(0).saturating_add(errors);
            let cases = counted.failed + counted.broken;
            let most = cases.max(counted.failures + counted.errors + counted.reruns);
            // What has suites alone leaves the number to them: gotestsum counts lines that a build printed.
            let is_of_suites = self.direct.tests == 0 && self.direct.suites > 0;
            if said > most && !(is_of_suites && most > 0) {
                self.disagree("failures and errors", said, cases)?;
            }
        }
        if self.by_jest && self.direct.tests > 0 {
            let beside = self.direct.unloaded + self.direct.around;
            let tests = self.direct.tests.saturating_sub(beside);
            told.todo = tests.saturating_sub(declared.tests.unwrap_or(tests));
        }
        Ok(told)
    }

    fn disagree(&self, what: &str, said: u64, counted: u64) -> Result<(), Unreadable> {
        let suite = if self.name.is_empty() {
            "a suite".to_owned()
        } else {
            format!("the suite {:?}", self.name)
        };
        let message = format!("{suite} declares {said} {what}, and only {counted} are in it");
        Err(Unreadable::new(Kind::Contradiction, message).at_line(self.line))
    }
}
