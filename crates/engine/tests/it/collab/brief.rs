//! What somebody needs who remembers nothing, in less than 1 KB.

use std::path::Path;

use engine::view::collab::answer::SessionBrief;
use serde_json::{Value, json};

use super::stage::{Stage, wire};

const MOST: usize = 1023;

/// Asserts that it is short, and says what there is to know.
fn is_enough(stage: &Stage) -> SessionBrief {
    let brief = stage.brief();
    let text = wire(&brief);
    assert!(
        text.len() <= MOST,
        "{} bytes in {}: {text}",
        text.len(),
        brief.state
    );
    let full = stage.full();
    assert_eq!(brief.skill, full.skill);
    assert_eq!(brief.unit_id, full.unit_id);
    assert_eq!(brief.state, full.state);
    assert_eq!(brief.phase, full.phase);
    assert_eq!(
        brief.item.as_ref().map(|item| item.number.clone()),
        full.current_item
    );
    assert_eq!(
        brief.item.as_ref().map(|item| item.kind.clone()),
        full.current_item_type
    );
    assert_eq!(
        brief.batch.as_ref().map(|batch| batch.index),
        full.current_batch
    );
    assert_eq!(brief.documents, full.documents);
    for name in &brief.read {
        let path = Path::new(&brief.documents).join(name);
        assert!(path.is_absolute() && path.is_file(), "{}", path.display());
    }
    brief
}

#[test]
fn it_is_short_in_every_state() {
    let stage = Stage::of(&["code", "task", "bugfix"]);
    let mut phases = Vec::new();
    while stage.state() != "done" {
        let brief = is_enough(&stage);
        assert!(brief.instructions.is_some(), "{}", brief.state);
        phases.push(brief.phase);
        stage.step();
    }
    let brief = is_enough(&stage);
    assert_eq!(brief.phase, "done");
    assert!(wire(&brief).contains("\"skill\":null"));
    phases.dedup();
    assert_eq!(
        phases,
        [
            "gathering",
            "brainstorming",
            "rough-draft",
            "brainstorming",
            "rough-draft",
            "brainstorming",
            "rough-draft",
            "implementation"
        ]
    );
}

#[test]
fn long_titles_and_hundreds_of_tasks_with_long_ids_are_cut() {
    for wide in ["\\", "\u{1f600}"] {
        let title: String = wide.repeat(500 / wide.len());
        let stage = Stage::bare().named(&"s".repeat(64));
        stage.done("collab-start");
        stage.set_items(&json!([
            {"number": "n".repeat(40), "title": title, "type": "code"},
            {"number": "m".repeat(40), "title": title, "type": "task"},
        ]));
        let id = |n: usize| format!("{}-{n}", "long".repeat(30));
        let needed: Vec<String> = (0..3).map(id).collect();
        let mut graph = "tasks:\n".to_owned();
        for n in 0..203 {
            let needs = if n < 3 {
                String::new()
            } else {
                needed.join(", ")
            };
            for line in [
                &format!("  - id: {}\n", id(n)),
                &format!("    files: [{}{n}.rs]\n", "deep/".repeat(40)),
                &format!("    depends-on: [{needs}]\n"),
            ] {
                graph.push_str(line);
            }
        }
        let mut largest = 0;
        while stage.state() != "done" {
            let brief = is_enough(&stage);
            largest = largest.max(brief.batch.map_or(0, |batch| {
                batch.tasks_total.unwrap_or(batch.tasks.len() as u64)
            }));
            if brief.state == "build-task-graph" {
                stage.synced(&graph);
            }
            stage.step();
        }
        assert_eq!(largest, 200);
    }
}

#[test]
fn long_paths_are_told_as_far_as_they_fit() {
    for (length, told) in [(40, 5), (200, 2)] {
        let store = vec!["d".repeat(length); 3].join("/");
        let stage = Stage::bare().keeping_in(&store);
        stage.done("collab-start");
        stage.document("design.md", "### Item 1: One\n**Type:** code\n");
        stage.until("clear-rd4");
        let read = is_enough(&stage).read;
        assert_eq!(read.len(), told, "{read:?}");
        assert!(read.iter().take(1).all(|path| path.ends_with("design.md")));
        stage.until("execute-batch");
        let batch = is_enough(&stage).batch.unwrap();
        // Where paths take all the room, how many there are is told.
        let told = batch.tasks_total.unwrap_or(batch.tasks.len() as u64);
        assert_eq!((batch.id.as_str(), told), ("batch-1", 1));
    }
}

