//! `tm autopilot`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Place, RunChoice};

/// `tm autopilot`.
#[derive(Debug, Args)]
pub struct Autopilot {
    /// Where, and how to answer.
    #[command(flatten)]
    pub place: Place,
    /// What to do.
    #[command(subcommand)]
    pub command: AutopilotCommand,
}

/// The commands of `tm autopilot`.
#[derive(Debug, Subcommand)]
pub enum AutopilotCommand {
    /// Begin a run: check the project, make the branch, issue the first work unit
    ///
    /// On a terminal the plan is shown and the person is asked before the branch is made; elsewhere the run begins at
    /// once. Without a tasks file, a task can be given by `--title` with `--subtask`, or as a Markdown checklist
    /// with `--plan`.
    Start(Start),
    /// Show what to do now; changes nothing
    Next(Next),
    /// Report the test results of RED or GREEN
    ///
    /// Phase and subtask may be left out: they then mean the present ones.
    Complete(Complete),
    /// Make the commit of the present subtask, or hand in one that was made already
    Commit(Commit),
    /// Report the whole suite, after the last subtask was committed
    Finalize(Finalize),
    /// Go back one phase: COMMIT to GREEN, GREEN to RED, or from the final suite to a repair
    Reopen(Reopen),
    /// Give a subtask up; what depends on it is not run
    Skip(Skip),
    /// Let one refusal pass for the present work unit; a person decides this, at a terminal
    Allow(Allow),
    /// Show where the run is
    Status(Status),
    /// Stop taking reports until the run is resumed
    Pause(Pause),
    /// Go on with a paused or interrupted run
    Resume(Resume),
    /// End the run; branch and files stay, unless clean-up is asked for
    Abort(Abort),
    /// Print the journal as it grows, until the run is over
    ///
    /// With `--json` one JSON value is printed for each event, a line each.
    Watch(Watch),
}

impl AutopilotCommand {
    /// Its name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Start(_) => "start",
            Self::Next(_) => "next",
            Self::Complete(_) => "complete",
            Self::Commit(_) => "commit",
            Self::Finalize(_) => "finalize",
            Self::Reopen(_) => "reopen",
            Self::Skip(_) => "skip",
            Self::Allow(_) => "allow",
            Self::Status(_) => "status",
            Self::Pause(_) => "pause",
            Self::Resume(_) => "resume",
            Self::Abort(_) => "abort",
            Self::Watch(_) => "watch",
        }
    }
}

/// `tm autopilot start`.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of its own, and they go together in any combination"
)]
pub struct Start {
    /// The task's id in the tasks file
    #[arg(required_unless_present_any = ["title", "plan"])]
    pub task_id: Option<String>,
    /// A task given here, by its title
    #[arg(long, value_name = "TEXT", conflicts_with = "plan")]
    pub title: Option<String>,
    /// A subtask of it, by its title; may be repeated
    #[arg(long, value_name = "TEXT", requires = "title")]
    pub subtask: Vec<String>,
    /// A Markdown checklist as the task
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Name of the branch, instead of the configured pattern's
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,
    /// GREEN attempts a subtask has
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_attempts: Option<u32>,
    /// Show the plan and touch nothing
    #[arg(long, conflicts_with = "interactive")]
    pub dry_run: bool,
    /// Supersede a run that is under way
    #[arg(long)]
    pub force: bool,
    /// Begin with uncommitted changes; those that the run does not touch are never committed
    #[arg(long)]
    pub allow_dirty: bool,
    /// Do not ask before the branch is made
    #[arg(long)]
    pub no_confirm: bool,
    /// Go through the run step by step: do the work, press Enter, type the results
    #[arg(long)]
    pub interactive: bool,
}

/// `tm autopilot next`.
#[derive(Debug, Args)]
pub struct Next {
    /// Look at the working tree too, to tell whether the preconditions hold
    #[arg(long)]
    pub check: bool,
    /// The run.
    #[command(flatten)]
    pub run: RunChoice,
}

