//! `tm verify`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::ProjectPlace;

/// `tm verify`.
#[derive(Debug, Args)]
pub struct Verify {
    /// The commits: `A..B` (what B has and A has not), or a single one; those of HEAD since it left the default branch if left out
    #[arg(value_name = "RANGE")]
    pub range: Option<String>,
    /// A run in one file, as `tm runs export` writes it; may be repeated
    #[arg(long, value_name = "FILE")]
    pub bundle: Vec<PathBuf>,
    /// The least level that RED and GREEN must have
    #[arg(long, value_name = "LEVEL", value_enum, default_value = "claimed")]
    pub require: LevelName,
    /// The least that must stand behind what a person decided; the settings may ask for more
    #[arg(long, value_name = "STRENGTH", value_enum, default_value = "client")]
    pub approvals: StrengthName,
    /// The keys that may sign decisions, as `ssh-keygen` reads them; those of the person's list if left out
    #[arg(long, value_name = "FILE")]
    pub signers: Option<PathBuf>,
    /// Run the tests of each subtask's commit again on the bench: with its change they have to pass, and without it to fail. Then those of
    /// the last commit, by the settings that it has
    #[arg(long)]
    pub replay: bool,
    /// Refuse runs that began with settings weaker than the committed ones, or with a test command that no commit has
    #[arg(long)]
    pub strict: bool,
    /// Where, and how to answer.
    #[command(flatten)]
    pub place: ProjectPlace,
}

/// How much is known of test results.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum LevelName {
    /// Numbers that somebody gave.
    Claimed,
    /// The test runner's own report.
    Reported,
    /// The tests were run by `tm`, in the working tree.
    Ran,
    /// The tests were run by `tm`, on trees of their own.
    Verified,
}

/// How much stands behind a decision of a person.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum StrengthName {
    /// A client says that it asked.
    Client,
    /// Somebody typed at a terminal what was shown there.
    Terminal,
    /// Somebody signed it.
    Signed,
}
