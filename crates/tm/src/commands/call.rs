//! The calls that drive runs: those that all families share, and which module carries out the others.

use engine::view::View;
use engine::{Choice, Engine, Fault};

use super::approving::AtTerminal;
use super::{DONE, Outcome, autopilot, collab, open, session, trust, turn, usage, watch};
use crate::calls::{Arguments, FamilyCall};
use crate::cli::Given;
use crate::decision::{self, Wish};
use crate::output::Output;
use crate::render;

/// Carries out a call.
pub fn run(mut asked: FamilyCall, given: &Given, output: &mut Output) -> Outcome {
    check(&mut asked, output)?;
    let engine = open(asked.project_root.take(), asked.tag.take(), &given.name)?;
    let engine = engine.at_unit(asked.at.as_deref());
    let view = asked.family.form().view();
    let run = asked.run.as_deref();
    if asked.call.turn.is_some() {
        return turn::run(&engine, view, asked, output);
    }
    if let Some(meaning) = asked.call.meaning() {
        let report = asked.arguments.read()?;
        let verdict = engine.record_report(view, run, &report, meaning)?;
        output.answer(&verdict, render::verdict)?;
        return Ok(verdict.exit_status());
    }
    match (asked.family.name.as_str(), asked.call.name.as_str()) {
        (_, "approve" | "reject") => decide(&engine, view, &asked, output),
        (_, "restore") => {
            output.answer(&engine.restore(view, run)?, render::turned)?;
            Ok(DONE)
        }
        ("session", _) => session::run(&engine, asked, output),
        ("collab", _) => collab::run(&engine, asked, output),
        ("autopilot", "start") => autopilot::begin(&engine, asked, output),
        (_, "start") => begin(&engine, asked.arguments, output),
        (_, "next") => show_next(&engine, view, run, asked.arguments.is("check"), output),
        (_, "status") => {
            let answer = engine.status(view, run)?;
            trust::warn(&engine, output);
            output.answer(&answer, render::status)?;
            Ok(DONE)
        }
        (_, "step") => {
            output.answer(&engine.run_step(run)?, render::turned)?;
            Ok(DONE)
        }
        (_, "watch") => watch::run(&engine, run, output),
        (_, other) => Err(unknown(other)),
    }
}

/// The fault of a call that is declared, and that nothing carries out.
pub fn unknown(call: &str) -> Fault {
    Fault::bug(format!("nothing carries out the call `{call}`"))
}

/// What can be told from the command line alone, before anything is looked at.
fn check(asked: &mut FamilyCall, output: &Output) -> Result<(), Fault> {
    if asked.interactive && output.is_json() {
        return Err(
            usage("--interactive is a dialogue with a person and cannot be had as JSON")
                .suggest("leave out one of --json and --interactive"),
        );
    }
    if asked.call.name == "complete" {
        autopilot::tell_phase_from_subtask(&mut asked.arguments)?;
    }
    Ok(())
}

/// Has a person decide at the gate that a run waits at.
fn decide(
    engine: &Engine,
    view: &'static View,
    asked: &FamilyCall,
    output: &mut Output,
) -> Outcome {
    let wish = Wish {
        choice: match asked.call.name.as_str() {
            "reject" => Choice::Reject,
            _ => Choice::Approve,
        },
        gate: None,
        hash: asked.arguments.text("hash"),
        feedback: session::feedback(&asked.arguments)?,
    };
    let sign = asked.sign.as_deref();
    let mut person = AtTerminal { sign, output };
    let answer = decision::at_gate(engine, view, asked.run.as_deref(), wish, &mut person)?;
    output.answer(&answer, render::turned)?;
    Ok(DONE)
}

fn begin(engine: &Engine, mut arguments: Arguments, output: &mut Output) -> Outcome {
    let workflow = arguments.take_text("workflow").unwrap_or_default();
    let inputs = arguments.take_inputs(|pairs| engine.typed_inputs(&workflow, &pairs))?;
    let started = engine.run_start(&workflow, inputs)?;
    for warning in &started.warnings {
        output.warning(warning);
    }
    output.answer(&started, render::started)?;
    Ok(DONE)
}

/// Prints what comes next in a run. To a person the ways out of a pause are shown.
fn show_next(
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
