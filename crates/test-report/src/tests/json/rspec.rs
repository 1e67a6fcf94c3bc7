//! The JSON of `rspec`.

use serde::Deserialize;
use std::io::BufRead as _;

use crate::limits::LONGEST_WHOLE;
use crate::source::Source;
use crate::tests::builder::Builder;
use crate::tests::{Outcome, TestFormat, TestReport};
use crate::unreadable::{Kind, Unreadable};

#[derive(Deserialize)]
struct Run {
    #[serde(default)]
    messages: Vec<String>,
    examples: Vec<Example>,
    summary: Summary,
}

#[derive(Deserialize)]
struct Example {
    full_description: String,
    status: String,
    file_path: Option<String>,
    pending_message: Option<String>,
    exception: Option<Exception>,
}

#[derive(Deserialize)]
struct Exception {
    class: Option<String>,
    message: Option<String>,
}

#[derive(Deserialize)]
struct Summary {
    #[serde(rename = "example_count")]
    examples: u64,
    #[serde(rename = "failure_count")]
    failures: u64,
    #[serde(rename = "pending_count")]
    pending: u64,
    #[serde(default, rename = "errors_outside_of_examples_count")]
    outside: u64,
}

/// Whether a value that begins like this is one of it.
pub(super) fn is_beginning(text: &str) -> bool {
    text.starts_with("{\"version\":\"") && {
        let head = text.get(..text.floor_char_boundary(4096)).unwrap_or(text);
        head.contains("\"examples\":[") || head.contains("\"messages\":[")
    }
}

pub(crate) fn read(mut source: Source<'_>) -> Result<TestReport, Unreadable> {
    let skipped = skip_printed(&mut source)?;
    let mut values = serde_json::Deserializer::from_reader(source);
    let run = Run::deserialize(&mut values).map_err(|error| unreadable(&error, skipped))?;
    values.end().map_err(|error| {
        let message = "something follows the report: give the report of one run";
        let line = skipped.saturating_add(error.line() as u64);
        Unreadable::new(Kind::Mixed, message).at_line(line)
    })?;
    report(&run)
}

/// Leaves out what the examples printed before the report, where both went to the same place.
fn skip_printed(source: &mut Source<'_>) -> Result<u64, Unreadable> {
    let mut lines = 0;
    let mut line = Vec::new();
    loop {
        let begins = source.fill_buf()?;
        if begins.is_empty() || begins.starts_with(b"{\"version\":\"") {
            return Ok(lines);
        }
        line.clear();
        let longest = LONGEST_WHOLE as u64;
        std::io::Read::take(&mut *source, longest).read_until(b'\n', &mut line)?;
        // What was printed without a line break stands on the line of the report.
        if let Some(at) = find(&line, b"{\"version\":\"") {
            let message = format!(
                "the report begins in the middle of a line, after {at} bytes that were printed: write it to a file with `--out`"
            );
            return Err(Unreadable::new(Kind::Mixed, message).at_line(lines + 1));
        }
        lines += 1;
    }
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|part| part == wanted)
}

fn unreadable(error: &serde_json::Error, skipped: u64) -> Unreadable {
    let line = skipped.saturating_add(error.line() as u64);
    let (kind, message) = match error.classify() {
        serde_json::error::Category::Eof => {
            (Kind::Truncated, "it ends before it is complete".to_owned())
        }
        serde_json::error::Category::Io => (Kind::Io, "the file could not be read".to_owned()),
        _ => (Kind::Malformed, error.to_string()),
    };
    Unreadable::new(kind, message).at_line(line)
}

fn report(run: &Run) -> Result<TestReport, Unreadable> {
    let mut builder = Builder::new(TestFormat::RspecJson);
    let mut pending = 0;
    for example in &run.examples {
        let exception = example.exception.as_ref();
        let outcome = match &*example.status {
            "passed" => Outcome::Passed,
            "failed" => match exception.and_then(|e| e.class.as_deref()) {
                None => Outcome::Failed,
                Some(class) if is_assertion(class) => Outcome::Failed,
                Some(_) => Outcome::Error,
            },
            "pending" => {
                pending += 1;
                // An example that is pending from inside was run, and failed as it should.
                if exception.is_some() {
                    Outcome::ExpectedFailure
                } else {
                    Outcome::Skipped
                }
            }
            other => {
                let message = format!("the status of an example cannot be {other:?}");
                return Err(Unreadable::new(Kind::Malformed, message));
            }
        };
        let message = match exception.and_then(|e| e.message.as_deref()) {
            Some(message) => match exception.and_then(|e| e.class.as_deref()) {
                Some(class) if outcome == Outcome::Error => Some(format!("{class}: {message}")),
                _ => Some(message.trim().to_owned()),
            },
            None => example.pending_message.clone(),
        };
        let file = example.file_path.as_deref();
        let id = id(file, &example.full_description);
        builder.test(&id, outcome, message.as_deref(), file)?;
    }
    let totals = *builder.totals();
    let summary = &run.summary;
    Builder::agree("examples", summary.examples, totals.total)?;
    Builder::agree("failures", summary.failures, totals.failures())?;
    Builder::agree("pending examples", summary.pending, pending)?;
    outside(run, &mut builder)?;
    builder.finish()
}

/// Files that could not be loaded, and hooks around all examples that failed.
fn outside(run: &Run, builder: &mut Builder) -> Result<(), Unreadable> {
    let count = run.summary.outside;
    let told: Vec<&str> = run
        .messages
        .iter()
        .map(|message| message.trim())
        .filter(|message| message.starts_with("An error occurred "))
        .collect();
    if told.is_empty() {
        for _ in 0..count.min(1000) {
            builder.test("outside of examples", Outcome::NotCollected, None, None)?;
        }
        return Ok(());
    }
    Builder::agree("errors outside of examples", count, told.len() as u64)?;
    for message in told {
        let (id, file) = error_outside(message);
        builder.test(id, Outcome::NotCollected, Some(message), file)?;
    }
    Ok(())
}

/// What an error outside of examples is of, with the file where one could not be loaded: else it is a hook.
fn error_outside(message: &str) -> (&str, Option<&str>) {
    let first = message.lines().next().unwrap_or(message);
    let first = first.trim_end_matches('.');
    if let Some(file) = first.strip_prefix("An error occurred while loading ") {
        return (file, Some(file));
    }
    let what = first.split('`').nth(1).unwrap_or("outside of examples");
    (what, None)
}

/// The assertions of `rspec` itself, and those of the libraries that are used with it.
fn is_assertion(class: &str) -> bool {
    let name = class.rsplit("::").next().unwrap_or(class);
    matches!(
        name,
        "ExpectationNotMetError" | "MultipleExpectationsNotMetError" | "PendingExampleFixedError"
    ) || matches!(
        name,
        "MockExpectationError" | "AssertionFailedError" | "Assertion"
    )
}

fn id(file: Option<&str>, description: &str) -> String {
    match file {
        Some(file) => format!("{} > {description}", file.trim_start_matches("./")),
        None => description.to_owned(),
    }
}
