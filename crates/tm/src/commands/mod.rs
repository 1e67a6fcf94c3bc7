//! What each command does: it asks the engine and hands the answer to the output.

mod approving;
mod autopilot;
mod bench;
pub mod call;
mod collab;
mod complete;
mod config;
mod evidence;
mod history;
pub mod hook;
pub mod init;
mod input;
mod mcp;
pub mod own;
pub mod session;
mod setup;
mod tasks;
mod trust;
mod turn;
mod ui;
mod verify;
mod watch;
mod web;
mod workflow;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::fault;
use engine::{Engine, Fault, Kind, OpenOptions};
use rustix::process::Signal;
use workspace::config::Environment;

use crate::askpass;
use crate::cli::{self, Cli, Command, Given};
use crate::output::Output;
use crate::progress;
use crate::steps::{Caller, Form};
use crate::suite_call;

/// What a command ends with: an exit status after an answer, or a fault that is still to be told.
pub type Outcome = Result<u8, Fault>;

/// The status of a command that did what it was asked.
pub const DONE: u8 = 0;

/// Runs the command that the arguments name, the program's own name first.
pub fn main(arguments: &[OsString]) -> ExitCode {
    outlive_the_size_limit();
    if let Some(status) = askpass::asked(arguments) {
        return status;
    }
    if let Some(status) = suite_call::carried_out(arguments, carry_out) {
        return status;
    }
    if complete::asked(arguments) {
        return ExitCode::SUCCESS;
    }
    if hook::is_for_a_client(arguments) {
        // A client takes 2 for a denial, and some take every status but 0 for one. What went wrong was said on standard
        // error.
        let _ = std::panic::catch_unwind(|| carry_out(arguments));
        return ExitCode::SUCCESS;
    }
    ExitCode::from(carry_out(arguments))
}

/// Has a write beyond `ulimit -f` fail as on a full disk, with the file and what to do; the signal that the system sends
/// with it would end the process without a word. Programs that are started get the default back.
fn outlive_the_size_limit() {
    let sent = Arc::new(AtomicBool::new(false));
    // Where it cannot be caught it is as it was.
    let _ = signal_hook::flag::register(Signal::XFSZ.as_raw(), sent);
}

fn carry_out(arguments: &[OsString]) -> u8 {
    let (cli, given) = match Cli::read(arguments) {
        Ok(read) => read,
        Err(error) => return not_parsed(&error, arguments),
    };
    let mut output = Output::new(cli.json(&given), cli.no_color, cli.caller());
    progress::begin(output.is_json(), output.look().width);
    let host = suite_call::host_of(arguments);
    let mut ran = run(cli, &given, &mut output);
    if let Some(folder) = host.given_away() {
        ran = suite_call::follow(folder, arguments, &output).unwrap_or_else(|| {
            // No process could be had for it.
            host.run_here();
            let read = Cli::read(arguments);
            let (cli, given) = read.map_err(|error| cli::usage_fault(&error, arguments))?;
            run(cli, &given, &mut output)
        });
    }
    match ran {
        Ok(status) => status,
        Err(fault) => {
            output.fault(&fault);
            fault.kind.exit_status()
        }
    }
}

fn not_parsed(error: &clap::Error, arguments: &[OsString]) -> u8 {
    let help = cli::is_help(error);
    let json = !help && cli::wants_json(arguments);
    let mut output = Output::new(json, false, Caller::at_a_shell(Form::default(), None));
    if help {
        output.clap(error);
        return DONE;
    }
    // Nothing at all is what clients call that drop the arguments of an entry of ours, and they take 2 for a denial.
    if arguments.len() < 2 || hook::is_for_a_client(arguments) {
        output.clap(error);
        return DONE;
    }
    if output.is_json() {
        output.fault(&cli::usage_fault(error, arguments));
    } else {
        output.clap(error);
        if let Some(meant) = cli::meant(error, arguments) {
            output.hint(&meant);
        }
    }
    Kind::Usage.exit_status()
}

fn run(cli: Cli, given: &Given, output: &mut Output) -> Outcome {
    match cli.command {
        Command::Call(call) => call::run(*call, given, output),
        Command::Tasks(arguments) => tasks::run(arguments, output),
        Command::Runs(runs) => history::runs(runs, output),
        Command::Log(log) => history::log(log, output),
        Command::Ui(arguments) => ui::run(&arguments, output),
        Command::Watch(arguments) => watch::all(arguments, output),
        Command::Bench(arguments) => bench::run(arguments, output),
        Command::Clean(arguments) => bench::clean(arguments, output),
        Command::Evidence(arguments) => evidence::run(arguments, output),
        Command::Workflow(workflow) => setup::workflow(workflow, output),
        Command::Config(config) => config::config(config, output),
        Command::Init(arguments) => init::init(&arguments, output),
        Command::Own(own) => own::run(own, output),
        Command::Mcp(mcp) => mcp::stdio(&mcp, output),
        Command::Serve(serve) => mcp::http(serve, output),
        Command::Doctor(doctor) => setup::doctor(&doctor, output),
        Command::Demo(demo) => crate::demo::run(&demo, output),
        Command::Hook(arguments) => hook::run(&arguments, output),
        Command::Verify(arguments) => verify::run(arguments, output),
        Command::Completions(completions) => setup::completions(&completions, output),
        Command::Man(man) => setup::man(&man, output),
    }
}

/// Opens the project that a command works on.
fn open(
    project_root: Option<PathBuf>,
    tag: Option<String>,
    command: &str,
) -> Result<Engine, Fault> {
    let engine = Engine::open(OpenOptions {
        cwd: current_folder()?,
        project_root,
        tag,
        environment: Environment::of_this_process(),
        command: command.to_owned(),
        actor: workspace::person::user_name(),
        cancelled: None,
        waits_no_more: None,
    })?;
    let engine = engine.observed(progress::observer());
    Ok(match suite_call::host() {
        Some(host) => engine.hosted(host),
        None => engine,
    })
}

/// The caller's folder.
fn current_folder() -> Result<PathBuf, Fault> {
    std::env::current_dir().map_err(|error| {
        Fault::environment("io_failed", "the current folder cannot be found", &error)
            .suggest("change to a folder that exists")
    })
}

/// The fault of a command line that parses, and still makes no sense.
fn usage(message: impl Into<String>) -> Fault {
    Fault::new(Kind::Usage, "usage", message)
}

/// The fault of a question that was answered by no.
fn declined(what: &str) -> Fault {
    fault!("declined.declined", what)
}
