//! What a journal tells of the commits of its run: which reports stand behind each of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use journal::Record;
use machine::event::AcceptedReport;
use machine::role::FileClass;
use machine::trigger::Trigger;
use machine::{Event, Role, RunState, RunStatus, Strength};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use workspace::config::Config;
use workspace::git::RepoPath;

use crate::audit::{Audit, Missing};
use crate::call::pinned;
use crate::capability::checks::content_checks;
use crate::capability::git::read::commit::UNTESTED;
use crate::capability::memory::{self, Memory, TESTED};
use crate::capability::tests::as_before::AS_BEFORE;
use crate::capability::tests::evidence::{NAMED, OFF_BENCH};
use crate::decisions::Decision;
use crate::earlier::Earlier;
use crate::fault::Fault;
use crate::open_run::event_of;
use crate::proof::kind::WorkRule;

/// What a run made a commit for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// A subtask, with RED and GREEN.
    #[default]
    Subtask,
    /// A repair of the suite: its failing tests were there before.
    Repair,
    /// The status of the task; no code.
    Status,
}

/// An accepted report of tests.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Phase {
    /// The unit it answered.
    pub unit: String,
    /// `claimed`, `reported` or `verified`.
    pub level: String,
    /// Which tests have a name in it: `every`, `some` or `none`, where the source says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub named: Option<String>,
    /// The runner that was made to name its tests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapter: Option<String>,
    /// Tests that failed before and may go on to, where the source says so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub known_failing: Vec<String>,
    /// Tests that fail in it and did not before, where the source says so.
    #[serde(skip)]
    pub newly_failing: Vec<String>,
    /// Why the suite was run in the working tree, where the source says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off_bench: Option<String>,
    /// The linters, formatters and type checkers that found nothing new in it, where the source says so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checked: Vec<String>,
    /// Number of the event; 0 where no journal is at hand.
    #[serde(skip_serializing_if = "is_zero")]
    pub seq: u64,
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed, less those that are known to.
    pub failed: u64,
    /// Tests that could not be built or collected.
    pub errors: u64,
    /// Hashes of the bytes that it rests on.
    pub evidence: Vec<String>,
    /// Codes of warnings that it was accepted with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Policies that said something, and let it pass.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "this is how the attribute calls it"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Phase {
    fn of(report: &AcceptedReport, seq: u64) -> Self {
        let number = |name: &str| report.facts.get(name).and_then(Value::as_u64).unwrap_or(0);
        let mut evidence: Vec<String> = Vec::new();
        for hash in &report.evidence {
            if !evidence.contains(hash) {
                evidence.push(hash.clone());
            }
        }
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let verified = report.facts.get("verified");
        Self {
            unit: report.unit.clone(),
            named: text(report.facts.get(NAMED)),
            adapter: text(verified.and_then(|ran| ran.get("adapter"))),
            known_failing: names(report.facts.get("knownFailing")),
            newly_failing: names(report.facts.get("newlyFailing")),
            checked: content_checks(&report.facts),
            off_bench: text(report.facts.get(OFF_BENCH)),
            level: match report.level.as_str() {
                "" => "claimed".to_owned(),
                level => level.to_owned(),
            },
            seq,
            passed: number("passed"),
            failed: number("failed"),
            errors: number("errors"),
            evidence,
            warnings: report.warnings.clone(),
            policies: policies_of(report),
        }
    }

    /// Tests that did not pass.
    pub fn failing(&self) -> u64 {
        self.failed.saturating_add(self.errors)
    }
}

fn names(value: Option<&Value>) -> Vec<String> {
    let names = value.and_then(Value::as_array).into_iter().flatten();
    names
        .filter_map(|name| Some(name.as_str()?.to_owned()))
        .collect()
}

fn policies_of(report: &AcceptedReport) -> Vec<String> {
    let mut policies: Vec<String> = Vec::new();
    for finding in &report.findings {
        if !policies.contains(&finding.policy) {
            policies.push(finding.policy.clone());
        }
    }
    policies
}

