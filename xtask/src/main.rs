//! `cargo xtask`: what is done to this workspace, by hand and in its gate.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it speaks to whoever runs it"
)]

mod chaos;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Tasks around this workspace.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Tasks {
    /// What to do.
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Have the program die, fail and lose its files at each of its system calls, and see whether it goes on
    Chaos(chaos::Chaos),
}

fn main() -> ExitCode {
    let Tasks { task } = Tasks::parse();
    let outcome = match task {
        Task::Chaos(chaos) => chaos::run(&chaos),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cargo xtask: {error}");
            ExitCode::from(2)
        }
    }
}
