//! How a task graph comes in: as text, by a path, or as a file that somebody wrote.

use std::fs;
use std::os::unix::fs::symlink;

use engine::Kind;
use engine::view::collab::request::GraphSync;
use serde_json::json;

use super::stage::{Stage, TWO_WAVES};

/// A graph of one task.
fn one(id: &str) -> String {
    format!("tasks:\n  - id: {id}\n    files: [src/{id}.rs]\n")
}

/// A session at the graph of its first item.
fn at_graph(types: &[&str]) -> Stage {
    let stage = Stage::of(types);
    stage.until("build-task-graph");
    stage
}

/// The ids of all tasks that the graphs would give now.
fn planned(stage: &Stage) -> Vec<String> {
    super::stage::ids(&stage.graph()).concat()
}

#[test]
fn a_graph_that_is_handed_over_lies_among_the_documents() {
    let stage = at_graph(&["code"]);
    let text = format!("# Graph\n\n```yaml\n{TWO_WAVES}```\n");
    let synced = stage.synced(&text);
    assert_eq!((synced.item, synced.tasks), (Some(json!(1)), 2));
    let file = stage.dir().join("documents/task-graph-item-1.md");
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    assert_eq!(stage.done("build-task-graph").state, "clear-rd4");
    assert!(
        stage
            .brief()
            .read
            .contains(&"task-graph-item-1.md".to_owned())
    );
    // The same once more changes nothing.
    let before = stage.files();
    stage.synced(&text);
    stage.is_as(&before);
}

#[test]
fn a_graph_may_be_written_under_any_of_its_names() {
    for name in [
        "task-graph.md",
        "task-graph.yaml",
        "task-graph-item-1.md",
        "task-graph-1.yaml",
        "task-graph_1.yml",
        "task-graph-final.markdown",
    ] {
        let stage = at_graph(&["code"]);
        stage.document(name, &one("types"));
        assert_eq!(stage.done("build-task-graph").state, "clear-rd4", "{name}");
        assert_eq!(planned(&stage), ["types"], "{name}");
    }
    for name in [
        "task-graph.txt",
        "taskgraph.md",
        "graph.md",
        "task-graph",
        "task-graph-2.md",
    ] {
        let stage = at_graph(&["code", "bugfix"]);
        stage.document(name, &one("types"));
        stage.refused("build-task-graph", "graph_missing");
    }
}

#[test]
fn a_blank_file_is_no_graph() {
    let stage = at_graph(&["code"]);
    stage.document("task-graph.md", " \n\t\n");
    let answer = stage.refused("build-task-graph", "graph_missing");
    assert!(answer.message.unwrap().contains("item 1"));
}

#[test]
fn the_file_that_is_written_anew_for_the_second_item_is_its_graph() {
    let stage = at_graph(&["code", "code"]);
    stage.document("task-graph.md", &one("first"));
    stage.done("build-task-graph");
    stage.done("collab-clear");
    stage.done("rough-draft-handoff");
    stage.until("build-task-graph");
    // It still holds the first one's.
    let answer = stage.refused("build-task-graph", "graph_missing");
    assert!(answer.message.unwrap().contains("item 2"));
    stage.document("task-graph.md", &one("second"));
    stage.done("build-task-graph");
    stage.until("ready-to-implement");
    assert_eq!(planned(&stage), ["first", "second"]);
}

#[test]
fn a_second_file_is_the_graph_of_the_second_item() {
    let stage = at_graph(&["code", "code"]);
    stage.document("task-graph.md", &one("first"));
    stage.done("build-task-graph");
    stage.until_next_graph();
    stage.document("task-graph-2.yaml", &one("second"));
    stage.done("build-task-graph");
    stage.until("ready-to-implement");
    assert_eq!(planned(&stage), ["first", "second"]);
}

impl Stage {
    /// Goes on to the graph of the next item.
    fn until_next_graph(&self) {
        self.done("collab-clear");
        self.done("rough-draft-handoff");
        self.until("build-task-graph");
    }
}

