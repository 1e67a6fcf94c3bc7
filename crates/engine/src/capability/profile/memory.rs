//! What a session remembers of its profile, plan and code, and what it is about to do to its folder.

use machine::RunState;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::slot::Slot;

/// The profile that it began with.
pub(crate) const PROFILE: Slot<PinnedProfile> = Slot::new("profile");
/// Its plan.
pub(crate) const PLAN: Slot<StoredPlan> = Slot::new("plan");
/// The code of its iteration.
pub(crate) const CODE: Slot<StoredCode> = Slot::new("code");
/// The answers that were sent back, the oldest first.
pub(crate) const SENT_BACK: Slot<Vec<SentBack>> = Slot::new("sentBack");
/// What its profile had to say of the response that it read last.
pub(crate) const PROCESSED: Slot<Processed> = Slot::new("processed");
/// The code that its iteration began with.
pub(crate) const CARRIED: Slot<StoredCode> = Slot::new("carried");

/// A profile as it was at the beginning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PinnedProfile {
    /// Its name.
    pub(crate) name: String,
    /// Hash of its files.
    pub(crate) hash: String,
    /// The whole of it: a hash of the run's evidence.
    pub(crate) pin: String,
}

/// A plan that was stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredPlan {
    /// SHA-256 of it.
    pub(crate) sha256: String,
}

/// Code that was stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredCode {
    /// Its iteration.
    pub(crate) iteration: i64,
    /// All files of it: a hash of the run's evidence.
    pub(crate) tree: String,
    /// Hash of their names and contents.
    pub(crate) hash: String,
}

/// An answer that was sent back, by a person or for what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SentBack {
    /// The state that asks for another one.
    pub(crate) state: String,
    /// Its iteration.
    pub(crate) iteration: i64,
    /// What a person said of it: a hash of the run's evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) feedback: Option<String>,
    /// Why it could not be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// Where it stands aside, in the session's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    /// SHA-256 of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sha256: Option<String>,
}

/// What a profile had to say of a response, beside what it leads to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Processed {
    /// Why it did not go well, or does not pass.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// For who looks at the step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
    /// Of the profile's own.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// The hash of the plan as it was recorded.
pub(crate) fn plan_hash(run: &RunState) -> Option<&str> {
    PLAN.value(&run.kept)?.get("sha256")?.as_str()
}

/// What an effect is going to do.
pub(crate) mod intent {
    use serde::{Deserialize, Serialize};

    /// Stores a plan.
    #[derive(Debug, Serialize, Deserialize)]
    pub(crate) struct StorePlan {
        /// SHA-256 of it: a hash of the run's evidence.
        pub(crate) sha256: String,
        pub(crate) iteration: i64,
    }

    /// Makes the code of an iteration what a tree of the run's evidence is; or opens one, which begins with it.
    #[derive(Debug, Serialize, Deserialize)]
    pub(crate) struct StoreCode {
        pub(crate) iteration: i64,
        /// The tree; none for no code at all.
        pub(crate) tree: Option<String>,
        /// Hash of the code that may be replaced: what else is there was changed by hand.
        pub(crate) before: Option<String>,
    }

    /// Puts files of the run's folder aside.
    #[derive(Debug, Default, Serialize, Deserialize)]
    pub(crate) struct SetAside {
        /// Where each stands, and where it is to stand.
        pub(crate) moves: Vec<[String; 2]>,
        /// The state whose response is no longer taken in.
        pub(crate) state: Option<String>,
        pub(crate) iteration: i64,
        /// Why the response could not be used, where it could not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub(crate) error: Option<String>,
        /// Where its response is to stand, one of those that move.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub(crate) response: Option<String>,
    }
}
