//! How a session ends, breaks down, pauses at its cap, and is taken up again.

use machine::RunStatus;
use serde_json::json;

use crate::commands;
use crate::driver::{Driver, ann};
use crate::session::{at, go_on, lead, respond, standing, with_gates};

/// A session paused at a cap of one iteration.
fn capped() -> Driver {
    let mut driver = with_gates(json!({ "maxIterations": 1 }), "REVIEWED");
    let begin = driver.events.len();
    go_on(&mut driver);
    assert_eq!(driver.names(begin), ["run:paused"]);
    assert_eq!(driver.paused_for(), "max_iterations");
    driver
}

fn raise(driver: &mut Driver, to: i64) {
    let reopen = commands::reopen(None, json!({ "maxIterations": to }), Some(ann().into()));
    driver.send(&reopen).unwrap();
}

#[test]
fn a_higher_cap_only_ends_the_pause() {
    let mut driver = capped();
    let (begin, files) = (driver.events.len(), driver.files.clone());
    raise(&mut driver, 3);
    let expected = ["approval:given", "run:resumed", "vars:changed"];
    assert_eq!(driver.names(begin), expected);
    assert_eq!(driver.run.vars["maxIterations"], 3);
    assert_eq!((driver.state(), driver.files.clone()), ("REVIEWED", files));
    // The same review is processed by the next step.
    driver.step().unwrap();
    assert_eq!((driver.state(), driver.round()), ("REVISING", Some(2)));
    // A cap that is no higher pauses again.
    let mut driver = capped();
    raise(&mut driver, 1);
    driver.step().unwrap();
    assert_eq!(driver.paused_for(), "max_iterations");
}

#[test]
fn a_session_at_the_cap_may_go_back_to_its_review() {
    let mut driver = capped();
    let begin = driver.events.len();
    driver.reopen().unwrap();
    assert_eq!(driver.names(begin)[..2], ["approval:given", "run:resumed"]);
    let aside = ["effect:intended", "effect:done", "state:entered"];
    assert_eq!(driver.names(begin)[2..], aside);
    assert_eq!(driver.state(), "REVIEWING");
    assert_eq!(driver.status(), RunStatus::Running);
    assert!(!driver.files.contains("iteration-1/review-response.md"));
    // The prompt that stands there asks for it: it is asked for anew, and not written.
    assert_eq!(driver.after("step step"), "REVIEWING-2 !blocked");
    respond(&mut driver, "SUCCESS");
    assert_eq!(driver.after("step step"), "(REVIEWED) completed");
}

const BACK: [(&str, &str); 4] = [
    ("PLANNING", "PLANNING"),
    ("GENERATING", "GENERATING"),
    ("REVIEWED", "REVIEWING"),
    ("REVISED", "REVISING"),
];

#[test]
fn a_session_in_error_goes_back_to_the_waiting_phase_it_came_from() {
    for (phase, back) in BACK {
        let mut driver = standing(phase);
        for _ in 0..2 {
            // Its response cannot be read; it breaks down, and can be taken up again.
            lead(&mut driver, phase);
            respond(&mut driver, "ERROR");
            driver.step().unwrap();
            assert_eq!(driver.status(), RunStatus::Error, "{phase}");
            let (begin, round) = (driver.events.len(), driver.round());
            // A step back whose effect fails can be taken again.
            let aside = "response.aside".to_owned();
            driver.effects.insert(aside, Err("disk_full"));
            driver.reopen().unwrap();
            assert_eq!(driver.state(), "ERROR");
            assert_eq!(driver.paused_for(), "disk_full");
            driver.effects.clear();
            driver.reopen().unwrap();
            let moved = driver.moved(begin);
            assert_eq!([&moved["from"], &moved["to"]], ["ERROR", back]);
            assert_eq!(driver.status(), RunStatus::Running);
            assert_eq!(driver.round(), round);
            assert!(!driver.files.contains(&driver.response()), "{phase}");
            let ended = (&driver.run.end_reason, &driver.run.ended_at);
            assert_eq!(ended, (&None, &None));
        }
        lead(&mut driver, "REVIEWED");
        respond(&mut driver, "SUCCESS");
        driver.step().unwrap();
        assert_eq!(driver.status(), RunStatus::Completed, "{phase}");
    }
}

#[test]
fn what_is_complete_or_called_off_stays_so() {
    let mut complete = at("REVIEWED");
    respond(&mut complete, "SUCCESS");
    complete.step().unwrap();
    let mut cancelled = at("GENERATING");
    respond(&mut cancelled, "CANCELLED");
    cancelled.step().unwrap();
    let mut aborted = at("REVIEWING");
    assert_eq!(aborted.after("abort"), "cancelled");
    // The same again holds already; what came to another end is not called off.
    for (mut driver, abort) in [
        (complete, "!run_over"),
        (cancelled, "cancelled"),
        (aborted, "cancelled"),
    ] {
        let events = driver.events.len();
        let refused = driver.after("reopen abort pause approve:plan step");
        let expected = format!("!run_over {abort} !run_over !run_over !blocked");
        assert_eq!(refused, expected);
        assert_eq!(driver.events.len(), events);
    }
}
