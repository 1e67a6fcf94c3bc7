//! How a task graph comes in: as text, by a path, or as a file that somebody wrote.

use std::fs;
use std::os::unix::fs::symlink;

use engine::Kind::{Environment, Missing, Refused, Usage};
use serde_json::json;

use super::stage::{Stage, TWO_WAVES};

/// A graph of one task.
fn one(id: &str) -> String {
    format!("tasks:\n  - id: {id}\n    files: [src/{id}.rs]\n")
}

/// The ids of all tasks that the graphs would give now.
fn planned(stage: &Stage) -> Vec<String> {
    stage.ids().concat()
}

impl Stage {
    /// Has the documents read again, which is accepted or refused with a code.
    fn read_again(&self, item: Option<&str>, code: Option<&str>) -> Vec<String> {
        let read = || self.sync(item, None, None).unwrap();
        match code {
            None => {
                let synced = read();
                assert!(synced.verdict.validated, "{synced:?}");
                synced.notes
            }
            Some(code) => {
                let refused = self.unmoved(code, read);
                let problems = refused.problems.into_iter().map(|problem| problem.document);
                problems
                    .chain(refused.verdict.message)
                    .chain(refused.verdict.suggestion)
                    .collect()
            }
        }
    }

    /// Goes on to the graph of the next item.
    fn next_graph(&self) {
        self.done("build-task-graph");
        self.done("collab-clear");
        self.done("rough-draft-handoff");
        self.until("build-task-graph");
    }
}

#[test]
fn a_graph_that_is_handed_over_lies_among_the_documents() {
    let stage = Stage::at_graph(&["code"]);
    let text = format!("# Graph\n\n```yaml\n{TWO_WAVES}```\n");
    let synced = stage.synced(&text);
    assert_eq!((synced.item, synced.tasks), (Some(json!(1)), 2));
    let name = "task-graph-item-1.md".to_owned();
    let file = stage.dir().join("documents").join(&name);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    assert_eq!(stage.done("build-task-graph").state, "clear-rd4");
    assert!(stage.brief().read.contains(&name));
    // The same once more changes nothing.
    let before = stage.files();
    stage.synced(&text);
    stage.is_as(&before);
}

#[test]
fn a_graph_may_be_written_under_any_of_its_names() {
    for name in [
        "task-graph.yaml",
        "task-graph_1.yml",
        "task-graph-final.markdown",
    ] {
        let stage = Stage::at_graph(&["code"]);
        stage.document(name, &one("types"));
        assert_eq!(stage.done("build-task-graph").state, "clear-rd4", "{name}");
        assert_eq!(planned(&stage), ["types"], "{name}");
    }
    let stage = Stage::at_graph(&["code", "bugfix"]);
    for name in [
        "task-graph.txt",
        "taskgraph.md",
        "graph.md",
        "task-graph",
        "task-graph-2.md",
    ] {
        stage.document(name, &one("types"));
    }
    stage.document("task-graph.md", " \n\t\n");
    stage.refused("build-task-graph", "graph_missing");
    // One that leads out of the folder is not read.
    let outside = stage.around().join("outside.md");
    fs::write(&outside, TWO_WAVES).unwrap();
    let place = stage.dir().join("documents/task-graph.md");
    fs::remove_file(&place).unwrap();
    symlink(&outside, place).unwrap();
    let answer = stage.refused("build-task-graph", "graph_invalid");
    assert_eq!(answer.problems[0].code, "unsafe_path");
}

#[test]
fn items_have_files_of_their_own_or_one_that_is_written_anew() {
    let stage = Stage::at_graph(&["code", "code", "code"]);
    stage.document("task-graph-item-2.md", &one("second"));
    stage.refused("build-task-graph", "graph_missing");
    stage.document("task-graph.md", &one("first"));
    stage.next_graph();
    stage.next_graph();
    // It still holds the first one's.
    let answer = stage.refused("build-task-graph", "graph_missing");
    assert!(answer.verdict.message.unwrap().contains("item 3"));
    stage.document("task-graph.md", &one("third"));
    stage.done("build-task-graph");
    let read = stage.until("execute-batch").read;
    assert_eq!(planned(&stage), ["first", "second", "third"]);
    let once = ["design.md", "task-graph.md", "task-graph-item-2.md"];
    assert_eq!(read[..3], once);
}