/// A refusal that a person let pass.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Allowed {
    /// The unit.
    pub unit: String,
    /// The policy.
    pub code: String,
    /// Why.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Who.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub actor: String,
    /// How much stands behind it, where the source says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
}

/// A commit as its run made it, or took it in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunCommit {
    /// The run.
    pub run: String,
    /// Its workflow; empty where the source does not say.
    pub workflow: String,
    /// The unit; of the run itself where the commit belongs to no subtask.
    pub unit: String,
    /// The subtask; empty where it belongs to none.
    pub subtask: String,
    /// What it was made for.
    pub purpose: Purpose,
    /// Its id.
    pub sha: String,
    /// The commit that it builds on. Between the two may be others, where it was handed in.
    pub base: String,
    /// The name of its change, where its source has that.
    pub change: String,
    /// The name of all that the run changed up to it, likewise; empty where that is its own change.
    pub whole: String,
    /// Somebody else made it, and handed it in.
    pub handed_in: bool,
    /// The report behind it that showed failing tests: its RED; of a repair the suite that failed.
    pub red: Option<Phase>,
    /// The GREEN behind it.
    pub green: Option<Phase>,
    /// The full suite, where it is the commit that ends the run.
    pub suite: Option<Phase>,
    /// Number of the event.
    pub seq: u64,
    /// The tree that GREEN was tested with.
    pub tree: String,
    /// What is left out of that tree.
    pub exclude: Vec<RepoPath>,
    /// The files that it was to have, where the run made it.
    pub paths: Vec<RepoPath>,
    /// Policies that said something of the commit itself, and let it pass.
    pub policies: Vec<String>,
    /// Refusals that a person let pass for a unit of it.
    pub allowed: Vec<Allowed>,
    /// What a person decided since the commit before it.
    pub decisions: Vec<Decision>,
    /// What a person had to decide since then, and did not.
    pub missing: Vec<Missing>,
    /// Hash of the last line of the journal before it.
    pub journal: String,
    /// Why it holds other files than were tested, where the source says so.
    pub other: Option<OtherFiles>,
    /// How its run stands, where that is not at its end: it is the last of its commits.
    pub unfinished: Option<String>,
    /// Its run has taken it back.
    pub taken_back: bool,
    /// Its workflow did not hold what passed against what had failed.
    pub not_held: bool,
    /// By which rule it was made.
    pub rule: WorkRule,
}

/// Why a commit holds other files than were tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherFiles {
    /// The run made it of those that were tested, and hooks changed it.
    ByHooks,
    /// It was to hold others from the first.
    Meant,
}

/// What a run began with.
#[derive(Debug, Clone)]
pub struct Beginning {
    /// The settings that it is pinned to.
    pub config: Arc<Config>,
    /// The test command.
    pub command: String,
    /// The commit.
    pub head: String,
}

/// All commits of a run.
#[derive(Debug, Clone, Default)]
pub struct Story {
    /// What it began with, where it is a run over a task.
    pub beginning: Option<Beginning>,
    /// The run.
    pub run: String,
    /// Its workflow.
    pub workflow: String,
    /// Its commits, in order.
    pub made: Vec<RunCommit>,
    /// One that is under way: its id is not known yet.
    pub under_way: Option<RunCommit>,
    /// Hash of the last line.
    pub head: String,
}

/// How a run stands that is not at its end.
fn how_unfinished(status: RunStatus) -> Option<&'static str> {
    match status {
        RunStatus::Completed => None,
        RunStatus::Aborted | RunStatus::Cancelled => Some("was given up"),
        RunStatus::Failed => Some("ended as failed"),
        RunStatus::Error => Some("broke down"),
        RunStatus::Paused => Some("is paused"),
        RunStatus::Running => Some("is not over"),
    }
}

