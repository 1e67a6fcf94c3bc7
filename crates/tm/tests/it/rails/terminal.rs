//! The binary at a terminal, where a person sits.

use testkit::{Sandbox, person};

use super::environment::TestEnvironment;

/// Runs the binary at a terminal of its own, at which somebody types `lines` and then Ctrl-D. Exit status, and all
/// that the terminal showed.
pub fn at_terminal(env: &TestEnvironment, arguments: &[&str], lines: &str) -> (i32, String) {
    let sandbox: &Sandbox = env;
    person::at_terminal(sandbox.program(arguments), lines)
}

/// The same where somebody types the code that is shown.
pub fn agreed(env: &TestEnvironment, arguments: &[&str]) -> (i32, String) {
    let (shown, status, rest) = env.person(arguments).agrees();
    (status, shown + &rest)
}
