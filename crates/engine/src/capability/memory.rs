//! What the workflow's Rust parts keep in a run's memory, under typed names.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use ::test_report::Metric;
use globset::Glob;
use machine::RunState;
use machine::state::{Item, ItemSet, ItemStatus, Token};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use workspace::convention::paths::PathClasses;
use workspace::git::{Oid, RepoPath, Repository, TreeStatus};
use workspace::runner::identity::RunnerIdentity;
use workspace::tasks::{InlineTask, PlanFile, Task, TaskFile, TaskSource};

use crate::fault::Fault;
use crate::next_step::NextStep;
use crate::slot::{Slot, Slots};
use crate::support::object;

use crate::capability::git::effects::push::Pushed;
use crate::capability::git::read::moved::Adopted;
use crate::capability::pull_request::feedback::TakenRemark;
use crate::capability::pull_request::{KnownPullRequest, SubmittedTo};

/// What a run knows from its start.
pub(crate) const START: Slot<StartFacts> = Slot::new("start");
/// Files that were dirty before the run, or left by a subtask that was skipped.
pub(crate) const DIRTY: Slot<BTreeMap<RepoPath, DirtyFile>> = Slot::new("dirty");
/// The run's last commit; before the first one, the commit it started from.
pub(crate) const LAST_COMMIT: Slot<String> = Slot::new("lastCommit");
/// No suite was run on the commit that the run goes on from.
pub(crate) const UNTRIED: Slot<bool> = Slot::new("untried");
/// Where the branch had moved, and was taken as it was.
pub(crate) const ADOPTED: Slot<Vec<Adopted>> = Slot::new("adopted");
/// How many commits the run has.
pub(crate) const COMMITS: Slot<u64> = Slot::new("commits");
/// What each test did, in the last accepted report: a hash of the run's evidence.
pub(crate) const LAST_LEDGER: Slot<String> = Slot::new("lastLedger");
/// The level of the evidence of that report.
pub(crate) const LAST_LEVEL: Slot<String> = Slot::new("lastLevel");
/// How many lines tests reached in the last accepted report that came with a report of coverage.
pub(crate) const LAST_COVERED: Slot<Metric> = Slot::new("lastCovered");
/// What checks found before the run, where they were run then: a hash of the run's evidence.
pub(crate) const CHECKED_BEFORE: Slot<String> = Slot::new("checkedBefore");
/// What the tests were run by, when they were last run here before or in a report of failing tests.
pub(crate) const LAST_RUNNER: Slot<RunnerIdentity> = Slot::new("lastRunner");
/// The facts of the suite as it was when the run's first item began, if it was run.
pub(crate) const BASELINE: Slot<Map<String, Value>> = Slot::new("baseline");
/// Why suites are run in the working tree: the bench cannot be used.
pub(crate) const BENCH: Slot<String> = Slot::new("offBench");
/// Report files that were handed in and are no part of the work.
pub(crate) const REPORTS: Slot<Vec<RepoPath>> = Slot::new("reports");
/// The tag that `.taskmaster/state.json` named before the run.
pub(crate) const TAG_BEFORE: Slot<String> = Slot::new("tagBefore");
/// What the run pushed last.
pub(crate) const PUSHED: Slot<Pushed> = Slot::new("pushed");
/// Where the run is submitted to, as it was looked at last.
pub(crate) const SUBMITTED_TO: Slot<SubmittedTo> = Slot::new("submittedTo");
/// The pull request of the run.
pub(crate) const PULL_REQUEST: Slot<KnownPullRequest> = Slot::new("pullRequest");
/// By the key of an item: the remark on the pull request that it was made of.
pub(crate) const FEEDBACK: Slot<BTreeMap<String, TakenRemark>> = Slot::new("feedback");
/// By the key of a subtask: its commit.
pub(crate) const COMMIT_OF: Slots<String> = Slots::new("commit.");
/// By the key of a subtask: its `done` stands where the task comes from, or there is no place for it.
pub(crate) const WRITTEN: Slots<bool> = Slots::new("written.");

/// In a token's memory, by the label of a report: what it showed.
pub(crate) const SHOWN: Slots<Shown> = Slots::new("shown.");
/// Likewise: what was tested.
pub(crate) const TESTED: Slots<Tested> = Slots::new("tested.");
/// What each test did before the item, as it was known when its first report was accepted: a hash of the run's evidence, empty where
/// nothing was known.
pub(crate) const BEFORE: Slot<String> = Slot::new("before");
/// The tests that failed before the item and are to pass with it, as RED named them last.
pub(crate) const REPAIRS: Slot<Vec<String>> = Slot::new("repairs");
/// The tree of the work that the item's last accepted report was about.
pub(crate) const WORK: Slot<Oid> = Slot::new("work");
/// By the label of a freeze: the work then, whose tests count from there on.
pub(crate) const FROZEN: Slots<KeptWork> = Slots::new("frozenTree.");
/// By the label of a freeze: what the tests were run by then, where they were run here.
pub(crate) const RUNNER: Slots<RunnerIdentity> = Slots::new("runner.");