/// The reports of tests of an item that count.
#[derive(Debug, Default, Clone)]
struct Phases {
    red: Option<Phase>,
    green: Option<Phase>,
    /// Labels of the reports that lead back to the one that showed failing tests: each was held against one of them.
    held: BTreeSet<String>,
    /// The last one does not.
    not_held: bool,
    /// The label of what was frozen when the failing tests were shown.
    frozen: Option<String>,
    /// What files alone the last one is about.
    only: Vec<FileClass>,
}

/// The policies by which tests that pass are held against those that failed: the same ones, as they were.
const HELD_BY: [&str; 2] = ["tests_changed", "tests_missing"];

impl Phases {
    /// Takes a report in. `is_checked` tells whether all of [`HELD_BY`] counted for it.
    fn note(&mut self, role: &Role, phase: Phase, is_checked: bool) {
        if role.shows.is_some() {
            *self = Self {
                red: Some(phase),
                held: role.label.iter().cloned().collect(),
                frozen: role.freezes.clone(),
                ..Self::default()
            };
            return;
        }
        if !role.only.is_empty() {
            // What failed before is of other work.
            *self = Self {
                green: Some(phase),
                only: role.only.clone(),
                ..Self::default()
            };
            return;
        }
        let against = role.against.as_ref();
        let is_frozen = role.frozen.is_some() && role.frozen == self.frozen;
        let is_held =
            against.is_some_and(|label| self.held.contains(label)) && is_frozen && is_checked;
        self.not_held = self.red.is_some() && !is_held;
        if is_held {
            self.held.extend(role.label.iter().cloned());
        }
        self.green = Some(phase);
    }
}

/// The reports and commits that stand.
#[derive(Debug, Default, Clone)]
struct Standing {
    phases: BTreeMap<String, Phases>,
    suite: Option<Phase>,
    /// The suite that failed, until something is asked for because of it.
    failed: Option<Phase>,
    /// The items that were added because of it, each with it.
    repairs: BTreeMap<String, Phase>,
    /// The commits, by their places among those that were made.
    commits: Vec<usize>,
}

#[derive(Debug, Default)]
struct Telling {
    story: Story,
    run: RunState,
    standing: Standing,
    earlier: Earlier<Standing>,
    allowed: Vec<Allowed>,
    pending: Option<RunCommit>,
}

impl Story {
    /// That of a journal, whose last line has the hash `head`.
    pub fn of(records: &[Record], head: &str) -> Result<Self, Fault> {
        let mut telling = Telling {
            earlier: Earlier::of(records),
            ..Telling::default()
        };
        let mut audit = Audit::of(records);
        for record in records {
            if let Some(pending) = &mut telling.pending
                && pending.journal.is_empty()
            {
                pending.journal.clone_from(&record.prev);
            }
            let event = event_of(record)?;
            audit.note(&telling.run, record, &event);
            let made = telling.story.made.len();
            telling.note(record, &event, &audit);
            telling.run.apply(&record.ts, &event);
            let new = made..telling.story.made.len();
            telling.standing.commits.extend(new);
            telling.earlier.note(record.seq, &telling.standing);
        }
        let tip = telling.last_commit();
        let Telling {
            mut story,
            run,
            pending,
            standing,
            ..
        } = telling;
        for (at, made) in story.made.iter_mut().enumerate() {
            made.taken_back = !standing.commits.contains(&at);
        }
        story.under_way = pending.map(|mut pending| {
            if pending.journal.is_empty() {
                head.clone_into(&mut pending.journal);
            }
            pending
        });
        let mut decisions = audit.decisions.into_iter().peekable();
        let mut missing = audit.missing.into_iter().peekable();
        for made in &mut story.made {
            let before = |seq: u64| seq <= made.seq;
            while let Some(decision) = decisions.next_if(|decision| before(decision.seq)) {
                made.decisions.push(decision);
            }
            while let Some(lacking) = missing.next_if(|lacking| before(lacking.seq)) {
                made.missing.push(lacking);
            }
        }
        let is_tip = |made: &RunCommit| made.sha == tip;
        let last = story.made.iter().rposition(is_tip);
        let last = last.or_else(|| story.made.len().checked_sub(1));
        if let Some(last) = last.and_then(|last| story.made.get_mut(last)) {
            last.unfinished = how_unfinished(run.status).map(str::to_owned);
        }
        if let (Ok(config), Ok(memory)) = (pinned(&run), Memory::of(&run)) {
            story.beginning = Some(Beginning {
                config,
                command: memory.start.test_command,
                head: memory.start.head,
            });
        }
        story.run = run.run;
        story.workflow = run.workflow;
        head.clone_into(&mut story.head);
        Ok(story)
    }
}

