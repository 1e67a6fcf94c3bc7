//! The table of a session, row by row: what one step does in each phase, and what it waits for.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::driver::Driver;
use crate::session::{PHASES, at, before, go_on, respond, standing, with_gates};
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
fn a_blocked_step_says_what_it_waits_for() {
    let mut over = at("REVIEWED");
    respond(&mut over, "SUCCESS");
    over.step().unwrap();
    let mut capped = with_gates(json!({ "maxIterations": 1 }), "REVIEWED");
    go_on(&mut capped);
    for (mut driver, details) in [
        (
            standing("REVISING"),
            json!({ "path": "iteration-2/revision-response.md", "unit": "REVISING" }),
        ),
        (before("plan", 1), json!({ "hash": "h", "gate": "plan" })),
        (over, json!({ "over": "completed" })),
        (capped, json!({ "paused": "max_iterations" })),
    ] {
        // A response that came before it was asked for opens no gate.
        driver
            .files
            .insert("iteration-1/generation-response.md".to_owned());
        let asked = (driver.asked.len(), driver.contexts.len());
        let refusal = driver.step().unwrap_err();
        assert_eq!(refusal.code, "blocked");
        assert_eq!(Value::Object(refusal.details), details);
        // The profile was not asked for anything.
        assert_eq!((driver.asked.len(), driver.contexts.len()), asked);
    }
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
