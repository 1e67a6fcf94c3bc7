//! The table of a session, row by row: what one step does in each phase, and what it waits for.

use machine::RunStatus;
use serde_json::{Value, json};

use crate::driver::Driver;
use crate::session::{GATES, at, before, begun, go_on, one_move, respond, standing, with_gates};
use crate::support::STATUSES;
use crate::tdd::code;

/// One row: what a single step does.
struct Row {
    from: &'static str,
    /// How the response reads that is there.
    reads: &'static str,
    /// Every event, in order.
    events: &'static [&'static str],
    effects: &'static [&'static str],
    /// The readers that are asked; the empty one takes a response in.
    readers: &'static [&'static str],
    /// Whether the profile is asked for a prompt.
    asks: bool,
    to: &'static str,
    iteration: i64,
    status: RunStatus,
    outcome: Option<&'static str>,
}

/// What comes of a response that is processed, and stored by an effect.
const STORED: &[&str] = &[
    "effect:intended",
    "effect:done",
    "artifact:recorded",
    "report:accepted",
    "artifact:recorded",
    "state:entered",
];

const OPENED: &[&str] = &[
    "effect:intended",
    "effect:done",
    "state:entered",
    "unit:issued",
    "artifact:recorded",
];

const TAKEN_IN: &[&str] = &["report:accepted", "artifact:recorded", "state:entered"];

const TABLE: [Row; 10] = [
    Row {
        from: "INITIALIZED",
        reads: "SUCCESS",
        events: &["state:entered", "unit:issued", "artifact:recorded"],
        effects: &[],
        readers: &[],
        asks: true,
        to: "PLANNING",
        iteration: 0,
        status: RunStatus::Running,
        outcome: None,
    },
    Row {
        from: "PLANNING",
        reads: "SUCCESS",
        events: STORED,
        effects: &["plan.store"],
        readers: &["response"],
        asks: false,
        to: "PLANNED",
        iteration: 0,
        status: RunStatus::Running,
        outcome: Some("SUCCESS"),
    },
    Row {
        from: "PLANNED",
        reads: "SUCCESS",
        events: OPENED,
        effects: &["iteration.open"],
        readers: &[],
        asks: true,
        to: "GENERATING",
        iteration: 1,
        status: RunStatus::Running,
        outcome: None,
    },
    Row {
        from: "GENERATING",
        reads: "SUCCESS",
        events: STORED,
        effects: &["code.store"],
        readers: &["response"],
        asks: false,
        to: "GENERATED",
        iteration: 1,
        status: RunStatus::Running,
        outcome: Some("SUCCESS"),
    },
    Row {
        from: "GENERATED",
        reads: "SUCCESS",
        events: &["state:entered"],
        effects: &[],
        readers: &[],
        asks: false,
        to: "REVIEWING",
        iteration: 1,
        status: RunStatus::Running,
        outcome: None,
    },
    Row {
        from: "REVIEWING",
        reads: "FAILED",
        events: TAKEN_IN,
        effects: &[],
        readers: &[""],
        asks: false,
        to: "REVIEWED",
        iteration: 1,
        status: RunStatus::Running,
        outcome: None,
    },
    Row {
        from: "REVIEWED",
        reads: "SUCCESS",
        events: &["state:entered", "run:ended"],
        effects: &[],
        readers: &["response"],
        asks: false,
        to: "COMPLETE",
        iteration: 1,
        status: RunStatus::Completed,
        outcome: Some("SUCCESS"),
    },
    Row {
        from: "REVIEWED",
        reads: "FAILED",
        events: OPENED,
        effects: &["iteration.open"],
        readers: &["response"],
        asks: true,
        to: "REVISING",
        iteration: 2,
        status: RunStatus::Running,
        outcome: Some("FAILED"),
    },
    Row {
        from: "REVISING",
        reads: "ERROR",
        events: TAKEN_IN,
        effects: &[],
        readers: &[""],
        asks: false,
        to: "REVISED",
        iteration: 2,
        status: RunStatus::Running,
        outcome: None,
    },
    Row {
        from: "REVISED",
        reads: "SUCCESS",
        events: &[
            "effect:intended",
            "effect:done",
            "artifact:recorded",
            "state:entered",
        ],
        effects: &["code.store"],
        readers: &["response"],
        asks: false,
        to: "REVIEWING",
        iteration: 2,
        status: RunStatus::Running,
        outcome: Some("SUCCESS"),
    },
];

