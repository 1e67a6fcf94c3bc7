//! What tests are made of, those of the binary above all.
//!
//! | module | what it holds |
//! |---|---|
//! | [`sandbox`] | a home, a project and the binary, with nothing else in its environment |
//! | [`outcome`] | what a process left behind: status, output, the JSON in it |
//! | [`write_draft`] | what somebody writes in a session of skills |
//! | [`files`] | every file below a folder as it is, to be compared with what it is later |
//! | [`forge`] | a forge in a folder, and a bare repository to push to |
//! | [`folder`] | where tests put what they need |
//! | [`Sandbox::at`] | a sandbox at a point of a story that is come to once |
//! | [`chance`] | which cases of a long table are tried each time |
//! | [`kill`] | processes that are killed, and all made as it was before |
//! | [`person`] | a person at a terminal of their own |
//! | [`mcp`] | a client of the MCP server, line by line |
//!
//! Whatever goes wrong in here is a failed test, so everything panics.

#![allow(clippy::missing_panics_doc, reason = "a panic is how a test fails")]
#![allow(clippy::must_use_candidate, reason = "a test takes what it needs")]

pub mod chance;
pub mod documentation;
mod drafts;
pub mod files;
mod folder;
pub mod forge;
mod kept;
pub mod kill;
pub mod mcp;
pub mod outcome;
pub mod person;
pub mod sandbox;
mod template;

pub use drafts::write_draft;
pub use files::Everything;
pub use folder::folder;
pub use forge::{Forge, ForgeCall};
pub use mcp::Server;
pub use outcome::Outcome;
pub use person::Person;
pub use sandbox::Sandbox;
