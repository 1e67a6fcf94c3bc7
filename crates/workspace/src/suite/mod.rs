//! Running the project's test command, as its user would, and keeping what it prints.

mod output;
mod run;
pub(crate) mod words;

pub use crate::process::How;
pub use run::{SuiteError, SuiteRan, SuiteRun, run_suite};
pub use words::{CommandError, CommandLine};

pub use crate::shell::ShellSyntax;
