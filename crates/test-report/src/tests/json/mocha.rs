//! The JSON of Mocha.

use std::collections::HashMap;

use serde::Deserialize;

use super::script::{self, Preamble};
use crate::source::Source;
use crate::tests::builder::Builder;
use crate::tests::thrown::{base_name, is_assertion, is_assertion_name};
use crate::tests::{Outcome, TestFormat, TestReport};
use crate::unreadable::Unreadable;

#[derive(Deserialize)]
struct Run {
    stats: Stats,
    tests: Vec<Case>,
    passes: Vec<Case>,
    failures: Vec<Case>,
    pending: Vec<Case>,
}

#[derive(Deserialize)]
struct Stats {
    tests: u64,
    passes: u64,
    failures: u64,
    pending: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    title: String,
    full_title: String,
    #[serde(default)]
    file: Option<String>,
    #[serde(default)]
    current_retry: Option<u64>,
    #[serde(default)]
    err: ErrorObject,
}

#[derive(Deserialize, Default)]
struct ErrorObject {
    #[serde(default)]
    message: Option<serde_json::Value>,
    #[serde(default)]
    stack: Option<serde_json::Value>,
    #[serde(default)]
    name: Option<serde_json::Value>,
    #[serde(default)]
    code: Option<serde_json::Value>,
}

pub(crate) fn read(source: Source<'_>) -> Result<TestReport, Unreadable> {
    let run: Run = script::value(source, Preamble::Output)?;
    for (what, declared, listed) in [
        ("tests", run.stats.tests, &run.tests),
        ("passed tests", run.stats.passes, &run.passes),
        ("failures", run.stats.failures, &run.failures),
        ("pending tests", run.stats.pending, &run.pending),
    ] {
        Builder::agree(what, declared, listed.len() as u64)?;
    }
    let mut left: HashMap<_, i64> = HashMap::new();
    for case in &run.tests {
        *left.entry(case.key()).or_default() += 1;
    }
    let mut builder = Builder::new(TestFormat::MochaJson);
    let outcomes = [
        (&run.passes, Outcome::Passed),
        (&run.failures, Outcome::Failed),
        (&run.pending, Outcome::Skipped),
    ];
    for (cases, listed_as) in outcomes {
        for case in cases {
            let outcome = case.outcome(listed_as);
            let message = case.err.told();
            let message = message.filter(|_| outcome.is_failure());
            let unloaded = message.filter(|_| outcome == Outcome::NotCollected);
            match unloaded.and_then(file_that_asked) {
                Some(file) => builder.test(base_name(file), outcome, message, Some(file))?,
                None => builder.test(&case.id(), outcome, message, case.file.as_deref())?,
            }
            // Hooks are failures, and no tests.
            if let Some(left) = left.get_mut(&case.key()) {
                *left -= 1;
            }
        }
    }
    let lost = left.values().filter(|left| **left > 0).sum::<i64>();
    Builder::agree("tests without an outcome", 0, lost.unsigned_abs())?;
    builder.finish()
}

impl Case {
    fn key(&self) -> (Option<&str>, &str) {
        (self.file.as_deref(), &self.full_title)
    }

    /// File, suites and title. The report joins the titles of the suites with spaces.
    fn id(&self) -> String {
        let file = self.file.as_deref().map(base_name);
        let suites = self.full_title.strip_suffix(&self.title).map(str::trim);
        let parts = match suites {
            Some(suites) => [file, Some(suites), Some(&*self.title)],
            None => [file, Some(&*self.full_title), None],
        };
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        let filled = parts.iter().enumerate();
        let filled = filled.filter(|(at, part)| *at + 1 == parts.len() || !part.is_empty());
        filled
            .map(|(_, part)| *part)
            .collect::<Vec<_>>()
            .join(" > ")
    }

    fn outcome(&self, listed_as: Outcome) -> Outcome {
        match listed_as {
            Outcome::Failed if self.full_title == OUTSIDE || is_hook(&self.title) => {
                Outcome::NotCollected
            }
            Outcome::Passed if self.current_retry.unwrap_or(0) > 0 => Outcome::Flaky,
            Outcome::Failed if !self.err.is_assertion() => Outcome::Error,
            other => other,
        }
    }
}

/// What it calls a failure that is none of a test. With `--parallel` it is one of a file that could not be loaded.
pub(crate) const OUTSIDE: &str = "Uncaught error outside test suite";

/// The file that asked for a module which was not found, if that is what is told.
pub(crate) fn file_that_asked(told: &str) -> Option<&str> {
    told.lines().find_map(|line| {
        let line = line.trim();
        let asked = line.split_once(" imported from ").map(|(_, file)| file);
        asked.or_else(|| line.strip_prefix("- "))
    })
}

/// `"before each" hook for "adds"`.
pub(crate) fn is_hook(title: &str) -> bool {
    ["before all", "before each", "after all", "after each"]
        .iter()
        .any(|hook| title.starts_with(&format!("\"{hook}\" hook")))
}

impl ErrorObject {
    fn told(&self) -> Option<&str> {
        let texts = [&self.message, &self.stack].into_iter().flatten();
        let mut texts = texts.filter_map(serde_json::Value::as_str);
        texts.next()
    }

    fn is_assertion(&self) -> bool {
        let text = |value: &Option<serde_json::Value>| {
            value
                .as_ref()
                .and_then(serde_json::Value::as_str)
                .unwrap_or("")
                .to_owned()
        };
        text(&self.code) == "ERR_ASSERTION"
            || is_assertion_name(&text(&self.name))
            || is_assertion(&text(&self.stack))
    }
}
