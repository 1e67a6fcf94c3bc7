//! Tasks on their way, and what a batch needs to be finished.

use engine::Kind;
use engine::next_step::{self, Verb};
use engine::view::collab::request::TaskUpdate;

use super::stage::{Stage, TWO_WAVES, ids};

/// Three tasks side by side, and one behind two of them.
const FOUR: &str = "tasks:
  - id: a
  - id: b
  - id: c
  - id: after
    depends-on: [a, b]
";

#[test]
fn a_batch_is_not_finished_while_a_task_is_not() {
    let stage = Stage::executing(FOUR);
    let answer = stage.refused("executing-plans", "tasks_unfinished");
    let message = answer.message.unwrap();
    assert!(message.contains("`a`, `b`, `c`"), "{message}");
    assert_eq!(answer.next_skill.as_deref(), Some("executing-plans"));
    assert_eq!(answer.params.batch_index, Some(0));
    stage.told(&[("a", "completed"), ("b", "in_progress")]);
    let message = stage
        .refused("executing-plans", "tasks_unfinished")
        .message
        .unwrap();
    assert!(message.contains("`b`, `c`"), "{message}");
    stage.told(&[("b", "completed"), ("c", "failed")]);
    let answer = stage.refused("executing-plans", "task_failed");
    assert!(answer.message.unwrap().contains("failed: `c`"));
    let advised = next_step::steps(&answer.suggestion.unwrap());
    assert_eq!(advised[0].verb, Verb::Task);
    // Tried again.
    stage.told(&[("c", "in_progress")]);
    stage.refused("executing-plans", "tasks_unfinished");
    stage.told(&[("c", "completed")]);
    assert_eq!(stage.done("executing-plans").state, "clear-post-batch");
}

#[test]
fn unfinished_comes_before_failed() {
    let stage = Stage::executing(FOUR);
    stage.told(&[("a", "failed")]);
    stage.refused("executing-plans", "tasks_unfinished");
    stage.told(&[("b", "completed"), ("c", "completed")]);
    stage.refused("executing-plans", "task_failed");
}

#[test]
fn a_task_waits_for_what_it_depends_on() {
    let stage = Stage::executing(FOUR);
    for status in ["in_progress", "completed", "failed"] {
        let updated = stage.untold(&[("after", status)], "needs_unmet");
        let message = updated.message.unwrap();
        assert!(message.contains('a') && message.contains('b'), "{message}");
    }
    stage.told(&[("after", "pending")]);
    stage.told(&[("a", "completed"), ("b", "in_progress")]);
    let message = stage
        .untold(&[("after", "in_progress")], "needs_unmet")
        .message
        .unwrap();
    assert!(
        message.contains('b') && !message.contains("a,"),
        "{message}"
    );
}

#[test]
fn many_at_once_are_all_taken_or_none() {
    let stage = Stage::executing(FOUR);
    stage.untold(
        &[
            ("a", "completed"),
            ("b", "completed"),
            ("nowhere", "completed"),
        ],
        "unknown_task",
    );
    stage.untold(&[("a", "completed"), ("b", "done")], "bad_status");
    stage.untold(&[("a", "completed"), ("after", "completed")], "needs_unmet");
    assert_eq!(stage.full().completed_tasks, Vec::<String>::new());
    let appended = stage.journal().len();
    let updated = stage.told(&[("a", "completed"), ("b", "completed"), ("c", "in_progress")]);
    assert_eq!(updated.remaining, Some(1));
    assert_eq!(updated.tasks.len(), 3);
    assert_eq!(
        (
            updated.tasks[0].id.as_str(),
            updated.tasks[0].status.as_str()
        ),
        ("a", "completed")
    );
    assert!(stage.journal().len() > appended);
    assert_eq!(stage.full().completed_tasks, ["a", "b"]);
    assert_eq!(stage.full().pending_tasks, ["c", "after"]);
    // Each of them counts in its turn, and the last one of a task stands.
    let updated = stage.told(&[("c", "failed"), ("c", "pending"), ("c", "completed")]);
    assert_eq!(updated.remaining, Some(0));
    assert_eq!(stage.full().completed_tasks, ["a", "b", "c"]);
}

