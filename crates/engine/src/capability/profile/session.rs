//! What a run has whose responses a profile reads: the profile as it was at the beginning, and what came up during a call.

use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};

use journal::EvidenceStore;
use machine::RunState;
use serde_json::{Map, Value};
use workspace::profile::{Library, Profile, Source};

use crate::call::Call;
use crate::capability::profile::memory::PinnedProfile;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::generic::files;
use crate::view::session::begin::builtin_profiles;

/// What belongs to a session, beside what every run has.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) profile: OnceCell<Profile>,
    /// Hash of the profile as it was at the beginning; empty before that.
    pub(crate) pin: String,
    pub(crate) dir: PathBuf,
    /// The project.
    pub(crate) root: PathBuf,
    /// The folder of the user's own, which holds what was trusted.
    pub(crate) store: PathBuf,
    pub(crate) told: RefCell<CallNotes>,
}

/// What came up during a call, for its answer.
#[derive(Debug, Default, Clone)]
pub(crate) struct CallNotes {
    pub(crate) warnings: Vec<String>,
    pub(crate) messages: Vec<String>,
}

impl Session {
    /// That of a run that goes on; none where the run is no session.
    pub(crate) fn of(dir: &Path, run: &RunState, engine: &Engine) -> Result<Option<Self>, Fault> {
        let Some(pinned) = crate::capability::profile::memory::PROFILE.read(&run.kept)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            profile: OnceCell::new(),
            pin: pinned.pin,
            dir: dir.to_owned(),
            root: engine.root.clone(),
            store: engine.settings.store.clone(),
            told: RefCell::default(),
        }))
    }

    /// That of a run that is about to begin.
    pub(crate) fn begun(profile: Profile, engine: &Engine) -> Self {
        Self {
            profile: OnceCell::from(profile),
            pin: String::new(),
            dir: PathBuf::new(),
            root: engine.root.clone(),
            store: engine.settings.store.clone(),
            told: RefCell::default(),
        }
    }

    /// The profile, as it was when the session began.
    pub(crate) fn profile(&self) -> Result<&Profile, Fault> {
        if let Some(profile) = self.profile.get() {
            return Ok(profile);
        }
        let bytes = EvidenceStore::new(&self.dir).get(&self.pin)?;
        let mut profile = Profile::from_pin(&bytes)?;
        if let Source::Project { folder } = &mut profile.source {
            // A project may have been moved since: its profiles went with it.
            let place = self.profiles().project_folder(&profile.name);
            if let Ok(real) = std::fs::canonicalize(place) {
                *folder = real;
            }
        }
        Ok(self.profile.get_or_init(|| profile))
    }

    /// The profiles that there are now.
    pub(crate) fn profiles(&self) -> Library<'_> {
        Library {
            project: &self.root,
            user: &self.store,
            builtin: builtin_profiles(),
        }
    }

    pub(crate) fn warn(&self, warning: impl Into<String>) {
        let warning = warning.into();
        let warnings = &mut self.told.borrow_mut().warnings;
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    /// What came up so far, taken away.
    pub(crate) fn told(&self) -> CallNotes {
        self.told.take()
    }
}

/// Keeps a profile as it is now in the run's folder: what the run remembers of it.
pub(crate) fn pin(profile: &Profile, dir: &Path) -> Result<Map<String, Value>, Fault> {
    let pin = files::keep(&EvidenceStore::new(dir), &profile.pin()?)?;
    crate::capability::profile::memory::PROFILE.entry(&PinnedProfile {
        name: profile.name.clone(),
        hash: profile.hash.clone(),
        pin,
    })
}

/// What the profile of a run is told.
pub(crate) fn values<'a>(call: &Call<'_>, run: &'a RunState) -> Option<&'a Map<String, Value>> {
    let input = call
        .definition
        .bound_input(crate::capability::PROFILE, "values")?;
    run.inputs.get(input)?.as_object()
}

/// The iteration that a run is in; 0 before the first.
pub(crate) fn iteration(call: &Call<'_>, run: &RunState) -> i64 {
    call.definition.round(&run.vars).unwrap_or(0)
}

/// Where the code of an iteration lies, in the session's folder.
pub(crate) fn code_path(iteration: i64) -> String {
    format!("iteration-{iteration}/code")
}
