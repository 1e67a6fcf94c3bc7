//! `tm run`.

use clap::{Args, Subcommand};
use engine::report;
use schemars::JsonSchema;
use serde::Deserialize;

use super::autopilot::{Evidence, without_empty};
use super::inputs::Inputs;
use super::turn::TurnCommand;
use super::{Place, RunChoice, Signing, TurnChoice};

/// `tm run`.
#[derive(Debug, Args)]
pub struct Run {
    /// Where, and how to answer.
    #[command(flatten)]
    pub place: Place,
    /// What to do.
    #[command(subcommand)]
    pub command: RunCommand,
}

/// The commands of `tm run`.
#[derive(Debug, Subcommand)]
pub enum RunCommand {
    /// Begin a run of a workflow
    ///
    /// `tm workflow list` shows the workflows, `tm workflow show ID` what inputs one takes.
    Start(Start),
    /// Show what to do now; changes nothing
    Next(RunTarget),
    /// Report a work unit
    ///
    /// What a report has to bring along is said by `tm run next`. With `--unit` a report that is sent twice counts
    /// once.
    Report(Box<Report>),
    /// Take exactly one step; a run that waits for somebody takes none, and says what it waits for
    ///
    /// The exit status is 7 if there is no step to take.
    Step(RunTurn),
    /// Show where the run is
    Status(RunTarget),
    /// Put back what was recorded in the run's folder, where somebody changed it; what is there is kept beside it
    Restore(RunTarget),
    /// Open the gate that the run waits at; a person decides this, at a terminal
    Approve(Approve),
    /// Send back what stands before the gate, with what is to be done otherwise; a person decides this, at a terminal
    Reject(Reject),
    /// What is done without a report.
    #[command(flatten)]
    Turn(TurnCommand),
}

/// `tm run start`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Start {
    /// The workflow, by its id
    #[arg(value_name = "WORKFLOW")]
    #[schemars(extend("x-brief" = "its id"))]
    pub workflow: String,
    /// What it is given.
    #[command(flatten)]
    #[serde(flatten)]
    pub inputs: Inputs,
}

/// A command about one run.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunTarget {
    /// The run.
    #[command(flatten)]
    #[serde(skip)]
    pub run: RunChoice,
}

/// A turn of one run.
#[derive(Debug, Args)]
pub struct RunTurn {
    /// The run.
    #[command(flatten)]
    pub run: TurnChoice,
}

/// `tm run report`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The work unit that is reported; the present one if left out
    #[arg(long, value_name = "UNIT")]
    #[serde(rename = "unitId")]
    #[schemars(extend("x-brief" = "of the step"))]
    pub unit: Option<String>,
    /// How it came out, in one word
    #[arg(long, value_name = "WORD")]
    #[schemars(extend("x-brief" = "the result, in a word"))]
    pub outcome: Option<String>,
    /// More on it
    #[arg(long, value_name = "TEXT")]
    #[schemars(extend("x-brief" = "details of the result"))]
    pub note: Option<String>,
    /// What is known of the tests.
    #[command(flatten)]
    #[serde(flatten)]
    pub evidence: Evidence,
    /// The files that it is about, by commas; of a commit those that it is to have
    #[arg(long, value_name = "FILES", value_delimiter = ',')]
    #[serde(default)]
    #[schemars(extend("x-brief" = "files it is about"))]
    pub files: Vec<String>,
    /// The subject of the commit that is to be made, instead of the one made from the title; of several lines, its whole message
    #[arg(long, value_name = "TEXT")]
    #[schemars(extend("x-brief" = "instead of the generated one"))]
    pub message: Option<String>,
    /// A commit that was made already
    #[arg(long, value_name = "SHA", conflicts_with_all = ["message", "files"])]
    #[serde(rename = "commitSha")]
    #[schemars(extend("x-brief" = "if it is made already"))]
    pub sha: Option<String>,
    /// At the whole suite: let coverage under a threshold pass
    #[arg(long)]
    #[serde(default)]
    #[schemars(extend("x-brief" = "accept low coverage"))]
    pub skip_coverage: bool,
    /// The run.
    #[command(flatten)]
    #[serde(skip)]
    pub run: RunChoice,
}

impl Report {
    /// It as the engine takes it.
    pub fn request(self) -> report::Report {
        report::Report {
            unit: self.unit,
            outcome: self.outcome,
            note: self.note,
            evidence: self.evidence.request(),
            files: without_empty(self.files),
            message: self.message,
            sha: self.sha,
            skip_coverage: self.skip_coverage,
            ..report::Report::default()
        }
    }
}

/// `tm run approve`.
#[derive(Debug, Args)]
pub struct Approve {
    /// What was looked at, by its SHA-256: anything else is refused
    #[arg(long, value_name = "HASH")]
    pub hash: Option<String>,
    /// By what.
    #[command(flatten)]
    pub signing: Signing,
    /// The run.
    #[command(flatten)]
    pub run: RunChoice,
}

/// `tm run reject`.
#[derive(Debug, Args)]
pub struct Reject {
    /// What is to be done otherwise; whoever does it again is told
    #[arg(long, value_name = "TEXT")]
    pub feedback: String,
    /// What was looked at, by its SHA-256: anything else is refused
    #[arg(long, value_name = "HASH")]
    pub hash: Option<String>,
    /// By what.
    #[command(flatten)]
    pub signing: Signing,
    /// The run.
    #[command(flatten)]
    pub run: RunChoice,
}
