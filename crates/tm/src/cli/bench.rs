//! `tm bench` and `tm clean`.

use clap::{Args, Subcommand};

use super::ProjectPlace;

/// `tm bench`.
#[derive(Debug, Args)]
pub struct Bench {
    /// Where, and how to answer.
    #[command(flatten)]
    pub place: ProjectPlace,
    /// What to do.
    #[command(subcommand)]
    pub command: BenchCommand,
}

/// The commands of `tm bench`.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// List the benches of this project: where they are, how large, when one was used last
    Show,
    /// Run the test command on a bench, as `--verify` does, and show what it says
    ///
    /// By the settings as they are now, and nothing is recorded. It is the way to find out what the tests lack there: the settings under
    /// `bench` give it to them. The exit status is 3 if a test fails.
    #[command(
        after_long_help = "Examples:\n  tm bench run          # the work as it stands\n  tm bench run HEAD~1"
    )]
    Run {
        /// A commit or a branch; the work as it stands if left out
        #[arg(value_name = "TREE")]
        tree: Option<String>,
    },
    /// Remove the benches of this project; the next suite makes a new one
    ///
    /// One on which a suite runs stays.
    Remove,
}

/// `tm clean`.
#[derive(Debug, Args)]
pub struct Clean {
    /// Where, and how to answer.
    #[command(flatten)]
    pub place: ProjectPlace,
    /// Keep what was used in the last DAYS days
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
    pub days: u32,
    /// Show what would be removed, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
}
