//! The four things that a session asks for.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What is asked for, and what a response answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// The plan.
    Planning,
    /// The first code.
    Generation,
    /// A review of the code.
    Review,
    /// Code that answers a review.
    Revision,
}

impl Phase {
    /// All of them, in their order.
    pub const ALL: [Self; 4] = [
        Self::Planning,
        Self::Generation,
        Self::Review,
        Self::Revision,
    ];

    /// Its name, as in a profile and in the names of files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Planning => "planning",
            Self::Generation => "generation",
            Self::Review => "review",
            Self::Revision => "revision",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Something for each phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerPhase<T> {
    /// For the plan.
    pub planning: T,
    /// For the first code.
    pub generation: T,
    /// For a review of the code.
    pub review: T,
    /// For code that answers a review.
    pub revision: T,
}

impl<T> PerPhase<T> {
    /// That of a phase.
    pub fn get(&self, phase: Phase) -> &T {
        match phase {
            Phase::Planning => &self.planning,
            Phase::Generation => &self.generation,
            Phase::Review => &self.review,
            Phase::Revision => &self.revision,
        }
    }

    /// All of them, in the order of the phases.
    pub fn iter(&self) -> impl Iterator<Item = (Phase, &T)> {
        Phase::ALL.into_iter().map(|phase| (phase, self.get(phase)))
    }
}
