//! `tm run`.

use conductor::report;
use conductor::{Conductor, Fault, Turn};
use serde_json::{Map, Value};

use super::autopilot::{evidence, tell_of_running, without_empty};
use super::session::decision;
use super::{DONE, Outcome, approving, open, usage};
use crate::cli::Signing;
use crate::cli::run::{Report, Run, RunCommand, Start};
use crate::output::Output;
use crate::render;
use crate::render::session::About;

/// Carries out a command of `tm run`.
pub fn run(run: Run, output: &mut Output) -> Outcome {
    let Run { place, command } = run;
    let name = format!("tm run {}", command.name());
    let conductor = open(place.project_root, place.tag, &name)?;
    match command {
        RunCommand::Start(start) => return begin(&conductor, &start, output),
        RunCommand::Report(report) => return take_in(&conductor, *report, output),
        RunCommand::Next(chosen) => {
            let answer = conductor.run_next(chosen.run.run_id.as_deref())?;
            output.answer(&answer, render::run::next)?;
        }
        RunCommand::Status(chosen) => {
            let answer = conductor.run_status(chosen.run.run_id.as_deref())?;
            super::trust::warn(&conductor, output);
            output.answer(&answer, render::run::status)?;
        }
        RunCommand::Step(chosen) => {
            let answer = conductor.run_step(chosen.run.run_id.as_deref())?;
            output.answer(&answer, render::run::moved)?;
        }
        RunCommand::Pause(pause) => {
            let answer = conductor.run_pause(pause.run.run_id.as_deref(), &pause.reason)?;
            output.answer(&answer, render::run::moved)?;
        }
        RunCommand::Resume(chosen) => {
            let run = chosen.run.run_id.as_deref();
            let turn = Turn::new("resume", "");
            let answer =
                approving::turn(&conductor, &turn, &chosen.signing, output, |conductor| {
                    conductor.run_resume(run)
                })?;
            output.answer(&answer, render::run::moved)?;
        }
        RunCommand::Abort(chosen) => {
            let answer = conductor.run_abort(chosen.run.run_id.as_deref())?;
            output.answer(&answer, render::run::moved)?;
        }
        RunCommand::Restore(chosen) => {
            let answer = conductor.run_restore(chosen.run.run_id.as_deref())?;
            output.answer(&answer, render::run::restored)?;
        }
        RunCommand::Reopen(reopen) => {
            let (run, reason) = (reopen.run.run_id.as_deref(), reopen.reason.as_str());
            let turn = Turn::new("reopen", reason);
            let answer =
                approving::turn(&conductor, &turn, &reopen.signing, output, |conductor| {
                    conductor.run_reopen(run, reason)
                })?;
            output.answer(&answer, render::run::moved)?;
        }
        RunCommand::Skip(skip) => {
            let (run, item) = (skip.run.run_id.as_deref(), skip.item.as_deref());
            let answer = conductor.run_skip(run, item, &skip.reason)?;
            output.answer(&answer, render::run::moved)?;
        }
        RunCommand::Allow(allow) => {
            approving::can_decide(&allow, "run", output)?;
            let status = conductor.run_status(allow.run.run_id.as_deref())?;
            let unit = status.next_action.unit.as_ref();
            let of = (
                status.run_id.as_str(),
                unit.map(|unit| unit.unit_id.as_str()),
            );
            let answer = approving::let_pass(&conductor, &allow, "run", of, output, |by| {
                by.run_allow(Some(of.0), &allow.code, &allow.reason)
            })?;
            output.answer(&answer, render::run::moved)?;
        }
        RunCommand::Approve(approve) => {
            let (run, hash) = (approve.run.run_id.as_deref(), approve.hash.as_deref());
            return decide(&conductor, run, hash, None, &approve.signing, output);
        }
        RunCommand::Reject(reject) => {
            let (run, hash) = (reject.run.run_id.as_deref(), reject.hash.as_deref());
            let feedback = Some(reject.feedback.as_str());
            return decide(&conductor, run, hash, feedback, &reject.signing, output);
        }
    }
    Ok(DONE)
}

/// A decision at a gate: to send back where there is feedback, else to open it.
fn decide(
    conductor: &Conductor,
    run: Option<&str>,
    hash: Option<&str>,
    feedback: Option<&str>,
    signing: &Signing,
    output: &mut Output,
) -> Outcome {
    let choice = if feedback.is_some() {
        "reject"
    } else {
        "approve"
    };
    if feedback.is_some_and(|feedback| feedback.trim().is_empty()) {
        return Err(decision::no_feedback().recover("tm run reject --feedback TEXT"));
    }
    let gate = conductor.run_gate(run)?;
    decision::bound_to(&gate, About::Run, None, hash)?;
    let id = &gate.session_id;
    let again = match feedback {
        Some(_) => format!("tm run reject --feedback TEXT --run-id {id}"),
        None => format!("tm run approve --run-id {id}"),
    };
    let by = decision::by_person(
        conductor,
        &gate,
        About::Run,
        feedback,
        signing,
        output,
        again,
    )?;
    let decide = decision::decision(gate, choice, feedback.unwrap_or_default())?;
    let moved = by.run_decide(&decide)?;
    output.answer(&moved, render::run::moved)?;
    Ok(DONE)
}

fn begin(conductor: &Conductor, start: &Start, output: &mut Output) -> Outcome {
    let inputs = inputs(conductor, start)?;
    let started = conductor.run_start(&start.workflow, inputs)?;
    for warning in &started.warnings {
        output.warning(warning);
    }
    output.answer(&started, render::run::started)?;
    Ok(DONE)
}

/// The inputs of a start, from both ways of giving them.
fn inputs(conductor: &Conductor, start: &Start) -> Result<Map<String, Value>, Fault> {
    let given = start
        .input
        .iter()
        .map(|pair| match pair.split_once('=') {
            Some((name, value)) => Ok((name.trim().to_owned(), value.to_owned())),
            None => {
                Err(usage(format!("--input {pair} has no `=`")).suggest("write --input NAME=VALUE"))
            }
        })
        .collect::<Result<Vec<_>, _>>()?;
    let mut inputs = conductor.typed_inputs(&start.workflow, &given)?;
    let Some(text) = &start.inputs else {
        return Ok(inputs);
    };
    let object: Map<String, Value> = serde_json::from_str(text).map_err(|error| {
        usage(format!("--inputs is no JSON object: {error}"))
            .suggest("write --inputs '{\"name\": \"value\"}', or use --input NAME=VALUE")
    })?;
    for (name, value) in object {
        if inputs.contains_key(&name) {
            return Err(usage(format!(
                "the input `{name}` is given by --input and by --inputs"
            ))
            .suggest("give it once"));
        }
        inputs.insert(name, value);
    }
    Ok(inputs)
}

fn take_in(conductor: &Conductor, report: Report, output: &mut Output) -> Outcome {
    let request = report::Report {
        unit: report.unit,
        outcome: report.outcome,
        note: report.note,
        evidence: evidence(report.evidence),
        files: without_empty(report.files),
        message: report.message,
        sha: report.sha,
        skip_coverage: report.skip_coverage,
        ..report::Report::default()
    };
    if request.evidence.verify {
        tell_of_running(conductor, &request.evidence, output);
    }
    let run = report.run.run_id.as_deref();
    let verdict = conductor.run_report(run, &request)?;
    output.answer(&verdict, render::run::verdict)?;
    Ok(verdict.exit_status())
}
