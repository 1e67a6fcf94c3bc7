//! What is wrong with task graphs, and what becomes of those that are right.

use serde_json::{Value, json};

use super::stage::{Stage, TWO_WAVES, ids};

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
    let waves = vec![
        vec!["workflow-types"],
        vec!["state-machine", "collab-state-extend"],
        vec!["transitions"],
        vec!["complete-skill"],
        vec!["setup-register"],
    ];
    let foreseen = stage.graph();
    assert!(!foreseen.cut);
    assert_eq!(ids(&foreseen), waves);
    stage.done("ready-to-implement");
    let cut = stage.graph();
    assert!(cut.cut);
    assert_eq!(ids(&cut), waves);
    assert_eq!(cut.batches, foreseen.batches);
    let (batches, wave): (Vec<&str>, Vec<u64>) = cut
        .batches
        .iter()
        .map(|batch| (batch.id.as_str(), batch.wave))
        .unzip();
    assert_eq!(
        batches,
        ["batch-1", "batch-2", "batch-3", "batch-4", "batch-5"]
    );
    assert_eq!(wave, [1, 2, 3, 4, 5]);
    for id in waves.concat() {
        assert!(cut.mermaid.contains(id), "{}", cut.mermaid);
    }
    assert_eq!(cut.mermaid.matches("subgraph").count(), 5);
    let mut executed = Vec::new();
    while stage.state() != "workflow-complete" {
        let answer = stage.step();
        executed.extend(answer.params.batch_index);
    }
    assert_eq!(executed, [0, 1, 2, 3, 4]);
}

#[test]
fn errors_of_the_present_graph_are_told_with_their_lines() {
    for (graph, line, words) in [
        ("# nothing here\n", 1, "tasks"),
        ("tasks:\n  - files: [a.rs]\n", 2, "id"),
        ("tasks:\n  - id: a\n  - id: b\n  - id: a\n", 4, "a"),
        ("tasks:\n  - id: a\n    depends-on: [b]\n", 3, "b"),
        ("tasks:\n  - id: a\n    depends-on: [a]\n", 2, "itself"),
        (
            "tasks:\n  - id: a\n    depends-on: [b]\n  - id: b\n    depends-on: [a]\n",
            2,
            "`a` needs `b`, which needs `a`",
        ),
        ("tasks:\n  - id: a\n    depends-on: [b\n", 3, ""),
    ] {
        let stage = Stage::of(&["code"]);
        stage.until("build-task-graph");
        let before = stage.files();
        let synced = stage.sync(None, graph).unwrap();
        assert!(!synced.validated, "{graph}");
        assert_eq!(synced.code.as_deref(), Some("graph_invalid"));
        stage.is_as(&before);

        stage.document("task-graph.md", graph);
        let answer = stage.refused("build-task-graph", "graph_invalid");
        assert_eq!(answer.next_skill.as_deref(), Some("build-task-graph"));
        for (problems, document) in [
            (&synced.problems, "task-graph-item-1.md"),
            (&answer.problems, "task-graph.md"),
        ] {
            let problem = problems.first().unwrap();
            assert_eq!(problem.document, document, "{graph}");
            assert_eq!(problem.item, Some(json!(1)));
            assert!(problem.message.contains(words), "{graph}: {problem:?}");
            assert!(problem.line.abs_diff(line) <= 1, "{graph}: {problem:?}");
            assert!(!problem.code.is_empty());
        }
        stage.document("task-graph.md", TWO_WAVES);
        assert_eq!(stage.done("build-task-graph").state, "clear-rd4");
    }
}

#[test]
fn what_the_graph_of_another_item_lacks_is_told_when_all_are_merged() {
    // The first one rests on a task of the second, which is then written without it.
    let stage = Stage::of(&["code", "code"]);
    stage.until("build-task-graph");
    stage.synced("tasks:\n  - id: first\n");
    stage.done("build-task-graph");
    stage.done("collab-clear");
    stage.done("rough-draft-handoff");
    stage.until("build-task-graph");
    stage.synced("tasks:\n  - id: second\n    depends-on: [first]\n");
    stage.done("build-task-graph");
    stage.until("ready-to-implement");
    stage.document("task-graph-item-1.md", "tasks:\n  - id: other\n");
    let answer = stage.refused("ready-to-implement", "graph_invalid");
    let problem = answer.problems.first().unwrap();
    assert_eq!(
        (problem.document.as_str(), &problem.item),
        ("task-graph-item-2.md", &Some(json!(2)))
    );
    assert!(problem.message.contains("first"), "{problem:?}");
    let foreseen = stage.graph();
    assert_eq!((foreseen.problems.len(), foreseen.batches.len()), (1, 0));

    // Without an item it is the one with errors that is meant.
    let before = stage.files();
    let synced = stage
        .sync(None, "tasks:\n  - id: second\n    depends-on: [nowhere]\n")
        .unwrap();
    assert_eq!((synced.validated, synced.item), (false, Some(json!(2))));
    stage.is_as(&before);
    let synced = stage.synced("tasks:\n  - id: second\n    depends-on: [other]\n");
    assert_eq!(synced.item, Some(json!(2)));
    assert_eq!(stage.done("ready-to-implement").state, "clear-pre-execute");
    assert_eq!(ids(&stage.graph()), [["other"], ["second"]]);
}

