//! Task graphs that are handed over once more while batches are executed.

use super::stage::{Stage, ids};

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
  - id: e
    depends-on: [d]
",
    );
    stage.finish_batch();
    stage.done("executing-plans");
    stage.done("collab-clear");
    assert_eq!(stage.state(), "execute-batch");
    stage.told(&[("b", "completed"), ("c", "in_progress")]);
    stage
}

/// The status of every task, as it is told.
fn statuses(stage: &Stage) -> Vec<(String, String)> {
    let batches = stage.full().batches;
    batches
        .into_iter()
        .flat_map(|batch| batch.tasks)
        .map(|task| (task.id, task.status))
        .collect()
}

#[test]
fn finished_batches_and_the_open_one_stay_and_the_rest_is_cut_anew() {
    let stage = in_second();
    let before = stage.full().batches;
    let synced = stage.synced(
        "tasks:
  - id: a
  - id: b
    depends-on: [a]
  - id: c
    depends-on: [a]
  - id: d
    depends-on: [c]
  - id: e
    depends-on: [c]
  - id: f
  - id: g
    depends-on: [e, f]
",
    );
    assert_eq!(synced.tasks, 7);
    assert_eq!(
        ids(&stage.graph()),
        vec![vec!["a"], vec!["b", "c"], vec!["d", "e", "f"], vec!["g"]]
    );
    let full = stage.full();
    assert_eq!(full.batches[..2], before[..2]);
    assert_eq!(synced.batches, full.batches);
    assert_eq!(full.current_batch, Some(1));
    assert_eq!(full.batches[0].status, "completed");
    assert_eq!(full.batches[1].status, "in_progress");
    let brief = stage.brief();
    assert_eq!(brief.batch.unwrap().of, 4);
    stage.told(&[("c", "completed")]);
    let mut executed = Vec::new();
    while stage.state() != "workflow-complete" {
        executed.extend(stage.step().params.batch_index);
    }
    assert_eq!(executed, [2, 3]);
    assert_eq!(stage.full().completed_tasks.len(), 7);
}

#[test]
fn statuses_are_kept_of_tasks_that_are_still_there() {
    let stage = in_second();
    let before = statuses(&stage);
    // Other words, another order: the same tasks.
    stage.synced(
        "tasks:
  - id: e
    depends-on: [d]
    description: The end
  - id: d
    depends-on: [b, c]
  - id: c
    depends-on: [a]
  - id: b
    depends-on: [a]
  - id: a
",
    );
    assert_eq!(statuses(&stage), before);
}

#[test]
fn tasks_that_are_gone_are_gone_unless_their_batch_was_begun() {
    let stage = in_second();
    stage.synced(
        "tasks:
  - id: a
  - id: b
    depends-on: [a]
  - id: new
    depends-on: [b]
",
    );
    let graph = ids(&stage.graph());
    assert_eq!(graph, vec![vec!["a"], vec!["b", "c"], vec!["new"]]);
    stage.untold(&[("d", "pending")], "unknown_task");
    stage.refused("executing-plans", "tasks_unfinished");
    stage.told(&[("c", "completed")]);
    stage.until("done");
    assert_eq!(stage.full().completed_tasks, ["a", "b", "c", "new"]);
}

#[test]
fn all_that_is_left_may_go() {
    let stage = in_second();
    stage.synced("tasks:\n  - id: a\n  - id: b\n  - id: c\n");
    stage.told(&[("c", "completed")]);
    stage.done("executing-plans");
    assert_eq!(stage.done("collab-clear").state, "workflow-complete");
}

#[test]
fn a_graph_with_errors_changes_nothing() {
    let stage = in_second();
    let before = stage.files();
    for graph in [
        "tasks:\n  - id: a\n  - id: b\n    depends-on: [nowhere]\n",
        "tasks:\n  - id: a\n    depends-on: [b]\n  - id: b\n    depends-on: [a]\n",
        "nothing\n",
    ] {
        let synced = stage.sync(None, graph).unwrap();
        assert_eq!(synced.code.as_deref(), Some("graph_invalid"), "{graph}");
        assert!(!synced.problems.is_empty() && synced.batches.is_empty());
        stage.is_as(&before);
    }
}

