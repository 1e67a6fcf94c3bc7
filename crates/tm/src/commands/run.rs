//! `tm run`.

use engine::Engine;
use engine::report::{Meaning, Report};
use engine::view::{GENERIC, View};

use super::{DONE, Outcome, gate, open, turn};
use crate::cli::Given;
use crate::cli::run::{Run, RunCommand, Start};
use crate::output::Output;
use crate::render;

/// Carries out a command of `tm run`.
pub fn run(run: Run, given: &Given, output: &mut Output) -> Outcome {
    let Run { place, command } = run;
    let engine = open(place.project_root, place.tag, &given.name)?.at_unit(given.unit.as_deref());
    match command {
        RunCommand::Start(start) => return begin(&engine, start, output),
        RunCommand::Report(mut given) => {
            let run = given.run.run_id.take();
            let how = (&GENERIC, Meaning::Anything);
            return report(&engine, how, run.as_deref(), &given.request(), output);
        }
        RunCommand::Next(chosen) => {
            return show_next(
                &engine,
                &GENERIC,
                chosen.run.run_id.as_deref(),
                false,
                output,
            );
        }
        RunCommand::Status(chosen) => {
            return show_status(&engine, &GENERIC, chosen.run.run_id.as_deref(), output);
        }
        RunCommand::Step(chosen) => {
            let answer = engine.run_step(chosen.run.run_id.as_deref())?;
            output.answer(&answer, render::turned)?;
        }
        RunCommand::Turn(command) => return turn::run(&engine, &GENERIC, &command, output),
        RunCommand::Restore(chosen) => {
            let answer = engine.restore(&GENERIC, chosen.run.run_id.as_deref())?;
            output.answer(&answer, render::turned)?;
        }
        RunCommand::Approve(approve) => {
            let about = (approve.run.run_id.as_deref(), approve.hash.as_deref());
            return gate::decide(&engine, &GENERIC, about, None, &approve.signing, output);
        }
        RunCommand::Reject(reject) => {
            let about = (reject.run.run_id.as_deref(), reject.hash.as_deref());
            let feedback = Some(reject.feedback.as_str());
            return gate::decide(&engine, &GENERIC, about, feedback, &reject.signing, output);
        }
    }
    Ok(DONE)
}

fn begin(engine: &Engine, start: Start, output: &mut Output) -> Outcome {
    let inputs = start
        .inputs
        .all(|pairs| engine.typed_inputs(&start.workflow, &pairs))?;
    let started = engine.run_start(&start.workflow, inputs)?;
    for warning in &started.warnings {
        output.warning(warning);
    }
    output.answer(&started, render::started)?;
    Ok(DONE)
}

/// Prints what comes next in a run. To a person the ways out of a pause are shown.
pub fn show_next(
    engine: &Engine,
    view: &'static View,
    run: Option<&str>,
    check: bool,
    output: &mut Output,
) -> Outcome {
    let answer = engine.next(view, run, check)?;
    if answer.is_paused() && !output.is_json() {
        let status = engine.status(view, Some(&answer.run_id))?;
        output.answer(&status, render::paused)?;
    } else {
        output.answer(&answer, render::next)?;
    }
    Ok(DONE)
}

/// Prints where a run is.
pub fn show_status(
    engine: &Engine,
    view: &'static View,
    run: Option<&str>,
    output: &mut Output,
) -> Outcome {
    let answer = engine.status(view, run)?;
    super::trust::warn(engine, output);
    output.answer(&answer, render::status)?;
    Ok(DONE)
}

/// Records a report and prints its verdict.
pub fn report(
    engine: &Engine,
    (view, meaning): (&'static View, Meaning),
    run: Option<&str>,
    report: &Report,
    output: &mut Output,
) -> Outcome {
    let verdict = engine.record_report(view, run, report, meaning)?;
    output.answer(&verdict, render::verdict)?;
    Ok(verdict.exit_status())
}
