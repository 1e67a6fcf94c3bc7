//! The engine: a project opened for one caller.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use journal::Wait;
use journal::layout::{Home, ProjectDir};
use workspace::config::{Environment, Settings};
use workspace::process::Cancellation;

use crate::approval::Channel;
use crate::clock::{Clock, SystemClock};
use crate::fault;
use crate::fault::Fault;
use crate::open_run::LOCK_WAIT;
use crate::progress::Observer;
use crate::suite_host::SuiteHost;
use crate::view::AUTOPILOT;

/// What a caller says of itself and of the project it means.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// The caller's folder.
    pub cwd: PathBuf,
    /// The project, if it is named.
    pub project_root: Option<PathBuf>,
    /// The tag, if it is named. Else the environment may name one.
    pub tag: Option<String>,
    /// The caller's environment variables.
    pub environment: Environment,
    /// What was asked, for those who wait for a lock.
    pub command: String,
    /// Who asks, for the journal.
    pub actor: String,
    /// Set when the caller went away: a suite that runs for it is ended.
    pub cancelled: Option<Arc<AtomicBool>>,
    /// Set when what waits for its turn is to wait no more; what has begun goes on.
    pub waits_no_more: Option<Arc<AtomicBool>>,
}

/// A project opened for one caller.
#[derive(Debug, Clone)]
pub struct Engine {
    pub(crate) root: PathBuf,
    pub(crate) cwd: PathBuf,
    pub(crate) settings: Arc<Settings>,
    pub(crate) home: Home,
    pub(crate) tag: Option<String>,
    pub(crate) command: String,
    pub(crate) actor: String,
    /// By which way a person was asked for what the next call decides.
    pub(crate) asked: Option<Channel>,
    /// Whether a person is asked before anything changes.
    pub(crate) asks: bool,
    /// The work unit that was present when the next turn was decided on, where the caller says so.
    pub(crate) unit: Option<String>,
    cancelled: Option<Arc<AtomicBool>>,
    waits_no_more: Option<Arc<AtomicBool>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) observer: Option<Observer>,
    pub(crate) suite_host: Option<Arc<dyn SuiteHost>>,
    /// How long a long journal is read for one who asks; to its end, where it is none.
    pub(crate) patience: Option<Duration>,
}

impl Engine {
    /// Finds the project and reads its settings.
    pub fn open(options: OpenOptions) -> Result<Self, Fault> {
        let root = match &options.project_root {
            Some(root) => {
                let root = options.cwd.join(root);
                let none = |why: &dyn std::fmt::Display| {
                    fault!("not_found.project", project = root.display(), why)
                };
                let real = std::fs::canonicalize(&root).map_err(|error| none(&error))?;
                if !real.is_dir() {
                    return Err(none(&"it is no folder"));
                }
                real
            }
            None => workspace::config::find_root(&options.cwd, &options.environment).path,
        };
        let settings = workspace::config::load(&root, &BTreeMap::new(), &options.environment)?;
        let tag = options
            .tag
            .or_else(|| options.environment.tag().map(str::to_owned));
        if let Some(tag) = &tag {
            journal::layout::Name::check("tag", tag)?;
        }
        apart(&root, &settings.store)?;
        Ok(Self {
            home: Home::new(&settings.store),
            root,
            cwd: options.cwd,
            settings,
            tag,
            command: options.command,
            actor: options.actor,
            asked: None,
            asks: false,
            unit: None,
            cancelled: options.cancelled,
            waits_no_more: options.waits_no_more,
            clock: Arc::new(SystemClock),
            observer: None,
            suite_host: None,
            patience: None,
        })
    }

    /// The same project with another clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// The same project for one who wants an answer at once: what takes longer to read than `patience` is refused with the code
    /// `reading` and how far it is, and read on meanwhile.
    #[must_use]
    pub fn patient_for(mut self, patience: Duration) -> Self {
        self.patience = Some(patience);
        self
    }

    /// How long a call waits for its turn.
    pub(crate) fn wait(&self) -> Wait {
        self.wait_at_most(LOCK_WAIT)
    }

    /// The same, where others may take longer with theirs.
    pub(crate) fn wait_at_most(&self, at_most: Duration) -> Wait {
        let wait = Wait::at_most(at_most);
        let wait = match &self.waits_no_more {
            Some(flag) => wait.no_longer(Arc::clone(flag)),
            None => wait,
        };
        match &self.cancelled {
            Some(flag) => wait.unless(Arc::clone(flag)),
            None => wait,
        }
    }

    /// Whether the caller still waits for what is under way.
    pub(crate) fn cancellation(&self) -> Cancellation {
        let flag = self.cancelled.clone();
        flag.map_or_else(Cancellation::default, Cancellation::by)
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
        self.stored()?.ok_or_else(|| self.none_of(&AUTOPILOT))
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
        return Err(fault!(
            "config_invalid.project_in_store",
            project = root.display(),
            store = store.display()
        ));
    }
    if !store.starts_with(root) {
        return Ok(());
    }
    // Where there is no git, nothing can come with a commit.
    let Ok(repository) = workspace::git::Repository::discover(root) else {
        return Ok(());
    };
    if repository.is_private(&store)? {
        return Ok(());
    }
    Err(fault!(
        "config_invalid.store_in_project",
        store = store.display()
    ))
}
