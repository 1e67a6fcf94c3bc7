//! What is wrong with task graphs, and what becomes of those that are right.

use serde_json::json;

use super::stage::{Stage, TWO_WAVES};

const REQUIREMENT: &str =
    include_str!("../../../../markup/tests/it/corpus/task_graph/good/requirement.md");

/// A session of code items that is ready to implement, with these graphs.
fn ready(graphs: &[&str]) -> Stage {
    let stage = Stage::of(&vec!["code"; graphs.len()]);
    for graph in graphs {
        stage.until("build-task-graph");
        stage.synced(graph);
        stage.done("build-task-graph");
    }
    stage.until("ready-to-implement");
    stage
}

#[test]
fn the_graph_of_the_requirement_gives_five_waves() {
    let stage = ready(&[REQUIREMENT]);
    let waves = [
        vec!["workflow-types"],
        vec!["state-machine", "collab-state-extend"],
        vec!["transitions"],
        vec!["complete-skill"],
        vec!["setup-register"],
    ];
    let foreseen = stage.graph();
    assert_eq!(stage.ids(), waves);
    stage.done("ready-to-implement");
    let cut = stage.graph();
    assert_eq!((foreseen.cut, cut.cut), (false, true));
    assert_eq!(cut.batches, foreseen.batches);
    for (batch, number) in cut.batches.iter().zip(1..) {
        let expected = (format!("batch-{number}"), number);
        assert_eq!((batch.id.clone(), batch.wave), expected);
    }
    for id in waves.concat() {
        assert!(cut.mermaid.contains(id), "{}", cut.mermaid);
    }
    assert_eq!(cut.mermaid.matches("subgraph").count(), 5);
    let mut executed = Vec::new();
    while stage.state() != "workflow-complete" {
        executed.extend(stage.step().params.batch_index);
    }
    assert_eq!(executed, [0, 1, 2, 3, 4]);
}

#[test]
fn errors_of_the_present_graph_are_told_with_their_lines() {
    let stage = Stage::at_graph(&["code"]);
    for (graph, line, words) in [
        ("# nothing here\n", 1, "tasks"),
        ("tasks:\n  - files: [a.rs]\n", 2, "id"),
        ("tasks:\n  - id: a\n    depends-on: [b]\n", 3, "`b`"),
        ("tasks:\n  - id: a\n    depends-on: [b\n", 3, ""),
    ] {
        let sync = || stage.sync(None, Some(graph), None).unwrap();
        let synced = stage.unmoved("graph_invalid", sync);
        stage.document("task-graph.md", graph);
        let answer = stage.refused("build-task-graph", "graph_invalid");
        for (problems, document) in [
            (&synced.problems, "task-graph-item-1.md"),
            (&answer.problems, "task-graph.md"),
        ] {
            let problem = &problems[0];
            let told = (problem.document.as_str(), &problem.item);
            assert_eq!(told, (document, &Some(json!(1))), "{graph}");
            assert!(problem.message.contains(words), "{graph}: {problem:?}");
            assert!(problem.line.abs_diff(line) <= 1, "{graph}: {problem:?}");
            assert!(!problem.code.is_empty());
        }
    }
    stage.document("task-graph.md", TWO_WAVES);
    assert_eq!(stage.done("build-task-graph").state, "clear-rd4");
}

#[test]
fn what_the_graph_of_another_item_lacks_is_told_when_all_are_merged() {
    // The second item comes after the first one, and rests on a task of it.
    let stage = Stage::needing(&[("code", &[]), ("code", &[1])]);
    let (first, second) = ("task-graph-item-1.md", "task-graph-item-2.md");
    let needs = |need: &str| format!("tasks:\n  - id: second\n    depends-on: [{need}]\n");
    for graph in ["tasks:\n  - id: first\n", &needs("first")] {
        stage.until("build-task-graph");
        stage.synced(graph);
        stage.done("build-task-graph");
    }
    stage.until("ready-to-implement");
    let needing = |need: &str| format!("tasks:\n  - id: first\n    depends-on: [{need}]\n");
    for (text, document, word) in [
        // The first one is written without it; or waits for what comes after it; or has an error of its own.
        ("tasks:\n  - id: other\n".to_owned(), second, "first"),
        (needing("second"), "task-graph-item-", "second"),
        (needing("frist"), first, "frist"),
    ] {
        stage.document(first, &text);
        let answer = stage.refused("ready-to-implement", "graph_invalid");
        let problem = &answer.problems[0];
        assert!(problem.document.starts_with(document), "{problem:?}");
        assert!(problem.message.contains(word), "{problem:?}");
        let foreseen = stage.graph();
        assert_eq!((foreseen.problems.len(), foreseen.batches.len()), (1, 0));
    }
    stage.document(first, "tasks:\n  - id: other\n");
    // Without an item it is the one with errors that is meant.
    let nowhere = needs("nowhere");
    let sync = || stage.sync(None, Some(&nowhere), None).unwrap();
    assert_eq!(stage.unmoved("graph_invalid", sync).item, Some(json!(2)));
    assert_eq!(stage.synced(&needs("other")).item, Some(json!(2)));
    assert_eq!(stage.done("ready-to-implement").state, "clear-pre-execute");
    assert_eq!(stage.ids(), [["other"], ["second"]]);
}