#[test]
fn files_with_the_numbers_of_items_are_theirs_whatever_the_order() {
    let stage = at_graph(&["code", "code"]);
    stage.document("task-graph-item-2.md", &one("second"));
    stage.refused("build-task-graph", "graph_missing");
    stage.document("task-graph-item-1.md", &one("first"));
    stage.done("build-task-graph");
    stage.until_next_graph();
    stage.done("build-task-graph");
    stage.until("ready-to-implement");
    assert_eq!(planned(&stage), ["first", "second"]);
}

#[test]
fn a_graph_that_is_mended_by_hand_counts_as_it_is() {
    let stage = at_graph(&["code"]);
    stage.synced(&one("first"));
    stage.done("build-task-graph");
    stage.document("task-graph-item-1.md", &one("better"));
    stage.until("ready-to-implement");
    assert_eq!(planned(&stage), ["better"]);
    stage.until("execute-batch");
    assert_eq!(stage.full().batches[0].tasks[0].id, "better");
    // From now on only what is handed over counts.
    stage.document("task-graph-item-1.md", &one("late"));
    assert_eq!(planned(&stage), ["better"]);
}

#[test]
fn a_graph_whose_file_is_gone_is_still_known() {
    let stage = at_graph(&["code"]);
    stage.synced(&one("types"));
    fs::remove_file(stage.dir().join("documents/task-graph-item-1.md")).unwrap();
    stage.done("build-task-graph");
    fs::remove_dir_all(stage.dir().join("documents")).unwrap();
    stage.until("execute-batch");
    assert_eq!(stage.full().batches[0].tasks[0].id, "types");
}

#[test]
fn a_file_of_the_project_is_handed_over_by_its_path() {
    for path in ["docs/graph.md", "./docs/graph.md", "docs/./graph.md"] {
        let stage = at_graph(&["code"]);
        stage.write("docs/graph.md", TWO_WAVES);
        let synced = stage.sync_path(path).unwrap();
        assert!(synced.validated, "{path}");
        assert_eq!(stage.done("build-task-graph").state, "clear-rd4");
    }
    let stage = at_graph(&["code"]);
    stage.write("docs/graph.md", TWO_WAVES);
    let absolute = stage.project().join("docs/graph.md");
    assert!(
        stage
            .sync_path(&absolute.display().to_string())
            .unwrap()
            .validated
    );
    // A link within the project leads to a file of it.
    symlink(&absolute, stage.project().join("link.md")).unwrap();
    assert!(stage.sync_path("link.md").unwrap().validated);
}

#[test]
fn a_file_of_somebody_else_is_not_read() {
    let stage = at_graph(&["code"]);
    let outside = stage.around().join("outside.md");
    fs::write(&outside, TWO_WAVES).unwrap();
    symlink(&outside, stage.project().join("link.md")).unwrap();
    symlink(stage.around(), stage.project().join("up")).unwrap();
    let before = stage.files();
    for path in [
        "../outside.md",
        "docs/../../outside.md",
        "/etc/passwd",
        &outside.display().to_string(),
        "link.md",
        "up/outside.md",
        "",
    ] {
        let fault = stage.sync_path(path).unwrap_err();
        assert_eq!(
            (fault.kind, fault.code.as_str()),
            (Kind::Usage, "bad_path"),
            "{path}"
        );
    }
    let fault = stage.sync_path("missing.md").unwrap_err();
    assert_eq!(
        (fault.kind, fault.code.as_str()),
        (Kind::Missing, "no_document")
    );
    for folder in [".", ".taskmaster"] {
        let fault = stage.sync_path(folder).unwrap_err();
        assert_eq!(fault.code, "no_ordinary_file", "{folder}");
    }
    stage.is_as(&before);
}

#[test]
fn what_is_no_text_or_too_large_is_refused() {
    let stage = at_graph(&["code"]);
    let before = stage.files();
    fs::write(
        stage.project().join("bytes.md"),
        b"tasks:\n  - id: \xff\xfe\n",
    )
    .unwrap();
    let fault = stage.sync_path("bytes.md").unwrap_err();
    assert_eq!(
        (fault.kind, fault.code.as_str()),
        (Kind::Refused, "not_text")
    );
    assert!(
        fault.message.contains("bytes.md") && fault.message.contains("line 2"),
        "{fault:?}"
    );
    let huge = fs::File::create(stage.project().join("huge.md")).unwrap();
    huge.set_len(65 * 1024 * 1024).unwrap();
    let fault = stage.sync_path("huge.md").unwrap_err();
    assert!(fault.message.contains("huge.md"), "{fault:?}");
    let large = "x".repeat(9 * 1024 * 1024);
    let fault = stage.sync(None, &large).unwrap_err();
    assert_eq!(
        (fault.kind, fault.code.as_str()),
        (Kind::Usage, "document_too_large")
    );
    stage.is_as(&before);
    assert_eq!(stage.state(), "build-task-graph");
}

