//! `tm workflow`, `tm config`, `tm doctor`, `tm demo`, `tm completions`, `tm man`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::Shell;

use super::ProjectPlace;
use super::workflow::Graph;

/// `tm workflow`.
#[derive(Debug, Args)]
pub struct Workflow {
    /// Where, and how to answer.
    #[command(flatten)]
    pub place: ProjectPlace,
    /// What to do.
    #[command(subcommand)]
    pub command: WorkflowCommand,
}

/// The commands of `tm workflow`.
#[derive(Debug, Subcommand)]
pub enum WorkflowCommand {
    /// List the workflows: those that come with tm, and the project's own
    List,
    /// Print the definition of a workflow, or one of its templates
    #[command(
        after_long_help = "Examples:\n  tm workflow show tdd\n  tm workflow show tdd --template red.md > .taskmaster/templates/red.md"
    )]
    Show {
        /// Id of the workflow
        #[arg(value_name = "WORKFLOW")]
        id: String,
        /// The template of this name, as `instructions` names it in the definition: the one that comes with tm, whether the
        /// project has one of its own in its place or not
        #[arg(long, value_name = "NAME")]
        template: Option<String>,
    },
    /// Write a workflow of this project, as a copy of another one
    ///
    /// It lies in `.taskmaster/workflows` then. At a terminal it is trusted as it is written; once it is changed, runs of
    /// it may have to be trusted anew.
    New {
        /// Its id
        #[arg(value_name = "ID")]
        id: String,
        /// The workflow that it begins as
        #[arg(long, value_name = "WORKFLOW", default_value = "tdd")]
        from: String,
    },
    /// Check a definition; exit status 3 if it has faults
    Check {
        /// The definition: a YAML file, or the id of a workflow
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Draw a workflow, and where a run of it is
    ///
    /// It goes to standard output unless a file is named. A definition with faults is drawn, too, as far as it can be read.
    #[command(
        after_long_help = "Examples:\n  tm workflow graph tdd\n  tm workflow graph --run 2026 --format svg --output run.svg\n  \
                           tm workflow graph my.yaml --format dot | dot -Tpng > my.png"
    )]
    Graph(Graph),
    /// Let runs of a workflow of this project begin, as it is now; a person decides this, at a terminal
    ///
    /// Only those need it that take the place of a built-in one, make commits, lead review sessions, have
    /// gates, or have commands run.
    Trust {
        /// Id of the workflow
        #[arg(value_name = "WORKFLOW")]
        id: String,
        /// How.
        #[command(flatten)]
        choice: TrustChoice,
    },
}

/// How something that a repository brings along is trusted; a person is asked at a terminal if neither is given.
#[derive(Debug, Args)]
pub struct TrustChoice {
    /// Trust it without asking if this is its hash, which `--json` tells: for jobs whose author read it elsewhere.
    /// It covers the file and what the project has written behind each command
    #[arg(long, value_name = "SHA256", conflicts_with = "revoke")]
    pub hash: Option<String>,
    /// Take the trust back; that needs no terminal
    #[arg(long)]
    pub revoke: bool,
}

/// `tm config`.
#[derive(Debug, Args)]
pub struct Config {
    /// Where, and how to answer.
    #[command(flatten)]
    pub place: ProjectPlace,
    /// What to do.
    #[command(subcommand)]
    pub command: ConfigCommand,
}

/// The commands of `tm config`.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Show every setting
    Show {
        /// Say where each value comes from
        #[arg(long)]
        origin: bool,
    },
    /// Print the value of a setting that is in force, or those of a section
    Get {
        /// Its dotted name, as `tm config show` has it
        #[arg(value_name = "KEY")]
        key: String,
    },
    /// Write a setting to the project's file, or to your own
    ///
    /// The rest of the file stays as it is, and a value that cannot be is written nowhere.
    #[command(
        after_long_help = "Examples:\n  tm config set test.command \"npm test\"\n  tm config set evidence.require verified --user\n  \
                           tm config set test.patterns 'spec/**,**/*_check.py'"
    )]
    Set {
        /// Its dotted name
        #[arg(value_name = "KEY")]
        key: String,
        /// The value: words and numbers as they are, lists by commas or as JSON
        #[arg(value_name = "VALUE")]
        value: String,
        /// Whose file.
        #[command(flatten)]
        whose: Whose,
    },
    /// Take a setting out of the project's file, or out of your own
    Unset {
        /// Its dotted name
        #[arg(value_name = "KEY")]
        key: String,
        /// Whose file.
        #[command(flatten)]
        whose: Whose,
    },
    /// Open the project's file, or your own, in your editor (`VISUAL`, else `EDITOR`); it is written once it is sound
    Edit {
        /// Whose file.
        #[command(flatten)]
        whose: Whose,
    },
    /// Let the test command of this project, or its checks, run without being asked for, as they are now; a person decides this, at a terminal
    ///
    /// That is what `evidence.require: ran` or `verified` makes of a report. What is asked for with
    /// `--verify` needs no trust. Checks are the linters, formatters and type checkers that the project has: they run whenever work is
    /// reported, once they are trusted.
    Trust {
        /// The checks, and not the test command
        #[arg(long)]
        checks: bool,
        /// How.
        #[command(flatten)]
        choice: TrustChoice,
    },
}

/// Whose settings are changed.
#[derive(Debug, Clone, Copy, Args)]
pub struct Whose {
    /// Your own, for all of your projects
    #[arg(long)]
    pub user: bool,
}

/// `tm doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Where, and how to answer.
    #[command(flatten)]
    pub place: ProjectPlace,
    /// Take over the runs of a project that was moved here
    #[arg(long, value_name = "PROJECT")]
    pub adopt: Option<String>,
}

/// `tm self`.
#[derive(Debug, Args)]
pub struct Own {
    /// Where, and how to answer.
    #[command(flatten)]
    pub place: ProjectPlace,
    /// What to do.
    #[command(subcommand)]
    pub command: OwnCommand,
}

/// The commands of `tm self`.
#[derive(Debug, Subcommand)]
pub enum OwnCommand {
    /// Check whether this version can go on with what is kept, and say what changed in it
    ///
    /// Nothing is fetched, unless that is asked for. The exit status is 6 where runs are kept that a newer version began.
    Check {
        /// Ask the project's repository which version is the newest
        #[arg(long)]
        online: bool,
    },
}

/// `tm demo`.
#[derive(Debug, Args)]
pub struct Demo {
    /// Keep the repository, and say where it is
    #[arg(long)]
    pub keep: bool,
    /// Print one JSON value at the end, and nothing else
    #[arg(long)]
    pub json: bool,
}

/// `tm completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell
    pub shell: Shell,
}

/// `tm man`.
#[derive(Debug, Args)]
pub struct Man {
    /// Write one file for each command to this folder, which is made if need be
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}
