//! The calls on a `tdd` run. Each opens the run, asks the machine, and answers.

pub mod answer;
pub(crate) mod begin;
pub mod instructions;
pub(crate) mod kinds;
mod look;
mod report;
pub mod request;
pub mod state;
pub mod work_unit;

pub(crate) use crate::view::autopilot::begin::running;
pub(crate) use crate::view::autopilot::report::{last_commit, made};

use machine::state::RunStatus;
use machine::{Refusal, RunState};
use serde_json::Value;
use workspace::config::Level;

use crate::capability::messages;
use crate::capability::tests::evidence::level_named;
use crate::next_step::{self, Argument, NextStep, Verb};
use crate::report::ends_run;
use crate::view::autopilot::answer::Verdict;

/// What is said of a refusal.
pub(crate) fn verdict(run: &RunState, refusal: &Refusal) -> Verdict {
    let facts = refusal
        .details
        .get("tests")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    let mut message = refusal
        .message
        .clone()
        .unwrap_or_else(|| messages::message(&refusal.code, &facts));
    let mut suggestion = refusal
        .suggestion
        .clone()
        .unwrap_or_else(|| messages::suggestion(&refusal.code));
    match refusal.code.as_str() {
        "stale_unit" => {
            if let Some((token, unit)) = run.waiting().next() {
                let of = token.key().map(|key| format!(" of {key}"));
                message = format!(
                    "{message}: it is the turn of {}{} ({})",
                    token.state.to_uppercase(),
                    of.unwrap_or_default(),
                    unit.id,
                );
            }
        }
        "paused" => {
            let reason = run.pause.as_ref().map_or("", |pause| pause.reason.as_str());
            message = format!("{message} ({reason})");
        }
        "red_requires_failing_tests" => {
            let level = facts
                .get("level")
                .and_then(Value::as_str)
                .and_then(level_named);
            if let Some((token, _)) = run.waiting().next()
                && level < Some(Level::Ran)
            {
                let verify = NextStep::report(&token.role, token.key(), Level::Verified);
                suggestion = format!(
                    "where the code is written already, have them run without it: {verify}. Else {suggestion}"
                );
            }
        }
        "run_over" => {
            message = match run.status {
                RunStatus::Failed => format!("{message}: it failed"),
                RunStatus::Aborted => format!("{message}: it was aborted"),
                ended => format!("{message}: it is {}", ended.name()),
            };
            let summary = Verb::Summary.step().of(&run.run);
            suggestion = format!("ask for the report: {summary}");
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
    let mut next_action = state::next_action(run);
    // What the refusal advises comes first.
    if !next_step::steps(&suggestion).is_empty() {
        next_action.next_steps.clear();
    }
    Verdict {
        validated: false,
        message,
        warning: None,
        suggestion: Some(suggestion).filter(|text| !text.is_empty()),
        code: Some(refusal.code.clone()),
        details,
        next_action,
    }
}
