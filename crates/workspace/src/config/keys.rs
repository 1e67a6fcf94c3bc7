//! Every key that can be set: what it takes, and when a change of it makes the rails weaker.

use crate::convention::{branch, message};

/// What a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Flag,
    /// A string that is not empty.
    Text,
    /// A string that is not empty, or nothing.
    OptionalText,
    /// One of these words, or `false`.
    ChoiceOrFalse(&'static [&'static str]),
    /// A text with these placeholders.
    Pattern(&'static [&'static str]),
    /// An integer from 1 up to this.
    Count(u64),
    /// A number from 0 to 100, or nothing.
    OptionalPercent,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of strings.
    Texts,
    /// One glob, or nothing.
    OptionalGlob,
    /// A list of globs.
    Globs,
    /// Globs, and a name for each.
    GlobNames,
    /// Names, and a command for each.
    Commands,
}

/// Which change of a value makes the rails weaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WeakerBy {
    /// None does.
    Never,
    /// From `true` to `false`.
    Disabled,
    /// To a higher number.
    Higher,
    /// To a lower number, or to none.
    Lower,
    /// To a word that stands further left in this list.
    Ranked(&'static [&'static [&'static str]]),
    /// An entry less.
    Shrunk,
    /// An entry more.
    Grown,
    /// An entry less, or the first entry: that one puts an end to the defaults, which an empty list stands for.
    ShrunkOrReplaced,
    /// Another value, where there was one.
    Replaced,
}

/// A key that can be set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    /// Dotted name, such as `autopilot.storage.basePath`.
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) weaker: WeakerBy,
}

const fn key(name: &'static str, kind: Kind, weaker: WeakerBy) -> Key {
    Key { name, kind, weaker }
}

/// The statuses that Task Master gives tasks.
pub(super) const STATUSES: &[&str] = &[
    "pending",
    "in-progress",
    "done",
    "review",
    "deferred",
    "cancelled",
    "blocked",
];

const SEVERITIES: &[&str] = &["off", "warn", "refuse", "pause"];
/// A pause stops a run as a refusal does: neither is weaker than the other.
const BY_SEVERITY: WeakerBy = WeakerBy::Ranked(&[&["off"], &["warn"], &["refuse", "pause"]]);

const fn policy(name: &'static str) -> Key {
    key(name, Kind::Choice(SEVERITIES), BY_SEVERITY)
}

const GATE: Kind = Kind::Choice(&["auto", "human", "terminal", "signed"]);
const BY_GATE: WeakerBy = WeakerBy::Ranked(&[&["auto"], &["human"], &["terminal"], &["signed"]]);

/// JSON readers that keep numbers as floating point are exact up to here.
const MAX_MILLISECONDS: u64 = (1 << 53) - 1;
const MAX_COUNT: u64 = u32::MAX as u64;

