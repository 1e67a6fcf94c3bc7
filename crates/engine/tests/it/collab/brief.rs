//! What somebody needs who remembers nothing, in less than 1 KB.

use engine::{Turn, Verb};
use std::fmt::Write as _;
use std::path::Path;

use engine::view::collab::answer::SessionBrief;
use serde_json::json;

use super::stage::{DESIGN, Stage, wire};

const MOST: usize = 1023;

/// Asserts that it is short, and says what there is to know.
fn is_enough(stage: &Stage) -> SessionBrief {
    let brief = stage.brief();
    let text = wire(&brief);
    assert!(text.len() <= MOST, "{} bytes: {text}", text.len());
    let full = stage.full();
    let (short, whole) = (json!(brief), json!(full));
    for name in ["skill", "unitId", "state", "phase", "documents"] {
        assert_eq!(short[name], whole[name], "{name}: {text}");
    }
    for (told, name) in [
        (&short["item"]["number"], "currentItem"),
        (&short["item"]["type"], "currentItemType"),
        (&short["batch"]["index"], "currentBatch"),
    ] {
        assert_eq!(*told, whole[name], "{name}: {text}");
    }
    for name in &brief.read {
        let path = Path::new(&brief.documents).join(name);
        assert!(path.is_absolute() && path.is_file(), "{}", path.display());
    }
    brief
}

/// How many tasks the batch has.
fn tasks_of(brief: &SessionBrief) -> u64 {
    let batch = brief.batch.as_ref();
    batch.map_or(0, |batch| {
        batch.tasks_total.unwrap_or(batch.tasks.len() as u64)
    })
}

#[test]
fn it_is_short_in_every_state_and_the_whole_has_every_field() {
    let stage = Stage::of(&["code", "task", "bugfix"]);
    let mut phases = Vec::new();
    let mut last = String::new();
    while stage.state() != "done" {
        stage.pass(1000);
        let brief = is_enough(&stage);
        assert!(brief.instructions.is_some(), "{}", brief.state);
        phases.push(brief.phase);
        stage.step();
        let full = json!(stage.full());
        for field in "batches completedTasks currentBatch currentItem currentItemType displayName documentedItems hasSnapshot lastActivity pendingTasks phase state totalItems workItems".split(' ') {
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
                assert!(task["id"].is_string() && task["status"].is_string());
                assert!(task["dependsOn"].is_array());
            }
        }
    }
    let brief = is_enough(&stage);
    assert_eq!(brief.phase, "done");
    assert!(wire(&brief).contains("\"skill\":null"));
    phases.dedup();
    assert_eq!(
        phases.join(" "),
        "gathering brainstorming rough-draft brainstorming rough-draft brainstorming rough-draft implementation"
    );
}

#[test]
fn long_titles_and_hundreds_of_tasks_with_long_ids_are_cut() {
    let id = |at: usize| format!("{}-{at}", "long".repeat(30));
    let needs = [id(0), id(1), id(2)].join(", ");
    let mut graph = "tasks:\n".to_owned();
    for at in 0..203 {
        let needs = if at < 3 { "" } else { &needs };
        let file = format!("{}{at}.rs", "deep/".repeat(40));
        let id = id(at);
        let _ = writeln!(
            graph,
            "  - id: {id}\n    files: [{file}]\n    depends-on: [{needs}]"
        );
    }
    for wide in ["\\", "\u{1f600}"] {
        let title: String = wide.repeat(500 / wide.len());
        let stage = Stage::bare().named(&"s".repeat(64));
        stage.done("collab-start");
        stage.set_items(&json!([{"number": "n".repeat(40), "title": title, "type": "code"}]));
        let mut largest = 0;
        while stage.state() != "done" {
            let brief = is_enough(&stage);
            largest = largest.max(tasks_of(&brief));
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
    for (length, told) in [(40, 5), (200, 1)] {
        let store = ["d".repeat(length).as_str(); 3].join("/");
        let mut stage = Stage::bare();
        stage.store = store;
        stage.done("collab-start");
        stage.document("design.md", DESIGN);
        stage.until("clear-rd4");
        let read = is_enough(&stage).read;
        assert_eq!((read.len(), read[0].as_str()), (told, "design.md"));
        stage.until("execute-batch");
        // Where paths take all the room, how many tasks there are is told.
        assert_eq!(tasks_of(&is_enough(&stage)), 1);
    }
}

#[test]
fn tasks_that_are_still_to_be_done_come_first() {
    let stage = Stage::executing_many(40);
    let done: Vec<String> = (0..38).map(|at| format!("task-{at}")).collect();
    let done: Vec<_> = done.iter().map(|id| (id.as_str(), "completed")).collect();
    stage.told(&done);
    stage.told(&[("task-38", "in_progress")]);
    let brief = is_enough(&stage);
    assert_eq!(tasks_of(&brief), 40);
    let tasks = brief.batch.unwrap().tasks;
    assert_eq!([&tasks[0].id, &tasks[1].id], ["task-38", "task-39"]);
    // A long reason of a pause is cut.
    let why = "why\u{7}".repeat(400);
    stage.turn(&Turn::new(Verb::Pause, &why));
    let brief = stage.brief();
    assert!(wire(&brief).len() <= MOST && brief.paused_reason.is_some());
}

#[test]
fn the_files_to_read_are_told() {
    let stage = Stage::begun();
    let is_told = |expected: &[&str]| assert_eq!(is_enough(&stage).read, expected);
    is_told(&[]);
    let item = |number: &str| json!({ "number": number, "title": "One", "type": "code" });
    stage.set_items(&json!([item("1"), item("1-a")]));
    stage.document("design.md", "# Design\n");
    stage.done("gather-session-goals");
    is_told(&["design.md"]);
    stage.until("clear-rd2");
    let (interface, pseudocode) = ("item-1-interface.md", "item-1-pseudocode.md");
    stage.document("item-1-a-interface.md", "of the other");
    stage.document("item-9-interface.md", "of none");
    let odd = "interface-item-1.md";
    stage.document(odd, "accepted under this name, too");
    is_told(&["design.md", odd, interface, pseudocode]);
    std::fs::remove_file(stage.dir().join("documents").join(odd)).unwrap();
    stage.until("clear-rd4");
    let skeleton = "item-1-skeleton.md";
    is_told(&[
        "design.md",
        "task-graph-item-1.md",
        interface,
        pseudocode,
        skeleton,
    ]);
    let read = stage.until("execute-batch").read;
    assert!(read.contains(&"design.md".to_owned()), "{read:?}");
}

#[test]
fn a_task_that_depends_on_very_many_is_named_all_the_same() {
    let needs: Vec<String> = (0..200).map(|at| format!("task-{at}")).collect();
    let tasks = needs.iter().map(|id| format!("  - id: {id}\n"));
    let last = format!("  - id: last\n    depends-on: [{}]\n", needs.join(", "));
    let graph = format!("tasks:\n{}{last}", tasks.collect::<String>());
    let stage = Stage::executing(&graph);
    stage.past_batch();
    let tasks = is_enough(&stage).batch.unwrap().tasks;
    let told = (tasks.len(), tasks[0].id.as_str(), tasks[0].depends_on_total);
    assert_eq!(told, (1, "last", Some(200)));
}
