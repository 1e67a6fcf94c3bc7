//! `submit`, of `tm autopilot` and of `tm run`.

use engine::view::autopilot::submit::Submitted;
use engine::{Engine, Fault, Turn};

use super::{DONE, Outcome, approving};
use crate::cli::submit::Submit;
use crate::output::Output;
use crate::render;

/// Hands a run over.
pub fn run(
    engine: &Engine,
    submit: &Submit,
    output: &mut Output,
    take: impl Fn(&Engine, &Turn<'_>) -> Result<Submitted, Fault>,
) -> Outcome {
    let turn = submit.turn();
    let answer = approving::turn(engine, &turn, &submit.signing, output, |engine| {
        take(engine, &turn)
    })?;
    for warning in &answer.warnings {
        output.warning(warning);
    }
    output.answer(&answer, render::submitted)?;
    Ok(DONE)
}
