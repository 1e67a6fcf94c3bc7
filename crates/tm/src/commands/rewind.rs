//! `rewind`, of `tm autopilot` and of `tm run`.

use engine::rewind::PastSteps;
use engine::{Engine, Fault, Turn};
use serde::Serialize;

use super::{DONE, Outcome, approving};
use crate::cli::rewind::Rewind;
use crate::output::Output;
use crate::render::{self, Look};

/// Lists the steps of a run, or takes it back to one.
pub fn run<A: Serialize>(
    engine: &Engine,
    rewind: &Rewind,
    output: &mut Output,
    list: impl Fn(&Engine) -> Result<PastSteps, Fault>,
    take: impl Fn(&Engine, &Turn<'_>) -> Result<A, Fault>,
    shown: impl Fn(&A, &Look) -> String,
) -> Outcome {
    let Some(turn) = rewind.turn() else {
        output.answer(&list(engine)?, render::past_steps)?;
        return Ok(DONE);
    };
    let answer = approving::turn(engine, &turn, &rewind.signing, output, |engine| {
        take(engine, &turn)
    })?;
    output.answer(&answer, shown)?;
    Ok(DONE)
}
