//! A turn that is given again is not taken twice: after a kill, after an answer that was lost, and where the caller names the unit.

use super::environment::{CONFIG, TestEnvironment};

/// One task with three subtasks that have nothing to do with each other.
const APART: &str = r#"{"tasks": [{"id": 1, "title": "Three", "status": "pending", "subtasks": [
  {"id": 1, "title": "One", "status": "pending"},
  {"id": 2, "title": "Two", "status": "pending"},
  {"id": 3, "title": "Three", "status": "pending"}]}]}
"#;

const SKIP: &str = "skip --reason no";

/// Takes a turn that leads to this unit.
fn moves(env: &TestEnvironment, words: &str, unit: &str) {
    let moved = env.auto(words).ok();
    assert_eq!(moved["nextAction"]["unitId"], unit, "{words}: {moved}");
}

#[cfg(debug_assertions)]
#[test]
fn behind_a_kill_the_turn_that_was_begun_is_the_answer() {
    let env = TestEnvironment::started_on(APART, CONFIG);
    env.save(0);
    for point in ["after-append", "after-derived"] {
        env.killed(SKIP, point);
        // As often as it is given. What is advised skips the next one.
        moves(&env, SKIP, "workUnit-1.2-RED");
        moves(&env, SKIP, "workUnit-1.2-RED");
        let next = format!("{SKIP} --unit workUnit-1.2-RED");
        moves(&env, &next, "workUnit-1.3-RED");
        env.restore(0);
        // Another verb is another turn.
        env.to_commit();
        env.killed(SKIP, point);
        assert_eq!(env.auto("reopen").code(), "cannot_reopen");
        env.restore(0);
        env.to_commit();
        env.killed("reopen", point);
        moves(&env, "reopen", "workUnit-1.1-GREEN-2");
        env.restore(0);
        // What an earlier call did is not taken for what a dead one was to do for another reason.
        env.auto(SKIP).ok();
        env.killed("skip --reason neither", "before-append");
        moves(&env, "skip --reason neither", "workUnit-1.3-RED");
        env.restore(0);
    }
}

#[cfg(debug_assertions)]
#[test]
fn behind_a_kill_one_commit_is_taken_back_and_not_two() {
    let env = TestEnvironment::started();
    env.subtask();
    env.subtask();
    env.save(0);
    let one = env.git(&["rev-parse", "HEAD^"]);
    for point in [
        "after-append",
        "rewind-in-git",
        "rewind-after-git",
        "after-perform",
        "after-append:2",
        "after-append:3",
        "after-derived:3",
    ] {
        env.killed("rewind last-commit", point);
        moves(&env, "rewind last-commit", "workUnit-1.2-COMMIT-2");
        assert_eq!(env.head(), one, "{point}");
        env.restore(0);
        // Whoever goes elsewhere goes there.
        env.killed("rewind last-commit", point);
        moves(&env, "rewind 1.1", "workUnit-1.1-RED-2");
        env.restore(0);
    }
}

#[test]
fn a_turn_at_a_unit_is_taken_once() {
    let env = TestEnvironment::started_on(APART, CONFIG);
    let twice = |words: &str, next: &str| {
        let words = format!("{words} --unit {}", env.unit());
        moves(&env, &words, next);
        let before = (env.journal(), env.head());
        moves(&env, &words, next);
        assert_eq!((env.journal(), env.head()), before, "{words}");
    };
    twice(SKIP, "workUnit-1.2-RED");
    env.to_commit();
    twice("reopen", "workUnit-1.2-GREEN-2");
    env.green();
    env.commit();
    twice("rewind last-commit", "workUnit-1.2-COMMIT-3");
    // By another verb that unit was ended, or by none.
    let allow = "allow tests_changed --reason x";
    for words in ["reopen", "rewind 1.2", "pause", "resume", "abort", allow] {
        for unit in ["workUnit-1.1-RED", "workUnit-9.9-RED"] {
            let words = format!("{words} --unit {unit}");
            env.refused(&words, 5, "stale_unit", "tm autopilot next");
        }
    }
    env.refuses(&format!("{SKIP} --unit workUnit-9.9-RED"), "stale_unit");
    let unit = env.unit();
    for words in ["pause", "pause", "resume", "resume", "abort"] {
        env.auto(&format!("{words} --unit {unit}")).ok();
    }
}