#[test]
fn either_the_text_or_a_path_is_given() {
    let stage = at_graph(&["code"]);
    let sync = GraphSync {
        document: Some(TWO_WAVES.to_owned()),
        path: Some("graph.md".to_owned()),
        ..GraphSync::default()
    };
    let fault = stage.engine().collab_sync(&sync).unwrap_err();
    assert_eq!(
        (fault.kind, fault.code.as_str()),
        (Kind::Usage, "bad_input")
    );
}

#[test]
fn without_either_the_documents_are_read_again() {
    let stage = at_graph(&["code", "bugfix"]);
    let again = |stage: &Stage| stage.engine().collab_sync(&GraphSync::default()).unwrap();
    let before = stage.files();
    assert_eq!(again(&stage).code.as_deref(), Some("graph_missing"));
    stage.is_as(&before);
    stage.document("task-graph.md", "tasks:\n  - {}\n");
    let before = stage.files();
    let synced = again(&stage);
    assert_eq!(synced.code.as_deref(), Some("graph_invalid"));
    assert_eq!(synced.problems[0].document, "task-graph.md");
    stage.is_as(&before);
    stage.document("task-graph.md", TWO_WAVES);
    let synced = again(&stage);
    assert!(synced.validated, "{synced:?}");
    assert_eq!((synced.item, synced.tasks), (Some(json!(1)), 2));

    // While batches are executed, what was written meanwhile comes in so.
    stage.until("execute-batch");
    stage.told(&[("types", "completed")]);
    stage.document(
        "task-graph.md",
        &format!("{TWO_WAVES}  - id: more\n    depends-on: [machine]\n"),
    );
    assert_eq!(planned(&stage), ["types", "item-2", "machine"]);
    let synced = again(&stage);
    assert!(synced.validated, "{synced:?}");
    assert_eq!(planned(&stage), ["types", "item-2", "machine", "more"]);
    assert_eq!(stage.full().completed_tasks, ["types"]);
    stage.document(
        "task-graph.md",
        "tasks:\n  - id: types\n    depends-on: [gone]\n",
    );
    let before = stage.files();
    let synced = again(&stage);
    assert_eq!(synced.code.as_deref(), Some("graph_invalid"), "{synced:?}");
    stage.is_as(&before);
}

#[test]
fn an_unknown_item_has_no_graph() {
    let stage = at_graph(&["code", "bugfix"]);
    for item in ["3", "", "zwei", "../1"] {
        let fault = stage.sync(Some(item), TWO_WAVES).unwrap_err();
        assert_eq!(
            (fault.kind, fault.code.as_str()),
            (Kind::Missing, "unknown_item"),
            "{item}"
        );
        assert_eq!(fault.expected, Some(json!([1, 2])));
    }
    for item in ["2", " #2 "] {
        assert_eq!(stage.synced_of(item, TWO_WAVES).item, Some(json!(2)));
    }
}

#[test]
fn with_no_item_in_hand_the_item_has_to_be_named() {
    let stage = Stage::of(&["code", "code"]);
    let fault = stage.sync(None, TWO_WAVES).unwrap_err();
    assert_eq!(
        (fault.kind, fault.code.as_str()),
        (Kind::Usage, "which_item")
    );
    assert_eq!(fault.expected, Some(json!([1, 2])));
    stage.synced_of("2", &one("second"));
    stage.until("ready-to-implement");
    let fault = stage.sync(None, TWO_WAVES).unwrap_err();
    assert_eq!(fault.code, "which_item");
    // The only item needs no name.
    let stage = Stage::of(&["bugfix"]);
    stage.until("ready-to-implement");
    assert_eq!(stage.synced(&one("mend")).item, Some(json!(1)));
    assert_eq!(planned(&stage), ["mend"]);
}

