//! Sessions of skills at the command line.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::collab_walk::{Caller, ONE_OF_EACH, Walk, items, steps, two_waves};
use super::environment::{TestEnvironment, fields, words};
use testkit::Outcome;

/// The calls, as commands.
struct Commands<'e>(&'e TestEnvironment);

impl Caller for Commands<'_> {
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let text = |name: &str| arguments[name].as_str().unwrap_or_default();
        let line = match tool {
            "complete_skill" if text("unitId").is_empty() => {
                format!("complete-skill {}", text("skill"))
            }
            "complete_skill" => {
                let (skill, unit) = (text("skill"), text("unitId"));
                format!("complete-skill {skill} --unit-id {unit}")
            }
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
        session.ok(&format!("update --work-items '{}'", items(kinds)));
        session.complete("gather-session-goals");
        session
    }

    /// A session of one task, which is worked out.
    fn in_task() -> Self {
        let session = Self::gathered(&["task"]);
        session.complete("collab-clear");
        session
    }

    /// A session of bugs that has come to its only batch.
    fn executing(bugs: usize) -> Self {
        let session = Self::gathered(&vec!["bugfix"; bugs]);
        for _ in 0..bugs {
            session.complete("collab-clear");
            let brief = session.ok("state");
            testkit::write_draft(&brief);
            let unit = brief["unitId"].as_str().unwrap();
            session.complete(&format!("systematic-debugging --unit-id {unit}"));
        }
        for skill in ["collab-clear", "ready-to-implement", "collab-clear"] {
            session.complete(skill);
        }
        session
    }

    fn line(&self, line: &str) -> Outcome {
        self.0.line(&format!("collab {line}"))
    }

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

    /// The folder of its documents.
    fn documents(&self) -> PathBuf {
        let state = self.ok("state --full");
        state["documents"].as_str().unwrap().into()
    }
}

#[test]
fn a_session_with_one_of_each_takes_forty_completions() {
    assert_eq!(steps(&ONE_OF_EACH, 2).len(), 40);
    let environment = TestEnvironment::bare();
    let mut commands = Commands(&environment);
    Walk::new(&mut commands, "forty").whole(&ONE_OF_EACH, 2, two_waves);
    let full = json!({ "session": "forty", "full": true });
    let state = commands.call("get_session_state", &full);
    let over = fields(&state, &["status", "phase"]);
    assert_eq!(over, json!(["completed", "done"]));
    for item in state["workItems"].as_array().unwrap() {
        assert_eq!(item["status"], "complete", "{item}");
    }
    let tasks = |batch: usize| state["batches"][batch]["tasks"].as_array().unwrap().iter();
    let ids: Vec<&Value> = tasks(0).chain(tasks(1)).map(|task| &task["id"]).collect();
    assert_eq!(ids, ["types", "item-2", "item-3", "lexer"]);
    assert_eq!(environment.line("log verify").ok()["whole"], true);
}

#[test]
fn a_person_reads_the_next_skill_first() {
    let session = Session(TestEnvironment::bare());
    let begun = session.told("complete-skill ' Collab-START '");
    assert!(
        begun.starts_with("next skill: gather-session-goals\n"),
        "{begun}"
    );
    let command = "-> tm collab complete-skill gather-session-goals --unit-id gather-goals\n";
    assert!(begun.ends_with(command), "{begun}");
    for skill in ["collab-clear", "collab-cleer", "gather-session-goals"] {
        let refused = session.0.tm(&["collab", "complete-skill", skill]);
        assert_eq!(refused.status, 3, "{refused:?}");
        assert!(refused.out.starts_with("x "), "{refused:?}");
    }
    let state = session.told("state");
    assert!(
        state.starts_with("next skill: gather-session-goals\n"),
        "{state}"
    );
    // In a terminal of its own or in a pipe: with no colour nothing but text is printed.
    assert!(!state.contains('\u{1b}'), "{state}");
}

#[test]
fn a_paused_session_takes_nothing_and_says_how_it_goes_on() {
    let session = Session::gathered(&["code"]);
    let run = session.ok("state --full")["runId"].clone();
    let of_run = |verb: &str| format!("run {verb} --run-id {}", run.as_str().unwrap());
    session.0.line(&of_run("pause --reason lunch")).ok();
    session
        .line("complete-skill collab-clear")
        .fault(5, "paused");
    let resume = format!("-> tm {}\n", of_run("resume"));
    for look in ["state", "state --full"] {
        let told = session.told(look);
        assert!(told.ends_with(&resume), "{told}");
        assert!(!told.contains("next skill"), "{told}");
    }
    session.0.line(&of_run("resume")).ok();
    session.complete("collab-clear");
}