#[test]
fn between_batches_it_is_cut_anew_as_well() {
    let stage = Stage::executing("tasks:\n  - id: a\n  - id: b\n    depends-on: [a]\n");
    stage.finish_batch();
    stage.done("executing-plans");
    assert_eq!(stage.state(), "clear-post-batch");
    stage.synced(
        "tasks:\n  - id: a\n  - id: x\n  - id: y\n    files: [f]\n  - id: z\n    files: [f]\n",
    );
    assert_eq!(
        ids(&stage.graph()),
        vec![vec!["a"], vec!["x", "y"], vec!["z"]]
    );
    let answer = stage.done("collab-clear");
    assert_eq!(answer.params.batch_index, Some(1));
    assert!(stage.graph().batches[2].split.contains('f'));
}

#[test]
fn before_the_first_batch_it_is_cut_anew() {
    let stage = Stage::of(&["code"]);
    stage.until("clear-pre-execute");
    stage.synced("tasks:\n  - id: other\n");
    assert_eq!(ids(&stage.graph()), [["other"]]);
    stage.until("done");
    assert_eq!(stage.full().completed_tasks, ["other"]);
}

#[test]
fn a_task_that_was_skipped_stays_so() {
    let stage = Stage::executing("tasks:\n  - id: a\n  - id: b\n    depends-on: [a]\n  - id: c\n");
    stage.told(&[("a", "failed!"), ("c", "completed")]);
    stage.synced("tasks:\n  - id: a\n  - id: b\n    depends-on: [a]\n  - id: c\n  - id: d\n    depends-on: [b]\n  - id: e\n    depends-on: [c]\n");
    let full = stage.full();
    assert_eq!(full.failed_tasks, ["a"]);
    assert_eq!(full.not_run_tasks, ["b", "d"]);
    stage.done("executing-plans");
    let answer = stage.done("collab-clear");
    assert_eq!(
        (answer.state.as_str(), answer.params.batch_index),
        ("execute-batch", Some(1))
    );
    stage.told(&[("e", "completed")]);
    stage.until("workflow-complete");
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
    assert_eq!(
        ids(&stage.graph()),
        vec![vec!["a", "b"], vec!["after-a"], vec!["after-b"]]
    );
    stage.told(&[("a", "failed!"), ("b", "completed")]);
    stage.done("executing-plans");
    let answer = stage.done("collab-clear");
    assert_eq!(answer.params.batch_index, Some(2));
    stage.synced(&format!("{graph}  - id: end\n    depends-on: [after-b]\n"));
    let full = stage.full();
    assert_eq!(full.current_batch, Some(2), "{:?}", full.batches);
    assert_eq!(full.not_run_tasks, ["after-a"]);
    stage.told(&[("after-b", "completed")]);
    stage.done("executing-plans");
    let answer = stage.done("collab-clear");
    assert_eq!(answer.batch.unwrap().tasks[0].id, "end");
    // What rests no longer on what was skipped is run after all.
    stage.synced(&graph.replacen("    depends-on: [a]\n", "", 1));
    assert_eq!(stage.full().not_run_tasks, Vec::<String>::new());
    let batches = ids(&stage.graph());
    assert_eq!(batches.last().unwrap(), &["after-a"]);
    stage.finish_batch();
    stage.until("done");
    assert!(stage.full().completed_tasks.contains(&"after-a".to_owned()));
}

#[test]
fn with_an_id_of_two_items_those_that_are_known_keep_theirs() {
    let stage = Stage::of(&["code", "bugfix"]);
    stage.until("build-task-graph");
    stage.synced("tasks:\n  - id: types\n  - id: end\n    depends-on: [types]\n");
    stage.until("execute-batch");
    assert_eq!(
        ids(&stage.graph()),
        vec![vec!["types", "item-2"], vec!["end"]]
    );
    stage.told(&[("types", "completed")]);
    stage.synced_of("2", "tasks:\n  - id: types\n  - id: item-2\n");
    let graph = ids(&stage.graph());
    assert_eq!(graph[0], ["types", "item-2"]);
    assert!(
        graph[1..].concat().contains(&"item-2/types".to_owned()),
        "{graph:?}"
    );
    assert_eq!(stage.full().completed_tasks, ["types"]);
}

#[test]
fn the_item_is_named_where_several_are_executed() {
    let stage = Stage::of(&["code", "bugfix"]);
    stage.until("execute-batch");
    let fault = stage.sync(None, "tasks:\n  - id: x\n").unwrap_err();
    assert_eq!(fault.code, "which_item");
    assert!(!fault.suggestion.is_empty());
}

#[test]
fn after_its_end_a_session_takes_no_graph() {
    let stage = Stage::of(&["code"]);
    stage.until("done");
    let synced = stage.sync(None, "tasks:\n  - id: late\n").unwrap();
    assert_eq!(synced.code.as_deref(), Some("run_over"));
}
