//! The one entry for every caller: loads a run, asks the machine, carries out effects, appends to the
//! journal, answers. It is synchronous, and prints nothing.
//!
//! - **Capabilities.** `capability` has one file for each: its readers, effects, policies, resources, events with fields, what
//!   templates may name of it, and what each needs. The catalog that definitions are proved against (`library`) and the engine's
//!   side of a call are made from its registry.
//! - **Memory of a run.** Readers and effects keep what they need across calls in the run's `kept` map, each thing in a slot with
//!   a type (`slot`); it is part of the events, so a replay has it too. What cannot be read there is a fault, never nothing.
//!   What an effect is going to do is a type likewise (`intent`).
//! - **Codes.** A refusal's code is named in the definition (`refuse:`), by a reader or by a fault; `codes/` says what each means and
//!   what is told with it, and `docs/codes.md` is made of that. Severities of policies come from the settings, pinned at the start; a definition says with `check:`
//!   where they count.
//! - **Fail points.** [`fail_point`] names the instants at which tests kill a debug build.
//! - **Big sets.** A set of many items costs what a small one does: it is kept as a shared base and what changed since, and
//!   `snapshots` keeps the base packed beside the snapshot, where an item is parsed only when somebody looks at it.
//! - **A journal that was checked** was not only read: `audit` holds each event against the workflow and against the run as the
//!   events before it made it. A journal that was cut, emptied or swapped is named, never taken for a run that did not begin
//!   (`integrity`).
//! - **A commit** is looked for by its parent and author date on the branch. A line in the reflog alone proves nothing: git writes
//!   it before the branch moves, so it counts only where a later line left from it.

pub mod action;
pub mod approval;
mod audit;
pub mod benches;
pub mod board;
pub mod call;
pub mod capability;
pub mod clock;
pub mod codes;
pub mod decisions;
pub mod definitions;
mod derived;
pub mod doctor;
mod earlier;
pub mod engine;
pub mod fail_point;
pub mod fault;
mod find;
pub mod follow;
pub mod formats;
pub mod gate;
pub mod generic;
pub mod graph;
pub mod hook;
pub mod integrity;
mod intent;
mod journal_end;
pub mod library;
pub mod links;
mod look;
pub mod next_step;
pub mod open_run;
mod pinning;
pub mod progress;
mod projection;
pub mod proof;
mod refusals;
mod replay;
pub mod report;
mod revision;
mod run_cache;
pub mod running_suite;
pub mod runs;
mod slot;
mod snapshots;
pub mod suite_host;
mod summary;
pub mod support;
pub mod tasks;
pub mod trees;
pub mod trust;
pub mod turn;
mod verdict;
pub mod view;
mod writer;

pub use crate::action::status::{CurrentState, Progress, Status, TaskStatus};
pub use crate::action::{Action, ActionKind, OpenUnit, Precondition};
pub use crate::approval::{Channel, NEEDS_CONFIRMATION, Statement, Turn};
pub use crate::definitions::{WorkflowChecked, WorkflowFault, WorkflowSummary, WorkflowText};
pub use crate::doctor::DoctorCheck;
pub use crate::engine::{Engine, OpenOptions};
pub use crate::fault::{Fault, Kind};
pub use crate::find::session_name;
pub use crate::follow::{Follow, FollowScope, FollowedEvent};
pub use crate::generic::begin::Started;
pub use crate::graph::{GraphFormat, WorkflowGraph};
pub use crate::next_step::{NextStep, Verb};
pub use crate::replay::Replayed;
pub use crate::run_cache::remember_runs;
pub use crate::runs::{LogRepaired, LogVerified, RunFilter, RunSummary};
pub use crate::suite_host::{SuiteCause, SuiteHost};
pub use crate::summary::Summary;
pub use crate::trust::TrustRequest;
pub use crate::verdict::Verdict;
pub use draw::{Look, STYLE as PICTURE_STYLE};
pub use journal::layout::short_name;
pub use machine::Strength;
pub use machine::command::Choice;
pub use workspace::passkey::{self, Passkey};
pub use workspace::person::{NAMESPACE as SIGNATURE_NAMESPACE, user_name};
