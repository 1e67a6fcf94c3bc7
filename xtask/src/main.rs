//! `cargo xtask`: what is done to this workspace, by hand and in its gate.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it speaks to whoever runs it"
)]

mod accept;
mod agents;
mod book;
mod browser;
mod chaos;
mod clients;
mod conformance;
mod cost;
mod dist;
mod fuzz;
mod gate;
mod history;
mod lines;
mod plugins;
mod runners;
mod stage;
mod tools;

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
    /// What must hold before a change lands
    Gate(gate::Gate),
    /// How large everything is, held against `ceilings.toml`
    Lines(lines::Lines),
    /// Write what the texts of the program are now into the snapshots of the tests
    Accept(accept::Accept),
    /// What takes too long for the gate: every kill point and fault, made-up input for an hour, the dist build
    Nightly,
    /// Hold the crates that we depend on to `deny.toml`
    Deny(gate::Deny),
    /// Have the program die, fail and lose its files at each of its system calls, and see whether it goes on
    Chaos(chaos::Chaos),
    /// Feed the readers of foreign text with made-up input
    Fuzz(fuzz::Fuzz),
    /// Measure the MCP stack with the protocol's official conformance suite
    Conformance,
    /// Drive the program with the protocol's official clients
    Clients,
    /// Measure verified evidence against bare suites, in real projects
    Cost(cost::Cost),
    /// Make what users download: archives, packages, checksums, the bill of materials
    Dist(dist::Dist),
    /// Have the real clients play whole cycles against a fake model
    Agents(agents::Agents),
    /// Install the plugins in the clients that they are for, and have an agent meet the hook
    Plugins,
    /// Look at the page of runs in a real browser, and decide there
    Browser,
    /// Build the documentation as a site
    Book,
    /// Play what people did in real projects: commits that change tests and product
    History(history::History),
    /// Play an honest run and all known cheats with every test runner that is here
    Runners(runners::Runners),
}

fn main() -> ExitCode {
    let Tasks { task } = Tasks::parse();
    let outcome = match task {
        Task::Gate(gate) => gate::gate(&gate),
        Task::Lines(lines) => lines::run(&lines),
        Task::Accept(accept) => accept::accept(&accept),
        Task::Nightly => gate::nightly(),
        Task::Deny(deny) => gate::deny(&deny),
        Task::Chaos(chaos) => chaos::run(&chaos),
        Task::Fuzz(fuzz) => fuzz::run_all(&fuzz),
        Task::Conformance => conformance::run_all(),
        Task::Clients => clients::run_all(),
        Task::Cost(cost) => cost::measure(&cost),
        Task::Dist(dist) => dist::run_all(&dist),
        Task::Book => book::build(),
        Task::Browser => browser::run_all(),
        Task::Agents(agents) => agents::run(&agents),
        Task::Plugins => plugins::run_all(),
        Task::History(history) => history::run(&history),
        Task::Runners(runners) => runners::run(&runners),
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
