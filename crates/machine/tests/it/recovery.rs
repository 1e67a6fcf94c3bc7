//! How a session ends, breaks down, pauses at its cap, and is taken up again.

use machine::RunStatus;
use machine::command::Command;
use serde_json::{Map, Value, json};

use crate::driver::{Driver, ann};
use crate::session::{PHASES, at, before, go_on, lead, one_move, respond, standing, with_gates};
use crate::tdd::code;

#[test]
fn a_review_that_keeps_failing_pauses_the_session_at_the_cap() {
    let mut driver = with_gates(json!({ "maxIterations": 2 }), "REVIEWED");
    go_on(&mut driver);
    lead(&mut driver, "REVIEWED");
    assert_eq!(driver.round(), Some(2));
    let (begin, moves) = (driver.events.len(), driver.run.transitions);
    go_on(&mut driver);
    assert_eq!(driver.names(begin), ["run:paused"]);
    assert_eq!(driver.paused_for(), "max_iterations");
    assert_eq!(
        (driver.state(), driver.round(), driver.run.transitions),
        ("REVIEWED", Some(2), moves)
    );
}

/// A session paused at a cap of one iteration.
fn capped() -> Driver {
    let mut driver = with_gates(json!({ "maxIterations": 1 }), "REVIEWED");
    go_on(&mut driver);
    assert_eq!(driver.paused_for(), "max_iterations");
    driver
}

fn raise(driver: &mut Driver, to: i64) {
    let mut flags = Map::new();
    flags.insert("maxIterations".to_owned(), Value::from(to));
    driver
        .send(&Command::Reopen {
            item: None,
            reason: "one more".to_owned(),
            flags,
            approval: Some(Box::new(ann())),
        })
        .unwrap();
}

#[test]
fn a_higher_cap_only_ends_the_pause() {
    let mut driver = capped();
    let (begin, files) = (driver.events.len(), driver.files.clone());
    raise(&mut driver, 3);
    assert_eq!(
        driver.names(begin),
        ["approval:given", "run:resumed", "vars:changed"]
    );
    assert_eq!(driver.run.vars["maxIterations"], 3);
    assert_eq!(
        (driver.state(), driver.status()),
        ("REVIEWED", RunStatus::Running)
    );
    assert_eq!(driver.files, files);
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
    assert_eq!(
        driver.names(begin),
        [
            "approval:given",
            "run:resumed",
            "effect:intended",
            "effect:done",
            "state:entered"
        ]
    );
    assert_eq!(
        (driver.state(), driver.status()),
        ("REVIEWING", RunStatus::Running)
    );
    assert!(!driver.files.contains("iteration-1/review-response.md"));
    respond(&mut driver, "SUCCESS");
    driver.step().unwrap();
    driver.step().unwrap();
    assert_eq!(driver.status(), RunStatus::Completed);
}

/// A session whose response in `phase` could not be read.
fn broken(phase: &str) -> Driver {
    let mut driver = standing(phase);
    respond(&mut driver, "ERROR");
    driver.step().unwrap();
    assert_eq!(driver.status(), RunStatus::Error);
    driver
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
        let mut driver = broken(phase);
        for _ in 0..2 {
            let (begin, round) = (driver.events.len(), driver.round());
            driver.reopen().unwrap();
            let (from, to, _, _) = one_move(&driver, begin);
            assert_eq!((from.as_str(), to.as_str()), ("ERROR", back), "{phase}");
            assert_eq!(
                (driver.status(), driver.round()),
                (RunStatus::Running, round),
                "{phase}"
            );
            assert!(!driver.files.contains(&driver.response()), "{phase}");
            assert_eq!(
                (&driver.run.end_reason, &driver.run.ended_at),
                (&None, &None)
            );
            // It breaks down again, and can be taken up again.
            lead(&mut driver, phase);
            respond(&mut driver, "IN_PROGRESS");
            driver.step().unwrap();
            assert_eq!(driver.status(), RunStatus::Error, "{phase}");
        }
        driver.reopen().unwrap();
        lead(&mut driver, "REVIEWED");
        respond(&mut driver, "SUCCESS");
        driver.step().unwrap();
        assert_eq!(driver.status(), RunStatus::Completed, "{phase}");
    }
}

