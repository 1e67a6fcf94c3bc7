//! The program as it is used: the real binary, and what goes with it.

mod evidence;
mod examples_session;
mod golden;
mod honest;
mod hook;
mod mcp;
mod pages;
mod program;
mod projects;
mod rails;
mod session;
mod submit;
mod tidy;
mod upgrade;
mod verify;
mod walk;
