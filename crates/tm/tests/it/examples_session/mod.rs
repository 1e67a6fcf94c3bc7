//! The worked profile of `examples/profiles`, and what the pages on sessions show: all of it played, from start to end.

mod pages;
mod programs;
mod story;

use std::path::PathBuf;
use std::process::Command;

use testkit::documentation::workspace;

/// The profile's folder.
fn example() -> PathBuf {
    workspace().join("examples/profiles/sqlite-migration")
}

/// Whether the interpreter is there that the example's programs need; where it is not, nothing is to be shown here.
#[allow(
    clippy::print_stderr,
    reason = "what was not tried is not to look as if it had been"
)]
fn has_python() -> bool {
    let needs = "import sqlite3, sys; sys.exit(sys.version_info < (3, 9) or sqlite3.sqlite_version_info < (3, 35))";
    let ran = Command::new("python3").args(["-c", needs]).status();
    let found = ran.is_ok_and(|status| status.success());
    if !found {
        eprintln!("no Python 3.9 with SQLite 3.35 here: the example is not tried");
    }
    found
}
