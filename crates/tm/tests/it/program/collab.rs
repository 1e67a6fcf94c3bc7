//! Sessions of skills at the command line.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::collab_walk::{Caller, items};
use super::environment::{TestEnvironment, has, holds, words};
use testkit::Outcome;

/// The calls, as commands.
pub struct Commands<'e>(pub &'e TestEnvironment);

impl Caller for Commands<'_> {
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let text = |name: &str| arguments[name].as_str().unwrap_or_default();
        let line = match tool {
            "complete_skill" => match (text("skill"), text("unitId")) {
                (skill, "") => format!("complete-skill {skill}"),
                (skill, unit) => format!("complete-skill {skill} --unit-id {unit}"),
            },
            "get_session_state" if arguments["full"] == true => "state --full".to_owned(),
            "get_session_state" => "state".to_owned(),
            "update_session_state" => format!("update --work-items '{}'", arguments["workItems"]),
            "sync_task_graph" => "sync -".to_owned(),
            "update_tasks_status" => {
                let tasks = arguments["tasks"].as_array().unwrap().iter();
                let word = |task: &Value, name: &str| task[name].as_str().unwrap().to_owned();
                tasks.fold("task".to_owned(), |line, task| {
                    format!("{line} {}={}", word(task, "id"), word(task, "status"))
                })
            }
            other => panic!("{other} has no command here"),
        };
        let line = format!("collab {line} --session {} --json", text("session"));
        let ran = self.0.tm_with_input(&words(&line), text("document"));
        ran.ok()
    }
}

/// A project in which one session goes on.
struct Session(TestEnvironment);

impl Session {
    /// A session with items of these types, at the skill that clears before the first of them.
    fn gathered(kinds: &[&str]) -> Self {
        let session = Self(TestEnvironment::bare());
        session.complete("collab-start");
        session.0.write("items.json", items(kinds).to_string());
        let update = "update --work-items @items.json --current-item 1 --has-snapshot true";
        let set = &session.ok(update)["fields"];
        holds(set, &json!({ "currentItem": 1, "hasSnapshot": true }));
        session.complete("gather-session-goals");
        session
    }

    fn line(&self, line: &str) -> Outcome {
        self.0.line(&format!("collab {line}"))
    }

    #[track_caller]
    fn ok(&self, line: &str) -> Value {
        self.line(line).ok()
    }

    fn complete(&self, skill: &str) -> Value {
        self.ok(&format!("complete-skill {skill}"))
    }

    /// What a person is told.
    fn told(&self, line: &str) -> String {
        let line = format!("collab {line}");
        self.0.tm(&words(&line)).text().to_owned()
    }
}

#[test]
fn what_is_typed_wrong_says_how_it_is_typed() {
    let session = Session::gathered(&["code"]);
    for (line, status) in [
        ("task a", 2),
        ("update --work-items [{", 2),
        ("update --work-items @", 4),
        ("update --work-items @gone.json", 4),
        ("update --has-snapshot maybe", 2),
        ("sync gone.md", 4),
        ("sync .", 6),
        ("state --session nobody", 4),
    ] {
        let json = session.line(line);
        json.fault(status, json.code());
        let ran = session.0.tm(&words(&format!("collab {line}")));
        assert_eq!((ran.status, &*ran.out), (status, ""), "{line}: {ran:?}");
        assert_ne!(ran.err, "", "{line}");
    }
    // Nothing has moved.
    assert_eq!(session.ok("state")["skill"], "collab-clear");
}

