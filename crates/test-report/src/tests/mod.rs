//! Test reports.

mod binary;
mod builder;
mod format;
mod json;
mod junit;
mod report;
mod tap;
mod text;
mod thrown;
mod trx;

pub use format::TestFormat;
pub use json::go::printed_in_events;
pub use report::{Named, Outcome, Test, TestReport, Totals};
pub use text::bun::add_unhandled;

use std::io::Read;

use crate::source::Source;
use crate::unreadable::{Kind, Unreadable};

/// Reads a test report. Its format is told by its content, unless it is given.
///
/// The stream is read to its end, once, and not held as a whole, except for formats that are one JSON value or plain text.
pub fn read_tests(input: impl Read, format: Option<TestFormat>) -> Result<TestReport, Unreadable> {
    let mut source = Source::new(input)?;
    if source.head().iter().all(u8::is_ascii_whitespace) {
        return Err(Unreadable::new(Kind::Empty, "the report is empty"));
    }
    let mut told = format::detect(source.head());
    if told.is_none() && json::is_spread(source.head()) {
        source = json::in_lines(source)?;
        told = format::detect(source.head());
    }
    format::read(format.or(told), source)
}
