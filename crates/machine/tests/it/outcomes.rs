//! What comes of effects and of calling a run off, in every state of the `tdd` definition.

use machine::RunStatus;
use machine::state::ItemStatus;
use serde_json::json;

use crate::commands;
use crate::driver::Driver;
use crate::tdd::{begin, code, one, status_of, subtask, tdd, to_commit, to_finalize};

/// From now on this effect fails so.
fn fails(mut driver: Driver, effect: &str, code: &'static str) -> Driver {
    driver.effects.insert(effect.to_owned(), Err(code));
    driver
}

#[test]
fn abort_works_everywhere() {
    let all = "resume|fail|fail pass|fail pass commit|pause|fail fail fail fail|fail pass skip";
    for before in all.split('|') {
        for (abort, cleanup) in [("abort", false), ("abort:cleanup", true)] {
            let mut driver = one();
            driver.after(before);
            assert_eq!(driver.after(abort), "aborted", "{before}");
            assert_eq!(driver.run.tokens.len(), 1, "{before}");
            let deleted = driver.carried_out.contains(&"branch.delete".to_owned());
            assert_eq!(deleted, cleanup, "{before}");
            assert_eq!(driver.carried_out.last().unwrap(), "tag.restore");
            assert_ne!(status_of(&driver, "1.1"), ItemStatus::Active, "{before}");
        }
    }
    let mut driver = fails(to_commit(), "git.commit", "hook_refused");
    assert_eq!(driver.after("commit abort"), "workUnit-1.1-COMMIT aborted");
}

#[test]
fn abort_whose_clean_up_fails_moves_nothing() {
    let mut driver = fails(one(), "branch.delete", "unmerged_work");
    let told = driver.after("abort:cleanup pause abort:cleanup abort");
    assert_eq!(told, "workUnit-1.1-RED paused:lunch paused:lunch aborted");
}

#[test]
fn an_effect_that_fails_between_states_pauses_and_resume_goes_on_there() {
    for (then, expected) in [("resume", "workUnit-1.1-RED"), ("abort", "aborted")] {
        let driver = tdd(&json!([subtask("1.1", &[])]));
        let mut driver = fails(driver, "tag.switch", "disk_full");
        begin(&mut driver).unwrap();
        assert_eq!(driver.paused_for(), "disk_full");
        assert_eq!(driver.state(), "branch");
        driver.effects.clear();
        assert_eq!(driver.after(then), expected);
        // The branch was made once: only what failed is tried again.
        let made = driver.carried_out.iter();
        assert_eq!(made.filter(|effect| *effect == "git.branch").count(), 1);
    }
}

#[test]
fn an_effect_that_fails_at_the_end_keeps_the_run_from_ending_only_in_a_route() {
    let mut driver = fails(to_finalize(), "tag.restore", "disk_full");
    assert_eq!(driver.after("pass"), "completed");
    let mut driver = fails(to_finalize(), "task.finish", "lock_timeout");
    assert_eq!(driver.after("pass"), "paused:lock_timeout");
    driver.effects.clear();
    assert_eq!(driver.after("resume"), "completed");
}

#[test]
fn nothing_but_its_outcome_is_taken_while_an_effect_is_under_way() {
    let mut driver = to_commit();
    driver.hold = true;
    driver.after("commit");
    assert_eq!(driver.run.pending.as_ref().unwrap().name, "git.commit");
    let refused = ["!internal"; 4].join(" ");
    assert_eq!(driver.after("commit pause step abort"), refused);
    driver.hold = false;
    driver.settle();
    assert_eq!(driver.status(), RunStatus::Running);
    let done = commands::effect_done(json!({}));
    assert_eq!(code(driver.send(&done)), "internal");
}
