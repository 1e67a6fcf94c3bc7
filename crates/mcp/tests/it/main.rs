//! The HTTP server as its clients see it: byte by byte, without a client's library in between.

#[path = "../../src/tests/actor.rs"]
mod actor;
mod admission;
mod limits;
mod protocol;
mod served;
mod stopping;
mod wire;

use mcp::{
    About, Ask, Client, Completing, Contents, Hints, Input, Problem, Prompt, PromptText, Resource,
    Server, Stop, Template, Tool, ToolAnswer,
};
