//! Running the project's test command, as its user would, and keeping what it prints.

pub(crate) mod command_line;
mod environment;
mod output;
mod run;

pub use crate::process::How;
pub(crate) use command_line::one_word;
pub use command_line::{CommandError, CommandLine, in_folder};
pub use environment::{passed_variables, suite_environment};
pub use run::{SuiteError, SuiteRan, SuiteRun, run_suite};

use crate::process::find_program;
pub use crate::shell::ShellSyntax;

/// The program of a test command, where it cannot be started from a folder.
pub fn missing_program(command: &str, folder: &std::path::Path) -> Option<String> {
    let program = CommandLine::parse(command).ok()?.argv.into_iter().next()?;
    find_program(&program, folder).is_none().then_some(program)
}
