use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Coverage, cobertura, coverage_py, go_cover, istanbul, jacoco, json, lcov, llvm_cov};
use crate::source::Source;
use crate::unreadable::{Kind, Unreadable};
use crate::xml;

/// The formats of coverage reports that are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CoverageFormat {
    /// LCOV tracefiles.
    Lcov,
    /// Cobertura XML.
    Cobertura,
    /// `JaCoCo` XML.
    Jacoco,
    /// Istanbul's `coverage-summary.json`.
    IstanbulSummary,
    /// The JSON report of coverage.py.
    CoveragePy,
    /// `llvm-cov export`.
    LlvmCov,
    /// The cover profile of `go test -coverprofile`.
    GoCover,
}

impl CoverageFormat {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Lcov,
        Self::Cobertura,
        Self::Jacoco,
        Self::IstanbulSummary,
        Self::CoveragePy,
        Self::LlvmCov,
        Self::GoCover,
    ];

    /// A stable name, as it is given and shown: `lcov`, `go-cover`…
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lcov => "lcov",
            Self::Cobertura => "cobertura",
            Self::Jacoco => "jacoco",
            Self::IstanbulSummary => "istanbul-summary",
            Self::CoveragePy => "coverage-py",
            Self::LlvmCov => "llvm-cov",
            Self::GoCover => "go-cover",
        }
    }
}

impl fmt::Display for CoverageFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for CoverageFormat {
    type Err = Unreadable;

    fn from_str(name: &str) -> Result<Self, Unreadable> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| {
                let known = Self::ALL.into_iter().map(Self::name);
                Unreadable::no_format("coverage", name, known)
            })
    }
}

/// Tells the format by the beginning of a report.
pub(super) fn detect(head: &[u8]) -> Result<CoverageFormat, Unreadable> {
    let head = head.trim_ascii_start();
    if go_cover::detect(head) {
        return Ok(CoverageFormat::GoCover);
    }
    match head.first() {
        Some(b'<' | 0..=8 | 0xfe | 0xff) => detect_xml(head),
        Some(b'{' | b'[') => detect_json(head),
        _ if lcov::detect(head) => Ok(CoverageFormat::Lcov),
        _ => Err(unknown("")),
    }
}

fn detect_xml(head: &[u8]) -> Result<CoverageFormat, Unreadable> {
    match xml::root(head).as_deref() {
        Some("coverage") => Ok(CoverageFormat::Cobertura),
        Some("report") => Ok(CoverageFormat::Jacoco),
        Some("testsuites" | "testsuite" | "TestRun") => Err(unknown(": it is a report of tests")),
        Some(root) => Err(unknown(&format!(": its root is <{root}>"))),
        None => Err(match xml::Xml::new(head)?.next() {
            Err(fault) => fault,
            Ok(_) => unknown(""),
        }),
    }
}

fn detect_json(head: &[u8]) -> Result<CoverageFormat, Unreadable> {
    let compact = json::compact(head);
    if llvm_cov::detect(&compact) {
        Ok(CoverageFormat::LlvmCov)
    } else if coverage_py::detect(&compact) {
        Ok(CoverageFormat::CoveragePy)
    } else if json::holds(&compact, b"\"statementMap\":") {
        Err(unknown(
            ": it is Istanbul's full report; give the one of its reporter json-summary, or of lcov",
        ))
    } else if json::holds(&compact, b"\"gcovr/") {
        Err(unknown(
            ": it is gcovr's own JSON; give what it writes with --cobertura or --lcov",
        ))
    } else if istanbul::detect(&compact) {
        Ok(CoverageFormat::IstanbulSummary)
    } else {
        Err(unknown(""))
    }
}

fn unknown(more: &str) -> Unreadable {
    let message = format!("it is no coverage report of a known format{more}");
    Unreadable::new(Kind::Unknown, message)
}

/// Reads a report as one of the formats.
pub(super) fn read(format: CoverageFormat, source: Source<'_>) -> Result<Coverage, Unreadable> {
    match format {
        CoverageFormat::Lcov => lcov::read(source),
        CoverageFormat::Cobertura => cobertura::read(source),
        CoverageFormat::Jacoco => jacoco::read(source),
        CoverageFormat::IstanbulSummary => istanbul::read(source),
        CoverageFormat::CoveragePy => coverage_py::read(source),
        CoverageFormat::LlvmCov => llvm_cov::read(source),
        CoverageFormat::GoCover => go_cover::read(source),
    }
}
