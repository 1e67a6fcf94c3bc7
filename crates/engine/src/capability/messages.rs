//! What the codes of the workflow mean: one message and one suggestion each.

use machine::event::AcceptedReport;
use serde_json::{Map, Value};

use crate::capability::tests::evidence::hollow::NOT_HOLLOWED;
use crate::capability::tests::evidence::{OFF_BENCH, OUTPUT};
use crate::capability::tests::ignored::IGNORED;
use crate::capability::tests::read::{CONFIGURED, FLAKY, GONE, SNAPSHOTS};
use crate::next_step::{Verb, argument, step};

/// The texts of a code.
#[derive(Debug, Clone, Copy)]
pub struct Text {
    /// The code.
    pub code: &'static str,
    /// What it means, in general.
    pub meaning: &'static str,
    /// What to do.
    pub suggestion: &'static str,
}

/// The codes that the definition of the workflow names, and those of the engine that an executor
/// meets.
pub const TEXTS: &[Text] = &[
    Text {
        code: "no_tests_ran",
        meaning: "No test ran",
        suggestion: concat!(
            "run the tests, then report what the runner printed: ",
            step!("report"),
            "; errors while compiling or collecting count as errors:N"
        ),
    },
    Text {
        code: "red_requires_failing_tests",
        meaning: "RED needs failing tests, and all passed",
        suggestion: concat!(
            "check that they test the new behaviour, and report again: ",
            step!("report"),
            ". Where it was there before, keep the tests that show it: ",
            step!("reopen", "kind", "reason"),
            " (the kind is `tests`). Where the subtask makes no sense, give it up with ",
            step!("skip", "reason")
        ),
    },
    Text {
        code: "red_only_errors",
        meaning: "No test failed, they only could not be compiled or collected: make sure that it is for the right reason",
        suggestion: "make sure that they fail for the right reason",
    },
    Text {
        code: "red_has_passing_tests",
        meaning: "Tests pass, too: numbers do not tell whether the new ones are among those that fail",
        suggestion: "make sure that they are; a report by name would tell",
    },
    Text {
        code: "runner_configured",
        meaning: "What configures the runner was changed with the tests",
        suggestion: "",
    },
    Text {
        code: "findings_in_tests",
        meaning: "Linters find something in the tests, which are protected in GREEN: there it is refused",
        suggestion: "",
    },
    Text {
        code: "checks_altered",
        meaning: "The checks of the project are not what they were",
        suggestion: "",
    },
    Text {
        code: "tests_unnamed",
        meaning: UNNAMED,
        suggestion: "",
    },
    Text {
        code: NOT_HOLLOWED,
        meaning: HOLLOW_UNDECIDED,
        suggestion: "",
    },
    Text {
        code: "ran_in_place",
        meaning: RAN_IN_PLACE,
        suggestion: "",
    },
    Text {
        code: "tests_ignored",
        meaning: "Git ignores files that were written in this run: no commit holds them",
        suggestion: "",
    },
    Text {
        code: "snapshots_written",
        meaning: WRITTEN,
        suggestion: "",
    },
    Text {
        code: "tests_gone",
        meaning: "Tests that passed before are gone or skipped: GREEN accepts that only of cases whose function still runs, and of tests that are named as taken out",
        suggestion: "",
    },
    Text {
        code: "submodule_not_pushed",
        meaning: "A submodule is at a commit that no remote of it is known to have: until it is pushed there, nobody else can check this out",
        suggestion: "",
    },
    Text {
        code: "green_tests_still_failing",
        meaning: "Tests still fail",
        suggestion: concat!(
            "go on implementing, then report again: ",
            step!("report"),
            "; if a test is wrong, go back with ",
            step!("reopen", "reason")
        ),
    },
    Text {
        code: "green_requires_passing_tests",
        meaning: "No test passed",
        suggestion: concat!(
            "run the tests, then report how many passed: ",
            step!("report")
        ),
    },
    Text {
        code: "coverage_below_threshold",
        meaning: "Coverage is under its threshold",
        suggestion: concat!(
            "add tests for what is not covered, then report again: ",
            step!("report")
        ),
    },
    Text {
        code: "suite_failing",
        meaning: "The full suite fails, so a repair is open",
        suggestion: concat!(
            "mend what fails, report the repair (",
            step!("report"),
            "), commit it, then finalize again"
        ),
    },
    Text {
        code: "nothing_before",
        meaning: "A repair has no RED to go back to",
        suggestion: concat!(
            "mend the failing tests and report GREEN, or skip it with ",
            step!("skip", "reason")
        ),
    },
    Text {
        code: "passes_unchanged",
        meaning: "The tests pass now, and nothing was changed: what failed may be flaky",
        suggestion: "",
    },
    Text {
        code: "stale_unit",
        meaning: "That is not the present work unit",
        suggestion: concat!("ask what is next: ", step!("next")),
    },
    Text {
        code: "paused",
        meaning: "The run is paused and takes no reports",
        suggestion: concat!(
            "go on with ",
            step!("resume"),
            "; where a rule stopped the run, a person does that"
        ),
    },
    Text {
        code: "journal_repaired",
        meaning: "The journal was damaged, and what could not be read of it was cut off",
        suggestion: concat!(
            "look where the run stands now; a person has it go on with ",
            step!("resume")
        ),
    },
    Text {
        code: "run_over",
        meaning: "The run is over",
        suggestion: concat!("see what it did: ", step!("summary")),
    },
    Text {
        code: "cannot_reopen",
        meaning: "There is nothing to go back to from here",
        suggestion: concat!("ask what is next: ", step!("next")),
    },
    Text {
        code: "cannot_skip",
        meaning: "This cannot be skipped",
        suggestion: concat!("ask what is next: ", step!("next")),
    },
    Text {
        code: "cannot_rewind",
        meaning: "The workflow of the run does not say how it is taken back",
        suggestion: concat!(
            "go one step back, where that is possible: ",
            step!("reopen")
        ),
    },
    Text {
        code: "cannot_adopt",
        meaning: "The workflow of the run does not say where it goes on from a branch that has moved",
        suggestion: concat!(
            "take the branch back to the present step: ",
            step!("rewind"),
            "; a workflow of your own says it with `on: { adopt: { to: STATE } }`, from its next run on"
        ),
    },
    Text {
        code: "cannot_submit",
        meaning: "Only a run that reached its goal is handed over",
        suggestion: concat!("see where it stands: ", step!("status")),
    },
    Text {
        code: "cannot_feedback",
        meaning: "Only a run that was handed over is told what others say of it",
        suggestion: concat!("see where it stands: ", step!("status")),
    },
    Text {
        code: "not_present",
        meaning: "That is not the present one",
        suggestion: concat!("see which one is: ", step!("status")),
    },
    Text {
        code: "not_a_policy",
        meaning: "That code is no policy of this step",
        suggestion: "only policies can be let pass; other refusals have another way out",
    },
    Text {
        code: "definition_fault",
        meaning: "The workflow's definition is at fault",
        suggestion: concat!(
            "the run keeps the definition that it was started with: end it (",
            step!("abort"),
            "), mend the file, and start anew"
        ),
    },
];

