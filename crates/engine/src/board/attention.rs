//! What a person should look at of a run: it waits for them, or it does not come on.

use serde::Serialize;

use crate::action::ActionKind;
use crate::action::status::Status;
use crate::clock::{millis_of, spoken};
use crate::refusals::Refused;
use crate::runs::RunSummary;

/// So many refusals of one work unit in a row are more than a slip.
const STUCK_AFTER: usize = 3;
/// So long without any event is more than thinking, in milliseconds.
const SILENT_AFTER: u64 = 30 * 60 * 1000;

/// Why a person should look at a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AttentionKind {
    /// A gate is closed: somebody approves or rejects.
    Gate,
    /// It is paused, and only a person has it go on.
    Person,
    /// A work unit is a person's.
    Work,
    /// What was recorded was changed or is gone.
    Restore,
    /// It is paused, and anybody has it go on.
    Paused,
    /// The same work was refused again and again.
    Stuck,
    /// Nothing has come of it for long.
    Silent,
    /// It cannot be read, or was never begun.
    Damaged,
    /// It ended otherwise than it should.
    Failed,
}

impl AttentionKind {
    /// It in a word, or two.
    pub fn word(self) -> &'static str {
        match self {
            Self::Gate => "Decide",
            Self::Person => "Needs you",
            Self::Work => "Your turn",
            Self::Restore => "Put back",
            Self::Paused => "Paused",
            Self::Stuck => "Stuck",
            Self::Silent => "Silent",
            Self::Damaged => "Damaged",
            Self::Failed => "Failed",
        }
    }

    /// Whether nothing goes on until a person does something.
    pub fn is_for_a_person(self) -> bool {
        matches!(self, Self::Gate | Self::Person | Self::Work | Self::Restore)
    }
}

/// What a person should look at, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attention {
    /// What kind of thing it is.
    pub kind: AttentionKind,
    /// In a sentence.
    pub text: String,
}

impl Attention {
    pub(super) fn new(kind: AttentionKind, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
        }
    }

    /// Of a run that goes on, at the time `now` in milliseconds since 1970. `refused` is what was refused of what is asked for, and
    /// `last` what was found in the last report, if that was not accepted.
    pub(super) fn of_live(
        status: &Status,
        refused: &[Refused],
        last: Option<&str>,
        now: i64,
    ) -> Option<Self> {
        let next = &status.next_action;
        if let Some(gate) = &next.gate {
            return Some(Self::new(
                AttentionKind::Gate,
                format!(
                    "Look at the `{}`, and approve {}",
                    gate.gate,
                    if gate.can_reject {
                        "or reject it"
                    } else {
                        "it"
                    }
                ),
            ));
        }
        let why = || {
            // A reason of the workflow is a word, and its message says what it means.
            let reason = next.paused_reason.as_deref().unwrap_or("no reason given");
            let why = next.paused_message.as_deref().unwrap_or(reason);
            match last.filter(|last| !why.contains(last)) {
                Some(last) => format!("{why}; {last}"),
                None => why.to_owned(),
            }
        };
        match next.action {
            ActionKind::Paused if next.needs_person => {
                return Some(Self::new(
                    AttentionKind::Person,
                    format!("Have it go on, or done again: {}", why()),
                ));
            }
            ActionKind::Paused => {
                return Some(Self::new(AttentionKind::Paused, why()));
            }
            ActionKind::Restore => {
                return Some(Self::new(
                    AttentionKind::Restore,
                    "What was recorded was changed or is gone: it is to be put back first",
                ));
            }
            _ => {}
        }
        if let Some(unit) = &next.unit
            && unit.by == "person"
        {
            let label = unit.label.as_ref().unwrap_or(&unit.state);
            return Some(Self::new(AttentionKind::Work, label.clone()));
        }
        if refused.len() >= STUCK_AFTER
            && let Some(last) = refused.last()
        {
            return Some(Self::new(
                AttentionKind::Stuck,
                format!(
                    "Refused {} times in a row, at last: {} ({})",
                    refused.len(),
                    last.message,
                    last.code
                ),
            ));
        }
        let moved = refused.last().map_or(&status.last_updated, |last| &last.ts);
        let still = millis_of(moved).map(|moved| now.saturating_sub(moved));
        let still = u64::try_from(still?).ok()?;
        (still > SILENT_AFTER).then(|| {
            Self::new(
                AttentionKind::Silent,
                format!("Nothing was reported for {}", spoken(still)),
            )
        })
    }

    /// Of a run that is over.
    pub(super) fn of_end(run: &RunSummary) -> Option<Self> {
        matches!(run.status.as_str(), "failed" | "error").then(|| {
            Self::new(
                AttentionKind::Failed,
                "It ended without having done what it was for",
            )
        })
    }

    /// Of a run that is listed with a problem.
    pub(super) fn of_problem(run: &RunSummary) -> Self {
        Self::new(
            AttentionKind::Damaged,
            run.problem.clone().unwrap_or_default(),
        )
    }
}
