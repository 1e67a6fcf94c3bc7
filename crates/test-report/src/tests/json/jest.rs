//! The JSON of Jest and Vitest.

use std::borrow::Cow;

use serde::Deserialize;

use super::script::{self, Preamble};
use crate::source::Source;
use crate::tests::builder::Builder;
use crate::tests::thrown::{base_name, is_assertion, is_assertion_name};
use crate::tests::{Outcome, TestFormat, TestReport};
use crate::unreadable::{Kind, Unreadable};

/// What jest heads the error with that broke a file outside of its tests.
const BROKEN: &str = "● Test suite failed to run";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    num_total_tests: u64,
    num_passed_tests: u64,
    num_failed_tests: u64,
    num_pending_tests: u64,
    num_todo_tests: Option<u64>,
    num_total_test_suites: Option<u64>,
    num_failed_test_suites: Option<u64>,
    num_runtime_error_test_suites: Option<u64>,
    success: Option<bool>,
    #[serde(default)]
    was_interrupted: bool,
    test_results: Vec<File>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    #[serde(default)]
    name: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    message: Option<String>,
    assertion_results: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    #[serde(default)]
    ancestor_titles: Vec<String>,
    title: String,
    status: String,
    failure_messages: Option<Vec<Option<String>>>,
    failure_details: Option<Vec<serde_json::Value>>,
    invocations: Option<u64>,
    retry_reasons: Option<Vec<serde_json::Value>>,
}

/// The cases by the status that the report gives them.
#[derive(Default)]
struct Statuses {
    passed: u64,
    failed: u64,
    pending: u64,
    todo: u64,
}

pub(crate) fn read(source: Source<'_>) -> Result<TestReport, Unreadable> {
    let run: Run = script::value(source, Preamble::Script)?;
    if run.was_interrupted {
        let message = "the run was interrupted";
        return Err(Unreadable::new(Kind::Truncated, message));
    }
    let mut builder = Builder::new(TestFormat::JestJson);
    let mut statuses = Statuses::default();
    let mut broken = 0;
    for file in &run.test_results {
        broken += u64::from(read_file(file, &mut builder, &mut statuses)?);
    }
    statuses.agree(&run)?;
    // Jest counts the files that broke outside of their tests.
    if let Some(declared) = run.num_runtime_error_test_suites
        && declared > broken
    {
        builder.unnamed(Outcome::Error, declared - broken);
    }
    check_success(&run, &mut builder)?;
    builder.finish()
}

/// Takes in the tests of one file; whether something broke in it outside of its tests.
fn read_file(
    file: &File,
    builder: &mut Builder,
    statuses: &mut Statuses,
) -> Result<bool, Unreadable> {
    let base = base_name(&file.name);
    let mut failed = false;
    for case in &file.assertion_results {
        let outcome = statuses.count(case)?;
        failed |= outcome.is_failure();
        let parts = [base].into_iter();
        let parts = parts.chain(case.ancestor_titles.iter().map(String::as_str));
        let parts: Vec<&str> = parts.chain([&*case.title]).collect();
        let message = case.message();
        let message = message.as_deref().filter(|_| outcome != Outcome::Passed);
        builder.test(&parts.join(" > "), outcome, message, Some(&file.name))?;
    }
    let message = script::plain(file.message.as_deref().unwrap_or(""));
    let broke = message.lines().any(|line| line.trim() == BROKEN);
    if !broke && (failed || file.status != "failed") {
        return Ok(false);
    }
    let told = message
        .split_once(BROKEN)
        .map_or(&*message, |(_, told)| told);
    builder.test(base, Outcome::NotCollected, Some(told), Some(&file.name))?;
    Ok(true)
}

impl Statuses {
    fn count(&mut self, case: &Case) -> Result<Outcome, Unreadable> {
        Ok(match &*case.status {
            "passed" => {
                self.passed += 1;
                if case.was_tried_again() {
                    Outcome::Flaky
                } else {
                    Outcome::Passed
                }
            }
            "failed" => {
                self.failed += 1;
                case.failure()
            }
            "pending" | "skipped" | "disabled" => {
                self.pending += 1;
                Outcome::Skipped
            }
            "todo" => {
                self.todo += 1;
                Outcome::Skipped
            }
            other => {
                let message = format!("a test has the status {other:?}, which is not known");
                return Err(Unreadable::new(Kind::Malformed, message));
            }
        })
    }

    fn agree(&self, run: &Run) -> Result<(), Unreadable> {
        Builder::agree("passed tests", run.num_passed_tests, self.passed)?;
        Builder::agree("failed tests", run.num_failed_tests, self.failed)?;
        Builder::agree("skipped tests", run.num_pending_tests, self.pending)?;
        Builder::agree("tests to do", run.num_todo_tests.unwrap_or(0), self.todo)?;
        let total = self.passed + self.failed + self.pending + self.todo;
        Builder::agree("tests", run.num_total_tests, total)
    }
}

/// A run that calls itself failed has to have a failure in it.
fn check_success(run: &Run, builder: &mut Builder) -> Result<(), Unreadable> {
    let files = run.test_results.len() as u64;
    // Vitest counts its `describe` blocks as suites; the number of jest tells whether it gave up at the first failure.
    if let (Some(declared), Some(_)) =
        (run.num_total_test_suites, run.num_runtime_error_test_suites)
        && declared > files
    {
        if builder.totals().failures() == 0 {
            let message = format!("{declared} files are declared, and {files} are in it");
            return Err(Unreadable::new(Kind::Truncated, message));
        }
        builder.note(format!(
            "{declared} files were to be run, and only {files} were"
        ));
    }
    let suites = run.num_failed_test_suites.unwrap_or(0);
    let any = builder.totals().total > 0;
    if builder.totals().failures() == 0 && (suites > 0 || (any && run.success == Some(false))) {
        let message = "it says that the run failed, and no failure is in it";
        return Err(Unreadable::new(Kind::Contradiction, message));
    }
    Ok(())
}

impl Case {
    fn messages(&self) -> impl Iterator<Item = &str> {
        let messages = self.failure_messages.as_deref().unwrap_or_default();
        messages.iter().filter_map(Option::as_deref)
    }

    fn message(&self) -> Option<Cow<'_, str>> {
        self.messages().next().map(script::plain)
    }

    /// Jest counts its tries; vitest leaves the errors of the first ones with the test.
    fn was_tried_again(&self) -> bool {
        self.invocations.unwrap_or(1) > 1
            || self.retry_reasons.as_ref().is_some_and(|r| !r.is_empty())
            || self.messages().next().is_some()
    }

    fn failure(&self) -> Outcome {
        let asserted = self.failure_details.iter().flatten().any(|detail| {
            let text = |key: &str| detail.get(key).and_then(serde_json::Value::as_str);
            detail.get("matcherResult").is_some()
                || text("code") == Some("ERR_ASSERTION")
                || text("name").is_some_and(is_assertion_name)
        });
        let last = self.messages().last();
        if asserted || last.is_none_or(|message| is_assertion(&script::plain(message))) {
            Outcome::Failed
        } else {
            Outcome::Error
        }
    }
}