#[test]
fn a_step_back_whose_effect_fails_can_be_taken_again() {
    for (phase, back) in BACK {
        let mut driver = broken(phase);
        driver
            .effects
            .insert("response.aside".to_owned(), Err("disk_full"));
        driver.reopen().unwrap();
        assert_eq!(driver.paused_for(), "disk_full", "{phase}");
        assert_eq!(driver.state(), "ERROR", "{phase}");
        driver.effects.clear();
        driver.reopen().unwrap();
        assert_eq!(
            (driver.state(), driver.status()),
            (back, RunStatus::Running),
            "{phase}"
        );
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
    aborted.abort(json!({})).unwrap();
    for mut driver in [complete, cancelled, aborted] {
        assert_eq!(code(driver.reopen()), "run_over");
        // The same again holds already; what came to another end is not called off.
        let (events, status) = (driver.events.len(), driver.status());
        let again = driver.abort(json!({})).is_ok();
        assert_eq!(again, status != RunStatus::Completed, "{status:?}");
        assert_eq!(driver.events.len(), events);
        assert_eq!(code(driver.pause()), "run_over");
        assert_eq!(code(driver.approve("plan")), "run_over");
        assert_eq!(code(driver.step()), "blocked");
    }
}

#[test]
fn a_session_is_called_off_anywhere() {
    for phase in PHASES {
        for paused in [false, true] {
            let mut driver = standing(phase);
            let round = driver.round();
            if paused {
                driver.pause().unwrap();
            }
            let begin = driver.events.len();
            driver.abort(json!({})).unwrap();
            assert_eq!(
                driver.names(begin),
                ["state:entered", "run:ended"],
                "{phase}"
            );
            assert_eq!(
                (driver.state(), driver.status(), driver.round()),
                ("CANCELLED", RunStatus::Cancelled, round),
                "{phase}"
            );
        }
    }
    let mut driver = capped();
    driver.abort(json!({})).unwrap();
    assert_eq!(driver.status(), RunStatus::Cancelled);
    let mut driver = before("code", 2);
    driver.abort(json!({})).unwrap();
    assert_eq!(driver.status(), RunStatus::Cancelled);
}

#[test]
fn an_effect_that_fails_never_moves_the_session() {
    for (phase, effect, pauses) in [
        ("PLANNING", "plan.store", false),
        ("PLANNED", "iteration.open", true),
        ("GENERATING", "code.store", false),
        ("REVIEWED", "iteration.open", true),
        ("REVISED", "code.store", true),
    ] {
        let mut driver = standing(phase);
        let (round, unit) = (driver.round(), driver.unit());
        respond(
            &mut driver,
            if phase == "REVIEWED" {
                "FAILED"
            } else {
                "SUCCESS"
            },
        );
        driver.effects.insert(effect.to_owned(), Err("disk_full"));
        let begin = driver.events.len();
        driver.step().unwrap();
        assert!(driver.moves(begin).is_empty(), "{phase}");
        assert_eq!((driver.state(), driver.round()), (phase, round), "{phase}");
        assert_eq!(driver.status() == RunStatus::Paused, pauses, "{phase}");
        assert_eq!(driver.unit(), unit, "{phase}");
        driver.effects.clear();
        driver.resume().unwrap();
        driver.step().unwrap();
        assert_eq!(driver.moves(begin).len(), 1, "{phase}");
    }
}

#[test]
fn while_an_effect_is_under_way_no_step_is_taken() {
    let mut driver = at("PLANNED");
    driver.hold = true;
    driver.step().unwrap();
    assert_eq!(code(driver.step()), "effect_pending");
    driver.hold = false;
    driver.settle();
    assert_eq!((driver.state(), driver.round()), ("GENERATING", Some(1)));
}
