//! Where a run stands: paused, over, on another branch, reported twice.

use serde_json::Value;

use super::environment::{CONFIG, TestEnvironment};

const NAME: &str = "master/task-1-count-the-words";

#[test]
fn without_a_run_there_is_nothing() {
    let env = TestEnvironment::new();
    for words in [
        "next",
        "status",
        "complete red --results failed:1,passed:0",
        "commit",
        "finalize --results failed:0,passed:1",
        "reopen",
        "pause",
        "resume",
        "abort",
    ] {
        env.refused(words, 4, "no_run", "tm autopilot start");
    }
    env.refused_of(
        &["autopilot", "skip", "--reason", "x"],
        4,
        "no_run",
        "tm autopilot start",
    );
    env.refused(
        "status --run-id nonsense",
        4,
        "no_run",
        "tm autopilot start",
    );
    env.auto("start 1").ok();
    env.refused("status --run-id nonsense", 4, "unknown_run", "tm runs list");
    env.refused("status --tag nonsense", 4, "no_run", "--tag");
}

#[test]
fn every_phase_is_reported_from_the_runs_own_branch() {
    let env = TestEnvironment::started();
    let check = |words: &str| {
        for (switch, code) in [
            (&["switch", "--quiet", "main"][..], "on_default_branch"),
            (&["switch", "--quiet", "--detach"], "wrong_branch"),
        ] {
            env.git(switch);
            env.refused(words, 3, code, &format!("git switch {NAME}"));
        }
        env.git(&["switch", "--quiet", NAME]);
        env.auto(words).ok();
    };
    env.write("tests/a.sh", "test\n");
    check("complete red --results failed:1,passed:0");
    env.write("src/a.sh", "code\n");
    check("complete green --results failed:0,passed:1");
    check("commit");
    env.subtask();
    check("finalize --results failed:0,passed:2");
}

#[test]
fn resume_needs_the_branch() {
    let env = TestEnvironment::started();
    env.auto("pause").ok();
    env.git(&["switch", "--quiet", "main"]);
    let answer = env.refused("resume", 3, "wrong_branch", &format!("git switch {NAME}"));
    assert_eq!(
        answer.json()["error"]["recovery"],
        format!("git switch {NAME}")
    );
    env.git(&["switch", "--quiet", NAME]);
    assert_eq!(env.auto("resume").ok()["resumed"], true);
}

#[test]
fn a_paused_run_takes_no_report() {
    let env = TestEnvironment::started();
    env.write("tests/a.sh", "test\n");
    env.auto("pause --reason lunch").ok();
    for words in [
        "complete red --results failed:1,passed:0",
        "complete --results failed:1,passed:0",
    ] {
        let answer = env.refused(words, 5, "paused", "tm autopilot resume");
        assert!(answer.message().contains("lunch"), "{answer:#?}");
        assert_eq!(answer.json()["nextAction"]["action"], "paused");
    }
    let next = env.auto("next").ok();
    assert_eq!(
        (&next["action"], &next["pausedReason"]),
        (&"paused".into(), &"lunch".into())
    );
    // Pausing again and resuming twice are no faults.
    let before = env.everything();
    env.auto("pause --reason again").ok();
    before.assert_same(&env.everything(), "a second pause");
    env.auto("resume").ok();
    let before = env.journal();
    env.auto("resume").ok();
    assert_eq!(env.journal(), before);
    env.auto("complete red --results failed:1,passed:0").ok();
}

#[test]
fn a_run_that_is_over_takes_nothing() {
    let env = TestEnvironment::started();
    env.to_finalize();
    env.auto("finalize --results failed:0,passed:2").ok();
    for words in [
        "complete --results failed:9,passed:0",
        "complete red 1.1 --results failed:9,passed:0",
    ] {
        let answer = env.refused(words, 3, "run_over", "tm runs report");
        assert!(answer.message().contains("completed"), "{answer:#?}");
        assert_eq!(answer.json()["nextAction"]["action"], "complete");
    }
    env.refused_of(
        &["autopilot", "skip", "--reason", "x"],
        4,
        "run_over",
        "tm runs report",
    );
    for words in ["reopen", "pause", "resume", "abort"] {
        env.refused(words, 4, "run_over", "tm runs report");
    }
    assert_eq!(env.auto("next").ok()["status"], "completed");
    assert_eq!(env.auto("status").ok()["canResume"], false);
}

#[test]
fn an_aborted_run_says_so() {
    let env = TestEnvironment::started();
    let run = env.auto("status").ok()["runId"]
        .as_str()
        .unwrap()
        .to_owned();
    env.red();
    let aborted = env.auto("abort").ok();
    assert_eq!(env.auto("abort").ok(), aborted, "the same again");
    let answer = env.refused("next", 4, "run_aborted", "tm autopilot start");
    assert!(answer.message().contains(&run), "{answer:#?}");
    env.refused(
        "complete green --results failed:0,passed:1",
        3,
        "run_over",
        "tm runs report",
    );
    assert_eq!(
        env.git(&["symbolic-ref", "--short", "HEAD"]),
        NAME,
        "the branch stays"
    );
    assert!(
        env.project().join("tests/1.1.sh").exists(),
        "so do the files"
    );
}