#[test]
fn a_graph_counts_as_it_is_mended_and_is_known_when_its_file_is_gone() {
    let stage = Stage::at_graph(&["code"]);
    stage.synced(&one("first"));
    let documents = stage.dir().join("documents");
    fs::remove_file(documents.join("task-graph-item-1.md")).unwrap();
    stage.done("build-task-graph");
    fs::remove_dir_all(&documents).unwrap();
    stage.until("ready-to-implement");
    assert_eq!(planned(&stage), ["first"]);
    stage.document("task-graph-item-1.md", &one("better"));
    assert_eq!(planned(&stage), ["better"]);
    stage.until("execute-batch");
    // From now on only what is handed over counts.
    stage.document("task-graph-item-1.md", &one("late"));
    assert_eq!(planned(&stage), ["better"]);
}

#[test]
fn a_file_of_the_project_is_handed_over_by_its_path_and_no_other() {
    let stage = Stage::at_graph(&["code"]);
    let by_path = |path: &str| stage.sync(None, None, Some(path));
    stage.write("docs/graph.md", TWO_WAVES);
    let absolute = stage.project().join("docs/graph.md");
    symlink(&absolute, stage.project().join("inside.md")).unwrap();
    let absolute = absolute.display().to_string();
    for path in [
        "docs/graph.md",
        "./docs/graph.md",
        "docs/./graph.md",
        "inside.md",
        &absolute,
    ] {
        assert!(by_path(path).unwrap().verdict.validated, "{path}");
    }
    let outside = stage.around().join("outside.md");
    fs::write(&outside, TWO_WAVES).unwrap();
    symlink(&outside, stage.project().join("link.md")).unwrap();
    symlink(stage.around(), stage.project().join("up")).unwrap();
    fs::write(stage.project().join("bytes.md"), b"tasks:\n  - id: \xff\n").unwrap();
    let huge = fs::File::create(stage.project().join("huge.md")).unwrap();
    huge.set_len(65 * 1024 * 1024).unwrap();
    let outside = outside.display().to_string();
    let before = stage.files();
    for (path, kind, code) in [
        ("../outside.md", Usage, "bad_name"),
        ("docs/../../outside.md", Usage, "bad_name"),
        ("/etc/passwd", Usage, "bad_name"),
        (outside.as_str(), Usage, "bad_name"),
        ("link.md", Usage, "bad_name"),
        ("up/outside.md", Usage, "bad_name"),
        ("", Usage, "bad_name"),
        ("missing.md", Missing, "not_found"),
        (".", Usage, "bad_name"),
        (".taskmaster", Environment, "unsafe_path"),
        ("bytes.md", Refused, "response_unreadable"),
    ] {
        let fault = by_path(path).unwrap_err();
        assert_eq!((fault.kind, &*fault.code), (kind, code), "{path}");
    }
    let fault = by_path("bytes.md").unwrap_err();
    assert!(fault.message.contains("line 2"), "{fault:?}");
    let fault = by_path("huge.md").unwrap_err();
    assert!(fault.message.contains("huge.md"), "{fault:?}");
    let large = "x".repeat(9 * 1024 * 1024);
    for (text, path, code) in [
        (&*large, None, "too_large"),
        (TWO_WAVES, Some("docs/graph.md"), "usage"),
    ] {
        let fault = stage.sync(None, Some(text), path).unwrap_err();
        assert_eq!((fault.kind, &*fault.code), (Usage, code));
    }
    stage.is_as(&before);
}

