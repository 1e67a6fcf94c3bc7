//! The settings with their types and defaults.

use std::borrow::Cow;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::config::keys::STATUSES;
use crate::config::submit::Submit;
use crate::convention::message::DEFAULT_TEMPLATE;

/// Every setting, with a value for each. As JSON it has the shape of `.taskmaster/config.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
#[schemars(title = "Tramline's part of .taskmaster/config.json")]
pub struct Config {
    /// How the rails of `tm autopilot` behave.
    pub autopilot: Autopilot,
    /// How this project is tested.
    pub test: Test,
    /// How the bench is made ready, on which tests are run.
    pub bench: Bench,
    /// How branches and commits are made.
    pub git: Git,
    /// Which rules files go into the prompts.
    pub prompts: Prompts,
    /// What a report has to show.
    pub evidence: Evidence,
    /// What else is run on what was changed.
    pub checks: Checks,
    /// What stands behind what a person decides.
    pub approvals: Approvals,
    /// How the branch of a run is pushed and becomes a pull request.
    pub submit: Submit,
    /// How the rails of `tm session` behave.
    pub review: Review,
}

/// How the rails of `tm autopilot` behave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Autopilot {
    /// Whether runs may be started here at all.
    pub enabled: bool,
    /// Whether a run starts only in a clean working tree.
    pub require_clean_working_tree: bool,
    /// First line of a commit message; knows `{type}`, `{scope}`, `{msg}` and `{taskId}`. ` (task {taskId})` gives way to the title.
    pub commit_template: String,
    /// Type of a commit where its files do not say otherwise.
    pub default_commit_type: String,
    /// Attempts at GREEN, from 1, after which a run pauses.
    #[schemars(range(min = 1))]
    pub max_green_attempts: u32,
    /// Milliseconds after which a verified test run is ended.
    #[schemars(range(min = 1))]
    pub test_timeout: u64,
    /// What happens where the tests of RED pass already.
    pub red_all_passing: RedAllPassing,
    /// Whether what passes is refactored before it is committed, where its task says nothing of that.
    pub refactor: bool,
    /// Where runs are kept.
    pub storage: Storage,
    /// What happens at the end of a run.
    pub finalization: Finalization,
}

impl Default for Autopilot {
    fn default() -> Self {
        Self {
            enabled: true,
            require_clean_working_tree: true,
            commit_template: DEFAULT_TEMPLATE.to_owned(),
            default_commit_type: "feat".to_owned(),
            max_green_attempts: 3,
            test_timeout: 300_000,
            red_all_passing: RedAllPassing::Refuse,
            refactor: false,
            storage: Storage::default(),
            finalization: Finalization::default(),
        }
    }
}

/// What happens where the tests of RED pass already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RedAllPassing {
    /// The report is refused: a test that never failed proves nothing.
    Refuse,
    /// The subtask counts as done.
    Skip,
}

/// Where runs are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Storage {
    /// The only place there is: one folder for all projects.
    pub location: StorageLocation,
    /// That folder; `~/` stands for the user's home.
    pub base_path: String,
}

impl Default for Storage {
    fn default() -> Self {
        Self {
            location: StorageLocation::Global,
            base_path: "~/.taskmaster".to_owned(),
        }
    }
}

/// The kinds of place in which runs are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum StorageLocation {
    /// In the user's home, outside the project.
    Global,
}

/// What happens at the end of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Finalization {
    /// The status that the task gets; `false` leaves it as it is.
    pub update_task_status: UpdateTaskStatus,
}

/// The status that a task gets at the end of its run. As JSON a string or `false`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpdateTaskStatus {
    /// This one.
    Set(String),
    /// None: it stays as it is.
    Leave,
}

impl Default for UpdateTaskStatus {
    fn default() -> Self {
        Self::Set("review".to_owned())
    }
}

impl Serialize for UpdateTaskStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Set(status) => serializer.serialize_str(status),
            Self::Leave => serializer.serialize_bool(false),
        }
    }
}

