use super::suite::Suite;
use crate::tests::Outcome;
use crate::tests::builder::cut;
use crate::tests::thrown::{is_script, without_checkout};
use crate::unreadable::Unreadable;
use crate::xml::{Tag, Text};

/// How much of a message is kept until the report takes what it wants of it, in bytes.
const LONGEST_KEPT: usize = 8 * 1024;

/// What a child of a case says of its outcome.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OutcomeElement {
    Failure,
    Error,
    NotCollected,
    Skipped,
    ExpectedFailure,
    /// It was expected to fail, and passed, which its runner calls a failure.
    UnexpectedSuccess,
    /// Still to be written: whatever it came to does not count.
    Todo,
    /// It failed, and was tried again with success.
    Flaky,
    /// It failed, and was tried again without success.
    Rerun,
}

/// What is no test, and stands among them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NonCase {
    /// A file that jest could not load.
    Unloaded,
    /// A file that vitest could not load, if it failed.
    File,
    /// What failed in front of or behind the tests of a file.
    Around,
}

/// A `<testcase>`, or what takes its place where a whole suite failed.
#[allow(clippy::struct_excessive_bools)] // each a fact of its own
pub(super) struct Case {
    pub(super) depth: usize,
    id: String,
    file: Option<Box<str>>,
    /// What its children said, each once or more.
    pub(super) failures: u64,
    pub(super) errors: u64,
    /// How often it was tried before or after, by its children.
    pub(super) reruns: u64,
    said: Vec<OutcomeElement>,
    /// By its attributes it did not run.
    pub(super) not_run: bool,
    /// By its attributes it was never begun, since something it needs is missing.
    failed_by_attribute: bool,
    pub(super) beside: Option<NonCase>,
    /// It is a whole file of node, which says there how its process ended.
    is_script: bool,
    /// A child said that it failed.
    failing: bool,
    message: String,
    /// The text of the child that is being read, if its message is wanted, and where it is.
    reading: Option<usize>,
}

impl Case {
    /// The case that begins with a tag. What is left of an id is given, for its memory.
    pub(super) fn new(
        tag: Tag<'_>,
        depth: usize,
        suites: &[Suite],
        left: String,
    ) -> Result<Self, Unreadable> {
        let mut case = Self {
            id: left,
            ..Self::empty(depth)
        };
        case.id.clear();
        let (mut class, mut name) = (None, None);
        for attribute in tag.attributes() {
            let attribute = attribute?;
            match attribute.name {
                "classname" => class = Some(attribute.value()),
                "name" => name = Some(attribute.value()),
                "file" | "filepath" => case.file = Some((&*attribute.value()).into()),
                // ctest writes "notrun" and "disabled", googletest "notrun"; others write what the children say as well.
                "status" => {
                    let status = attribute.value();
                    case.not_run = matches!(&*status, "notrun" | "disabled" | "skipped");
                    case.failed_by_attribute |= matches!(&*status, "fail" | "failed" | "error");
                }
                "failure" => case.failed_by_attribute = true,
                _ => {}
            }
        }
        let class = class.as_deref().map_or("", str::trim);
        let name = name.as_deref().map_or("", str::trim);
        // What Ant writes of a class whose tests could not begin.
        let class = match class {
            "junit.framework.TestSuite" => name,
            class => class,
        };
        let by_pytest = suites.last().is_some_and(|suite| suite.by_pytest);
        // "test" is what node writes, of all of them.
        if (class.is_empty() && !by_pytest) || class == "test" {
            for suite in suites.iter().filter(|suite| suite.depth > 1) {
                case.id.push_str(&suite.name);
                case.id.push_str(" > ");
            }
            case.id.push_str(without_checkout(name));
            case.is_script = class == "test" && is_script(name);
        } else {
            case.id.push_str(class);
            if name != class {
                if !class.is_empty() && !name.is_empty() {
                    case.id.push_str("::");
                }
                case.id.push_str(name);
            }
        }
        if case.file.is_none() {
            case.file = suites.iter().rev().find_map(|suite| suite.file.clone());
        }
        let loaders = [
            "unittest.loader._FailedTest",
            "nose2.loader.ModuleImportFailure",
            "nose2.loader.LoadTestsFailure",
        ];
        if loaders.contains(&class) {
            case.said.push(OutcomeElement::NotCollected);
        }
        case.note_beside(class, name, suites);
        Ok(case)
    }

