//! The run that is under way, found with few reads and without asking git: an agent waits for the answer at each of its steps.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use journal::layout::{ProjectDir, RunDir};
use machine::role::{Edits, FileClass};
use machine::state::{Item, RunStatus, Token};
use machine::{RunState, Shared};
use workspace::config::{Environment, RootMarker};
use workspace::convention::paths::PathClasses;
use workspace::tasks::TASKS_FILE;

use crate::action::status;
use crate::capability::memory::{self, FROZEN, Memory};
use crate::engine::{Engine, OpenOptions};
use crate::fault::Fault;
use crate::find::{RunHead, is_over_a_task, read_json, standing};
use crate::hook::place::{self, Head};
use crate::next_step::{NextStep, Verb};
use crate::open_run;
use crate::view::GENERIC;

/// The phase that a run over a task is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Tests that fail are written.
    Red,
    /// They are made to pass.
    Green,
    /// Work of a kind that is not test-driven is done.
    Work,
    /// What passed is committed.
    Commit,
    /// The whole suite is run.
    Finalize,
    /// Something else is asked for, which `tm run` says.
    Step,
    /// None that a rule is about.
    Other,
}

/// A run over a task that is running or paused.
#[derive(Debug)]
pub struct ActiveRun {
    /// The project.
    pub root: PathBuf,
    /// The run.
    pub run: Shared<RunState>,
    /// What it knows.
    pub memory: Memory,
    /// The phase.
    pub phase: Phase,
    /// What may be edited in it, where its state says so.
    pub edits: Option<Edits>,
    /// What files alone the report may be about; any where none is said.
    pub only: Vec<FileClass>,
    /// The work unit that waits.
    pub unit: Option<String>,
    /// The branch that is checked out.
    pub head: Head,
    /// Whether a merge is under way there.
    pub is_merging: bool,
}

/// Something else that is under way in a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Other {
    /// What it is.
    pub what: String,
    /// Its id.
    pub id: String,
    /// What says where it is.
    pub shows: NextStep,
}

/// What there is.
#[derive(Debug)]
pub enum Lookup {
    /// This run.
    Run(Box<ActiveRun>),
    /// No run over a task.
    Nothing {
        /// Whether the folder is in a project at all.
        in_project: bool,
        /// Whether it has a file of tasks.
        has_tasks: bool,
        /// What else is under way.
        others: Vec<Other>,
    },
    /// It cannot be told, for this reason.
    Unclear(String),
}

impl ActiveRun {
    /// Whether it takes reports.
    pub fn is_running(&self) -> bool {
        self.run.status == RunStatus::Running
    }

    /// Whether its branch is not the one that is checked out, for sure.
    pub fn is_off_its_branch(&self) -> bool {
        let start = &self.memory.start;
        // The branch may still be to come, where other work comes first.
        let is_there =
            || self.phase != Phase::Step || place::is_ref(&start.common_dir, &start.branch);
        match &self.head {
            Head::Branch(branch) => *branch != start.branch && is_there(),
            Head::Detached => is_there(),
            Head::Unknown => false,
        }
    }

    /// The token whose item is in hand.
    pub fn token(&self) -> Option<&Token> {
        status::present(&self.run)
    }

    /// The subtask in hand.
    pub fn item(&self) -> Option<&Item> {
        self.run.item(self.token()?)
    }

    /// Its id.
    pub fn item_id(&self) -> Option<&str> {
        self.token()?.key()
    }

    /// Whether a repair is in hand, which begins with its failing tests there already.
    pub fn is_repair(&self) -> bool {
        self.token()
            .is_some_and(|token| memory::is_repair(&self.run, token))
    }

    /// Whether there are tests that must not be changed now.
    pub fn has_frozen_tests(&self) -> bool {
        self.token()
            .and_then(|token| Some(FROZEN.of(token.role.frozen.as_ref()?).is_in(&token.kept)))
            .unwrap_or(false)
    }

    /// What files are for in this run; `None` where its patterns are none.
    pub fn classes(&self) -> Option<PathClasses> {
        PathClasses::new(&self.memory.start.test_patterns).ok()
    }
}

/// Looks for the run of the working tree that `path` lies in: in the project there, then in those of `folders` and of the
/// top level, as far as they lie in the same working tree.
pub fn find(path: &Path, folders: &[PathBuf], environment: &Environment) -> Lookup {
    let tree = place::working_tree(path);
    let same = folders
        .iter()
        .map(PathBuf::as_path)
        .filter(|folder| tree.is_some() && place::working_tree(folder) == tree);
    let mut seen = BTreeSet::new();
    let (mut in_project, mut has_tasks) = (false, false);
    let mut others = Vec::new();
    for folder in [path].into_iter().chain(same).chain(tree.as_deref()) {
        let root = workspace::config::find_root(folder, environment);
        if root.found_by == RootMarker::Nothing || !seen.insert(root.path.clone()) {
            continue;
        }
        in_project |= root.path.join(".taskmaster").is_dir();
        has_tasks |= root.path.join(TASKS_FILE).is_file();
        match in_root(&root.path, environment) {
            Ok(Lookup::Nothing { others: more, .. }) => others.extend(more),
            Ok(found) => return found,
            Err(fault) => return Lookup::Unclear(fault.message),
        }
    }
    Lookup::Nothing {
        in_project,
        has_tasks,
        others,
    }
}