#[test]
fn every_row_of_the_table() {
    for row in &TABLE {
        let name = format!("{} with {}", row.from, row.reads);
        let mut driver = standing(row.from);
        respond(&mut driver, row.reads);
        let (begin, effects) = (driver.events.len(), driver.carried_out.len());
        let (asked, prompts) = (driver.asked.len(), driver.contexts.len());
        driver.step().unwrap();
        assert_eq!(driver.names(begin), row.events, "{name}");
        assert_eq!(driver.carried_out[effects..], *row.effects, "{name}");
        assert_eq!(driver.asked[asked..], *row.readers, "{name}");
        assert_eq!(
            driver.contexts.len() - prompts,
            usize::from(row.asks),
            "{name}"
        );
        assert_eq!(
            one_move(&driver, begin),
            (
                row.from.to_owned(),
                row.to.to_owned(),
                Some(row.iteration),
                row.outcome.map(str::to_owned)
            ),
            "{name}"
        );
        assert_eq!(
            (driver.state(), driver.round(), driver.status()),
            (row.to, Some(row.iteration), row.status),
            "{name}"
        );
        // A prompt is there exactly where a unit is issued.
        assert_eq!(!driver.unit().is_empty(), row.asks, "{name}");
        assert_eq!(
            row.asks,
            !driver.prompt().is_empty() && driver.files.contains(&driver.prompt()),
            "{name}"
        );
    }
}

#[test]
fn beginning_is_the_first_row_and_writes_nothing() {
    let driver = begun(json!({}));
    assert_eq!(driver.names(0), ["run:created", "state:entered"]);
    assert_eq!(driver.state(), "INITIALIZED");
    assert_eq!(
        (driver.status(), driver.round()),
        (RunStatus::Running, Some(0))
    );
    assert!(driver.files.is_empty() && driver.carried_out.is_empty());
    assert!(driver.asked.is_empty() && driver.contexts.is_empty());
}

#[test]
fn what_the_engine_writes_stands_in_the_folder_of_its_iteration() {
    let mut driver = at("REVISED");
    go_on(&mut driver);
    driver.step().unwrap();
    let expected = [
        "iteration-1/code/a.rs",
        "iteration-1/generation-prompt.md",
        "iteration-1/generation-response.md",
        "iteration-1/review-prompt.md",
        "iteration-1/review-response.md",
        "iteration-2/code/a.rs",
        "iteration-2/review-prompt.md",
        "iteration-2/revision-prompt.md",
        "iteration-2/revision-response.md",
        "plan.md",
        "planning-prompt.md",
        "planning-response.md",
    ];
    assert!(driver.files.iter().eq(expected), "{:?}", driver.files);
    // The effects see the new iteration, and are told whether the code before it is carried on.
    let opened: Vec<_> = driver
        .told
        .iter()
        .filter(|(effect, _, _)| effect == "iteration.open")
        .map(|(_, with, round)| (Value::Object(with.clone()), *round))
        .collect();
    assert_eq!(
        opened,
        [(json!({}), Some(1)), (json!({ "carry": true }), Some(2))]
    );
}