/// The text of a code, if it has one.
pub fn text(code: &str) -> Option<&'static Text> {
    TEXTS.iter().find(|text| text.code == code)
}

/// What was found in a report under a code, in one line. What its reader says tells more than the code does.
pub fn message_of(report: &AcceptedReport, code: &str) -> String {
    let own = report.message(code).map(str::to_owned);
    own.unwrap_or_else(|| message(code, &report.facts))
}

/// What somebody is told whose runner wrote snapshots.
const WRITTEN: &str = "What a snapshot asks for is what the code gave: read whether it is right";

/// That a suite does not run on the bench, for this reason.
pub(crate) fn ran_in_place(reason: &str) -> String {
    format!(
        "{RAN_IN_PLACE} ({reason}); `tm bench run` shows what they lack there, and the settings under `bench` give it to them"
    )
}

/// What somebody is told whose suite does not run on the bench.
const RAN_IN_PLACE: &str = "The tests are run in the working tree, not on a bench of tm's own, so that files outside of the commit may decide them";

/// What somebody is told whose new tests were not tried on a product that does nothing.
const HOLLOW_UNDECIDED: &str = "The new tests were not tried on a product that does nothing: whether they need it was not seen";

/// What somebody is told whose test command does not name every test.
pub(crate) const UNNAMED: &str = "The test command does not name every test, so that one which goes missing shows in the numbers alone: set `test.command` to a runner that names them, or let it write a report and give that beside `--verify`";

