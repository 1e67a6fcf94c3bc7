//! A way back: the run is as it was, what is given once goes on, and nobody gets more attempts by it.

use machine::state::{ItemStatus, RunState};
use machine::{Event, RunStatus};
use proptest::prelude::*;
use serde_json::json;

use crate::commands;
use crate::driver::{Driver, reading};
use crate::marked::{proves, refuses, states, with};
use crate::tdd::{attempt, code, in_green, mended, own_commit, status_of, tests, three, through};

/// The numbers of the events behind which the run stood where somebody was asked for something.
fn steps(driver: &Driver) -> Vec<usize> {
    let mut run = RunState::default();
    let mut steps = Vec::new();
    for (at, (time, event)) in driver.events.iter().enumerate() {
        run.apply(time, event);
        if run.is_a_step() && matches!(event, Event::UnitIssued { .. }) {
            steps.push(at + 1);
        }
    }
    steps
}

#[test]
fn a_run_goes_back_to_a_step_and_on_from_there() {
    let mut driver = three();
    let begin = driver.events.len();
    through(&mut driver);
    let (after, stood) = (driver.events.len(), driver.run.clone());
    assert_eq!(code(driver.rewind(1)), "not_possible");
    driver.rewind(begin).unwrap();
    assert_eq!(driver.unit(), "workUnit-1.1-RED-2");
    assert_eq!(status_of(&driver, "1.1"), ItemStatus::Active);
    assert_eq!(status_of(&driver, "1.2"), ItemStatus::Open);
    let reason = driver.run.tokens.last().unwrap().reason.as_deref();
    assert_eq!(reason, Some("it went wrong"));
    assert_eq!(driver.carried_out.last().unwrap(), "tag.switch");
    // A way back can be taken back.
    driver.rewind(after).unwrap();
    assert_eq!(driver.unit(), "workUnit-1.2-RED-2");
    assert_eq!(driver.run.sets, stood.sets);
    assert_eq!(driver.run.kept, stood.kept);
    driver.rewind(begin).unwrap();
    through(&mut driver);
    assert_eq!(driver.unit(), "workUnit-1.2-RED-3");
    // What fails on the way leaves the run where it is.
    let fails = ("git.rewind".to_owned(), Err("lock_timeout"));
    driver.effects.extend([fails]);
    driver.rewind(begin).unwrap();
    assert_eq!(driver.unit(), "workUnit-1.2-RED-3");
    assert_eq!(driver.status(), RunStatus::Running);
}

#[test]
fn attempts_that_were_used_up_stay_so() {
    let mut driver = three();
    let begin = driver.events.len();
    driver.after("fail");
    let green = driver.events.len();
    driver.after("fail");
    driver.rewind(green).unwrap();
    assert_eq!(attempt(&driver), ("workUnit-1.1-GREEN-3", 2));
    // Nor does it help to go back to where the item was not begun.
    driver.after("pass commit fail fail");
    driver.rewind(begin).unwrap();
    driver.after("fail pass commit fail");
    assert_eq!(attempt(&driver).1, 2);
    driver.after("fail fail");
    assert_eq!(driver.paused_for(), "max_attempts_reached");
}

#[test]
fn out_of_a_pause_by_a_rule_or_a_call_off_a_person_leads() {
    for stopped in ["fail fail fail", "abort"] {
        let mut driver = in_green();
        let green = driver.events.len();
        driver.after(stopped);
        let alone = commands::rewind(green as u64, None);
        assert_eq!(code(driver.send(&alone)), "needs_person");
        driver.rewind(green).unwrap();
        assert_eq!(attempt(&driver).1, 1);
        assert_eq!(driver.status(), RunStatus::Running);
    }
    // Nor does one lead back where the workflow does not say how.
    let mut older = Driver::small("", "a: { work: {}, to: z }");
    let begin = older.events.len();
    assert_eq!(code(older.rewind(begin)), "not_possible");
}

#[test]
fn what_is_in_progress_begins_again_on_a_branch_that_is_adopted() {
    let mut driver = three();
    through(&mut driver);
    driver.report(tests(0, 1)).unwrap();
    driver.after("fail");
    driver.send(&commands::adopt(&[])).unwrap();
    assert_eq!(driver.unit(), "workUnit-1.2-RED-2");
    assert_eq!(driver.run.kept["lastCommit"], "c0ffee");
    assert_eq!(status_of(&driver, "1.1"), ItemStatus::Done);
    assert!(driver.run.tokens.last().unwrap().kept.is_empty());
    // Nobody has more attempts by it.
    driver.report(tests(0, 1)).unwrap();
    assert_eq!(attempt(&driver), ("workUnit-1.2-GREEN-3", 2));
    driver.after("pass commit");
    driver.skip().unwrap();
    assert_eq!(driver.unit(), "workUnit-1-FINALIZE");
    driver.send(&commands::adopt(&[])).unwrap();
    assert_eq!(driver.unit(), "workUnit-1-FINALIZE-2");
    // What is not there any more is done again.
    driver.send(&commands::adopt(&["1.1", "7.7"])).unwrap();
    assert_eq!(driver.unit(), "workUnit-1.1-RED-2");
    assert_eq!(status_of(&driver, "1.2"), ItemStatus::Done);
    let mut other = Driver::small("", "a: { work: {}, to: z }");
    assert_eq!(code(other.send(&commands::adopt(&[]))), "not_possible");
}

