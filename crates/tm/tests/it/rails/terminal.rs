//! The binary at a terminal, where a person sits.

use std::process::Command;

use super::environment::TestEnvironment;
use testkit::person::{self, Person};

fn program(env: &TestEnvironment, arguments: &[&str]) -> Command {
    let mut command = env.process(env!("CARGO_BIN_EXE_tm"));
    command.args(arguments);
    command
}

/// Runs the binary at a terminal of its own, at which somebody types `lines` and then Ctrl-D. Exit status, and all
/// that the terminal showed.
pub fn at_terminal(env: &TestEnvironment, arguments: &[&str], lines: &str) -> (i32, String) {
    person::at_terminal(program(env, arguments), lines)
}

/// The same where somebody types the code that is shown.
pub fn agreed(env: &TestEnvironment, arguments: &[&str]) -> (i32, String) {
    let (shown, status, rest) = Person::at(program(env, arguments)).agrees();
    (status, shown + &rest)
}
