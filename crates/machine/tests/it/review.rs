//! The table of a session, row by row: what one step does in each phase, and what it waits for.

use insta::assert_snapshot;
use machine::RunStatus;
use serde_json::{Value, json};

use crate::driver::Driver;
use crate::session::{GATES, PHASES, at, before, begun, go_on, respond, standing, with_gates};
use crate::support::STATUSES;
use crate::tdd::code;

/// One step, and what comes of it: the move, every event, the effects, and the readers that are asked (the empty one
/// takes a response in).
fn stepped(driver: &mut Driver) -> String {
    let (begin, effects) = (driver.events.len(), driver.carried_out.len());
    let (asked, prompts) = (driver.asked.len(), driver.contexts.len());
    driver.step().unwrap();
    let moved = driver.moved(begin);
    assert_eq!(&moved["to"], &json!(driver.state()));
    assert_eq!(&moved["iteration"], &json!(driver.round()));
    // A prompt is there exactly where a unit is issued.
    let asks = driver.contexts.len() > prompts;
    let prompted = driver.files.contains(&driver.prompt());
    assert_eq!([!driver.unit().is_empty(), prompted], [asks, asks]);
    let noted = moved["outcome"].as_str().unwrap_or("-");
    let reason = driver.run.end_reason.as_deref().unwrap_or("-");
    format!(
        "{}.{} {} {noted} {reason}: {} | {} | {:?}\n",
        driver.state(),
        moved["iteration"],
        driver.status().name(),
        driver.names(begin).join(" "),
        driver.carried_out[effects..].join(" "),
        &driver.asked[asked..],
    )
}