#[test]
fn what_is_typed_wrong_says_how_it_is_typed() {
    let session = Session::gathered(&["code"]);
    for (line, status) in [
        ("task a", 2),
        ("task a b c", 2),
        ("task a completed --skipped", 2),
        ("task a=failed b=failed --skipped", 2),
        ("task", 2),
        ("update --work-items [{", 2),
        ("update --work-items @", 4),
        ("update --work-items @gone.json", 4),
        ("update --set phase", 2),
        ("update --has-snapshot maybe", 2),
        ("sync gone.md", 4),
        ("sync .", 6),
        ("graph --format svg", 2),
        ("complete-skill", 2),
        ("state --session nobody", 4),
    ] {
        let json = session.line(line);
        assert_eq!(json.status, status, "{line}: {json:?}");
        assert!(json.json()["error"]["message"].is_string(), "{json:?}");
        let ran = session.0.tm(&words(&format!("collab {line}")));
        assert_eq!((ran.status, &*ran.out), (status, ""), "{line}: {ran:?}");
        assert_ne!(ran.err, "", "{line}");
    }
    assert_eq!(
        session.ok("state")["skill"],
        "collab-clear",
        "nothing has moved"
    );
}

#[test]
fn fields_are_set_together_or_not_at_all() {
    let session = Session(TestEnvironment::bare());
    session.0.write(
        "items.json",
        r#"[{"number": "2a", "title": "Mend it", "type": "bugfix"}, {"number": 1, "title": "Build it", "type": "code"}]"#,
    );
    let set = session.ok("update --session s --work-items @items.json --current-item 1");
    let set = fields(&set["fields"], &["currentItem", "totalItems"]);
    assert_eq!(set, json!([1, 2]));
    let refused = session.line("update --has-snapshot true --set batches=[]");
    refused.fault(3, "read_only");
    assert_eq!(session.ok("state --full")["hasSnapshot"], false);
    session.ok("update --has-snapshot true");
    let state = session.ok("state --full");
    assert_eq!(state["workItems"][0]["number"], "2a");
    let state = fields(&state, &["hasSnapshot", "currentItem"]);
    assert_eq!(state, json!([true, 1]));
}

#[test]
fn tasks_are_stored_together_and_those_skipped_end_the_batch() {
    let session = Session::executing(3);
    session
        .line("complete-skill executing-plans")
        .fault(3, "tasks_unfinished");
    session
        .line("task item-1=completed item-9=completed")
        .fault(3, "unknown_task");
    assert_eq!(
        session.ok("state --full")["completedTasks"],
        json!([]),
        "all or none"
    );
    assert_eq!(session.ok("task item-1 in-progress")["remaining"], 3);
    session.ok("task item-2 --skipped");
    let ended = session.told("task item-1=completed item-3=skipped");
    assert!(
        ended.ends_with(
            "No task of the batch is left.\n\nWhen it is finished:\n  -> tm collab complete-skill executing-plans --unit-id execute-batch\n"
        ),
        "{ended}"
    );
    assert_eq!(session.complete("executing-plans")["action"], "clear");
    let state = session.told("state --full");
    assert!(state.contains("Tasks: 1 completed, 2 skipped"), "{state}");
}

#[test]
fn a_graph_comes_from_a_file_inside_or_outside_and_from_standard_input() {
    let session = Session::in_task();
    let environment = &session.0;
    let graph = "# Tasks\n\n```yaml\ntasks:\n  - id: a\n```\n";
    environment.write("docs/graph.md", graph);
    let outside = environment.home().join("graph.yaml");
    let two = "tasks:\n  - id: a\n  - id: b\n    depends-on: [a]\n";
    fs::write(&outside, two).unwrap();
    for (file, tasks) in [("docs/graph.md", 1), (outside.to_str().unwrap(), 2)] {
        let synced = session.ok(&format!("sync {file} --item 1"));
        assert_eq!(fields(&synced, &["tasks", "item"]), json!([tasks, 1]));
    }
    let cycle = "tasks:\n  - id: a\n    depends-on: [b]\n  - id: b\n    depends-on: [a]\n";
    environment.write("docs/graph.md", cycle);
    for (file, document) in [("-", "standard input"), ("docs/graph.md", "docs/graph.md")] {
        let refused = environment.tm_with_input(&["collab", "sync", file, "--json"], cycle);
        let refused = refused.json_with(3);
        assert_eq!(refused["problems"][0]["document"], document);
    }
    assert!(session.told("graph").contains("flowchart"));
    for line in ["graph", "graph --format json"] {
        let graph = session.ok(line);
        assert!(
            graph["mermaid"].as_str().unwrap().contains("flowchart"),
            "{graph}"
        );
        assert_eq!(graph["cut"], false, "{graph}");
    }
}

