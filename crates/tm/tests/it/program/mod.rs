//! The program as its callers meet it: the real binary, in real repositories.

mod approvals;
mod audit;
mod collab;
pub mod collab_walk;
mod commands;
mod composed;
mod demo;
pub mod environment;
mod errors;
mod evidence;
mod feature;
mod generic;
mod generic_crash;
mod generic_runs;
mod human;
mod init;
mod interactive;
mod reading;
mod renamed;
mod run_gates;
mod session;
mod session_gates;
mod shell;
mod terminal;
mod trust;
mod whole_run;
mod workflow_graph;
