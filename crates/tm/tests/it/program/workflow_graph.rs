//! `tm workflow graph`: workflows and runs drawn.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::Value;

use super::environment::{TestEnvironment, keys};
use super::generic::{give, run, with_examples};

const FORMATS: [(&str, &str); 3] = [
    ("mermaid", "flowchart TD\n"),
    ("dot", "digraph \""),
    ("svg", "<svg xmlns="),
];

/// Draws, in JSON, whatever these words ask for.
fn drawn(environment: &TestEnvironment, words: &[&str]) -> Value {
    let mut arguments = vec!["workflow", "graph", "--json"];
    arguments.extend(words);
    environment.tm(&arguments).json_with(0)
}

/// The code of a drawing that is refused with this status.
fn refused(environment: &TestEnvironment, words: &[&str], status: i32) -> Value {
    let mut arguments = vec!["workflow", "graph", "--json"];
    arguments.extend(words);
    environment.tm(&arguments).json_with(status)["error"].clone()
}

#[test]
fn every_workflow_is_drawn_in_every_format() {
    let environment = with_examples();
    let listed = environment.tm(&["workflow", "list", "--json"]).json_with(0);
    let listed = listed.as_array().unwrap();
    assert!(listed.len() > 2, "{listed:?}");
    for workflow in listed {
        let id = workflow["id"].as_str().unwrap();
        for (format, begins) in FORMATS {
            let printed = environment.tm(&["workflow", "graph", id, "--format", format]);
            let text = printed.text();
            assert!(text.starts_with(begins), "{id}: {text}");
            assert!(
                text.ends_with('\n') && printed.err.is_empty(),
                "{printed:?}"
            );
            let answer = drawn(&environment, &[id, "--format", format]);
            assert_eq!(keys(&answer), ["workflow", "format", "graph", "present"]);
            assert_eq!(answer["workflow"], id);
            assert_eq!(answer["format"], format);
            assert_eq!(answer["graph"], text);
            assert_eq!(answer["present"], Value::Array(Vec::new()));
        }
    }
    let usual = environment.tm(&["workflow", "graph", "tdd"]);
    assert!(usual.text().starts_with("flowchart TD\n"), "{usual:?}");
}

#[test]
fn the_ending_of_the_file_says_in_what_it_is_drawn() {
    let environment = with_examples();
    for (name, format, begins) in [
        ("a.svg", None, "<svg xmlns="),
        ("a.dot", None, "digraph \""),
        ("a.gv", None, "digraph \""),
        ("a.mmd", None, "flowchart TD\n"),
        ("a", None, "flowchart TD\n"),
        ("b.svg", Some("dot"), "digraph \""),
    ] {
        let mut words = vec!["workflow", "graph", "collab", "-o", name];
        words.extend(format.into_iter().flat_map(|format| ["--format", format]));
        environment.tm(&words).text();
        let text = fs::read_to_string(environment.project().join(name)).unwrap();
        assert!(text.starts_with(begins), "{name}: {text}");
    }
}

#[test]
fn a_file_is_drawn_even_with_faults_as_far_as_it_can_be_read() {
    let environment = TestEnvironment::bare();
    environment.write(
        "drafts/half.yaml",
        "tramline: 1\nid: half\ntitle: Half done\ninitial: a\nstates:\n  a: { label: 'Say \"hi\" <b>', work: {}, to: nowhere }\n  b: { final: completed }\n",
    );
    for (format, _) in FORMATS {
        let answer = drawn(&environment, &["drafts/half.yaml", "--format", format]);
        assert_eq!(answer["workflow"], "half");
        let text = answer["graph"].as_str().unwrap();
        // In DOT that is text, as long as it stands in quotes.
        assert!(format == "dot" || !text.contains("<b>"), "{text}");
    }
    environment.write("no.yaml", "id: [");
    let error = refused(&environment, &["no.yaml"], 6);
    assert_eq!(error["code"], "workflow_invalid");
    assert!(
        error["suggestion"]
            .as_str()
            .unwrap()
            .contains("tm workflow check no.yaml"),
        "{error}"
    );
    // A folder that has the name of a workflow is not in its way.
    environment.write("tdd/file", "");
    assert_eq!(drawn(&environment, &["tdd"])["workflow"], "tdd");
}

#[test]
fn what_is_not_there_cannot_be_drawn() {
    let environment = TestEnvironment::bare();
    let error = refused(&environment, &["nothing"], 4);
    assert_eq!(error["code"], "unknown_workflow");
    assert!(error["message"].as_str().unwrap().contains("`nothing`"));
    assert_eq!(refused(&environment, &[], 2)["code"], "usage");
    assert_eq!(
        refused(&environment, &["tdd", "--format", "png"], 2)["code"],
        "usage"
    );
    refused(&environment, &["--run", "none"], 4);
}