/// What a run knows from its start.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartFacts {
    /// The task.
    pub task_id: String,
    /// How often GREEN may be tried for each subtask.
    #[serde(default)]
    pub max_attempts: u32,
    /// Its title.
    pub task_title: String,
    /// The tag.
    pub tag: String,
    /// The run's branch.
    pub branch: String,
    /// Whether the branch was there before.
    pub branch_existed: bool,
    /// Where it was then, if it is brought up to where the run begins: nothing is on it that is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_was: Option<String>,
    /// The branch that was checked out when the run began; none where HEAD was detached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_branch: Option<String>,
    /// The commit that was checked out then, if HEAD was detached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_commit: Option<String>,
    /// The default branch of the repository, if HEAD was detached and there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_branch: Option<String>,
    /// The commit that it was started from.
    pub head: String,
    /// Branches that no commit is made on.
    pub protected: Vec<String>,
    /// Where the task comes from.
    pub source: Source,
    /// The file that statuses are written to, relative to the top level, if there is one there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks_path: Option<RepoPath>,
    /// The item set that its subtasks are in.
    #[serde(default)]
    pub items: String,
    /// The task is run as one subtask that the file does not have.
    #[serde(default)]
    pub implicit: bool,
    /// The test command.
    pub test_command: String,
    /// What the project has written behind its name, where that decides what runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_definition: Option<String>,
    /// The framework it runs.
    pub test_framework: String,
    /// Globs of test files.
    pub test_patterns: Vec<String>,
    /// Top level of the working tree.
    pub top_level: PathBuf,
    /// Its git folder.
    pub git_dir: PathBuf,
    /// The git folder shared with other working trees.
    pub common_dir: PathBuf,
    /// The project.
    pub project_root: PathBuf,
    /// The subtasks that are to be run.
    #[serde(default)]
    pub planned: Vec<String>,
    /// Subtasks that were done before.
    pub skipped: Vec<String>,
    /// Subtasks that are not run, and why.
    pub left_out: Vec<String>,
    /// What somebody should be told.
    pub warnings: Vec<String>,
}

impl StartFacts {
    /// Those of these names, in their order, as answers have them.
    pub fn named(&self, names: &[&str]) -> Map<String, Value> {
        let mut all = object(json!(self));
        let named = |name: &&str| Some(((*name).to_owned(), all.shift_remove(*name)?));
        names.iter().filter_map(named).collect()
    }

    /// What the run's files are, by its patterns of tests.
    pub fn classes(&self) -> Result<PathClasses, Fault> {
        PathClasses::new(&self.test_patterns)
            .map_err(|error| Fault::bug(format!("the run's test patterns cannot be used: {error}")))
    }

    /// What the file with the tasks is called in messages.
    pub fn tasks_name(&self) -> String {
        self.tasks_path
            .as_ref()
            .map_or_else(|| "the tasks file".to_owned(), ToString::to_string)
    }

    /// The branch that the work is meant for: merges of it into the run's branch are no work of the run.
    pub fn base_branch(&self) -> Option<&str> {
        self.from_branch
            .as_deref()
            .or(self.default_branch.as_deref())
    }

    /// The name of what was checked out when the run began: a branch, or a commit.
    pub fn origin(&self) -> &str {
        let commit = self.from_commit.as_deref().unwrap_or(&self.head);
        self.from_branch.as_deref().unwrap_or(commit)
    }

    /// The commit that was checked out when the run began with a detached HEAD.
    pub fn origin_oid(&self) -> Result<Oid, Fault> {
        let commit = self.from_commit.as_deref().unwrap_or(&self.head);
        let oid = commit.parse();
        oid.map_err(|_| Fault::bug(format!("`{commit}` is no commit id")))
    }

    /// The command that checks that out again.
    pub fn way_back(&self) -> NextStep {
        match &self.from_branch {
            Some(branch) => NextStep::git(["switch", branch]),
            None => NextStep::git(["switch", "--detach", self.origin()]),
        }
    }

    /// Whether no commit is made on that branch. Some file systems know no case, so names have none.
    pub fn is_protected(&self, branch: &str) -> bool {
        let lower = branch.to_lowercase();
        self.protected.iter().any(|protected| {
            let protected = protected.to_lowercase();
            protected == lower
                || Glob::new(&protected).is_ok_and(|glob| glob.compile_matcher().is_match(&lower))
        })
    }
}

