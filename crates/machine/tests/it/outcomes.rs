//! What comes of effects and of calling a run off, in every state of the `tdd` definition.

use machine::state::ItemStatus;
use machine::{Command, RunStatus};
use serde_json::{Map, json};

use crate::driver::Driver;
use crate::tdd::{
    begin, code, in_green, one, own_commit, status_of, subtask, tdd, tests, to_commit, to_finalize,
};

/// From now on this effect fails so.
fn fails(mut driver: Driver, effect: &str, code: &'static str) -> Driver {
    driver.effects.insert(effect.to_owned(), Err(code));
    driver
}

fn paused() -> Driver {
    let mut driver = one();
    driver.pause().unwrap();
    driver
}

fn out_of_attempts() -> Driver {
    let mut driver = in_green();
    for _ in 0..3 {
        driver.report(tests(0, 1)).unwrap();
    }
    assert_eq!(driver.status(), RunStatus::Paused);
    driver
}

fn after_a_failed_effect() -> Driver {
    let mut driver = fails(to_commit(), "git.commit", "hook_refused");
    driver.report(own_commit()).unwrap();
    driver
}

#[test]
fn abort_works_everywhere() {
    let stages: [fn() -> Driver; 7] = [
        one,
        in_green,
        to_commit,
        to_finalize,
        paused,
        out_of_attempts,
        after_a_failed_effect,
    ];
    for (at, stage) in stages.iter().enumerate() {
        for cleanup in [false, true] {
            let mut driver = stage();
            driver.abort(json!({ "cleanup": cleanup })).unwrap();
            assert_eq!(driver.status(), RunStatus::Aborted, "{at}");
            assert_eq!(
                (driver.run.tokens.len(), driver.unit().as_str()),
                (1, ""),
                "{at}"
            );
            let deleted = driver.carried_out.contains(&"branch.delete".to_owned());
            assert_eq!(deleted, cleanup, "{at}");
            assert_eq!(driver.carried_out.last().unwrap(), "tag.restore", "{at}");
            assert_ne!(status_of(&driver, "1.1"), ItemStatus::Active, "{at}");
        }
    }
}

#[test]
fn abort_whose_clean_up_fails_moves_nothing() {
    let mut driver = fails(one(), "branch.delete", "unmerged_work");
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
    let begun = || {
        let driver = tdd(&json!([subtask("1.1", &[])]));
        let mut driver = fails(driver, "tag.switch", "disk_full");
        begin(&mut driver).unwrap();
        assert_eq!(
            (driver.state(), driver.paused_for()),
            ("branch", "disk_full")
        );
        driver
    };
    let mut driver = begun();
    driver.effects.clear();
    driver.resume().unwrap();
    assert_eq!(driver.unit(), "workUnit-1.1-RED");
    // The branch was made once: only what failed is tried again.
    assert_eq!(
        driver.carried_out,
        ["git.branch", "tag.switch", "tag.switch"]
    );
    let mut driver = begun();
    driver.abort(json!({})).unwrap();
    assert_eq!(driver.status(), RunStatus::Aborted);
}

#[test]
fn an_effect_that_fails_on_a_report_leaves_everything_as_it_was() {
    let mut driver = fails(to_commit(), "git.commit", "hook_refused");
    let (before, begin) = (driver.run.clone(), driver.events.len());
    driver.report(own_commit()).unwrap();
    assert_eq!(driver.names(begin), ["effect:intended", "effect:failed"]);
    let mut after = driver.run.clone();
    after.updated_at.clone_from(&before.updated_at);
    after.next_effect = before.next_effect;
    assert_eq!(after, before);
    let made = Ok(json!({ "sha": "abc", "owed": false }));
    driver.effects.insert("git.commit".to_owned(), made);
    driver.report(own_commit()).unwrap();
    assert_eq!(driver.unit(), "workUnit-1-FINALIZE");
}

#[test]
fn an_effect_that_fails_at_the_end_keeps_the_run_from_ending_only_in_a_route() {
    let mut driver = fails(to_finalize(), "tag.restore", "disk_full");
    driver.report(tests(1, 0)).unwrap();
    assert_eq!(driver.status(), RunStatus::Completed);
    let mut driver = fails(to_finalize(), "task.finish", "git_busy");
    driver.report(tests(1, 0)).unwrap();
    assert_eq!(driver.paused_for(), "git_busy");
    driver.effects.clear();
    driver.resume().unwrap();
    assert_eq!(driver.status(), RunStatus::Completed);
}

#[test]
fn nothing_but_its_outcome_is_taken_while_an_effect_is_under_way() {
    let mut driver = to_commit();
    driver.hold = true;
    driver.report(own_commit()).unwrap();
    assert_eq!(driver.run.pending.as_ref().unwrap().name, "git.commit");
    for refused in [
        driver.report(own_commit()),
        driver.pause(),
        driver.step(),
        driver.abort(json!({})),
    ] {
        assert_eq!(code(refused), "effect_pending");
    }
    driver.hold = false;
    driver.settle();
    let done = Command::EffectDone {
        result: json!({}),
        keep: Map::new(),
        artifacts: Vec::new(),
    };
    assert_eq!(code(driver.send(&done)), "no_effect");
}