/// `tm autopilot complete`.
#[derive(Debug, Args)]
pub struct Complete {
    /// `red` or `green`; the present phase if left out
    #[arg(value_name = "PHASE")]
    pub phase: Option<String>,
    /// The subtask's id; the present one if left out
    #[arg(value_name = "SUBTASK")]
    pub subtask: Option<String>,
    /// Test results: `failed:3,passed:0,skipped:1,errors:0` in any order, or a JSON object
    #[arg(long, value_name = "RESULTS")]
    pub results: String,
    /// Coverage in percent: a number for lines, `lines:92,branches:80`, or a JSON object
    #[arg(long, value_name = "PERCENT")]
    pub coverage: Option<String>,
    /// The files that were changed, by commas; found by git if left out
    #[arg(long, value_name = "FILES", value_delimiter = ',')]
    pub files: Vec<String>,
    /// The work unit that is reported; the present one if left out
    #[arg(long, value_name = "UNIT")]
    pub unit: Option<String>,
    /// The run.
    #[command(flatten)]
    pub run: RunChoice,
}

/// `tm autopilot commit`.
#[derive(Debug, Args)]
pub struct Commit {
    /// The subtask's id; the present one if left out
    #[arg(value_name = "SUBTASK")]
    pub subtask: Option<String>,
    /// The whole commit message, instead of the template's
    #[arg(long, value_name = "TEXT")]
    pub message: Option<String>,
    /// The files to commit, by commas; all of the run's changes if left out
    #[arg(long, value_name = "FILES", value_delimiter = ',')]
    pub files: Vec<String>,
    /// A commit that was made already
    #[arg(long, value_name = "SHA", conflicts_with_all = ["message", "files"])]
    pub sha: Option<String>,
    /// The work unit that is reported; the present one if left out
    #[arg(long, value_name = "UNIT")]
    pub unit: Option<String>,
    /// The run.
    #[command(flatten)]
    pub run: RunChoice,
}

/// `tm autopilot finalize`.
#[derive(Debug, Args)]
pub struct Finalize {
    /// Results of the whole suite: `passed:12,failed:0`, or a JSON object
    #[arg(long, value_name = "RESULTS")]
    pub results: String,
    /// Coverage in percent: a number for lines, `lines:92,branches:80`, or a JSON object
    #[arg(long, value_name = "PERCENT")]
    pub coverage: Option<String>,
    /// Let coverage under a threshold pass
    #[arg(long)]
    pub skip_coverage: bool,
    /// The run.
    #[command(flatten)]
    pub run: RunChoice,
}

/// `tm autopilot reopen`.
#[derive(Debug, Args)]
pub struct Reopen {
    /// Why; it is journalled and reported
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub reason: String,
    /// The run.
    #[command(flatten)]
    pub run: RunChoice,
}

/// `tm autopilot skip`.
#[derive(Debug, Args)]
pub struct Skip {
    /// The subtask's id; the present one if left out
    #[arg(value_name = "SUBTASK")]
    pub subtask: Option<String>,
    /// Why; it is journalled and reported
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// The run.
    #[command(flatten)]
    pub run: RunChoice,
}

/// `tm autopilot allow`.
#[derive(Debug, Args)]
pub struct Allow {
    /// Code of the refusal
    #[arg(value_name = "CODE")]
    pub code: String,
    /// Why; it is journalled and reported
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// The run.
    #[command(flatten)]
    pub run: RunChoice,
}

/// `tm autopilot status`.
#[derive(Debug, Args)]
pub struct Status {
    /// The run.
    #[command(flatten)]
    pub run: RunChoice,
}

/// `tm autopilot pause`.
#[derive(Debug, Args)]
pub struct Pause {
    /// Why; it is journalled and shown
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub reason: String,
    /// The run.
    #[command(flatten)]
    pub run: RunChoice,
}

/// `tm autopilot resume`.
#[derive(Debug, Args)]
pub struct Resume {
    /// The run, by its id or the beginning of it; the only one that can be resumed if left out
    #[arg(long, value_name = "RUN")]
    pub run_id: Option<String>,
    /// Go through the run step by step: do the work, press Enter, type the results
    #[arg(long)]
    pub interactive: bool,
}

/// `tm autopilot abort`.
#[derive(Debug, Args)]
pub struct Abort {
    /// Delete the branch and the run's folder too; asks first
    #[arg(long)]
    pub cleanup: bool,
    /// Delete the branch even if it has work that is nowhere else
    #[arg(long, requires = "cleanup")]
    pub force: bool,
    /// Do not ask; needed for clean-up where nobody can be asked
    #[arg(long, requires = "cleanup")]
    pub yes: bool,
    /// The run.
    #[command(flatten)]
    pub run: RunChoice,
}

/// `tm autopilot watch`.
#[derive(Debug, Args)]
pub struct Watch {
    /// The run.
    #[command(flatten)]
    pub run: RunChoice,
}
