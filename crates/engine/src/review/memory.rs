//! What a session remembers of its profile, plan and code, and what it is about to do to its folder.

use machine::RunState;
use serde::{Deserialize, Serialize};

use crate::slot::Slot;

/// The profile that it began with.
pub(super) const PROFILE: Slot<PinnedProfile> = Slot::new("profile");
/// Its plan.
pub(super) const PLAN: Slot<StoredPlan> = Slot::new("plan");
/// The code of its iteration.
pub(super) const CODE: Slot<StoredCode> = Slot::new("code");
/// The code that its iteration began with.
pub(super) const CARRIED: Slot<StoredCode> = Slot::new("carried");

/// A profile as it was at the beginning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PinnedProfile {
    /// Its name.
    pub(super) name: String,
    /// Hash of its files.
    pub(super) hash: String,
    /// The whole of it: a hash of the run's evidence.
    pub(super) pin: String,
}

/// A plan that was stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredPlan {
    /// SHA-256 of it.
    pub(super) sha256: String,
}

/// Code that was stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredCode {
    /// Its iteration.
    pub(super) iteration: i64,
    /// All files of it: a hash of the run's evidence.
    pub(super) tree: String,
    /// Hash of their names and contents.
    pub(super) hash: String,
}

/// The hash of the plan as it was recorded.
pub(crate) fn plan_hash(run: &RunState) -> Option<&str> {
    PLAN.value(&run.kept)?.get("sha256")?.as_str()
}

/// What an effect is going to do.
pub(super) mod intent {
    use serde::{Deserialize, Serialize};

    /// Stores a plan.
    #[derive(Debug, Serialize, Deserialize)]
    pub(in super::super) struct StorePlan {
        /// SHA-256 of it: a hash of the run's evidence.
        pub(in super::super) sha256: String,
        pub(in super::super) iteration: i64,
    }

    /// Makes the code of an iteration what a tree of the run's evidence is.
    #[derive(Debug, Serialize, Deserialize)]
    pub(in super::super) struct StoreCode {
        pub(in super::super) iteration: i64,
        /// The tree; none for no code at all.
        pub(in super::super) tree: Option<String>,
        /// Hash of the code that may be replaced: what else is there was changed by hand.
        pub(in super::super) before: Option<String>,
    }

    /// Opens an iteration.
    #[derive(Debug, Serialize, Deserialize)]
    pub(in super::super) struct OpenIteration {
        pub(in super::super) iteration: i64,
        /// The tree that it begins with; none for no code.
        pub(in super::super) tree: Option<String>,
    }

    /// Puts files of the run's folder aside.
    #[derive(Debug, Serialize, Deserialize)]
    pub(in super::super) struct PutAside {
        /// Where each stands, and where it is to stand.
        pub(in super::super) moves: Vec<[String; 2]>,
        /// The state whose response is no longer taken in.
        pub(in super::super) state: Option<String>,
        pub(in super::super) iteration: i64,
    }
}