#[test]
fn several_runs_that_could_be_resumed_are_listed() {
    let env = TestEnvironment::started();
    env.auto("pause").ok();
    env.git(&["switch", "--quiet", "main"]);
    env.auto("start 4").ok();
    env.auto("pause").ok();
    let answer = env.refused("resume", 2, "several_runs", "--run-id");
    let runs: Vec<String> =
        serde_json::from_value(answer.json()["error"]["details"]["runs"].clone()).unwrap();
    assert_eq!(runs.len(), 2, "{runs:?}");
    env.auto(&format!("resume --run-id {}", runs[0])).ok();
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
    let tasks = r#"{"master": {"tasks": [{"id": 1, "title": "t", "status": "pending", "subtasks": [
        {"id": 1, "title": "a", "status": "pending"},
        {"id": 2, "title": "b", "status": "pending"},
        {"id": 3, "title": "c", "status": "pending", "kind": "chore"}
    ]}]}}"#;
    let env = TestEnvironment::with(tasks, CONFIG);
    env.auto("start 1").ok();
    let refused = || {
        for _ in 0..3 {
            env.refused("commit", 5, "stale_unit", "tm autopilot next");
        }
    };
    refused();
    let made = env.subtask();
    // Whoever has lost the answer has done nothing since.
    let again = env.auto("commit").ok();
    assert_eq!(again["nextAction"]["action"], "red", "{again:#}");
    assert_eq!(told_again(again), made);
    env.write("src/b.sh", "code\n");
    refused();
    assert_eq!(told_again(env.auto("commit 1.1").ok()), made);
    env.git(&["add", "--all"]);
    env.git(&["commit", "--quiet", "--message", "By hand"]);
    refused();
    env.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    env.red();
    refused();
    env.green();
    env.auto("commit").ok();
    env.write("Makefile", "all:\n");
    refused();
    env.auto("complete chore --results failed:0,passed:2").ok();
    env.auto("commit").ok();
}

/// The same words twice: the same answer, and nothing moves the second time.
fn twice(env: &TestEnvironment, words: &str) -> Value {
    let first = env.auto(words).ok();
    let before = env.journal();
    let second = env.auto(words).ok();
    let is_commit = words.starts_with("commit");
    let second = if is_commit {
        told_again(second)
    } else {
        second
    };
    assert_eq!(first, second, "{words}");
    assert_eq!(env.journal(), before, "{words}");
    first
}

#[test]
fn the_same_report_twice_gets_the_recorded_answer() {
    for units in [true, false] {
        let env = TestEnvironment::started();
        let named = |words: &str, unit: &str| {
            if units {
                format!("{words} --unit {unit}")
            } else {
                words.to_owned()
            }
        };
        env.write("tests/a.sh", "test\n");
        twice(
            &env,
            &named(
                "complete red 1.1 --results failed:1,passed:0",
                "workUnit-1.1-RED",
            ),
        );
        env.write("src/a.sh", "code\n");
        twice(
            &env,
            &named(
                "complete green 1.1 --results failed:0,passed:1",
                "workUnit-1.1-GREEN",
            ),
        );
        let commit = named("commit 1.1", "workUnit-1.1-COMMIT");
        let made = twice(&env, &commit);
        let head = env.head();
        // Paused, on another branch, with a changed tree: what was recorded was recorded.
        env.auto("pause").ok();
        env.write("src/a.sh", "changed\n");
        // While nothing is asked for, it is not said what to do.
        let mut short = made.clone();
        let next = short["nextAction"].as_object_mut().unwrap();
        next.remove("instructions");
        assert_eq!(told_again(env.auto(&commit).ok()), short);
        env.auto("resume").ok();
        env.git(&["checkout", "--quiet", "--", "src/a.sh"]);
        env.git(&["switch", "--quiet", "main"]);
        assert_eq!(told_again(env.auto(&commit).ok()), made);
        env.git(&["switch", "--quiet", NAME]);
        assert_eq!(env.head(), head);

        env.subtask();
        let end = twice(&env, "finalize --results failed:0,passed:2");
        assert_eq!(end["nextAction"]["status"], "completed");
        if units {
            let late = env.auto(&commit).ok();
            assert_eq!(
                late["commitSha"], made["commitSha"],
                "also when the run is over"
            );
        }
        assert_eq!(env.git(&["rev-list", "--count", "main..HEAD"]), "3");
    }
}

#[test]
fn a_used_unit_gets_its_own_answer_and_another_report_of_it_is_told_so() {
    let env = TestEnvironment::started();
    env.red();
    let retry = env.auto("complete green --results failed:1,passed:1 --unit workUnit-1.1-GREEN");
    assert_eq!(
        (retry.status, retry.code()),
        (3, "green_tests_still_failing")
    );
    let before = env.journal();
    let again = env.auto("complete green --results failed:1,passed:1 --unit workUnit-1.1-GREEN");
    assert_eq!(again.json(), retry.json());
    assert_eq!(again.status, 3);
    let other = env.auto("complete green --results failed:0,passed:2 --unit workUnit-1.1-GREEN");
    assert_eq!((other.status, other.code()), (5, "stale_unit"));
    let message = other.json()["message"].as_str().unwrap();
    let told = "workUnit-1.1-GREEN was reported before, with other content, and was not accepted (green_tests_still_failing)";
    assert!(message.starts_with(told), "{message}");
    assert_eq!(env.journal(), before);
    env.write("src/1.1.sh", "code\n");
    env.auto("complete green --results failed:0,passed:2 --unit workUnit-1.1-GREEN-2")
        .ok();
}

#[test]
fn a_report_at_an_earlier_phase_is_stale_unless_it_is_the_very_same() {
    let env = TestEnvironment::started();
    env.red();
    env.refused(
        "complete red --results failed:2,passed:1",
        5,
        "stale_unit",
        "tm autopilot next",
    );
    env.auto("complete red --results failed:1,passed:1").ok();
    env.green();
    env.refused(
        "complete red --results failed:1,passed:1",
        5,
        "stale_unit",
        "tm autopilot next",
    );
    env.refused(
        "complete green --results failed:0,passed:3",
        5,
        "stale_unit",
        "tm autopilot next",
    );
    env.auto("complete green --results failed:0,passed:2").ok();
}
