//! Tasks on their way, what a batch needs to be finished, and what is not run because of one that is skipped.

use engine::Kind;
use engine::next_step::{self, Verb};
use engine::view::collab::request::TaskUpdate;
use serde_json::json;

use super::stage::{Stage, TWO_WAVES};

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
    let refused = |code: &str, words: &str| {
        let answer = stage.refused("executing-plans", code);
        assert!(answer.verdict.message.as_ref().unwrap().contains(words));
        let told = (answer.next_skill.as_deref(), answer.params.batch_index);
        assert_eq!(told, (Some("executing-plans"), Some(0)));
        next_step::steps(&answer.verdict.suggestion.unwrap())
    };
    refused("tasks_unfinished", "`a`, `b` and `c`");
    stage.told(&[("a", "completed"), ("b", "in_progress")]);
    refused("tasks_unfinished", "`b` and `c`");
    // Unfinished comes before failed.
    stage.told(&[("c", "failed")]);
    refused("tasks_unfinished", "`b`");
    stage.told(&[("b", "completed")]);
    assert_eq!(refused("task_failed", "failed: `c`")[0].verb, Verb::Task);
    // One of the next batch is not begun before its time, and one of this may be taken back.
    stage.untold(&[("after", "in_progress")], "not_in_batch");
    stage.told(&[("c", "completed"), ("a", "pending")]);
    refused("tasks_unfinished", "`a`");
    stage.told(&[("a", "completed")]);
    assert_eq!(stage.done("executing-plans").state, "clear-post-batch");
}

#[test]
fn many_at_once_are_all_taken_or_none() {
    let stage = Stage::executing(FOUR);
    let done = ("a", "completed");
    for (bad, code) in [
        (("nowhere", "completed"), "not_found"),
        (("b", "done"), "bad_status"),
        (("after", "completed"), "needs_unmet"),
    ] {
        stage.untold(&[done, bad], code);
    }
    let updated = stage.told(&[done, ("b", "completed"), ("c", "in_progress")]);
    assert_eq!((updated.remaining, updated.tasks.len()), (Some(1), 3));
    let task = &updated.tasks[0];
    assert_eq!((task.id.as_str(), task.status.as_str()), done);
    assert_eq!(stage.full().completed_tasks, ["a", "b"]);
    // The same again changes nothing.
    let before = stage.files();
    stage.told(&[done, (" b ", "Completed"), ("after", "pending")]);
    stage.is_as(&before);
    // Each of them counts in its turn, and the last one of a task stands.
    let updated = stage.told(&[("c", "failed"), ("c", "pending"), ("c", "completed")]);
    assert_eq!(updated.remaining, Some(0));
    assert_eq!(stage.full().completed_tasks, ["a", "b", "c"]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let stage = Stage::executing(FOUR);
    let updated = stage.untold(&[("aftre", "completed")], "not_found");
    assert!(updated.verdict.message.unwrap().contains("`after`"));
    for id in ["", "A", "a\u{1b}[31m"] {
        stage.untold(&[(id, "completed")], "not_found");
    }
    for status in ["", "done", "COMPLETE", "given_up"] {
        stage.untold(&[("a", status)], "bad_status");
    }
    for (status, outcome) in [
        ("pending", "failed"),
        ("failed", "completed"),
        ("failed", "x"),
    ] {
        let update = TaskUpdate {
            id: "a".to_owned(),
            status: status.to_owned(),
            outcome: Some(outcome.to_owned()),
        };
        let engine = stage.engine();
        stage.unmoved("bad_status", || {
            engine.collab_tasks(None, &[update]).unwrap()
        });
    }
    let fault = stage.engine().collab_tasks(None, &[]).unwrap_err();
    assert_eq!((fault.kind, fault.code.as_str()), (Kind::Usage, "usage"));
    for status in ["In-Progress", " in progress "] {
        stage.told(&[("a", status)]);
        assert_eq!(stage.full().batches[0].tasks[0].status, "in_progress");
    }
}

#[test]
fn statuses_are_told_while_batches_are_executed_only() {
    let stage = Stage::of(&["code"]);
    let tell = |task: &str, status: &str, code| stage.untold(&[(task, status)], code);
    tell("item-1", "pending", "not_now");
    stage.until("build-task-graph");
    tell("item-1", "pending", "not_now");
    stage.synced(TWO_WAVES);
    stage.until("execute-batch");
    stage.finish_batch();
    stage.done("executing-plans");
    // Between batches nothing is told of any task, and those of a finished one stay as they are.
    tell("machine", "in_progress", "not_now");
    stage.done("collab-clear");
    for status in ["pending", "failed!"] {
        let updated = tell("types", status, "batch_over");
        assert!(updated.verdict.suggestion.unwrap().contains("reopen"));
    }
    let before = stage.files();
    stage.told(&[("types", "completed")]);
    stage.is_as(&before);
    assert_eq!(stage.past_batch().state, "workflow-complete");
    tell("machine", "pending", "not_now");
    stage.until("done");
    tell("types", "failed", "run_over");
}

#[test]
fn many_who_tell_of_tasks_at_once_all_count() {
    let stage = Stage::executing_many(24);
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let stage = &stage;
            scope.spawn(move || {
                for at in (worker..24).step_by(4) {
                    stage.told(&[(&format!("task-{at}"), "in_progress")]);
                    stage.told(&[(&format!("task-{at}"), "completed")]);
                }
            });
        }
    });
    assert_eq!(stage.full().completed_tasks.len(), 24);
    assert_eq!(stage.done("executing-plans").state, "clear-post-batch");
}

