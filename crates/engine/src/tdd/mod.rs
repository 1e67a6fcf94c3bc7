//! Work on a task's branch: what is read of tests and commits, what is done, and the calls of `tm autopilot`.

pub mod answer;
pub mod autopilot;
pub mod changes;
pub mod context;
pub mod effects;
pub mod evidence;
pub mod memory;
pub mod messages;
pub mod payload;
pub mod products;
pub mod readers;
pub mod request;
pub mod results;
pub mod view;
pub mod work_unit;

use machine::Refusal;

/// A refusal with a code, a message and a suggestion.
pub(crate) fn refusal(
    code: &str,
    message: impl Into<String>,
    suggestion: impl Into<String>,
) -> Refusal {
    Refusal::new(code).message(message).suggestion(suggestion)
}
