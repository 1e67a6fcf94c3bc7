//! `tm ui` and `tm watch`.

use clap::Args;

use super::ProjectPlace;

/// `tm ui`.
#[derive(Debug, Args)]
pub struct Ui {
    /// Where it works.
    #[command(flatten)]
    pub place: ProjectPlace,
    /// A run to begin with: its number as in `r7`, its id, a task's id, or `last`
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Show it in the browser: a page is served on this machine until Ctrl-C
    #[arg(long)]
    pub web: bool,
    /// The runs of all projects, not of this one alone
    #[arg(long)]
    pub all: bool,
    /// Where the page is served; port 0 takes any that is free
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "localhost:0",
        requires = "web"
    )]
    pub listen: String,
    /// Print the address of the page, and open no browser
    #[arg(long, requires = "web")]
    pub no_open: bool,
}

/// `tm watch`.
#[derive(Debug, Args)]
pub struct Watch {
    /// Where it works.
    #[command(flatten)]
    pub place: ProjectPlace,
    /// One run alone, from its first event on and until it ends; its number as in `r7`, or its id
    #[arg(value_name = "RUN", conflicts_with_all = ["all", "from"])]
    pub run: Option<String>,
    /// The runs of all projects, not of this one alone
    #[arg(long)]
    pub all: bool,
    /// Go on behind the event that was given with this cursor; from now on if left out
    #[arg(long, value_name = "CURSOR")]
    pub from: Option<String>,
}