#[test]
fn a_run_is_marked_where_it_is() {
    let environment = TestEnvironment::started();
    let listed = environment.tm(&["runs", "list", "--json"]).json_with(0);
    let id = listed[0]["runId"].as_str().unwrap().to_owned();
    let at_red = drawn(&environment, &["--run", &id]);
    assert_eq!(at_red["workflow"], "tdd");
    assert_eq!(at_red["present"], serde_json::json!(["subtasks", "red"]));
    let text = at_red["graph"].as_str().unwrap();
    let red = text.lines().find(|line| line.contains("\"red\"")).unwrap();
    let red = red.trim().split('[').next().unwrap();
    let marked = text.lines().last().unwrap();
    assert!(
        marked.starts_with("    class ") && marked.contains(red),
        "{text}"
    );
    // Its id is enough in part, and its workflow may be said.
    assert_eq!(
        drawn(&environment, &["tdd", "--run", &id[..id.len() - 1]]),
        at_red
    );
    let dot = drawn(&environment, &["--run", &id, "--format", "dot"]);
    let dot = dot["graph"].as_str().unwrap();
    let node = dot.lines().find(|line| line.contains("label=\"red\""));
    assert!(node.unwrap().contains("penwidth"), "{dot}");
    let svg = drawn(&environment, &["--run", &id, "--format", "svg"]);
    let svg = svg["graph"].as_str().unwrap();
    assert!(svg.contains("<title>work red, present</title>"), "{svg}");
    assert!(svg.contains("Present: subtasks, red."), "{svg}");

    let error = refused(&environment, &["review", "--run", &id], 2);
    assert_eq!(error["code"], "other_workflow");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("`tdd`") && message.contains("`review`"),
        "{message}"
    );

    environment.do_subtask("1.1");
    let next = drawn(&environment, &["--run", &id]);
    assert_eq!(next["present"], serde_json::json!(["subtasks", "red"]));
    environment
        .tm(&["autopilot", "abort", "--json"])
        .json_with(0);
    let over = drawn(&environment, &["--run", &id]);
    assert_eq!(over["present"], serde_json::json!(["aborted"]));
}

#[test]
fn a_run_is_drawn_as_its_definition_was_when_it_began() {
    let environment = TestEnvironment::bare();
    let states = "initial: a\nstates:\n  a: { work: {}, to: b }\n  b: { final: completed }\n";
    give(&environment, "short", states);
    run(&environment, &["start", "short"]).json_with(0);
    give(&environment, "short", &states.replace(" b", " later"));
    let listed = environment.tm(&["runs", "list", "--json"]).json_with(0);
    let id = listed[0]["runId"].as_str().unwrap();
    let pinned = drawn(&environment, &["--run", id]);
    let text = pinned["graph"].as_str().unwrap();
    assert!(text.contains("\"b\"") && !text.contains("later"), "{text}");
    let now = drawn(&environment, &["short"]);
    assert!(now["graph"].as_str().unwrap().contains("later"), "{now}");
    // The file is the same workflow; another one is not.
    let file = ".taskmaster/workflows/short.yaml";
    assert_eq!(drawn(&environment, &[file, "--run", id]), pinned);
    give(&environment, "other", states);
    let other = ".taskmaster/workflows/other.yaml";
    let error = refused(&environment, &[other, "--run", id], 2);
    assert_eq!(error["code"], "other_workflow");
}

#[test]
fn a_drawing_is_written_to_a_file_as_a_whole() {
    let environment = TestEnvironment::bare();
    let project = environment.project();
    let write = |file: &str| environment.tm(&["workflow", "graph", "review", "-o", file]);
    let printed = environment.tm(&["workflow", "graph", "review"]);
    let first = write("review.mmd");
    assert!(first.text().is_empty(), "{first:?}");
    assert!(first.err.contains("review.mmd"), "{first:?}");
    let path = project.join("review.mmd");
    assert_eq!(fs::read_to_string(&path).unwrap(), printed.out);
    // What was there is replaced and keeps its mode, also behind a link.
    environment.write("old.mmd", "old");
    fs::set_permissions(project.join("old.mmd"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("old.mmd", project.join("link.mmd")).unwrap();
    write("link.mmd").text();
    assert!(project.join("link.mmd").is_symlink());
    assert_eq!(
        fs::read_to_string(project.join("old.mmd")).unwrap(),
        printed.out
    );
    let mode = fs::metadata(project.join("old.mmd")).unwrap().permissions();
    assert_eq!(mode.mode() & 0o777, 0o640);
    assert_eq!(write("-").text(), printed.out);
    assert_eq!(write("/dev/stdout").text(), printed.out);

    let answer = drawn(&environment, &["review", "--output", "again.mmd"]);
    assert_eq!(answer["graph"], printed.out);
    assert_eq!(
        fs::read_to_string(project.join("again.mmd")).unwrap(),
        printed.out
    );
    let left: Vec<_> = fs::read_dir(&project)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().starts_with(".tm-"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_drawing_that_cannot_be_written_says_why() {
    let environment = TestEnvironment::bare();
    let error = refused(&environment, &["tdd", "-o", "no/such/tdd.svg"], 6);
    assert_eq!(error["code"], "output");
    assert!(error["suggestion"].as_str().unwrap().contains("no/such"));
    environment.write("folder/file", "");
    let error = refused(&environment, &["tdd", "-o", "folder"], 6);
    assert!(error["suggestion"].as_str().unwrap().contains("folder"));
    environment.write("kept", "kept");
    let kept = environment.project().join("kept");
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o444)).unwrap();
    refused(&environment, &["tdd", "-o", "kept"], 6);
    assert_eq!(fs::read_to_string(kept).unwrap(), "kept");
}

#[test]
fn a_workflow_that_no_picture_can_show_is_refused_as_a_picture_alone() {
    let environment = TestEnvironment::bare();
    let states: Vec<String> = (0..600)
        .map(|number| format!("  s{number}: {{ work: {{}}, to: s{} }}\n", number + 1))
        .collect();
    let states = states.concat();
    let text = format!("initial: s0\nstates:\n{states}  s600: {{ final: completed }}\n");
    give(&environment, "long", &text);
    let error = refused(&environment, &["long", "--format", "svg"], 3);
    assert_eq!(error["code"], "graph_too_large");
    drawn(&environment, &["long"]);
    drawn(&environment, &["long", "--format", "dot"]);
}