pub(super) static KEYS: &[Key] = &[
    key("autopilot.enabled", Kind::Flag, WeakerBy::Never),
    key(
        "autopilot.requireCleanWorkingTree",
        Kind::Flag,
        WeakerBy::Disabled,
    ),
    key(
        "autopilot.commitTemplate",
        Kind::Pattern(message::PLACEHOLDERS),
        WeakerBy::Never,
    ),
    key("autopilot.defaultCommitType", Kind::Text, WeakerBy::Never),
    key(
        "autopilot.maxGreenAttempts",
        Kind::Count(MAX_COUNT),
        WeakerBy::Higher,
    ),
    key(
        "autopilot.testTimeout",
        Kind::Count(MAX_MILLISECONDS),
        WeakerBy::Never,
    ),
    key(
        "autopilot.redAllPassing",
        Kind::Choice(&["refuse", "skip"]),
        WeakerBy::Ranked(&[&["skip"], &["refuse"]]),
    ),
    key("autopilot.refactor", Kind::Flag, WeakerBy::Disabled),
    key(
        "autopilot.storage.location",
        Kind::Choice(&["global"]),
        WeakerBy::Never,
    ),
    key("autopilot.storage.basePath", Kind::Text, WeakerBy::Never),
    key(
        "autopilot.finalization.updateTaskStatus",
        Kind::ChoiceOrFalse(STATUSES),
        WeakerBy::Never,
    ),
    key("test.command", Kind::OptionalText, WeakerBy::Never),
    key("test.runner", Kind::Text, WeakerBy::Never),
    key("test.adapter", Kind::Flag, WeakerBy::Disabled),
    key("test.reports", Kind::Texts, WeakerBy::Never),
    key("bench.setup", Kind::OptionalText, WeakerBy::Never),
    key("bench.setupWhen", Kind::Globs, WeakerBy::Never),
    key("bench.link", Kind::Texts, WeakerBy::Never),
    key("bench.copy", Kind::Texts, WeakerBy::Never),
    key("bench.env", Kind::Texts, WeakerBy::Never),
    key("test.patterns", Kind::Globs, WeakerBy::ShrunkOrReplaced),
    key("test.protect", Kind::Globs, WeakerBy::Shrunk),
    key(
        "test.targetedRunPattern",
        Kind::OptionalGlob,
        WeakerBy::Replaced,
    ),
    key(
        "test.coverageThresholds.lines",
        Kind::OptionalPercent,
        WeakerBy::Lower,
    ),
    key(
        "test.coverageThresholds.branches",
        Kind::OptionalPercent,
        WeakerBy::Lower,
    ),
    key(
        "test.coverageThresholds.functions",
        Kind::OptionalPercent,
        WeakerBy::Lower,
    ),
    key(
        "test.coverageThresholds.statements",
        Kind::OptionalPercent,
        WeakerBy::Lower,
    ),
    key(
        "git.branchPattern",
        Kind::Pattern(branch::PLACEHOLDERS),
        WeakerBy::Never,
    ),
    key("git.defaultRemote", Kind::Text, WeakerBy::Never),
    key("git.protectedBranches", Kind::Globs, WeakerBy::Shrunk),
    key("git.allowSecrets", Kind::Globs, WeakerBy::Grown),
    key("git.scopes", Kind::GlobNames, WeakerBy::Never),
    key("git.signoff", Kind::Flag, WeakerBy::Never),
    key("git.fsync", Kind::Flag, WeakerBy::Never),
    key(
        "git.commitTimeout",
        Kind::Count(MAX_MILLISECONDS),
        WeakerBy::Never,
    ),
    key("prompts.rulesPath", Kind::Text, WeakerBy::Never),
    key("prompts.loadOrder", Kind::Texts, WeakerBy::Never),
    key("prompts.testGeneratorPath", Kind::Text, WeakerBy::Never),
    key(
        "evidence.require",
        Kind::Choice(&["claimed", "reported", "ran", "verified"]),
        WeakerBy::Ranked(&[&["claimed"], &["reported"], &["ran"], &["verified"]]),
    ),
    key("evidence.requireCoverage", Kind::Flag, WeakerBy::Disabled),
    key(
        "evidence.changedLines",
        Kind::OptionalPercent,
        WeakerBy::Lower,
    ),
    key(
        "evidence.flaky",
        Kind::Choice(&["warn", "refuse"]),
        WeakerBy::Ranked(&[&["warn"], &["refuse"]]),
    ),
    key("evidence.notes", Kind::Flag, WeakerBy::Disabled),
    key("evidence.withoutTests", Kind::Texts, WeakerBy::Grown),
    policy("evidence.policy.red_without_tests"),
    policy("evidence.policy.no_new_failure"),
    policy("evidence.policy.tests_changed"),
    policy("evidence.policy.green_without_change"),
    policy("evidence.policy.runner_config_changed"),
    policy("evidence.policy.other_files_changed"),
    policy("evidence.policy.changes_left"),
    policy("evidence.policy.passes_without_product"),
    policy("evidence.policy.no_test_written"),
    policy("evidence.policy.tests_missing"),
    policy("evidence.policy.changed_after_green"),
    policy("evidence.policy.changed_after_commit"),
    policy("evidence.policy.config_loosened"),
    policy("evidence.policy.command_replaced"),
    policy("evidence.policy.stale_report"),
    policy("evidence.policy.flaky"),
    policy("evidence.policy.stuck"),
    policy("evidence.policy.coverage_missing"),
    policy("evidence.policy.coverage_fell"),
    policy("evidence.policy.new_findings"),
    policy("evidence.policy.findings_silenced"),
    policy("evidence.policy.checks_changed"),
    policy("evidence.policy.checks_not_run"),
    policy("evidence.policy.draft_missing"),
    policy("evidence.policy.batch_without_change"),
    policy("evidence.policy.task_without_change"),
    policy("evidence.policy.work_uncommitted"),
    key(
        "checks.run",
        Kind::Choice(&["off", "found"]),
        WeakerBy::Ranked(&[&["off"], &["found"]]),
    ),
    key("checks.without", Kind::Texts, WeakerBy::Grown),
    key("checks.commands", Kind::Commands, WeakerBy::Never),
    key(
        "approvals.require",
        Kind::Choice(&["client", "terminal", "signed"]),
        WeakerBy::Ranked(&[&["client"], &["terminal"], &["signed"]]),
    ),
    key(
        "submit.forge",
        Kind::Choice(&["auto", "github", "gitlab", "none"]),
        WeakerBy::Never,
    ),
    key("submit.base", Kind::OptionalText, WeakerBy::Never),
    key("submit.draft", Kind::Flag, WeakerBy::Never),
    key("submit.labels", Kind::Texts, WeakerBy::Never),
    key("submit.reviewers", Kind::Texts, WeakerBy::Never),
    key("submit.template", Kind::OptionalText, WeakerBy::Never),
    key("submit.approval", GATE, BY_GATE),
    key(
        "submit.proof",
        Kind::Choice(&["none", "note", "bundle"]),
        WeakerBy::Ranked(&[&["none"], &["note"], &["bundle"]]),
    ),
    key("submit.attempts", Kind::Count(MAX_COUNT), WeakerBy::Never),
    key("submit.answer", Kind::Flag, WeakerBy::Never),
    key("review.gates.plan", GATE, BY_GATE),
    key("review.gates.code", GATE, BY_GATE),
    key("review.gates.review", GATE, BY_GATE),
    key(
        "review.maxIterations",
        Kind::Count(MAX_COUNT),
        WeakerBy::Higher,
    ),
];

/// The dotted names of all keys.
pub fn keys() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|key| key.name)
}

/// The environment variable that sets a key: `test.command` is `TRAMLINE_TEST_COMMAND`.
pub fn environment_name(key: &str) -> String {
    let mut name = "TRAMLINE_".to_owned();
    for character in key.chars() {
        match character {
            '.' => name.push('_'),
            upper if upper.is_ascii_uppercase() => name.extend(['_', upper]),
            other => name.push(other.to_ascii_uppercase()),
        }
    }
    name
}

/// The key of this dotted name.
pub(super) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// The first part of every key.
pub(super) fn is_section(name: &str) -> bool {
    KEYS.iter()
        .any(|key| key.name.split('.').next() == Some(name))
}

/// The names that may follow a prefix, such as `storage` and `enabled` after `autopilot`.
pub(super) fn children(prefix: &str) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for key in KEYS {
        let rest = key
            .name
            .strip_prefix(prefix)
            .and_then(|rest| rest.strip_prefix('.'));
        if let Some(name) = rest.and_then(|rest| rest.split('.').next())
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    names
}
