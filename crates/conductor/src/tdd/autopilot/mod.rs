//! The calls on a `tdd` run. Each opens the run, asks rails, and answers.

mod begin;
mod look;
mod report;
mod turn;

pub(crate) use report::{last_commit, made};

use rails::{Command, Refusal, RunState};
use serde_json::Value;

use super::answer::{Moved, Verdict};
use super::{texts, view};
use crate::approval::again;
use crate::engine::Done;
use crate::fault::{Fault, Kind};
use crate::next_step::{Argument, Verb};
use crate::report::ends_run;
use crate::writer::RunWriter;

pub(super) fn over(run: &RunState) -> Fault {
    Fault::new(
        Kind::Missing,
        "run_over",
        format!("the run {} is over: it is {}", run.run, run.status.name()),
    )
    .suggest(format!(
        "see what it did with {summary}, or start another one",
        summary = Verb::Summary
    ))
    .recover(Verb::Summary)
}

pub(crate) fn no_reason(verb: Verb) -> Fault {
    Fault::new(
        Kind::Usage,
        "no_reason",
        format!("`{}` needs a reason", verb.name()),
    )
    .suggest(format!("say why: {}", verb.step().and("reason")))
}

pub(super) fn verdict(run: &RunState, refusal: &Refusal) -> Verdict {
    let facts = refusal
        .details
        .get("tests")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    let mut message = refusal
        .message
        .clone()
        .unwrap_or_else(|| texts::message(&refusal.code, &facts));
    let mut suggestion = refusal
        .suggestion
        .clone()
        .unwrap_or_else(|| texts::suggestion(&refusal.code));
    match refusal.code.as_str() {
        "stale_unit" => {
            if let Some((token, unit)) = run.waiting().next() {
                message = format!(
                    "{message}; the present one is {} ({}{})",
                    unit.id,
                    token.state,
                    token
                        .key()
                        .map_or_else(String::new, |key| format!(" of {key}"))
                );
            }
        }
        "paused" => {
            let reason = run.pause.as_ref().map_or("", |pause| pause.reason.as_str());
            message = format!("{message} ({reason})");
        }
        "run_over" => {
            message = format!("{message}: it is {}", run.status.name());
            format!("ask for the report: {summary}", summary = Verb::Summary)
                .clone_into(&mut suggestion);
        }
        _ => {}
    }
    if refusal.code == "coverage_below_threshold" && ends_run(run) {
        suggestion = format!(
            "{suggestion}; {reopen} takes them in, and {skip_coverage_option} lets it pass",
            reopen = Verb::Reopen.step().and("reason"),
            skip_coverage_option = Argument("skipCoverage")
        );
    }
    let policy = run.policies.contains_key(&refusal.code);
    if policy && !suggestion.is_empty() {
        suggestion = format!(
            "{suggestion}; a person can let it pass with {}",
            Verb::Allow.step().with("code", &refusal.code).and("reason")
        );
    }
    let mut details = refusal.details.clone();
    // What a reader knows is told in words; a finding's own details, also of tests by name, go along.
    for reader in ["tests", "commit"] {
        if details.get(reader).is_some_and(Value::is_object) {
            details.shift_remove(reader);
        }
    }
    Verdict {
        validated: false,
        message,
        warning: None,
        suggestion: Some(suggestion).filter(|text| !text.is_empty()),
        code: Some(refusal.code.clone()),
        details,
        next_action: view::next_action(run),
    }
}

/// A refusal of a command that is no report.
pub(super) fn refused(run: Option<&RunState>, refusal: &Refusal) -> Fault {
    let blank = RunState::default();
    let verdict = verdict(run.unwrap_or(&blank), refusal);
    let kind = match refusal.code.as_str() {
        "stale_unit" | "paused" => Kind::Conflict,
        "unknown_input" | "bad_input" => Kind::Usage,
        _ => Kind::Refused,
    };
    let mut fault = Fault::new(kind, refusal.code.clone(), verdict.message)
        .suggest(verdict.suggestion.unwrap_or_default());
    fault.details = verdict.details;
    fault.recovery = match refusal.code.as_str() {
        "paused" => Verb::Resume.into(),
        "needs_person" | "approval_too_weak" => again("autopilot", run, refusal),
        "run_over" => Verb::Summary.into(),
        _ if run.is_some() => Verb::Next.into(),
        _ => String::new(),
    };
    fault
}

pub(super) fn moved(
    writer: &mut RunWriter<'_>,
    command: &Command,
    message: impl FnOnce(&RunState) -> String,
) -> Result<Moved, Fault> {
    match writer.done(command)? {
        Done::Moved(_) => {
            let run = &writer.open.run;
            Ok(Moved {
                run_id: run.run.clone(),
                message: message(run),
                next_action: view::next_action(run),
                report: if run.status.is_over() {
                    journal::durable::read_text(&writer.open.dir.join("report.md")).ok()
                } else {
                    None
                },
            })
        }
        Done::Refused(refusal) => Err(refused(Some(&writer.open.run), &refusal)),
        Done::EffectFailed {
            code,
            message,
            suggestion,
            ..
        } => Err(Fault::new(Kind::Refused, code, message).suggest(suggestion.unwrap_or_default())),
    }
}
