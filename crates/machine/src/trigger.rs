//! What moves a token.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What moves a token, and so the list of edges that it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Trigger {
    /// The run begins.
    #[default]
    Start,
    /// Somebody reports.
    Report,
    /// A guard chooses.
    Route,
    /// The effects of a state are carried out.
    Do,
    /// Nothing is left of the items of an `each`.
    Done,
    /// No edge of the state's own took what was read.
    Otherwise,
    /// Somebody goes one step back.
    Reopen,
    /// Somebody gives an item up.
    Skip,
    /// A person sends back what stands before a gate.
    Reject,
    /// Somebody ends the run.
    Abort,
    /// Somebody hands over what the run made.
    Submit,
    /// What others say of it is taken in.
    Feedback,
    /// Somebody takes the run back to where it stood before.
    Rewind,
    /// Somebody takes what the run works on as it is by now.
    Adopt,
    /// An end clears up.
    Final,
}

impl Trigger {
    /// Those that `on` may name, of a state or of the whole.
    pub const EVENTS: [Self; 10] = [
        Self::Report,
        Self::Reopen,
        Self::Skip,
        Self::Reject,
        Self::Abort,
        Self::Done,
        Self::Submit,
        Self::Feedback,
        Self::Rewind,
        Self::Adopt,
    ];

    /// Those that may be sent to a run that is over, too: it is about what it made.
    pub const AFTER_THE_END: [Self; 2] = [Self::Submit, Self::Feedback];

    /// Its name in definitions and journals.
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Report => "report",
            Self::Route => "route",
            Self::Do => "do",
            Self::Done => "done",
            Self::Otherwise => "otherwise",
            Self::Reopen => "reopen",
            Self::Skip => "skip",
            Self::Reject => "reject",
            Self::Abort => "abort",
            Self::Submit => "submit",
            Self::Feedback => "feedback",
            Self::Rewind => "rewind",
            Self::Adopt => "adopt",
            Self::Final => "final",
        }
    }

    /// The one of that name that a state's `on` may name.
    pub fn of_event(name: &str) -> Option<Self> {
        Self::EVENTS.into_iter().find(|known| known.name() == name)
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