impl<'de> Deserialize<'de> for UpdateTaskStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(status) if !status.trim().is_empty() => Ok(Self::Set(status)),
            serde_json::Value::Bool(false) => Ok(Self::Leave),
            _ => Err(serde::de::Error::custom("a status, or false, is expected")),
        }
    }
}

impl JsonSchema for UpdateTaskStatus {
    fn schema_name() -> Cow<'static, str> {
        "UpdateTaskStatus".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A status, or `false` to leave the task as it is.",
            "anyOf": [{ "enum": STATUSES }, { "const": false }]
        })
    }
}

/// How this project is tested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Test {
    /// The command that runs the tests; found from the project's files where it is not set.
    pub command: Option<String>,
    /// By which kind of project file the command is found; `auto` tries them all.
    pub runner: String,
    /// Whether the runner behind the command is made to name its tests, where `tm` runs it.
    pub adapter: bool,
    /// Files, from the project's root, to which the command writes reports of its tests, where `tm` cannot have it write one.
    pub reports: Vec<String>,
    /// Globs of test files; the defaults of the language where there are none.
    pub patterns: Vec<String>,
    /// Globs of files beside the tests that decide about them, and are not to be changed with the code: fixtures, helpers, scripts.
    pub protect: Vec<String>,
    /// One more glob of test files, and the one that prompts name.
    pub targeted_run_pattern: Option<String>,
    /// Least coverage in percent. A metric without a value is not checked.
    pub coverage_thresholds: CoverageThresholds,
}

impl Default for Test {
    fn default() -> Self {
        Self {
            command: None,
            runner: "auto".to_owned(),
            adapter: true,
            reports: Vec::new(),
            patterns: Vec::new(),
            protect: Vec::new(),
            targeted_run_pattern: None,
            coverage_thresholds: CoverageThresholds::default(),
        }
    }
}

/// How the bench is made ready, on which tests are run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Bench {
    /// A command that prepares a fresh checkout for tests. Nothing that is installed in the working tree is used then.
    pub setup: Option<String>,
    /// Globs of the files that decide what the command installs: it is run when one of them changed, and before every suite where
    /// there are none.
    pub setup_when: Vec<String>,
    /// Files and folders that git ignores, and that the bench has links to, beside those of dependencies.
    pub link: Vec<String>,
    /// Files and folders that git ignores, and that are copied to the bench.
    pub copy: Vec<String>,
    /// Variables that tests are given beside those of tools; one that ends with `*` stands for all that begin so.
    pub env: Vec<String>,
}

/// Least coverage in percent, 0 to 100. A metric without a value is not checked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct CoverageThresholds {
    /// Of lines.
    #[schemars(range(min = 0, max = 100))]
    pub lines: Option<f64>,
    /// Of branches.
    #[schemars(range(min = 0, max = 100))]
    pub branches: Option<f64>,
    /// Of functions.
    #[schemars(range(min = 0, max = 100))]
    pub functions: Option<f64>,
    /// Of statements.
    #[schemars(range(min = 0, max = 100))]
    pub statements: Option<f64>,
}

/// How branches and commits are made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Git {
    /// Name of a run's branch; knows `{tag}`, `{id}` and `{slug}`.
    pub branch_pattern: String,
    /// The remote whose HEAD tells the default branch.
    pub default_remote: String,
    /// Branches on which no commit is made, beside the default one.
    pub protected_branches: Vec<String>,
    /// Globs of files that look like secrets and may be committed all the same.
    pub allow_secrets: Vec<String>,
    /// Scope of a commit message by glob of its files; the first that fits counts.
    #[schemars(with = "std::collections::BTreeMap<String, String>")]
    pub scopes: IndexMap<String, String>,
    /// Whether each commit of a run ends with `Signed-off-by` and its committer.
    pub signoff: bool,
    /// Whether commits are synced to disk before they count as made.
    pub fsync: bool,
    /// Milliseconds after which a commit with its hooks is ended.
    #[schemars(range(min = 1))]
    pub commit_timeout: u64,
}