#[test]
fn a_graph_that_cannot_be_drawn_is_no_empty_drawing() {
    let session = Session::in_task();
    let file = session.documents().join("task-graph-item-1.yaml");
    fs::write(file, "tasks: [{}]\n").unwrap();
    let drawn = session.0.tm(&["collab", "graph"]);
    assert_eq!((drawn.status, &*drawn.out), (3, ""));
    assert!(
        drawn.err.contains("task-graph-item-1.yaml:1: "),
        "{drawn:?}"
    );
    let graph = session.line("graph").json_with(3);
    assert_eq!(graph["problems"][0]["code"], "task_without_id");
}

#[test]
fn the_generic_verbs_take_the_name_of_a_session_and_tell_what_the_skills_tell() {
    let session = Session(TestEnvironment::bare());
    let environment = &session.0;
    session.complete("collab-start --session one");
    let begun = session.complete("collab-start --session two");
    assert_eq!(begun["next_skill"], "gather-session-goals");

    // The very same completion, told by the other verb, is answered as it was.
    let again = "run report --run-id two --unit collab-start";
    assert_eq!(environment.line(again).ok()["validated"], true);
    let report = || environment.line("run report --run-id one");
    let refused = report();
    refused.fault(3, "no_items");
    let help = "tm collab update --work-items JSON --session one";
    assert!(refused.suggestion().contains(help), "{refused:?}");

    let design = session.0.line("collab state --full --session one").ok();
    let design = PathBuf::from(design["documents"].as_str().unwrap()).join("design.md");
    let text = "# Goals\n\n### Item 1: Build it\n**Type:** gizmo\n";
    fs::write(&design, text).unwrap();
    let refused = report();
    refused.fault(3, "items_unreadable");
    let details = &refused.json()["details"];
    assert_eq!(details.get("design"), None, "all items again");
    assert_eq!(details["problems"][0]["line"], 4);
    let told = environment.tm(&words("run report --run-id one"));
    assert!(told.out.contains("design.md:4: "), "{told:?}");
    assert!(
        !told.out.contains("size("),
        "guards are nobody's words: {told:?}"
    );

    // What was reported generically is known to the skills.
    fs::write(&design, text.replace("gizmo", "code")).unwrap();
    report().ok();
    let again = session.complete("gather-session-goals --session one");
    assert_eq!(again["next_skill"], "collab-clear");
    for line in [
        "run status --run-id two",
        "run pause --reason lunch --run-id two",
        "run resume --run-id two",
        "log verify two",
        "runs show two",
        "workflow graph collab --run two",
        "run abort --run-id two",
    ] {
        environment.tm(&words(line)).text();
    }
    let state = session.ok("state --session two");
    let state = fields(&state, &["skill", "status", "done"]);
    assert_eq!(state, json!([null, "aborted", null]));
    let unknown = environment.line("run status --run-id three");
    assert!(unknown.fault(4, "unknown_run").contains("no session"));
}

#[test]
fn ways_back_are_told_with_what_is_next() {
    let session = Session::executing(2);
    let because = ["not now", "both were wrong", "no more"];
    let added = session.told("add Export --type bugfix --depends-on 1,2");
    assert!(added.contains("item 3"), "{added}");
    session.ok(&format!("skip --task item-2 --reason '{}'", because[0]));
    session.ok("task item-1 completed");
    assert_eq!(
        session.complete("executing-plans")["next_skill"],
        "collab-clear"
    );
    let both = format!(
        "reopen --reason '{}' --task item-1 --task item-2",
        because[1]
    );
    let told = session.told(&both);
    assert!(
        told.contains("run again: item-1 in batch-2 and item-2 in batch-2"),
        "{told}"
    );
    // By the run's own commands it is the same.
    let skip = format!("run skip 3 --reason '{}' --run-id default", because[2]);
    session.0.line(&skip).ok();
    let board = session.told("state --full");
    assert!(board.contains("because: no more"), "{board}");
    let summary = session.0.tm(&["runs", "report", "default"]);
    for because in because {
        assert!(summary.text().contains(because), "{because}: {summary:?}");
    }
    session
        .line("reopen --reason why")
        .fault(3, "nothing_in_hand");
}
