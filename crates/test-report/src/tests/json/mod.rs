//! Reports in JSON: one value, or one in each line.

pub(crate) mod go;
pub(crate) mod jest;
pub(crate) mod libtest;
pub(crate) mod mocha;
pub(crate) mod pytest;
pub(crate) mod rspec;
mod script;

use std::io::{Cursor, Read as _};

use super::TestFormat;
use crate::limits::LONGEST_WHOLE;
use crate::source::Source;
use crate::unreadable::Unreadable;

/// Whether it is JSON that somebody had another tool spread over lines, such as `jq .`.
pub(super) fn is_spread(head: &[u8]) -> bool {
    let head = head.trim_ascii_start();
    head.starts_with(b"{\n") || head.starts_with(b"{\r\n")
}

/// The same values with each in a line of its own. What is no JSON stays as it is.
pub(super) fn in_lines(source: Source<'_>) -> Result<Source<'_>, Unreadable> {
    let mut bytes = Vec::new();
    let mut source = source.take(LONGEST_WHOLE as u64);
    source.read_to_end(&mut bytes)?;
    let rest = source.into_inner();
    let values = serde_json::Deserializer::from_slice(&bytes).into_iter::<serde_json::Value>();
    let lines: Result<Vec<String>, _> = values
        .map(|value| value.map(|v| format!("{v}\n")))
        .collect();
    if let Ok(lines) = lines {
        bytes = lines.concat().into_bytes();
    }
    Ok(Source::new(Cursor::new(bytes).chain(rest))?)
}

/// Tells which of the JSON formats begins like this.
pub(super) fn detect(head: &[u8]) -> Option<TestFormat> {
    pytest::detect(head)
        .or_else(|| script::detect(head))
        .or_else(|| by_line(head))
}

/// Tells the formats that have an event in each line, or one value in a line after what the tests printed.
fn by_line(head: &[u8]) -> Option<TestFormat> {
    let head = String::from_utf8_lossy(head);
    head.lines().find_map(|line| {
        if libtest::is_event(line) {
            Some(TestFormat::LibtestJson)
        } else if go::is_event(line) {
            Some(TestFormat::GoJson)
        } else if rspec::is_beginning(line) {
            Some(TestFormat::RspecJson)
        } else {
            None
        }
    })
}