#[test]
fn the_same_status_again_changes_nothing() {
    let stage = Stage::executing(FOUR);
    stage.told(&[("a", "completed")]);
    let before = stage.files();
    let updated = stage.told(&[("a", "completed"), (" a ", "Completed"), ("b", "pending")]);
    assert_eq!(updated.remaining, Some(2));
    stage.is_as(&before);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let stage = Stage::executing(FOUR);
    let updated = stage.untold(&[("aftre", "completed")], "unknown_task");
    assert!(updated.message.unwrap().contains("`after`"));
    stage.untold(&[("", "completed")], "unknown_task");
    stage.untold(&[("A", "completed")], "unknown_task");
    stage.untold(&[("a\u{1b}[31m", "completed")], "unknown_task");
    for status in ["", "done", "skipped", "COMPLETE", "given_up"] {
        let updated = stage.untold(&[("a", status)], "bad_status");
        assert!(updated.suggestion.unwrap().contains("completed"));
    }
    let before = stage.files();
    for (status, outcome) in [
        ("completed", "failed"),
        ("pending", "failed"),
        ("failed", "completed"),
        ("failed", "x"),
    ] {
        let update = TaskUpdate {
            id: "a".to_owned(),
            status: status.to_owned(),
            outcome: Some(outcome.to_owned()),
        };
        let updated = stage.engine().collab_tasks(None, &[update]).unwrap();
        assert_eq!(
            updated.code.as_deref(),
            Some("bad_status"),
            "{status} {outcome}"
        );
    }
    stage.is_as(&before);
    let fault = stage.engine().collab_tasks(None, &[]).unwrap_err();
    assert_eq!((fault.kind, fault.code.as_str()), (Kind::Usage, "no_tasks"));
    for status in ["In-Progress", " in progress "] {
        stage.told(&[("a", status)]);
        assert_eq!(stage.full().batches[0].tasks[0].status, "in_progress");
    }
}

#[test]
fn a_task_of_the_batch_may_be_taken_back() {
    let stage = Stage::executing(FOUR);
    stage.told(&[("a", "completed"), ("b", "completed"), ("c", "completed")]);
    stage.told(&[("b", "failed")]);
    stage.refused("executing-plans", "task_failed");
    stage.told(&[("b", "completed")]);
    // One of the next batch is not begun before its time.
    let updated = stage.untold(&[("after", "in_progress")], "not_in_batch");
    assert!(updated.message.unwrap().contains("batch-2"));
    stage.told(&[("a", "pending")]);
    stage.refused("executing-plans", "tasks_unfinished");
}

#[test]
fn tasks_of_a_finished_batch_stay_as_they_are() {
    let stage = Stage::executing(TWO_WAVES);
    stage.finish_batch();
    stage.done("executing-plans");
    // Between batches nothing is told of any task.
    for task in ["types", "machine"] {
        let updated = stage.untold(&[(task, "in_progress")], "not_now");
        assert!(updated.message.unwrap().contains("execute-batch"));
    }
    stage.done("collab-clear");
    for status in ["pending", "in_progress", "failed", "failed!"] {
        let updated = stage.untold(&[("types", status)], "batch_over");
        assert!(updated.message.unwrap().contains("batch-1"));
    }
    let before = stage.files();
    stage.told(&[("types", "completed")]);
    stage.is_as(&before);
    stage.finish_batch();
    assert_eq!(stage.done("executing-plans").state, "clear-post-batch");
}

#[test]
fn statuses_are_told_while_batches_are_executed_only() {
    let stage = Stage::of(&["code"]);
    let mut told = Vec::new();
    let mut cut = false;
    while stage.state() != "done" {
        let state = stage.state();
        cut |= state == "clear-pre-execute";
        let task = if cut { "types" } else { "item-1" };
        let before = stage.files();
        let updated = stage.tell(&[(task, "pending")]);
        if updated.validated {
            told.push(state);
        } else {
            let code = updated.code.unwrap();
            assert!(
                ["not_now", "batch_over"].contains(&code.as_str()),
                "{state}: {code}"
            );
        }
        stage.is_as(&before);
        stage.step();
    }
    // In the second batch the first one is over.
    assert_eq!(told, ["execute-batch"]);
    let updated = stage.tell(&[("types", "failed")]);
    assert_eq!(updated.code.as_deref(), Some("run_over"));
}

#[test]
fn many_who_tell_of_tasks_at_once_all_count() {
    let graph: Vec<String> = (0..24).map(|n| format!("  - id: t{n}\n")).collect();
    let stage = Stage::executing(&format!("tasks:\n{}", graph.concat()));
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let stage = &stage;
            scope.spawn(move || {
                for n in (worker..24).step_by(4) {
                    stage.told(&[(&format!("t{n}"), "in_progress")]);
                    stage.told(&[(&format!("t{n}"), "completed")]);
                }
            });
        }
    });
    assert_eq!(stage.full().completed_tasks.len(), 24);
    assert_eq!(stage.done("executing-plans").state, "clear-post-batch");
}

#[test]
fn a_large_batch_is_told_in_part() {
    let graph: Vec<String> = (0..300).map(|n| format!("  - id: task-{n}\n")).collect();
    let stage = Stage::executing(&format!("tasks:\n{}", graph.concat()));
    let brief = stage.brief();
    assert_eq!(
        brief.batch.as_ref().and_then(|batch| batch.tasks_total),
        Some(300)
    );
    let answer = stage.refused("executing-plans", "tasks_unfinished");
    let message = answer.message.unwrap();
    assert!(
        message.contains("290 more") && message.len() < 400,
        "{message}"
    );
    assert_eq!(stage.full().batches[0].tasks.len(), 300);
    stage.finish_batch();
    assert_eq!(ids(&stage.graph()).concat().len(), 300);
    stage.until("done");
}
