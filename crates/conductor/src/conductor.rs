//! The conductor: a project opened for one caller.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use journal::Wait;
use journal::layout::{Home, ProjectDir, RunDir};
use project::config::{Environment, Settings};
use rails::RunState;
use serde_json::Value;

use crate::approval::Asked;
use crate::clock::{Clock, SystemClock};
use crate::engine::{self, LOCK_WAIT, Loaded};
use crate::fault::{Fault, Kind};
use crate::integrity::{has_begun, never_began};

/// What a caller says of itself and of the project it means.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// The caller's folder.
    pub cwd: PathBuf,
    /// The project, if it is named.
    pub project_root: Option<PathBuf>,
    /// The tag, if it is named.
    pub tag: Option<String>,
    /// The caller's environment variables.
    pub environment: Environment,
    /// What was asked, for those who wait for a lock.
    pub command: String,
    /// Who asks, for the journal.
    pub actor: String,
    /// Set when the caller went away: what has not begun by then is not begun any more.
    pub given_up: Option<Arc<AtomicBool>>,
}

/// A project opened for one caller.
#[derive(Debug, Clone)]
pub struct Conductor {
    pub(crate) root: PathBuf,
    pub(crate) cwd: PathBuf,
    pub(crate) settings: Arc<Settings>,
    pub(crate) home: Home,
    pub(crate) tag: Option<String>,
    pub(crate) command: String,
    pub(crate) actor: String,
    /// By which way a person was asked for what the next call decides.
    pub(crate) asked: Option<Asked>,
    given_up: Option<Arc<AtomicBool>>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Conductor {
    /// Finds the project and reads its settings.
    pub fn open(options: OpenOptions) -> Result<Self, Fault> {
        let root = match &options.project_root {
            Some(root) => {
                let root = options.cwd.join(root);
                let none = |why: &dyn std::fmt::Display| {
                    let message = format!("{} cannot be opened: {why}", root.display());
                    Fault::new(Kind::Missing, "no_project", message)
                        .suggest("name the folder of a project with --project-root")
                };
                let real = std::fs::canonicalize(&root).map_err(|error| none(&error))?;
                if !real.is_dir() {
                    return Err(none(&"it is no folder"));
                }
                real
            }
            None => project::config::find_root(&options.cwd, &options.environment).path,
        };
        let settings = project::config::load(&root, &BTreeMap::new(), &options.environment)?;
        if let Some(tag) = &options.tag {
            journal::layout::Name::check("tag", tag)?;
        }
        apart(&root, &settings.store)?;
        Ok(Self {
            home: Home::new(&settings.store),
            root,
            cwd: options.cwd,
            settings,
            tag: options.tag,
            command: options.command,
            actor: options.actor,
            asked: None,
            given_up: options.given_up,
            clock: Arc::new(SystemClock),
        })
    }

    /// The same project with another clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// How long a call waits for its turn.
    pub(crate) fn wait(&self) -> Wait {
        self.wait_at_most(LOCK_WAIT)
    }

    /// The same, where others may take longer with theirs.
    pub(crate) fn wait_at_most(&self, at_most: Duration) -> Wait {
        let wait = Wait::at_most(at_most);
        match &self.given_up {
            Some(flag) => wait.unless(Arc::clone(flag)),
            None => wait,
        }
    }

    /// The project's root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The project's folder in the store, if any run was ever made.
    pub(crate) fn stored(&self) -> Result<Option<ProjectDir>, Fault> {
        Ok(self.home.find_project(&self.root)?)
    }

    pub(crate) fn stored_or_missing(&self) -> Result<ProjectDir, Fault> {
        self.stored()?.ok_or_else(|| self.no_run())
    }

    fn no_run(&self) -> Fault {
        Fault::new(
            Kind::Missing,
            "no_run",
            format!("there is no run in {}", self.root.display()),
        )
        .suggest("begin one with `tm autopilot start <taskId>`")
        .recover("tm autopilot start")
    }

    /// The folder of the run over a task that is meant: the one that is named, else the present one.
    pub(crate) fn find(&self, run: Option<&str>) -> Result<(ProjectDir, RunDir), Fault> {
        let (project, found) = self.find_loaded(run)?;
        Ok((project, found.dir))
    }

    fn find_loaded(&self, run: Option<&str>) -> Result<(ProjectDir, Found), Fault> {
        let project = self.stored_or_missing()?;
        let found = match run {
            Some(id) => over_a_task(project.find_run(id)?)?,
            None => self.present_loaded(&project)?,
        };
        Ok((project, found))
    }

    /// The present run over a task: the tag's, if it goes on; else, where no tag is named, another
    /// one that does; else the tag's newest.
    pub(crate) fn present(&self, project: &ProjectDir) -> Result<RunDir, Fault> {
        Ok(self.present_loaded(project)?.dir)
    }

    fn present_loaded(&self, project: &ProjectDir) -> Result<Found, Fault> {
        let tag = match &self.tag {
            Some(tag) => tag.clone(),
            None => project::tasks::resolve_tag(&self.root, None)
                .unwrap_or_else(|_| project::tasks::DEFAULT_TAG.to_owned()),
        };
        let own = match newest_of(project, &tag)? {
            Some(own) if self.tag.is_some() || own.goes_on() => return Ok(own),
            own => own,
        };
        if self.tag.is_none() {
            for (dir, status, _) in by_status(project)? {
                if status == "running" || status == "paused" {
                    return Ok(Found { dir, loaded: None });
                }
            }
        }
        own.ok_or_else(|| {
            if self.tag.is_some() {
                Fault::new(
                    Kind::Missing,
                    "no_run",
                    format!("there is no run of the tag `{tag}`"),
                )
                .suggest("leave --tag out for the present run; `tm runs list` shows all of them")
            } else {
                self.no_run()
            }
        })
    }

    /// Loads the run that is meant, without a lock.
    pub(crate) fn load(&self, run: Option<&str>) -> Result<(RunDir, Loaded), Fault> {
        let (_, found) = self.find_loaded(run)?;
        let loaded = match found.loaded {
            // It was looked into to find it.
            Some(loaded) => loaded,
            None => engine::load(found.dir.path())?,
        };
        if loaded.head.seq == 0 {
            return Err(never_began(&found.dir));
        }
        Ok((found.dir, loaded))
    }
}

/// Refuses to keep runs where git would take them for files of the project: their journal would change what is being
/// tested, and a commit could bring along what a person trusts.
fn apart(root: &Path, store: &Path) -> Result<(), Fault> {
    // The store may still have to be made.
    let there = store.ancestors().find_map(|folder| {
        let real = std::fs::canonicalize(folder).ok()?;
        Some(real.join(store.strip_prefix(folder).ok()?))
    });
    let store = there.unwrap_or_else(|| store.to_owned());
    // What lies there was written by runs, and has a say in nothing.
    if root.starts_with(store.join("projects")) {
        return Err(Fault::new(
            Kind::Usage,
            "project_in_store",
            format!(
                "{} lies in the folder for runs, {}, and is no project",
                root.display(),
                store.display()
            ),
        )
        .suggest("go to the project, or name it with --project-root"));
    }
    if !store.starts_with(root) {
        return Ok(());
    }
    // Where there is no git, nothing can come with a commit.
    let Ok(repository) = project::git::Repository::discover(root) else {
        return Ok(());
    };
    if repository.is_private(&store)? {
        return Ok(());
    }
    Err(Fault::new(
        Kind::Environment,
        "store_in_project",
        format!(
            "the folder for runs, {}, lies in the project, and git does not ignore all of it",
            store.display()
        ),
    )
    .suggest("set HOME, or TRAMLINE_HOME to a folder elsewhere; or have git ignore that folder, with no file of it committed"))
}

/// A run that was found, and what was loaded of it on the way.
struct Found {
    dir: RunDir,
    loaded: Option<Loaded>,
}

impl Found {
    fn goes_on(&self) -> bool {
        self.loaded
            .as_ref()
            .is_some_and(|loaded| !loaded.run.status.is_over())
    }

