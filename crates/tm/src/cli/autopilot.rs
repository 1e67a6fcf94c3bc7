//! `tm autopilot`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use engine::capability::tests::evidence::show;
use engine::report::Report;
use engine::view::autopilot::request;
use schemars::JsonSchema;
use serde::Deserialize;

use super::start::Start;
use super::turn::TurnCommand;
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
    /// Phase and subtask may be left out: they then mean the present ones. The results are the numbers of `--results`, the
    /// test runner's own reports (`--report`), or those of a run that tm makes itself (`--verify`).
    Complete(Complete),
    /// Make the commit of the present subtask, or hand in one that was made already
    Commit(Commit),
    /// Report the whole suite, after the last subtask was committed
    ///
    /// The results are the numbers of `--results`, the test runner's own reports (`--report`), or those of a run that tm
    /// makes itself (`--verify`).
    Finalize(Finalize),
    /// Show where the run is
    Status(Status),
    /// Print the journal as it grows, until the run is over
    ///
    /// With `--json` one JSON value is printed for each event, a line each.
    Watch(Watch),
    /// What is done without a report.
    #[command(flatten)]
    Turn(TurnCommand),
}

/// What a report of tests rests on.
#[derive(Debug, Clone, Default, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// Test results: `failed:3,passed:0,skipped:1,errors:0` in any order, or a JSON object
    #[arg(long, value_name = "RESULTS", conflicts_with_all = ["report", "verify", "format", "removed", "repairs"])]
    #[schemars(extend(
        "type" = "object",
        "x-form" = true,
        "x-aliases" = ["testResults"],
        "x-brief" = "passed, failed, skipped, errors (not built), as printed"
    ))]
    pub results: Option<String>,
    /// Nothing was changed since the report that this one is held against: it holds for this one, too
    #[arg(long, conflicts_with_all = ["results", "report", "verify", "format", "removed", "repairs", "coverage", "coverage_report"])]
    #[serde(default)]
    #[schemars(extend("x-brief" = "nothing changed since GREEN"))]
    pub unchanged: bool,
    /// Coverage in percent: a number for lines, `lines:92,branches:80`, or a JSON object
    #[arg(long, value_name = "PERCENT", conflicts_with = "coverage_report")]
    #[schemars(extend("type" = "number", "x-form" = true, "x-brief" = "lines, percent"))]
    pub coverage: Option<String>,
    /// What programs wrote, or are to write.
    #[command(flatten)]
    #[serde(flatten)]
    pub reports: TestReports,
}

/// What test runners and coverage tools wrote, and what a run of them is to be held against.
#[derive(Debug, Clone, Default, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestReports {
    /// A report that the test runner wrote, instead of --results; a folder stands for the reports in it. May be repeated
    ///
    /// Beside --verify it names the file that the test command writes, where what it prints does not tell every test.
    #[arg(long, value_name = "FILE")]
    #[serde(default)]
    #[schemars(extend("x-brief" = "files the test runner wrote"))]
    pub report: Vec<PathBuf>,
    /// Have tm run the test command itself, and take its outcome as the results
    #[arg(long)]
    #[serde(default)]
    #[schemars(extend("x-brief" = "run the tests"))]
    pub verify: bool,
    /// Format of the test report, such as `junit`; told by its content if left out. `tm evidence show --help` lists them
    #[arg(long, value_name = "FORMAT", value_parser = test_format(), hide_possible_values = true)]
    #[schemars(extend("x-brief" = "of report"))]
    pub format: Option<String>,
    /// A report that the coverage tool wrote, instead of --coverage
    #[arg(long, value_name = "FILE")]
    #[schemars(extend("x-brief" = "file of the coverage tool"))]
    pub coverage_report: Option<PathBuf>,
    /// A test that was taken out on purpose, by its id; with `*` at the end, all that begin so. May be repeated
    #[arg(long, value_name = "ID")]
    #[serde(default)]
    #[schemars(extend("x-brief" = "ids of deleted tests"))]
    pub removed: Vec<String>,
    /// A test that failed before this subtask and is to pass with it, by its id, as with --removed; beside --verify or --report. May
    /// be repeated
    #[arg(long, value_name = "ID")]
    #[serde(default)]
    #[schemars(extend("x-brief" = "ids of old failing tests to repair"))]
    pub repairs: Vec<String>,
}

impl Evidence {
    /// It as the engine takes it; paths as they were given.
    pub fn request(self) -> request::Evidence {
        request::Evidence {
            results: self.results,
            unchanged: self.unchanged,
            coverage: self.coverage,
            ..self.reports.request()
        }
    }
}

impl TestReports {
    /// They as the engine takes them; paths as they were given.
    pub fn request(self) -> request::Evidence {
        request::Evidence {
            reports: self.report,
            format: self.format,
            coverage_report: self.coverage_report,
            verify: self.verify,
            removed: self.removed,
            repairs: self.repairs,
            ..request::Evidence::default()
        }
    }
}

/// Takes the name of a format of test reports.
pub(super) fn test_format() -> PossibleValuesParser {
    PossibleValuesParser::new(show::test_formats())
}

