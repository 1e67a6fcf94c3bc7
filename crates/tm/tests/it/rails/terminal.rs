//! The binary at a terminal, where a person sits.

use super::environment::TestEnvironment;

/// Somebody types the code that is shown. Exit status, and all that the terminal showed.
pub fn agreed(env: &TestEnvironment, arguments: &[&str]) -> (i32, String) {
    let (shown, status, rest) = env.person(arguments).agrees();
    (status, shown + &rest)
}
