//! Reports in JSON: one value, or one in each line.

pub(crate) mod go;
pub(crate) mod jest;
pub(crate) mod libtest;
pub(crate) mod mocha;
pub(crate) mod pytest;
pub(crate) mod rspec;
mod script;

use super::TestFormat;

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
