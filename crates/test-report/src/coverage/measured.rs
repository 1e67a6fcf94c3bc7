use serde::{Deserialize, Serialize};

use super::CoverageFormat;

/// How many there are of something, and how many of them were reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metric {
    /// Those that were reached.
    pub covered: u64,
    /// All of them.
    pub total: u64,
}

impl Metric {
    /// The share that was reached, in percent, from 0 to 100. `None` where there is nothing to reach.
    #[allow(clippy::cast_precision_loss)] // counts of lines, far below 2^53
    pub fn percent(&self) -> Option<f64> {
        (self.total > 0).then(|| self.covered as f64 * 100.0 / self.total as f64)
    }
}

/// The coverage of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileCoverage {
    /// Its path, as the report writes it.
    pub path: Box<str>,
    /// Its lines.
    pub lines: Metric,
}

/// What a coverage tool reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// The format that it was read as.
    pub format: CoverageFormat,
    /// Lines; of formats that know only statements, those (it is then said in `notes`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<Metric>,
    /// Branches, where the report has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branches: Option<Metric>,
    /// Functions or methods, where the report has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<Metric>,
    /// Statements, instructions or regions, where the report has them besides lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statements: Option<Metric>,
    /// The files, in the order of the report, where it names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileCoverage>,
    /// What a reader should know besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
