//! What lies in the user's repository: its git, its tasks, its settings, its conventions.

pub mod config;
pub mod convention;
pub mod git;
pub mod runner;
pub mod tasks;
