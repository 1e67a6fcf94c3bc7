//! The tasks of a project: a list of another tool is brought in, a run is made of it, and what is done is written back.

use serde_json::{Value, json};

use super::environment::TestEnvironment;
use super::whole_run::tm;

const SPEC: &str = "specs/001-sums/tasks.md";
const LIST: &str = "\
# Tasks: Sums

## Phase 1: Setup

- [x] T001 Create the folders

## Phase 2: Sums

- [ ] T002 [US1] Add in src/add.sh
- [ ] T003 Explain it in docs/add.md

- [ ] all is well
";
const TASKS: &str = ".taskmaster/tasks/tasks.json";

#[test]
fn a_list_of_another_tool_is_worked_through() {
    let project = TestEnvironment::bare();
    let config = r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"]}}"#;
    project.write(".taskmaster/config.json", config);
    project.write(SPEC, LIST);
    project.init();
    let ok = |words: &str| tm(&project, &format!("tasks {words}")).ok();
    tm(&project, "tasks list").fault(4, "tasks_missing");

    assert_eq!(ok("import specs/001-sums --dry-run")["dryRun"], true);
    assert!(!project.project().join(TASKS).exists());
    let told = ok("import specs/001-sums");
    let outcomes = [0, 1].map(|at| &told["tasks"][at]["outcome"]);
    assert_eq!(outcomes, ["over", "added"]);
    assert_eq!(told["problems"][0]["line"], 12, "{told:#}");
    let again = ok(&format!("import {SPEC}"));
    assert_eq!(again["tasks"][1]["outcome"], "unchanged", "{again:#}");

    assert_eq!(ok("list")["tasks"][0]["subtasks"], 2);
    assert_eq!(ok("next")["task"]["id"], "1");
    assert_eq!(ok("show 1")["subtasks"][1]["kind"], "docs");

    project.commit_all("Begin");
    tm(&project, "autopilot start 1").ok();
    project.do_subtask("1.1");
    assert_eq!(ok("write-back --dry-run")["written"], json!(["T002"]));
    assert_eq!(project.read(SPEC), LIST);
    ok("write-back");
    let ticked = LIST.replace("- [ ] T002", "- [x] T002");
    assert_eq!(project.read(SPEC), ticked);
    assert_eq!(ok("write-back")["written"], json!([]));
}

#[test]
fn what_cannot_be_brought_in_is_told() {
    let project = TestEnvironment::bare();
    let issues = r#"[{"number": 1, "title": "A", "state": "OPEN"}]"#;
    project.write("notes.md", "- [ ] buy milk\n");
    project.write("broken.json", "{\"number\": 1");
    project.write("issues.json", issues);
    project.write(TASKS, "{");
    for (words, status, code) in [
        ("notes.md", 2, "tasks_invalid"),
        ("nothing.md", 2, "tasks_invalid"),
        ("broken.json", 2, "tasks_invalid"),
        ("notes.md --from jira", 2, "usage"),
        ("issues.json", 6, "tasks_invalid"),
    ] {
        tm(&project, &format!("tasks import {words}")).fault(status, code);
    }
    assert_eq!(project.read(TASKS), "{");
}

#[test]
fn nothing_can_begin() {
    let project = TestEnvironment::bare();
    let tasks = r#"{"master": {"tasks": [{"id": 1, "title": "Later", "status": "deferred"}, {"id": 2, "title": "After", "dependencies": [1]}]}}"#;
    project.write(TASKS, tasks);
    let next = tm(&project, "tasks next").json_with(7);
    assert_eq!(next["task"], Value::Null);
    let list = tm(&project, "tasks list").ok();
    assert_eq!(list["tasks"][1]["waitsFor"], json!(["1"]), "{list:#}");
}

#[test]
fn a_task_that_start_refuses_is_never_next() {
    let project = TestEnvironment::new();
    project.write(
        TASKS,
        r#"{"master": {"tasks": [
            {"id": 1, "title": "a", "dependencies": [2]},
            {"id": 2, "title": "b", "dependencies": [1]},
            {"id": 3, "title": "c", "subtasks": [{"id": 1, "title": "x", "dependencies": ["4.1"]}]},
            {"id": 4, "title": "d", "subtasks": [{"id": 1, "title": "x", "dependencies": ["3.1"]}]},
            {"id": 5, "title": "e", "subtasks": [{"id": 1, "title": "x", "status": "done"}]},
            {"id": 6, "title": "f"}]}}"#,
    );
    project.commit_all("tasks");
    let next = tm(&project, "tasks next").ok();
    assert_eq!(next["task"]["id"], "6");
    assert_eq!(next["circle"], json!(["1", "2", "1"]));
    let list = tm(&project, "tasks list").ok();
    for task in list["tasks"].as_array().unwrap() {
        let id = task["id"].as_str().unwrap();
        let waits = task["waitsFor"] != json!([]) || !task["blocked"].is_null();
        let started = tm(&project, &format!("autopilot start {id} --dry-run"));
        assert_eq!(started.status == 0, !waits, "{task:#}: {started:?}");
    }
}
