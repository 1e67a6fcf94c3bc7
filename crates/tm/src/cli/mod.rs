//! The command line. The families that drive runs are data ([`crate::calls`]); the doc comments here are the help texts of all others.

pub mod bench;
pub mod evidence;
mod given;
pub mod history;
pub mod hook;
pub mod init;
pub mod mcp;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod reference;

pub mod setup;

pub mod tasks;
pub mod ui;
mod usage;
pub mod verify;
pub mod workflow;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::calls::FamilyCall;
pub use given::Given;
pub use usage::{is_help, meant, usage_fault, wants_json};

/// Keeps coding agents on rails: asks for one step, checks the evidence, records it, says what comes next
///
/// A run is a durable state machine. An agent (or a person) asks `tm autopilot next` what to do, does that
/// one thing and reports back; `tm` holds the report against the rule of the phase, makes the commit, and
/// says what comes next. It never calls a model, and a kill at any moment loses nothing.
#[derive(Debug, Parser)]
#[command(
    name = "tm",
    bin_name = "tm",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    after_long_help = EXIT_STATUS
)]
pub struct Cli {
    /// Print without colour and symbols; so does a set `NO_COLOR`
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub no_color: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_STATUS: &str = "\
Exit status:
  0  done
  1  a fault of tm
  2  usage
  3  refused by a rule
  4  nothing there: no active run, unknown run, task or workflow
  5  conflict: stale work unit, another run active, lock not free in time
  6  the environment: git missing, I/O, damaged state, bad config or tasks file
  7  nothing to do now
  8  the session broke down, or was called off";

/// The families of commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// A call of one of the families that drive runs.
    #[command(flatten)]
    Call(Box<FamilyCall>),
    /// The tasks of this project: list them, see which one is next, bring in those of other tools
    #[command(arg_required_else_help = true)]
    Tasks(tasks::Tasks),
    /// The runs of this project: list them, look at one, read its journal or its report
    #[command(arg_required_else_help = true)]
    Runs(history::Runs),
    /// Look at runs, live: in this terminal, or with `--web` in the browser
    ///
    /// What waits for you, what is stuck and why, each run with its items, its tests and its journal, and your decisions. In the
    /// terminal `?` shows the keys; where there is none, what would be shown is printed once. With `--web` a page is served on this
    /// machine alone until Ctrl-C. Its address holds a key that is good once; Enter gives another one. What is decided there counts
    /// as decided at this terminal, so it takes one.
    Ui(ui::Ui),
    /// Print the events of all runs here as they come, a line each
    ///
    /// From whichever process they are. With `--json` each has a `cursor`: `--from CURSOR` goes on behind it.
    Watch(ui::Watch),
    /// The journal of a run: check it, mend it, fold it up to some event
    #[command(arg_required_else_help = true)]
    Log(history::Log),
    /// Test reports and coverage reports: what is understood of them
    #[command(arg_required_else_help = true)]
    Evidence(evidence::Evidence),
    /// The bench, a checkout of its own in which `tm` runs tests: look at it, try the tests there, remove it
    #[command(arg_required_else_help = true)]
    Bench(bench::Bench),
    /// Remove what tests of this project left here: benches that nobody uses, kept trees of runs that ended
    ///
    /// A bench that was not used for 30 days is removed with the next suite in any case.
    Clean(bench::Clean),
    /// Check that every commit of a range was earned: RED, GREEN, and the tree that was tested
    ///
    /// For each commit that is no merge it looks for the run that made it: in the journals of this machine, else in the bundles
    /// given with `--bundle`, else in the git notes `refs/notes/tramline`. RED and GREEN must have been accepted in that order, at
    /// the level that is required; the evidence must be there, byte for byte; the commit must hold the tree that GREEN tested; the
    /// journal must be whole. The exit status is 3 if something is missing or wrong. Nothing is changed.
    Verify(verify::Verify),
    /// Workflow definitions: list them, print one, check a file, draw one
    #[command(arg_required_else_help = true)]
    Workflow(setup::Workflow),
    /// Prepare this project for its agent: settings, the client's MCP entry, instructions
    ///
    /// Shows every change as a difference, asks once, then writes. Files that are there keep everything else in them as it
    /// is. Run again, it brings up to date what it wrote before; with `--remove` it takes it out again. Without a client it
    /// makes the settings only, and says which clients seem to be in use here.
    Init(init::Init),
    /// The settings in force
    #[command(arg_required_else_help = true)]
    Config(setup::Config),
    /// Serve MCP on standard input and output, for the agent that starts it
    Mcp(mcp::Mcp),
    /// Serve MCP over HTTP, for many clients at once
    ///
    /// The protocol is at /mcp, and /healthz says whether the server is up. Clients must show the token that lies in a
    /// file which only you can read (`Authorization: Bearer TOKEN`). SIGTERM ends it when all calls are answered, and so does
    /// the end of its terminal.
    Serve(mcp::Serve),
    /// The guard hook: answers a coding agent's client before a tool is used, when a session begins, and when it ends
    ///
    /// A client calls it with a JSON payload on standard input, and reads its decision from standard output. It holds edits and
    /// git commands against the phase of the run here; whatever it cannot tell, it lets pass. `tm init --client CLIENT --hook`
    /// puts it into the client's settings.
    Hook(hook::Hook),
    /// Find out what is wrong here, and how to mend it
    ///
    /// The exit status is 6 if a check fails; notes and warnings leave it 0.
    Doctor(setup::Doctor),
    /// This program itself: its version, the formats that it reads, what changed
    #[command(name = "self", arg_required_else_help = true)]
    Own(setup::Own),
    /// Show the whole story in a throw-away repository: offline, in a few seconds
    ///
    /// A plan, a branch, RED, a refused cheat, GREEN, COMMIT, a kill in the middle of a commit, a
    /// resume, the final suite and the report. The tests are real, and run by `sh`; the executor is a
    /// script. Nothing needs to be installed, and nothing is left behind unless `--keep` is given.
    Demo(setup::Demo),
    /// Print a completion script for a shell
    Completions(setup::Completions),
    /// Print the manual pages, or write them to a folder
    Man(setup::Man),
}

/// Where a command works, and how it answers.
#[derive(Debug, Clone, Default, Args)]
pub struct Place {
    /// Print one JSON value on standard output, and nothing else there
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub json: bool,
    /// The project's folder; found upward from the current one if left out
    #[arg(long, global = true, value_name = "DIR", help_heading = "Everywhere")]
    pub project_root: Option<PathBuf>,
    /// The tag; the one of `TASKMASTER_TAG`, or the project's current one, if left out
    #[arg(long, global = true, value_name = "TAG", help_heading = "Everywhere")]
    pub tag: Option<String>,
}

/// Where a command works that has nothing to do with tags.
#[derive(Debug, Clone, Default, Args)]
pub struct ProjectPlace {
    /// Print one JSON value on standard output, and nothing else there
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub json: bool,
    /// The project's folder; found upward from the current one if left out
    #[arg(long, global = true, value_name = "DIR", help_heading = "Everywhere")]
    pub project_root: Option<PathBuf>,
}