#[test]
fn a_merge_is_mended_by_editing_the_file() {
    let stage = ready(&["tasks:\n  - id: first\n"]);
    stage.document(
        "task-graph-item-1.md",
        "tasks:\n  - id: first\n    depends-on: [frist]\n",
    );
    let answer = stage.refused("ready-to-implement", "graph_invalid");
    assert_eq!(answer.problems[0].line, 2, "{:?}", answer.problems);
    stage.document("task-graph-item-1.md", "tasks:\n  - id: first\n");
    assert_eq!(stage.done("ready-to-implement").state, "clear-pre-execute");
}

#[test]
fn circles_across_items_are_told() {
    let stage = Stage::with(&json!([
        {"number": 1, "title": "One", "type": "code"},
        {"number": 2, "title": "Two", "type": "code", "dependsOn": [1]},
    ]));
    for graph in ["tasks:\n  - id: first\n", "tasks:\n  - id: second\n"] {
        stage.until("build-task-graph");
        stage.synced(graph);
        stage.done("build-task-graph");
    }
    stage.until("ready-to-implement");
    // The second item comes after the first one, which needs a task of the second.
    stage.document(
        "task-graph-item-1.md",
        "tasks:\n  - id: first\n    depends-on: [second]\n",
    );
    let answer = stage.refused("ready-to-implement", "graph_invalid");
    let message = &answer.problems[0].message;
    assert!(
        message.contains("first") && message.contains("second"),
        "{message}"
    );
}

#[test]
fn ids_of_two_items_are_qualified() {
    let stage = ready(&[
        TWO_WAVES,
        "tasks:\n  - id: types\n    files: [src/other.rs]\n  - id: user\n    depends-on: [types]\n  - id: both\n    depends-on: [item-1/types, machine]\n",
    ]);
    stage.done("ready-to-implement");
    assert_eq!(
        ids(&stage.graph()),
        vec![
            vec!["item-1/types", "item-2/types"],
            vec!["machine", "user"],
            vec!["both"],
        ]
    );
    let batches = stage.graph().batches;
    assert_eq!(batches[1].tasks[1].depends_on, ["item-2/types"]);
    assert_eq!(batches[2].tasks[0].depends_on, ["item-1/types", "machine"]);
    stage.until("execute-batch");
    let updated = stage.untold(&[("types", "completed")], "unknown_task");
    let message = updated.message.unwrap();
    assert!(
        message.contains("`item-1/types` or `item-2/types`"),
        "{message}"
    );
    stage.told(&[("item-1/types", "completed"), ("item-2/types", "completed")]);
}

#[test]
fn a_name_that_several_other_items_have_is_ambiguous() {
    let stage = Stage::of(&["code", "code", "code"]);
    for _ in 0..2 {
        stage.until("build-task-graph");
        stage.synced("tasks:\n  - id: types\n");
        stage.done("build-task-graph");
    }
    stage.done("collab-clear");
    stage.done("rough-draft-handoff");
    stage.until("build-task-graph");
    let synced = stage
        .sync(None, "tasks:\n  - id: user\n    depends-on: [types]\n")
        .unwrap();
    assert!(!synced.validated);
    let problem = &synced.problems[0];
    assert!(problem.message.contains("types"), "{problem:?}");
    stage.synced("tasks:\n  - id: user\n    depends-on: [item-2/types]\n");
}

#[test]
fn items_without_a_graph_are_one_task_each() {
    let stage = Stage::with(&json!([
        {"number": 1, "title": "Docs", "type": "task"},
        {"number": "2a", "title": "Crash", "type": "bugfix", "dependsOn": [1]},
    ]));
    stage.until("execute-batch");
    assert_eq!(ids(&stage.graph()), [["item-1"], ["item-2a"]]);
    let answer = stage.brief();
    assert!(answer.instructions.unwrap().contains("Docs"));
    stage.told(&[("item-1", "completed")]);
    stage.until("done");
}