#[test]
fn without_either_the_documents_are_read_again() {
    let stage = Stage::at_graph(&["code", "bugfix"]);
    let told = stage.read_again(None, Some("graph_missing")).concat();
    assert!(told.contains("task-graph-item-1.md"), "{told}");
    stage.document("task-graph.md", "tasks:\n  - {}\n");
    let told = stage.read_again(None, Some("graph_invalid"));
    assert_eq!(told[0], "task-graph.md");
    stage.document("task-graph-draft.md", &one("other"));
    let told = stage.read_again(None, Some("which_document")).concat();
    assert!(told.contains("task-graph-draft.md, task-graph.md"));
    fs::remove_file(stage.dir().join("documents/task-graph-draft.md")).unwrap();
    stage.document("task-graph.md", TWO_WAVES);
    stage.read_again(None, None);

    // While batches are executed, what was written meanwhile comes in so.
    stage.until("execute-batch");
    stage.told(&[("types", "completed")]);
    let more = "  - id: more\n    depends-on: [machine]\n";
    stage.document("task-graph.md", &format!("{TWO_WAVES}{more}"));
    assert_eq!(planned(&stage), ["types", "item-2", "machine"]);
    stage.read_again(None, None);
    assert_eq!(planned(&stage), ["types", "item-2", "machine", "more"]);
    assert_eq!(stage.full().completed_tasks, ["types"]);
    let gone = "tasks:\n  - id: types\n    depends-on: [gone]\n";
    stage.document("task-graph.md", gone);
    stage.read_again(None, Some("graph_invalid"));
}

#[test]
fn a_second_file_of_an_item_is_passed_over_and_named() {
    let stage = Stage::at_graph(&["code"]);
    stage.document("task-graph-item-1.md", &one("first"));
    stage.done("build-task-graph");
    stage.document("task-graph-item-1.yaml", &one("second"));
    let told = stage.read_again(Some("1"), None).concat();
    let names = ["task-graph-item-1.yaml", "taken from task-graph-item-1.md"];
    assert_eq!(names.map(|name| told.contains(name)), [true, true]);
    fs::remove_file(stage.dir().join("documents/task-graph-item-1.md")).unwrap();
    assert!(stage.read_again(Some("1"), None).is_empty());
    assert_eq!(planned(&stage), ["second"]);
}

#[test]
fn the_item_of_a_graph_is_in_hand_or_named() {
    let sync = |stage: &Stage, item: Option<&str>| {
        let fault = stage.sync(item, Some(TWO_WAVES), None).unwrap_err();
        (fault.kind, fault.code, json!(fault.expected))
    };
    let stage = Stage::bare();
    assert_eq!(sync(&stage, None).1, "no_run");
    stage.done("collab-start");
    assert_eq!(sync(&stage, None).0, Usage);
    let stage = Stage::of(&["code", "bugfix"]);
    let which = (Usage, "which_one".to_owned(), json!([1, 2]));
    assert_eq!(sync(&stage, None), which);
    for item in ["3", "", "zwei", "../1"] {
        let unknown = (Missing, "unknown_item".to_owned(), json!([1, 2]));
        assert_eq!(sync(&stage, Some(item)), unknown, "{item}");
    }
    for item in ["2", " #2 "] {
        let synced = stage.synced_of(Some(item), &one("mend"));
        assert_eq!(synced.item, Some(json!(2)));
    }
    for state in ["ready-to-implement", "execute-batch"] {
        stage.until(state);
        assert_eq!(sync(&stage, None), which);
    }
    // The only item needs no name.
    let stage = Stage::of(&["bugfix"]);
    stage.until("ready-to-implement");
    assert_eq!(stage.synced(&one("mend")).item, Some(json!(1)));
    assert_eq!(planned(&stage), ["mend"]);
}

#[test]
fn numbers_that_are_no_plain_names_have_files_of_their_own() {
    let numbers = ["1.1", "1-1", "a"];
    let item = |number| json!({ "number": number, "title": "One", "type": "code" });
    let stage = Stage::with(&json!(numbers.map(item)));
    let outside = stage.dir().parent().unwrap().to_owned();
    let beside = || fs::read_dir(&outside).unwrap().count();
    let before = beside();
    for (number, id) in numbers.iter().zip(["first", "second", "third"]) {
        let brief = stage.until("build-task-graph");
        assert_eq!(brief.item.unwrap().number, json!(number));
        stage.refused("build-task-graph", "graph_missing");
        stage.synced(&one(id));
        stage.done("build-task-graph");
    }
    stage.until("ready-to-implement");
    assert_eq!(planned(&stage), ["first", "second", "third"]);
    assert_eq!(beside(), before);
}