    /// What the reporters of jest and vitest write of files, and not of tests.
    fn note_beside(&mut self, class: &str, name: &str, suites: &[Suite]) {
        let of = |root: &str| suites.first().is_some_and(|suite| &*suite.name == root);
        if class == "Test suite failed to run" {
            self.beside = Some(NonCase::Unloaded);
            self.said.push(OutcomeElement::NotCollected);
            self.id.clear();
            self.id.push_str(name);
        } else if class.starts_with("Test execution failure: could be caused by test hooks")
            && suites.iter().any(|suite| suite.by_jest)
        {
            self.beside = Some(NonCase::Around);
            self.id.clear();
            for suite in suites.iter().filter(|suite| suite.depth > 1) {
                self.id.push_str(&suite.name);
                self.id.push_str(" > ");
            }
            self.id.push_str("hooks");
        } else if !name.is_empty()
            && class == name
            && of("vitest tests")
            && suites.last().is_some_and(|suite| &*suite.name == name)
        {
            self.beside = Some(NonCase::File);
        }
    }

    /// What stands for a suite that could not run.
    pub(super) fn of_suite(suites: &[Suite], depth: usize) -> Self {
        let mut case = Self::empty(depth);
        for suite in suites {
            if !case.id.is_empty() {
                case.id.push_str(" > ");
            }
            case.id.push_str(&suite.name);
        }
        case
    }

    fn empty(depth: usize) -> Self {
        Self {
            depth,
            id: String::new(),
            file: None,
            failures: 0,
            errors: 0,
            reruns: 0,
            said: Vec::new(),
            not_run: false,
            failed_by_attribute: false,
            beside: None,
            is_script: false,
            failing: false,
            message: String::new(),
            reading: None,
        }
    }

    /// An element within it begins.
    pub(super) fn child(&mut self, tag: Tag<'_>, depth: usize) -> Result<(), Unreadable> {
        let said = match tag.name() {
            "failure" => OutcomeElement::Failure,
            "error" => OutcomeElement::Error,
            "skipped" => OutcomeElement::Skipped,
            "flakyFailure" | "flakyError" => OutcomeElement::Flaky,
            "rerunFailure" | "rerunError" => OutcomeElement::Rerun,
            _ => return Ok(()),
        };
        match said {
            OutcomeElement::Failure => self.failures += 1,
            OutcomeElement::Error => self.errors += 1,
            OutcomeElement::Flaky | OutcomeElement::Rerun => self.reruns += 1,
            _ => {}
        }
        let (mut kind, mut message) = (None, None);
        for attribute in tag.attributes() {
            let attribute = attribute?;
            match attribute.name {
                "type" => kind = Some(attribute.value()),
                "message" => message = Some(attribute.value()),
                _ => {}
            }
        }
        let message = message.as_deref().map_or("", str::trim);
        let said = match (said, kind.as_deref()) {
            (OutcomeElement::Skipped, Some("pytest.xfail" | "XFAIL")) => {
                OutcomeElement::ExpectedFailure
            }
            (OutcomeElement::Skipped, Some("todo")) => OutcomeElement::Todo,
            // Those of nose2, which writes whatever is not plain as skipped.
            (OutcomeElement::Skipped, None) if message == "expected test failure" => {
                OutcomeElement::ExpectedFailure
            }
            (OutcomeElement::Skipped, None) if message == "test passes unexpectedly" => {
                OutcomeElement::UnexpectedSuccess
            }
            (OutcomeElement::Error, Some("UnexpectedSuccess")) => OutcomeElement::UnexpectedSuccess,
            (OutcomeElement::Failure | OutcomeElement::Error, _) if self.beside.is_some() => {
                OutcomeElement::NotCollected
            }
            // Of Catch2: it may fail, or has to.
            (OutcomeElement::Skipped, None) if message == "TEST_CASE tagged with !mayfail" => {
                OutcomeElement::Todo
            }
            (OutcomeElement::Skipped, _) if self.not_run && is_missing(message) => {
                OutcomeElement::NotCollected
            }
            (OutcomeElement::Error, _) if message == "collection failure" => {
                OutcomeElement::NotCollected
            }
            (said, _) => said,
        };
        // The first that fails is the one to show; what it says counts more than the reason of a skip.
        let failing = matches!(
            said,
            OutcomeElement::Failure | OutcomeElement::Error | OutcomeElement::NotCollected
        );
        let first = failing && !self.failing;
        self.failing |= failing;
        if self.message.is_empty() || first {
            self.message.clear();
            self.message.push_str(cut(message, LONGEST_KEPT));
            self.reading = self.message.is_empty().then_some(depth);
        }
        if !self.said.contains(&said) {
            self.said.push(said);
        }
        Ok(())
    }

