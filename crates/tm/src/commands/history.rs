//! `tm runs` and `tm log`.

use std::io::IsTerminal as _;

use engine::fault;
use engine::{Engine, Fault, Kind, Look, RunFilter};
use serde_json::json;

use super::{DONE, Outcome, declined, open, verify, workflow};
use crate::cli::history::{
    Log, LogCommand, Repair, Report, ReportFormat, RunGraph, RunGraphFormat, Runs, RunsCommand,
};
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
            output.page(&answer, "runs")?;
        }
        RunsCommand::Show(show) => {
            let engine = open(place.project_root, place.tag, "tm runs show")?;
            let run = show.run.as_deref();
            if let Some((from, to)) = &show.diff {
                let answer = engine.tree_difference(run, (from, to), show.subtask.as_deref())?;
                output.page(&answer, "tree_difference")?;
            } else {
                output.answer(&engine.run(run)?, render::run_summary)?;
            }
        }
        RunsCommand::Log(one) => {
            let engine = open(place.project_root, place.tag, "tm runs log")?;
            let answer = engine.log(one.run.as_deref())?;
            output.answer(&answer, |records, look| render::log(records, look))?;
        }
        RunsCommand::Report(arguments) => {
            let engine = open(place.project_root, place.tag, "tm runs report")?;
            report(&engine, &arguments, output)?;
        }
        RunsCommand::Graph(arguments) => {
            let engine = open(place.project_root, place.tag, "tm runs graph")?;
            let drawn = graph(&engine, &arguments)?;
            if output.is_json() {
                output.json(&json!({ "graph": drawn }))?;
            } else {
                workflow::give(&drawn, arguments.output.as_deref(), output)?;
            }
        }
        RunsCommand::Export(arguments) => {
            let engine = open(place.project_root, place.tag, "tm runs export")?;
            return verify::export(&engine, arguments, output);
        }
    }
    Ok(DONE)
}

/// The report of a run, in the form that is asked for.
fn report(engine: &Engine, arguments: &Report, output: &mut Output) -> Result<(), Fault> {
    let run = arguments.run.as_deref();
    let answer = engine.report(run)?;
    if output.is_json() {
        return output.json(&answer.json);
    }
    if arguments.format() == ReportFormat::Html {
        let title = engine.board_run(run)?.title().to_owned();
        let sets = engine.run_items(run)?;
        let graphs = sets.iter().filter(|set| set.is_graph());
        let graphs = graphs.filter_map(|set| set.picture(Look::Outside));
        let whole = engine.run_picture(run, Look::Outside).ok();
        let pictures: Vec<String> = graphs.chain(whole).collect();
        let page = ::web::report::file(&title, &answer.markdown, &pictures);
        return workflow::give(&page, arguments.output.as_deref(), output);
    }
    // At a terminal a person reads it, and the marks of Markdown are in the way.
    if arguments.output.is_none() && std::io::stdout().is_terminal() {
        let lines = answer.markdown.lines().map(text::plain::without_marks);
        return output.document(&lines.map(|line| line + "\n").collect::<String>());
    }
    workflow::give(&answer.markdown, arguments.output.as_deref(), output)
}

/// A run, or its items, drawn.
fn graph(engine: &Engine, arguments: &RunGraph) -> Result<String, Fault> {
    let run = arguments.run.as_deref();
    let svg = arguments.format() == RunGraphFormat::Svg;
    let Some(name) = &arguments.items else {
        return if svg {
            engine.run_picture(run, Look::Inside)
        } else {
            engine.run_graph(run)
        };
    };
    let sets = engine.run_items(run)?;
    let names: Vec<String> = sets.iter().map(|set| set.name.clone()).collect();
    let Some(set) = sets.into_iter().find(|set| set.name == *name) else {
        return Err(Fault::new(
            Kind::Missing,
            "unknown_item",
            format!("the run has no items of the set `{name}`"),
        )
        .suggest(if names.is_empty() {
            "leave `--items` out: it has none at all".to_owned()
        } else {
            format!("use one of {}", names.join(", "))
        })
        .expected(names));
    };
    if !svg {
        return Ok(set.mermaid());
    }
    set.picture(Look::Inside)
        .ok_or_else(|| fault!("too_large.items", total = set.total, name))
}

/// Carries out a command of `tm log`.
pub fn log(log: Log, output: &mut Output) -> Outcome {
    let Log { place, command } = log;
    match command {
        LogCommand::Verify(one) => {
            let engine = open(place.project_root, None, "tm log verify")?;
            let answer = engine.verify_log(one.run.as_deref())?;
            output.page(&answer, "log_verified")?;
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
            let answer = engine.replay(replay.run.as_deref(), replay.to)?.json()?;
            output.page(&answer, "replay")?;
        }
    }
    Ok(DONE)
}

fn repair_run(engine: &Engine, repair: &Repair, output: &mut Output) -> Outcome {
    let run = repair.run.as_deref();
    if !repair.yes {
        let found = engine.verify_log(run)?;
        if !found.whole {
            let events = if found.is_given_up { 0 } else { found.events };
            let kept = text::counted(events, "event");
            if !output.has_person() {
                let damage = found.damage.as_deref().unwrap_or("it is damaged");
                return Err(fault!(
                    "needs_confirmation",
                    run = found.run_id,
                    kept,
                    damage
                ));
            }
            let text = render::page("log_verified", &found, &output.look());
            output.text(&text)?;
            let question = format!("Keep {kept}, and put what is there aside?");
            if !person::confirm(output, &question, false)? {
                return Err(declined("the repair"));
            }
        }
    }
    let answer = engine.repair_log(run)?;
    output.page(&answer, "log_repaired")?;
    Ok(DONE)
}
