//! Where a run stands: paused, over, on another branch, reported twice.

use serde_json::Value;

use super::environment::{BRANCH, CONFIG, FINALIZE, GREEN, RED, TestEnvironment, tells};

#[test]
fn without_a_run_there_is_nothing() {
    testkit::by_chance!(3);
    let env = TestEnvironment::new();
    for words in ["next", "status", "commit", "reopen", "abort", RED, FINALIZE] {
        env.refused(words, 4, "no_run", "tm autopilot start");
    }
    env.auto("start 1").ok();
    env.refused("status --run-id nonsense", 4, "no_run", "tm runs list");
    env.refused("status --tag nonsense", 4, "no_run", "--tag");
}

/// Nothing is reported or committed on the wrong branch, whatever the flags.
#[test]
fn every_phase_is_reported_from_the_runs_own_branch() {
    testkit::by_chance!(3);
    let env = TestEnvironment::new();
    env.git(&["switch", "--quiet", "--create", "dev"]);
    env.git(&["branch", "other"]);
    env.auto("start 1").ok();
    let way_back = format!("git switch {BRANCH}");
    let check = |words: &[&str]| {
        for branch in ["dev", "other"] {
            env.switch(branch);
            for words in words {
                env.refused(words, 3, "wrong_branch", &way_back);
            }
        }
        env.switch(BRANCH);
        env.auto(words[0]).ok();
    };
    env.write("tests/a.sh", "test\n");
    check(&[RED]);
    env.write("src/a.sh", "code\n");
    check(&[GREEN]);
    let files = "commit --files src/a.sh";
    check(&["commit", "commit --message x", files, "commit --sha HEAD"]);
    env.subtask();
    check(&[FINALIZE]);
}

#[test]
fn a_paused_run_takes_no_report_and_is_resumed_on_its_branch() {
    testkit::by_chance!(3);
    let env = TestEnvironment::started();
    env.write("tests/a.sh", "test\n");
    env.auto("pause --reason lunch").ok();
    let answer = env.refused(RED, 5, "paused", "tm autopilot resume");
    tells(answer.message(), &["lunch"]);
    assert_eq!(env.next()["pausedReason"], "lunch");
    // Pausing again and resuming twice are no faults.
    let before = env.journal();
    env.auto("pause --reason again").ok();
    assert_eq!(env.journal(), before);
    env.switch("main");
    let way_back = format!("git switch {BRANCH}");
    env.refused("resume", 3, "wrong_branch", &way_back);
    env.switch(BRANCH);
    assert_eq!(env.auto("resume").ok()["resumed"], true);
    let before = env.journal();
    env.auto("resume").ok();
    assert_eq!(env.journal(), before);
    env.auto(RED).ok();
}

#[test]
fn a_run_that_is_over_takes_nothing() {
    testkit::by_chance!(3);
    let env = TestEnvironment::at_the_end();
    env.save(0);
    env.auto(FINALIZE).ok();
    let complete = "complete red 1.1 --results failed:9,passed:0";
    let answer = env.refused(complete, 3, "run_over", "tm runs report");
    assert_eq!(answer.json()["nextAction"]["action"], "complete");
    for words in ["skip --reason x", "reopen", "pause", "resume", "abort"] {
        env.refused(words, 4, "run_over", "tm runs report");
    }
    assert_eq!(env.next()["status"], "completed");
    // One that was called off says so; its branch stays.
    env.restore(0);
    let aborted = env.auto("abort").ok();
    assert_eq!(env.auto("abort").ok(), aborted, "the same again");
    env.refused("next", 4, "run_over", "tm autopilot start");
    env.refused(GREEN, 3, "run_over", "tm runs report");
    assert_eq!(env.branch(), BRANCH);
}

/// The answer to a commit that was answered before, as it was the first time.
fn told_again(mut answer: Value) -> Value {
    let told = answer.as_object_mut().unwrap();
    assert_eq!(told.remove("alreadyCommitted"), Some(Value::Bool(true)));
    assert!(told.remove("warning").is_some(), "{told:#?}");
    answer
}

