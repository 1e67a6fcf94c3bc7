//! One call on a run: the project, the run's folder and definition, what the call brought along, and the resources of the
//! run that its capabilities work with.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use journal::layout::{Home, RunDir};
use machine::{Definition, Reading, Role, RunState};
use serde::Deserialize as _;
use serde_json::{Map, Value};
use workspace::config::{Config, Settings};
use workspace::git::{Repository, TreeStatus};

use crate::capability::checks::CheckEvidence;
use crate::capability::documents::skills::Skills;
use crate::capability::profile::session::Session;
use crate::capability::tests::evidence::TestEvidence;
use crate::capability::{DOCUMENTS, TASKS};
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::generic::readers::ReportInput;
use crate::open_run;
use crate::support::{HandlerError, Support as _};

/// What a call brought along for the readers.
#[derive(Debug, Clone)]
pub enum Input {
    /// Nothing.
    None,
    /// An outcome, or counts of tests that nothing stands behind.
    Report(ReportInput),
    /// Test results.
    Tests {
        /// The results, and what they rest on.
        taken: Box<TestEvidence>,
        /// Files that are said to have been changed.
        files: Vec<String>,
        /// What the executor said beside its numbers, kept with them.
        said: Map<String, Value>,
    },
    /// A commit.
    Commit {
        /// The subject, or of several lines the whole message, if given.
        message: Option<String>,
        /// Files that are named.
        files: Vec<String>,
        /// A commit that was made already.
        sha: Option<String>,
        /// What checks found in what is to be committed, where they are asked for.
        checks: Option<Box<CheckEvidence>>,
    },
}

impl Input {
    /// The outcome and the counts that it brought; empty where it brought anything else.
    pub(crate) fn report(&self) -> Cow<'_, ReportInput> {
        match self {
            Self::Report(report) => Cow::Borrowed(report),
            _ => Cow::Owned(ReportInput::default()),
        }
    }
}

/// One call on a run.
#[derive(Debug)]
pub struct Call<'a> {
    /// The project.
    pub root: &'a Path,
    /// Where runs are kept.
    pub home: &'a Home,
    /// The settings as they are now.
    pub settings: &'a Settings,
    /// The settings that the run is pinned to.
    pub pinned: Arc<Config>,
    /// The run's folder.
    pub dir: PathBuf,
    /// The definition that the run is pinned to.
    pub definition: Arc<Definition>,
    /// What the call brought along.
    pub input: Input,
    /// The time of the call, in milliseconds since 1970.
    pub now: i64,
    /// Whether a person is asked before anything changes.
    pub(crate) asks: bool,
    /// What belongs to a session, where the run is one.
    pub(crate) session: Option<Session>,
    /// What belongs to a session of skills, where the run is one.
    pub(crate) skills: Option<Skills>,
    /// The working tree, as it was when it was last looked at.
    tree: RefCell<Option<Rc<TreeStatus>>>,
    /// Whether something was done to it since.
    tree_changed: Cell<bool>,
    /// What was read before the run was opened, since it may take long.
    ahead: RefCell<Option<ReadAhead>>,
}

/// What a reader said while the run was not locked: for this role, of this token.
#[derive(Debug, Clone)]
pub(crate) struct ReadAhead {
    role: Role,
    token: u32,
    pub(crate) reading: Reading,
}

