//! Coverage reports.

mod cobertura;
mod coverage_py;
mod format;
mod go_cover;
mod istanbul;
mod jacoco;
mod json;
mod lcov;
mod lines;
mod llvm_cov;
mod measured;
mod once;
mod sum;

pub use format::CoverageFormat;
pub use measured::{Coverage, FileCoverage, LineHits, Metric};

use std::io::Read;

use crate::source::Source;
use crate::unreadable::{Kind, Unreadable};

/// Reads a coverage report. Its format is told by its content, unless it is given.
pub fn read_coverage(
    input: impl Read,
    format: Option<CoverageFormat>,
) -> Result<Coverage, Unreadable> {
    let source = Source::new(input)?;
    if source.head().iter().all(u8::is_ascii_whitespace) {
        return Err(Unreadable::new(Kind::Empty, "the report is empty"));
    }
    let format = match format {
        Some(format) => format,
        None => format::detect(source.head())?,
    };
    format::read(format, source).map_err(|error| error.in_format(format.name()))
}
