//! What a process left that was killed is taken away by the next one, and what is being written is not.

use std::fs::{self, File};

use engine::view::session::request::{Init, Response};

use super::stage::{PLAN, Stage};

/// Makes it look as if a process had been killed while it held a lock.
fn died(stage: &Stage, lock: &str) {
    let holder = r#"{"pid":1,"command":"tm session step","since":"2026-01-01T00:00:00.000Z"}"#;
    stage.write(lock, &format!("{holder}\n"));
}

/// Files and a folder that were never given their names.
const LEFT: [&str; 3] = [
    "evidence/.tramline-a.tmp",
    ".tramline-b.tmp",
    "iteration-1/.tramline-code.tmp",
];

fn leave(stage: &Stage) {
    for path in [LEFT[0], LEFT[1], &format!("{}/lib/words.txt", LEFT[2])] {
        stage.write(path, "half");
    }
}

/// Which of them are there.
fn left(stage: &Stage) -> [bool; 3] {
    LEFT.map(|path| fs::exists(stage.dir.join(path)).unwrap())
}

#[test]
fn whoever_comes_after_a_death_clears_up() {
    for lock in ["lock", "steps.lock"] {
        let stage = Stage::planned();
        leave(&stage);
        // There is nothing to do for it, and still nobody else would clear up.
        assert!(!stage.step().advanced);
        assert_eq!(left(&stage), [true; 3]);
        died(&stage, lock);
        assert!(!stage.step().advanced);
        assert_eq!(left(&stage), [false; 3], "{lock}");
    }
}

/// Nobody goes on with a run whose start was not answered: it is begun again.
#[test]
fn the_next_start_clears_up_in_all_runs() {
    let stage = Stage::new();
    leave(&stage);
    let mut init = Init::default();
    init.inputs.insert("request".to_owned(), "more".into());
    stage.engine().session_init(&init).unwrap();
    assert_eq!(left(&stage), [true, false, true]);
}

#[test]
fn what_is_being_written_now_is_left_alone() {
    let stage = Stage::new();
    stage.step();
    leave(&stage);
    let writer = File::open(stage.dir.join(LEFT[0])).unwrap();
    writer.lock().unwrap();
    died(&stage, "lock");
    let response = Response {
        bytes: PLAN.as_bytes(),
        ..Response::default()
    };
    let engine = stage.engine();
    engine.session_respond(Some(&stage.id), &response).unwrap();
    assert_eq!(left(&stage), [true, false, false]);
}
