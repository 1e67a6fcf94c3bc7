//! What `rspec` prints, as dots or as documentation: its failures and pending examples by name, the others as a number.

use crate::limits::LONGEST_MESSAGE;
use crate::tests::builder::{Builder, cut};
use crate::tests::{Outcome, TestFormat, TestReport};
use crate::unreadable::{Kind, Unreadable};

/// The numbers of `14 examples, 4 failures, 4 pending, 1 error occurred outside of examples`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Summary {
    examples: u64,
    failures: u64,
    pending: u64,
    outside: u64,
}

impl Summary {
    fn read(line: &str) -> Option<Self> {
        let mut summary = Self::default();
        let mut parts = line.split(", ").map(|part| {
            let (number, what) = part.split_once(' ')?;
            Some((number.parse::<u64>().ok()?, what))
        });
        let (examples, "example" | "examples") = parts.next()?? else {
            return None;
        };
        let (failures, "failure" | "failures") = parts.next()?? else {
            return None;
        };
        (summary.examples, summary.failures) = (examples, failures);
        for part in parts {
            match part? {
                (pending, "pending") => summary.pending = pending,
                (
                    outside,
                    "error occurred outside of examples" | "errors occurred outside of examples",
                ) => summary.outside = outside,
                _ => return None,
            }
        }
        Some(summary)
    }
}

/// The line before the summary.
fn is_finished(line: &str) -> bool {
    line.starts_with("Finished in ") && line.ends_with(" to load)")
}

/// How sure it is that this was printed by it: the number of lines that nobody else prints. 0 is no.
pub(crate) fn signs(text: &str) -> usize {
    let failed = |line: &&str| line.starts_with("rspec ./") && line.contains(" # ");
    text.lines()
        .filter(|line| is_finished(line) || failed(line))
        .count()
}

/// An example of one of the lists.
struct Example {
    id: String,
    message: String,
}

/// Which list the lines are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    None,
    Pending,
    Failed,
    /// An error outside of examples.
    Outside,
}

struct Run {
    list: List,
    pending: Vec<Example>,
    failed: Vec<Example>,
    outside: Vec<String>,
    summary: Option<(u64, Summary)>,
    /// The lines to run the failed examples again.
    again: u64,
}

pub(crate) fn read(text: &str) -> Result<TestReport, Unreadable> {
    let mut run = Run {
        list: List::None,
        pending: Vec::new(),
        failed: Vec::new(),
        outside: Vec::new(),
        summary: None,
        again: 0,
    };
    let mut finished = None;
    for (line, number) in text.lines().zip(1..) {
        if is_finished(line) {
            finished = Some(number);
            run.list = List::None;
        } else if let Some(summary) =
            Summary::read(line).filter(|_| finished.is_some_and(|finished| finished + 1 == number))
        {
            if run.summary.is_some() {
                let message = "a second summary follows the first: give the report of one run";
                return Err(Unreadable::new(Kind::Mixed, message).at_line(number));
            }
            run.summary = Some((number, summary));
        } else if run.summary.is_some() {
            run.again += u64::from(line.starts_with("rspec ") && line.contains(" # "));
        } else {
            run.line(line);
        }
    }
    run.finish()
}

impl Run {
    fn line(&mut self, line: &str) {
        // What examples print comes before the lists: a list that begins again is the one that counts.
        if line.starts_with("Pending: (Failures listed here are expected") {
            self.list = List::Pending;
            self.pending.clear();
        } else if line == "Failures:" {
            self.list = List::Failed;
            self.failed.clear();
        } else if line.starts_with("An error occurred while loading ")
            || line.starts_with("An error occurred in a")
        {
            self.list = List::Outside;
            self.outside.push(line.to_owned());
        } else {
            match self.list {
                List::None => {}
                List::Outside => {
                    if let Some(message) = self.outside.last_mut() {
                        keep(message, line);
                    }
                }
                List::Pending => list(&mut self.pending, line),
                List::Failed => list(&mut self.failed, line),
            }
        }
    }

