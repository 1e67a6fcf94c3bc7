use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{TestReport, json, junit, tap, text, trx};
use crate::source::Source;
use crate::unreadable::Unreadable;

/// The formats of test reports that are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestFormat {
    /// `JUnit` XML, in the dialects of Ant, Surefire, pytest, node, `PHPUnit`, nextest, `ctest` and others.
    Junit,
    /// TRX, of `dotnet test`.
    Trx,
    /// TAP 13 and 14.
    Tap,
    /// `go test -json`.
    GoJson,
    /// The JSON lines of libtest, as the nightly test harness and nextest write them.
    LibtestJson,
    /// `pytest-json-report`.
    PytestJson,
    /// `--json` of Jest, `--reporter=json` of Vitest.
    JestJson,
    /// `--reporter=json` of Mocha.
    MochaJson,
    /// `--format json` of `RSpec`.
    RspecJson,
    /// What `cargo test` prints.
    CargoText,
    /// What `pytest` prints.
    PytestText,
    /// What Python's `unittest` prints.
    UnittestText,
    /// What `jest` prints.
    JestText,
    /// What `vitest` prints.
    VitestText,
    /// What `go test` prints.
    GoText,
    /// What `mocha` prints.
    MochaText,
    /// What `node --test` prints.
    NodeText,
    /// What `PHPUnit` prints.
    PhpunitText,
    /// What `rspec` prints.
    RspecText,
    /// What `dotnet test` prints.
    DotnetText,
    /// What Maven prints of its tests.
    MavenText,
    /// What `ctest` prints.
    CtestText,
}

impl TestFormat {
    /// Whether reports of both formats give tests the same ids: they are of one runner, which writes either.
    pub fn names_alike(self, other: Self) -> bool {
        let go = |format| matches!(format, Self::GoJson | Self::GoText);
        self == other || (go(self) && go(other))
    }

    /// Whether it is what a runner prints for people, of which it may print less at any time.
    pub fn is_printed(self) -> bool {
        self.name().ends_with("-text")
    }

    /// Whether one id is always one test, and a second case of it a further stage or try of that test. Elsewhere it may be a test of
    /// its own; where a build tool writes each try as a case, it counts as one, too.
    pub fn repeats_tests(self) -> bool {
        matches!(
            self,
            Self::GoJson | Self::GoText | Self::PytestJson | Self::PytestText
        )
    }

    /// All of them.
    pub const ALL: [Self; 22] = [
        Self::Junit,
        Self::Trx,
        Self::Tap,
        Self::GoJson,
        Self::LibtestJson,
        Self::PytestJson,
        Self::JestJson,
        Self::MochaJson,
        Self::RspecJson,
        Self::CargoText,
        Self::PytestText,
        Self::UnittestText,
        Self::JestText,
        Self::VitestText,
        Self::GoText,
        Self::MochaText,
        Self::NodeText,
        Self::PhpunitText,
        Self::RspecText,
        Self::DotnetText,
        Self::MavenText,
        Self::CtestText,
    ];

    /// A stable name, as it is given and shown: `junit`, `go-json`, `pytest-text`…
    pub const fn name(self) -> &'static str {
        match self {
            Self::Junit => "junit",
            Self::Trx => "trx",
            Self::Tap => "tap",
            Self::GoJson => "go-json",
            Self::LibtestJson => "libtest-json",
            Self::PytestJson => "pytest-json",
            Self::JestJson => "jest-json",
            Self::MochaJson => "mocha-json",
            Self::RspecJson => "rspec-json",
            Self::CargoText => "cargo-text",
            Self::PytestText => "pytest-text",
            Self::UnittestText => "unittest-text",
            Self::JestText => "jest-text",
            Self::VitestText => "vitest-text",
            Self::GoText => "go-text",
            Self::MochaText => "mocha-text",
            Self::NodeText => "node-text",
            Self::PhpunitText => "phpunit-text",
            Self::RspecText => "rspec-text",
            Self::DotnetText => "dotnet-text",
            Self::MavenText => "maven-text",
            Self::CtestText => "ctest-text",
        }
    }
}

impl fmt::Display for TestFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for TestFormat {
    type Err = Unreadable;

    fn from_str(name: &str) -> Result<Self, Unreadable> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| {
                let known = Self::ALL.into_iter().map(Self::name);
                Unreadable::no_format("test", name, known)
            })
    }
}

/// Tells the format by the beginning of a report. `None` is printed text, of which more has to be seen.
pub(super) fn detect(head: &[u8]) -> Option<TestFormat> {
    xml_root(head)
        .or_else(|| json::detect(head))
        .or_else(|| tap::detect(head))
}

fn xml_root(head: &[u8]) -> Option<TestFormat> {
    junit::detect(head).or_else(|| trx::detect(head))
}

/// Reads a report as one of the formats.
pub(super) fn read(
    format: Option<TestFormat>,
    source: Source<'_>,
) -> Result<TestReport, Unreadable> {
    let read = match format {
        Some(TestFormat::Junit) => junit::read(source),
        Some(TestFormat::Trx) => trx::read(source),
        Some(TestFormat::Tap) => tap::read(source),
        Some(TestFormat::GoJson) => json::go::read(source),
        Some(TestFormat::LibtestJson) => json::libtest::read(source),
        Some(TestFormat::PytestJson) => json::pytest::read(source),
        Some(TestFormat::JestJson) => json::jest::read(source),
        Some(TestFormat::MochaJson) => json::mocha::read(source),
        Some(TestFormat::RspecJson) => json::rspec::read(source),
        printed => return text::read(printed, source),
    };
    read.map_err(|error| match format {
        Some(format) => error.in_format(format.name()),
        None => error,
    })
}
