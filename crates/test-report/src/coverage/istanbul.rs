//! Istanbul's `coverage-summary.json`, as nyc, c8, Jest and Vitest write it.

use serde::Deserialize;

use super::json::{self, Entries, holds};
use super::{Coverage, CoverageFormat, FileCoverage, LineHits, Metric, sum};
use crate::source::Source;
use crate::unreadable::{Kind, Unreadable};

/// Whether a report begins like this one, without its blanks.
pub(super) fn detect(compact: &[u8]) -> bool {
    compact.starts_with(b"{\"total\":{")
        && (holds(compact, b"\"pct\":") || holds(compact, b"\"covered\":"))
        || compact.starts_with(b"{") && holds(compact, b"\":{\"lines\":{\"total\":")
}

/// A summary, of a file or of all of them. Percentages are not looked at: they are rounded, and `Unknown` where nothing is.
#[derive(Deserialize)]
struct Summary {
    lines: Count,
    #[serde(default)]
    statements: Option<Count>,
    #[serde(default)]
    functions: Option<Count>,
    #[serde(default)]
    branches: Option<Count>,
}

#[derive(Deserialize, Clone, Copy)]
struct Count {
    total: u64,
    covered: u64,
}

impl From<Count> for Metric {
    fn from(count: Count) -> Self {
        Self {
            covered: count.covered,
            total: count.total,
        }
    }
}

impl Summary {
    fn metrics(&self) -> [(&'static str, Option<Metric>); 4] {
        [
            ("lines", Some(self.lines.into())),
            ("statements", self.statements.map(Metric::from)),
            ("functions", self.functions.map(Metric::from)),
            ("branches", self.branches.map(Metric::from)),
        ]
    }
}

/// Reads a summary.
pub(super) fn read(source: Source<'_>) -> Result<Coverage, Unreadable> {
    let Entries(entries) = json::read::<Entries<Summary>>(source)?;
    let mut total = None;
    let mut sums = [Metric::default(); 4];
    let mut coverage = Coverage::of(CoverageFormat::IstanbulSummary);
    for (path, summary) in entries {
        let metrics = summary.metrics();
        for (what, metric) in metrics {
            metric.unwrap_or_default().sound(what, &path)?;
        }
        if &*path == "total" {
            if total.replace(metrics).is_some() {
                let message = "it has two totals: give the report of one run";
                return Err(Unreadable::new(Kind::Mixed, message));
            }
            continue;
        }
        sum::fits(coverage.files.len())?;
        for (sum, (_, metric)) in sums.iter_mut().zip(metrics) {
            *sum = sum.and(metric.unwrap_or_default());
        }
        coverage.files.push(FileCoverage {
            path,
            lines: summary.lines.into(),
            hits: LineHits::default(),
        });
    }
    let Some(total) = total else {
        return Err(Unreadable::new(Kind::Malformed, "it has no `total`"));
    };
    if coverage.files.is_empty() {
        coverage
            .notes
            .push("it names no file: its totals could not be held against anything".to_owned());
    } else {
        for ((what, declared), counted) in total.into_iter().zip(sums) {
            if let Some(declared) = declared {
                declared.agrees(counted, what, "all files")?;
            }
        }
    }
    let [lines, statements, functions, branches] = total.map(|(_, metric)| metric);
    let any = |metric: Option<Metric>| metric.filter(|metric| metric.total > 0);
    coverage.lines = lines;
    coverage.statements = any(statements);
    coverage.functions = any(functions);
    coverage.branches = any(branches);
    coverage.finish()
}