    /// The run in this folder, unless it never began or has no task. One that is damaged is found, too.
    fn in_folder(dir: RunDir) -> Option<Self> {
        match engine::load(dir.path()) {
            Ok(loaded) if loaded.head.seq > 0 && is_over_a_task(&loaded.run) => Some(Self {
                dir,
                loaded: Some(loaded),
            }),
            Ok(_) => None,
            Err(_) => Some(Self { dir, loaded: None }),
        }
    }
}

/// The newest run of a tag: by the tag's pointer, or by looking through the runs where the pointer is gone.
fn newest_of(project: &ProjectDir, tag: &str) -> Result<Option<Found>, Fault> {
    if let Some(dir) = project.find_tag(tag)?
        && let Some(pointer) = read_json(&dir.current_run_path())
        && let Some(id) = pointer.get("runId").and_then(Value::as_str)
        && let Ok(run) = project.run(id)
        && (run.journal_path().exists() || has_begun(run.path()))
        && let Some(found) = Found::in_folder(run)
    {
        return Ok(Some(found));
    }
    let prefix = format!("{tag}__task-");
    for id in project.runs()? {
        if id.starts_with(&prefix)
            && let Some(found) = Found::in_folder(project.run(&id)?)
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// All runs over a task that have begun, newest first, each with status and task.
pub(crate) fn by_status(project: &ProjectDir) -> Result<Vec<(RunDir, String, String)>, Fault> {
    Ok(standing(project)?
        .into_iter()
        .filter_map(|run| Some((run.dir, run.status, run.task?)))
        .collect())
}

/// A run that has begun, as far as it is known without reading more than is needed.
#[derive(Debug)]
pub(crate) struct Standing {
    pub(crate) dir: RunDir,
    pub(crate) status: String,
    /// Its task, where it is over one; empty if it cannot be read any more.
    pub(crate) task: Option<String>,
}

/// All runs that have begun, of any workflow, newest first.
pub(crate) fn standing(project: &ProjectDir) -> Result<Vec<Standing>, Fault> {
    let mut all = Vec::new();
    for id in project.runs()? {
        let dir = project.run(&id)?;
        let manifest = read_json(&dir.file("manifest.json"));
        let part = |name: &str| {
            manifest
                .as_ref()
                .and_then(|manifest| manifest.get(name)?.as_str().map(str::to_owned))
        };
        // What broke down may be taken up again.
        let over = part("status")
            .filter(|status| !matches!(status.as_str(), "running" | "paused" | "error"));
        let plain = matches!(part("rails").as_deref(), Some(PLAIN | SESSION | SKILLS));
        let (status, task) = match (over, part("taskId")) {
            // A run that reached any other end is over for good.
            (Some(status), Some(task)) => (status, (!plain).then_some(task)),
            _ => match engine::load(dir.path()) {
                Ok(loaded) if loaded.head.seq > 0 => {
                    let task = is_over_a_task(&loaded.run).then(|| task_of(&loaded.run));
                    (loaded.run.status.name().to_owned(), task)
                }
                Ok(_) => continue,
                // Whose id it is tells what it was over.
                Err(_) => {
                    let of_a_task = !plain && is_named_for_a_task(dir.id());
                    ("damaged".to_owned(), of_a_task.then(String::new))
                }
            },
        };
        all.push(Standing { dir, status, task });
    }
    Ok(all)
}

/// What the manifest of a run without rails of its own says under `rails`.
pub(crate) const PLAIN: &str = "generic";

/// What it says where the run is a session.
pub(crate) const SESSION: &str = "session";

/// What it says where the run is a session of skills.
pub(crate) const SKILLS: &str = "skills";

/// Whether a run is over a task, on a branch: the `tdd` workflow, or a copy of it.
pub(crate) fn is_over_a_task(run: &RunState) -> bool {
    run.kept.contains_key(crate::tdd::memory::START)
}

/// Refuses a run that has no task: the calls on a task's run would make nothing good of it.
fn over_a_task(dir: RunDir) -> Result<Found, Fault> {
    match engine::load(dir.path()) {
        Ok(loaded) if loaded.head.seq > 0 && !is_over_a_task(&loaded.run) => Err(Fault::new(
            Kind::Usage,
            "other_workflow",
            format!(
                "{} is a run of `{}`, not of a task",
                dir.id(),
                loaded.run.workflow
            ),
        )
        .suggest("use the generic verbs for it: `tm run next`, `tm run report`, `tm run status`")
        .recover(format!("tm run next --run-id {}", dir.id()))),
        Ok(loaded) => Ok(Found {
            dir,
            loaded: Some(loaded),
        }),
        // What cannot be read is complained of by whoever reads it.
        Err(_) => Ok(Found { dir, loaded: None }),
    }
}

/// Whether a run's id says that it is over a task: of one that cannot be read that is all there is.
pub(crate) fn is_named_for_a_task(id: &str) -> bool {
    id.contains("__task-")
}

fn task_of(run: &RunState) -> String {
    run.kept
        .get(crate::tdd::memory::START)
        .and_then(|start| start.get("taskId")?.as_str())
        .unwrap_or_default()
        .to_owned()
}

pub(crate) fn read_json(path: &Path) -> Option<Value> {
    serde_json::from_slice(&journal::durable::read(path).ok()?).ok()
}
