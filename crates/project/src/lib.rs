//! What lies in the user's repository: its git, its tasks, its settings, its conventions, its profiles, its test suite.

pub mod config;
pub mod convention;
mod digest;
pub mod git;
pub mod person;
pub mod process;
pub mod profile;
pub mod runner;
pub mod suite;
pub mod tasks;
pub mod trust;
