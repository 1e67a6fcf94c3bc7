//! The turns of a run, in the words of each family.

use engine::turn::answer::TurnDetails;
use engine::view::View;
use engine::{Engine, Fault, Verb};
use serde_json::json;

use super::DONE;
use super::call::{Done, Driver};
use crate::calls::FamilyCall;
use crate::output::Output;
use crate::{decision, interactive, person, render};

/// Takes a turn, or lists the steps that a run can be taken back to.
pub fn run<C: Driver>(
    engine: &Engine,
    view: &'static View,
    mut asked: FamilyCall,
    caller: &mut C,
) -> Done<C> {
    if asked.arguments.take("ready").is_some() {
        asked.arguments.set("draft", false);
    }
    let Some(turn) = asked.arguments.turn(asked.call) else {
        let steps = engine.past_steps(view, asked.run.as_deref())?;
        caller.output().page(&steps, "past_steps")?;
        return Ok(DONE);
    };
    // Of several runs a person chooses one.
    let chosen = match &asked.run {
        None if turn.verb == Verb::Resume && caller.output().has_person() => {
            chosen(engine, caller.output())?
        }
        named => named.clone(),
    };
    let answer = decision::turn(engine, view, chosen.as_deref(), &turn, caller)?;
    let output = caller.output();
    if let TurnDetails::Submitted(submission) = &answer.details {
        for warning in &submission.warnings {
            output.warning(warning);
        }
    }
    output.answer(&answer, render::turned)?;
    if asked.interactive {
        return Ok(interactive::run(engine, &answer.run_id, output)?);
    }
    Ok(DONE)
}

/// The run that a person chooses, where there are several that they can go on with.
fn chosen(engine: &Engine, output: &mut Output) -> Result<Option<String>, Fault> {
    let candidates = engine.resumable()?;
    if candidates.len() < 2 {
        return Ok(None);
    }
    let numbered = json!({ "numbered": true });
    let text = render::page_with("runs", &candidates, &numbered, &output.look());
    output.text(&text)?;
    let chosen = person::choose(output, candidates.len())?;
    let run = chosen.and_then(|chosen| candidates.into_iter().nth(chosen));
    Ok(run.map(|run| run.run_id))
}
