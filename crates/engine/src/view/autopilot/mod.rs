//! Runs over a task: how they begin, what the executor of a unit is given, and the work-unit form.

pub(crate) mod begin;
pub(crate) mod instructions;
pub(crate) mod kinds;
pub mod request;
pub mod work_unit;

pub use crate::view::autopilot::begin::{PlannedSubtask, StartPlan};
