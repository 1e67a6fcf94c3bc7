//! `tm workflow graph`: workflows and runs drawn.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::{Value, json};

use super::environment::TestEnvironment;
use super::generic::{give, with_examples};
use super::whole_run::{says, tm};

const FORMATS: [(&str, &str); 3] = [
    ("mermaid", "flowchart TD\n"),
    ("dot", "digraph \""),
    ("svg", "<svg xmlns="),
];

/// Draws, in JSON, whatever these words ask for.
fn drawn(environment: &TestEnvironment, words: &str) -> Value {
    tm(environment, &format!("workflow graph {words}")).ok()
}

/// The drawing itself.
fn graph(environment: &TestEnvironment, words: &str) -> String {
    let drawn = drawn(environment, words);
    drawn["graph"].as_str().unwrap().to_owned()
}

/// A drawing that is refused.
fn refused(environment: &TestEnvironment, words: &str, status: i32, code: &str) {
    tm(environment, &format!("workflow graph {words}")).fault(status, code);
}

/// The id of the only run.
fn run_of(environment: &TestEnvironment) -> String {
    let listed = tm(environment, "runs list").ok();
    listed[0]["runId"].as_str().unwrap().to_owned()
}

#[test]
fn every_workflow_is_drawn_in_every_format() {
    let environment = with_examples();
    let listed = tm(&environment, "workflow list").ok();
    let listed = listed.as_array().unwrap();
    assert!(listed.len() > 2, "{listed:?}");
    for workflow in listed {
        let id = workflow["id"].as_str().unwrap();
        for (format, begins) in FORMATS {
            let printed = environment.tm(&["workflow", "graph", id, "--format", format]);
            let text = printed.text();
            let is_whole = text.starts_with(begins) && text.ends_with('\n');
            assert!(is_whole && printed.err.is_empty(), "{id}: {printed:?}");
            let answer = drawn(&environment, &format!("{id} --format {format}"));
            let expected =
                json!({ "workflow": id, "format": format, "graph": text, "present": [] });
            assert_eq!(answer, expected);
        }
    }
    // The ending of the file says in what it is drawn.
    for (name, format, begins) in [
        ("a.svg", "", "<svg xmlns="),
        ("a.dot", "", "digraph \""),
        ("a.gv", "", "digraph \""),
        ("a.mmd", "", "flowchart TD\n"),
        ("a", "", "flowchart TD\n"),
        ("b.svg", "--format dot", "digraph \""),
    ] {
        drawn(&environment, &format!("collab -o {name} {format}"));
        assert!(environment.read(name).starts_with(begins), "{name}");
    }
}

#[test]
fn a_run_is_marked_where_it_is() {
    let environment = TestEnvironment::started();
    let id = run_of(&environment);
    let at_red = drawn(&environment, &format!("--run {id}"));
    assert_eq!(at_red["workflow"], "tdd");
    assert_eq!(at_red["present"], json!(["subtasks", "red"]));
    let text = at_red["graph"].as_str().unwrap();
    let red = text.lines().find(|line| line.contains("\"red\"")).unwrap();
    let red = red.trim().split('[').next().unwrap();
    let marked = text.lines().last().unwrap();
    says(marked, &["    class ", red], &[]);
    // Its id is enough in part, and its workflow may be said.
    let part = format!("tdd --run {}", &id[..id.len() - 1]);
    assert_eq!(drawn(&environment, &part), at_red);
    let other = format!("review --run {id}");
    refused(&environment, &other, 2, "other_workflow");

    tm(&environment, "autopilot abort").ok();
    let over = drawn(&environment, &format!("--run {id}"));
    assert_eq!(over["present"], json!(["aborted"]));
}

#[test]
fn a_run_is_drawn_as_its_definition_was_when_it_began() {
    let environment = TestEnvironment::bare();
    let states = "initial: a\nstates:\n  a: { work: {}, to: b }\n  b: { final: completed }\n";
    give(&environment, "short", states);
    tm(&environment, "run start short").ok();
    give(&environment, "short", &states.replace(" b", " later"));
    give(&environment, "other", states);
    let run = format!("--run {}", run_of(&environment));
    let pinned = graph(&environment, &run);
    says(&pinned, &["\"b\""], &["later"]);
    assert!(graph(&environment, "short").contains("later"));
    // The file is the same workflow; another one is not.
    let file = |id: &str| format!(".taskmaster/workflows/{id}.yaml {run}");
    assert_eq!(graph(&environment, &file("short")), pinned);
    refused(&environment, &file("other"), 2, "other_workflow");
}

#[test]
fn a_drawing_is_written_to_a_file_as_a_whole() {
    let environment = TestEnvironment::bare();
    let write = |file: &str| environment.tm(&["workflow", "graph", "review", "-o", file]);
    let printed = graph(&environment, "review");
    let first = write("review.mmd");
    assert_eq!(first.text(), "");
    assert!(first.err.contains("review.mmd"), "{first:?}");
    assert_eq!(environment.read("review.mmd"), printed);
    // What was there is replaced and keeps its mode, also behind a link.
    environment.write("old.mmd", "old");
    let old = environment.project().join("old.mmd");
    fs::set_permissions(&old, fs::Permissions::from_mode(0o640)).unwrap();
    let link = environment.project().join("link.mmd");
    symlink("old.mmd", &link).unwrap();
    write("link.mmd").text();
    assert!(link.is_symlink());
    assert_eq!(environment.read("old.mmd"), printed);
    let mode = fs::metadata(old).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert_eq!(write("-").text(), printed);
    let left = testkit::files::list(&environment.project());
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn what_cannot_be_drawn_or_written_is_told() {
    let environment = TestEnvironment::bare();
    let state = |number| format!("  s{number}: {{ work: {{}}, to: s{} }}\n", number + 1);
    let states: String = (0..600).map(state).collect();
    let text = format!("initial: s0\nstates:\n{states}  s600: {{ final: completed }}\n");
    give(&environment, "long", &text);
    environment.write("folder/file", "");
    for (words, status, code) in [
        ("nothing", 4, "not_found"),
        ("", 2, "usage"),
        ("tdd --format png", 2, "usage"),
        ("--run none", 4, "no_run"),
        ("tdd -o no/such/tdd.svg", 6, "io_failed"),
        ("tdd -o folder", 6, "io_failed"),
        ("long --format svg", 3, "too_large"),
    ] {
        refused(&environment, words, status, code);
    }
    drawn(&environment, "long");
}
