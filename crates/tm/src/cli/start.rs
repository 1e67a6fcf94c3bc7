//! `tm autopilot start`.

use std::path::PathBuf;

use clap::Args;
use engine::view::autopilot::request;
use schemars::JsonSchema;
use serde::Deserialize;

use super::autopilot::test_format;

/// `tm autopilot start`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of its own, and they go together in any combination"
)]
pub struct Start {
    /// The task's id in the tasks file
    #[arg(required_unless_present_any = ["title", "plan"])]
    #[schemars(extend("x-brief" = "in tasks.json"))]
    pub task_id: Option<String>,
    /// The workflow, one whose view is `autopilot`; `tdd` if left out
    #[arg(long, value_name = "WORKFLOW")]
    #[schemars(extend("x-brief" = "default: tdd"))]
    pub workflow: Option<String>,
    /// A task given here, by its title
    #[arg(long, value_name = "TEXT", conflicts_with = "plan")]
    #[schemars(extend("x-brief" = "of a task given here"))]
    pub title: Option<String>,
    /// A subtask of it, by its title; may be repeated
    #[arg(long = "subtask", value_name = "TEXT", requires = "title")]
    #[serde(default)]
    #[schemars(extend("x-brief" = "their titles"))]
    pub subtasks: Vec<String>,
    /// A Markdown checklist as the task
    #[arg(long, value_name = "FILE")]
    #[schemars(extend("x-brief" = "a Markdown checklist"))]
    pub plan: Option<PathBuf>,
    /// How the run goes.
    #[command(flatten)]
    #[serde(default)]
    #[schemars(extend("x-brief" = "more options"))]
    pub options: StartOptions,
    /// Show the plan and touch nothing
    #[arg(long, conflicts_with = "interactive")]
    #[serde(default)]
    #[schemars(extend("x-brief" = "only show the plan"))]
    pub dry_run: bool,
    /// Supersede a run that is under way
    #[arg(long)]
    #[serde(default)]
    #[schemars(extend("x-brief" = "end the present run; asks the user"))]
    pub force: bool,
    /// Begin with uncommitted changes; those that the run does not touch are never committed
    #[arg(long)]
    #[serde(default)]
    #[schemars(extend("x-brief" = "despite uncommitted changes"))]
    pub allow_dirty: bool,
    /// Do not ask before the branch is made
    #[arg(long)]
    #[serde(skip)]
    pub no_confirm: bool,
    /// Go through the run step by step: do the work, press Enter, type the results
    #[arg(long)]
    #[serde(skip)]
    pub interactive: bool,
    /// Run the test command before: tests that fail already may go on failing
    #[arg(long)]
    #[serde(default)]
    #[schemars(extend("x-brief" = "run the suite now"))]
    pub verify: bool,
    /// The file that the test command writes its report to, where what it prints does not tell every test. May be repeated
    #[arg(long, value_name = "FILE", requires = "verify")]
    #[serde(default)]
    #[schemars(extend("x-brief" = "files the test runner writes"))]
    pub report: Vec<PathBuf>,
    /// Format of that report; told by its content if left out
    #[arg(long, value_name = "FORMAT", requires = "verify", value_parser = test_format(), hide_possible_values = true)]
    #[schemars(extend("x-brief" = "of report"))]
    pub format: Option<String>,
}

/// How a run goes that is begun.
#[derive(Debug, Clone, Default, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StartOptions {
    /// Name of the branch, instead of the configured pattern's
    #[arg(long, value_name = "NAME")]
    #[schemars(extend("x-brief" = "instead of the pattern's"))]
    pub branch: Option<String>,
    /// GREEN attempts a subtask has
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[schemars(extend("x-brief" = "GREEN attempts a subtask has"))]
    pub max_attempts: Option<u32>,
    /// What runs the tests of this run, where the settings name no test command; `tm config set test.command` names it for all
    #[arg(long, value_name = "COMMAND")]
    #[schemars(extend("x-brief" = "where the settings name none"))]
    pub test_command: Option<String>,
}

impl Start {
    /// It as the engine takes it; paths as they were given.
    pub fn request(self) -> request::Start {
        request::Start {
            task_id: self.task_id,
            workflow: self.workflow,
            title: self.title,
            subtasks: self.subtasks,
            plan: self.plan,
            branch: self.options.branch,
            max_attempts: self.options.max_attempts,
            test_command: self.options.test_command,
            force: self.force,
            allow_dirty: self.allow_dirty,
            verify: self.verify,
            reports: self.report,
            format: self.format,
        }
    }
}