#[test]
fn a_graph_needs_items_that_are_set() {
    let stage = Stage::bare();
    let sync = |stage: &Stage| stage.sync(None, TWO_WAVES).unwrap_err();
    assert_eq!(sync(&stage).code, "no_session");
    stage.done("collab-start");
    let fault = sync(&stage);
    assert_eq!(fault.kind, Kind::Usage, "{fault:?}");
}

#[test]
fn a_document_that_leads_out_of_the_folder_is_refused() {
    let stage = at_graph(&["code"]);
    let outside = stage.around().join("outside.md");
    fs::write(&outside, TWO_WAVES).unwrap();
    symlink(&outside, stage.dir().join("documents/task-graph.md")).unwrap();
    let answer = stage.refused("build-task-graph", "graph_invalid");
    let [problem] = &answer.problems[..] else {
        panic!("{answer:?}");
    };
    assert_eq!(
        (problem.code.as_str(), problem.document.as_str()),
        ("no_ordinary_file", "task-graph.md")
    );
}

#[test]
fn numbers_that_are_no_plain_names_have_files_of_their_own() {
    let stage = Stage::with(&json!([
        {"number": "1.1", "title": "One", "type": "code"},
        {"number": "1-1", "title": "Two", "type": "code"},
        {"number": "a", "title": "Three", "type": "code"},
    ]));
    let outside = stage.dir().parent().unwrap().to_owned();
    let count = |folder: &std::path::Path| fs::read_dir(folder).unwrap().count();
    let beside = count(&outside);
    for (number, id) in [("1.1", "first"), ("1-1", "second"), ("a", "third")] {
        stage.until("build-task-graph");
        assert_eq!(stage.brief().item.unwrap().number, json!(number));
        stage.refused("build-task-graph", "graph_missing");
        stage.synced(&one(id));
        stage.done("build-task-graph");
    }
    stage.until("ready-to-implement");
    assert_eq!(planned(&stage), ["first", "second", "third"]);
    assert_eq!(count(&outside), beside);
}

#[test]
fn a_second_file_of_an_item_is_passed_over_and_named() {
    let stage = at_graph(&["code"]);
    stage.document("task-graph-item-1.md", &one("first"));
    stage.done("build-task-graph");
    stage.document("task-graph-item-1.yaml", &one("second"));
    let synced = stage.sync_again(Some("1"));
    assert!(synced.validated, "{synced:?}");
    let told = synced.notes.concat();
    assert!(
        told.contains("task-graph-item-1.yaml") && told.contains("taken from task-graph-item-1.md"),
        "{told}"
    );
    fs::remove_file(stage.dir().join("documents/task-graph-item-1.md")).unwrap();
    assert_eq!(stage.sync_again(Some("1")).notes, Vec::<String>::new());
    stage.until("ready-to-implement");
    assert_eq!(planned(&stage), ["second"]);
}

#[test]
fn reading_again_tells_what_is_missing_and_what_cannot_be_told_apart() {
    let stage = at_graph(&["code"]);
    let missing = stage.sync_again(None);
    assert_eq!(
        (missing.code.as_deref(), missing.tasks),
        (Some("graph_missing"), 0)
    );
    let suggestion = missing.suggestion.unwrap();
    assert!(suggestion.contains("task-graph-item-1.md"), "{suggestion}");
    stage.document("task-graph.md", &one("first"));
    stage.document("task-graph-draft.md", &one("second"));
    let several = stage.sync_again(None);
    assert_eq!(several.code.as_deref(), Some("which_document"));
    let message = several.message.unwrap();
    assert!(
        message.contains("task-graph-draft.md, task-graph.md"),
        "{message}"
    );
}

#[test]
fn a_file_that_several_items_were_taken_from_is_to_be_read_once() {
    let stage = at_graph(&["code", "code", "code"]);
    for (name, id) in [
        ("task-graph.md", "first"),
        ("task-graph-2.yaml", "second"),
        ("task-graph.md", "third"),
    ] {
        stage.document(name, &one(id));
        stage.done("build-task-graph");
        if id != "third" {
            stage.until_next_graph();
        }
    }
    stage.until("execute-batch");
    assert_eq!(
        stage.brief().read[..3],
        ["design.md", "task-graph.md", "task-graph-2.yaml"]
    );
}
