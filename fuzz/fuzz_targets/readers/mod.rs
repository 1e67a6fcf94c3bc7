//! Readers of foreign text, each with what has to hold whatever it is given.

mod bundle;
mod coverage_report;
mod design;
mod findings;
mod plan;
mod program;
mod task_graph;
mod test_report;
mod verdict;

use ::test_report::{CoverageFormat, TestFormat};

/// A reader of foreign text.
pub enum Reader {
    /// Of bytes, as they are.
    Bytes(fn(&[u8])),
    /// Of text: other bytes say nothing about it.
    Text(fn(&str)),
    /// Of what a test runner wrote in this format.
    Tests(TestFormat),
    /// Of what a coverage tool wrote in this format.
    Coverage(CoverageFormat),
}

impl Reader {
    /// The one that a folder of `corpus` is named after.
    pub fn named(name: &str) -> Option<Self> {
        let format = name.replace('_', "-");
        match name {
            "bundle" => Some(Self::Bytes(bundle::check)),
            "findings" => Some(Self::Bytes(findings::check)),
            "verdict" => Some(Self::Bytes(verdict::check)),
            "plan" => Some(Self::Bytes(plan::check)),
            "design" => Some(Self::Text(design::check)),
            "program" => Some(Self::Text(program::check)),
            "task_graph" => Some(Self::Text(task_graph::check)),
            _ => {
                let mut tests = TestFormat::ALL.into_iter();
                let mut coverage = CoverageFormat::ALL.into_iter();
                (tests.find(|one| one.name() == format).map(Self::Tests)).or_else(|| {
                    coverage
                        .find(|one| one.name() == format)
                        .map(Self::Coverage)
                })
            }
        }
    }

    /// Reads the bytes, and holds what comes of it to what was promised.
    pub fn check(&self, bytes: &[u8]) {
        match self {
            Self::Bytes(check) => check(bytes),
            Self::Text(check) => {
                if let Ok(text) = std::str::from_utf8(bytes) {
                    check(text);
                }
            }
            Self::Tests(format) => test_report::check(bytes, *format),
            Self::Coverage(format) => coverage_report::check(bytes, *format),
        }
    }
}