impl Default for Git {
    fn default() -> Self {
        Self {
            branch_pattern: "{tag}/task-{id}-{slug}".to_owned(),
            default_remote: "origin".to_owned(),
            protected_branches: Vec::new(),
            allow_secrets: Vec::new(),
            scopes: IndexMap::new(),
            signoff: false,
            fsync: true,
            commit_timeout: 600_000,
        }
    }
}

/// Which rules files go into the prompts. A missing file is skipped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Prompts {
    /// Folder of the rules files, relative to the project.
    pub rules_path: String,
    /// Names of the rules files, in the order in which they are shown.
    pub load_order: Vec<String>,
    /// File with the instructions for writing tests, relative to the project.
    pub test_generator_path: String,
}

impl Default for Prompts {
    fn default() -> Self {
        Self {
            rules_path: ".cursor/rules".to_owned(),
            load_order: vec![
                "git_workflow.mdc".to_owned(),
                "test_workflow.mdc".to_owned(),
            ],
            test_generator_path: ".claude/agents/surgical-test-generator.md".to_owned(),
        }
    }
}

/// What a report has to show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Evidence {
    /// The least level of evidence that is accepted.
    pub require: Level,
    /// Whether a report must come with coverage where thresholds are set.
    pub require_coverage: bool,
    /// Least coverage of the lines that a subtask has changed, in percent.
    #[schemars(range(min = 0, max = 100))]
    pub changed_lines: Option<f64>,
    /// What happens with a test that passed only on a retry; `policy.flaky`, where set, says it instead.
    pub flaky: Flaky,
    /// Whether each commit gets a git note that tells how it was earned.
    pub notes: bool,
    /// The workflows whose commits `tm verify` accepts without tests that failed before them.
    pub without_tests: Vec<String>,
    /// What happens with each finding.
    pub policy: Policy,
}

impl Default for Evidence {
    fn default() -> Self {
        Self {
            require: Level::Claimed,
            require_coverage: false,
            changed_lines: None,
            flaky: Flaky::Warn,
            notes: false,
            without_tests: Vec::new(),
            policy: Policy::default(),
        }
    }
}

/// What else is run on what was changed, beside the tests: linters, formatters, type checkers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Checks {
    /// Which ones are run, once a person has trusted them.
    pub run: RunChecks,
    /// Names of those that are found by the project's files, and not to be run.
    pub without: Vec<String>,
    /// Commands of the project's own by name; one with the name of a tool takes its place.
    #[schemars(with = "std::collections::BTreeMap<String, String>")]
    pub commands: IndexMap<String, String>,
}

impl Default for Checks {
    fn default() -> Self {
        Self {
            run: RunChecks::Found,
            without: Vec::new(),
            commands: IndexMap::new(),
        }
    }
}

/// Which checks are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RunChecks {
    /// None.
    Off,
    /// Those that the project's files tell of, and those of the settings.
    Found,
}

/// How much is known of a test result, from the least to the most.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Level {
    /// Numbers that somebody gave.
    Claimed,
    /// The test runner's own report file.
    Reported,
    /// The tests were run by the engine, in the working tree.
    Ran,
    /// The tests were run by the engine, on trees of their own.
    Verified,
}

impl Level {
    /// All of them, from the least to the most.
    pub const ALL: [Self; 4] = [Self::Claimed, Self::Reported, Self::Ran, Self::Verified];
}

/// What happens with a test that passed only on a retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Flaky {
    /// It is named, and the report accepted.
    Warn,
    /// The report is refused.
    Refuse,
}

/// What a finding leads to, from the mildest to the strictest.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// It is not looked for.
    Off,
    /// It is named, and the report accepted.
    Warn,
    /// The run pauses.
    Pause,
    /// The report is refused.
    Refuse,
}