impl Telling {
    fn note(&mut self, record: &Record, event: &Event, audit: &Audit) {
        match event {
            Event::ReportAccepted(report) if report.reader() == "tests" => {
                let phase = Phase::of(report, record.seq);
                match &report.item {
                    Some(item) => {
                        let phases = self.standing.phases.entry(item.clone()).or_default();
                        let is_checked = |policy| audit.checks(&report.state, policy);
                        // What was reported before holds for one that says that nothing was changed.
                        let as_before = report.facts.contains_key(AS_BEFORE);
                        let before = phases.green.clone().filter(|_| as_before);
                        let phase = before.unwrap_or(phase);
                        phases.note(&report.role, phase, HELD_BY.into_iter().all(is_checked));
                    }
                    None => self.standing.suite = Some(phase),
                }
            }
            Event::ReportRetried(report) if report.reader() == "tests" && report.item.is_none() => {
                let phase = Phase::of(report, record.seq);
                self.standing.failed = (phase.failing() > 0).then_some(phase);
            }
            Event::ItemAdded { item, .. } => {
                if let Some(failed) = &self.standing.failed {
                    self.standing
                        .repairs
                        .insert(item.key.clone(), failed.clone());
                }
            }
            Event::ReportAccepted(report) if report.reader() == "commit" => {
                let sha = report.facts.get("sha").and_then(Value::as_str);
                if let Some(sha) = sha.filter(|sha| !sha.is_empty())
                    && let Some(made) = self.made(report.token, Some(report), record.seq)
                {
                    self.story.made.push(RunCommit {
                        sha: sha.to_owned(),
                        base: self.last_commit(),
                        handed_in: true,
                        journal: record.prev.clone(),
                        ..made
                    });
                }
            }
            Event::StateEntered { token, cause, .. } if *cause == Trigger::Reopen => {
                let key = self.run.token(*token).and_then(|token| token.key());
                if let Some(phases) = key.and_then(|key| self.standing.phases.get_mut(key)) {
                    phases.green = None;
                }
            }
            Event::UnitIssued { item, role, .. } => {
                self.standing.failed = None;
                // Asked for anew: what was shown before counts no longer.
                if let Some(item) = item.as_ref().filter(|_| role.shows.is_some()) {
                    self.standing.phases.remove(item);
                }
            }
            Event::RefusalAllowed {
                unit,
                code,
                reason,
                approval,
            } => self.allowed.push(Allowed {
                unit: unit.clone(),
                code: code.clone(),
                reason: reason.clone(),
                actor: approval.actor.clone(),
                strength: Some(approval.strength),
            }),
            Event::EffectIntended {
                name,
                token,
                what,
                report,
                ..
            } if name == "git.commit" || name == "task.finish" => {
                let text = |key: &str| what.get(key).and_then(Value::as_str);
                let below = text("base");
                let paths = what.get("paths").cloned().unwrap_or_default();
                let made = self.made(*token, report.as_deref(), record.seq);
                // The report that ends the run is taken in together with what comes of the commit.
                let suite = match report {
                    _ if name != "task.finish" => None,
                    Some(report) if report.reader() == "tests" => {
                        Some(Phase::of(report, record.seq))
                    }
                    _ => self.standing.suite.clone(),
                };
                self.pending = made.map(|made| RunCommit {
                    unit: suite.as_ref().map_or(made.unit, |suite| suite.unit.clone()),
                    base: below.or(text("parent")).unwrap_or_default().to_owned(),
                    handed_in: below.is_some(),
                    paths: serde_json::from_value(paths).unwrap_or_default(),
                    purpose: match name.as_str() {
                        "task.finish" => Purpose::Status,
                        _ => made.purpose,
                    },
                    suite,
                    ..made
                });
            }
            Event::EffectDone { name, result, .. }
                if name == "git.commit" || name == "task.finish" =>
            {
                let sha = result.get("sha").and_then(Value::as_str);
                if let Some(made) = self.pending.take()
                    && let Some(sha) = sha.filter(|sha| !sha.is_empty())
                {
                    self.story.made.push(RunCommit {
                        sha: sha.to_owned(),
                        ..made
                    });
                }
            }
            Event::EffectFailed { .. } => self.pending = None,
            Event::RunRewound { to, .. } => {
                let standing = self.earlier.behind(*to).cloned();
                self.standing = standing.unwrap_or_default();
            }
            _ => {}
        }
    }