#[test]
fn every_row_of_the_table() {
    let mut table = String::new();
    for phase in PHASES {
        let reads = !["INITIALIZED", "PLANNED", "GENERATED"].contains(&phase);
        for status in if reads { &STATUSES[..] } else { &STATUSES[..1] } {
            let mut driver = standing(phase);
            respond(&mut driver, status);
            let row = format!("{phase} {status} → {}", stepped(&mut driver));
            table += &row;
        }
    }
    assert_snapshot!(table, @r#"
    INITIALIZED SUCCESS → PLANNING.0 running - -: state:entered unit:issued artifact:recorded |  | []
    PLANNING SUCCESS → PLANNED.0 running SUCCESS -: effect:intended effect:done artifact:recorded report:accepted artifact:recorded state:entered | plan.store | ["response"]
    PLANNING FAILED → ERROR.0 error ERROR why it is FAILED: report:accepted artifact:recorded state:entered run:ended |  | ["response"]
    PLANNING ERROR → ERROR.0 error ERROR why it is ERROR: report:accepted artifact:recorded state:entered run:ended |  | ["response"]
    PLANNING CANCELLED → CANCELLED.0 cancelled CANCELLED why it is CANCELLED: report:accepted artifact:recorded state:entered run:ended |  | ["response"]
    PLANNING IN_PROGRESS → ERROR.0 error ERROR why it is IN_PROGRESS: report:accepted artifact:recorded state:entered run:ended |  | ["response"]
    PLANNED SUCCESS → GENERATING.1 running - -: effect:intended effect:done state:entered unit:issued artifact:recorded | iteration.open | []
    GENERATING SUCCESS → GENERATED.1 running SUCCESS -: effect:intended effect:done artifact:recorded report:accepted artifact:recorded state:entered | code.store | ["response"]
    GENERATING FAILED → ERROR.1 error ERROR why it is FAILED: report:accepted artifact:recorded state:entered run:ended |  | ["response"]
    GENERATING ERROR → ERROR.1 error ERROR why it is ERROR: report:accepted artifact:recorded state:entered run:ended |  | ["response"]
    GENERATING CANCELLED → CANCELLED.1 cancelled CANCELLED why it is CANCELLED: report:accepted artifact:recorded state:entered run:ended |  | ["response"]
    GENERATING IN_PROGRESS → ERROR.1 error ERROR why it is IN_PROGRESS: report:accepted artifact:recorded state:entered run:ended |  | ["response"]
    GENERATED SUCCESS → REVIEWING.1 running - -: state:entered |  | []
    REVIEWING SUCCESS → REVIEWED.1 running - -: report:accepted artifact:recorded state:entered |  | [""]
    REVIEWING FAILED → REVIEWED.1 running - -: report:accepted artifact:recorded state:entered |  | [""]
    REVIEWING ERROR → REVIEWED.1 running - -: report:accepted artifact:recorded state:entered |  | [""]
    REVIEWING CANCELLED → REVIEWED.1 running - -: report:accepted artifact:recorded state:entered |  | [""]
    REVIEWING IN_PROGRESS → REVIEWED.1 running - -: report:accepted artifact:recorded state:entered |  | [""]
    REVIEWED SUCCESS → COMPLETE.1 completed SUCCESS -: state:entered run:ended |  | ["response"]
    REVIEWED FAILED → REVISING.2 running FAILED -: effect:intended effect:done state:entered unit:issued artifact:recorded | iteration.open | ["response"]
    REVIEWED ERROR → ERROR.1 error ERROR why it is ERROR: state:entered run:ended |  | ["response"]
    REVIEWED CANCELLED → CANCELLED.1 cancelled CANCELLED why it is CANCELLED: state:entered run:ended |  | ["response"]
    REVIEWED IN_PROGRESS → ERROR.1 error ERROR why it is IN_PROGRESS: state:entered run:ended |  | ["response"]
    REVISING SUCCESS → REVISED.2 running - -: report:accepted artifact:recorded state:entered |  | [""]
    REVISING FAILED → REVISED.2 running - -: report:accepted artifact:recorded state:entered |  | [""]
    REVISING ERROR → REVISED.2 running - -: report:accepted artifact:recorded state:entered |  | [""]
    REVISING CANCELLED → REVISED.2 running - -: report:accepted artifact:recorded state:entered |  | [""]
    REVISING IN_PROGRESS → REVISED.2 running - -: report:accepted artifact:recorded state:entered |  | [""]
    REVISED SUCCESS → REVIEWING.2 running SUCCESS -: effect:intended effect:done artifact:recorded state:entered | code.store | ["response"]
    REVISED FAILED → ERROR.2 error ERROR why it is FAILED: state:entered run:ended |  | ["response"]
    REVISED ERROR → ERROR.2 error ERROR why it is ERROR: state:entered run:ended |  | ["response"]
    REVISED CANCELLED → CANCELLED.2 cancelled CANCELLED why it is CANCELLED: state:entered run:ended |  | ["response"]
    REVISED IN_PROGRESS → ERROR.2 error ERROR why it is IN_PROGRESS: state:entered run:ended |  | ["response"]
    "#);
}

#[test]
fn beginning_is_the_first_row_and_writes_nothing() {
    let driver = begun(json!({}));
    assert_eq!(driver.names(0), ["run:created", "state:entered"]);
    assert_eq!((driver.state(), driver.round()), ("INITIALIZED", Some(0)));
    assert!(driver.files.is_empty() && driver.carried_out.is_empty());
    assert!(driver.asked.is_empty() && driver.contexts.is_empty());
}

#[test]
fn what_the_engine_writes_stands_in_the_folder_of_its_iteration() {
    let mut driver = at("REVISED");
    go_on(&mut driver);
    driver.step().unwrap();
    let files = driver.files.iter().map(String::as_str);
    assert_snapshot!(files.collect::<Vec<_>>().join("\n"), @r"
    iteration-1/code/a.rs
    iteration-1/generation-prompt.md
    iteration-1/generation-response.md
    iteration-1/review-prompt.md
    iteration-1/review-response.md
    iteration-2/code/a.rs
    iteration-2/review-prompt.md
    iteration-2/revision-prompt.md
    iteration-2/revision-response.md
    plan.md
    planning-prompt.md
    planning-response.md
    ");
    // The effects see the new iteration, and are told whether the code before it is carried on.
    let told = driver.told.iter();
    let opened = told.filter(|(effect, _, _)| effect == "iteration.open");
    let opened: Vec<_> = opened
        .map(|(_, with, round)| (Value::Object(with.clone()), *round))
        .collect();
    let carried = (json!({ "carry": true }), Some(2));
    assert_eq!(opened, [(json!({}), Some(1)), carried]);
}

/// The blocked rows: sessions that wait for something.
fn blocked_rows() -> Vec<(String, Driver)> {
    let phases = ["PLANNING", "GENERATING", "REVIEWING", "REVISING"];
    let mut rows: Vec<_> = phases
        .map(|phase| (phase.to_owned(), standing(phase)))
        .into();
    for (gate, _) in GATES {
        rows.push((format!("gate {gate}"), before(gate, 1)));
        let mut driver = before(gate, 1);
        // A response that came before it was asked for opens no gate.
        for what in ["generation", "review"] {
            let path = format!("iteration-1/{what}-response.md");
            driver.files.insert(path);
        }
        rows.push((format!("gate {gate}, and a response"), driver));
    }
    for (phase, status) in [
        ("REVIEWED", "SUCCESS"),
        ("PLANNING", "ERROR"),
        ("PLANNING", "CANCELLED"),
    ] {
        let mut driver = at(phase);
        respond(&mut driver, status);
        driver.step().unwrap();
        rows.push((driver.state().to_owned(), driver));
    }
    let mut capped = with_gates(json!({ "maxIterations": 1 }), "REVIEWED");
    go_on(&mut capped);
    rows.push(("the cap".to_owned(), capped));
    let mut paused = at("PLANNING");
    paused.pause().unwrap();
    rows.push(("a pause".to_owned(), paused));
    rows
}

#[test]
fn a_blocked_step_says_what_it_waits_for_and_changes_nothing() {
    let mut told = String::new();
    for (name, mut driver) in blocked_rows() {
        let asked = (driver.asked.len(), driver.contexts.len());
        let files = driver.files.clone();
        let refusal = driver.step().unwrap_err();
        assert_eq!(*driver.step().unwrap_err(), *refusal, "{name}");
        let details = Value::Object(refusal.details);
        let line = format!("{name}: {} {details}\n", refusal.code);
        told += &line;
        // The profile was not asked for anything.
        assert_eq!((driver.asked.len(), driver.contexts.len()), asked, "{name}");
        assert_eq!(driver.files, files, "{name}");
    }
    assert_snapshot!(told, @r#"
    PLANNING: blocked {"path":"planning-response.md","unit":"PLANNING"}
    GENERATING: blocked {"path":"iteration-1/generation-response.md","unit":"GENERATING"}
    REVIEWING: blocked {"path":"iteration-1/review-response.md","unit":"REVIEWING"}
    REVISING: blocked {"path":"iteration-2/revision-response.md","unit":"REVISING"}
    gate plan: blocked {"hash":"h","gate":"plan"}
    gate plan, and a response: blocked {"hash":"h","gate":"plan"}
    gate code: blocked {"hash":"h","gate":"code"}
    gate code, and a response: blocked {"hash":"h","gate":"code"}
    gate review: blocked {"hash":"h","gate":"review"}
    gate review, and a response: blocked {"hash":"h","gate":"review"}
    COMPLETE: blocked {"over":"completed"}
    ERROR: blocked {"over":"error"}
    CANCELLED: blocked {"over":"cancelled"}
    the cap: blocked {"paused":"max_iterations"}
    a pause: blocked {"paused":"lunch"}
    "#);
}

#[test]
fn the_prompt_of_a_review_is_issued_by_a_step_of_its_own() {
    let mut driver = at("REVIEWING");
    assert_eq!(driver.unit(), "");
    let begin = driver.events.len();
    driver.step().unwrap();
    assert_eq!(driver.names(begin), ["unit:issued", "artifact:recorded"]);
    assert!(driver.files.contains("iteration-1/review-prompt.md"));
    assert_eq!(code(driver.step()), "blocked");
    // One that is there before it is asked for needs no prompt.
    let mut driver = at("REVIEWING");
    respond(&mut driver, "SUCCESS");
    let (begin, prompts) = (driver.events.len(), driver.contexts.len());
    driver.step().unwrap();
    assert_eq!(driver.names(begin)[..2], ["unit:issued", "report:accepted"]);
    assert_eq!(driver.state(), "REVIEWED");
    assert_eq!(driver.contexts.len(), prompts);
}

#[test]
fn a_response_may_be_there_before_its_prompt_without_being_read_in_one_go() {
    let mut driver = at("PLANNED");
    let response = "iteration-1/generation-response.md".to_owned();
    driver.files.insert(response);
    driver.step().unwrap();
    assert_eq!((driver.state(), driver.asked.len()), ("GENERATING", 1));
    respond(&mut driver, "SUCCESS");
    driver.step().unwrap();
    assert_eq!(driver.state(), "GENERATED");
    assert_eq!(driver.status(), RunStatus::Running);
}