#[test]
fn ids_of_two_items_are_qualified_and_a_file_of_both_splits_a_batch() {
    let stage = ready(&[
        TWO_WAVES,
        "tasks:\n  - id: types\n    files: [src/other.rs]\n  - id: user\n    files: [./src//machine.rs]\n    depends-on: [types]\n  - id: both\n    depends-on: [item-1/types, machine]\n",
    ]);
    stage.done("ready-to-implement");
    let (types, other) = ("item-1/types", "item-2/types");
    let wave = vec![types, other];
    let batches = [wave, vec!["machine"], vec!["user"], vec!["both"]];
    assert_eq!(stage.ids(), batches);
    let batches = stage.graph().batches;
    assert_eq!(batches[2].tasks[0].depends_on, [other]);
    assert_eq!(batches[3].tasks[0].depends_on, [types, "machine"]);
    stage.until("execute-batch");
    let updated = stage.untold(&[("types", "completed")], "not_found");
    let meant = format!("`{types}` and `{other}`");
    assert!(updated.verdict.message.unwrap().contains(&meant));
    stage.told(&[(types, "completed"), (other, "completed")]);
}

#[test]
fn tasks_that_share_a_file_are_split_and_it_is_said() {
    let stage = ready(&["tasks:
  - id: a
    files: [src/one.rs, src/two.rs]
  - id: b
    files: [src/two.rs]
  - id: c
    files: [src/three.rs]
    tests: [tests/all.rs]
  - id: d
    tests: [./tests/all.rs]
  - id: e
    parallel: false
  - id: f
    parallel: false
"]);
    let answer = stage.done("ready-to-implement");
    let batches = [vec!["a", "c"], vec!["b", "d"], vec!["e"], vec!["f"]];
    assert_eq!(stage.ids(), batches);
    let graph = stage.graph();
    assert!(graph.batches.iter().all(|batch| batch.wave == 1));
    let splits = graph.batches.iter().map(|batch| batch.split.as_str());
    let words = ["", "src/two.rs", "alone", "alone"];
    assert!(splits.zip(words).all(|(split, word)| split.contains(word)));
    assert_eq!(answer.notes.len(), 3);
    assert!(answer.notes[0].contains("src/two.rs"));
    let cut = &stage.events("batches:cut")[0].fields;
    assert_eq!([&cut["batches"], &cut["tasks"]], [4, 6]);
    assert_eq!(cut["split"].as_array().unwrap().len(), 3);
    assert!(graph.mermaid.contains("src/two.rs"), "{}", graph.mermaid);
}

#[test]
fn batches_are_told_at_their_time() {
    let stage = ready(&[TWO_WAVES]);
    let stand = |statuses: &[&str], current: Option<u64>| {
        let full = stage.full();
        let told: Vec<&str> = full.batches.iter().map(|batch| &*batch.status).collect();
        assert_eq!((&*told, full.current_batch), (statuses, current));
    };
    stand(&[], None);
    stage.done("ready-to-implement");
    stand(&["pending", "pending"], None);
    let batch = stage.done("collab-clear").batch.unwrap();
    let told = (batch.id.as_str(), batch.index, batch.of);
    assert_eq!(told, ("batch-1", 0, 2));
    stand(&["in_progress", "pending"], Some(0));
    stage.pass(61_000);
    stage.finish_batch();
    stage.done("executing-plans");
    stand(&["completed", "pending"], None);
    let fields = &stage.events("batch:complete")[0].fields;
    let names = ["batch", "outcome", "durationMs"].map(|name| &fields[name]);
    assert_eq!(json!(names), json!(["batch-1", "completed", 61_000]));
    let task = &fields["tasks"][0];
    assert_eq!([&task["id"], &task["status"]], ["types", "completed"]);
    let times = ["startedAt", "completedAt"].map(|name| fields[name].as_str().unwrap());
    assert_ne!(times[0], times[1]);
    assert_eq!(stage.full().current_item, None);
}
