//! The rails hold: every refusal provoked from the command line, the honest case beside it, and every way out.

pub mod advice;
mod branches;
mod clean_project;
mod commits;
mod crowds;
mod damage;
pub mod environment;
mod foreign;
mod given_again;
mod hostile_git;
mod hostile_text;
mod lost_files;
mod phases;
mod policy;
mod preflight;
mod regressions;
mod rewind;
mod standing;
mod task_files;
pub mod terminal;
mod ways_out;