#[test]
fn a_finished_item_is_done_again() {
    let mut driver = three();
    through(&mut driver);
    // Its turn comes when what is in hand is over.
    driver.reopen_item(Some("1.1")).unwrap();
    assert_eq!(driver.unit(), "workUnit-1.2-RED");
    assert_eq!(status_of(&driver, "1.1"), ItemStatus::Open);
    through(&mut driver);
    assert_eq!(driver.unit(), "workUnit-1.1-RED-2");
    through(&mut driver);
    driver.skip().unwrap();
    assert_eq!(status_of(&driver, "1.3"), ItemStatus::Failed);
    // From behind all of them the run goes back to them, and no repair is added.
    assert_eq!(driver.unit(), "workUnit-1-FINALIZE");
    driver.reopen_item(Some("1.3")).unwrap();
    assert_eq!(driver.unit(), "workUnit-1.3-RED-2");
    assert_eq!(driver.run.sets["subtasks"].len(), 3);
    // Given again, it says that the item is in progress.
    let again = driver.reopen_item(Some("1.3")).unwrap_err();
    assert_eq!(again.code, "not_possible");
    assert_eq!(again.details["item"], "1.3");
    assert_eq!(code(driver.reopen_item(Some("1.4"))), "not_present");
}

#[test]
fn a_way_back_says_nothing_but_how() {
    for row in [
        "rewind: {}",
        "rewind: { do: git.rewind }",
        "rewind: §{ do: git.rewind, to: a } # misplaced_key",
    ] {
        let framed = |on: &str| with(&format!("on: {{ {on} }}"), "a: { work: {}, to: z }");
        proves(row, framed);
    }
    let own = states("a: { work: {}, to: z, on: { §rewind: {} } }");
    refuses("bad_event", &own);
}

/// What an agent does next.
#[derive(Debug, Clone, Copy)]
enum Act {
    Report,
    Retry,
    Reopen,
    Skip,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        8 => Just(Act::Report),
        1 => Just(Act::Retry),
        1 => Just(Act::Reopen),
        1 => Just(Act::Skip),
    ]
}

/// Does it, where it can be done.
fn done(driver: &mut Driver, act: Act) {
    let waiting = driver.run.waiting().next();
    let facts = match (waiting.map_or("", |(token, _)| &token.state), act) {
        ("red", _) | ("green", Act::Retry) => tests(0, 1),
        ("green", _) => mended(1),
        ("commit", _) => own_commit(),
        _ => tests(1, 0),
    };
    let _ = match act {
        Act::Reopen => driver.reopen(),
        Act::Skip => driver.skip(),
        Act::Report | Act::Retry => driver.report(facts),
    };
}

/// What counts of a run at its end.
fn end(driver: &Driver) -> serde_json::Value {
    let run = &driver.run;
    json!({
        "status": run.status.name(), "vars": run.vars, "sets": run.sets, "kept": run.kept,
        "states": run.tokens.iter().map(|token| token.state.clone()).collect::<Vec<_>>(),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    /// Back to every step of a run, and forward again: the end is the same.
    #[test]
    fn back_and_forward_again_comes_to_the_same(acts in proptest::collection::vec(act(), 0..24)) {
        let begun = || {
            let mut driver = three();
            driver.readings.insert("commit".to_owned(), reading(own_commit()));
            driver
        };
        // However often it is tried, no attempt is the last one.
        let mut first = begun();
        first.run.inputs.insert("maxAttempts".to_owned(), json!(100));
        let mut stood = vec![first.events.len()];
        for act in &acts {
            done(&mut first, *act);
            stood.push(first.events.len());
        }
        let known = steps(&first);
        for (at, to) in stood.iter().enumerate() {
            if !known.contains(to) {
                continue;
            }
            let mut again = begun();
            again.run.inputs.insert("maxAttempts".to_owned(), json!(100));
            for act in &acts {
                done(&mut again, *act);
            }
            again.rewind(*to).unwrap();
            for act in &acts[at..] {
                done(&mut again, *act);
            }
            prop_assert_eq!(end(&again), end(&first), "back to {} of {:?}", to, acts);
        }
    }
}
