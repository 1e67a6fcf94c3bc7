//! Which unit a report means. A used unit gets the answer that was recorded for it; any other than
//! the present one is stale.

use crate::command::Report;
use crate::state::{RunState, RunStatus};

/// The unit that a report means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnitMatch {
    /// The present one of that token.
    Present {
        /// The token.
        token: u32,
        /// Id of the unit.
        unit: String,
    },
    /// One that was answered before, or dropped.
    Used {
        /// Id of the unit.
        unit: String,
    },
    /// None of this run's present ones.
    Stale,
    /// The run takes no reports now.
    Paused,
    /// The run is over.
    Over,
}

/// Finds the unit that `report` means.
pub fn match_unit(run: &RunState, report: &Report) -> UnitMatch {
    let gate = |found: UnitMatch| match run.status {
        RunStatus::Running => found,
        RunStatus::Paused => UnitMatch::Paused,
        _ => UnitMatch::Over,
    };
    if let Some(named) = &report.unit {
        let present = run.waiting().find(|(_, unit)| unit.id == *named);
        return match present {
            Some((token, unit)) => gate(UnitMatch::Present {
                token: token.id,
                unit: unit.id.clone(),
            }),
            None if run.was_issued(named) => UnitMatch::Used {
                unit: named.clone(),
            },
            None => gate(UnitMatch::Stale),
        };
    }
    let fits = |wanted: &Option<String>, is: Option<&str>| {
        wanted.as_deref().is_none_or(|wanted| is == Some(wanted))
    };
    let place = |state: &str, name: Option<&str>, phase: Option<&str>| {
        fits(&report.state, Some(state))
            || [name, phase]
                .iter()
                .any(|known| known.is_some() && fits(&report.state, *known))
    };
    if run.status == RunStatus::Running
        && let Some((token, unit)) = run.waiting().find(|(token, unit)| {
            place(
                &token.state,
                unit.name.as_deref(),
                token.role.phase.as_deref(),
            ) && fits(&report.item, token.key())
        })
    {
        return UnitMatch::Present {
            token: token.id,
            unit: unit.id.clone(),
        };
    }
    match &run.last {
        // The very same report again: what it names, and what it says.
        Some(last)
            if last.digest == report.digest
                && place(
                    &last.state,
                    last.name.as_deref(),
                    last.role.phase.as_deref(),
                )
                && fits(&report.item, last.item.as_deref()) =>
        {
            UnitMatch::Used {
                unit: last.unit.clone(),
            }
        }
        _ => gate(UnitMatch::Stale),
    }
}
