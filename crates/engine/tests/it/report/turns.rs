//! Turns that are given again, and turns that cannot be taken.

use engine::Turn;
use engine::view::autopilot::request::Abort;
use serde_json::json;

use super::stage::Stage;

#[test]
fn the_same_turn_given_again_does_nothing_twice() {
    let stage = Stage::new();
    stage.start(false);
    let events = || stage.engine().log(None).unwrap().len();
    let skip = |reason| stage.engine().skip(None, None, reason).unwrap();
    stage.claims("spaces");
    let reopen = |unit: Option<&str>| {
        let engine = stage.engine().at_unit(unit);
        engine.reopen(None, &Turn::new("reopen", "wrong")).unwrap()
    };
    let first = reopen(None);
    assert_eq!(first.next_action.action, "green");
    let so_far = events();
    let again = reopen(None);
    let told = (&*again.next_action.action, events());
    assert_eq!(told, ("green", so_far));
    // What it advises does it once more.
    let unit = "workUnit-1.1-GREEN-2";
    assert!(again.message.contains(&format!("unit={unit}")));
    assert_eq!(reopen(Some(unit)).next_action.action, "red");
    assert_eq!(skip("no").next_action.action, "finalize");
    let so_far = events();
    let again = skip("no").next_action.action;
    assert_eq!((&*again, events()), ("finalize", so_far));
    // For another reason it is another turn; where it ends the run, it says how that is taken back.
    let ended = skip("neither");
    assert_eq!(ended.next_action.status.as_deref(), Some("failed"));
    assert!(ended.message.contains("to=workUnit-1-FINALIZE"));
    let mut back = Turn::new("rewind", "");
    back.flags
        .insert("to".to_owned(), json!("workUnit-1-FINALIZE"));
    let back = stage.engine().rewind(Some(&ended.run_id), &back).unwrap();
    assert_eq!(back.next_action.action, "finalize");
}

#[test]
fn another_kind_is_refused_where_nothing_in_progress_takes_it() {
    let stage = Stage::new();
    stage.start(false);
    stage.claims("spaces");
    stage.commit();
    let reopen = |flags: &[(&str, &str)]| {
        let mut turn = Turn::new("reopen", "not tested well");
        let flags = flags
            .iter()
            .map(|(name, value)| ((*name).to_owned(), json!(value)));
        turn.flags.extend(flags);
        stage.engine().reopen(None, &turn)
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
    let repair = reopen(&[]).unwrap().next_action;
    assert_eq!(repair.unit_id.as_deref(), Some("workUnit-1.fix-1-GREEN"));
    refused(&[kind]);
    stage.engine().skip(None, None, "none is needed").unwrap();
    // As advised: first reopened, then of another kind.
    reopen(&[item]).unwrap();
    assert_eq!(reopen(&[item, kind]).unwrap().next_action.action, "docs");
}

#[test]
fn what_was_aborted_is_not_aborted_twice() {
    let stage = Stage::new();
    stage.start(false);
    let abort = |unit: Option<&str>| {
        let engine = stage.engine().at_unit(unit);
        engine.abort(None, Abort::default()).unwrap()
    };
    let unit = Some("workUnit-1.1-RED");
    let first = abort(unit);
    let events = stage.engine().log(None).unwrap().len();
    for again in [abort(unit), abort(None)] {
        assert_eq!(again.run_id, first.run_id);
        assert_eq!(again.message, first.message);
    }
    let generic = stage.engine().at_unit(unit).run_abort(None).unwrap();
    assert_eq!(generic.run_id, first.run_id);
    assert_eq!(stage.engine().log(None).unwrap().len(), events);
}
