//! Task graphs that are handed over once more while batches are executed. How they are cut again is shown by the tests of the
//! machine.

use super::stage::Stage;

/// Three waves, the first one finished, the second one open.
fn in_second() -> Stage {
    let stage = Stage::executing(
        "tasks:
  - id: a
  - id: b
    depends-on: [a]
  - id: c
    depends-on: [a]
  - id: d
    depends-on: [b, c]
",
    );
    assert_eq!(stage.past_batch().state, "execute-batch");
    stage.told(&[("b", "completed"), ("c", "in_progress")]);
    stage
}

#[test]
fn finished_batches_and_the_open_one_stay_and_the_rest_is_cut_anew() {
    let stage = in_second();
    let before = stage.full().batches;
    // `b` is gone, and stays, for its batch was begun; `d` goes.
    let synced = stage.synced(
        "tasks:
  - id: a
  - id: c
    depends-on: [a]
    description: Other words
  - id: e
    depends-on: [c]
  - id: f
  - id: g
    depends-on: [e, f]
",
    );
    assert_eq!(synced.tasks, 5);
    let batches = [vec!["a"], vec!["b", "c"], vec!["e", "f"], vec!["g"]];
    assert_eq!(stage.ids(), batches);
    let full = stage.full();
    assert_eq!(full.batches[..2], before[..2]);
    assert_eq!(synced.batches, full.batches);
    assert_eq!(full.current_batch, Some(1));
    let statuses = full.batches.iter().map(|batch| batch.status.as_str());
    assert!(statuses.eq(["completed", "in_progress", "pending", "pending"]));
    assert_eq!(stage.brief().batch.unwrap().of, 4);
    stage.untold(&[("d", "pending")], "not_found");
    stage.refused("executing-plans", "tasks_unfinished");
    stage.told(&[("c", "completed")]);
    let mut executed = Vec::new();
    while stage.state() != "workflow-complete" {
        executed.extend(stage.step().params.batch_index);
    }
    assert_eq!(executed, [2, 3]);
    assert_eq!(stage.full().completed_tasks.concat(), "abcefg");
}

#[test]
fn before_and_between_batches_it_is_cut_anew_as_well() {
    let stage = Stage::of(&["code"]);
    stage.until("clear-pre-execute");
    stage.synced("tasks:\n  - id: a\n  - id: b\n    depends-on: [a]\n");
    assert_eq!(stage.ids(), [["a"], ["b"]]);
    stage.until("clear-post-batch");
    stage.synced(
        "tasks:\n  - id: a\n  - id: x\n  - id: y\n    files: [f]\n  - id: z\n    files: [f]\n",
    );
    assert_eq!(stage.ids(), [vec!["a"], vec!["x", "y"], vec!["z"]]);
    assert_eq!(stage.done("collab-clear").params.batch_index, Some(1));
    assert!(stage.graph().batches[2].split.contains('f'));
}

#[test]
fn the_open_batch_keeps_its_place_behind_one_that_was_passed_over() {
    // The second batch rests on what is skipped, the third one does not.
    let graph = "tasks:
  - id: a
  - id: b
  - id: after-a
    depends-on: [a]
    files: [src/after.rs]
  - id: after-b
    depends-on: [b]
    files: [src/after.rs]
";
    let stage = Stage::executing(graph);
    let batches = [vec!["a", "b"], vec!["after-a"], vec!["after-b"]];
    assert_eq!(stage.ids(), batches);
    stage.told(&[("a", "failed!"), ("b", "completed")]);
    assert_eq!(stage.past_told().params.batch_index, Some(2));
    stage.synced(&format!("{graph}  - id: end\n    depends-on: [after-b]\n"));
    let full = stage.full();
    assert_eq!(full.current_batch, Some(2), "{:?}", full.batches);
    assert_eq!(full.failed_tasks, ["a"]);
    assert_eq!(full.not_run_tasks, ["after-a"]);
    let answer = stage.past_batch();
    assert_eq!(answer.batch.unwrap().tasks[0].id, "end");
}

#[test]
fn with_an_id_of_two_items_those_that_are_known_keep_theirs() {
    let stage = Stage::at_graph(&["code", "bugfix"]);
    stage.synced("tasks:\n  - id: types\n  - id: end\n    depends-on: [types]\n");
    stage.until("execute-batch");
    assert_eq!(stage.ids(), [vec!["types", "item-2"], vec!["end"]]);
    stage.told(&[("types", "completed")]);
    stage.synced_of(Some("2"), "tasks:\n  - id: types\n  - id: item-2\n");
    let batches = stage.ids();
    assert_eq!(batches[0], ["types", "item-2"]);
    assert!(batches[1..].concat().contains(&"item-2/types".to_owned()));
    assert_eq!(stage.full().completed_tasks, ["types"]);
}