/// Where a task comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Source {
    /// The project's tasks file.
    #[default]
    Tasks,
    /// A Markdown checklist.
    Plan {
        /// The file.
        path: PathBuf,
        /// The id that the task had when the run began.
        #[serde(default)]
        task: String,
        /// The titles of all its items then, in order.
        #[serde(default)]
        titles: Vec<String>,
    },
    /// The command line.
    Inline {
        /// Title of the task.
        title: String,
        /// Titles of its subtasks.
        subtasks: Vec<String>,
    },
}

impl Source {
    /// A Markdown checklist whose items are not known yet.
    pub fn plan(path: PathBuf) -> Self {
        Self::Plan {
            path,
            task: String::new(),
            titles: Vec::new(),
        }
    }

    /// Whatever is edited in a plan from here on, these are the items that the run is about.
    pub fn pin(&mut self, task: &Task) {
        if let Self::Plan {
            task: id, titles, ..
        } = self
        {
            id.clone_from(&task.id);
            *titles = task
                .subtasks
                .iter()
                .map(|subtask| subtask.title.clone())
                .collect();
        }
    }

    /// Opens it.
    pub fn open(&self, root: &Path, tag: &str) -> Result<Box<dyn TaskSource>, Fault> {
        Ok(match self {
            Self::Tasks => Box::new(TaskFile::in_project(root, tag)?),
            Self::Plan { path, titles, .. } if titles.is_empty() => Box::new(PlanFile::new(path)),
            Self::Plan { path, task, titles } => {
                Box::new(PlanFile::new(path).pinned(task.clone(), titles.clone()))
            }
            Self::Inline { title, subtasks } => Box::new(InlineTask::new(title, subtasks)?),
        })
    }
}

/// A file that was not clean when the run began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirtyFile {
    /// Its content then; none if it was deleted.
    pub content: Option<String>,
    /// It was left by a subtask that was skipped, so the next one may take it on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left: bool,
}

/// What an accepted report showed: tests that fail.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Shown {
    /// How many failed, or could not be built.
    pub failing: u64,
    /// How many could not be built.
    pub errors: u64,
    /// How many ran.
    pub ran: u64,
    /// The files that were changed for it, as many as a journal line can hold.
    pub files: Vec<String>,
    /// Level of the evidence.
    pub level: String,
    /// Patterns of tests that were taken out on purpose.
    pub removed: Vec<String>,
    /// What each test did, where that is known: a hash of the run's evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ledger: Option<String>,
    /// Tests that fail and did not before, as many as a journal line can hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub new: Vec<String>,
}

/// The work as an accepted report was about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptWork {
    /// The tree that a commit would have had.
    pub tree: Oid,
    /// The commit that it was on.
    pub base: Oid,
}

/// What an accepted report of passing tests was about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tested {
    /// The work.
    #[serde(flatten)]
    pub work: KeptWork,
    /// What was left out of it.
    pub exclude: Vec<RepoPath>,
    /// Tests that passed.
    pub passed: u64,
    /// Line coverage in percent, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<f64>,
}

/// The run's memory, read.
#[derive(Debug, Clone)]
pub struct Memory {
    /// What it knows from its start.
    pub start: StartFacts,
    /// Files that count as dirty before.
    pub dirty: BTreeMap<RepoPath, DirtyFile>,
    /// The run's last commit.
    pub last_commit: String,
    /// Report files that were handed in and are no part of the work.
    pub reports: Vec<RepoPath>,
}

impl Memory {
    /// Reads the memory of a run.
    pub fn of(run: &RunState) -> Result<Self, Fault> {
        let kept = &run.kept;
        let start = START
            .read(kept)?
            .ok_or_else(|| Fault::bug(format!("the run {} is over no task", run.run)))?;
        let last = LAST_COMMIT.read(kept)?;
        Ok(Self {
            last_commit: last.unwrap_or_else(|| start.head.clone()),
            dirty: DIRTY.read(kept)?.unwrap_or_default(),
            reports: REPORTS.read(kept)?.unwrap_or_default(),
            start,
        })
    }

    /// The repository, without asking git where it is.
    pub fn repository(&self) -> Repository {
        Repository::at(
            self.start.top_level.clone(),
            self.start.git_dir.clone(),
            self.start.common_dir.clone(),
        )
        .with_scope(&self.start.project_root)
    }

    /// The commit that the run began on, as an id.
    pub fn base_oid(&self) -> Result<Oid, Fault> {
        let head = &self.start.head;
        head.parse()
            .map_err(|_| Fault::bug(format!("`{head}` is no commit id")))
    }

    /// The last commit as an id.
    pub fn last_oid(&self) -> Result<Oid, Fault> {
        self.last_commit
            .parse()
            .map_err(|_| Fault::bug(format!("`{}` is no commit id", self.last_commit)))
    }

