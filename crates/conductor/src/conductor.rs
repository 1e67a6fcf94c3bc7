//! The conductor: a project opened for one caller.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use journal::Wait;
use journal::layout::{Home, ProjectDir, RunDir};
use project::config::{Environment, Settings};
use rails::RunState;
use serde_json::Value;

use crate::clock::{Clock, SystemClock};
use crate::engine::{self, LOCK_WAIT, Loaded};
use crate::fault::{Fault, Kind};

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
#[derive(Debug)]
pub struct Conductor {
    pub(crate) root: PathBuf,
    pub(crate) cwd: PathBuf,
    pub(crate) settings: Settings,
    pub(crate) home: Home,
    pub(crate) tag: Option<String>,
    pub(crate) command: String,
    pub(crate) actor: String,
    given_up: Option<Arc<AtomicBool>>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Conductor {
    /// Finds the project and reads its settings.
    pub fn open(options: OpenOptions) -> Result<Self, Fault> {
        let root = match &options.project_root {
            Some(root) => {
                let root = options.cwd.join(root);
                std::fs::canonicalize(&root).map_err(|error| {
                    Fault::new(
                        Kind::Missing,
                        "no_project",
                        format!("{} cannot be opened: {error}", root.display()),
                    )
                    .suggest("name the folder of a project with --project-root")
                })?
            }
            None => project::config::find_root(&options.cwd, &options.environment).path,
        };
        let settings = project::config::load(&root, &BTreeMap::new(), &options.environment)?;
        if let Some(tag) = &options.tag {
            journal::layout::Name::check("tag", tag)?;
        }
        Ok(Self {
            home: Home::new(&settings.store),
            root,
            cwd: options.cwd,
            settings,
            tag: options.tag,
            command: options.command,
            actor: options.actor,
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
        let wait = Wait::at_most(LOCK_WAIT);
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

    fn stored_or_missing(&self) -> Result<ProjectDir, Fault> {
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

    /// The folder of the run that is meant: the one that is named, else the present one.
    pub(crate) fn find(&self, run: Option<&str>) -> Result<(ProjectDir, RunDir), Fault> {
        let project = self.stored_or_missing()?;
        let dir = match run {
            Some(id) => project.find_run(id)?,
            None => self.present(&project)?,
        };
        Ok((project, dir))
    }

    /// The present run: the tag's, if it goes on; else, where no tag is named, another one that
    /// does; else the tag's newest.
    fn present(&self, project: &ProjectDir) -> Result<RunDir, Fault> {
        let tag = match &self.tag {
            Some(tag) => tag.clone(),
            None => project::tasks::resolve_tag(&self.root, None)
                .unwrap_or_else(|_| project::tasks::DEFAULT_TAG.to_owned()),
        };
        let own = newest_of(project, &tag)?;
        if let Some((_, status)) = &own
            && (status == "running" || status == "paused" || self.tag.is_some())
        {
            return own.map(|(dir, _)| dir).ok_or_else(|| self.no_run());
        }
        if self.tag.is_none() {
            for (dir, status, _) in by_status(project)? {
                if status == "running" || status == "paused" {
                    return Ok(dir);
                }
            }
        }
        own.map(|(dir, _)| dir).ok_or_else(|| {
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
        let (_, dir) = self.find(run)?;
        let loaded = engine::load(dir.path())?;
        if loaded.head.seq == 0 {
            return Err(never_began(dir.id()));
        }
        Ok((dir, loaded))
    }
}

/// The newest run of a tag with its status: by the tag's pointer, or by looking through the
/// runs where the pointer is gone.
fn newest_of(project: &ProjectDir, tag: &str) -> Result<Option<(RunDir, String)>, Fault> {
    if let Some(dir) = project.find_tag(tag)?
        && let Some(pointer) = read_json(&dir.current_run_path())
        && let Some(id) = pointer.get("runId").and_then(Value::as_str)
        && let Ok(run) = project.run(id)
        && run.journal_path().exists()
    {
        let status = status_of(&run);
        if !status.is_empty() {
            return Ok(Some((run, status)));
        }
    }
    let prefix = format!("{tag}__task-");
    for id in project.runs()? {
        if !id.starts_with(&prefix) {
            continue;
        }
        let run = project.run(&id)?;
        let status = status_of(&run);
        if !status.is_empty() {
            return Ok(Some((run, status)));
        }
    }
    Ok(None)
}

/// All runs that have begun, newest first, each with status and task.
pub(crate) fn by_status(project: &ProjectDir) -> Result<Vec<(RunDir, String, String)>, Fault> {
    let mut all = Vec::new();
    for id in project.runs()? {
        let dir = project.run(&id)?;
        let manifest = read_json(&dir.file("manifest.json"));
        let part = |name: &str| {
            manifest
                .as_ref()
                .and_then(|manifest| manifest.get(name)?.as_str().map(str::to_owned))
        };
        let over = part("status").filter(|status| status != "running" && status != "paused");
        let (status, task) = match (over, part("taskId")) {
            // A run that was over once is over for good.
            (Some(status), Some(task)) => (status, task),
            _ => match engine::load(dir.path()) {
                Ok(loaded) if loaded.head.seq > 0 => {
                    (loaded.run.status.name().to_owned(), task_of(&loaded.run))
                }
                Ok(_) => continue,
                Err(_) => ("damaged".to_owned(), String::new()),
            },
        };
        all.push((dir, status, task));
    }
    Ok(all)
}

pub(crate) fn never_began(id: &str) -> Fault {
    Fault::new(
        Kind::Missing,
        "no_run",
        format!("the run {id} never began: its start was interrupted"),
    )
    .suggest("start again; the empty folder can be deleted")
}

fn task_of(run: &RunState) -> String {
    run.inputs
        .get("taskId")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

/// The status of a run by its journal; empty where it never began or cannot be read.
fn status_of(dir: &RunDir) -> String {
    match engine::load(dir.path()) {
        Ok(loaded) if loaded.head.seq > 0 => loaded.run.status.name().to_owned(),
        Ok(_) => String::new(),
        Err(_) => "damaged".to_owned(),
    }
}

pub(crate) fn read_json(path: &Path) -> Option<Value> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}
