//! What a run has whose responses a profile reads: the profile as it was at the beginning, and what came up during a call.

use std::cell::{OnceCell, RefCell};
use std::path::Path;

use journal::EvidenceStore;
use machine::RunState;
use serde_json::{Map, Value};
use workspace::config::Settings;
use workspace::profile::{Builtin, Library, Profile, Source};

use crate::call::Call;
use crate::capability::profile::memory::PinnedProfile;
use crate::fault::Fault;
use crate::generic::files;

/// What belongs to a session, beside what every run has.
#[derive(Debug, Default)]
pub(crate) struct Session {
    profile: OnceCell<Profile>,
    /// Hash of the profile as it was at the beginning; empty before that.
    pin: String,
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
    pub(crate) fn of(run: &RunState) -> Result<Option<Self>, Fault> {
        let pinned = crate::capability::profile::memory::PROFILE.read(&run.kept)?;
        Ok(pinned.map(|pinned| Self {
            pin: pinned.pin,
            ..Self::default()
        }))
    }

    /// That of a run that is about to begin.
    pub(crate) fn begun(profile: Profile) -> Self {
        Self {
            profile: OnceCell::from(profile),
            ..Self::default()
        }
    }

    /// The profile, as it was when the session began.
    pub(crate) fn profile(&self, call: &Call<'_>) -> Result<&Profile, Fault> {
        if let Some(profile) = self.profile.get() {
            return Ok(profile);
        }
        let bytes = EvidenceStore::new(&call.dir).get(&self.pin)?;
        let mut profile = Profile::from_pin(&bytes)?;
        if let Source::Project { folder } = &mut profile.source {
            // A project may have been moved since: its profiles went with it.
            let place = profiles(call.settings).project_folder(&profile.name);
            if let Ok(real) = std::fs::canonicalize(place) {
                *folder = real;
            }
        }
        Ok(self.profile.get_or_init(|| profile))
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

/// The profiles that there are now.
pub(crate) fn profiles(settings: &Settings) -> Library<'_> {
    let builtin = workflows::builtin_profiles().iter();
    Library {
        project: &settings.root,
        user: &settings.store,
        builtin: builtin
            .map(|profile| Builtin {
                name: profile.name,
                files: profile.files,
            })
            .collect(),
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
