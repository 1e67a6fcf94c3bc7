//! Steps aside, and the end before the end, killed at each step of their way.

use std::fs;

use serde_json::{Value, json};

use super::ending::brought_to;
use super::executor::{Executor, Recovery};
use super::matrix::die_everywhere;
use super::stage::{Death, Stage};
use testkit::person::key;

/// From `prepare` on, has `command` die at each fail point, looks where the run is then, repeats the command if
/// `is_done` says that it has not come about, and `check`s what has become of it.
fn turn_dies(
    prepare: impl Fn(&Stage),
    command: &[&str],
    is_done: impl Fn(&Stage) -> bool,
    check: impl Fn(&mut Executor<'_>),
) {
    let stage = Stage::new(2);
    prepare(&stage);
    let dies = |executor: &mut Executor<'_>, death| executor.tm(command, Some(death)).died();
    let points = ("fail points", 3);
    die_everywhere(&stage, &command.join(" "), points, dies, |executor| {
        if is_done(&stage) {
            // Who only looked at the run left what is made of its journal as it was.
            executor.recover(Recovery::Resume);
        } else {
            let ran = executor.tm(command, None);
            if ran.status != 0 && !is_done(&stage) {
                executor.fail(&format!("{command:?} cannot be repeated: {}", ran.out));
            }
        }
        check(executor);
    });
}

fn status(stage: &Stage) -> Value {
    stage.ok(&["autopilot", "status"])
}

#[test]
fn reopen() {
    testkit::by_chance!(3);
    turn_dies(
        |stage| drop(brought_to(stage, "commit", "1.1")),
        &["autopilot", "reopen", "--reason", "not good enough"],
        |stage| status(stage)["currentPhase"] == "green",
        |executor| executor.check_under_way(&[]),
    );
}

#[test]
fn rewind() {
    testkit::by_chance!(3);
    turn_dies(
        |stage| drop(brought_to(stage, "commit", "1.2")),
        &["autopilot", "rewind", "1.2"],
        |stage| status(stage)["currentPhase"] == "red",
        |executor| {
            executor.check_tree(&[]);
            executor.check_under_way(&["1.1"]);
        },
    );
}

#[test]
fn skip() {
    testkit::by_chance!(3);
    turn_dies(
        |stage| drop(brought_to(stage, "red", "1.2")),
        &["autopilot", "skip", "1.2", "--reason", "too hard"],
        |stage| status(stage)["progress"]["failed"] == json!(["1.2"]),
        |executor| {
            fs::remove_file(executor.stage.project().join("tests/1.2_test.sh")).unwrap();
            executor.finish_in_peace();
            executor.check_ended("failed", &["1.1"]);
        },
    );
}

#[test]
fn resume() {
    testkit::by_chance!(3);
    turn_dies(
        |stage| {
            brought_to(stage, "commit", "1.2");
            stage.ok(&["autopilot", "pause"]);
        },
        &["autopilot", "resume"],
        |stage| status(stage)["status"] == "running",
        |executor| executor.check_under_way(&["1.1"]),
    );
}

#[test]
fn abort() {
    testkit::by_chance!(3);
    turn_dies(
        |stage| {
            // So that there is a tag to set back.
            stage.write(".taskmaster/state.json", "{\"currentTag\": \"master\"}\n");
            stage.commit_all("State");
            brought_to(stage, "commit", "1.2");
        },
        &["autopilot", "abort"],
        |stage| status(stage)["status"] == "aborted",
        |executor| {
            let ends = executor.count(|event| event["event"] == "run:ended");
            assert_eq!(ends, 1, "{}", executor.history);
            executor.check_tasks(&["1.1"], "pending");
            executor.check_nothing_left();
            // The end is told everywhere once anybody has looked at the run with the right to write.
            executor.tm(&["autopilot", "abort"], None);
            executor.check_tree(&["src/1.2.sh", "src/all.sh", "tests/1.2_test.sh"]);
            let report = executor.stage.run_folder().join("report.md");
            assert!(report.exists(), "{}", executor.history);
        },
    );
}

#[test]
fn abort_with_clean_up() {
    testkit::by_chance!(3);
    let words = "autopilot abort --cleanup --force --sign ../home/store/key";
    turn_dies(
        |stage| {
            brought_to(stage, "red", "1.1");
            fs::remove_file(stage.project().join("tests/1.1_test.sh")).unwrap();
            key(&stage.store());
        },
        &words.split(' ').collect::<Vec<_>>(),
        |stage| {
            let next = || stage.tm(&["autopilot", "next"]);
            stage.git(&["branch", "--format=%(refname:short)"]) == "main"
                && (stage.runs().is_empty() || next().code() == "run_over")
        },
        |executor| {
            let tree = executor.stage.git(&["status", "--porcelain", "--branch"]);
            assert_eq!(tree, "## main", "{}", executor.history);
            // And another run can begin.
            assert!(executor.answer("start", "", None));
            executor.check_under_way(&[]);
        },
    );
}

#[test]
fn an_abort_while_a_commit_was_interrupted() {
    testkit::by_chance!(3);
    let stage = Stage::new(1);
    brought_to(&stage, "commit", "1.1");
    let head = stage.head();
    let dies = |executor: &mut Executor<'_>, death| !executor.answer("commit", "1.1", Some(death));
    let what = "a commit before an abort";
    die_everywhere(&stage, what, ("fail points", 12), dies, |executor| {
        let ran = executor.tm(&["autopilot", "abort"], None);
        assert_eq!(ran.status, 0, "{ran:?}");
        if stage.head() == head {
            executor.check_tasks(&[], "pending");
            executor.check_tree(&["src/1.1.sh", "src/all.sh", "tests/1.1_test.sh"]);
        } else {
            executor.check_tasks(&["1.1"], "pending");
            executor.check_tree(&[]);
        }
    });
}

/// What names no subtask is not taken for the next one, when the one that it was meant for turns out to be done.
#[test]
fn a_step_aside_after_a_commit_that_was_made() {
    testkit::by_chance!(3);
    if !cfg!(debug_assertions) {
        return;
    }
    for verb in ["skip", "reopen"] {
        let stage = Stage::new(2);
        let mut executor = brought_to(&stage, "commit", "1.1");
        let death = Death::Point("commit-after-git", 1);
        assert!(!executor.answer("commit", "1.1", Some(death)));
        let ran = executor.tm(&["autopilot", verb, "--reason", "too hard"], None);
        assert_eq!(ran.code(), "stale_unit", "{ran:?}");
        executor.completes();
    }
}