#[test]
fn tasks_and_bugfixes_may_have_graphs_all_the_same() {
    let stage = Stage::of(&["task", "bugfix"]);
    stage.synced_of(
        "1",
        "tasks:\n  - id: write\n  - id: check\n    depends-on: [write]\n",
    );
    stage.until("systematic-debugging");
    stage.synced("tasks:\n  - id: reproduce\n");
    stage.until("ready-to-implement");
    stage.done("ready-to-implement");
    assert_eq!(
        ids(&stage.graph()),
        vec![vec!["write", "reproduce"], vec!["check"]]
    );
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
    let graph = stage.graph();
    assert_eq!(
        ids(&graph),
        vec![vec!["a", "c"], vec!["b", "d"], vec!["e"], vec!["f"]]
    );
    assert_eq!(
        graph
            .batches
            .iter()
            .map(|batch| batch.wave)
            .collect::<Vec<_>>(),
        [1; 4]
    );
    let split: Vec<&str> = graph
        .batches
        .iter()
        .map(|batch| batch.split.as_str())
        .collect();
    assert_eq!(split[0], "");
    assert!(
        split[1].contains("src/two.rs") && split[1].contains('b'),
        "{split:?}"
    );
    assert!(
        split[2].contains("alone") && split[2].contains('e'),
        "{split:?}"
    );
    let notes = answer.notes.join("\n");
    assert_eq!(answer.notes.len(), 3, "{notes}");
    assert!(
        notes.contains("batch-2") && notes.contains("src/two.rs"),
        "{notes}"
    );
    let cut = stage.events("batches:cut");
    let fields = &cut.last().unwrap().fields;
    assert_eq!(
        (&fields["batches"], &fields["tasks"]),
        (&json!(4), &json!(6))
    );
    assert_eq!(fields["split"].as_array().unwrap().len(), 3);
    assert!(graph.mermaid.contains("src/two.rs"), "{}", graph.mermaid);
}

#[test]
fn tasks_of_two_items_that_share_a_file_are_split() {
    let stage = ready(&[
        "tasks:\n  - id: a\n    files: [src/lib.rs]\n",
        "tasks:\n  - id: b\n    files: [./src//lib.rs]\n",
    ]);
    stage.done("ready-to-implement");
    assert_eq!(ids(&stage.graph()), [["a"], ["b"]]);
}

#[test]
fn a_document_with_several_graphs_and_other_writing_is_read() {
    let stage = Stage::of(&["code"]);
    stage.until("build-task-graph");
    let synced = stage.synced(
        "# Plan\n\n```rust\nfn tasks() {}\n```\n\n```yaml\ntasks:\n  - id: a\n    file: src/a.rs\n    action: First\n```\n\n```yml\ntasks:\n  - id: b\n    depends: a\n    description: Second\n```\n",
    );
    assert_eq!(synced.tasks, 2);
    stage.done("build-task-graph");
    stage.until("execute-batch");
    assert_eq!(ids(&stage.graph()), [["a"], ["b"]]);
    assert!(stage.brief().instructions.unwrap().contains("First"));
}

#[test]
fn an_empty_graph_leads_through_execution() {
    let stage = Stage::of(&["code"]);
    stage.until("build-task-graph");
    let synced = stage.sync(None, "tasks: []\n").unwrap();
    if !synced.validated {
        assert_eq!(synced.code.as_deref(), Some("graph_invalid"));
        return;
    }
    stage.done("build-task-graph");
    stage.until("clear-pre-execute");
    assert_eq!(stage.done("collab-clear").state, "workflow-complete");
    assert_eq!(stage.full().batches, []);
}

#[test]
fn batches_are_told_at_their_time() {
    let stage = ready(&[TWO_WAVES]);
    assert_eq!(stage.full().batches, []);
    assert_eq!(stage.full().current_batch, None);
    stage.done("ready-to-implement");
    assert_eq!(stage.full().current_batch, None);
    let statuses = |stage: &Stage| -> Vec<String> {
        stage
            .full()
            .batches
            .iter()
            .map(|batch| batch.status.clone())
            .collect()
    };
    assert_eq!(statuses(&stage), ["pending", "pending"]);
    let answer = stage.done("collab-clear");
    let batch = answer.batch.unwrap();
    assert_eq!(
        (batch.id.as_str(), batch.index, batch.of),
        ("batch-1", 0, 2)
    );
    assert_eq!(statuses(&stage), ["in_progress", "pending"]);
    assert_eq!(stage.full().current_batch, Some(0));
    stage.pass(61_000);
    stage.finish_batch();
    stage.done("executing-plans");
    assert_eq!(statuses(&stage), ["completed", "pending"]);
    assert_eq!(stage.full().current_batch, None);
    let logged = stage.events("batch:complete");
    let fields = &logged.last().unwrap().fields;
    assert_eq!(
        (&fields["batch"], &fields["outcome"], &fields["durationMs"]),
        (&json!("batch-1"), &json!("completed"), &json!(61_000))
    );
    assert_eq!(fields["tasks"][0]["id"], "types");
    assert_eq!(fields["tasks"][0]["status"], "completed");
    assert!(fields["startedAt"].is_string() && fields["completedAt"].is_string());
    assert_ne!(fields["startedAt"], fields["completedAt"]);
    let item: Value = json!(stage.full().current_item);
    assert_eq!(item, Value::Null);
}
