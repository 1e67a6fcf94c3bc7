//! Turns that are given again, and turns that cannot be taken.

use engine::turn::answer::TurnAnswer;
use engine::view::autopilot::request::Evidence;
use engine::view::{AUTOPILOT, GENERIC};
use engine::{Action, Turn, Verb};
use serde_json::json;

use super::stage::Stage;

/// What comes next in a run over a task.
fn next(turned: &TurnAnswer) -> &Action {
    turned.next_action.as_ref().expect("a run that is there")
}

#[test]
fn the_same_turn_given_again_does_nothing_twice() {
    let stage = Stage::new();
    stage.start(false);
    let events = || stage.engine().log(None).unwrap().len();
    let skip = |reason| {
        stage
            .engine()
            .turn(&AUTOPILOT, None, &Turn::skip(None, reason))
            .unwrap()
    };
    stage.claims("spaces");
    let reopen = |unit: Option<&str>| {
        let engine = stage.engine().at_unit(unit);
        engine
            .turn(&AUTOPILOT, None, &Turn::new(Verb::Reopen, "wrong"))
            .unwrap()
    };
    let first = reopen(None);
    assert_eq!(next(&first).name(), "green");
    let so_far = events();
    let again = reopen(None);
    let told = (next(&again).name(), events());
    assert_eq!(told, ("green", so_far));
    // What it advises does it once more.
    let unit = "workUnit-1.1-GREEN-2";
    assert!(again.message.contains(&format!("unit={unit}")));
    assert_eq!(next(&reopen(Some(unit))).name(), "red");
    assert_eq!(next(&skip("no")).name(), "finalize");
    let so_far = events();
    let again = skip("no");
    assert_eq!((next(&again).name(), events()), ("finalize", so_far));
    // For another reason it is another turn; where it ends the run, it says how that is taken back.
    let ended = skip("neither");
    assert_eq!(next(&ended).status.as_deref(), Some("failed"));
    assert!(ended.message.contains("to=workUnit-1-FINALIZE"));
    let mut back = Turn::new(Verb::Rewind, "");
    back.flags
        .insert("to".to_owned(), json!("workUnit-1-FINALIZE"));
    let back = stage
        .engine()
        .turn(&AUTOPILOT, Some(&ended.run_id), &back)
        .unwrap();
    assert_eq!(next(&back).name(), "finalize");
}

#[test]
fn another_kind_is_refused_where_nothing_in_progress_takes_it() {
    let stage = Stage::new();
    stage.start(false);
    stage.claims("spaces");
    stage.commit();
    let reopen = |flags: &[(&str, &str)]| {
        let mut turn = Turn::new(Verb::Reopen, "not tested well");
        let flags = flags
            .iter()
            .map(|(name, value)| ((*name).to_owned(), json!(value)));
        turn.flags.extend(flags);
        stage.engine().turn(&AUTOPILOT, None, &turn)
    };
    let (item, kind) = (("item", "1.1"), ("kind", "docs"));
    let refused =
        |flags: &[(&str, &str)]| assert_eq!(reopen(flags).unwrap_err().code, "not_present");
    // Done, and another one is in progress; then nothing is.
    refused(&[item, kind]);
    stage.claims("tabs");
    stage.commit();
    refused(&[kind]);
    refused(&[item, kind]);
    // A repair stays one.
    let repair = reopen(&[]).unwrap();
    assert_eq!(next(&repair).unit_id(), Some("workUnit-1.fix-1-GREEN"));
    refused(&[kind]);
    stage
        .engine()
        .turn(&AUTOPILOT, None, &Turn::skip(None, "none is needed"))
        .unwrap();
    // As advised: first reopened, then of another kind.
    reopen(&[item]).unwrap();
    assert_eq!(next(&reopen(&[item, kind]).unwrap()).name(), "docs");
}

#[test]
fn what_was_aborted_is_not_aborted_twice() {
    let stage = Stage::new();
    stage.start(false);
    let abort = |unit: Option<&str>| {
        let engine = stage.engine().at_unit(unit);
        engine
            .turn(&AUTOPILOT, None, &Turn::abort(false, false))
            .unwrap()
    };
    let unit = Some("workUnit-1.1-RED");
    let first = abort(unit);
    let events = stage.engine().log(None).unwrap().len();
    for again in [abort(unit), abort(None)] {
        assert_eq!(again.run_id, first.run_id);
        assert_eq!(again.message, first.message);
    }
    let generic = stage
        .engine()
        .at_unit(unit)
        .turn(&GENERIC, None, &Turn::abort(false, false))
        .unwrap();
    assert_eq!(generic.run_id, first.run_id);
    assert_eq!(stage.engine().log(None).unwrap().len(), events);
}

#[test]
fn a_report_that_was_not_accepted_is_told_that_the_run_was_aborted_since() {
    let stage = Stage::new();
    stage.start(false);
    stage.write("tests/spaces.sh", "false\n");
    stage.accepted("red", Evidence::claimed("failed:1,passed:1"));
    let fails = || {
        stage
            .tell("green", Evidence::claimed("failed:1,passed:1"))
            .code
    };
    // The last one pauses the run.
    for _ in 0..3 {
        assert_eq!(fails().as_deref(), Some("green_tests_still_failing"));
    }
    let abort = Turn::abort(false, false);
    stage.engine().turn(&AUTOPILOT, None, &abort).unwrap();
    assert_eq!(fails().as_deref(), Some("run_over"));
}
