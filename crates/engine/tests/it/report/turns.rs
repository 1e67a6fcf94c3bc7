//! Turns that are given again, and turns that cannot be taken.

use engine::Turn;
use engine::view::autopilot::request::{Abort, Evidence};
use serde_json::json;

use super::stage::Stage;

/// Takes a subtask to COMMIT.
fn to_commit(stage: &Stage, name: &str) {
    stage.write(&format!("tests/{name}.sh"), "false\n");
    stage.accepted("red", Evidence::claimed("failed:1,passed:1"));
    stage.write(&format!("src/{name}.sh"), "true\n");
    stage.accepted("green", Evidence::claimed("failed:0,passed:3"));
}

#[test]
fn the_same_turn_given_again_does_nothing_twice() {
    let stage = Stage::new();
    stage.start(Evidence::default());
    let events = || stage.engine().log(None).unwrap().len();
    let skip = |reason| stage.engine().skip(None, None, reason).unwrap();
    to_commit(&stage, "spaces");
    let reopen = |unit: Option<&str>| {
        let engine = stage.engine().at_unit(unit);
        engine.reopen(None, &Turn::new("reopen", "wrong")).unwrap()
    };
    let first = reopen(None);
    assert_eq!(first.next_action.action, "green");
    let so_far = events();
    let again = reopen(None);
    assert_eq!(
        (again.next_action.action.as_str(), events()),
        ("green", so_far)
    );
    // What it advises does it once more.
    assert!(
        again.message.contains("unit=workUnit-1.1-GREEN-2"),
        "{again:?}"
    );
    assert_eq!(
        reopen(Some("workUnit-1.1-GREEN-2")).next_action.action,
        "red"
    );
    let first = skip("no");
    assert_eq!(first.next_action.action, "finalize");
    let so_far = events();
    let again = skip("no");
    assert_eq!(
        (again.next_action.action.as_str(), events()),
        ("finalize", so_far)
    );
    // For another reason it is another turn; where it ends the run, it says how that is taken back.
    let ended = skip("neither");
    assert_eq!(ended.next_action.status.as_deref(), Some("failed"));
    assert!(
        ended.message.contains("to=workUnit-1-FINALIZE"),
        "{ended:?}"
    );
    let mut back = Turn::new("rewind", "");
    back.flags
        .insert("to".to_owned(), json!("workUnit-1-FINALIZE"));
    let back = stage.engine().rewind(Some(&ended.run_id), &back).unwrap();
    assert_eq!(back.next_action.action, "finalize");
}

#[test]
fn another_kind_is_refused_where_nothing_in_progress_takes_it() {
    let stage = Stage::new();
    stage.start(Evidence::default());
    to_commit(&stage, "spaces");
    stage.commit();
    let reopen = |item: Option<&str>, kind: Option<&str>| {
        let mut turn = Turn::new("reopen", "not tested well");
        let given = [("item", item), ("kind", kind)];
        for (name, value) in given {
            if let Some(value) = value {
                turn.flags.insert(name.to_owned(), json!(value));
            }
        }
        stage.engine().reopen(None, &turn)
    };
    // Done, and another one is in progress; then nothing is.
    let fault = reopen(Some("1.1"), Some("docs")).unwrap_err();
    assert_eq!(fault.code, "not_present");
    to_commit(&stage, "tabs");
    stage.commit();
    for item in [None, Some("1.1")] {
        let fault = reopen(item, Some("docs")).unwrap_err();
        assert_eq!(fault.code, "not_present");
    }
    // A repair stays one.
    let repair = reopen(None, None).unwrap().next_action;
    assert_eq!(repair.unit_id.as_deref(), Some("workUnit-1.fix-1-GREEN"));
    assert_eq!(reopen(None, Some("docs")).unwrap_err().code, "not_present");
    stage.engine().skip(None, None, "none is needed").unwrap();
    // As advised: first reopened, then of another kind.
    reopen(Some("1.1"), None).unwrap();
    let docs = reopen(Some("1.1"), Some("docs")).unwrap().next_action;
    assert_eq!(docs.action, "docs");
}

#[test]
fn what_was_aborted_is_not_aborted_twice() {
    let stage = Stage::new();
    stage.start(Evidence::default());
    let abort = |unit: Option<&str>| {
        let engine = stage.engine().at_unit(unit);
        engine.abort(None, Abort::default()).unwrap()
    };
    let unit = Some("workUnit-1.1-RED");
    let first = abort(unit);
    let events = stage.engine().log(None).unwrap().len();
    for again in [abort(unit), abort(None)] {
        assert_eq!(
            (again.run_id, again.message),
            (first.run_id.clone(), first.message.clone())
        );
    }
    let generic = stage.engine().at_unit(unit).run_abort(None).unwrap();
    assert_eq!(generic.run_id, first.run_id);
    assert_eq!(stage.engine().log(None).unwrap().len(), events);
}