    fn finish(self) -> Result<TestReport, Unreadable> {
        let Some((number, summary)) = self.summary else {
            let message = "the summary is missing";
            return Err(Unreadable::new(Kind::Truncated, message));
        };
        let agree = |what: &str, declared: u64, counted: usize| {
            Builder::agree(what, declared, counted as u64).map_err(|error| error.at_line(number))
        };
        agree("failures", summary.failures, self.failed.len())?;
        agree("pending examples", summary.pending, self.pending.len())?;
        if self.again > 0 || summary.failures > 0 {
            Builder::agree("failures", summary.failures, self.again).map_err(|_| {
                let message = format!(
                    "it declares {} failures, and lists {} to run again",
                    summary.failures, self.again
                );
                let kind = if self.again < summary.failures {
                    Kind::Truncated
                } else {
                    Kind::Contradiction
                };
                Unreadable::new(kind, message)
            })?;
        }
        agree(
            "errors outside of examples",
            summary.outside,
            self.outside.len(),
        )?;
        let listed = summary.failures.saturating_add(summary.pending);
        let passed = summary.examples.checked_sub(listed).ok_or_else(|| {
            let message = "more examples failed or are pending than there are";
            Unreadable::new(Kind::Contradiction, message).at_line(number)
        })?;
        let mut builder = Builder::new(TestFormat::RspecText);
        for example in &self.failed {
            let outcome = failure(&example.message);
            builder.test(&example.id, outcome, Some(&example.message), None)?;
        }
        for example in &self.pending {
            // One that was run shows how it failed.
            let outcome = if example.message.contains("Failure/Error:") {
                Outcome::ExpectedFailure
            } else {
                Outcome::Skipped
            };
            let message = example.message.trim_start().trim_start_matches("# ");
            builder.test(&example.id, outcome, Some(message), None)?;
        }
        for message in &self.outside {
            let first = message.lines().next().unwrap_or_default();
            let first = first.trim_end_matches('.');
            let id = match first.strip_prefix("An error occurred while loading ") {
                Some(file) => file,
                None => first.split('`').nth(1).unwrap_or("outside of examples"),
            };
            builder.test(id, Outcome::NotCollected, Some(message), None)?;
        }
        builder.unnamed(Outcome::Passed, passed);
        builder.finish()
    }
}

/// A line of a list: `  3) Cart is fixed FIXED`, or what belongs to it.
fn list(examples: &mut Vec<Example>, line: &str) {
    let next = examples.len() + 1;
    let numbered = line
        .strip_prefix("  ")
        .and_then(|rest| rest.strip_prefix(&next.to_string()))
        .and_then(|rest| rest.strip_prefix(") "));
    if let Some(id) = numbered {
        examples.push(Example {
            id: id.strip_suffix(" FIXED").unwrap_or(id).to_owned(),
            message: String::new(),
        });
    } else if let Some(example) = examples.last_mut() {
        keep(&mut example.message, line);
    }
}

/// An exception of another class than the assertions have is named before its message.
fn failure(message: &str) -> Outcome {
    let class = message
        .lines()
        .map(str::trim)
        .filter_map(|line| line.strip_suffix(':'))
        .find(|line| {
            !line.contains(' ')
                && line.starts_with(|c: char| c.is_ascii_uppercase())
                && (line.ends_with("Error") || line.contains("::") || line.ends_with("Exception"))
        });
    match class {
        Some(class) if !class.contains("ExpectationNotMet") && !class.contains("Assertion") => {
            Outcome::Error
        }
        _ => Outcome::Failed,
    }
}

fn keep(text: &mut String, line: &str) {
    if text.len() < LONGEST_MESSAGE {
        text.push('\n');
        text.push_str(cut(line, LONGEST_MESSAGE));
    }
}
