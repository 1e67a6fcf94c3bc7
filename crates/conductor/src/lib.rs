//! The one entry for every caller: loads a run, asks rails, carries out effects, appends to the
//! journal, answers. It is synchronous, and prints nothing.

pub mod approval;
mod audit;
pub mod call;
mod capability;
pub mod clock;
pub mod collab;
pub mod conductor;
pub mod decisions;
pub mod definitions;
mod derived;
pub mod doctor;
pub mod engine;
pub mod fail_point;
pub mod fault;
mod find;
pub mod generic;
pub mod graph;
pub mod hook;
pub mod integrity;
mod intent;
mod journal_end;
pub mod library;
pub mod links;
pub mod mark;
pub mod next_step;
mod pinning;
pub mod proof;
mod refusals;
mod remembered;
pub mod report;
pub mod review;
pub mod runs;
mod slot;
mod snapshots;
mod summary;
pub mod support;
pub mod tdd;
pub mod trust;
mod turn;
mod view;
mod writer;

pub use approval::{Asked, Statement, Turn};
pub use conductor::{Conductor, OpenOptions};
pub use definitions::{WorkflowChecked, WorkflowFault, WorkflowSummary, WorkflowText};
pub use doctor::DoctorCheck;
pub use fault::{Fault, Kind};
pub use generic::answer::{
    OpenUnit, RunAction, RunMoved, RunRestored, RunStarted, RunStatusAnswer, RunVerdict, StandingAt,
};
pub use graph::{GraphFormat, WorkflowGraph};
pub use next_step::{NextStep, Verb};
pub use rails::Strength;
pub use rails::command::Choice;
pub use remembered::remember_runs;
pub use runs::{Follow, LogRepaired, LogVerified, RunFilter, RunSummary};
pub use summary::Summary;
pub use trust::TrustRequest;
