//! `tm autopilot`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use engine::capability::tests::evidence::show;
use engine::report::Report;
use engine::view::autopilot::request;
use schemars::JsonSchema;
use serde::Deserialize;

use super::rewind::Rewind;
use super::run::RunWithReason;
use super::start::Start;
use super::submit::{Feedback, Submit};
use super::{Place, Reopen, RunChoice, Signing, TurnChoice};

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
    /// Go back one phase: COMMIT to GREEN, GREEN to RED, or from the final suite to a repair
    Reopen(Reopen),
    /// Take the run back to an earlier step: the run, its branch and the working tree; what was there is kept
    ///
    /// Without TO the steps are listed. Nothing is destroyed: commits and uncommitted changes are kept under `refs/tramline/rewound`,
    /// and what the journal has stays in it. What is pushed is taken back only with `--pushed`.
    Rewind(Rewind),
    /// Go on from the branch as it is, where git has moved it: by a merge, a rebase, a reset, a commit that is no part of the run
    ///
    /// The subtask in progress begins again on it, and the working tree stays as it is. Commits that came in are listed in the report, and
    /// were not earned. Subtasks whose commits are gone are done again.
    Adopt(RunWithReason),
    /// Give a subtask up; what depends on it is not run
    Skip(Skip),
    /// Let one refusal pass for the present work unit; a person decides this, at a terminal
    Allow(Allow),
    /// Show where the run is
    Status(Status),
    /// Stop taking reports until the run is resumed
    Pause(Pause),
    /// Go on with a paused or interrupted run; the only one of them if none is named
    Resume(Resume),
    /// End the run; branch and files stay, unless clean-up is asked for
    Abort(Abort),
    /// Push the branch of a finished run, and open its pull request or bring that up to date
    ///
    /// GitHub is spoken to by `gh` and GitLab by `glab`, as far as they are there and logged in; else the page is named on
    /// which a person opens it. Asked again, what is there already is brought up to date.
    Submit(Submit),
    /// Take in what checks and people say of the pull request: each becomes a subtask, and the run goes on
    ///
    /// What was done about it is told there with the next `submit`. People who may not change the repository are not heard.
    Feedback(Feedback),
    /// Print the journal as it grows, until the run is over
    ///
    /// With `--json` one JSON value is printed for each event, a line each.
    Watch(Watch),
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
    /// A test that failed before this subtask and is to pass with it, by its id, as with --removed. May be repeated
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

/// `tm autopilot skip`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Skip {
    /// The subtask's id; the present one if left out
    #[arg(value_name = "SUBTASK")]
    #[serde(rename = "subtaskId")]
    #[schemars(extend("x-brief" = "default: present"))]
    pub subtask: Option<String>,
    /// Why; it is journalled and reported
    #[arg(long, value_name = "TEXT")]
    #[schemars(extend("x-brief" = "recorded"))]
    pub reason: String,
    /// The run.
    #[command(flatten)]
    #[serde(skip)]
    pub run: TurnChoice,
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
    /// By what.
    #[command(flatten)]
    pub signing: Signing,
    /// The run.
    #[command(flatten)]
    pub run: TurnChoice,
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

impl Abort {
    /// It as the engine takes it.
    pub fn request(&self) -> request::Abort {
        request::Abort {
            cleanup: self.cleanup,
            force: self.force,
        }
    }
}

/// The files that are named: a comma too many names none.
pub(super) fn without_empty(files: Vec<String>) -> Vec<String> {
    files.into_iter().filter(|file| !file.is_empty()).collect()
}

/// `tm autopilot pause`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pause {
    /// Why; it is journalled and shown
    #[arg(long, value_name = "TEXT", default_value = "")]
    #[serde(default)]
    #[schemars(extend("x-brief" = "recorded"))]
    pub reason: String,
    /// The run.
    #[command(flatten)]
    #[serde(skip)]
    pub run: TurnChoice,
}

/// `tm autopilot resume`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Resume {
    /// The run.
    #[command(flatten)]
    #[serde(skip)]
    pub run: TurnChoice,
    /// Go through the run step by step: do the work, press Enter, type the results
    #[arg(long)]
    #[serde(skip)]
    pub interactive: bool,
    /// By what, where only a person has it go on.
    #[command(flatten)]
    #[serde(skip)]
    pub signing: Signing,
}

/// `tm autopilot abort`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Abort {
    /// Delete the branch and the run's folder too; asks first
    #[arg(long)]
    #[serde(default)]
    #[schemars(extend("x-brief" = "delete its branch and folder"))]
    pub cleanup: bool,
    /// Delete the branch even if it has work that is nowhere else
    #[arg(long, requires = "cleanup")]
    #[serde(default)]
    #[schemars(extend("x-brief" = "clean up even unmerged work"))]
    pub force: bool,
    /// By what.
    #[command(flatten)]
    #[serde(skip)]
    pub signing: Signing,
    /// The run.
    #[command(flatten)]
    #[serde(skip)]
    pub run: TurnChoice,
}

/// `tm autopilot watch`.
#[derive(Debug, Args)]
pub struct Watch {
    /// The run.
    #[command(flatten)]
    pub run: RunChoice,
}
