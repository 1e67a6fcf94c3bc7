//! Reads what test runners, coverage tools, linters and type checkers leave behind, and never takes what it did not understand for a success.
//!
//! A report is told by its content, not by its name ([`TestFormat`], [`CoverageFormat`]). The cases are counted one by one
//! and held against what the report declares of itself; a report that is empty, cut off, put together from two or
//! contradicting itself is an [`Unreadable`], never a report with nothing failed.
//!
//! ```
//! let report = test_report::read_tests(&b"TAP version 13\n1..2\nok 1 - adds\nnot ok 2 - divides\n"[..], None)?;
//! assert_eq!(report.totals.failed, 1);
//! # Ok::<(), test_report::Unreadable>(())
//! ```
//!
//! Input may come from anyone: it is read as a stream, nothing in it makes a reader panic or loop, and what is kept of it
//! stays within the limits of [`limits`].

pub mod coverage;
pub mod findings;
pub mod limits;
mod source;
pub mod tests;
mod unreadable;
mod xml;

pub use coverage::{Coverage, CoverageFormat, FileCoverage, LineHits, Metric, read_coverage};
pub use findings::{CheckFinding, CheckFormat, Severity, read_findings, told_findings};
pub use tests::{
    Named, Outcome, Test, TestFormat, TestReport, Totals, add_unhandled, printed_in_events,
    read_tests,
};
pub use unreadable::{Kind, Unreadable};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
