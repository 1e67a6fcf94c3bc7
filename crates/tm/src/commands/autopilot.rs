//! `tm autopilot`.

use engine::view::autopilot::request;
use engine::{Engine, Fault, NextStep, Started, Verb};

use super::call::{Done, Driver};
use super::{DONE, declined, usage};
use crate::calls::{Arguments, FamilyCall, test_phases};
use crate::interactive;
use crate::output::Output;
use crate::{person, render};

/// Begins a run over a task, or tells what would be done.
pub fn begin<C: Driver>(engine: &Engine, mut asked: FamilyCall, caller: &mut C) -> Done<C> {
    asked.arguments.unfold("options");
    if asked.arguments.is("dryRun") {
        let plan = engine.plan(&asked.arguments.read()?)?;
        caller.output().answer(&plan, render::plan)?;
        return Ok(DONE);
    }
    let started = caller.begin(engine, &asked)?;
    let output = caller.output();
    for warning in &started.warnings {
        output.warning(warning);
    }
    output.answer(&started, render::started)?;
    if asked.interactive {
        return Ok(interactive::run(engine, &started.run_id, output)?);
    }
    Ok(DONE)
}

/// Begins it for somebody at a terminal: a person is shown the plan, and asked.
pub fn begin_at_terminal(
    engine: &Engine,
    arguments: &Arguments,
    output: &mut Output,
) -> Result<Started, Fault> {
    let mut request: request::Start = arguments.clone().read()?;
    if output.has_person() && !arguments.is("noConfirm") {
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
    with_person(&mut request, output, |request| engine.start(request))
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

/// Tells the phase of a report from the id of its subtask.
pub fn tell_phase_from_subtask(arguments: &mut Arguments) -> Result<(), Fault> {
    let words = (arguments.take_text("state"), arguments.take_text("item"));
    let (phase, subtask) = phase_and_subtask(words.0, words.1)?;
    for (name, word) in [("state", phase), ("item", subtask)] {
        if let Some(word) = word {
            arguments.set(name, word);
        }
    }
    Ok(())
}

/// A phase and the id of a subtask: either may be left out.
fn phase_and_subtask(
    first: Option<String>,
    second: Option<String>,
) -> Result<(Option<String>, Option<String>), Fault> {
    let Some(first) = first else {
        return Ok((None, second));
    };
    let lower = first.to_ascii_lowercase();
    if test_phases().contains(&lower) {
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
                test_phases().join(", ")
            ))
            .expected(test_phases().to_vec())
            .recover(Verb::Next),
    })
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
