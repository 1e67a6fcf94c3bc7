//! Runs of any workflow by the generic verbs: start, next, report, status, step, and the turns.
//!
//! A report on a workflow without a task brings an outcome or counts of tests. One on a workflow that works on a task's
//! branch is taken in by the calls of `tm autopilot`, and answered in the same shape.

pub mod answer;
pub(crate) mod begin;
pub(crate) mod cleanup;
pub(crate) mod context;
pub(crate) mod files;
pub(crate) mod gate;
mod inputs;
pub(crate) mod look;
pub(crate) mod messages;
pub(crate) mod on_task;
pub(crate) mod readers;
pub(crate) mod report;
pub(crate) mod templates;
pub(crate) mod view;