macro_rules! policy {
    ($($(#[doc = $doc:literal])+ $name:ident = $severity:ident,)+) => {
        /// What happens with each finding. The keys are the codes of the findings.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default)]
        pub struct Policy {
            $($(#[doc = $doc])+ pub $name: Severity,)+
        }

        impl Default for Policy {
            fn default() -> Self {
                Self { $($name: Severity::$severity,)+ }
            }
        }

        impl Policy {
            /// The codes of all findings that have a policy.
            pub const CODES: &[&str] = &[$(stringify!($name)),+];

            /// What the finding of this code leads to; `None` where no policy has this code.
            pub fn severity(&self, code: &str) -> Option<Severity> {
                match code {
                    $(stringify!($name) => Some(self.$name),)+
                    _ => None,
                }
            }
        }
    };
}

policy! {
    /// RED came without any new or changed test file.
    red_without_tests = Refuse,
    /// No test fails in RED that did not fail before.
    no_new_failure = Refuse,
    /// Tests of RED were changed, deleted, renamed, skipped or emptied in GREEN.
    tests_changed = Refuse,
    /// Tests that were there before are missing by name.
    tests_missing = Refuse,
    /// The tests of RED pass in GREEN, and nothing was changed between them.
    green_without_change = Refuse,
    /// What configures the runner, or is loaded before the tests, was changed in GREEN.
    runner_config_changed = Refuse,
    /// Files were changed of another kind than the subtask is about.
    other_files_changed = Refuse,
    /// Work of which nothing is committed has left files changed.
    changes_left = Refuse,
    /// New tests pass where the product does nothing.
    passes_without_product = Refuse,
    /// A subtask of tests alone has brought none.
    no_test_written = Refuse,
    /// Files were changed between the accepted GREEN and the commit.
    changed_after_green = Refuse,
    /// Files were changed between the last commit and the end of the run.
    changed_after_commit = Refuse,
    /// Settings were made weaker during the run.
    config_loosened = Refuse,
    /// The test command is not the one that the run started with.
    command_replaced = Refuse,
    /// A report is older than what it is about, of another run, or used before.
    stale_report = Refuse,
    /// A test passed only on a retry.
    flaky = Warn,
    /// The same tests failed again and again.
    stuck = Pause,
    /// Thresholds are set, and a report has no coverage.
    coverage_missing = Warn,
    /// Code in another form left more of it that no test reaches.
    coverage_fell = Refuse,
    /// Linters, formatters or type checkers find what they did not find before.
    new_findings = Refuse,
    /// A linter or type checker is told to overlook something.
    findings_silenced = Warn,
    /// A linter, formatter or type checker is set up in another way, or no more.
    checks_changed = Refuse,
    /// A linter, formatter or type checker of the project could not be run.
    checks_not_run = Warn,
    /// What a skill was to write is not there.
    draft_missing = Refuse,
    /// Nothing was changed for tasks that are said to be completed.
    batch_without_change = Refuse,
    /// A task that is said to be completed left its files alone.
    task_without_change = Warn,
    /// Work of a session is in no commit at its end.
    work_uncommitted = Refuse,
}

/// How the rails of `tm session` behave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Review {
    /// Where a session waits for a person.
    pub gates: Gates,
    /// Iterations, from 1, after which a session pauses.
    #[schemars(range(min = 1))]
    pub max_iterations: u32,
}

impl Default for Review {
    fn default() -> Self {
        Self {
            gates: Gates::default(),
            max_iterations: 10,
        }
    }
}

/// Where a session waits for a person.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Gates {
    /// After the plan.
    pub plan: Gate,
    /// After the code.
    pub code: Gate,
    /// After the review.
    pub review: Gate,
}

/// Who opens a gate, from nobody to the strictest.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Gate {
    /// It is open.
    #[default]
    Auto,
    /// A person, by a decision.
    Human,
    /// A person at a terminal, or one who signs.
    Terminal,
    /// A person who signs.
    Signed,
}

/// What only a person decides: gates, what is let pass, and how a run goes on that stopped.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Approvals {
    /// The least that has to stand behind such a decision.
    pub require: ApprovalStrength,
}

/// How much stands behind a decision of a person, from the least to the most.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum ApprovalStrength {
    /// A client says that it asked its person.
    #[default]
    Client,
    /// Somebody typed back, at a terminal, what was shown there.
    Terminal,
    /// Somebody signed it with a key of the person's list.
    Signed,
}
