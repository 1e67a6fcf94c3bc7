//! The MCP server on a pipe, byte for byte: what it says to whom, and what it makes of what it should never be told.

mod approvals;
mod breaking;
mod collab;
mod drawings;
mod eras;
mod evidence;
mod folders;
mod listing;
mod noise;
mod remembered;
mod runs;
mod same_as_cli;
mod served;
mod session;
pub mod stage;
mod waiting;
