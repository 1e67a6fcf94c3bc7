//! Texts that people read stand in tests as snapshots; what has changed is written into them by one command.

use std::io;

use clap::Args;

use crate::tools::{cargo_tool, command, passes};

/// The one that fits the `insta` of the tests.
const VERSION: &str = "1.49.0";

/// Which tests are run.
#[derive(Debug, Args)]
pub struct Accept {
    /// Those of this package; without it of all
    #[arg(short, long)]
    package: Option<String>,
    /// Those that have this in their names
    name: Option<String>,
}

/// Runs the tests, and writes what they found into their snapshots; whether all else held.
pub fn accept(accept: &Accept) -> io::Result<bool> {
    let tool = cargo_tool("cargo-insta", VERSION, &[])?;
    let mut test = command(tool);
    test.args(["test", "--accept", "--test-runner", "cargo-test"]);
    match &accept.package {
        Some(package) => test.args(["--package", package]),
        None => test.arg("--workspace"),
    };
    if let Some(name) = &accept.name {
        test.args(["--", name]);
    }
    passes(&mut test)
}
