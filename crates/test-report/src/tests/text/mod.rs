//! What test runners print for people.

pub(super) mod bun;
mod cargo;
mod ctest;
mod dotnet;
mod go;
mod jest;
mod maven;
mod mocha;
mod node;
mod phpunit;
mod pnpm;
mod pytest;
mod rspec;
mod script;
mod unittest;
mod vitest;

use std::io::Read as _;

use super::{TestFormat, TestReport};
use crate::limits::LONGEST_WHOLE;
use crate::source::Source;
use crate::unreadable::{Kind, Unreadable};

/// Reads printed text. Which runner printed it is told by the whole of it, unless it is given: what was built first may fill
/// many pages.
pub(super) fn read(
    format: Option<TestFormat>,
    source: Source<'_>,
) -> Result<TestReport, Unreadable> {
    let text = whole(source)?;
    if let Some(report) = pnpm::read(&text, format)? {
        return Ok(report);
    }
    let format = format.map_or_else(|| detect(&text), Ok)?;
    let read = match format {
        TestFormat::CargoText => cargo::read(&text),
        TestFormat::CtestText => ctest::read(&text),
        TestFormat::DotnetText => dotnet::read(&text),
        TestFormat::GoText => go::read(&text),
        TestFormat::JestText => jest::read(&text),
        TestFormat::MavenText => maven::read(&text),
        TestFormat::MochaText => mocha::read(&text),
        TestFormat::NodeText => node::read(&text),
        TestFormat::PhpunitText => phpunit::read(&text),
        TestFormat::PytestText => pytest::read(&text),
        TestFormat::RspecText => rspec::read(&text),
        TestFormat::UnittestText => unittest::read(&text),
        TestFormat::VitestText => vitest::read(&text),
        other => Err(Unreadable::new(
            Kind::Unknown,
            format!("{other} is no printed text"),
        )),
    };
    read.map_err(|error| error.in_format(format.name()))
}

/// A runner whose signs are in a text that is no report itself, but stands in or before one.
pub(super) fn printed_by(text: &str) -> Option<TestFormat> {
    signs(text)
        .find(|(_, signs)| *signs > 0)
        .map(|(format, _)| format)
}

/// The runner whose signs are in the text. Signs of two are of two runs in one file.
fn detect(text: &str) -> Result<TestFormat, Unreadable> {
    let mut seen = signs(text).filter(|(_, signs)| *signs > 0);
    match (seen.next(), seen.next()) {
        (Some((format, _)), None) => Ok(format),
        (None, _) => Err(Unreadable::new(
            Kind::Unknown,
            "it is no test report of a known format",
        )),
        (Some((one, _)), Some((other, _))) => Err(Unreadable::new(
            Kind::Mixed,
            format!("it looks like {one} and like {other}: give the report of one run"),
        )),
    }
}

/// How many signs of each runner are in the text.
fn signs(text: &str) -> impl Iterator<Item = (TestFormat, usize)> {
    [
        (TestFormat::CargoText, cargo::signs(text)),
        (TestFormat::CtestText, ctest::signs(text)),
        (TestFormat::DotnetText, dotnet::signs(text)),
        (TestFormat::GoText, go::signs(text)),
        (TestFormat::JestText, jest::signs(text)),
        (TestFormat::MavenText, maven::signs(text)),
        (TestFormat::MochaText, mocha::signs(text)),
        (TestFormat::NodeText, node::signs(text)),
        (TestFormat::PhpunitText, phpunit::signs(text)),
        (TestFormat::PytestText, pytest::signs(text)),
        (TestFormat::RspecText, rspec::signs(text)),
        (TestFormat::UnittestText, unittest::signs(text)),
        (TestFormat::VitestText, vitest::signs(text)),
    ]
    .into_iter()
}

/// All of the text, without the sequences that color a terminal.
fn whole(source: Source<'_>) -> Result<String, Unreadable> {
    let mut bytes = Vec::new();
    source
        .take(LONGEST_WHOLE as u64 + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() > LONGEST_WHOLE {
        let message = format!("printed text is read up to {LONGEST_WHOLE} bytes");
        return Err(Unreadable::new(Kind::TooLarge, message));
    }
    Ok(plain(&String::from_utf8_lossy(&bytes)))
}

/// The text without terminal sequences (ECMA-48: CSI and OSC) and without carriage returns at the ends of lines.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\u{1b}' => match chars.next() {
                Some('[') => {
                    while chars
                        .next()
                        .is_some_and(|c| !('\u{40}'..='\u{7e}').contains(&c))
                    {}
                }
                // A sequence with intermediate bytes, such as the choice of a character set, ends in one more.
                Some(' '..='/') => while chars.next().is_some_and(|c| (' '..='/').contains(&c)) {},
                Some(']') => while chars.next().is_some_and(|c| c != '\u{7}' && c != '\u{9c}') {},
                _ => {}
            },
            '\r' if chars.peek() == Some(&'\n') => {}
            char => plain.push(char),
        }
    }
    plain
}
