//! The calls that drive runs, carried out: in the same way for a command and for a tool.

use std::path::PathBuf;

use engine::report::Report;
use engine::view::View;
use engine::view::autopilot::work_unit::WorkUnitResult;
use engine::{Choice, Engine, Fault, Started};
use text::plain::one_line;

use super::approving::AtTerminal;
use super::input::bytes_of;
use super::{DONE, Outcome, autopilot, collab, session, trust, turn, usage, watch};
use crate::calls::{Arguments, FamilyCall, read};
use crate::cli::Given;
use crate::decision::{self, Asking, Wish};
use crate::output::Output;
use crate::render;

/// Who makes a call.
pub trait Driver: Asking {
    /// What they are told by.
    fn output(&mut self) -> &mut Output;

    /// The project that is meant; where something `begins` in it, it need not be there yet.
    fn open(&mut self, begins: bool) -> Result<Engine, Fault>;

    /// Where a file lies that an argument names, if they may have it read.
    fn file(&self, engine: &Engine, named: &str) -> Result<PathBuf, Fault>;

    /// Begins a run over a task, with what a person has to say to it.
    fn begin(&mut self, engine: &Engine, asked: &FamilyCall) -> Result<Started, Self::Refusal>;
}

/// What a call ends with: an exit status after an answer, or what keeps it from one.
pub type Done<C> = Result<u8, <C as Asking>::Refusal>;

/// Carries out a command.
pub fn run(mut asked: FamilyCall, given: &Given, output: &mut Output) -> Outcome {
    if asked.interactive && output.is_json() {
        return Err(
            usage("--interactive is a dialogue with a person and cannot be had as JSON")
                .suggest("leave out one of --json and --interactive"),
        );
    }
    match (asked.family.name.as_str(), asked.call.name.as_str()) {
        ("autopilot", "complete") => autopilot::tell_phase_from_subtask(&mut asked.arguments)?,
        ("collab", _) => collab::read_words(&mut asked, output)?,
        _ => {}
    }
    let mut person = AtTerminal {
        project_root: asked.project_root.take(),
        tag: asked.tag.take(),
        sign: asked.sign.take(),
        command: &given.name,
        output,
    };
    carry_out(asked, &mut person)
}

/// Carries out a call.
pub fn carry_out<C: Driver>(mut asked: FamilyCall, caller: &mut C) -> Done<C> {
    let view = asked.family.form().view();
    let (family, name) = (asked.family.name.as_str(), asked.call.name.as_str());
    let mut engine = caller.open(matches!(name, "start" | "init"))?;
    // A session that is not there begins by what is set of it.
    if (family, name) == ("collab", "update") && engine.collab_brief(asked.run.as_deref()).is_err()
    {
        engine = caller.open(true)?;
    }
    let engine = engine.at_unit(asked.at.as_deref());
    let arguments = &mut asked.arguments;
    arguments.place_files(asked.call, |file| caller.file(&engine, file))?;
    if asked.call.turn.is_some() {
        return turn::run(&engine, view, asked, caller);
    }
    if (family, name) == ("autopilot", "start") {
        return autopilot::begin(&engine, asked, caller);
    }
    if matches!(name, "approve" | "reject" | "decide") {
        return decide(&engine, view, &asked, caller);
    }
    Ok(answer(&engine, view, asked, caller.output())?)
}

/// Makes a call for which nobody is asked.
fn answer(
    engine: &Engine,
    view: &'static View,
    mut asked: FamilyCall,
    output: &mut Output,
) -> Outcome {
    let run = asked.run.as_deref();
    if let Some(meaning) = asked.call.meaning() {
        let report: Report = asked.arguments.read()?;
        let verdict = engine.record_report(view, run, &report, meaning)?;
        output.answer(&verdict, render::verdict)?;
        return Ok(verdict.exit_status());
    }
    match (asked.family.name.as_str(), asked.call.name.as_str()) {
        (_, "restore") => output.answer(&engine.restore(view, run)?, render::turned)?,
        ("session", _) => return session::run(engine, asked, output),
        ("collab", _) => return collab::run(engine, asked, output),
        (_, "start") => begin(engine, asked.arguments, output)?,
        (_, "next") => show_next(engine, view, run, asked.arguments.is("check"), output)?,
        (_, "status") => {
            let answer = engine.status(view, run)?;
            trust::warn(engine, output);
            output.answer(&answer, render::status)?;
        }
        (_, "step") => output.answer(&engine.run_step(run)?, render::turned)?,
        (_, "watch") => return watch::run(engine, run, output),
        (_, "next-work-unit") => output.json(&engine.next_work_unit(run)?)?,
        (_, "work-unit-state") => output.json(&engine.work_unit_state(run)?)?,
        (_, "complete-work-unit") => {
            let result = asked.arguments.take("result").unwrap_or_default();
            let mut result: WorkUnitResult = read(result)?;
            let unit = asked.arguments.take_text("unit").unwrap_or_default();
            result.message = asked.arguments.take_text("message");
            result.evidence = asked.arguments.read()?;
            output.json(&engine.complete_work_unit(run, &unit, &result)?)?;
        }
        (_, other) => return Err(unknown(other)),
    }
    Ok(DONE)
}

/// The fault of a call that is declared, and that nothing carries out.
pub fn unknown(call: &str) -> Fault {
    Fault::bug(format!("nothing carries out the call `{call}`"))
}

/// Has a person decide at the gate that a run waits at.
fn decide<C: Driver>(
    engine: &Engine,
    view: &'static View,
    asked: &FamilyCall,
    caller: &mut C,
) -> Done<C> {
    let arguments = &asked.arguments;
    let choice = arguments.text("decision").unwrap_or(&asked.call.name);
    let wish = Wish {
        choice: match choice {
            "reject" => Choice::Reject,
            "approve" => Choice::Approve,
            other => {
                let fault = engine::fault!("usage.decision", choice = one_line(other));
                return Err(fault.expected(vec!["approve", "reject"]).into());
            }
        },
        gate: arguments.text("gate"),
        hash: arguments.text("hash"),
        feedback: match arguments.path("feedbackFile") {
            Some(file) => String::from_utf8_lossy(&bytes_of(file)?).into_owned(),
            None => arguments.text("feedback").unwrap_or_default().to_owned(),
        },
    };
    let answer = decision::at_gate(engine, view, asked.run.as_deref(), wish, caller)?;
    caller.output().answer(&answer, render::turned)?;
    Ok(DONE)
}

fn begin(engine: &Engine, mut arguments: Arguments, output: &mut Output) -> Result<(), Fault> {
    let workflow = arguments.take_text("workflow").unwrap_or_default();
    let inputs = arguments.take_inputs(|pairs| engine.typed_inputs(&workflow, &pairs))?;
    let started = engine.run_start(&workflow, inputs)?;
    for warning in &started.warnings {
        output.warning(warning);
    }
    output.answer(&started, render::started)
}

/// Prints what comes next in a run. To a person the ways out of a pause are shown.
fn show_next(
    engine: &Engine,
    view: &'static View,
    run: Option<&str>,
    check: bool,
    output: &mut Output,
) -> Result<(), Fault> {
    let answer = engine.next(view, run, check)?;
    if answer.is_paused() && !output.is_json() {
        let status = engine.status(view, Some(&answer.run_id))?;
        return output.answer(&status, render::paused);
    }
    output.answer(&answer, render::next)
}
