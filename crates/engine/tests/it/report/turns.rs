//! Turns that are given again, and turns that cannot be taken.

use engine::view::autopilot::request::{Abort, Evidence};

use super::stage::Stage;

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
