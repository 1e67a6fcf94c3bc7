//! `pytest-json-report`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::source::Source;
use crate::tests::builder::Builder;
use crate::tests::{Outcome, TestFormat, TestReport};
use crate::unreadable::{Kind, Unreadable};

pub(crate) fn read(source: Source<'_>) -> Result<TestReport, Unreadable> {
    let report: Report = parse(source)?;
    let mut built = Builder::new(TestFormat::PytestJson);
    let mut counted: BTreeMap<&str, u64> = BTreeMap::new();
    for test in &report.tests {
        let outcome = test.outcome()?;
        let message = test.message();
        built.test(&test.nodeid, outcome, message, file(&test.nodeid))?;
        *counted.entry(test.outcome.as_str()).or_default() += 1;
    }
    for (name, declared) in &report.summary {
        match name.as_str() {
            "total" => Builder::agree("tests", *declared, report.tests.len() as u64)?,
            // Those that were found; a run that was stopped did not come to all of them.
            "collected" | "deselected" => {}
            name => {
                let counted = counted.remove(name).unwrap_or(0);
                Builder::agree(&format!("tests as {name:?}"), *declared, counted)?;
            }
        }
    }
    if let Some((name, counted)) = counted.into_iter().next() {
        Builder::agree(&format!("tests as {name:?}"), 0, counted)?;
    }
    for collector in &report.collectors {
        let outcome = match collector.outcome.as_str() {
            "failed" => Outcome::NotCollected,
            "skipped" => Outcome::Skipped,
            _ => continue,
        };
        let id = match collector.nodeid.as_str() {
            "" => "collection",
            id => id,
        };
        built.test(id, outcome, collector.longrepr.as_deref(), file(id))?;
    }
    held_against(report.exitcode, &mut built)?;
    built.finish()
}

/// Whether a report begins like this one.
pub(super) fn detect(head: &[u8]) -> Option<TestFormat> {
    let has = |key: &[u8]| {
        head.windows(key.len())
            .take(4096)
            .any(|window| window == key)
    };
    let object = head.trim_ascii_start().starts_with(b"{");
    (object && has(b"\"exitcode\"") && has(b"\"root\"")).then_some(TestFormat::PytestJson)
}

/// What pytest told its caller is not always in the list of its tests.
fn held_against(exit: Option<i64>, built: &mut Builder) -> Result<(), Unreadable> {
    let failures = built.totals().failures();
    match exit {
        Some(0) if failures > 0 => {
            let message = format!("it declares exit code 0, and {failures} failures are in it");
            Err(Unreadable::new(Kind::Contradiction, message))
        }
        Some(code @ 2..=4) if failures == 0 => {
            let message = format!(
                "pytest did not come to its end: it declares exit code {code} and no failure"
            );
            Err(Unreadable::new(Kind::Truncated, message))
        }
        Some(1) if failures == 0 => {
            built.note(
                "pytest ended with exit code 1, and no test failed: a plugin was not content",
            );
            Ok(())
        }
        _ => Ok(()),
    }
}

#[derive(Deserialize)]
struct Report {
    exitcode: Option<i64>,
    summary: BTreeMap<String, u64>,
    #[serde(default)]
    collectors: Vec<Collector>,
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Collector {
    nodeid: String,
    outcome: String,
    #[serde(default)]
    longrepr: Option<String>,
}

#[derive(Deserialize)]
struct Test {
    nodeid: String,
    outcome: String,
    #[serde(default)]
    setup: Option<Stage>,
    #[serde(default)]
    call: Option<Stage>,
    #[serde(default)]
    teardown: Option<Stage>,
}

#[derive(Deserialize)]
struct Stage {
    #[serde(default)]
    outcome: Option<String>,
    #[serde(default)]
    crash: Option<Crash>,
    #[serde(default)]
    longrepr: Option<String>,
}

#[derive(Deserialize)]
struct Crash {
    #[serde(default)]
    message: Option<String>,
}

impl Stage {
    fn is(&self, outcome: &str) -> bool {
        self.outcome.as_deref() == Some(outcome)
    }
}

impl Test {
    fn stages(&self) -> impl Iterator<Item = &Stage> {
        [&self.call, &self.setup, &self.teardown]
            .into_iter()
            .flatten()
    }

    fn outcome(&self) -> Result<Outcome, Unreadable> {
        let failed = self.call.as_ref().is_some_and(|stage| stage.is("failed"));
        Ok(match self.outcome.as_str() {
            "passed" | "xpassed" => Outcome::Passed,
            "failed" => Outcome::Failed,
            // It failed by itself before its teardown did.
            "error" if failed => Outcome::Failed,
            "error" => Outcome::Error,
            "skipped" => Outcome::Skipped,
            "xfailed" => Outcome::ExpectedFailure,
            "rerun" if self.stages().any(|stage| stage.is("failed")) => Outcome::Failed,
            "rerun" => Outcome::Flaky,
            other => {
                let message = format!("{} is {other:?}, which is no known outcome", self.nodeid);
                return Err(Unreadable::new(Kind::Malformed, message));
            }
        })
    }

    /// What the first stage says that is not content.
    fn message(&self) -> Option<&str> {
        let stage = self
            .stages()
            .find(|stage| stage.is("failed"))
            .or_else(|| self.stages().find(|stage| stage.longrepr.is_some()))?;
        let crash = stage
            .crash
            .as_ref()
            .and_then(|crash| crash.message.as_deref());
        crash.or(stage.longrepr.as_deref())
    }
}

/// The file of a test: what is in front of the first `::`.
fn file(id: &str) -> Option<&str> {
    let file = id.split("::").next()?;
    file.strip_suffix(".py").map(|_| file)
}

fn parse(source: Source<'_>) -> Result<Report, Unreadable> {
    let mut values = serde_json::Deserializer::from_reader(source);
    let report =
        Report::deserialize(&mut values).map_err(|error| broken(error, Kind::Malformed))?;
    values.end().map_err(|error| broken(error, Kind::Mixed))?;
    Ok(report)
}

fn broken(error: serde_json::Error, kind: Kind) -> Unreadable {
    let line = error.line() as u64;
    match error.classify() {
        serde_json::error::Category::Io => std::io::Error::from(error).into(),
        serde_json::error::Category::Eof => {
            Unreadable::new(Kind::Truncated, "it ends within a value").at_line(line)
        }
        _ if kind == Kind::Mixed => {
            let message = "after the end of the report there is something else";
            Unreadable::new(kind, message).at_line(line)
        }
        _ => Unreadable::new(kind, error.to_string()).at_line(line),
    }
}