impl Call<'_> {
    /// The working tree as this call sees it: it is looked at once, until something is done to it.
    pub(crate) fn tree(&self, repository: &Repository) -> Result<Rc<TreeStatus>, Fault> {
        if let Some(status) = self.last_look().filter(|_| !self.tree_changed.get()) {
            return Ok(status);
        }
        let status = Rc::new(repository.status()?);
        self.looked_at(Rc::clone(&status));
        Ok(status)
    }

    /// The working tree, as it was looked at just now.
    pub(crate) fn looked_at(&self, status: Rc<TreeStatus>) {
        self.tree.replace(Some(status));
        self.tree_changed.set(false);
    }

    /// The working tree as it was when this call last looked at it, whatever was done to it since; none where it did not.
    pub(crate) fn last_look(&self) -> Option<Rc<TreeStatus>> {
        self.tree.borrow().clone()
    }

    /// Reads what may take long, before the run is locked: whoever waits for it may still call the run off.
    pub(crate) fn reads_ahead(
        &self,
        role: Role,
        token: u32,
        run: &RunState,
    ) -> Result<(), HandlerError> {
        let reading = self.read(&role, run, token)?;
        self.was_read(Some(ReadAhead {
            role,
            token,
            reading,
        }));
        Ok(())
    }

    /// Has the next reading of that role and token be this one.
    pub(crate) fn was_read(&self, ahead: Option<ReadAhead>) {
        self.ahead.replace(ahead);
    }

    /// What was read before, and not asked for yet.
    pub(crate) fn read_ahead(&self) -> Option<ReadAhead> {
        self.ahead.borrow().clone()
    }

    /// The same for this role and token. It counts once.
    pub(crate) fn take_ahead(&self, role: &Role, token: u32) -> Option<Reading> {
        let ahead = self.ahead.take()?;
        (ahead.role == *role && ahead.token == token).then_some(ahead.reading)
    }

    /// Something was, or is going to be, done to the working tree.
    pub(crate) fn tree_changes(&self) {
        self.tree_changed.set(true);
    }
}

/// What is kept of what the executor of a unit is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// The text itself: it stands in a file, a profile wrote it, or there is nothing beside it.
    Text,
    /// A frame of skills.
    Frame,
    /// The context of a unit over a task.
    Context,
}

impl Form {
    /// That of the units of a state.
    pub(crate) fn of(definition: &Definition, state: &str) -> Self {
        let work = definition
            .state(state)
            .and_then(|state| state.work.as_ref());
        let is_text = work.is_some_and(|work| work.prompt.is_some() || work.ask.is_some());
        match Self::of_templates(definition) {
            _ if is_text => Self::Text,
            form => form,
        }
    }

    /// That of the units of a workflow whose text is rendered from a template and kept with what else they are told.
    pub(crate) fn of_templates(definition: &Definition) -> Self {
        if definition.works_with(TASKS) {
            Self::Context
        } else if definition.works_with(DOCUMENTS) {
            Self::Frame
        } else {
            Self::Text
        }
    }
}

impl Engine {
    /// A call on a run, without the right to write.
    pub(crate) fn call(
        &self,
        dir: &RunDir,
        run: &RunState,
        input: Input,
    ) -> Result<Call<'_>, Fault> {
        let definition = open_run::pinned(dir.path(), run)?;
        Ok(Call {
            session: Session::of(run)?,
            skills: Skills::of(run)?,
            ..self.call_pinned_to(pinned(run)?, dir.path(), definition, input)
        })
    }

    /// The call that begins a run: it is pinned to the settings as they are.
    pub(crate) fn first_call(&self, dir: &Path, definition: Arc<Definition>) -> Call<'_> {
        let settings = Arc::new(self.settings.config.clone());
        self.call_pinned_to(settings, dir, definition, Input::None)
    }

    fn call_pinned_to(
        &self,
        pinned: Arc<Config>,
        dir: &Path,
        definition: Arc<Definition>,
        input: Input,
    ) -> Call<'_> {
        Call {
            root: &self.root,
            home: &self.home,
            settings: &self.settings,
            pinned,
            dir: dir.to_owned(),
            definition,
            input,
            now: self.clock.millis(),
            asks: self.asks,
            session: None,
            skills: None,
            tree: RefCell::default(),
            tree_changed: Cell::default(),
            ahead: RefCell::default(),
        }
    }
}

/// The settings that a run is pinned to.
pub(crate) fn pinned(run: &RunState) -> Result<Arc<Config>, Fault> {
    /// The last ones that were read, by their hash.
    static LAST: Mutex<Option<(String, Arc<Config>)>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((hash, config)) = &*last
        && *hash == run.policy_hash
    {
        return Ok(Arc::clone(config));
    }
    let config = Arc::new(
        Config::deserialize(&*run.settings)
            .map_err(|error| fault!("journal_damaged.settings_damaged", error))?,
    );
    *last = Some((run.policy_hash.clone(), Arc::clone(&config)));
    Ok(config)
}
