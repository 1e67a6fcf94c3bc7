//! `llvm-cov export`, as clang, Swift and `cargo llvm-cov --json` write it.

use serde::Deserialize;

use super::json::{self, holds};
use super::{Coverage, CoverageFormat, FileCoverage, LineHits, Metric, sum};
use crate::source::Source;
use crate::unreadable::{Kind, Unreadable};

/// Whether a report begins like this one, without its blanks.
pub(super) fn detect(compact: &[u8]) -> bool {
    // The type stands behind the data in most versions, and so too far away to be seen.
    [
        &b"{\"data\":[{\"files\":["[..],
        b"{\"data\":[{\"functions\":[",
        b"{\"data\":[{\"totals\":{",
    ]
    .iter()
    .any(|beginning| compact.starts_with(beginning))
        || compact.starts_with(b"{") && holds(compact, b"\"type\":\"llvm.coverage.json.export\"")
}

#[derive(Deserialize)]
struct Export {
    data: Vec<Data>,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct Data {
    files: Vec<File>,
    totals: Summary,
}

#[derive(Deserialize)]
struct File {
    filename: Box<str>,
    summary: Summary,
}

#[derive(Deserialize)]
struct Summary {
    lines: Count,
    #[serde(default)]
    branches: Option<Count>,
    #[serde(default)]
    functions: Option<Count>,
    #[serde(default)]
    regions: Option<Count>,
}

#[derive(Deserialize, Clone, Copy)]
struct Count {
    count: u64,
    covered: u64,
}

impl From<Count> for Metric {
    fn from(count: Count) -> Self {
        Self {
            covered: count.covered,
            total: count.count,
        }
    }
}

impl Summary {
    fn metrics(&self) -> [(&'static str, Option<Metric>); 4] {
        [
            ("lines", Some(self.lines.into())),
            ("branches", self.branches.map(Metric::from)),
            ("functions", self.functions.map(Metric::from)),
            ("regions", self.regions.map(Metric::from)),
        ]
    }
}

/// Reads an export.
pub(super) fn read(source: Source<'_>) -> Result<Coverage, Unreadable> {
    let export: Export = json::read(source)?;
    if export.kind != "llvm.coverage.json.export" {
        let message = format!("its type is {:?}", export.kind);
        return Err(Unreadable::new(Kind::Malformed, message));
    }
    let mut coverage = Coverage::of(CoverageFormat::LlvmCov);
    let several = export.data.len() > 1;
    let mut sums = [Metric::default(); 4];
    for Data { files, totals } in export.data {
        let mut counted = [Metric::default(); 4];
        for File { filename, summary } in files {
            sum::fits(coverage.files.len())?;
            for (sum, (what, metric)) in counted.iter_mut().zip(summary.metrics()) {
                *sum = sum.and(metric.unwrap_or_default().sound(what, &filename)?);
            }
            coverage.files.push(FileCoverage {
                path: filename,
                lines: summary.lines.into(),
                hits: LineHits::default(),
            });
        }
        for ((what, declared), counted) in totals.metrics().into_iter().zip(counted) {
            if let Some(declared) = declared {
                declared.agrees(counted, what, "all files")?;
            }
        }
        for (sum, counted) in sums.iter_mut().zip(counted) {
            *sum = sum.and(counted);
        }
    }
    if several {
        coverage
            .notes
            .push("it holds several exports: their sums are added up".to_owned());
    }
    let [lines, branches, functions, regions] = sums;
    let any = |metric: Metric| Some(metric).filter(|metric| metric.total > 0);
    coverage.lines = Some(lines);
    coverage.branches = any(branches);
    coverage.functions = any(functions);
    coverage.statements = any(regions);
    coverage.finish()
}
