//! `rewind`, of `tm autopilot` and of `tm run`.

use clap::Args;
use engine::Turn;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Map;

use super::{Place, Signing, TurnChoice};

/// `tm rewind`, which is `tm autopilot rewind`.
#[derive(Debug, Args)]
pub struct RewindHere {
    /// Where, and how to answer.
    #[command(flatten)]
    pub place: Place,
    /// Where to.
    #[command(flatten)]
    pub rewind: Rewind,
}

/// `tm autopilot rewind` and `tm run rewind`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rewind {
    /// A work unit, a subtask (where it began), a phase (the last one of that name), or `last-commit` for the step before it; the
    /// steps are listed if left out
    #[arg(value_name = "TO")]
    #[schemars(extend("x-brief" = "unit, subtask, phase or last-commit; default: list the steps"))]
    pub to: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "")]
    #[serde(default)]
    #[schemars(extend("x-brief" = "shown with the step"))]
    pub reason: String,
    /// Take back what is pushed, too: the next submission replaces it there
    #[arg(long)]
    #[serde(default)]
    #[schemars(extend("x-brief" = "also what is pushed"))]
    pub pushed: bool,
    /// By what, where a person has to agree.
    #[command(flatten)]
    #[serde(skip)]
    pub signing: Signing,
    /// The run.
    #[command(flatten)]
    #[serde(skip)]
    pub run: TurnChoice,
}

impl Rewind {
    /// It as a turn; none where nothing is said of where to.
    pub fn turn(&self) -> Option<Turn<'_>> {
        let to = self.to.as_ref()?;
        let mut flags = Map::new();
        flags.insert("to".to_owned(), to.as_str().into());
        if self.pushed {
            flags.insert("pushed".to_owned(), true.into());
        }
        Some(Turn {
            name: "rewind",
            reason: &self.reason,
            flags,
        })
    }
}
