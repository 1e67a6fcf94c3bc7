use serde::{Deserialize, Serialize};

use super::CoverageFormat;
use super::once::{Distinct, Lines};

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
    /// Which of them were reached, where the report tells them one by one.
    #[serde(skip)]
    pub hits: LineHits,
}

/// Which lines of a file can be reached, and which of them were.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineHits {
    /// In order.
    lines: Vec<Lines>,
    /// Stretches of lines, the first and the last of each.
    stretches: Vec<(u32, u32, bool)>,
}

impl LineHits {
    pub(super) fn of(lines: &mut Distinct<Lines>) -> Self {
        Self {
            lines: lines.settle().to_vec(),
            stretches: Vec::new(),
        }
    }

    pub(super) fn of_stretches(stretches: impl IntoIterator<Item = (u32, u32, bool)>) -> Self {
        Self {
            lines: Vec::new(),
            stretches: stretches.into_iter().collect(),
        }
    }

    /// Whether nothing is known of any line.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.stretches.is_empty()
    }

    /// Of the lines in these stretches, from the first to the last of each, those that can be reached: whether they were.
    pub fn within<'a>(&'a self, stretches: &'a [(u32, u32)]) -> impl Iterator<Item = bool> + 'a {
        let last = Lines::last(&self.lines);
        let last = self
            .stretches
            .iter()
            .map(|(_, to, _)| *to)
            .fold(last, u32::max);
        let lines = stretches
            .iter()
            .flat_map(move |(from, to)| *from..=(*to).min(last));
        lines.filter_map(|line| self.is_reached(line))
    }

    /// Whether a line, counted from 1, was reached; `None` where there is nothing in it to reach. One of several stretches was where
    /// one of these was.
    pub fn is_reached(&self, line: u32) -> Option<bool> {
        let told = Lines::told(&self.lines, line);
        let mut stretches = self.stretches.iter();
        let within = |(first, last, _): &&(u32, u32, bool)| (*first..=*last).contains(&line);
        told.or_else(|| {
            let first = stretches.find(within)?.2;
            Some(first || stretches.filter(within).any(|(_, _, reached)| *reached))
        })
    }
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
