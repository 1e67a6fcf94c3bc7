//! What lies in the user's repository: its git, its tasks, its settings, its conventions, its profiles.

pub mod config;
pub mod convention;
pub mod git;
pub mod process;
pub mod profile;
pub mod runner;
pub mod tasks;