    /// The files with changes that are neither committed nor known to be somebody's from before, but for those that no check looks
    /// at.
    pub fn uncommitted(&self, repository: &Repository, status: &TreeStatus) -> Vec<String> {
        let exempt = self.exempt(repository);
        let changes = status.changes.iter().filter(|change| {
            !exempt.contains(&change.path)
                && !self.reports.contains(&change.path)
                && !self.dirty.contains_key(&change.path)
        });
        changes.map(|change| change.path.to_string()).collect()
    }

    /// Takes files on that were changed before the run or left by a skipped subtask: named in a report, they are the run's own.
    pub(crate) fn take_on(
        &mut self,
        named: &[RepoPath],
        keep: &mut Map<String, Value>,
    ) -> Result<(), Fault> {
        let before = self.dirty.len();
        self.dirty.retain(|path, _| !named.contains(path));
        if self.dirty.len() < before {
            DIRTY.put(keep, &self.dirty)?;
        }
        Ok(())
    }

    /// Files that no check looks at: where tasks and their statuses stand.
    pub fn exempt(&self, repository: &Repository) -> Vec<RepoPath> {
        let state = self.start.project_root.join(workspace::tasks::STATE_FILE);
        self.start
            .tasks_path
            .iter()
            .cloned()
            .chain(repository.relative(&state))
            .collect()
    }
}

/// Commits of a run so far.
pub fn commits(run: &RunState) -> u64 {
    let commits = COMMITS.value(&run.kept);
    commits.and_then(Value::as_u64).unwrap_or(0)
}

/// What a run remembers of a commit that it has made, or been handed.
pub(crate) fn with_commit(run: &RunState, sha: &str) -> Result<Map<String, Value>, Fault> {
    let mut keep = LAST_COMMIT.entry(&sha.to_owned())?;
    COMMITS.put(&mut keep, &(commits(run) + 1))?;
    Ok(keep)
}

/// The item set that the subtasks of a run are in.
fn items(run: &RunState) -> Option<&ItemSet> {
    run.sets
        .get(START.value(&run.kept)?.get("items")?.as_str()?)
}

/// A subtask by its key.
pub fn subtask<'a>(run: &'a RunState, key: &str) -> Option<&'a Item> {
    items(run)?.get(key)
}

/// The subtasks of a run, in order.
pub fn subtasks(run: &RunState) -> impl Iterator<Item = (&str, &Item)> {
    items(run).into_iter().flat_map(ItemSet::iter)
}

/// The subtasks that are the task's own, by their keys; what the workflow added is none.
pub fn planned(run: &RunState) -> impl Iterator<Item = &str> {
    noted_at_start(run, "planned")
}

/// The task's subtasks that were done before the run began, by their ids.
pub fn done_before(run: &RunState) -> impl Iterator<Item = &str> {
    noted_at_start(run, "skipped")
}

fn noted_at_start<'r>(run: &'r RunState, list: &str) -> impl Iterator<Item = &'r str> + use<'r> {
    let start = START.value(&run.kept);
    let noted = start.and_then(|start| start.get(list)?.as_array());
    noted.into_iter().flatten().filter_map(Value::as_str)
}

/// Whether a subtask is one of them.
pub fn is_planned(run: &RunState, key: &str) -> bool {
    planned(run).any(|own| own == key)
}

/// Whether a token carries something that the workflow added because of a failure: no report of failing tests is to come of it,
/// or came.
pub fn is_repair(run: &RunState, token: &Token) -> bool {
    let showed = || SHOWN.any(&token.kept);
    let key = token.key();
    let added = |key: &str| !is_planned(run, key) && !is_feedback(run, key);
    key.is_some_and(added) && token.role.shows.is_none() && !showed()
}

/// Whether a subtask was made of what others say of the pull request.
pub fn is_feedback(run: &RunState, key: &str) -> bool {
    FEEDBACK
        .value(&run.kept)
        .is_some_and(|taken| taken.get(key).is_some())
}

/// The commit of a subtask; empty where it has none.
pub fn commit_of<'a>(run: &'a RunState, key: &str) -> &'a str {
    COMMIT_OF.of(key).text(&run.kept).unwrap_or_default()
}

/// Subtasks that are done, and whose `done` no commit carries yet.
pub fn owed(run: &RunState) -> Vec<String> {
    let planned: HashSet<&str> = planned(run).collect();
    subtasks(run)
        .filter(|(key, item)| {
            item.status == ItemStatus::Done
                && planned.contains(key)
                && !WRITTEN.of(key).is_in(&run.kept)
        })
        .map(|(key, _)| key.to_owned())
        .collect()
}

/// A map with one entry.
pub fn entry(key: &str, value: impl Into<Value>) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert(key.to_owned(), value.into());
    map
}