/// The warning of a test command that leads to no known runner.
pub(crate) const UNKNOWN_RUNNER: &str = concat!(
    "The runner behind the test command is not known: ",
    argument!("verify"),
    " needs it to print or write a report of tests (JUnit XML, TAP, JSON…), as an exit status is no evidence"
);

/// What was found, in one line.
pub fn message(code: &str, facts: &Map<String, Value>) -> String {
    let number = |name: &str| facts.get(name).and_then(Value::as_u64).unwrap_or(0);
    match code {
        "red_requires_failing_tests" => {
            let mut message = match number("passed") {
                1 => "RED needs failing tests, and the only one passed".to_owned(),
                many => format!("RED needs failing tests, and all {many} passed"),
            };
            if let Some(flaky) = names(facts, FLAKY) {
                message = format!("{message}, these only when they were tried again: {flaky}");
            }
            message
        }
        "no_tests_ran" if number("skipped") > 0 => {
            format!("No test ran: all {} were skipped", number("skipped"))
        }
        "green_tests_still_failing" => failing("GREEN is not reached", facts),
        "suite_failing" => failing("The full suite fails", facts),
        "runner_configured" => match names(facts, CONFIGURED) {
            Some(names) => {
                format!("What configures the runner was changed with the tests: {names}")
            }
            None => "What configures the runner was changed with the tests".to_owned(),
        },
        "findings_in_tests" => match found_in(facts) {
            Some(found) => format!(
                "Linters find something in the tests, of which GREEN may change only the form: for more than that go back ({}), mend it, and report again ({found})",
                Verb::Reopen.step().and("reason")
            ),
            None => "Linters find something in the tests, of which GREEN may change only the form"
                .to_owned(),
        },
        "checks_altered" => {
            let altered = facts.get("alteredChecks").and_then(Value::as_object);
            let told = altered
                .into_iter()
                .flatten()
                .map(|(name, why)| format!("{name} {}", why.as_str().unwrap_or_default()));
            let told: Vec<String> = told.collect();
            format!(
                "The checks of the project are not what they were: {}",
                told.join("; ")
            )
        }
        NOT_HOLLOWED => match facts
            .get("withoutProduct")
            .and_then(|run| run["undecided"].as_str())
        {
            Some(why) => format!("{HOLLOW_UNDECIDED} ({why})"),
            None => HOLLOW_UNDECIDED.to_owned(),
        },
        "ran_in_place" => match facts.get(OFF_BENCH).and_then(Value::as_str) {
            Some(reason) => ran_in_place(reason),
            None => RAN_IN_PLACE.to_owned(),
        },
        "tests_ignored" => match names(facts, IGNORED) {
            Some(names) => format!(
                "Git ignores files that were written in this run, and no commit holds them: {names}"
            ),
            None => "Git ignores files that were written in this run".to_owned(),
        },
        "snapshots_written" => match names(facts, SNAPSHOTS) {
            Some(names) => format!(
                "What these snapshots ask for is what the code gave: read whether it is right ({names})"
            ),
            None => WRITTEN.to_owned(),
        },
        "red_only_errors" => {
            let told = text(code).map_or("", |text| text.meaning);
            let which = names(facts, "newlyFailing").map(|names| format!(" ({names})"));
            format!("{told}{}", which.unwrap_or_default())
        }
        "tests_gone" => match names(facts, GONE) {
            Some(names) => format!(
                "Tests that passed before are gone or skipped ({names}): GREEN accepts that only of cases whose function still runs, and of tests that are named as taken out"
            ),
            None => "Tests that passed before are gone or skipped".to_owned(),
        },
        "coverage_below_threshold" => {
            let under: Vec<&str> = facts
                .get("under")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            format!("Coverage is under its threshold: {}", under.join(", "))
        }
        other => {
            text(other).map_or_else(|| other.replace('_', " "), |text| text.meaning.to_owned())
        }
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
    text(code)
        .map(|text| text.suggestion.to_owned())
        .unwrap_or_default()
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