#[test]
fn a_large_batch_is_told_in_part() {
    let stage = Stage::executing_many(300);
    let answer = stage.refused("executing-plans", "tasks_unfinished");
    let message = answer.verdict.message.unwrap();
    assert!(message.contains("292 more") && message.len() < 400);
    assert_eq!(stage.full().batches[0].tasks.len(), 300);
    stage.past_batch();
    assert_eq!(stage.ids().concat().len(), 300);
}

/// Two chains, and one task that needs the ends of both.
const CHAINS: &str = "tasks:
  - id: a1
  - id: b1
  - id: a2
    depends-on: [a1]
  - id: b2
    depends-on: [b1]
  - id: a3
    depends-on: [a2]
  - id: last
    depends-on: [a3, b2]
";

#[test]
fn what_depends_on_a_skipped_task_is_not_run() {
    let stage = Stage::executing(CHAINS);
    stage.told(&[("a1", "failed"), ("b1", "completed")]);
    stage.refused("executing-plans", "task_failed");
    let updated = stage.told(&[("a1", "failed!")]);
    let task = &updated.tasks[0];
    let told = json!([updated.remaining, task.outcome, task.status]);
    assert_eq!(told, json!([0, "failed", "failed"]));
    let full = stage.full();
    assert_eq!(full.failed_tasks, ["a1"]);
    assert_eq!(full.not_run_tasks, ["a2", "a3", "last"]);
    assert_eq!(full.pending_tasks, ["b2"]);
    // It may be taken up again.
    stage.told(&[("a1", "in_progress")]);
    assert_eq!(stage.full().not_run_tasks, Vec::<String>::new());
    stage.told(&[("a1", "failed!")]);
    let unit = stage.brief().unit_id;
    let executed = stage.done("executing-plans");
    assert_eq!(executed.state, "clear-post-batch");
    let fields = &stage.events("batch:complete")[0].fields;
    let outcomes = [&fields["outcome"], &fields["tasks"][0]["outcome"]];
    assert_eq!(outcomes, ["failed", "failed"]);

    // The second batch has one to be run and one that is not; the others are passed over.
    let answer = stage.done("collab-clear");
    assert_eq!(answer.state, "execute-batch");
    let tasks = answer.batch.unwrap().tasks;
    let told = (
        answer.params.batch_index,
        tasks[0].id.as_str(),
        tasks[1].not_run,
    );
    assert_eq!(told, (Some(1), "b2", true));
    stage.untold(&[("a2", "in_progress")], "needs_unmet");
    stage.refused("executing-plans", "tasks_unfinished");
    let answer = stage.past_batch();
    assert_eq!(answer.state, "workflow-complete");
    assert_eq!(answer.notes, ["skipped: a1", "not run: a2, a3 and last"]);
    stage.until("done");
    let full = stage.full();
    assert_eq!(full.failed_tasks, ["a1"]);
    assert_eq!(full.not_run_tasks, ["a2", "a3", "last"]);
    assert_eq!(full.work_items[0].status, "documented");
    assert_eq!(stage.events("batch:complete").len(), 2);
    // An answer stays the same whatever is skipped later.
    let again = stage.complete("executing-plans", unit.as_deref()).unwrap();
    assert_eq!(again, executed);
}

#[test]
fn many_that_are_not_run_are_counted() {
    let chain = (1..40).map(|at| format!("  - id: t{at}\n    depends-on: [t{}]\n", at - 1));
    let stage = Stage::executing(&format!(
        "tasks:\n  - id: t0\n{}",
        chain.collect::<String>()
    ));
    stage.told(&[("t0", "failed!")]);
    let answer = stage.past_told();
    assert_eq!(answer.state, "workflow-complete");
    assert_eq!(answer.notes.len(), 2);
    assert!(answer.notes[1].ends_with("and 31 more"));
    assert_eq!(stage.full().not_run_tasks.len(), 39);
}
