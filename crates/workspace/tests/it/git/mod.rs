//! The repository module against the real `git` program, in throw-away repositories with settings of their own.

mod branches;
mod committing;
mod finding;
mod fingerprints;
pub mod fixture;
mod listing;
mod recovering;
mod rewinding;
mod statuses;
mod worktrees;
