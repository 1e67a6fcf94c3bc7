//! `tm autopilot`.

use engine::view::autopilot::request;
use engine::{Engine, Fault, NextStep, Turn, Verb};

use super::approving::{self, Question, agreed};
use super::{DONE, Outcome, declined, open, usage, watch};
use crate::cli::Given;
use crate::cli::autopilot::{
    Abort, Allow, Autopilot, AutopilotCommand, Commit, Complete, Finalize, Resume,
};
use crate::cli::start::Start;
use crate::interactive;
use crate::output::Output;
use crate::steps::TEST_PHASES;
use crate::{person, render};

/// Carries out a command of `tm autopilot`.
pub fn run(autopilot: Autopilot, given: &Given, output: &mut Output) -> Outcome {
    let Autopilot { place, command } = autopilot;
    check(&command, output)?;
    let engine = open(place.project_root, place.tag, &given.name)?.at_unit(given.unit.as_deref());
    match command {
        AutopilotCommand::Start(start) => begin(&engine, start, output),
        AutopilotCommand::Next(next) => {
            let answer = engine.next(next.run.run_id.as_deref(), next.check)?;
            if answer.action == "paused" && !output.is_json() {
                let status = engine.status(Some(&answer.run_id))?;
                let text = render::paused(&status, &output.look());
                output.text(&text)?;
            } else {
                output.answer(&answer, render::next)?;
            }
            Ok(DONE)
        }
        AutopilotCommand::Complete(complete) => report(&engine, complete, output),
        AutopilotCommand::Commit(commit) => make_commit(&engine, commit, output),
        AutopilotCommand::Finalize(finalize) => finish(&engine, finalize, output),
        AutopilotCommand::Reopen(reopen) => {
            let (run, turn) = (reopen.run.run_id.as_deref(), reopen.turn());
            let answer = approving::turn(&engine, &turn, &reopen.signing, output, |engine| {
                engine.reopen(run, &turn)
            })?;
            output.answer(&answer, render::moved)?;
            Ok(DONE)
        }
        AutopilotCommand::Rewind(rewind) => {
            let run = rewind.run.run_id.as_deref();
            let list = |engine: &Engine| engine.past_steps(run);
            let take = |engine: &Engine, turn: &Turn<'_>| engine.rewind(run, turn);
            super::rewind::run(&engine, &rewind, output, list, take, render::moved)
        }
        AutopilotCommand::Adopt(adopt) => {
            let answer = engine.adopt(adopt.run.run_id.as_deref(), &adopt.reason)?;
            output.answer(&answer, render::moved)?;
            Ok(DONE)
        }
        AutopilotCommand::Skip(skip) => {
            let (run, subtask) = (skip.run.run_id.as_deref(), skip.subtask.as_deref());
            let answer = engine.skip(run, subtask, &skip.reason)?;
            output.answer(&answer, render::moved)?;
            Ok(DONE)
        }
        AutopilotCommand::Allow(allow) => let_pass(&engine, &allow, output),
        AutopilotCommand::Status(status) => {
            let answer = engine.status(status.run.run_id.as_deref())?;
            super::trust::warn(&engine, output);
            output.answer(&answer, render::status)?;
            Ok(DONE)
        }
        AutopilotCommand::Pause(pause) => {
            let answer = engine.pause(pause.run.run_id.as_deref(), &pause.reason)?;
            output.answer(&answer, render::moved)?;
            Ok(DONE)
        }
        AutopilotCommand::Resume(resume) => go_on(&engine, &resume, output),
        AutopilotCommand::Abort(abort) => end(&engine, &abort, output),
        AutopilotCommand::Submit(submit) => {
            let run = submit.run.run_id.as_deref();
            super::submit::run(&engine, &submit, output, |engine, turn| {
                engine.submit(run, turn)
            })
        }
        AutopilotCommand::Feedback(feedback) => {
            let run = feedback.run.run_id.as_deref();
            let turn = feedback.turn();
            let answer = approving::turn(&engine, &turn, &feedback.signing, output, |engine| {
                engine.feedback(run, &turn)
            })?;
            output.answer(&answer, render::moved)?;
            Ok(DONE)
        }
        AutopilotCommand::Watch(watch) => watch::run(&engine, watch.run.run_id.as_deref(), output),
    }
}