#[test]
fn tasks_that_are_still_to_be_done_come_first() {
    let tasks: Vec<String> = (0..40)
        .map(|n| format!("  - id: task-number-{n}\n"))
        .collect();
    let stage = Stage::executing(&format!("tasks:\n{}", tasks.concat()));
    let done: Vec<String> = (0..38).map(|n| format!("task-number-{n}")).collect();
    let done: Vec<(&str, &str)> = done.iter().map(|id| (id.as_str(), "completed")).collect();
    stage.told(&done);
    stage.told(&[("task-number-38", "in_progress")]);
    let batch = is_enough(&stage).batch.unwrap();
    assert_eq!(batch.tasks_total, Some(40));
    assert_eq!(batch.tasks[0].id, "task-number-38");
    assert_eq!(batch.tasks[1].id, "task-number-39");
}

#[test]
fn the_files_to_read_are_told() {
    let stage = Stage::bare();
    stage.done("collab-start");
    assert_eq!(is_enough(&stage).read, Vec::<String>::new());
    stage.document("design.md", "### Item 1: One\n**Type:** code\n");
    stage.done("gather-session-goals");
    let design = "design.md".to_owned();
    assert_eq!(is_enough(&stage).read, std::slice::from_ref(&design));
    stage.until("clear-rd4");
    assert_eq!(
        is_enough(&stage).read,
        [
            "design.md",
            "task-graph-item-1.md",
            "item-1-interface.md",
            "item-1-pseudocode.md",
            "item-1-skeleton.md"
        ]
    );
    stage.until("execute-batch");
    let read = is_enough(&stage).read;
    assert!(read.contains(&design), "{read:?}");
}

#[test]
fn the_drafts_of_an_item_are_among_them() {
    let stage = Stage::with(&json!([
        { "number": "1", "title": "One", "type": "code" },
        { "number": "1-a", "title": "Other", "type": "code" },
    ]));
    stage.until("rough-draft-skeleton");
    stage.document("item-1-pseudocode.md", "steps");
    stage.document("item-1-interface.md", "types");
    stage.document("item-1-a-interface.md", "of the other");
    stage.document("item-9-interface.md", "of none");
    stage.document("interface-item-1.md", "accepted under this name, too");
    let read = is_enough(&stage).read;
    assert_eq!(
        read,
        [
            "design.md",
            "interface-item-1.md",
            "item-1-interface.md",
            "item-1-pseudocode.md"
        ]
    );
    stage.until("execute-batch");
    let read = is_enough(&stage).read;
    assert!(read.contains(&"interface-item-1.md".to_owned()), "{read:?}");
}

#[test]
fn a_task_that_depends_on_very_many_is_named_all_the_same() {
    let needs: Vec<String> = (0..200).map(|n| format!("task-{n}")).collect();
    let tasks = needs.iter().map(|id| format!("  - id: {id}\n"));
    let last = format!("  - id: last\n    depends-on: [{}]\n", needs.join(", "));
    let graph = format!("tasks:\n{}{last}", tasks.collect::<String>());
    let stage = Stage::executing(&graph);
    stage.finish_batch();
    stage.done("executing-plans");
    stage.until("execute-batch");
    let batch = is_enough(&stage).batch.unwrap();
    let [task] = batch.tasks.as_slice() else {
        panic!("{batch:?}");
    };
    assert_eq!(task.id, "last");
    assert_eq!(task.depends_on_total, Some(200));
}

#[test]
fn a_long_reason_of_a_pause_is_cut() {
    let stage = Stage::of(&["code"]);
    let id = stage.full().run_id;
    stage
        .engine()
        .run_pause(Some(&id), &"why\u{7}".repeat(400))
        .unwrap();
    let brief = stage.brief();
    assert!(wire(&brief).len() <= MOST);
    assert!(brief.paused_reason.is_some());
}

#[test]
fn every_field_of_a_session_is_told_by_name() {
    let stage = Stage::of(&["code", "bugfix"]);
    let fields = [
        "batches",
        "completedTasks",
        "currentBatch",
        "currentItem",
        "currentItemType",
        "displayName",
        "documentedItems",
        "hasSnapshot",
        "lastActivity",
        "pendingTasks",
        "phase",
        "state",
        "totalItems",
        "workItems",
    ];
    let mut last = String::new();
    while stage.state() != "done" {
        stage.pass(1000);
        stage.step();
        let full: Value = serde_json::from_str(&wire(&stage.full())).unwrap();
        for field in fields {
            assert!(full.get(field).is_some(), "{field} in {full}");
        }
        let now = full["lastActivity"].as_str().unwrap().to_owned();
        assert!(now > last, "{now} {last}");
        last = now;
        for item in full["workItems"].as_array().unwrap() {
            let names: Vec<&String> = item.as_object().unwrap().keys().collect();
            assert_eq!(names, ["number", "title", "type", "status"]);
        }
        for batch in full["batches"].as_array().unwrap() {
            assert!(batch["id"].is_string() && batch["status"].is_string());
            for task in batch["tasks"].as_array().unwrap() {
                assert!(
                    task["id"].is_string()
                        && task["status"].is_string()
                        && task["dependsOn"].is_array()
                );
            }
        }
    }
}