fn in_root(root: &Path, environment: &Environment) -> Result<Lookup, Fault> {
    let engine = Engine::open(OpenOptions {
        cwd: root.to_owned(),
        project_root: Some(root.to_owned()),
        tag: None,
        environment: environment.clone(),
        command: "tm hook".to_owned(),
        actor: String::new(),
        cancelled: None,
        waits_no_more: None,
    })?;
    let nothing = |others| Lookup::Nothing {
        in_project: true,
        has_tasks: false,
        others,
    };
    let Some(project) = engine.stored()? else {
        return Ok(nothing(Vec::new()));
    };
    let mut best: Option<ActiveRun> = None;
    let mut unreadable = None;
    for dir in newest_of_tags(&project)? {
        match loaded(root, &dir) {
            Ok(Some(run)) if run.is_running() && !run.is_off_its_branch() => {
                return Ok(Lookup::Run(Box::new(run)));
            }
            Ok(Some(run)) => {
                let better = best
                    .as_ref()
                    .is_none_or(|best| run.is_running() && !best.is_running());
                if better {
                    best = Some(run);
                }
            }
            Ok(None) => {}
            Err(fault) => unreadable = Some(fault),
        }
    }
    match (best, unreadable) {
        (Some(run), _) => Ok(Lookup::Run(Box::new(run))),
        (None, Some(fault)) => Err(fault),
        (None, None) => Ok(nothing(others(&project))),
    }
}

/// The newest run of each tag, where it may be under way. Every run over a task is the newest of its tag at some time.
fn newest_of_tags(project: &ProjectDir) -> Result<Vec<RunDir>, Fault> {
    let mut ids = BTreeSet::new();
    if let Ok(entries) = fs::read_dir(project.tags_folder()) {
        for entry in entries.flatten() {
            let pointer = read_json(&entry.path().join("current-run.json"));
            if let Some(id) = pointer
                .as_ref()
                .and_then(|pointer| pointer.get("runId")?.as_str())
            {
                ids.insert(id.to_owned());
            }
        }
    }
    if ids.is_empty() {
        // Pointers can be lost; then the runs themselves have to do.
        ids.extend(project.runs()?);
    }
    let mut runs = Vec::new();
    for id in ids.iter().rev() {
        let Ok(dir) = project.run(id) else {
            continue;
        };
        if dir.journal_path().exists() && !is_over(&dir) {
            runs.push(dir);
        }
    }
    Ok(runs)
}

/// Whether a run is over for good, by what its manifest says.
fn is_over(dir: &RunDir) -> bool {
    let manifest = read_json(&dir.file("manifest.json"));
    manifest
        .as_ref()
        .and_then(|manifest| manifest.get("status")?.as_str())
        .is_some_and(|status| !matches!(status, "running" | "paused" | "error"))
}

fn loaded(root: &Path, dir: &RunDir) -> Result<Option<ActiveRun>, Fault> {
    let loaded = open_run::load(dir.path())?;
    let run = loaded.run;
    let goes_on = matches!(run.status, RunStatus::Running | RunStatus::Paused);
    if loaded.head.seq == 0 || !goes_on || !is_over_a_task(&run) {
        return Ok(None);
    }
    let memory = Memory::of(&run)?;
    let role = status::present(&run).map(|token| token.role.clone());
    let role = role.unwrap_or_default();
    let phase = match (role.reader.as_str(), role.edits) {
        ("tests", _) if role.suite.is_some() => Phase::Finalize,
        ("tests" | "commit", _) if !role.only.is_empty() => Phase::Work,
        ("tests", Some(Edits::Tests)) => Phase::Red,
        ("tests", Some(Edits::Unfrozen)) => Phase::Green,
        ("commit", _) => Phase::Commit,
        ("tests", _) => Phase::Other,
        // Where nothing is asked for and nothing is under way, a person decides.
        _ if run.pending.is_none() => Phase::Step,
        _ => Phase::Other,
    };
    let unit = run.waiting().next().map(|(_, unit)| unit.id.clone());
    Ok(Some(ActiveRun {
        root: root.to_owned(),
        head: place::head(&memory.start.git_dir),
        is_merging: memory.start.git_dir.join("MERGE_HEAD").exists(),
        unit,
        memory,
        phase,
        edits: role.edits,
        only: role.only,
        run,
    }))
}

/// Sessions, and runs of other workflows. Only told, so what cannot be read is passed over.
fn others(project: &ProjectDir) -> Vec<Other> {
    let going = standing(project, None).unwrap_or_default();
    let mut others = Vec::new();
    for run in going.into_iter().filter(RunHead::goes_on) {
        if run.task.is_some() {
            continue;
        }
        let view = run.view.unwrap_or(&GENERIC);
        others.push(Other {
            what: format!("a {}", view.noun),
            id: run.dir.id().to_owned(),
            shows: Verb::Next.step().in_view(view.name),
        });
    }
    others
}
