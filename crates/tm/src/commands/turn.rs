//! The turns of a run, of `tm autopilot` and of `tm run`.

use engine::turn::answer::{TurnAnswer, TurnDetails};
use engine::view::View;
use engine::{Engine, Fault, Turn};

use super::{DONE, Outcome, approving};
use crate::cli::turn::{Resume, TurnCommand};
use crate::output::Output;
use crate::{interactive, person, render};

/// Takes a turn, or lists the steps that a run can be taken back to.
pub fn run(
    engine: &Engine,
    view: &'static View,
    command: &TurnCommand,
    output: &mut Output,
) -> Outcome {
    let Some(turn) = command.turn() else {
        let steps = engine.past_steps(view, command.run())?;
        output.answer(&steps, render::past_steps)?;
        return Ok(DONE);
    };
    let take = |run: Option<&str>, output: &mut Output| {
        let signing = command.signing();
        approving::turn(engine, &turn, &signing, output, |engine, asked| {
            engine.turn(view, asked.or(run), &turn)
        })
    };
    let answer = match take(command.run(), output) {
        Err(fault) if fault.code == "several_runs" && is_choice(&turn, output) => {
            let chosen = chosen(engine, output, fault)?;
            take(Some(&chosen), output)?
        }
        taken => taken?,
    };
    told(&answer, output)?;
    match command {
        TurnCommand::Resume(Resume {
            interactive: true, ..
        }) => interactive::run(engine, &answer.run_id, output),
        _ => Ok(DONE),
    }
}

/// Whether a person can choose one of several runs for it.
fn is_choice(turn: &Turn<'_>, output: &Output) -> bool {
    turn.name == "resume" && output.has_person()
}

/// The run that a person chooses; the fault that there are several where they choose none.
fn chosen(engine: &Engine, output: &mut Output, fault: Fault) -> Result<String, Fault> {
    let candidates = engine.resumable()?;
    let text = render::chosen(&candidates, &output.look());
    output.text(&text)?;
    let chosen = person::choose(output, candidates.len())?;
    let run = chosen.and_then(|chosen| candidates.into_iter().nth(chosen));
    run.map(|run| run.run_id).ok_or(fault)
}

fn told(answer: &TurnAnswer, output: &mut Output) -> Result<(), Fault> {
    if let TurnDetails::Submitted(submission) = &answer.details {
        for warning in &submission.warnings {
            output.warning(warning);
        }
    }
    output.answer(answer, render::turned)
}
