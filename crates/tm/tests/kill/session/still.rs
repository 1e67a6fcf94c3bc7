//! A step that can do nothing: no byte of the session changes, no file comes or goes, and nobody is asked.

use std::fs;

use testkit::{Everything, Outcome};

use super::stage::Stage;
use super::story::{Act, CODE, FAIL, PASS, PLAN, REVISION};

/// Where the code of the first iteration is waited for.
const GENERATION: &str = "iteration-1/generation-response.md";

/// Everything that a call may change.
fn now(stage: &Stage) -> Everything {
    Everything::below([&*stage.home(), &*stage.project()])
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
    let ran = Outcome::of(&{ plain }.output().unwrap());
    assert!(matches!(ran.status, 0 | 7), "{ran:?}");
    stage.tm_with(&["status"], 0);
    before.assert_same(&now(stage), phase);
    assert_eq!(stage.state(), state);
}

fn act(stage: &Stage, acts: &[Act]) {
    for act in acts {
        let ran = act.on(stage, "human", None);
        assert!(matches!(ran.status, 0 | 8), "{act:?}: {ran:?}");
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
    stands_still(&stage, "CANCELLED", 8);
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
    stands_still(&stage, "ERROR", 8);
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
