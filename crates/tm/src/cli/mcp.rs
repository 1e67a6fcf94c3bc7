//! `tm mcp` and `tm serve`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::calls::group;
use crate::mcp::Group;

/// `tm mcp`.
#[derive(Debug, Args)]
pub struct Mcp {
    /// The groups of tools to offer, by commas; all of them if left out
    #[arg(long, value_name = "GROUP", value_delimiter = ',', value_parser = group)]
    pub tools: Vec<Group>,
    /// The project that is meant where a call names none; the client's own folder if left out
    #[arg(long, value_name = "DIR")]
    pub project_root: Option<PathBuf>,
}

/// `tm serve`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Serve {
    /// What to do instead of serving.
    #[command(subcommand)]
    pub command: Option<ServeCommand>,
    /// A folder whose projects are served, more than once for several; the current one if left out
    #[arg(long = "root", value_name = "DIR")]
    pub roots: Vec<PathBuf>,
    /// Where to listen; port 0 takes any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7370")]
    pub listen: String,
    /// The groups of tools to offer, by commas; all of them if left out
    #[arg(long, value_name = "GROUP", value_delimiter = ',', value_parser = group)]
    pub tools: Vec<Group>,
    /// The file with the token that clients must show; made with a new one if it is not there
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// A further name under which clients reach this server, as their `Host` header says it
    #[arg(long = "allow-host", value_name = "HOST")]
    pub allow_hosts: Vec<String>,
    /// A web page's origin that may call, such as `https://app.example`; none if left out
    #[arg(long = "allow-origin", value_name = "ORIGIN")]
    pub allow_origins: Vec<String>,
    /// Listen on an address that other machines reach, without encryption: only behind a proxy that adds it
    #[arg(long)]
    pub allow_remote: bool,
    /// Print one JSON value on standard output when it listens, and nothing else there
    #[arg(long)]
    pub json: bool,
}

/// The commands of `tm serve`.
#[derive(Debug, Subcommand)]
pub enum ServeCommand {
    /// Show where the token of the servers is, or replace it
    ///
    /// A server reads the file at each request: with --rotate the new token is valid at once, and the old one no longer. Streams
    /// that were opened with the old one end within a second.
    Token(ServeToken),
}

/// `tm serve token`.
#[derive(Debug, Args)]
pub struct ServeToken {
    /// Replace the token with a new one
    #[arg(long)]
    pub rotate: bool,
    /// The file with the token; the one in the store if left out
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Print one JSON value on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
}
