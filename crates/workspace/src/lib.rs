//! What lies in the user's repository: its git, its tasks, its settings, its conventions, its profiles, its test suite.
//!
//! A git that changes something is told to flush objects, references and index (unless `git.fsync` is off) before an answer is
//! given; a look at the tree writes no index. The locks that a dead git left are taken away only where no git works here.
//! Which change of a setting weakens the rails is said with each key (`config/keys.rs`). [`person`] runs `ssh-keygen`, and gives it
//! the text where nobody can change it.

pub mod checks;
pub mod config;
pub mod convention;
pub mod forge;
pub mod git;
pub mod passkey;
pub mod person;
pub mod process;
pub mod profile;
pub mod runner;
pub mod shell;
pub mod suite;
pub mod tasks;
pub mod template;
pub mod trust;