    /// Text at this depth.
    pub(super) fn text(&mut self, depth: usize, text: Text<'_>) {
        if self.is_script && self.failing {
            self.note_exit(&text.decode());
        }
        let room = LONGEST_KEPT.saturating_sub(self.message.len());
        if self.reading.is_some_and(|reading| reading == depth) && room > 0 {
            self.message.push_str(cut(&text.decode(), room));
        }
    }

    /// What node says of a file that ended its process, or could not be loaded.
    fn note_exit(&mut self, text: &str) {
        if text.contains("exitCode: ") {
            self.said.push(OutcomeElement::NotCollected);
        }
    }

    /// The element at this depth ends.
    pub(super) fn child_ends(&mut self, depth: usize) {
        if self.reading == Some(depth) {
            self.reading = None;
        }
    }

    /// What is left of it when it has been counted.
    pub(super) fn into_id(self) -> String {
        self.id
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn message(&self) -> Option<&str> {
        (!self.message.is_empty()).then_some(&self.message)
    }

    pub(super) fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Whether it has a child that says it was skipped.
    pub(super) fn is_skipped(&self) -> bool {
        [
            OutcomeElement::Skipped,
            OutcomeElement::ExpectedFailure,
            OutcomeElement::Todo,
        ]
        .iter()
        .any(|said| self.said.contains(said))
            || self.said.contains(&OutcomeElement::UnexpectedSuccess) && self.errors == 0
            || self.not_run
    }

    pub(super) fn outcome(&self) -> Outcome {
        let said = |one| self.said.contains(&one);
        if said(OutcomeElement::NotCollected) {
            Outcome::NotCollected
        } else if said(OutcomeElement::Todo) {
            if said(OutcomeElement::Failure) || said(OutcomeElement::Error) {
                Outcome::ExpectedFailure
            } else {
                Outcome::Skipped
            }
        } else if said(OutcomeElement::Failure) || said(OutcomeElement::UnexpectedSuccess) {
            Outcome::Failed
        } else if said(OutcomeElement::Error) {
            Outcome::Error
        } else if said(OutcomeElement::ExpectedFailure) {
            Outcome::ExpectedFailure
        } else if said(OutcomeElement::Skipped) {
            Outcome::Skipped
        } else if said(OutcomeElement::Rerun) || self.failed_by_attribute {
            Outcome::Failed
        } else if said(OutcomeElement::Flaky) {
            Outcome::Flaky
        } else if self.not_run {
            Outcome::Skipped
        } else {
            Outcome::Passed
        }
    }
}

/// What ctest says of a test that could not begin, and calls skipped.
fn is_missing(message: &str) -> bool {
    [
        "Unable to find",
        "Required Files Missing",
        "Fixture dependency failed",
        "Missing Configuration",
    ]
    .iter()
    .any(|reason| message.starts_with(reason))
}