/// `tm autopilot next`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Next {
    /// Look at the working tree too, to tell whether the preconditions hold
    #[arg(long)]
    #[serde(default)]
    #[schemars(extend("x-brief" = "look at the tree too"))]
    pub check: bool,
    /// The run.
    #[command(flatten)]
    #[serde(skip)]
    pub run: RunChoice,
}

/// `tm autopilot complete`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Complete {
    /// `red`, `green`, `chore`, `refactor` or `tests`; the present phase if left out
    #[arg(value_name = "PHASE")]
    #[schemars(extend("enum" = ["red", "green", "chore", "refactor", "tests"], "x-brief" = "default: present"))]
    pub phase: Option<String>,
    /// The subtask's id; the present one if left out
    #[arg(value_name = "SUBTASK")]
    #[serde(rename = "subtaskId")]
    #[schemars(extend("x-brief" = "default: present"))]
    pub subtask: Option<String>,
    /// What it rests on.
    #[command(flatten)]
    #[serde(flatten)]
    pub evidence: Evidence,
    /// The files that were changed, by commas; found by git if left out
    #[arg(long, value_name = "FILES", value_delimiter = ',')]
    #[serde(default)]
    #[schemars(extend("x-brief" = "default: found by git"))]
    pub files: Vec<String>,
    /// The work unit that is reported; the present one if left out
    #[arg(long, value_name = "UNIT")]
    #[serde(rename = "unitId")]
    #[schemars(extend("x-brief" = "of the step"))]
    pub unit: Option<String>,
    /// The run.
    #[command(flatten)]
    #[serde(skip)]
    pub run: RunChoice,
}

/// `tm autopilot commit`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Commit {
    /// The subtask's id; the present one if left out
    #[arg(value_name = "SUBTASK")]
    #[serde(rename = "subtaskId")]
    #[schemars(extend("x-brief" = "default: present"))]
    pub subtask: Option<String>,
    /// The subject of the commit, instead of the one made from the title; of several lines, its whole message
    #[arg(long, value_name = "TEXT")]
    #[schemars(extend("x-brief" = "other subject, or whole message"))]
    pub message: Option<String>,
    /// The files to commit, by commas; all of the run's changes if left out
    #[arg(long, value_name = "FILES", value_delimiter = ',')]
    #[serde(default)]
    #[schemars(extend("x-brief" = "default: all changes"))]
    pub files: Vec<String>,
    /// A commit that was made already
    #[arg(long, value_name = "SHA", conflicts_with_all = ["message", "files"])]
    #[serde(rename = "commitSha")]
    #[schemars(extend("x-brief" = "if it is made already"))]
    pub sha: Option<String>,
    /// The work unit that is reported; the present one if left out
    #[arg(long, value_name = "UNIT")]
    #[serde(rename = "unitId")]
    #[schemars(extend("x-brief" = "of the step"))]
    pub unit: Option<String>,
    /// The run.
    #[command(flatten)]
    #[serde(skip)]
    pub run: RunChoice,
}

/// `tm autopilot finalize`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finalize {
    /// What it rests on.
    #[command(flatten)]
    #[serde(flatten)]
    pub evidence: Evidence,
    /// Let coverage under a threshold pass
    #[arg(long)]
    #[serde(default)]
    #[schemars(extend("x-brief" = "accept low coverage"))]
    pub skip_coverage: bool,
    /// The work unit that is reported; the present one if left out
    #[arg(long, value_name = "UNIT")]
    #[serde(rename = "unitId")]
    #[schemars(extend("x-brief" = "of the step"))]
    pub unit: Option<String>,
    /// The run.
    #[command(flatten)]
    #[serde(skip)]
    pub run: RunChoice,
}

/// `tm autopilot status`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The run.
    #[command(flatten)]
    #[serde(skip)]
    pub run: RunChoice,
}

impl Complete {
    /// It as the engine takes it.
    pub fn request(self) -> Report {
        Report {
            state: self.phase,
            item: self.subtask,
            evidence: self.evidence.request(),
            files: without_empty(self.files),
            unit: self.unit,
            ..Report::default()
        }
    }
}

impl Commit {
    /// It as the engine takes it.
    pub fn request(self) -> Report {
        Report {
            item: self.subtask,
            message: self.message,
            files: without_empty(self.files),
            sha: self.sha,
            unit: self.unit,
            ..Report::default()
        }
    }
}

impl Finalize {
    /// It as the engine takes it.
    pub fn request(self) -> Report {
        Report {
            evidence: self.evidence.request(),
            skip_coverage: self.skip_coverage,
            unit: self.unit,
            ..Report::default()
        }
    }
}

/// The files that are named: a comma too many names none.
pub(super) fn without_empty(files: Vec<String>) -> Vec<String> {
    files.into_iter().filter(|file| !file.is_empty()).collect()
}

/// `tm autopilot watch`.
#[derive(Debug, Args)]
pub struct Watch {
    /// The run.
    #[command(flatten)]
    pub run: RunChoice,
}
