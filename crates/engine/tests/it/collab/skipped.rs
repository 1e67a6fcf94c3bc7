//! Tasks that are skipped, and those that are not run because of it.

use serde_json::{Value, json};

use super::stage::{Stage, wire};

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
fn what_depends_on_it_is_not_run() {
    let stage = Stage::executing(CHAINS);
    stage.told(&[("a1", "failed"), ("b1", "completed")]);
    stage.refused("executing-plans", "task_failed");
    let updated = stage.told(&[("a1", "failed!")]);
    assert_eq!(updated.remaining, Some(0));
    assert_eq!(updated.tasks[0].outcome.as_deref(), Some("failed"));
    assert_eq!(updated.tasks[0].status, "failed");
    let full = stage.full();
    assert_eq!(full.failed_tasks, ["a1"]);
    assert_eq!(full.not_run_tasks, ["a2", "a3", "last"]);
    assert_eq!(full.pending_tasks, ["b2"]);
    let left: Vec<(&str, &str, bool)> = full
        .batches
        .iter()
        .flat_map(|batch| &batch.tasks)
        .map(|task| (task.id.as_str(), task.status.as_str(), task.not_run))
        .collect();
    assert_eq!(
        left,
        [
            ("a1", "failed", false),
            ("b1", "completed", false),
            ("a2", "pending", true),
            ("b2", "pending", false),
            ("a3", "pending", true),
            ("last", "pending", true),
        ]
    );

    assert_eq!(stage.done("executing-plans").state, "clear-post-batch");
    let logged = stage.events("batch:complete");
    assert_eq!(logged[0].fields["outcome"], "failed");
    assert_eq!(logged[0].fields["tasks"][0]["outcome"], "failed");

    // The second batch has one to be run and one that is not; the others are passed over.
    let answer = stage.done("collab-clear");
    assert_eq!(
        (answer.state.as_str(), answer.params.batch_index),
        ("execute-batch", Some(1))
    );
    let batch: Value = serde_json::to_value(answer.batch.unwrap()).unwrap();
    assert_eq!(batch["tasks"][0]["id"], "b2");
    assert_eq!(batch["tasks"][1]["notRun"], true);
    stage.untold(&[("a2", "in_progress")], "needs_unmet");
    stage.refused("executing-plans", "tasks_unfinished");
    stage.told(&[("b2", "completed")]);
    stage.done("executing-plans");
    let answer = stage.done("collab-clear");
    assert_eq!(answer.state, "workflow-complete");
    assert_eq!(answer.notes, ["skipped: a1", "not run: a2, a3 and last"]);
    assert_eq!(
        stage.done("finishing-a-development-branch").state,
        "cleanup"
    );
    stage.done("collab-cleanup");
    let full = stage.full();
    assert_eq!(full.failed_tasks, ["a1"]);
    assert_eq!(full.not_run_tasks, ["a2", "a3", "last"]);
    assert_eq!(full.work_items[0].status, "documented");
    assert_eq!(stage.events("batch:complete").len(), 2);
}

#[test]
fn an_answer_stays_the_same_whatever_is_skipped_later() {
    let stage = Stage::executing(CHAINS);
    let unit = stage.brief().unit_id.unwrap();
    stage.told(&[("a1", "failed!"), ("b1", "completed")]);
    let answer = stage.complete("executing-plans", Some(&unit)).unwrap();
    stage.until("done");
    assert_eq!(
        wire(&stage.complete("executing-plans", Some(&unit)).unwrap()),
        wire(&answer)
    );
}

#[test]
fn a_task_that_was_skipped_may_be_taken_up_again() {
    let stage = Stage::executing(CHAINS);
    stage.told(&[("a1", "failed!")]);
    assert_eq!(stage.full().not_run_tasks.len(), 3);
    stage.told(&[("a1", "in_progress")]);
    assert_eq!(stage.full().not_run_tasks, Vec::<String>::new());
    stage.told(&[("a1", "completed"), ("b1", "completed")]);
    stage.until("workflow-complete");
    assert_eq!(stage.brief().state, "workflow-complete");
    assert_eq!(stage.full().completed_tasks.len(), 6);
}

#[test]
fn all_may_be_skipped() {
    let stage = Stage::executing(CHAINS);
    stage.told(&[("a1", "failed!"), ("b1", "failed!")]);
    stage.done("executing-plans");
    let answer = stage.done("collab-clear");
    assert_eq!(answer.state, "workflow-complete");
    assert_eq!(answer.params.batch_index, None);
    assert_eq!(
        answer.notes,
        ["skipped: a1 and b1", "not run: a2, b2, a3 and last"]
    );
    let full = stage.full();
    assert_eq!(full.pending_tasks, Vec::<String>::new());
    assert_eq!(full.current_batch, None);
    assert!(stage.graph().mermaid.contains("a3"));
}

#[test]
fn many_that_are_not_run_are_counted() {
    let chain: Vec<String> = (1..40)
        .map(|n| format!("  - id: t{n}\n    depends-on: [t{}]\n", n - 1))
        .collect();
    let stage = Stage::executing(&format!("tasks:\n  - id: t0\n{}", chain.concat()));
    stage.told(&[("t0", "failed!")]);
    stage.done("executing-plans");
    let answer = stage.done("collab-clear");
    assert_eq!(answer.state, "workflow-complete");
    assert_eq!(answer.notes.len(), 2);
    assert!(
        answer.notes[1].ends_with("and 31 more"),
        "{:?}",
        answer.notes
    );
    assert_eq!(stage.full().not_run_tasks.len(), 39);
}

#[test]
fn an_item_that_depends_on_a_failed_one_is_not_run() {
    let stage = Stage::with(&json!([
        {"number": 1, "title": "One", "type": "bugfix"},
        {"number": 2, "title": "Two", "type": "bugfix", "dependsOn": [1]},
        {"number": 3, "title": "Three", "type": "bugfix"},
    ]));
    stage.until("execute-batch");
    stage.told(&[("item-1", "failed!"), ("item-3", "completed")]);
    stage.until("done");
    let full = stage.full();
    assert_eq!(full.not_run_tasks, ["item-2"]);
    let statuses: Vec<&str> = full
        .work_items
        .iter()
        .map(|item| item.status.as_str())
        .collect();
    assert_eq!(statuses, ["documented", "documented", "complete"]);
}
