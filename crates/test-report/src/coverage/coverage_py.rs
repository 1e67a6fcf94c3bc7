//! The JSON report of coverage.py.

use serde::Deserialize;

use super::json::{self, Entries, LineNumbers, holds};
use super::once::{Distinct, Lines};
use super::{Coverage, CoverageFormat, FileCoverage, LineHits, Metric, sum};
use crate::source::Source;
use crate::unreadable::{Kind, Unreadable};

/// Whether a report begins like this one, without its blanks.
pub(super) fn detect(compact: &[u8]) -> bool {
    (compact.starts_with(b"{\"meta\":{") && holds(compact, b"\"branch_coverage\":"))
        || compact.starts_with(b"{\"files\":{") && holds(compact, b"\"executed_lines\":")
}

#[derive(Deserialize)]
struct Report {
    files: Entries<File>,
    totals: Summary,
}

#[derive(Deserialize)]
struct File {
    summary: Summary,
    #[serde(default)]
    missing_lines: Option<LineNumbers>,
    #[serde(default)]
    executed_lines: LineNumbers,
}

#[derive(Deserialize)]
struct Summary {
    covered_lines: u64,
    num_statements: u64,
    #[serde(default)]
    missing_lines: Option<u64>,
    #[serde(default)]
    num_branches: Option<u64>,
    #[serde(default)]
    covered_branches: Option<u64>,
}

impl Summary {
    fn lines(&self) -> Metric {
        Metric {
            covered: self.covered_lines,
            total: self.num_statements,
        }
    }

    fn branches(&self) -> Option<Metric> {
        Some(Metric {
            covered: self.covered_branches?,
            total: self.num_branches?,
        })
    }

    /// Holds its numbers against each other, and against the lines that are listed as missing.
    fn sound(&self, whose: &str, missing: Option<u64>) -> Result<(), Unreadable> {
        let lines = self.lines().sound("lines", whose)?;
        self.branches()
            .unwrap_or_default()
            .sound("branches", whose)?;
        for missing in self.missing_lines.into_iter().chain(missing) {
            // Executed lines are also listed where they are no statements, so only those that are missing can be held.
            let counted = Metric {
                covered: lines.total.saturating_sub(missing),
                total: lines.total,
            };
            lines.agrees(counted, "lines", whose)?;
        }
        Ok(())
    }
}

/// Reads a report.
pub(super) fn read(source: Source<'_>) -> Result<Coverage, Unreadable> {
    let Report { files, totals } = json::read(source)?;
    let mut coverage = Coverage::of(CoverageFormat::CoveragePy);
    let (mut lines, mut branches) = (Metric::default(), Metric::default());
    for (path, file) in files.0 {
        sum::fits(coverage.files.len())?;
        let missing = file.missing_lines.as_ref().map(|lines| lines.length);
        file.summary.sound(&path, missing)?;
        let mut hits = Distinct::new();
        let missing = file.missing_lines.iter().flat_map(|lines| &lines.numbers);
        for (line, reached) in missing
            .map(|line| (*line, false))
            .chain(file.executed_lines.numbers.iter().map(|line| (*line, true)))
        {
            hits.add(Lines::new(line, reached));
        }
        lines = lines.and(file.summary.lines());
        branches = branches.and(file.summary.branches().unwrap_or_default());
        coverage.files.push(FileCoverage {
            path,
            lines: file.summary.lines(),
            hits: LineHits::of(&mut hits),
        });
    }
    totals.sound("all files", None)?;
    totals.lines().agrees(lines, "lines", "all files")?;
    if let Some(declared) = totals.branches() {
        declared.agrees(branches, "branches", "all files")?;
    } else if branches.total > 0 {
        let message = "its files have branches, and its totals have none";
        return Err(Unreadable::new(Kind::Contradiction, message));
    }
    coverage.lines = Some(lines);
    coverage.branches = Some(branches).filter(|sum| sum.total > 0);
    coverage.finish()
}
