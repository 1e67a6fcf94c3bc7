//! A turn that is given again is not taken twice: after a kill, after an answer that was lost, and where the caller names the unit.

use super::environment::TestEnvironment;

/// One task with three subtasks that have nothing to do with each other.
const APART: &str = r#"{"tasks": [{"id": 1, "title": "Three", "status": "pending", "subtasks": [
  {"id": 1, "title": "One", "status": "pending"},
  {"id": 2, "title": "Two", "status": "pending"},
  {"id": 3, "title": "Three", "status": "pending"}]}]}
"#;

const SKIP: &str = "skip --reason no";

fn apart() -> TestEnvironment {
    let env = TestEnvironment::with(APART, super::environment::CONFIG);
    env.auto("start 1").ok();
    env
}

#[cfg(debug_assertions)]
fn killed(env: &TestEnvironment, words: &str, point: &str) {
    let words: Vec<&str> = std::iter::once("autopilot")
        .chain(words.split(' '))
        .collect();
    let output = env
        .program(&words)
        .env("TRAMLINE_FAIL_POINT", point)
        .output()
        .unwrap();
    assert!(!output.status.success(), "{point} is not reached");
}

#[cfg(debug_assertions)]
#[test]
fn behind_a_kill_the_turn_that_was_begun_is_the_answer() {
    let env = apart();
    env.save(0);
    for point in ["after-append", "after-derived"] {
        killed(&env, SKIP, point);
        let moved = env.auto(SKIP).ok();
        assert_eq!(
            moved["nextAction"]["unitId"], "workUnit-1.2-RED",
            "{point}: {moved}"
        );
        // As often as it is given. What is advised skips the next one.
        let moved = env.auto(SKIP).ok();
        assert_eq!(moved["nextAction"]["unitId"], "workUnit-1.2-RED");
        let words = format!("{SKIP} --unit workUnit-1.2-RED");
        let moved = env.auto(&words).ok();
        assert_eq!(moved["nextAction"]["unitId"], "workUnit-1.3-RED");
        env.restore(0);
        // Another verb is another turn.
        env.red();
        env.green();
        killed(&env, SKIP, point);
        assert_eq!(env.auto("reopen").code(), "cannot_reopen");
        env.restore(0);
        env.red();
        env.green();
        killed(&env, "reopen", point);
        assert_eq!(env.auto("reopen").ok()["nextAction"]["action"], "green");
        env.restore(0);
        // What an earlier call did is not taken for what a dead one was to do for another reason.
        env.auto(SKIP).ok();
        killed(&env, "skip --reason neither", "before-append");
        let moved = env.auto("skip --reason neither").ok();
        assert_eq!(moved["nextAction"]["unitId"], "workUnit-1.3-RED");
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
    let expected = "workUnit-1.2-COMMIT-2";
    for point in [
        "after-append",
        "rewind-in-git",
        "rewind-after-git",
        "after-perform",
        "after-append:2",
        "after-append:3",
        "after-derived:3",
    ] {
        killed(&env, "rewind last-commit", point);
        let moved = env.auto("rewind last-commit").ok();
        assert_eq!(moved["nextAction"]["unitId"], expected, "{point}: {moved}");
        assert_eq!(env.head(), one, "{point}");
        env.restore(0);
        // Whoever goes elsewhere goes there.
        killed(&env, "rewind last-commit", point);
        let moved = env.auto("rewind 1.1").ok();
        assert_eq!(moved["nextAction"]["unitId"], "workUnit-1.1-RED-2");
        env.restore(0);
    }
}

#[test]
fn a_turn_at_a_unit_is_taken_once() {
    let env = apart();
    for (words, unit, next) in [
        (SKIP, "workUnit-1.1-RED", "workUnit-1.2-RED"),
        ("reopen", "workUnit-1.2-COMMIT", "workUnit-1.2-GREEN-2"),
        (
            "rewind last-commit",
            "workUnit-1.3-RED",
            "workUnit-1.2-COMMIT-3",
        ),
    ] {
        while env.unit() != unit {
            match env.action().as_str() {
                "red" => drop(env.red()),
                "green" => drop(env.green()),
                _ => drop(env.auto("commit").ok()),
            }
        }
        let words = format!("{words} --unit {unit}");
        let moved = env.auto(&words).ok();
        assert_eq!(moved["nextAction"]["unitId"], next, "{words}: {moved}");
        let (seq, head) = (env.journal().len(), env.head());
        let again = env.auto(&words).ok();
        assert_eq!(again["nextAction"]["unitId"], next, "{words}: {again}");
        assert_eq!((env.journal().len(), env.head()), (seq, head), "{words}");
    }
    // By another verb that unit was ended, or by none.
    for unit in ["workUnit-1.1-RED", "workUnit-9.9-RED"] {
        for words in ["reopen", "rewind 1.2", "pause", "resume", "abort"] {
            let words = format!("{words} --unit {unit}");
            env.refused(&words, 5, "stale_unit", "tm autopilot next");
        }
    }
    env.refused(
        "skip --reason no --unit workUnit-9.9-RED",
        5,
        "stale_unit",
        "tm autopilot next",
    );
    let allow = [
        "autopilot",
        "allow",
        "tests_changed",
        "--reason",
        "x",
        "--unit",
        "gone",
    ];
    assert_eq!(env.tm(&allow).code(), "stale_unit");
    let unit = env.unit();
    for words in ["pause", "pause", "resume", "resume", "abort"] {
        env.auto(&format!("{words} --unit {unit}")).ok();
    }
}