    /// What stands behind a commit on the way of a token.
    fn made(&self, token: u32, report: Option<&AcceptedReport>, seq: u64) -> Option<RunCommit> {
        let token = self.run.token(token)?;
        let key = token.key().unwrap_or_default();
        let Phases {
            red,
            green,
            not_held,
            only,
            ..
        } = self.standing.phases.get(key).cloned().unwrap_or_default();
        let tested = TESTED.read(&token.kept, token.role.of.as_ref());
        // A tree that nobody can name any more is none that a commit has.
        let tested = tested.ok().flatten();
        let is_fix = memory::is_repair(&self.run, token);
        let is_by_commit = !token.role.only.is_empty();
        let memory = Memory::of(&self.run).ok();
        let mut rule = WorkRule::default();
        if is_by_commit || !only.is_empty() {
            rule.only = if is_by_commit {
                token.role.only.clone()
            } else {
                only
            };
            let item = self.run.item(token);
            rule.kind = item.map_or_else(String::new, |item| item.text("kind").to_owned());
            let start = memory.as_ref().map(|memory| &memory.start);
            rule.patterns = start.map_or_else(Vec::new, |start| start.test_patterns.clone());
        }
        let (red, green) = if is_by_commit {
            (None, None)
        } else {
            (red, green)
        };
        let mut exclude = tested
            .as_ref()
            .map_or_else(Vec::new, |tested| tested.exclude.clone());
        if exclude.is_empty() {
            exclude.extend(memory.and_then(|memory| memory.start.tasks_path));
        }
        let unit = report.map_or_else(
            || format!("workUnit-{}-COMMIT", self.run.run),
            |r| r.unit.clone(),
        );
        let of_units: Vec<&str> = [red.as_ref(), green.as_ref()]
            .into_iter()
            .flatten()
            .map(|phase| phase.unit.as_str())
            .chain([unit.as_str()])
            .collect();
        let allowed = self
            .allowed
            .iter()
            .filter(|allowed| of_units.contains(&allowed.unit.as_str()))
            .cloned()
            .collect();
        Some(RunCommit {
            run: self.run.run.clone(),
            workflow: self.run.workflow.clone(),
            subtask: key.to_owned(),
            purpose: if is_fix {
                Purpose::Repair
            } else {
                Purpose::Subtask
            },
            red: red.or_else(|| self.standing.repairs.get(key).filter(|_| is_fix).cloned()),
            green,
            seq,
            tree: tested.map_or_else(String::new, |tested| tested.work.tree.to_string()),
            exclude,
            rule,
            policies: report.map(policies_of).unwrap_or_default(),
            other: report
                .is_some_and(|report| report.facts.contains_key(UNTESTED))
                .then_some(OtherFiles::Meant),
            allowed,
            unit,
            not_held,
            ..RunCommit::default()
        })
    }

    /// The run's last commit, as it stands before the event.
    fn last_commit(&self) -> String {
        Memory::of(&self.run)
            .map(|memory| memory.last_commit)
            .unwrap_or_default()
    }
}
