//! A step that can do nothing: no byte of the session changes, no file comes or goes, and nobody is asked.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::stage::{Ran, Stage};
use super::story::{Act, CODE, FAIL, PASS, PLAN, REVISION};

/// Where the code of the first iteration is waited for.
const GENERATION: &str = "iteration-1/generation-response.md";

/// Every file and folder with inode, size, rights and times.
fn everything(folder: &Path, into: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let about = path.symlink_metadata().unwrap();
        let told = format!(
            "{} {} {:o} {}.{} {}.{}",
            about.ino(),
            about.size(),
            about.mode(),
            about.mtime(),
            about.mtime_nsec(),
            about.ctime(),
            about.ctime_nsec()
        );
        into.insert(path.display().to_string(), told);
        if about.is_dir() {
            everything(&path, into);
        }
    }
}

fn now(stage: &Stage) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    everything(&stage.all(), &mut all);
    all
}

/// Takes steps by every verb there is; nothing may come of them.
fn stands_still(stage: &Stage, phase: &str, status: i32) {
    let state = stage.state();
    assert_eq!(state.phase, phase);
    let before = now(stage);
    for verb in ["step", "run", "step"] {
        stage.tm_with(&[verb], status);
    }
    let plain = stage.program(&["run", "step", "--run-id", &state.session_id, "--json"]);
    let ran = Ran::of(&{ plain }.output().unwrap());
    assert!(matches!(ran.status, Some(0 | 7)), "{ran:?}");
    stage.tm_with(&["status"], 0);
    assert_eq!(now(stage), before, "{phase}");
    assert_eq!(stage.state(), state);
}

fn act(stage: &Stage, acts: &[Act]) {
    for act in acts {
        let ran = act.on(stage, "human", None);
        assert_eq!(ran.status, Some(0), "{act:?}: {ran:?}");
    }
}

#[test]
fn a_session_that_waits_is_not_touched() {
    let stage = Stage::new();
    act(&stage, &[Act::Init, Act::Step]);
    stands_still(&stage, "PLANNING", 7);
    act(&stage, &[Act::Respond(PLAN), Act::Step]);
    stands_still(&stage, "PLANNED", 7);
    act(&stage, &[Act::Approve, Act::Step]);
    stands_still(&stage, "GENERATING", 7);
    act(&stage, &[Act::Respond(CODE), Act::Step, Act::Step]);
    stands_still(&stage, "REVIEWING", 7);
    act(&stage, &[Act::Approve, Act::Step]);
    stands_still(&stage, "REVIEWING", 7);
    act(&stage, &[Act::Respond(FAIL), Act::Step]);
    stands_still(&stage, "REVIEWED", 7);
    act(&stage, &[Act::Approve, Act::Step]);
    // Paused at the cap.
    stands_still(&stage, "REVIEWED", 7);
    act(&stage, &[Act::Reopen("3"), Act::Step]);
    stands_still(&stage, "REVISING", 7);
    act(&stage, &[Act::Respond(REVISION), Act::Step, Act::Step]);
    stands_still(&stage, "REVIEWING", 7);
    act(
        &stage,
        &[
            Act::Approve,
            Act::Step,
            Act::Respond(PASS),
            Act::Step,
            Act::Approve,
            Act::Step,
        ],
    );
    stands_still(&stage, "COMPLETE", 0);
}

#[test]
fn a_session_that_is_over_is_not_touched() {
    let stage = Stage::new();
    act(
        &stage,
        &[
            Act::Init,
            Act::Step,
            Act::Respond("VALIDATION FAILED: no request"),
            Act::Step,
        ],
    );
    stands_still(&stage, "CANCELLED", 0);
    let stage = Stage::new();
    act(
        &stage,
        &[
            Act::Init,
            Act::Step,
            Act::Respond(PLAN),
            Act::Step,
            Act::Approve,
            Act::Step,
        ],
    );
    act(&stage, &[Act::Write(GENERATION, "no file"), Act::Step]);
    stands_still(&stage, "ERROR", 0);
    act(&stage, &[Act::Reopen("")]);
    stands_still(&stage, "GENERATING", 7);
}

/// Somebody else wrote the prompt, so that the first step ever finds nothing to do but wait.
#[test]
fn no_lock_comes_to_be_where_none_was_needed() {
    let stage = Stage::new();
    act(&stage, &[Act::Init, Act::Step]);
    fs::remove_file(stage.session().join("steps.lock")).unwrap();
    stands_still(&stage, "PLANNING", 7);
    assert!(!stage.session().join("steps.lock").exists());
}
