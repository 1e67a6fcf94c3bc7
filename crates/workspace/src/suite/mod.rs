//! Running the project's test command, as its user would, and keeping what it prints.

pub(crate) mod command_line;
mod output;
mod run;

pub use crate::process::How;
pub use command_line::{CommandError, CommandLine};
pub use run::{SuiteError, SuiteRan, SuiteRun, run_suite};

pub use crate::shell::ShellSyntax;
