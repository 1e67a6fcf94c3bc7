//! `tm evidence`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use engine::capability::tests::evidence::show;

/// `tm evidence`.
#[derive(Debug, Args)]
pub struct Evidence {
    /// Print one JSON value on standard output, and nothing else there
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub json: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: EvidenceCommand,
}

/// The commands of `tm evidence`.
#[derive(Debug, Subcommand)]
pub enum EvidenceCommand {
    /// Show what is understood of test reports and coverage reports
    ///
    /// Each file is read as a test report, or else as a coverage report. Nothing is recorded, and no project is needed. The exit
    /// status says whether the files were understood (0, or 2), not whether tests failed.
    #[command(
        after_long_help = "Examples:\n  tm evidence show report.xml\n  tm evidence show target/surefire-reports --failed\n  \
                           cargo test >tests.txt; tm evidence show tests.txt\n  tm evidence show coverage/lcov.info --json"
    )]
    Show(Show),
}

/// `tm evidence show`.
#[derive(Debug, Args)]
pub struct Show {
    /// The reports; a folder stands for the reports in it
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Format of the reports; told by their content if left out
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    pub format: Option<String>,
    /// Show only tests that failed: up to 1000, with all that was kept of what the runner says of them
    #[arg(long)]
    pub failed: bool,
}

/// Takes the name of a format.
fn format() -> PossibleValuesParser {
    PossibleValuesParser::new(show::test_formats().chain(show::coverage_formats()))
}
