//! What the codes of the workflow mean: one message and one suggestion each.

use machine::event::AcceptedReport;
use serde_json::{Map, Value};

use crate::capability::tests::evidence::hollow::NOT_HOLLOWED;
use crate::capability::tests::evidence::{OFF_BENCH, OUTPUT};
use crate::capability::tests::ignored::IGNORED;
use crate::capability::tests::read::{CONFIGURED, FLAKY, GONE, SNAPSHOTS};
use crate::codes::{self, Args, CodeText};

/// What a code means and what to do about it, where that can be said without further facts.
pub fn text(code: &str) -> Option<CodeText> {
    codes::said(code)
}

/// What was found in a report under a code, in one line. What its reader says tells more than the code does.
pub fn message_of(report: &AcceptedReport, code: &str) -> String {
    let own = report.message(code).map(str::to_owned);
    own.unwrap_or_else(|| message(code, &report.facts))
}

/// The warning of a suite that does not run on the bench, for this reason.
pub(crate) fn ran_in_place(reason: &str) -> String {
    codes::message("ran_in_place.named", &[("names", &reason)])
}

/// The warning of a test command that does not name every test.
pub(crate) fn unnamed() -> String {
    codes::message("tests_unnamed", &[])
}

/// The warning of a test command that leads to no known runner.
pub(crate) fn unknown_runner() -> String {
    codes::message("tests_unnamed.unknown_runner", &[])
}

/// What was found, in one line.
pub fn message(code: &str, facts: &Map<String, Value>) -> String {
    let number = |name: &str| facts.get(name).and_then(Value::as_u64).unwrap_or(0);
    let say = |case: &str, args: &Args<'_>| codes::message(&format!("{code}.{case}"), args);
    match code {
        "red_requires_failing_tests" => {
            let message = match number("passed") {
                1 => say("only_one", &[]),
                passed => say("several", &[("passed", &passed)]),
            };
            match names(facts, FLAKY) {
                Some(names) => say("flaky", &[("message", &message), ("names", &names)]),
                None => message,
            }
        }
        "no_tests_ran" if number("skipped") > 0 => {
            say("skipped", &[("skipped", &number("skipped"))])
        }
        "green_tests_still_failing" => failing("GREEN is not reached", facts),
        "suite_failing" => failing("The full suite fails", facts),
        _ => match named(code, facts) {
            Some(names) => say("named", &[("names", &names)]),
            None => text(code).map_or_else(|| code.replace('_', " "), |text| text.message),
        },
    }
}

/// What the facts of a report add to the text of a code.
fn named(code: &str, facts: &Map<String, Value>) -> Option<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match code {
        "runner_configured" => names(facts, CONFIGURED),
        "tests_ignored" => names(facts, IGNORED),
        "snapshots_written" => names(facts, SNAPSHOTS),
        "tests_gone" => names(facts, GONE),
        "red_only_errors" => names(facts, "newlyFailing"),
        "coverage_below_threshold" => names(facts, "under"),
        "findings_in_tests" => found_in(facts),
        "checks_altered" => {
            let altered = facts.get("alteredChecks")?.as_object()?.iter();
            let altered =
                altered.map(|(name, why)| format!("{name} {}", why.as_str().unwrap_or_default()));
            Some(altered.collect::<Vec<_>>().join("; "))
        }
        NOT_HOLLOWED => text(&facts.get("withoutProduct")?["undecided"]),
        "ran_in_place" => text(facts.get(OFF_BENCH)?),
        _ => None,
    }
}

fn failing(what: &str, facts: &Map<String, Value>) -> String {
    let number = |name: &str| facts.get(name).and_then(Value::as_u64).unwrap_or(0);
    if facts.contains_key(OUTPUT) && !facts.contains_key("format") {
        return format!("{what}: the test command failed before any test was heard of");
    }
    let failed = match number("failed") {
        1 => "1 test still fails".to_owned(),
        failed => format!("{failed} tests still fail"),
    };
    let told = match (number("failed"), number("errors")) {
        (_, 0) => format!("{what}: {failed}"),
        (0, errors) => format!("{what}: {errors} could not be compiled or collected"),
        (_, errors) => format!("{what}: {failed}, and {errors} could not be compiled or collected"),
    };
    match names(facts, "failingTests") {
        None => told,
        Some(names) => format!("{told} ({names})"),
    }
}