/// The blocked rows: a session, and what it waits for.
fn blocked_rows() -> Vec<(String, Driver, &'static str, &'static str)> {
    let mut rows = Vec::new();
    for (phase, path) in [
        ("PLANNING", "planning-response.md"),
        ("GENERATING", "iteration-1/generation-response.md"),
        ("REVIEWING", "iteration-1/review-response.md"),
        ("REVISING", "iteration-2/revision-response.md"),
    ] {
        rows.push((phase.to_owned(), standing(phase), "path", path));
    }
    for (gate, _) in GATES {
        rows.push((format!("gate {gate}"), before(gate, 1), "gate", gate));
        let mut driver = before(gate, 1);
        // A response that came before it was asked for opens no gate.
        driver
            .files
            .insert("iteration-1/generation-response.md".to_owned());
        driver
            .files
            .insert("iteration-1/review-response.md".to_owned());
        rows.push((format!("gate {gate}, and a response"), driver, "gate", gate));
    }
    let mut complete = at("REVIEWED");
    respond(&mut complete, "SUCCESS");
    complete.step().unwrap();
    rows.push(("COMPLETE".to_owned(), complete, "over", "completed"));
    for (status, over) in [("ERROR", "error"), ("CANCELLED", "cancelled")] {
        let mut driver = at("PLANNING");
        respond(&mut driver, status);
        driver.step().unwrap();
        rows.push((status.to_owned(), driver, "over", over));
    }
    let mut capped = with_gates(json!({ "maxIterations": 1 }), "REVIEWED");
    go_on(&mut capped);
    rows.push(("the cap".to_owned(), capped, "paused", "max_iterations"));
    let mut paused = at("PLANNING");
    paused.pause().unwrap();
    rows.push(("a pause".to_owned(), paused, "paused", "lunch"));
    rows
}

#[test]
fn a_blocked_step_says_what_it_waits_for_and_changes_nothing() {
    for (name, mut driver, what, waits_for) in blocked_rows() {
        let before = (
            driver.events.len(),
            driver.asked.len(),
            driver.contexts.len(),
        );
        let files = driver.files.clone();
        for _ in 0..2 {
            let refusal = driver.step().unwrap_err();
            assert_eq!(refusal.code, "blocked", "{name}");
            assert_eq!(refusal.details[what], waits_for, "{name}");
            // A closed gate says what it stands before, and nothing else does.
            let before_gate = refusal.details.get("hash").is_some();
            assert_eq!(before_gate, what == "gate", "{name}");
            let told = [what, "unit", if before_gate { "hash" } else { what }];
            assert!(
                refusal
                    .details
                    .keys()
                    .all(|key| told.contains(&key.as_str())),
                "{name}: {:?}",
                refusal.details
            );
        }
        let after = (
            driver.events.len(),
            driver.asked.len(),
            driver.contexts.len(),
        );
        assert_eq!(after, before, "{name}: the profile was asked");
        assert_eq!(driver.files, files, "{name}");
    }
}

#[test]
fn a_step_that_waits_for_a_response_names_its_unit() {
    let refusal = standing("GENERATING").step().unwrap_err();
    assert_eq!(refusal.details["unit"], "GENERATING");
}

