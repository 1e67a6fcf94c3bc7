//! The conventions of a project: how its branches, commits, tests and packages are named,
//! and how text from outside is made safe to put among them.
//!
//! Everything here is a function of what it is given; only [`scope`] and the reading of manifests look at
//! files, and they look at nothing but manifests below the project root.

pub mod branch;
pub mod criteria;
mod globs;
pub mod hints;
mod manifest;
pub mod message;
pub mod paths;
pub mod placeholder;
pub mod runner_config;
pub mod scope;
pub mod test_place;
mod title;

pub(crate) use manifest::{has_file, read_manifest};
