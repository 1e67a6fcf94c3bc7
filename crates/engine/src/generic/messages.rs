//! What verdicts say of a workflow that has no texts of its own: made from its definition.

use std::collections::BTreeSet;

use machine::definition::{Edge, StateDef};
use machine::diagnostic::Located;
use machine::event::AcceptedReport;
use machine::state::Token;
use machine::trigger::Trigger;
use machine::{Definition, Refusal, RunState};
use serde_json::{Map, Value, json};
use workspace::config::Level;

use crate::capability::tests::evidence::{baseline, level_named};
use crate::capability::{command, memory, messages};
use crate::codes::{self, CodeText, FACTS};
use crate::find::is_over_a_task;
use crate::verdict::on_task::with_ways_on;
use crate::view::collab::state;

/// How many of the units that wait are named.
const MOST_UNITS: usize = 5;

/// What is said of a refusal, and what to do about it.
pub(crate) struct RefusalText {
    pub(crate) message: String,
    pub(crate) suggestion: String,
}

/// What a state is called for people: its label where it has one.
pub(crate) fn place(definition: &Definition, state: &str, item: Option<&str>) -> String {
    let label = definition
        .state(state)
        .and_then(|state| state.label.as_deref())
        .unwrap_or(state);
    match item {
        Some(item) => format!("{label} of {item}"),
        None => label.to_owned(),
    }
}

/// Where a run stands, for people.
pub(crate) fn stands(run: &RunState, definition: &Definition) -> String {
    run.tokens
        .first()
        .map_or_else(String::new, |token| place(definition, &token.state, None))
}

/// The words that the guards of a state compare the outcome of a report with, in the order of the file.
pub(crate) fn outcomes(definition: &Definition, state: &str) -> Vec<String> {
    let expects = definition.state(state).and_then(StateDef::reader);
    if expects.is_none_or(|reader| reader.value != "outcome") {
        return Vec::new();
    }
    let mut seen = BTreeSet::new();
    definition
        .edges(state, Trigger::Report)
        .iter()
        .filter_map(|edge| edge.when.as_ref())
        .flat_map(|guard| compared(&guard.text))
        .filter(|word| seen.insert(word.clone()))
        .collect()
}

/// The quoted words that stand beside `outcome.outcome` in a guard: after `==` or `!=`, or in a list
/// after `in`.
fn compared(guard: &str) -> Vec<String> {
    let parts = guard.split("outcome.outcome").skip(1).map(str::trim_start);
    let compares = |part: &&str| ["==", "!=", "in"].iter().any(|with| part.starts_with(with));
    let words = parts.filter(compares).flat_map(|part| {
        let clause = part.split(['&', '|']).next().unwrap_or_default();
        clause.split(['\'', '"']).skip(1).step_by(2)
    });
    // A word with an escape in it is rare, and not worth a parser.
    let words = words.filter(|word| !word.is_empty() && !word.contains('\\'));
    words.map(str::to_owned).collect()
}

/// What is said of a report that was taken in.
pub(crate) fn taken_in(definition: &Definition, report: &AcceptedReport) -> String {
    let place = place(definition, &report.state, report.item.as_deref());
    let word = report.facts.get("outcome").and_then(|word| word.as_str());
    let word = word.filter(|word| !word.is_empty());
    match (&report.code, word) {
        (None, None) => format!("{place} was accepted"),
        // That "rejected" is accepted would be said of what was rejected.
        (None, Some(word)) => format!("{place} came to: {word}"),
        (Some(code), _) => {
            let brought = word.map_or_else(String::new, |word| format!(": {word}"));
            let found = report.message(code).map(str::to_owned);
            let why = found.unwrap_or_else(|| spoken(code));
            let message = format!("{place} was not accepted{brought}: {why}");
            with_failure(message, Some(&report.facts))
        }
    }
}

/// A code as words: `not_ready` is "not ready".
fn spoken(code: &str) -> String {
    code.replace('_', " ")
}

/// What to do about a retry or a pause that a report brought about: by the facts of its code, else of the pause, else in the words of
/// whoever found it.
pub(crate) fn after_retry(
    run: &RunState,
    definition: &Definition,
    report: &AcceptedReport,
    is_paused: bool,
) -> String {
    let code = report.code.as_deref().unwrap_or_default();
    let token = run.token(report.token);
    let is_claimed = level_named(&report.level) < Some(Level::Ran);
    let is_retry = |edge: &Edge| edge.retry.as_ref().is_some_and(|retry| retry.value == code);
    let facts = json!({
        "of": if is_over_a_task(run) { "task" } else { "run" },
        "run": run.run,
        "paused": is_paused,
        "repair": token.is_some_and(|token| memory::is_repair(run, token)),
        "unknown": baseline::is_unknown(run) && is_claimed,
        "phase": report.role.phase,
        "item": token.and_then(Token::key),
    });
    let facts = facts.as_object().cloned().unwrap_or_default();
    let help = |code: &str| codes::of_facts(code, &facts).map(|text| text.help);
    let of_pause = || help("paused").filter(|_| is_paused);
    let own = || report.suggestion(code).map(str::to_owned);
    let of_code = || is_over_a_task(run).then(|| messages::suggestion(code));
    let found = help(code).or_else(of_pause).or_else(own).or_else(of_code);
    found.unwrap_or_else(|| match rule_of(definition, &report.state, is_retry) {
        Some(rule) => format!("the rule is `{rule}`: see to it, then report again"),
        None => "see to it, then report again".to_owned(),
    })
}

