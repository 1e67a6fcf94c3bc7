//! A turn that is given again behind a kill is not taken twice.

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
    testkit::by_chance!(3);
    let env = TestEnvironment::started_on(APART, CONFIG);
    env.save(0);
    let point = "after-append";
    env.killed(SKIP, point);
    // As often as it is given. What is advised skips the next one.
    moves(&env, SKIP, "workUnit-1.2-RED");
    moves(&env, SKIP, "workUnit-1.2-RED");
    let next = format!("{SKIP} --unit workUnit-1.2-RED");
    moves(&env, &next, "workUnit-1.3-RED");
    env.restore(0);
    // What an earlier call did is not taken for what a dead one was to do for another reason.
    env.auto(SKIP).ok();
    env.killed("skip --reason neither", "before-append");
    moves(&env, "skip --reason neither", "workUnit-1.3-RED");
    env.restore(0);
    env.to_commit();
    env.save(1);
    // Another verb is another turn.
    env.killed(SKIP, point);
    assert_eq!(env.auto("reopen").code(), "not_possible");
    env.restore(1);
    env.killed("reopen", point);
    moves(&env, "reopen", "workUnit-1.1-GREEN-2");
}

#[cfg(debug_assertions)]
#[test]
fn behind_a_kill_one_commit_is_taken_back_and_not_two() {
    testkit::by_chance!(3);
    let env = TestEnvironment::started();
    env.subtask();
    env.subtask();
    env.save(0);
    let one = env.git(&["rev-parse", "HEAD^"]);
    for point in TestEnvironment::deaths(&[
        "after-append",
        "rewind-in-git",
        "rewind-after-git",
        "after-perform",
        "after-append:2",
        "after-append:3",
        "after-derived:3",
    ]) {
        env.killed("rewind last-commit", point);
        moves(&env, "rewind last-commit", "workUnit-1.2-COMMIT-2");
        assert_eq!(env.head(), one, "{point}");
        env.restore(0);
    }
    // Whoever goes elsewhere goes there.
    env.killed("rewind last-commit", "rewind-in-git");
    moves(&env, "rewind 1.1", "workUnit-1.1-RED-2");
}
