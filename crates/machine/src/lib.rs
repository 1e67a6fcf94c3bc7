//! The pure machine under every run: definitions, guards, `decide` and `apply`.
//!
//! Nothing here touches the world. What a decision needs to know arrives as [`Facts`]; what it
//! decides leaves as [`Event`]s, and folding those events with [`RunState::apply`] gives the same
//! state on any machine, any day.

pub mod approval;
pub mod check;
pub mod command;
pub mod decide;
pub mod definition;
pub mod diagnostic;
pub mod event;
pub mod guard;
pub mod item_set;
pub mod items;
pub mod refusal;
pub mod role;
pub mod scope;
pub mod shared;
pub mod state;
pub mod trigger;

mod apply;
mod frozen;
pub mod overlap;
mod rewind;
mod set_facts;

pub use approval::{Approval, GateMode, Signature, Strength};
pub use check::catalog::Catalog;
pub use command::{Command, Facts, Finding, Prepared, Reading, Report, Severity};
pub use decide::{Decision, Need, UnitMatch, decide, match_unit};
pub use definition::Definition;
pub use diagnostic::{Diagnostic, Place};
pub use event::Event;
pub use refusal::Refusal;
pub use role::Role;
pub use shared::Shared;
pub use state::{RunState, RunStatus};
