//! Sessions of skills through the public calls, on real folders, with a real journal.

mod back;
mod brief;
mod evidence;
mod execution;
mod graph_files;
mod graphs;
mod items;
mod names;
mod own;
mod recovery;
mod repeats;
mod resync;
mod stage;
mod stopped;
mod walk;
mod wrong;
