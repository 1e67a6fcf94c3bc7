//! `tm init`.

use clap::Args;

use super::ProjectPlace;
use crate::init::client::Client;

/// `tm init`.
#[derive(Debug, Clone, Args)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "these are flags of a command line"
)]
pub struct Init {
    /// Where, and how to answer.
    #[command(flatten)]
    pub place: ProjectPlace,
    /// Set up this client too; several may be given
    #[arg(
        long = "client",
        value_name = "CLIENT",
        value_enum,
        value_delimiter = ','
    )]
    pub clients: Vec<Client>,
    /// Take out again what was set up: for the clients that are named, else everything
    #[arg(long)]
    pub remove: bool,
    /// Put the guard hook into the client's settings too; with --remove, take out nothing but it
    #[arg(long)]
    pub hook: bool,
    /// Into your own settings of the client, for all projects: the server alone, without instructions or settings
    #[arg(long, requires = "clients", conflicts_with_all = ["hook", "project_root"])]
    pub user: bool,
    /// What runs the tests here, for the project's settings
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["remove", "user"])]
    pub test_command: Option<String>,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    /// Only show what would be written
    #[arg(long, conflicts_with = "yes")]
    pub print: bool,
}
