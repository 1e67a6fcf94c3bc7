//! `tm hook`.

use std::path::PathBuf;

use clap::Args;

use crate::hook::Client;

/// `tm hook`.
#[derive(Debug, Args)]
pub struct Hook {
    /// The client that calls it
    #[arg(
        value_name = "CLIENT",
        value_enum,
        required_unless_present = "self_test"
    )]
    pub client: Option<Client>,
    /// Try it out: payloads of the client (of all, if none is named) against a run in a throw-away repository; exit status 1 if
    /// an answer is not what it should be
    #[arg(long)]
    pub self_test: bool,
    /// With --self-test: print one JSON value
    #[arg(long, requires = "self_test")]
    pub json: bool,
    /// With --self-test: the project whose client settings are looked at; found upward from the current folder if left out
    #[arg(long, value_name = "DIR", requires = "self_test")]
    pub project_root: Option<PathBuf>,
}
