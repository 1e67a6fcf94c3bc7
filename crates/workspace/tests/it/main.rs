//! The crate as its users see it.

mod checks;
mod config;
mod convention;
mod evidence;
mod git;
mod passkey;
mod process;
mod profile;
mod tasks;
