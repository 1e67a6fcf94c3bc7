//! `tm`: rails for coding agents, at the command line.
//!
//! | module | what it holds |
//! |---|---|
//! | [`calls`] | the calls of the families, as commands and as tools: data |
//! | [`cli`] | the arguments of every other command |
//! | [`commands`] | what each command does: asks the engine, hands the answer to the output |
//! | [`render`] | an answer as a person reads it |
//! | [`output`] | the only place that prints |
//! | [`steps`] | the steps that texts name, as commands or as tools |
//! | [`askpass`] | the passphrase of a key that signs, asked for at the terminal |
//! | [`decision`] | what a person alone decides, whichever way they are asked |
//! | [`person`] | questions to the person at the terminal |
//! | [`interactive`] | a run gone through step by step with a person |
//! | [`mcp`] | the MCP server: tools, resources, prompts |
//! | [`init`] | what `tm init` does to a project, worked out before it is written |
//! | [`hook`] | the guard hook: the protocols of the clients, and their settings |
//! | [`suite_call`] | calls that go on when their caller is gone |
//! | [`demo`] | the whole story in a throw-away repository |

#![allow(
    clippy::result_large_err,
    reason = "a fault ends the process: its size is of no account"
)]

mod askpass;
mod calls;
mod cli;
mod commands;
mod decision;
mod demo;
mod hook;
mod init;
mod interactive;
mod mcp;
mod output;
mod person;
mod progress;
mod render;
mod steps;
mod suite_call;

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::main(&std::env::args_os().collect::<Vec<_>>())
}
