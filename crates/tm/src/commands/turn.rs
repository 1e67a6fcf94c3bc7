//! The turns of a run, in the words of each family.

use engine::turn::answer::TurnDetails;
use engine::view::View;
use engine::{Engine, Fault, Turn, Verb};
use serde_json::json;

use super::approving::AtTerminal;
use super::{DONE, Outcome};
use crate::calls::FamilyCall;
use crate::output::Output;
use crate::{decision, interactive, person, render};

/// Takes a turn, or lists the steps that a run can be taken back to.
pub fn run(
    engine: &Engine,
    view: &'static View,
    mut asked: FamilyCall,
    output: &mut Output,
) -> Outcome {
    if asked.arguments.take("ready").is_some() {
        asked.arguments.set("draft", false);
    }
    let Some(turn) = asked.arguments.turn(asked.call) else {
        let steps = engine.past_steps(view, asked.run.as_deref())?;
        output.page(&steps, "past_steps")?;
        return Ok(DONE);
    };
    let sign = asked.sign.as_deref();
    let take = |run: Option<&str>, output: &mut Output| {
        decision::turn(engine, view, run, &turn, &mut AtTerminal { sign, output })
    };
    let answer = match take(asked.run.as_deref(), output) {
        Err(fault) if fault.code == "several_runs" && is_choice(&turn, output) => {
            let chosen = chosen(engine, output, fault)?;
            take(Some(&chosen), output)?
        }
        taken => taken?,
    };
    if let TurnDetails::Submitted(submission) = &answer.details {
        for warning in &submission.warnings {
            output.warning(warning);
        }
    }
    output.answer(&answer, render::turned)?;
    if asked.interactive {
        return interactive::run(engine, &answer.run_id, output);
    }
    Ok(DONE)
}

/// Whether a person can choose one of several runs for it.
fn is_choice(turn: &Turn<'_>, output: &Output) -> bool {
    turn.verb == Verb::Resume && output.has_person()
}

/// The run that a person chooses; the fault that there are several where they choose none.
fn chosen(engine: &Engine, output: &mut Output, fault: Fault) -> Result<String, Fault> {
    let candidates = engine.resumable()?;
    let numbered = json!({ "numbered": true });
    let text = render::page_with("runs", &candidates, &numbered, &output.look());
    output.text(&text)?;
    let chosen = person::choose(output, candidates.len())?;
    let run = chosen.and_then(|chosen| candidates.into_iter().nth(chosen));
    run.map(|run| run.run_id).ok_or(fault)
}