#[test]
fn a_commit_out_of_turn_does_not_pass_for_a_new_one() {
    testkit::by_chance!(3);
    let tasks = r#"{"master": {"tasks": [{"id": 1, "title": "t", "status": "pending", "subtasks": [
        {"id": 1, "title": "a", "status": "pending"},
        {"id": 2, "title": "b", "status": "pending"},
        {"id": 3, "title": "c", "status": "pending", "kind": "chore"}
    ]}]}}"#;
    let env = TestEnvironment::started_on(tasks, CONFIG);
    let refused = || {
        for _ in 0..3 {
            env.refused("commit", 5, "stale_unit", "tm autopilot next");
        }
    };
    refused();
    let made = env.subtask();
    // Whoever has lost the answer has done nothing since.
    let again = env.commit();
    assert_eq!(again["nextAction"]["action"], "red", "{again:#}");
    assert_eq!(told_again(again), made);
    env.write("src/b.sh", "code\n");
    refused();
    assert_eq!(told_again(env.auto("commit 1.1").ok()), made);
    env.delete("src/b.sh");
    env.red();
    refused();
    env.green();
    env.commit();
    env.write("Makefile", "all:\n");
    refused();
    env.auto("complete chore --results failed:0,passed:2").ok();
    env.commit();
}

/// The same words twice: the same answer, and nothing moves the second time.
fn twice(env: &TestEnvironment, words: &str) -> Value {
    let first = env.auto(words).ok();
    let before = env.journal();
    let mut second = env.auto(words).ok();
    if words.starts_with("commit") {
        second = told_again(second);
    }
    assert_eq!((&second, env.journal()), (&first, before), "{words}");
    first
}

#[test]
fn the_same_report_twice_gets_the_recorded_answer() {
    testkit::by_chance!(3);
    let env = TestEnvironment::started();
    env.write("tests/a.sh", "test\n");
    twice(&env, RED);
    // Another one of that phase is stale.
    env.refuses("complete red --results failed:2,passed:1", "stale_unit");
    env.write("src/a.sh", "code\n");
    twice(&env, &format!("{GREEN} --unit workUnit-1.1-GREEN"));
    for words in [RED, "complete green --results failed:0,passed:3"] {
        env.refuses(words, "stale_unit");
    }
    let commit = "commit 1.1 --unit workUnit-1.1-COMMIT";
    let made = twice(&env, commit);
    let head = env.head();
    // Paused, on another branch, with a changed tree: what was recorded was recorded.
    env.auto("pause").ok();
    env.write("src/a.sh", "changed\n");
    // What comes next is what does now.
    let mut again = told_again(env.auto(commit).ok());
    assert_eq!(again["nextAction"]["action"], "paused");
    again["nextAction"] = made["nextAction"].clone();
    assert_eq!(again, made);
    env.auto("resume").ok();
    env.git(&["checkout", "--quiet", "--", "src/a.sh"]);
    env.switch("main");
    assert_eq!(told_again(env.auto(commit).ok()), made);
    env.switch(BRANCH);
    assert_eq!(env.head(), head);

    env.subtask();
    let end = twice(&env, FINALIZE);
    assert_eq!(end["nextAction"]["status"], "completed");
    // Also when the run is over.
    assert_eq!(env.auto(commit).ok()["commitSha"], made["commitSha"]);
    assert_eq!(env.commits(), "3");
}

#[test]
fn a_used_unit_gets_its_own_answer_and_another_report_of_it_is_told_so() {
    testkit::by_chance!(3);
    let env = TestEnvironment::in_green();
    let unit = "--unit workUnit-1.1-GREEN";
    let fail = format!("complete green --results failed:1,passed:1 {unit}");
    let retry = env.comes_to(&fail, "green_tests_still_failing");
    let before = env.journal();
    assert_eq!(env.auto(&fail).json(), retry.json());
    let other = env.comes_to(&format!("{GREEN} {unit}"), "stale_unit");
    tells(other.message(), &["(green_tests_still_failing)"]);
    assert_eq!(env.journal(), before);
    env.write("src/1.1.sh", "code\n");
    env.auto(&format!("{GREEN} {unit}-2")).ok();
}
