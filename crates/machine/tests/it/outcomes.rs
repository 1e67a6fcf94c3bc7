//! What comes of effects and of calling a run off, in every state of the `tdd` definition.

use machine::state::ItemStatus;
use machine::{Command, RunStatus};
use serde_json::json;

use crate::driver::Driver;
use crate::tdd::{begin, code, one, own_commit, subtask, tdd, tests, through};

#[test]
fn abort_works_everywhere() {
    type Step = fn(&mut Driver);
    let steps: [(&str, Step); 7] = [
        ("red", |_| {}),
        ("green", |driver| driver.report(tests(0, 1)).unwrap()),
        ("commit", |driver| {
            driver.report(tests(0, 1)).unwrap();
            driver.report(tests(1, 0)).unwrap();
        }),
        ("finalize", through),
        ("paused", |driver| driver.pause().unwrap()),
        ("out of attempts", |driver| {
            for failing in [1, 1, 1, 1] {
                driver.report(tests(0, failing)).unwrap();
            }
            assert_eq!(driver.status(), RunStatus::Paused);
        }),
        ("after a failed effect", |driver| {
            driver
                .effects
                .insert("git.commit".to_owned(), Err("hook_refused"));
            driver.report(tests(0, 1)).unwrap();
            driver.report(tests(1, 0)).unwrap();
            driver.report(own_commit()).unwrap();
        }),
    ];
    for (name, step) in steps {
        for cleanup in [false, true] {
            let mut driver = one();
            step(&mut driver);
            driver.abort(json!({ "cleanup": cleanup })).unwrap();
            assert_eq!(driver.status(), RunStatus::Aborted, "{name}");
            assert_eq!(driver.run.tokens.len(), 1, "{name}");
            assert_eq!(driver.unit(), "", "{name}");
            let deleted = driver.carried_out.contains(&"branch.delete".to_owned());
            assert_eq!(deleted, cleanup, "{name}");
            assert_eq!(driver.carried_out.last().unwrap(), "tag.restore", "{name}");
            assert_ne!(
                driver.run.sets["subtasks"].get("1.1").unwrap().status,
                ItemStatus::Active
            );
        }
    }
}

#[test]
fn abort_in_a_do_state_that_failed() {
    let mut driver = tdd(&json!([subtask("1.1", &[])]));
    driver
        .effects
        .insert("git.branch".to_owned(), Err("branch_exists"));
    begin(&mut driver).unwrap();
    assert_eq!(driver.paused_for(), "branch_exists");
    driver.abort(json!({})).unwrap();
    assert_eq!(driver.status(), RunStatus::Aborted);
}

#[test]
fn abort_whose_clean_up_fails_moves_nothing() {
    let mut driver = one();
    driver
        .effects
        .insert("branch.delete".to_owned(), Err("unmerged_work"));
    let unit = driver.unit();
    driver.abort(json!({ "cleanup": true })).unwrap();
    assert_eq!((driver.status(), driver.unit()), (RunStatus::Running, unit));
    driver.pause().unwrap();
    driver.abort(json!({ "cleanup": true })).unwrap();
    assert_eq!(driver.status(), RunStatus::Paused);
    driver.abort(json!({})).unwrap();
    assert_eq!(driver.status(), RunStatus::Aborted);
}

#[test]
fn an_effect_that_fails_between_states_pauses_and_resume_goes_on_there() {
    let mut driver = tdd(&json!([subtask("1.1", &[])]));
    driver
        .effects
        .insert("tag.switch".to_owned(), Err("disk_full"));
    begin(&mut driver).unwrap();
    assert_eq!(driver.paused_for(), "disk_full");
    assert_eq!(driver.run.tokens[0].state, "branch");
    driver.effects.clear();
    driver.resume().unwrap();
    assert_eq!(driver.unit(), "workUnit-1.1-RED");
    // The branch was made once: only what failed is tried again.
    assert_eq!(
        driver.carried_out,
        ["git.branch", "tag.switch", "tag.switch"]
    );
}

#[test]
fn an_effect_that_fails_on_a_report_leaves_everything_as_it_was() {
    let mut driver = one();
    driver.report(tests(0, 1)).unwrap();
    driver.report(tests(1, 0)).unwrap();
    let before = driver.run.clone();
    driver
        .effects
        .insert("git.commit".to_owned(), Err("hook_refused"));
    let begin = driver.events.len();
    driver.report(own_commit()).unwrap();
    assert_eq!(driver.names(begin), ["effect:intended", "effect:failed"]);
    let mut after = driver.run.clone();
    after.updated_at.clone_from(&before.updated_at);
    after.next_effect = before.next_effect;
    assert_eq!(after, before);
    driver.effects.insert(
        "git.commit".to_owned(),
        Ok(json!({ "sha": "abc", "owed": false })),
    );
    driver.report(own_commit()).unwrap();
    assert_eq!(driver.unit(), "workUnit-1-FINALIZE");
}

#[test]
fn an_effect_that_fails_at_the_end_does_not_keep_the_run_from_ending() {
    let mut driver = one();
    driver
        .effects
        .insert("tag.restore".to_owned(), Err("disk_full"));
    through(&mut driver);
    driver.report(tests(1, 0)).unwrap();
    assert_eq!(driver.status(), RunStatus::Completed);
}

#[test]
fn an_effect_that_fails_in_a_route_pauses_and_is_tried_again() {
    let mut driver = one();
    driver
        .effects
        .insert("task.finish".to_owned(), Err("git_busy"));
    through(&mut driver);
    driver.report(tests(1, 0)).unwrap();
    assert_eq!(driver.paused_for(), "git_busy");
    driver.effects.clear();
    driver.resume().unwrap();
    assert_eq!(driver.status(), RunStatus::Completed);
}

#[test]
fn nothing_but_its_outcome_is_taken_while_an_effect_is_under_way() {
    let mut driver = one();
    driver.report(tests(0, 1)).unwrap();
    driver.report(tests(1, 0)).unwrap();
    driver.hold = true;
    driver.report(own_commit()).unwrap();
    assert_eq!(driver.run.pending.as_ref().unwrap().name, "git.commit");
    assert_eq!(code(driver.report(own_commit())), "effect_pending");
    assert_eq!(code(driver.pause()), "effect_pending");
    assert_eq!(code(driver.abort(json!({}))), "effect_pending");
    driver.hold = false;
    driver.settle();
    let done = Command::EffectDone {
        result: json!({}),
        keep: serde_json::Map::new(),
        artifacts: Vec::new(),
    };
    assert_eq!(code(driver.send(&done)), "no_effect");
}
