//! Serves a synchronous [`Server`] over the Model Context Protocol.
//!
//! Both eras of the protocol are served, on both transports: 2025-11-25 and before (a session, begun by `initialize`), and
//! 2026-07-28 (stateless, every request carries what it needs). A server knows nothing of either: it offers tools,
//! resources and prompts, and answers calls on threads of its own, so that blocking work never holds up a connection.
//!
//! | module | what it holds |
//! |---|---|
//! | [`server`] | what a server offers, and the trait it implements |
//! | [`client`] | what a call knows of who called |
//! | [`stop`] | why a call gives no answer yet: a problem, or a question to the person |
//! | [`stdio`] | serving one client over standard input and output |
//! | [`http`] | serving many over streamable HTTP |
//! | `adapter` | between a server and the protocol's SDK |
//!
//! A message comes in by [`stdio`] or [`http`]; what is none is answered there. `adapter` starts a blocking thread for a call and
//! waits beside it: for its answer, for what it tells meanwhile, for the client to take it back. A call nobody waits for any more
//! gets no turn at a lock. Where a person has to agree, a tool stops with [`Stop::Ask`]: a stateless client is told to call again
//! with the answer (what was kept travels along, sealed); one with a session is asked by the adapter, which then makes the same
//! call again.
//!
//! The SDK (`rmcp`) changes quickly, so nothing of it shows outside of this crate.

mod adapter;
pub mod client;
pub mod content;
pub mod http;
pub mod server;
pub mod stdio;
pub mod stop;
#[cfg(test)]
mod tests;

pub use adapter::folders::folder;
pub use client::{Client, MissingRoots, ProgressSender};
pub use content::{Content, Contents};
pub use server::{
    About, Argument, Completing, Hints, Prompt, PromptText, Resource, Server, Speaker, Template,
    Tool, ToolAnswer,
};
pub use stop::{Ask, Input, Problem, Stop};