/// The first of what checks have found, in words.
fn found_in(facts: &Map<String, Value>) -> Option<String> {
    let found = facts.get("newFindings")?.as_array()?;
    let told = found.iter().take(3).map(|finding| {
        let text = |name: &str| {
            finding
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let line = finding.get("line").and_then(Value::as_u64);
        let line = line.map_or_else(String::new, |line| format!(":{line}"));
        format!("{}: {}{line} {}", text("check"), text("path"), text("rule"))
    });
    Some(told.collect::<Vec<_>>().join("; "))
}

/// A few names of tests, where they are known.
fn names(facts: &Map<String, Value>, key: &str) -> Option<String> {
    const FEW: usize = 5;
    let all = facts.get(key)?.as_array()?;
    let few: Vec<&str> = all.iter().take(FEW).filter_map(Value::as_str).collect();
    match all.len() {
        0 => None,
        many if many > FEW => Some(format!("{} and more", few.join(", "))),
        _ => Some(few.join(", ")),
    }
}

/// A number of tests, in words.
pub fn tests(number: u64) -> String {
    text::counted(number, "test")
}

/// What to do about a code.
pub fn suggestion(code: &str) -> String {
    text(code).map(|text| text.help).unwrap_or_default()
}

/// How many of the tests that fail failed before, where each of them is known by a name of its own.
fn failing_as_before(facts: &Map<String, Value>) -> u64 {
    let of = |name: &str| facts.get(name).and_then(Value::as_array);
    let number = |name: &str| of(name).map_or(0, |names| names.len() as u64);
    let failing = number("failingTests");
    let is_told = facts.get("failing").and_then(Value::as_u64) == Some(failing);
    let new = of("newlyFailing").filter(|_| is_told);
    new.map_or(0, |new| failing.saturating_sub(new.len() as u64))
}

/// What an accepted report says.
pub fn accepted(report: &AcceptedReport) -> String {
    let facts = &report.facts;
    let number = |name: &str| facts.get(name).and_then(Value::as_u64).unwrap_or(0);
    let role = &report.role;
    let name = role.phase.as_ref().or(role.label.as_ref());
    let name = name.unwrap_or(&report.state).to_uppercase();
    match report.reader() {
        "tests" if report.role.shows.is_some() && number("failing") == 0 => format!(
            "The {} tests pass already: the subtask is done",
            number("passed")
        ),
        "tests" if report.role.shows.is_some() && number("errors") > 0 => format!(
            "{name} accepted: {} failing, {} not compiled or collected, {} passing",
            number("failed"),
            number("errors"),
            number("passed")
        ),
        "tests" if report.role.shows.is_some() => match failing_as_before(facts) {
            0 => format!(
                "{name} accepted: {} failing, {} passing",
                number("failing"),
                number("passed")
            ),
            old => format!(
                "{name} accepted: {} newly failing, {old} failing as before, {} passing",
                number("failing") - old,
                number("passed")
            ),
        },
        "commit" => "Commit taken over".to_owned(),
        "tests" if report.role.suite.is_some() => match names(facts, "knownFailing") {
            None => format!("The full suite passes: {}", tests(number("passed"))),
            Some(names) => format!(
                "The full suite passes: {}; failing as before: {names}",
                tests(number("passed"))
            ),
        },
        "tests" => match names(facts, "knownFailing") {
            None => format!("{name} accepted: {} passing", number("passed")),
            Some(names) => format!(
                "{name} accepted: {} passing; failing as before: {names}",
                number("passed")
            ),
        },
        _ => format!("{} accepted", report.state),
    }
}
