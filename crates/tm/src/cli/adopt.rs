//! `adopt`, of `tm autopilot` and of `tm run`.

use clap::Args;
use engine::Turn;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Place, TurnChoice};

/// `tm adopt`, which is `tm autopilot adopt`.
#[derive(Debug, Args)]
pub struct AdoptHere {
    /// Where, and how to answer.
    #[command(flatten)]
    pub place: Place,
    /// What is said of it.
    #[command(flatten)]
    pub adopt: Adopt,
}

/// `tm autopilot adopt` and `tm run adopt`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Adopt {
    /// Why; it is journalled and reported
    #[arg(long, value_name = "TEXT", default_value = "")]
    #[serde(default)]
    #[schemars(extend("x-brief" = "recorded"))]
    pub reason: String,
    /// The run.
    #[command(flatten)]
    #[serde(skip)]
    pub run: TurnChoice,
}

impl Adopt {
    /// It as a turn.
    pub fn turn(&self) -> Turn<'_> {
        Turn::new("adopt", &self.reason)
    }
}
