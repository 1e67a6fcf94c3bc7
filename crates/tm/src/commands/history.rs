//! `tm runs` and `tm log`.

use engine::{Engine, Fault, Kind, RunFilter};

use super::{DONE, Outcome, declined, open, verify};
use crate::cli::history::{Log, LogCommand, Repair, Runs, RunsCommand};
use crate::output::Output;
use crate::{person, render};

/// Carries out a command of `tm runs`.
pub fn runs(runs: Runs, output: &mut Output) -> Outcome {
    let Runs { place, command } = runs;
    match command {
        RunsCommand::List(list) => {
            // Here the tag chooses among the runs: it need not be one that the project still has.
            let engine = open(place.project_root, None, "tm runs list")?;
            let filter = RunFilter {
                all: list.all,
                tag: place.tag,
                status: list.status.map(|status| status.as_str().to_owned()),
                limit: list
                    .limit
                    .map(|limit| usize::try_from(limit).unwrap_or(usize::MAX)),
            };
            let answer = engine.runs(&filter)?;
            output.answer(&answer, |runs, look| render::runs(runs, look))?;
        }
        RunsCommand::Show(one) => {
            let engine = open(place.project_root, place.tag, "tm runs show")?;
            let answer = engine.run(one.run.as_deref())?;
            output.answer(&answer, render::run)?;
        }
        RunsCommand::Log(one) => {
            let engine = open(place.project_root, place.tag, "tm runs log")?;
            let answer = engine.log(one.run.as_deref())?;
            output.answer(&answer, |records, look| render::log(records, look))?;
        }
        RunsCommand::Report(one) => {
            let engine = open(place.project_root, place.tag, "tm runs report")?;
            let answer = engine.report(one.run.as_deref())?;
            if output.is_json() {
                output.json(&answer.json)?;
            } else {
                output.document(&answer.markdown)?;
            }
        }
        RunsCommand::Export(arguments) => {
            let engine = open(place.project_root, place.tag, "tm runs export")?;
            return verify::export(&engine, arguments, output);
        }
    }
    Ok(DONE)
}

/// Carries out a command of `tm log`.
pub fn log(log: Log, output: &mut Output) -> Outcome {
    let Log { place, command } = log;
    match command {
        LogCommand::Verify(one) => {
            let engine = open(place.project_root, None, "tm log verify")?;
            let answer = engine.verify_log(one.run.as_deref())?;
            output.answer(&answer, render::log_verified)?;
            if !answer.is_sound() {
                return Ok(Kind::Environment.exit_status());
            }
        }
        LogCommand::Repair(repair) => {
            let engine = open(place.project_root, None, "tm log repair")?;
            return repair_run(&engine, &repair, output);
        }
        LogCommand::Replay(replay) => {
            let engine = open(place.project_root, None, "tm log replay")?;
            let answer = engine.replay(replay.run.as_deref(), replay.to)?;
            output.answer(&answer, render::replay)?;
        }
    }
    Ok(DONE)
}

fn repair_run(engine: &Engine, repair: &Repair, output: &mut Output) -> Outcome {
    let run = repair.run.as_deref();
    if !repair.yes {
        let found = engine.verify_log(run)?;
        if !found.whole {
            if !output.has_person() {
                let damage = found.damage.as_deref().unwrap_or("it is damaged");
                return Err(Fault::new(
                    Kind::Refused,
                    "needs_confirmation",
                    format!(
                        "mending the journal of {} keeps {} and loses the rest ({damage}), and nobody is here to confirm it",
                        found.run_id, text::counted(found.events, "event")
                    ),
                )
                .suggest("confirm it with --yes; the old file is kept beside the new one")
                .recover(format!("tm log repair {} --yes", found.run_id)));
            }
            let text = render::log_verified(&found, &output.look());
            output.text(&text)?;
            let question = format!(
                "Keep {}, and put the old file aside?",
                text::counted(found.events, "event")
            );
            if !person::confirm(output, &question, false)? {
                return Err(declined("the repair"));
            }
        }
    }
    let answer = engine.repair_log(run)?;
    output.answer(&answer, render::log_repaired)?;
    Ok(DONE)
}