/// What is said of a refusal: in its own words where it has some, in those of its code that fit, else in those of the definition.
pub(crate) fn refusal(
    run: &RunState,
    definition: &Definition,
    state: Option<&str>,
    refused: &Refusal,
) -> RefusalText {
    let code = refused.code.as_str();
    let told = |name: &str| refused.details.get(name).and_then(Value::as_object);
    let tests = told("tests").cloned().unwrap_or_default();
    let known = || is_over_a_task(run) || messages::text(code).is_some();
    let own = match codes::of_facts(code, &facts(run, definition, refused)) {
        Some(text) => text,
        None if known() => CodeText {
            message: messages::message(code, &tests),
            help: messages::suggestion(code),
            ..CodeText::default()
        },
        None => of_definition(definition, state, code),
    };
    let message = refused.message.clone().unwrap_or(own.message);
    let mut suggestion = refused.suggestion.clone().unwrap_or(own.help);
    if is_over_a_task(run) {
        suggestion = with_ways_on(run, code, &tests, suggestion);
    }
    RefusalText {
        message: with_failure(message, told("command")),
        suggestion,
    }
}

/// What the texts of a refusal may name: what is so of the run, and the refusal's own details.
fn facts(run: &RunState, definition: &Definition, refused: &Refusal) -> Map<String, Value> {
    let of_skills = state::facts(definition, run);
    let of = match &of_skills {
        Some(_) => "skills",
        None if is_over_a_task(run) => "task",
        None => "run",
    };
    let of_run = [
        ("of", of),
        ("run", &run.run),
        ("status", run.status.name()),
        ("reason", run.stopped()),
        ("state", run.state()),
        ("place", &place(definition, run.state(), None)),
        ("waiting", &waiting(run, definition)),
    ];
    let of_run = of_run.into_iter().filter(|(_, value)| !value.is_empty());
    let of_run = of_run.map(|(name, value)| (name.to_owned(), Value::from(value)));
    let own = of_run.chain(of_skills.into_iter().flatten());
    let mut facts: Map<String, Value> = own.collect();
    debug_assert!(facts.keys().all(|name| FACTS.contains(&name.as_str())));
    let details = refused.details.clone().into_iter();
    facts.extend(details.filter(|(_, value)| !value.is_null()));
    facts
}

/// The first units that wait for a report, each with its place.
fn waiting(run: &RunState, definition: &Definition) -> String {
    let waiting = run.waiting().take(MOST_UNITS).map(|(token, unit)| {
        let place = place(definition, &token.state, token.key());
        format!("{} ({place})", unit.id)
    });
    waiting.collect::<Vec<_>>().join(", ")
}

/// With how the command failed that was read.
fn with_failure(message: String, facts: Option<&Map<String, Value>>) -> String {
    match facts.and_then(command::failure) {
        Some(failure) => format!("{message}; {failure}"),
        None => message,
    }
}

/// A refusal that the definition names: its words are the code, and the guard that it stands beside.
fn of_definition(definition: &Definition, state: Option<&str>, code: &str) -> CodeText {
    let refuses = |edge: &Edge| {
        edge.refuse
            .as_ref()
            .is_some_and(|refuse| refuse.value == code)
    };
    let own = state.and_then(|state| rule_of(definition, state, refuses));
    let rule = own.or_else(|| {
        definition
            .all_states()
            .find_map(|(_, name, _)| rule_of(definition, &name.value, refuses))
    });
    let at = state.map_or_else(
        || "the workflow".to_owned(),
        |state| place(definition, state, None),
    );
    let message = format!("{at} refuses this: {}", spoken(code));
    let known = state.map_or_else(Vec::new, |state| outcomes(definition, state));
    let help = match (rule, known.is_empty()) {
        (Some(rule), _) => format!("it is refused where `{rule}`: see to that, then report again"),
        (None, false) => format!("report with one of these outcomes: {}", known.join(", ")),
        (None, true) => format!(
            "see the rules of the state with `tm workflow show {}`",
            definition.id.value
        ),
    };
    CodeText {
        message,
        help,
        ..CodeText::default()
    }
}

/// The guard of the first edge of a state's reports that fits.
fn rule_of(definition: &Definition, state: &str, fits: impl Fn(&Edge) -> bool) -> Option<String> {
    let lists = [
        definition.edges(state, Trigger::Report),
        definition.edges(state, Trigger::Route),
    ];
    let found: Option<&Located<Edge>> = lists
        .into_iter()
        .flatten()
        .find(|edge| fits(&edge.value) && edge.when.is_some());
    found.and_then(|edge| edge.when.as_ref().map(|guard| guard.text.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_guards_compare_with_are_found() {
        for (guard, words) in [
            ("outcome.outcome == 'approved'", &["approved"][..]),
            ("outcome.outcome != \"no\" && x", &["no"]),
            ("outcome.outcome in ['a', \"b\",'c']", &["a", "b", "c"]),
            ("outcome.outcome in inputs.words", &[]),
            ("outcome.outcome.startsWith('x')", &[]),
            (
                "outcome.outcome == 'a' || outcome.outcome == 'b'",
                &["a", "b"],
            ),
            ("outcome.outcome == 'a\\'b'", &[]),
            ("size(outcome.note) > 0", &[]),
        ] {
            assert_eq!(compared(guard), words, "{guard}");
        }
    }
}
