//! The `review` rails: sessions that plan, generate, review and revise, through files.
//!
//! A session is a run whose definition has its responses read by a profile. What only a session has is here: the profile, the
//! code of an iteration, the effects on its folder, and the calls of `tm session`.
//!
//! # One step
//!
//! 1. `step` looks first, without any lock ([`foresee`](crate::open_run::foresee)): with no response there, or a closed gate, that
//!    is the answer, and not a byte was touched, nor any time.
//! 2. Else it takes the lock of those who step. The machine says that it needs the reader `response`: `reading` takes the file
//!    in, keeps its bytes as evidence, and has it read as the profile says: by the crate `response`, or by a command of the
//!    profile's in a copy of its folder that a person trusted. The run itself is not locked meanwhile: whoever waits for a slow
//!    command may still cancel.
//! 3. What came of it is kept as evidence, too: the whole folder of code as it is going to be, carried forward files included.
//! 4. The run is opened. If it is not where it was seen, all of that counts for nothing, and it looks again.
//! 5. The machine walks the edges of the state and intends an effect, such as `code.store`. The intent is appended, `effects`
//!    writes the folder from the evidence, by hashes in the intent, and its result is appended with the transition. Whoever
//!    finds one unfinished does it again, and nothing comes out otherwise.
//!
//! A response counts as it was when it was taken in. Plan and code are used only while they have their hash. A bundle is
//! written as a whole or not at all, into the run's folder and nowhere else.
//!
//! # One gate
//!
//! A gate opens for one hash: that of what stands before it, asked for anew at each step (`subject`); and for an approval that is
//! strong enough. What a caller vouches for ([`approval`](crate::approval): a client that asked, a terminal, a signature) becomes
//! one there, and the text that is signed is made there, too: by whoever signs, whoever takes it in, and whoever checks the
//! journal years later.

mod about;
pub mod answer;
mod begin;
mod code;
mod decide;
pub(crate) mod effects;
mod history;
mod memory;
mod outside;
mod processing;
mod profiles;
mod prompt;
mod reading;
pub mod request;
mod respond;
mod step;
pub(crate) mod subject;
mod turn;

pub(crate) use step::{STEPS_LOCK, refused};
pub(crate) use turn::{MOST_ITERATIONS, is_at_cap};

use memory::PinnedProfile;

use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};

use journal::EvidenceStore;
use machine::RunState;
use serde_json::{Map, Value};
use workspace::profile::{Profile, Source};

use crate::call::Call;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::generic::files;

/// What belongs to a session, beside what every run has.
#[derive(Debug)]
pub(crate) struct Session {
    profile: OnceCell<Profile>,
    /// Hash of the profile as it was at the beginning; empty before that.
    pin: String,
    dir: PathBuf,
    /// The project.
    root: PathBuf,
    /// The folder of the user's own, which holds what was trusted.
    store: PathBuf,
    told: RefCell<Told>,
}

/// What came up during a call, for its answer.
#[derive(Debug, Default, Clone)]
pub(crate) struct Told {
    pub(crate) warnings: Vec<String>,
    pub(crate) messages: Vec<String>,
}

impl Session {
    /// That of a run that goes on; none where the run is no session.
    pub(crate) fn of(dir: &Path, run: &RunState, engine: &Engine) -> Result<Option<Self>, Fault> {
        let Some(pinned) = memory::PROFILE.read(&run.kept)? else {
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
    fn profile(&self) -> Result<&Profile, Fault> {
        if let Some(profile) = self.profile.get() {
            return Ok(profile);
        }
        let bytes = EvidenceStore::new(&self.dir).get(&self.pin)?;
        let mut profile = Profile::from_pin(&bytes)?;
        if let Source::Project { folder } = &mut profile.source {
            // A project may have been moved since: its profiles went with it.
            let place = self.root.join(".taskmaster/profiles").join(&profile.name);
            if let Ok(real) = std::fs::canonicalize(place) {
                *folder = real;
            }
        }
        Ok(self.profile.get_or_init(|| profile))
    }

    fn warn(&self, warning: impl Into<String>) {
        let warning = warning.into();
        let warnings = &mut self.told.borrow_mut().warnings;
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    /// What came up so far, taken away.
    fn told(&self) -> Told {
        self.told.take()
    }
}

/// Keeps a profile as it is now in the run's folder: what the run remembers of it.
pub(crate) fn pin(profile: &Profile, dir: &Path) -> Result<Map<String, Value>, Fault> {
    let pin = files::keep(&EvidenceStore::new(dir), &profile.pin()?)?;
    memory::PROFILE.entry(&PinnedProfile {
        name: profile.name.clone(),
        hash: profile.hash.clone(),
        pin,
    })
}

/// What the profile of a run is told.
fn values<'a>(call: &Call<'_>, run: &'a RunState) -> Option<&'a Map<String, Value>> {
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
