//! Honest runs, one for each ordinary way of working: none of them may be refused, and none may be warned about what it
//! did not do. Where the rules are stricter than that, the way out that they name is gone to its end.

pub mod cargo;
mod changes;
pub mod checks;
mod forms;
mod habits;
pub mod kinds;
pub mod languages;
pub mod refactoring;
mod reports;
mod suites;
mod ways;
pub mod work;