#[test]
fn a_graph_comes_from_a_file_inside_or_outside_and_from_standard_input() {
    let session = Session::gathered(&["task"]);
    session.complete("collab-clear");
    let environment = &session.0;
    // One that cannot be drawn is no empty drawing.
    let state = session.ok("state --full");
    let documents = Path::new(state["documents"].as_str().unwrap());
    let file = documents.join("task-graph-item-1.yaml");
    fs::write(&file, "tasks: [{}]\n").unwrap();
    let drawn = environment.tm(&["collab", "graph"]);
    assert_eq!((drawn.status, &*drawn.out), (3, ""));
    let graph = session.line("graph").json_with(3);
    assert_eq!(graph["problems"][0]["code"], "task_without_id");
    fs::remove_file(file).unwrap();

    let graph = "# Tasks\n\n```yaml\ntasks:\n  - id: a\n```\n";
    environment.write("docs/graph.md", graph);
    let outside = environment.home().join("graph.yaml");
    let two = "tasks:\n  - id: a\n  - id: b\n    depends-on: [a]\n";
    fs::write(&outside, two).unwrap();
    for (file, tasks) in [("docs/graph.md", 1), (outside.to_str().unwrap(), 2)] {
        let synced = session.ok(&format!("sync {file} --item 1"));
        holds(&synced, &json!({ "tasks": tasks, "item": 1 }));
    }
    let cycle = "tasks:\n  - id: a\n    depends-on: [b]\n  - id: b\n    depends-on: [a]\n";
    environment.write("docs/graph.md", cycle);
    for (file, document) in [("-", "standard input"), ("docs/graph.md", "docs/graph.md")] {
        let refused = environment.tm_with_input(&["collab", "sync", file, "--json"], cycle);
        let refused = refused.json_with(3);
        assert_eq!(refused["problems"][0]["document"], document);
    }
    has(&session.told("graph"), "flowchart");
    let graph = session.ok("graph --format json");
    has(&graph["mermaid"], "flowchart");
    assert_eq!(graph["cut"], false, "{graph}");
}

#[test]
fn the_generic_verbs_take_the_name_of_a_session_and_tell_what_the_skills_tell() {
    let session = Session(TestEnvironment::bare());
    let environment = &session.0;
    session.complete("collab-start --session one");
    session.complete("collab-start --session two");

    // The very same completion, told by the other verb, is answered as it was.
    environment.does("run report --run-id two --unit collab-start");
    let report = "run report --run-id one";
    let refused = environment.refused(report, 3, "no_items");
    has(&refused.suggestion(), "--work-items JSON --session one");

    let state = session.ok("state --full --session one");
    let design = Path::new(state["documents"].as_str().unwrap()).join("design.md");
    let text = "# Goals\n\n### Item 1: Build it\n**Type:** gizmo\n";
    fs::write(&design, text).unwrap();
    let refused = environment.refused(report, 3, "items_unreadable");
    assert_eq!(refused.json()["details"]["problems"][0]["line"], 4);
    has(&environment.tm(&words(report)).out, "design.md:4: ");

    // What was reported generically is known to the skills.
    fs::write(&design, text.replace("gizmo", "code")).unwrap();
    environment.does(report);
    let again = session.complete("gather-session-goals --session one");
    assert_eq!(again["next_skill"], "collab-clear");
    for line in ["log verify", "runs show", "run abort --run-id"] {
        environment.tm(&words(&format!("{line} two"))).text();
    }
    let over = json!({ "skill": null, "status": "aborted", "done": null });
    holds(&session.ok("state --session two"), &over);
    environment.refused("run status --run-id three", 4, "no_run");
}

#[test]
fn ways_back_are_told_with_what_is_next() {
    let session = Session::gathered(&["code", "task"]);
    has(
        &session.told("add Export --type bugfix --depends-on 1"),
        "item 3",
    );
    session.ok("skip --item 2 --reason 'not now'");
    // By the run's own commands it is the same.
    let skip = "run skip 3 --reason 'no more' --run-id default";
    session.0.line(skip).ok();
    has(&session.told("state --full"), "because: no more");
    session.ok("reopen --item 2 --reason 'it is needed'");
    let summary = session.0.tm(&["runs", "report", "default"]);
    for because in ["not now", "no more", "it is needed"] {
        has(&summary.text(), because);
    }
}
