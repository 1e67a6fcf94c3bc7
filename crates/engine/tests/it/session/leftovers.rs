//! What a process left that was killed is taken away by the next one, and what is being written is not.

use std::fs::{self, File};
use std::path::PathBuf;

use engine::view::session::request::Response;

use super::stage::{PLAN, Stage};

/// Makes it look as if a process had been killed while it held a lock.
fn died(stage: &Stage, lock: &str) {
    let holder = r#"{"pid":1,"command":"tm session step","since":"2026-01-01T00:00:00.000Z"}"#;
    fs::write(stage.dir.join(lock), format!("{holder}\n")).unwrap();
}

/// Files and a folder that were never given their names.
fn left(stage: &Stage) -> Vec<PathBuf> {
    let evidence = stage.dir.join("evidence/.tramline-a.tmp");
    let file = stage.dir.join(".tramline-b.tmp");
    let folder = stage.dir.join("iteration-1/.tramline-code.tmp");
    fs::create_dir_all(folder.join("lib")).unwrap();
    for path in [&evidence, &file, &folder.join("lib/words.txt")] {
        fs::write(path, "half").unwrap();
    }
    vec![evidence, file, folder]
}

#[test]
fn whoever_comes_after_a_death_clears_up() {
    for lock in ["lock", "steps.lock"] {
        let stage = Stage::planned();
        let left = left(&stage);
        // There is nothing to do for it, and still nobody else would clear up.
        assert!(!stage.step().advanced);
        assert!(left.iter().all(|path| path.exists()));
        died(&stage, lock);
        assert!(!stage.step().advanced);
        assert!(!left.iter().any(|path| path.exists()), "{lock}");
    }
}

#[test]
fn what_is_being_written_now_is_left_alone() {
    let stage = Stage::new();
    stage.step();
    let left = left(&stage);
    let writer = File::open(&left[0]).unwrap();
    writer.lock().unwrap();
    died(&stage, "lock");
    stage
        .engine()
        .session_respond(
            Some(&stage.id),
            &Response {
                bytes: PLAN.as_bytes(),
                ..Response::default()
            },
        )
        .unwrap();
    let there: Vec<bool> = left.iter().map(|path| path.exists()).collect();
    assert_eq!(there, [true, false, false]);
}