/// What can be told from the command line alone, before anything is looked at.
fn check(command: &AutopilotCommand, output: &Output) -> Result<(), Fault> {
    let interactive = match command {
        AutopilotCommand::Start(start) => start.interactive,
        AutopilotCommand::Resume(resume) => resume.interactive,
        AutopilotCommand::Complete(complete) => {
            phase_and_subtask(complete.phase.clone(), complete.subtask.clone())?;
            false
        }
        _ => false,
    };
    if interactive && output.is_json() {
        return Err(
            usage("--interactive is a dialogue with a person and cannot be had as JSON")
                .suggest("leave out one of --json and --interactive"),
        );
    }
    Ok(())
}

fn begin(engine: &Engine, start: Start, output: &mut Output) -> Outcome {
    let (dry_run, interactive) = (start.dry_run, start.interactive);
    let asks = output.has_person() && !start.no_confirm;
    let mut request = start.request();
    if dry_run {
        let plan = engine.plan(&request)?;
        output.answer(&plan, render::plan)?;
        return Ok(DONE);
    }
    if asks {
        let plan = with_person(&mut request, output, |request| engine.plan(request))?;
        let text = render::plan(&plan, &output.look());
        output.text(&text)?;
        let question = if plan.branch_exists {
            format!("\nSwitch to {} and begin?", plan.branch)
        } else {
            format!("\nMake the branch {} and begin?", plan.branch)
        };
        if !person::confirm(output, &render::plain(&question), true)? {
            return Err(declined("the start of the run"));
        }
    }
    let started = with_person(&mut request, output, |request| engine.start(request))?;
    for warning in &started.warnings {
        output.warning(warning);
    }
    output.answer(&started, render::started)?;
    if interactive {
        return interactive::run(engine, &started.run_id, output);
    }
    Ok(DONE)
}

/// Does something that a person at a terminal may have to say a word to first: to a dirty tree, or how the tests are run.
fn with_person<T>(
    request: &mut request::Start,
    output: &mut Output,
    attempt: impl Fn(&request::Start) -> Result<T, Fault>,
) -> Result<T, Fault> {
    loop {
        let fault = match attempt(request) {
            Err(fault) if output.has_person() => fault,
            other => return other,
        };
        match fault.code.as_str() {
            "dirty_tree" if !request.allow_dirty => {
                let text = render::fault(&fault, &output.look());
                output.text(&text)?;
                let question = "Begin all the same, and leave these changes alone?";
                if !person::confirm(output, question, false)? {
                    return Err(fault);
                }
                request.allow_dirty = true;
            }
            "no_test_command" if request.test_command.is_none() => {
                let text = render::fault(&fault, &output.look());
                output.text(&text)?;
                let found = fault
                    .details
                    .get("found")
                    .and_then(serde_json::Value::as_str);
                let by_default = found.map_or_else(String::new, |found| format!(" [{found}]"));
                let question = format!("What runs the tests, for this run?{by_default} ");
                let typed = person::ask(output, &render::plain(&question))?;
                let typed = typed.filter(|typed| !typed.is_empty());
                request.test_command = typed.or_else(|| found.map(str::to_owned));
                if request.test_command.is_none() {
                    return Err(fault);
                }
            }
            _ => return Err(fault),
        }
    }
}

fn report(engine: &Engine, mut complete: Complete, output: &mut Output) -> Outcome {
    (complete.phase, complete.subtask) = phase_and_subtask(complete.phase, complete.subtask)?;
    let run = complete.run.run_id.clone();
    let request = complete.request();
    let verdict = engine.complete(run.as_deref(), &request)?;
    output.answer(&verdict, render::verdict)?;
    Ok(verdict.exit_status())
}

/// Tells a phase from the id of a subtask: either may be left out.
fn phase_and_subtask(
    first: Option<String>,
    second: Option<String>,
) -> Result<(Option<String>, Option<String>), Fault> {
    let Some(first) = first else {
        return Ok((None, second));
    };
    let lower = first.to_ascii_lowercase();
    if TEST_PHASES.contains(&lower.as_str()) {
        return Ok((Some(lower), second));
    }
    let is_id = first.contains('.') || first.bytes().all(|byte| byte.is_ascii_digit());
    if second.is_none() && is_id {
        return Ok((None, Some(first)));
    }
    let fault = usage(format!(
        "`{first}` is neither a phase nor the id of a subtask"
    ));
    Err(match lower.as_str() {
        "commit" => fault
            .suggest("a commit has a command of its own")
            .recover(NextStep::in_phase("commit")),
        "finalize" => fault
            .suggest("the whole suite has a command of its own")
            .recover(NextStep::in_phase("finalize")),
        _ => fault
            .suggest(format!(
                "a phase is one of {}; both phase and id may be left out",
                TEST_PHASES.join(", ")
            ))
            .expected(TEST_PHASES.to_vec())
            .recover(Verb::Next),
    })
}