#[test]
fn every_status_of_a_response_in_every_phase_that_processes_one() {
    for (phase, next) in [
        ("PLANNING", "PLANNED"),
        ("GENERATING", "GENERATED"),
        ("REVIEWED", "COMPLETE"),
        ("REVISED", "REVIEWING"),
    ] {
        for status in STATUSES {
            let name = format!("{status} in {phase}");
            let mut driver = standing(phase);
            let iteration = driver.round();
            respond(&mut driver, status);
            let (begin, effects) = (driver.events.len(), driver.carried_out.len());
            driver.step().unwrap();
            let (to, run, outcome) = match status {
                "SUCCESS" if phase == "REVIEWED" => (next, RunStatus::Completed, "SUCCESS"),
                "SUCCESS" => (next, RunStatus::Running, "SUCCESS"),
                "FAILED" if phase == "REVIEWED" => ("REVISING", RunStatus::Running, "FAILED"),
                "CANCELLED" => ("CANCELLED", RunStatus::Cancelled, "CANCELLED"),
                _ => ("ERROR", RunStatus::Error, "ERROR"),
            };
            let (_, entered, _, noted) = one_move(&driver, begin);
            assert_eq!(
                (entered.as_str(), noted.as_deref()),
                (to, Some(outcome)),
                "{name}"
            );
            assert_eq!((driver.state(), driver.status()), (to, run), "{name}");
            if matches!(run, RunStatus::Error | RunStatus::Cancelled) {
                // Never silence: the reason is told, and nothing was written.
                let reason = format!("why it is {status}");
                assert_eq!(
                    driver.run.end_reason.as_deref(),
                    Some(reason.as_str()),
                    "{name}"
                );
                assert_eq!(driver.carried_out.len(), effects, "{name}");
                assert_eq!(
                    (driver.round(), driver.unit().as_str()),
                    (iteration, ""),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn phase_only_rows_never_process_what_they_take_in() {
    for (phase, next) in [("REVIEWING", "REVIEWED"), ("REVISING", "REVISED")] {
        for status in STATUSES {
            let mut driver = standing(phase);
            respond(&mut driver, status);
            let asked = driver.asked.len();
            driver.step().unwrap();
            assert_eq!(driver.state(), next, "{status}");
            assert_eq!(driver.asked[asked..], [""], "{status}");
        }
    }
}

#[test]
fn a_prompt_that_is_gone_is_issued_again_without_a_transition() {
    for phase in ["PLANNING", "GENERATING", "REVIEWING", "REVISING"] {
        let mut driver = standing(phase);
        let prompt = driver.prompt();
        assert!(driver.files.remove(&prompt), "{phase}");
        let (begin, unit) = (driver.events.len(), driver.unit());
        let (moves, round, issues) = (
            driver.run.transitions,
            driver.round(),
            driver.run.issues.clone(),
        );
        driver.step().unwrap();
        // The same bytes as before are on record already.
        assert!(driver.names(begin).is_empty(), "{phase}");
        assert_eq!(driver.contexts.last(), Some(&unit), "{phase}");
        assert_eq!(
            (
                driver.run.transitions,
                driver.round(),
                driver.unit(),
                &driver.run.issues
            ),
            (moves, round, unit, &issues),
            "{phase}"
        );
        assert!(driver.files.contains(&prompt), "{phase}");
        // It is there now, so the next step waits for the response.
        assert_eq!(code(driver.step()), "blocked", "{phase}");
    }
}

#[test]
fn a_prompt_is_not_issued_again_once_its_response_is_there() {
    for phase in ["PLANNING", "GENERATING", "REVIEWING", "REVISING"] {
        let mut driver = standing(phase);
        driver.files.remove(&driver.prompt());
        respond(&mut driver, "SUCCESS");
        let prompts = driver.contexts.len();
        driver.step().unwrap();
        assert_ne!(driver.state(), phase);
        assert_eq!(driver.contexts.len(), prompts, "{phase}");
    }
}

#[test]
fn the_prompt_of_a_review_is_issued_by_a_step_of_its_own() {
    let mut driver = at("REVIEWING");
    assert_eq!(driver.unit(), "");
    let (begin, moves) = (driver.events.len(), driver.run.transitions);
    driver.step().unwrap();
    assert_eq!(driver.names(begin), ["unit:issued", "artifact:recorded"]);
    assert_eq!(driver.run.transitions, moves);
    assert!(driver.files.contains("iteration-1/review-prompt.md"));
    assert_eq!(code(driver.step()), "blocked");
}

#[test]
fn a_review_that_is_there_before_it_is_asked_for_needs_no_prompt() {
    let mut driver = at("REVIEWING");
    respond(&mut driver, "SUCCESS");
    let (begin, prompts) = (driver.events.len(), driver.contexts.len());
    driver.step().unwrap();
    assert_eq!(
        driver.names(begin),
        [
            "unit:issued",
            "report:accepted",
            "artifact:recorded",
            "state:entered"
        ]
    );
    assert_eq!(
        (driver.state(), driver.contexts.len()),
        ("REVIEWED", prompts)
    );
}

#[test]
fn a_response_may_be_there_before_its_prompt_without_being_read_in_one_go() {
    let mut driver = at("PLANNED");
    driver
        .files
        .insert("iteration-1/generation-response.md".to_owned());
    driver.step().unwrap();
    assert_eq!((driver.state(), driver.asked.len()), ("GENERATING", 1));
    respond(&mut driver, "SUCCESS");
    driver.step().unwrap();
    assert_eq!(driver.state(), "GENERATED");
}