fn make_commit(engine: &Engine, commit: Commit, output: &mut Output) -> Outcome {
    let run = commit.run.run_id.clone();
    let answer = engine.commit(run.as_deref(), &commit.request())?;
    output.answer(&answer, render::commit_answer)?;
    Ok(match answer {
        engine::view::autopilot::answer::CommitAnswer::Committed(_) => DONE,
        engine::view::autopilot::answer::CommitAnswer::Refused(verdict) => verdict.exit_status(),
    })
}

fn finish(engine: &Engine, finalize: Finalize, output: &mut Output) -> Outcome {
    let run = finalize.run.run_id.clone();
    let request = finalize.request();
    let answer = engine.finalize(run.as_deref(), &request)?;
    output.answer(&answer, render::finalized)?;
    Ok(answer.verdict.exit_status())
}

fn let_pass(engine: &Engine, allow: &Allow, output: &mut Output) -> Outcome {
    let status = engine.status(allow.run.run_id.as_deref())?;
    let (run, unit) = (&status.run_id, status.next_action.unit_id.as_deref());
    let passed = approving::let_pass(engine, allow, (run, unit), output, |by| {
        by.allow(Some(run), &allow.code, &allow.reason)
    })?;
    output.answer(&passed, render::moved)?;
    Ok(DONE)
}

fn go_on(engine: &Engine, resume: &Resume, output: &mut Output) -> Outcome {
    let go_on = |run: Option<&str>, output: &mut Output| {
        approving::turn(
            engine,
            &Turn::new("resume", ""),
            &resume.signing,
            output,
            |engine| engine.resume(run),
        )
    };
    let resumed = match go_on(resume.run.run_id.as_deref(), output) {
        Err(fault) if fault.code == "several_runs" && output.has_person() => {
            let candidates = engine.resumable()?;
            let text = render::chosen(&candidates, &output.look());
            output.text(&text)?;
            let Some(chosen) = person::choose(output, candidates.len())? else {
                return Err(fault);
            };
            go_on(
                candidates.get(chosen).map(|run| run.run_id.as_str()),
                output,
            )?
        }
        other => other?,
    };
    output.answer(&resumed, render::resumed)?;
    if resume.interactive {
        return interactive::run(engine, &resumed.run_id, output);
    }
    Ok(DONE)
}

fn end(engine: &Engine, abort: &Abort, output: &mut Output) -> Outcome {
    let run = abort.run.run_id.as_deref();
    let request = abort.request();
    // Nobody is asked for what would be refused.
    match engine.abort(run, request) {
        Err(fault) if fault.code == "needs_person" => {}
        ended => {
            output.answer(&ended?, render::aborted)?;
            return Ok(DONE);
        }
    }
    let status = engine.status(run)?;
    let id = &status.run_id;
    let text = render::plain(&format!(
        "The run {id} ends.\nIts branch {} and its folder are deleted, with its journal and its evidence.\n",
        status.branch
    ));
    let (statement, least) = engine.turn_statement(id, &request.turn())?;
    let question = Question {
        text: &text,
        to: "delete them",
        what: "the clean-up",
        deed: "a run's branch and folder are deleted",
        least,
    };
    let by = agreed(
        engine,
        &abort.signing,
        &statement,
        &question,
        output,
        request.turn().step().of(id),
    )?;
    let aborted = by.abort(Some(id), request)?;
    output.answer(&aborted, render::aborted)?;
    Ok(DONE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Kind;

    fn meant(words: &[&str]) -> Result<(Option<String>, Option<String>), Fault> {
        let word = |at: usize| words.get(at).map(|&word| word.to_owned());
        phase_and_subtask(word(0), word(1))
    }

    #[test]
    fn phase_and_subtask_may_be_left_out() {
        for (words, phase, subtask) in [
            (&[][..], None, None),
            (&["red"], Some("red"), None),
            (&["GREEN", "1.1"], Some("green"), Some("1.1")),
            (&["1.1"], None, Some("1.1")),
            (&["2"], None, Some("2")),
        ] {
            let told = meant(words).unwrap();
            assert_eq!((told.0.as_deref(), told.1.as_deref()), (phase, subtask));
        }
        for wrong in [
            &["gren"][..],
            &["gren", "1.1"],
            &["1.1", "red"],
            &["commit"],
        ] {
            assert!(meant(wrong).is_err(), "{wrong:?}");
        }
        // A wrong phase names the command that is meant.
        let fault = meant(&["finalize"]).unwrap_err();
        assert_eq!(fault.kind, Kind::Usage);
        assert_eq!(fault.recovery, NextStep::in_phase("finalize").to_string());
    }
}
